"""A draft filled in: its calls with arguments that can be come by, what is asked besides, and the line that says so."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from forgec.model import spec as m
from forgec.sql.scope import Cell, Rows
from forgec.tasking.drafts import Draft, Move
from forgec.tasking.ground import Ground
from forgec.tasking.lookups import is_vague
from forgec.tasking.merging import Merging
from forgec.tasking.plans import Fact, Found, Node, Plan, Request, RowOf, numbered
from forgec.tasking.reasoning import questions
from forgec.tasking.wording import hearing, in_vain, opening, unfound, wish
from forgec.tasking.words import Words, escaped, hole, is_amount, label_of, lower_first, quoted, value_text
from forgec_runtime import types as t
from forgec_runtime.task_file import encoded

_NUMBERS = t.Integer | t.Decimal | t.Double | t.Date


def fill(ground: Ground, words: Words, draft: Draft, merging: Merging) -> Plan:
    """The plan of a draft. Raises `Unreachable`."""
    return _Filling(ground, words, draft, merging).plan()


class _Filling:
    def __init__(self, ground: Ground, words: Words, draft: Draft, merging: Merging) -> None:
        self.ground, self.words, self.draft, self.merging = ground, words, draft, merging
        self.made = merging.growing.plan
        self.chance = draft.chance
        self.kept: set[str] = set()
        """Nodes that stay although no other needs them."""

    def plan(self) -> Plan:
        who = "" if self.ground.entries else self.merging.identify()
        if who:
            self._keep(who)
        for move in self.draft.moves:
            self.merging.growing.before(move)
            tool = self.ground.spec.tools[move.tool]
            if move.guard is not None:
                self._in_vain(move, tool)
            elif self.ground.writes[move.tool]:
                self._write(move, tool)
            else:
                self._look(move, tool)
        self._ask_more()
        self._instead()
        self._unused()
        self._order()
        return self.made

    # -- calls -------------------------------------------------------------------------------------------------

    def _write(self, move: Move, tool: m.Tool) -> None:
        found = self.merging.arguments(move)
        node = self._node(tool, move, found)
        self.merging.growing.made(node)
        node.at = self.merging.growing.written
        if tool.name not in self.ground.goals:  # it lets in or out, which goes without saying
            return
        request = Request(wish(self.words, tool, {name: one.phrase for name, one in found.items()}), node.name)
        if tool.side == "user" and isinstance(move.value, str) and not tool.parameters:
            request.text = f"{request.text.removesuffix('.')}, so that you see '{move.value}'."
        self._condition(request, node, found)
        self.made.requests.append(request)
        if self.chance.random() < 0.6:
            self._result(node, tool, request)

    def _node(self, tool: m.Tool, move: Move, found: Mapping[str, Found]) -> Node:
        given = {name: one.given for name, one in found.items()}
        needs = tuple(need for one in found.values() for need in one.needs)
        node = Node(
            self.made.name(tool.name), tool.name, given, move.proposal.arguments, value=move.value,
            at=self.merging.growing.written, needs=needs,
        )  # fmt: skip
        self.made.nodes.append(node)
        return node

    def _condition(self, request: Request, node: Node, found: Mapping[str, Found]) -> None:
        """Now and then a payment, or the like, is only made if what it is about is large enough."""
        for name, one in found.items():
            path = one.given.get("$", "") if isinstance(one.given, Mapping) else ""
            value = node.arguments[name]
            if "." not in path or not is_amount(value) or self.chance.random() < 0.6:
                continue
            bound = int(value * self.chance.choice((1, 2, 3))) // 4
            if 0 < bound < value:
                node.when = request.when = f"${path} > {bound}"
                label = one.phrase.removeprefix("all of ").removeprefix("the whole ")
                label = label if label.startswith("what ") else f"the {label}"
                text = request.text[0].lower() + request.text[1:]
                request.text = f"If {label} is more than {bound}, {text}"
                return

    def _in_vain(self, move: Move, tool: m.Tool) -> None:
        found = self.merging.arguments(move, vain=True)
        phrases = {name: one.phrase for name, one in found.items()}
        if tool.name in self.ground.finders:  # which comes before all else
            self.made.requests.insert(0, Request(unfound(phrases.values())))
        else:
            wished = wish(self.words, tool, phrases, bool(self.ground.writes[tool.name]))
            self.made.requests.append(Request(in_vain(wished), vain=wished))
        self.made.kinds.append("refusal")
        for one in found.values():
            for need in one.needs:
                self._keep(need)

    def _instead(self) -> None:
        """Now and then the next thing that is wanted is wanted in the place of what is refused."""
        found: list[Request] = []
        for request in self.made.requests:
            last = found[-1] if found else None
            if last is not None and last.vain and request.node and not request.when and self.chance.random() < 0.6:
                found.pop()
                request.text = f"{last.vain} If that is not possible, {lower_first(request.text)}"
            found.append(request)
        self.made.requests = found

    def _keep(self, name: str) -> None:
        self.kept.add(name)

    # -- questions ---------------------------------------------------------------------------------------------

    def _look(self, move: Move, tool: m.Tool) -> None:
        arguments = dict(move.proposal.arguments)
        context: list[tuple[str, Any]] = []
        given, needs, about, vague = {}, list[str](), "", False
        for parameter in tool.parameters:
            if parameter.name not in arguments:
                continue
            origin = move.proposal.origins[parameter.name]
            if parameter.references is not None:
                found = self.merging.lookups.key(parameter.references, arguments[parameter.name], tool.name)
                if found.phrase != "you":
                    vague = vague or is_vague(found)
                    about += self.words.of_row(tool, parameter, found.phrase)
            else:
                bounded = self.ground.meanings[tool.name][parameter.name].bounds
                place = ("", ()) if bounded else (origin.table, origin.path)
                found = self._held(parameter, arguments[parameter.name], *place, context)
            given[parameter.name] = found.given
            needs += found.needs
        before = list(self.made.nodes)
        node = self.merging.lookups.call(tool, given, arguments, tuple(context), tuple(needs), about)
        if vague or (not self._question(node, tool, about) and not self._row_question(node, tool, about)):
            self.made.nodes = before

    def _held(
        self, parameter: m.Parameter, value: Any, table: str, path: tuple[str, ...], context: list[tuple[str, Any]]
    ) -> Found:
        label = self.words.of_parameter(parameter)
        if table == self.ground.people.table:
            person = self.draft.person or {}
            mine = RowOf(table, str(person.get(self.ground.people.key)))
            return Found({"$": self.made.fact(path[-1], f"your {label_of(path[-1])}", value, mine, path)}, "")
        label = label if not path else self.words.about(path[-1], "").removeprefix("the ")
        context.append((label, value))
        noun = self.words.noun(table) if table else label
        doc = f"the {label} of the {noun}" if noun != label else self.words.fact(parameter)
        return Found({"$": self.made.fact(path[-1] if path else parameter.name, doc, value)}, "")

    def _question(self, node: Node, tool: m.Tool, about: str = "") -> bool:
        """Something about several rows."""
        result = tool.returns
        if result is None or not isinstance(result.shape, Rows) or not isinstance(node.value, list | tuple):
            return False
        group = self.words.lists(tool, node.context, about)
        for question in questions(
            node.name, node.value, result.shape.columns, group, self.words, self.chance, result.docs
        ):
            if any(doc == question.doc for doc, _ in self.made.says):
                continue
            name = self.made.name(question.kind.replace("-", "_").replace(" ", "_"))
            self.made.nodes.append(
                Node(name, sql=question.sql, doc=question.doc, needs=(node.name,), at=self.merging.growing.written)
            )
            self.made.says.append((question.doc, {"$": name}))
            for sql, doc in question.also:
                other = self.made.name(f"{name}_more")
                self.made.nodes.append(
                    Node(other, sql=sql, doc=doc, needs=(node.name,), at=self.merging.growing.written)
                )
                self.made.says.append((doc, {"$": other}))
            self.made.requests.append(Request(hearing([question.text])))
            self.made.kinds.append(question.kind)
            return True
        return False

    def _row_question(self, node: Node, tool: m.Tool, about: str = "") -> bool:
        """A value of the row that a lookup finds."""
        if not isinstance(node.value, Mapping) or tool.returns is None or isinstance(tool.returns.shape, Cell):
            return False
        names = [name for name in self._telling(node, tool) if value_text(node.value[name]) not in about]
        if not names:
            return False
        name = self.chance.choice(names)
        table = getattr(tool.returns.shape, "table", None)
        if node.context and not about:
            tests = " and ".join(f"the {label} {quoted(value)}" for label, value in node.context)
            noun = self.words.noun(table) if table else "one"
            about = f" of {tests}" if tests.startswith(f"the {noun} ") else f" of the {noun} with {tests}"
        text = self._named(tool, name).removesuffix(f" of the {self.words.noun(table)}" if table else "")
        if not about and table is not None and table == self.ground.people.table:
            about = f" of your {self.words.noun(table)}" if re.search(r"\bit\b", text) else ""
        if about and re.search(r"\bit\b|^(how|what|whether|where|when) ", text):
            doc, asked = text + about, f"About {about.removeprefix(' of ')}, you want to hear {text}."
        else:
            doc, asked = text + about, hearing([text + about])
        self.made.says.append((doc, {"$": f"{node.name}.{name}"}))
        self.made.requests.append(Request(asked))
        return True

    def _result(self, node: Node, tool: m.Tool, request: Request) -> None:
        """The user wants to hear what came of a call."""
        result = tool.returns
        if result is None or tool.side == "user":
            return
        if isinstance(result.shape, Cell):
            if isinstance(result.type, t.Text | t.List | t.Map | t.Record) or node.value is None:
                return
            text = self.words.returned(tool)
            if text and not isinstance(node.value, bool):
                self._say(node, node.name, text[0], request)
            return
        if not isinstance(node.value, Mapping):
            return
        names = self._telling(node, tool)
        if names:
            name = self.chance.choice(names)
            self._say(node, f"{node.name}.{name}", self._named(tool, name), request)

    def _say(self, node: Node, path: str, text: str, request: Request) -> None:
        self.made.says.append((text, {"$": path}))
        request.text += f" {hearing([text])}"

    def _named(self, tool: m.Tool, name: str) -> str:
        assert tool.returns is not None
        doc = tool.returns.docs.get(name, "")
        table = getattr(tool.returns.shape, "table", None)
        assert not isinstance(tool.returns.shape, Cell)
        columns = tool.returns.shape.columns
        about = self.words.about(name, doc, isinstance(columns[name].type, t.Integer))
        if about.startswith("the ") and not doc:
            parts = self.words.returned(tool, len(columns)) or self.words.told(tool, len(columns))
            if parts:
                return parts[list(columns).index(name)]
            about = f"the {self.words.label(name, columns)}"
            if table is not None:
                about += f" of the {self.words.noun(table)}"
        return about

    def _telling(self, node: Node, tool: m.Tool) -> list[str]:
        """The fields of a result that are worth asking for: numbers and dates that the user did not name."""
        assert tool.returns is not None and not isinstance(tool.returns.shape, Cell)
        named = {repr(value) for value in node.arguments.values()} | {repr(f.value) for f in self.made.facts.values()}
        mine = getattr(tool.returns.shape, "table", None) == self.ground.people.table or bool(
            self.ground.writes[tool.name]
        )
        found = []
        for name, cell in tool.returns.shape.columns.items():
            value = node.value.get(name)
            kinds = _NUMBERS if mine else _NUMBERS | t.Text
            wanted = isinstance(cell.type, kinds) and value not in (0, "")
            key = name == "id" or name.endswith("_id")
            if wanted and not key and cell.references is None and value is not None and repr(value) not in named:
                if self._has_words(tool, name, len(tool.returns.shape.columns)):
                    found.append(name)
        return found

    def _has_words(self, tool: m.Tool, name: str, fields: int) -> bool:
        """Whether a field of a result is called like a column, or told of in the tool's documentation."""
        if self.words.returned(tool, fields) or self.words.told(tool, fields):
            return True
        documented = tool.returns is not None and tool.returns.docs.get(name)
        return bool(documented) or any(table.column(name) is not None for table in self.ground.spec.tables.values())

    def _ask_more(self) -> None:
        """Questions about what was looked up for the calls."""
        if self.chance.random() > 0.5 or len(self.made.says) > 2:
            return
        nodes = [n for n in self.made.nodes if n.tool in self.ground.readers and isinstance(n.value, list | tuple)]
        nodes = [n for n in nodes if not self.ground.reads[n.tool] & self.merging.growing.changed]
        if nodes:
            node = self.chance.choice(nodes)
            self._question(node, self.ground.spec.tools[node.tool], node.about)

    # -- the whole ---------------------------------------------------------------------------------------------

    def _unused(self) -> None:
        """Lookups that nothing needs are left out, and facts with them."""
        plan = self.made
        while True:
            needed = set(self.kept) | {value["$"].partition(".")[0] for _, value in plan.says}
            needed |= {name for node in plan.nodes for name in node.needs}
            left = [
                n for n in plan.nodes if n.name in needed or (n.tool and n.tool not in self.ground.readers)
            ]  # fmt: skip
            if len(left) == len(plan.nodes):
                break
            plan.nodes = left
        text = json.dumps([[node.given, node.sql] for node in plan.nodes])
        asked = " ".join(request.text for request in plan.requests)
        used = {
            name for name in plan.facts
            if f'"$": "{name}"' in text or re.search(rf"\${name}\b", text) or hole(name) in asked
        }  # fmt: skip
        plan.facts = numbered([fact for name, fact in plan.facts.items() if name in used])

    def _order(self) -> None:
        """What a call changes is read before or after it, as it was: the order of nodes that are about the same."""
        calls = [node for node in self.made.nodes if node.tool]
        above: dict[str, set[str]] = {}
        for node in self.made.nodes:
            above[node.name] = {n for need in node.needs for n in (need, *above.get(need, ()))}
            if not node.tool:
                continue
            for other in reversed(calls[: calls.index(node)]):
                if other.name not in above[node.name] and self._clash(node, other):
                    node.after.append(other.name)
                    above[node.name] |= {other.name} | above[other.name]
        last: Request | None = None
        for request in self.made.requests:
            if last is not None:
                request.after.append(f"r{self.made.requests.index(last) + 1}")
            last = request

    def _clash(self, one: Node, other: Node) -> bool:
        reads, writes = self.ground.reads, self.ground.writes
        return bool(writes[one.tool] & (reads[other.tool] | writes[other.tool]) or reads[one.tool] & writes[other.tool])


