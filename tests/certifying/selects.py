"""Random selects, as the compiler writes them, and random rows to ask them of."""

import datetime
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from forgec_runtime import Query
from forgec_runtime import types as t
from forgec_runtime.base import Base, Origin
from forgec_runtime.engine import connect
from forgec_runtime.schema import Column, Table

KINDS: Mapping[str, tuple[t.Type, list[Any]]] = {
    "text": (t.Text(), ["a", "b", "B", "é", "É", " a", "ab", "", "ß", "z\u00a0", "😀", "\ufffd"]),
    "integer": (t.Integer(), [0, 1, 1, 2, 3, -1, -2, 100, 2**31, -(2**40)]),
    "decimal": (t.Decimal(6, 2), [Decimal(one) for one in ("0.00", "1.00", "1.50", "-0.25", "2.00", "9999.99")]),
    "rate": (t.Decimal(4, 3), [Decimal(one) for one in ("0.000", "1.000", "1.500", "-0.125", "2.000")]),
    "date": (t.Date(), [datetime.date(2024, 2, 29), datetime.date(2025, 3, 1), datetime.date(2025, 3, 2)]),
    "timestamp": (t.Timestamp(), [datetime.datetime(2025, 3, 1, hour) for hour in (0, 9, 23)]),
    "boolean": (t.Boolean(), [True, False]),
    "day": (t.Text(), ["2025-03-01", "2024-02-29", "2001-12-31"]),
}
"""The kinds of values, and few values of each, so that many are equal."""
PLAIN = ("text", "integer", "decimal", "date", "timestamp", "boolean")
"""Kinds of expressions; a decimal may have any number of places."""
SIZE = t.Record("Size", (t.Field("wide", t.Integer(), optional=True), t.Field("made_of", t.Text())))


def _table(name: str, key: tuple[str, ...], columns: Mapping[str, str]) -> Table[Any]:
    """Columns by their kinds; those with a `?` may be NULL."""
    types = {one: SIZE if kind == "size?" else KINDS[kind.rstrip("?")][0] for one, kind in columns.items()}
    return Table(name, tuple(Column(one, types[one], kind.endswith("?")) for one, kind in columns.items()), key)


_THINGS = {
    "id": "text", "name": "text", "kind": "text?", "copies": "integer", "spare": "integer?", "price": "decimal?",
    "due": "date?", "at": "timestamp?", "late": "boolean?", "size": "size?",
}  # fmt: skip
_PARTS = {
    "thing": "text", "place": "integer", "kind": "text", "spare": "integer?", "price": "decimal", "rate": "rate?",
    "due": "date", "late": "boolean",
}  # fmt: skip
TABLES = {
    "things": _table("things", ("id",), _THINGS),
    "parts": _table("parts", ("thing", "place"), _PARTS),
}
READ = {
    "things": {**_THINGS, "size.wide": "integer", "size.made_of": "text"},
    "parts": _PARTS,
}
"""What expressions may read of a row."""

LIST = {"id": "text", "copies": "integer", "price": "decimal", "due": "date", "late": "boolean"}
"""The fields of the rows that calls give."""
_FIELDS = ", ".join(f'"{name}" {KINDS[kind][0].sql}' for name, kind in LIST.items())
GIVEN = {**{f"any_{kind}": type_.sql for kind, (type_, _) in KINDS.items()}, "rows": f"STRUCT({_FIELDS})[]"}
"""What calls give, with its types: a value of each kind, and a list of rows."""


def value(chance: random.Random, kind: str, nulls: float = 0.2) -> Any:
    return None if chance.random() < nulls else chance.choice(KINDS[kind][1])


def given(chance: random.Random, query: Query) -> list[Any]:
    """What a call gives for a query."""
    return [value(chance, name.removeprefix("any_")) if name != "rows" else _rows(chance) for name, _ in query.values]


def _rows(chance: random.Random) -> list[dict[str, Any]] | None:
    rows = [{name: value(chance, kind) for name, kind in LIST.items()} for _ in range(chance.randrange(6))]
    return rows if chance.random() < 0.9 else None


def row(chance: random.Random, name: str) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for one, kind in (_THINGS if name == "things" else _PARTS).items():
        if kind == "size?":
            size = {"wide": value(chance, "integer"), "made_of": value(chance, "text", 0)}
            made[one] = size if chance.random() < 0.8 else None
        else:
            made[one] = value(chance, kind.rstrip("?"), 0.3 if kind.endswith("?") else 0)
    return made


