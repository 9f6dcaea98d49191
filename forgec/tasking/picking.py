"""Which row of several is meant: a reason that picks it, by what tells it from the others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from forgec.sql.scope import Cell, Rows
from forgec.tasking.growing import Growing
from forgec.tasking.phrases import Phrases
from forgec.tasking.plans import Found, Node, Source
from forgec.tasking.reasoning import ANY, Criterion, criteria
from forgec.tasking.words import label_of
from forgec_runtime import types as t


class Picking:
    """The rows in results of one plan, and what was picked of them."""

    def __init__(self, growing: Growing) -> None:
        self.growing = growing
        self.ground, self.plan, self.chance = growing.ground, growing.plan, growing.chance
        self.words, self.looks = growing.words, growing.looks
        self.phrases = Phrases(self.ground, self.words)
        self.kept: dict[tuple[str, str, str], tuple[Found, Criterion]] = {}
        """What was picked of the rows of a node, and by what."""
        self.repeated: set[str] = set()
        """The reasons that pick a value which several rows have."""

    def source(self, node: Node, field: str = "") -> Source | None:
        """The rows in a result: its own, or those nested in it at the path of a field."""
        result = self.ground.spec.tools[node.tool].returns
        assert result is not None
        path = field.rpartition(".")[0]
        if path and isinstance(node.value, Mapping):
            return self.inner(node, path)
        if path or not isinstance(result.shape, Rows) or not isinstance(node.value, list | tuple):
            return None
        about = (node.context, node.about, result.docs, self._table(node))
        return Source(node.name, f"${node.name}", "", node.value, result.shape.columns, *about)

    def inner(self, node: Node, path: str) -> Source | None:
        """Rows that are nested in a result that is a document."""
        result = self.ground.spec.tools[node.tool].returns
        around = getattr(result.shape, "table", None) if result is not None else None
        table = self.ground.spec.tables.get(f"{around}_{path}")
        value = node.value.get(path) if isinstance(node.value, Mapping) else None
        if table is None or value is None:
            return None
        cells = {c.name: c.cell for c in table.columns if not c.inherited and not c.numbered}
        rows = list(value.values()) if isinstance(value, Mapping) else list(value)
        cells, rows = _flat(cells, rows)
        inner = f"map_values(${node.name}.{path})" if isinstance(value, Mapping) else f"${node.name}.{path}"
        return Source(node.name, f"unnest({inner}) as i(x)", "i.x.", rows, cells)

    def key(self, source: Source, field: str, table: str, value: Any) -> Found | None:
        """The reason that picks the row with a key, out of several."""
        place, now = (source.sql, field, repr(value)), self._again(source)
        known, criterion = self.kept.get(place, (None, ANY))
        if known is not None and all(any(node.name == need for node in self.plan.nodes) for need in known.needs):
            if _picks(criterion, now, field, value):
                return known
        distinct = list({repr(row.get(field)): row for row in reversed(source.rows)}.values())
        wanted = next((row for row in distinct if row.get(field) == value), None)
        if wanted is None:
            return None
        several = len(distinct) < len(source.rows)
        one = self._criterion(distinct, wanted, source.columns, table, plain=several)
        if one is None or not _picks(one, source.rows, field, value) or not _picks(one, now, field, value):
            return None
        facts = {}
        for name, held in one.equals:
            if isinstance(held, str):
                facts[name] = self._told(source, table, name, held)
        sql = one.sql(field, source, facts)
        if several:
            sql = sql.replace("select ", "select distinct ", 1)
        mine = self.growing.mine(*self._row(source, wanted, table, value))
        doc = "the only one" if one == ANY else self.phrases.of(table, mine, (), one, source.columns, source.docs)
        name = self._reason(f"{field.removesuffix('_id')}", sql, doc, value, (source.node,))
        self.plan.distractors += len(distinct) - 1
        if sum(row.get(field) == value for row in source.rows) > 1:
            self.repeated.add(name)
        phrase = self.phrases.of(
            source.table or table, mine, source.context, one, source.columns, source.docs, source.about
        )
        found = Found({"$": name}, self._in_it(table, source.table, phrase), (name,))
        self.kept[place] = (found, one)
        return found

    def called(self, table: str, node: Node, field: str, value: Any) -> str:
        """What a user calls the row whose key stands in the one row that a lookup found."""
        around = self._table(node)
        key = node.value[self.ground.spec.tables[around].key[0].name] if around else value
        if around is not None and around != table and self.growing.asks(around, key):
            return f"your {self.words.noun(table)}"
        phrase = self.phrases.of(
            around or table, self.growing.mine(around or table, key), node.context, about=node.about
        )
        return self._in_it(table, around, phrase)

    def _table(self, node: Node) -> str | None:
        """The table whose rows a node has, as they are."""
        result = self.ground.spec.tools[node.tool].returns
        return getattr(result.shape, "table", None) if result is not None else None

    def _in_it(self, table: str, around: str | None, phrase: str) -> str:
        """What a row is called to which the one refers that is meant by a phrase."""
        return phrase if around in (None, table) else f"the {self.words.noun(table)} of {phrase}"

    def _row(self, source: Source, row: Mapping[str, Any], table: str, value: Any) -> tuple[str, Any]:
        """A row of a result, by its table and key; that of `table` with a key where it is of none."""
        if source.table is None:
            return table, value
        return source.table, row[self.ground.spec.tables[source.table].key[0].name]

    def _criterion(
        self, rows: list[Any], wanted: Mapping[str, Any], columns: Mapping[str, Cell], table: str, plain: bool
    ) -> Criterion | None:
        """One of the ways to tell a row from the others; a `plain` one goes by values alone."""
        known = {repr(fact.value) for fact in self.plan.facts.values()}
        found = criteria(rows, wanted, columns)
        if plain or table == self.ground.people.table:
            found = [one for one in found if one.order is None]
        if not found:
            return None
        told = [
            one for one in found if one.equals and one.order is None and all(repr(v) in known for _, v in one.equals)
        ]
        if told:
            return told[0]
        valued = [one for one in found if one.order is None]
        extreme = [one for one in found if one.order is not None]
        pool = extreme if extreme and (not valued or self.chance.random() < 0.45) else valued
        return self.chance.choice(pool[:6])

    def _again(self, source: Source) -> list[Any] | None:
        """The rows as they are now, where that may be otherwise."""
        node = self.plan.node(source.node)
        if (
            node.at == self.growing.written
            or source.prefix
            or not (self.ground.reads[node.tool] & self.growing.changed)
        ):
            return None
        result = self.looks.look(self.growing.state, node.tool, node.arguments, fresh=True)
        return list(result.value) if result.ok else []

    def _told(self, source: Source, table: str, column: str, value: str) -> str:
        for fact in self.plan.facts.values():
            if fact.value == value:
                return fact.name
        if table == self.ground.people.table:
            return self.plan.fact(_identifier(column), f"your {label_of(column)}", value, read=True)
        doc = f"the {label_of(column)} of the {self.words.noun(table)}"
        return self.plan.fact(_identifier(column), doc, value, read=True)

    def _reason(self, name: str, sql: str, doc: str, value: Any, needs: tuple[str, ...]) -> str:
        for node in self.plan.nodes:
            if node.sql == sql:
                return node.name
        name = self.plan.name(name)
        self.plan.nodes.append(Node(name, sql=sql, doc=doc, value=value, needs=needs, at=self.growing.written))
        return name


def _picks(one: Criterion, rows: Sequence[Mapping[str, Any]] | None, field: str, value: Any) -> bool:
    """Whether what tells the row with a key from others does so among these; where nothing has changed it does."""
    found = one.picks(rows) if rows is not None else None
    return found is None or (bool(found) and all(row.get(field) == value for row in found))


def _flat(cells: dict[str, Cell], rows: list[Any]) -> tuple[dict[str, Cell], list[Any]]:
    """Rows with what their maps have at each key as columns of their own."""
    found: list[Any] = [dict(row) for row in rows]
    for name, cell in list(cells.items()):
        if isinstance(cell.type, t.Map) and isinstance(cell.type.of, t.Text):
            for key in dict.fromkeys(key for row in rows for key in row[name] or ()):
                path = f"{name}['{key}']"
                cells[path] = Cell(cell.type.of, True)
                for row, flat in zip(rows, found, strict=True):
                    flat[path] = (row[name] or {}).get(key)
    return cells, found


def _identifier(column: str) -> str:
    """A name for a fact about a column, or about what its map has at a key."""
    found = re.sub(r"\W+", "_", label_of(column)).strip("_").lower() if "[" in column else column
    return found if re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", found) else "value"
