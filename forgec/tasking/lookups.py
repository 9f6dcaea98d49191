"""How an agent comes by the keys of rows: out of results that are there, or by lookups, whose own arguments are found
in the same way, down to what the user can say. What one lookup establishes serves all calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from forgec.model import spec as m
from forgec.sql.scope import Cell, Rows
from forgec.tasking.growing import Growing, Unreachable
from forgec.tasking.parameters import Meaning, Place, value_at
from forgec.tasking.phrases import TITLES
from forgec.tasking.picking import Picking
from forgec.tasking.plans import Found, Node, RowOf
from forgec.tasking.words import label_of, quoted
from forgec_runtime import types as t
from forgec_runtime.task_file import encoded

DEPTH = 4
"""How many lookups may lead to one."""


class Lookups:
    """The lookups of one plan."""

    def __init__(self, growing: Growing, picking: Picking) -> None:
        self.growing, self.picking = growing, picking
        self.ground, self.plan, self.draft, self.chance = growing.ground, growing.plan, growing.draft, growing.chance
        self.words, self.looks, self.rows, self.coverage = growing.words, growing.looks, growing.rows, growing.coverage

    def key(self, table: str, value: Any, taker: str, depth: int = 0) -> Found:
        """The key of a row: out of what is known, by a lookup, or because the user holds it."""
        found = self._key(table, value, taker, depth)
        return replace(found, phrase="you") if self.growing.asks(table, value) else found

    def _key(self, table: str, value: Any, taker: str, depth: int) -> Found:
        known = self._known(table, value, taker)
        if known is not None:
            return known
        ways = list(self.ground.gives.get(table, ()))
        self.chance.shuffle(ways)
        ways.sort(key=lambda way: self.coverage.edges[way[0], taker, table] > self.coverage.edges.total() / 200)
        row = self._row(table, value)
        for tool, _ in ways if depth < DEPTH and row is not None else ():
            before = (list(self.plan.nodes), dict(self.plan.facts), self.plan.distractors, len(self.plan.kinds))
            try:
                if row is not None and self._look(self.ground.spec.tools[tool], table, row, depth):
                    known = self._known(table, value, taker)
                    if known is not None:
                        return known
            except Unreachable:
                pass
            self.plan.nodes, self.plan.facts, self.plan.distractors = before[:3]
            del self.plan.kinds[before[3] :]
        if table == self.ground.people.table and ways:
            raise Unreachable(table)
        noun = self.words.noun(table)
        column = self.ground.spec.tables[table].key[0]
        label = label_of(column.name)
        label = label if label.startswith(noun) else f"{noun} {label}" if label != noun else noun
        if isinstance(column.type, t.Enum):
            return Found(encoded(value), f"the {noun} {quoted(value)}")
        whose = "your" if self.growing.asks(table, value) else "the"
        name = self.plan.fact(
            column.name if column.name != "id" else f"{noun.replace(' ', '_')}_id", f"{whose} {label}", value
        )
        return Found({"$": name}, f"{'your' if self.growing.mine(table, value) else 'the'} {noun} {value}")

    def _row(self, table: str, value: Any) -> Mapping[str, Any] | None:
        key = self.ground.spec.tables[table].key[0].name
        for row in self.rows.where(self.draft.world, table, key, value):
            return self.rows.now(self.growing.state, table, row)
        return None

    def _known(self, table: str, value: Any, taker: str) -> Found | None:
        """A key in a result that is there."""
        nodes = [node for node in reversed(self.plan.nodes) if node.tool]
        for node in sorted(nodes, key=lambda node: isinstance(node.value, list | tuple)):
            for field in self._fields(node.tool, table):
                found = self._in(node, field, table, value)
                if found is not None:
                    self.growing.edges.append((node.tool, taker, table))
                    return found
        return None

    def _fields(self, tool: str, table: str) -> list[str]:
        """Where the result of a tool has keys of a table."""
        if tool in self.ground.readers:
            return [field for name, field in self.ground.gives.get(table, ()) if name == tool]
        return []

    def _in(self, node: Node, field: str, table: str, value: Any) -> Found | None:
        result = self.ground.spec.tools[node.tool].returns
        assert result is not None
        if field == "" and isinstance(result.shape, Cell):
            return (
                Found({"$": node.name}, self.picking.called(table, node, "", value), (node.name,))
                if node.value == value
                else None
            )
        if isinstance(result.shape, Rows) or "." in field:
            source = self.picking.source(node, field)
            column = field.rpartition(".")[2]
            if source is None:
                return None
            return self.picking.key(source, column, table, value)
        if isinstance(node.value, Mapping) and node.value.get(field) == value:
            phrase = self.picking.called(table, node, field, value)
            return Found({"$": f"{node.name}.{field}"}, phrase, (node.name,))
        return None

    def _look(self, tool: m.Tool, table: str, row: Mapping[str, Any], depth: int) -> bool:
        """Call a tool that may give the key of a row; whether it does."""
        given: dict[str, Any] = {}
        arguments: dict[str, Any] = {}
        context: list[tuple[str, Any]] = []
        needs: list[str] = []
        about = ""
        for parameter in sorted(tool.parameters, key=lambda p: p.optional or p.default is not None):
            made = self._looked(tool, parameter, table, row, depth, bool(arguments))
            if made is None:
                continue
            value, found, said = made
            arguments[parameter.name], given[parameter.name] = value, found.given
            needs += found.needs
            context += said
            if parameter.references is not None and found.phrase != "you":
                if is_vague(found):
                    raise Unreachable(parameter.name)
                about += self.words.of_row(tool, parameter, found.phrase)
        if not arguments and any(True for _ in tool.parameters):
            return False
        self.call(tool, given, arguments, tuple(context), tuple(needs), about)
        return True

    def call(
        self,
        tool: m.Tool,
        given: dict[str, Any],
        arguments: Mapping[str, Any],
        context: tuple[tuple[str, Any], ...] = (),
        needs: tuple[str, ...] = (),
        about: str = "",
    ) -> Node:
        """A lookup, made unless the same one was made before and would answer the same."""
        stale = self.growing.stale(tool)
        for node in self.plan.nodes:
            if node.tool == tool.name and dict(node.arguments) == dict(arguments):
                if node.at == self.growing.written or not stale:
                    return node
        result = self.looks.look(self.growing.state, tool.name, arguments, fresh=stale)
        if not result.ok or result.value is None:
            raise Unreachable(tool.name)
        node = Node(
            self.plan.name(tool.name), tool.name, dict(given), arguments, value=result.value,
            at=self.growing.written, context=context, about=about, needs=needs,
        )  # fmt: skip
        self.plan.nodes.append(node)
        return node

    def _looked(
        self, tool: m.Tool, parameter: m.Parameter, table: str, row: Mapping[str, Any], depth: int, have: bool
    ) -> tuple[Any, Found, list[tuple[str, Any]]] | None:
        """What a lookup is given so that it finds a row; None where it is left out."""
        needed = not parameter.optional and parameter.default is None
        if parameter.references is not None:
            value = self._related(parameter.references, table, row)
            if value is None:
                if needed:
                    raise Unreachable(parameter.name)
                return None
            return value, self.key(parameter.references, value, tool.name, depth + 1), []
        meaning = self.ground.meanings[tool.name].get(parameter.name, Meaning())
        places = [place for place in meaning.looked if place.table == table]
        value = None
        place = Place(table, (parameter.name,))
        places = self.chance.sample(places, len(places))
        if self.chance.random() < 0.7:
            places.sort(key=lambda place: place.path[-1] not in TITLES)
        for place in places:
            value = value_at(row, place.path)
            if value not in (None, ""):
                break
        if value in (None, "") or (not needed and have):
            if needed:
                raise Unreachable(parameter.name)
            return None
        label = label_of(place.path[-1])
        if self.growing.asks(table, row[self.ground.spec.tables[table].key[0].name]):
            name = self.plan.fact(place.path[-1], f"your {label}", value, self._of(table, row), place.path)
            return value, Found({"$": name}, ""), []
        other = table == self.ground.people.table  # whose rows are drawn for who asks
        doc = f"the {label} of the {'other ' if other else ''}{self.words.noun(table)}"
        name = self.plan.fact(place.path[-1], doc, value, None if other else self._of(table, row), place.path)
        return value, Found({"$": name}, ""), [(label, value)]

    def _of(self, table: str, row: Mapping[str, Any]) -> RowOf:
        return RowOf(table, str(row[self.ground.spec.tables[table].key[0].name]))

    def _related(self, wanted: str, table: str, row: Mapping[str, Any]) -> Any:
        """The key of a row of one table that a row of another refers to, or the person's."""
        person = self.draft.person
        for column in self.ground.spec.tables[table].columns:
            if column.references == wanted and row.get(column.name) is not None:
                if wanted != self.ground.people.table or person is None:
                    return row[column.name]
                if row[column.name] == person[self.ground.people.key]:
                    return row[column.name]
        if wanted == self.ground.people.table and person is not None and table != wanted:
            return person[self.ground.people.key]
        return self._holding(wanted, table, row)

    def _holding(self, wanted: str, table: str, row: Mapping[str, Any]) -> Any:
        """The key of a row of the person's with one nested in it that refers to a row."""
        key = self.ground.spec.tables[table].key[0].name
        for nested in self.ground.spec.tables.values():
            if nested.parent != wanted:
                continue
            for column in nested.columns:
                if column.references == table and not column.inherited:
                    for inner in self.rows.where(self.draft.world, nested.name, column.name, row[key]):
                        for node in self.plan.nodes:
                            if inner[nested.inherited[0].name] in node.arguments.values():
                                return inner[nested.inherited[0].name]
        return None


def is_vague(found: Found) -> bool:
    """Whether what a row is called does not say which it is, so that nothing else can be said to be of it."""
    return len(found.phrase.split()) == 2 or found.phrase.startswith("the only ")