def line(ground: Ground, draft: Draft, plan: Plan, name: str) -> dict[str, Any]:
    """The task as a line of bulk has it."""
    who = next((one.name for one in plan.drawn if one.table == ground.people.table), "")
    person = _places(draft.person, who) if who and draft.person is not None else draft.person
    task: dict[str, Any] = {"name": name, "world": draft.world, "intent": escaped(opening(ground.spec, person))}
    task["tags"] = ["made"]
    task["requests"] = [_request(i, request) for i, request in enumerate(plan.requests, 1)]
    if plan.drawn:
        task["samples"] = [{"name": one.name, "rows": one.rows} for one in plan.drawn]
    task["facts"] = [_fact(fact) for fact in plan.facts.values()]
    if draft.change:
        task["change"] = draft.change
    task["plan"] = [_node(node) for node in plan.nodes]
    if plan.says:
        task["says"] = [{"doc": doc, "value": value} for doc, value in plan.says]
    return task


def _places(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The places of what a row holds, in place of it."""
    return {
        column: _places(value, f"{name}.{column}") if isinstance(value, Mapping) else hole(f"{name}.{column}")
        for column, value in row.items()
    }


def _request(number: int, request: Request) -> dict[str, Any]:
    found: dict[str, Any] = {"name": f"r{number}", "text": escaped(request.text)}
    if request.after:
        found["after"] = request.after
    if request.when:
        found["when"] = request.when
    return found


def _fact(fact: Fact) -> dict[str, Any]:
    return {
        "name": fact.name,
        "doc": escaped(fact.doc),
        "value": encoded(fact.value) if fact.given is None else fact.given,
    }


def _node(node: Node) -> dict[str, Any]:
    found: dict[str, Any] = {"name": node.name}
    if node.tool:
        found["tool"] = node.tool
        if node.given:
            found["arguments"] = node.given
    else:
        found |= {"doc": node.doc, "reason": {"sql": node.sql}} if node.doc else {"reason": {"sql": node.sql}}
    if node.when:
        found["when"] = node.when
    if node.after:
        found["after"] = node.after
    return found