def world(chance: random.Random, most: int) -> Base:
    """A world with at most so many rows a table."""
    connection = connect()
    for name, table in TABLES.items():
        columns = ", ".join(f'"{column.name}" {column.type.sql}' for column in table.columns)
        connection.execute(f"create table {name} ({columns})")
        rows = {table.key_of(one): one for one in (row(chance, name) for _ in range(most))}
        marks = ", ".join("?" * len(table.columns))
        for one in rows.values():
            connection.execute(f"insert into {name} values ({marks})", list(one.values()))
    return Base(TABLES, connection, Origin("store", str(most), "", ""), {})


def changes(chance: random.Random, base: Base) -> dict[str, dict[Any, Any]]:
    """Rows that are taken away, are others than before, or are new."""
    seen: dict[str, dict[Any, Any]] = {}
    for name, table in base.tables.items():
        rows = base.rows_of[name].by_key
        changed: dict[Any, Any] = {}
        for key in chance.sample(list(rows), min(len(rows), chance.randrange(5))):
            other = row(chance, name)
            kept = {one for one in table.names if one in table.key or chance.random() < 0.3}
            other.update({one: rows[key][one] for one in kept})
            changed[key] = other if chance.random() < 0.7 else None
        for new in (row(chance, name) for _ in range(chance.randrange(3))):
            if table.key_of(new) not in rows:
                changed[table.key_of(new)] = new if chance.random() < 0.9 else None
        if chance.random() < 0.8:
            seen[name] = changed
    return seen


@dataclass(frozen=True)
class Scope:
    """The columns that an expression may read, by kind; `rows` is what aggregates may read."""

    columns: Mapping[str, list[str]] = field(default_factory=dict)
    rows: "Scope | None" = None

    def adding(self, source: str, columns: Mapping[str, str]) -> "Scope":
        """With a source more; one of that name outside is not seen then."""
        own: dict[str, list[str]] = {}
        for name, kind in columns.items():
            plain = kind.rstrip("?")
            own.setdefault("decimal" if plain == "rate" else plain, []).append(f"{source}.{name}")
        return self.around(Scope(own))

    def around(self, inner: "Scope") -> "Scope":
        """What a select inside may read beside its own rows."""
        hidden = {one.partition(".")[0] for names in inner.columns.values() for one in names}
        found = {kind: list(names) for kind, names in inner.columns.items()}
        for kind, names in self.columns.items():
            seen = [one for one in names if one.partition(".")[0] not in hidden]
            if seen:
                found.setdefault(kind, []).extend(seen)
        return Scope(found)


SELDOM = (
    "EXISTS(SELECT 1 AS x FROM {things} AS s WHERE s.copies < (SELECT MIN(t.spare) AS x FROM {things} AS t))",
    "EXISTS(SELECT 1 AS x FROM {things} AS s WHERE s.copies < 9 AND NOT EXISTS(SELECT 1 AS x FROM {parts} AS t))",
    "EXISTS(SELECT 1 AS x FROM {parts} AS s WHERE s.kind <> 'a' HAVING COUNT(*) < 2)",
    "EXISTS(SELECT COUNT(*) AS x FROM {parts} AS s WHERE s.late HAVING COUNT(*) > 2)",
    "EXISTS(SELECT 1 AS x FROM {parts} AS s GROUP BY s.due HAVING COUNT(*) = 2)",
    "EXISTS(SELECT 1 AS x FROM {parts} AS s WHERE s.late GROUP BY s.due HAVING COUNT(*) < 2)",
    "EXISTS(SELECT 1 AS x FROM {things} AS s GROUP BY s.late, s.copies HAVING COUNT(*) > 2)",
    "EXISTS(SELECT 1 AS x FROM {things} AS s JOIN {parts} AS t ON s.id = t.thing WHERE s.late AND NOT t.late)",
    "EXISTS(SELECT 1 AS x FROM {things} AS s JOIN {parts} AS t ON s.id = t.kind GROUP BY s.id HAVING COUNT(*) > 1)",
    "NOT EXISTS(SELECT 1 AS x FROM {parts} AS s WHERE s.kind = s.thing) "
    "AND NOT EXISTS(SELECT 1 AS x FROM {things} AS s JOIN {parts} AS t ON t.place = s.copies WHERE s.price > t.price)",
    "(SELECT SUM(s.price) AS x FROM {things} AS s WHERE s.late)",
    "(SELECT SUM(s.copies) AS x FROM {things} AS s WHERE s.copies < 100 "
    "AND EXISTS(SELECT 1 AS x FROM {parts} AS t WHERE t.kind = s.name))",
    "(SELECT SUM(s.price) AS x FROM {things} AS s) > 0.005",
)
"""Selects that are seldom drawn: whether rows are there of which only changed ones can be."""


