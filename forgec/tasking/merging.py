"""The calls of a draft joined to one plan: how each argument is said, and how an agent comes by it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from forgec.model import spec as m
from forgec.sql.scope import Row
from forgec.tasking.comparing import Comparing
from forgec.tasking.drafts import Move, Origin
from forgec.tasking.growing import Growing, Unreachable
from forgec.tasking.lookups import Lookups
from forgec.tasking.phrases import TITLES
from forgec.tasking.picking import Picking
from forgec.tasking.plans import Found, Node
from forgec.tasking.words import is_amount, label_of, quoted
from forgec_runtime import types as t
from forgec_runtime.task_file import encoded


class Merging:
    """One draft on its way to a plan. Raises `Unreachable` where an argument cannot be come by."""

    def __init__(self, growing: Growing) -> None:
        self.growing = growing
        self.ground, self.plan, self.draft = growing.ground, growing.plan, growing.draft
        self.words, self.looks, self.rows = growing.words, growing.looks, growing.rows
        self.picking = Picking(growing)
        self.lookups = Lookups(growing, self.picking)
        self.comparing = Comparing(growing, self.lookups)

    def identify(self) -> str:
        """Find out who asks, as a desk does first; the node that tells, or nothing where nobody looks that up."""
        people, person = self.ground.people, self.draft.person
        if people.table is None or person is None or people.table not in self.ground.gives:
            return ""
        found = self.lookups.key(people.table, person[people.key], "")
        return found.needs[0] if found.needs else ""

    def arguments(self, move: Move, vain: bool = False) -> dict[str, Found]:
        """How the plan says each argument of a call; of one in `vain` the words alone matter."""
        tool = self.ground.spec.tools[move.tool]
        found = {}
        said = [move.proposal.arguments.get(p.name) for p in tool.parameters if p.references is None]
        if "" in said and not any(value not in (None, "") for value in said):
            raise Unreachable("nobody asks for nothing")
        for parameter in tool.parameters:
            if parameter.name in move.proposal.arguments:
                value, origin = move.proposal.arguments[parameter.name], move.proposal.origins[parameter.name]
                found[parameter.name] = self._argument(tool, parameter, value, origin, vain)
        return found

    def _argument(self, tool: m.Tool, parameter: m.Parameter, value: Any, origin: Origin, vain: bool) -> Found:
        if parameter.references is not None:
            key = self.lookups.key(parameter.references, value, tool.name)
            return key if vain else self.comparing.instead(parameter.references, value, tool.name, key)
        if isinstance(parameter.type, t.List):
            return self._list(tool, parameter, value, origin, vain)
        if origin.table and not origin.new and origin.row is not None:
            if self.ground.spec.tables[origin.table].parent is not None:
                return self._inside(tool, origin, value, vain)
            found = self._same(origin, value)
            found = found or self._renewed(origin, value) or self._revealed(origin, value)
            if found is not None:
                return found
        if value == "" or (vain and isinstance(value, bool)):
            return Found(encoded(value), self.words.parameter(parameter, value))
        if isinstance(value, Mapping):
            return self._record(parameter, value, vain)
        if origin.table == self.ground.people.table and not origin.new and isinstance(value, str):
            doc = f"your {label_of(origin.path[-1])}"
        else:
            doc = self.words.fact(parameter)
            doc = f"{doc} that you give first" if vain and tool.name in self.ground.finders else doc
        name = self.plan.fact(parameter.name if not origin.new else _new_name(parameter.name), doc, value)
        return Found({"$": name}, self.words.parameter(parameter, value, name if vain else ""))

    def _record(self, parameter: m.Parameter, value: Mapping[str, Any], vain: bool) -> Found:
        """Each field of a record is a fact of its own."""
        names = {
            field: self.plan.fact(_new_name(field), f"the new {label_of(field)}", part) for field, part in value.items()
        }
        sql = ", ".join(f"'{field}': ${name}" for field, name in names.items())
        return Found({"sql": f"{{{sql}}}"}, self.words.parameter(parameter, value, names if vain else None))

    def _list(self, tool: m.Tool, parameter: m.Parameter, value: list[Any], origin: Origin, vain: bool) -> Found:
        if not origin.table:
            return Found(encoded(value), self.words.parameter(parameter, value))
        parts = [self._inside(tool, origin, one, vain) for one in value]
        needs = tuple(need for part in parts for need in part.needs)
        sql = {"sql": f"[{', '.join(f'${need}' for need in needs)}]"}
        phrases = [self._counted(part, parts.count(part)) for part in parts]
        if len(set(phrases)) > 1 and any(phrase.startswith("the only ") for phrase in phrases):
            raise Unreachable(parameter.name)  # of which thing each is the only one would have to be said, too
        return Found(sql, " and ".join(dict.fromkeys(phrases)), needs)

    def _counted(self, part: Found, times: int) -> str:
        """What is meant, and how often it is, where that is not plain."""
        if times == 1 and not self.picking.repeated & set(part.needs):
            return part.phrase
        kind = re.sub("^the only ", "the only kind of ", part.phrase)
        return f"{kind}, {'once' if times == 1 else f'{times} times'}"

    def _same(self, origin: Origin, value: Any) -> Found | None:
        """A value that a result has under its own name."""
        field = origin.path[-1]
        if not is_amount(value):
            return None
        for node in reversed(self.plan.nodes):
            if node.tool and isinstance(node.value, Mapping) and node.value.get(field) == value:
                if node.at == self.growing.written or not (self.ground.reads[node.tool] & self.growing.changed):
                    column = self.ground.spec.tables[origin.table].column(field)
                    doc = column.doc if column is not None else ""
                    return Found({"$": f"{node.name}.{field}"}, self.words.amount(field, doc), (node.name,))
        return None

    def _renewed(self, origin: Origin, value: Any) -> Found | None:
        """The same after a lookup that was made before is made again."""
        if not is_amount(value):
            return None
        for node in list(self.plan.nodes):
            if node.tool in self.ground.readers and isinstance(node.value, Mapping) and origin.path[-1] in node.value:
                tool = self.ground.spec.tools[node.tool]
                if getattr(getattr(tool.returns, "shape", None), "table", None) == origin.table:
                    self.lookups.call(tool, node.given, node.arguments, node.context, node.needs, node.about)
                    return self._same(origin, value)
        return None

    def _revealed(self, origin: Origin, value: Any) -> Found | None:
        """What nobody can see is told by another tool. Raises `Unreachable` if none does."""
        column = self.ground.spec.tables[origin.table].column(origin.path[0])
        people, person = self.ground.people, self.draft.person
        if column is None or not column.hidden or origin.table == people.table or person is None:
            return None
        me = person[people.key]
        for name in self.ground.readers:
            tool = self.ground.spec.tools[name]
            if [p.references for p in tool.parameters] == [people.table]:
                result = self.looks.look(
                    self.growing.state, name, {tool.parameters[0].name: me}, self.growing.stale(tool)
                )
                if result.ok and result.value == value:
                    found = self.lookups.key(str(people.table), me, name)
                    parameter = tool.parameters[0].name
                    node = self.lookups.call(tool, {parameter: found.given}, {parameter: me}, (), found.needs)
                    return Found({"$": node.name}, "which you do not know", (node.name,))
        raise Unreachable(origin.path[0])

    # -- what is nested ----------------------------------------------------------------------------------------

    def _inside(self, tool: m.Tool, origin: Origin, value: Any, vain: bool) -> Found:
        """A value of a nested table; one in `vain` may be of a row somewhere else."""
        try:
            return self._nested(tool, origin.table, origin.path[0], value)
        except Unreachable:
            if not vain:
                raise
            return self._missing(tool, origin.table, origin.path[0], value)

    def _missing(self, tool: m.Tool, table: str, column: str, value: Any) -> Found:
        """A row that is not where it is looked for, by what no row there has."""
        inner = self.ground.spec.tables[table]
        row, *_ = self.rows.where(self.draft.world, table, column, value)
        keys = self._around(tool, inner, column, value)
        there = [one for key in keys for one in self.rows.where(self.draft.world, table, inner.inherited[0].name, key)]
        own = {one.name: one for one in inner.columns if not one.key and one.references is None and one.name != column}
        for name in sorted(own, key=lambda name: name not in TITLES):
            held = row[name]
            if isinstance(own[name].type, t.Text | t.Enum) and held and all(one[name] != held for one in there):
                noun = self.words.noun(table)
                told = quoted(held) if name in TITLES else f"with the {label_of(name)} {quoted(held)}"
                return Found(None, f"the {noun} {told}")
        raise Unreachable(table)

    def _nested(self, tool: m.Tool, table: str, column: str, value: Any) -> Found:
        """A value of a nested table: in the document of a row around it."""
        inner = self.ground.spec.tables[table]
        assert inner.parent is not None
        keys = self._around(tool, inner, column, value)
        for _ in range(2):
            for node in reversed(self.plan.nodes):
                if node.tool in self.ground.readers and self._is_of(node, inner.parent, keys):
                    source = self.picking.inner(node, inner.title.rpartition(".")[2])
                    found = self.picking.key(source, column, table, value) if source is not None else None
                    if found is not None:
                        return replace(found, phrase=found.phrase + self._of(tool, inner, node))
            if not self._document(inner.parent, keys):
                break
        raise Unreachable(table)

    def _around(self, tool: m.Tool, inner: m.Table, column: str, value: Any) -> list[Any]:
        """The keys of the rows that a nested one may be in: of those that the call names, else of all that have it."""
        move = self.growing.move
        if inner.parent == self.ground.people.table and self.draft.person is not None:
            return [self.draft.person[self.ground.people.key]]
        for parameter in tool.parameters:
            if parameter.references == inner.parent and move is not None and parameter.name in move.proposal.arguments:
                return [move.proposal.arguments[parameter.name]]
        name = inner.inherited[0].name
        return list(dict.fromkeys(r[name] for r in self.rows.where(self.draft.world, inner.name, column, value)))

    def _of(self, tool: m.Tool, inner: m.Table, node: Node) -> str:
        """In which row a nested one is, where the call does not say that."""
        around = str(inner.parent)
        title = next((node.value[name] for name in TITLES if isinstance(node.value.get(name), str)), "")
        told = any(parameter.references == around for parameter in tool.parameters)
        if told or around == self.ground.people.table or not title:
            return ""
        return f" of the {self.words.noun(around)} {quoted(title)}"

    def _is_of(self, node: Node, table: str, keys: list[Any]) -> bool:
        """Whether the result of a node is the document of one of these rows."""
        result = self.ground.spec.tools[node.tool].returns
        key = self.ground.spec.tables[table].key[0].name
        if result is None or getattr(result.shape, "table", None) != table or not isinstance(node.value, Mapping):
            return False
        return node.value.get(key) in keys

    def _document(self, table: str, keys: list[Any]) -> bool:
        """Look up a row with all that is nested in it."""
        for name in self.ground.readers:
            tool = self.ground.spec.tools[name]
            shape = tool.returns.shape if tool.returns is not None else None
            takes = [p for p in tool.parameters if p.references == table]
            if isinstance(shape, Row) and shape.table == table and len(takes) == 1 == len(tool.parameters):
                for key in keys[:1]:
                    found = self.lookups.key(table, key, name)
                    self.lookups.call(tool, {takes[0].name: found.given}, {takes[0].name: key}, (), found.needs)
                    return True
        return False


def _new_name(parameter: str) -> str:
    return parameter if parameter.startswith("new_") else f"new_{parameter}"