class Selects:
    """Draws queries."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.names = 0

    def query(self) -> Query:
        """A select of rows in a whole order, a value, or whether there are rows."""
        columns: tuple[str, ...] = ("value",)
        order = ""
        way = self.chance.random()
        if way < 0.3:
            text, kinds = self.select(Scope(), 2)
            terms = [f"q.{name}" + self.chance.choice(("", " DESC")) for name in kinds]
            self.chance.shuffle(terms)
            columns, order = tuple(list(kinds)[: self.chance.randrange(1, len(kinds) + 1)]), ", ".join(terms)
        elif way < 0.7:
            some = [f"{self.chance.choice(('', 'NOT '))}EXISTS({self.invariant()})" for _ in range(2)]
            together = self.chance.choice((" AND ", " OR ")).join(some[: self.chance.randrange(1, 3)])
            text = f"SELECT {together} AS value"
        else:
            text = f"SELECT {self.expression(self.chance.choice(PLAIN), Scope(), 3)} AS value"
        return query_of(text, columns, order)

    def name(self, letter: str) -> str:
        self.names += 1
        return f"{letter}{self.names}"

    def alias(self, *others: str) -> str:
        """The name of a source, now and then that of one outside."""
        return self.chance.choice([one for one in ("s", "t", "u", "v", "w") if one not in others])

    # -- selects -------------------------------------------------------------------------------------------------

    def source(self, depth: int, lists: bool = True) -> tuple[str, Mapping[str, str]]:
        """What stands after `from`, and its columns."""
        way = self.chance.random()
        if way < 0.15 and depth:
            text, kinds = self.select(Scope(), depth - 1)
            return f"({text})", kinds
        if way < 0.3 and lists:
            inner, columns = (
                "(SELECT UNNEST(call.rows) AS _row) AS _rows",
                ", ".join(f"_row.{one} AS {one}" for one in LIST),
            )
            return f"(SELECT {columns} FROM {inner})", LIST
        name = self.chance.choice(list(TABLES))
        return f"{{{name}}}", READ[name]

    def sources(self, scope: Scope, depth: int, lists: bool = True) -> tuple[str, Scope]:
        """One source or two, joined by what may be equal."""
        text, columns = self.source(depth, lists)
        alias = self.alias()
        scope, text = scope.adding(alias, columns), f"{text} AS {alias}"
        if self.chance.random() < 0.4:
            other, more = self.source(depth, lists)
            second = self.alias(alias)
            scope = scope.adding(second, more)
            pairs = [(a, b) for a, one in columns.items() for b, two in more.items() if one == two]
            a, b = self.chance.choice(pairs) if pairs else (next(iter(columns)), next(iter(columns)))
            operator = self.chance.choice(("=", "=", "=", "=", "<>", "<"))
            equal = f"{alias}.{a} {operator} {second}.{b}" if pairs else "TRUE"
            if self.chance.random() < 0.2:
                equal = f"{equal} AND {self.expression('boolean', scope, 1)}"
            if self.chance.random() < 0.1:
                equal = self.expression("boolean", scope, 1)
            text = f"{text} JOIN {other} AS {second} ON {equal}"
        return text, scope

    def where(self, scope: Scope, depth: int, share: float = 0.6) -> str:
        if self.chance.random() > share:
            return ""
        found = [self.expression("boolean", scope, depth) for _ in range(self.chance.randrange(1, 3))]
        if self.chance.random() < 0.4:
            kind = self.chance.choice([kind for kind in scope.columns if kind in PLAIN])
            found.append(f"{self.chance.choice(scope.columns[kind])} = {self.leaf(kind, Scope())}")
        if depth > 1 and self.chance.random() < 0.4:
            found.append(self.inner(scope, depth))
        return f" WHERE {' AND '.join(f'({one})' if ' ' in one else one for one in found)}"

    def grouped(self, scope: Scope, depth: int) -> tuple[str, Scope]:
        """A `group by` with or without a `having`, and what may stand beside it."""
        kinds = [kind for kind in PLAIN if kind in scope.columns]
        keys = {self.chance.choice(scope.columns[kind]): kind for kind in self.chance.choices(kinds, k=2)}
        if self.chance.random() < 0.6:
            keys = dict(list(keys.items())[:1])
        within = Scope({kind: [one for one, of in keys.items() if of == kind] for kind in keys.values()}, scope)
        text = f" GROUP BY {', '.join(keys)}"
        if self.chance.random() < 0.7:
            number = self.chance.choice((f"> {self.chance.randrange(1, 5)}", f"= {self.chance.randrange(1, 4)}"))
            test = f"COUNT(*) {number}" if self.chance.random() < 0.7 else self.expression("boolean", within, 1)
            text += f" HAVING {test}"
        return text, within

    def select(self, scope: Scope, depth: int) -> tuple[str, dict[str, str]]:
        """A select of several columns, in a whole order if it is limited."""
        sources, within = self.sources(scope, depth)
        text = f" FROM {sources}{self.where(within, depth)}"
        if self.chance.random() < 0.3:
            more, within = self.grouped(within, depth)
            text += more
        kinds = {self.name("c"): self.chance.choice(PLAIN) for _ in range(self.chance.randrange(1, 4))}
        items = ", ".join(f"{self.expression(kind, within, 1)} AS {name}" for name, kind in kinds.items())
        distinct = "DISTINCT " if self.chance.random() < 0.2 else ""
        if self.chance.random() < 0.3:
            terms = self.chance.sample(list(kinds), len(kinds))
            if not distinct and self.chance.random() < 0.5:
                columns = [one for names in within.columns.values() for one in names]
                terms.insert(0, self.chance.choice(columns))
            ordered = [one + self.chance.choice(("", " DESC")) for one in terms]
            text += f" ORDER BY {', '.join(ordered)} LIMIT {self.chance.randrange(4)}"
        return f"SELECT {distinct}{items}{text}", kinds

    def inner(self, scope: Scope, depth: int) -> str:
        """Whether there are rows beside those that are looked at."""
        sources, within = self.sources(scope, 0)
        return f"EXISTS(SELECT 1 AS x FROM {sources}{self.where(within, depth - 1, 0.9)})"

    def invariant(self) -> str:
        """A select of which there is often no row: of groups that are large, or of pairs."""
        sources, within = self.sources(Scope(), 1, lists=False)
        text = f"SELECT 1 AS x FROM {sources}{self.where(within, self.chance.choice((1, 2, 3)), 0.4)}"
        way = self.chance.random()
        if way < 0.4:
            text += f" GROUP BY {self.chance.choice(self.chance.choice(list(within.columns.values())))}"
        elif way < 0.6:
            text += self.grouped(within, 1)[0]
        if way < 0.4 or way > 0.8:
            text += f" HAVING COUNT(*) {self.chance.choice('<=>')} {self.chance.randrange(1, 7)}"
        return text

    # -- expressions ---------------------------------------------------------------------------------------------

    def leaf(self, kind: str, scope: Scope) -> str:
        columns = scope.columns.get(kind, [])
        if columns and self.chance.random() < 0.7:
            return self.chance.choice(columns)
        if self.chance.random() < 0.4:
            return f"call.any_{kind}"
        return literal(self.chance.choice(KINDS[kind][1]))

    def expression(self, kind: str, scope: Scope, depth: int) -> str:
        if depth <= 0 or self.chance.random() < 0.2:
            return self.leaf(kind, scope)
        if scope.rows is not None and self.chance.random() < 0.5:
            return self.aggregate(kind, scope.rows)
        ways = [self.either, self.of_kind, self.of_kind]
        if depth > 1:
            ways.append(self.only)
        return self.chance.choice(ways)(kind, scope, depth - 1)

    def either(self, kind: str, scope: Scope, depth: int) -> str:
        one, two = (self.expression(kind, scope, depth) for _ in range(2))
        forms = ["COALESCE({}, {})", "CASE WHEN {test} THEN {} ELSE {} END", "CASE WHEN {test} THEN {} END"]
        forms += ["LEAST({}, {})", "GREATEST({}, {})"]
        return self.chance.choice(forms).format(one, two, test=self.expression("boolean", scope, depth))

    def only(self, kind: str, scope: Scope, depth: int) -> str:
        """The only value of a select: of an aggregate over rows, or of the first in an order."""
        sources, own = self.sources(Scope(), 0)
        within = scope.around(own)
        where = self.where(within, depth, 0.8)
        if self.chance.random() < 0.7:
            return f"(SELECT {self.aggregate(kind, own)} AS x FROM {sources}{where})"
        order = self.chance.choice(("x", "x DESC"))
        return f"(SELECT {self.leaf(kind, within)} AS x FROM {sources}{where} ORDER BY {order} LIMIT 1)"

    def aggregate(self, kind: str, rows: Scope) -> str:
        """One over columns: values of a call are no part of the rows."""
        ways = ["MIN", "MAX", *(["SUM"] if kind == "decimal" else ["COUNT", "COUNT", "*"] if kind == "integer" else [])]
        way = self.chance.choice(ways)
        if way == "*":
            return "COUNT(*)"
        of = self.chance.choice(PLAIN) if way == "COUNT" else kind
        columns = rows.columns.get(of) or [literal(self.chance.choice(KINDS[of][1]))]
        distinct = "DISTINCT " if way == "COUNT" and self.chance.random() < 0.5 else ""
        return f"{way}({distinct}{self.chance.choice(columns)})"

    def number(self) -> str:
        return self.chance.choice(("decimal", "integer"))

    def of_kind(self, kind: str, scope: Scope, depth: int) -> str:
        def some(kind: str) -> str:
            return self.expression(kind, scope, depth)

        if kind == "text":
            forms = ["LOWER({})", "UPPER({})", "TRIM({})", "REPLACE({}, {}, {})", "{} || {}"]
            return self.chance.choice(forms).format(some("text"), some("text"), some("text"))
        if kind == "integer":
            if self.chance.random() < 0.3:
                return f"DATE_DIFF('DAY', {some('date')}, {some('date')})"
            if self.chance.random() < 0.3:
                return f"LENGTH({some('text')})"
            return f"({some('integer')} {self.chance.choice('+-*')} {some('integer')})"
        if kind == "decimal":
            if self.chance.random() < 0.2:
                return f"CAST({some(self.number())} AS DECIMAL(9, {self.chance.randrange(4)}))"
            return f"({some('decimal')} {self.chance.choice('+-*')} {some(self.number())})"
        if kind == "date":
            return f"CAST({self.leaf('day', Scope())} AS DATE)"
        if kind == "timestamp":
            return literal(self.chance.choice(KINDS["timestamp"][1]))
        return self.condition(scope, depth)

    def condition(self, scope: Scope, depth: int) -> str:
        def some(kind: str) -> str:
            return self.expression(kind, scope, depth)

        way = self.chance.random()
        if way < 0.25:
            return f"({some('boolean')} {self.chance.choice(('AND', 'OR'))} {some('boolean')})"
        if way < 0.3:
            return f"(NOT {some('boolean')})"
        if way < 0.35:
            return self.chance.choice(("CONTAINS({}, {})", "STARTS_WITH({}, {})")).format(some("text"), some("text"))
        kind = self.chance.choice(PLAIN)
        one, two, three = some(kind), some(kind), some(kind)
        if way < 0.45:
            return f"({one} IS {self.chance.choice(('', 'NOT '))}NULL)"
        if way < 0.55:
            return f"({one} {self.chance.choice(('', 'NOT '))}IN ({two}, {three}))"
        if way < 0.65:
            return f"({one} BETWEEN {two} AND {three})"
        if way < 0.75 and depth:
            return self.inner(scope, depth)
        return f"({one} {self.chance.choice(('=', '<>', '<', '<=', '>', '>='))} {two})"


def query_of(text: str, columns: tuple[str, ...] = ("value",), order: str = "") -> Query:
    tables = tuple(name for name in TABLES if f"{{{name}}}" in text)
    values = tuple((name, sql) for name, sql in GIVEN.items() if re.search(rf"\bcall\.{name}\b", text))
    return Query(text, tables, values, columns, order)


def literal(one: Any) -> str:
    """A value as it is written, without its sign."""
    if isinstance(one, bool | int | Decimal):
        return str(one).upper().removeprefix("-") if one != -(2**40) and one != 2**31 else "7"
    if isinstance(one, datetime.datetime):
        return f"CAST('{one}' AS TIMESTAMP)"
    if isinstance(one, datetime.date):
        return f"CAST('{one}' AS DATE)"
    return "'" + str(one).replace("'", "''") + "'"
