"""Documents taken apart into the rows of a table and of those nested in it, each value of its column's type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal

from ..schema import Column, Table
from ..types import Mismatch
from .documents import Cell, Document
from .values import key_of, value_of

MAX_ROWS = 200_000
"""How many rows one source has at most, those nested in others counted."""
_TOO_MANY = f"a source has at most {MAX_ROWS:,} rows"

What = Literal["form", "unknown", "missing", "value", "size"]
Path = tuple[str | int, ...]
"""The way from a document to a value in it: names, and indexes of arrays."""
Defaults = Mapping[str, Mapping[str, Any]]
"""The columns that have a default, by table, and what that is."""


@dataclass(eq=False)
class Problem(Exception):
    """What is wrong with a document, and where in it."""

    what: What
    text: str
    document: Document
    path: Path
    help: str | None = None


@dataclass(eq=False)
class Row:
    """A row with what its document says: neither the key of the row around it, nor its number, nor defaults."""

    table: Table[Any]
    document: Document
    path: Path
    parent: Row | None
    values: dict[str, Any] = field(default_factory=dict)

    def problem(self, what: What, text: str, *more: str | int, help: str | None = None) -> Problem:
        return Problem(what, text, self.document, (*self.path, *more), help)


class Reader:
    """Reads documents of the tables of an environment."""

    def __init__(self, tables: Mapping[str, Table[Any]], defaults: Defaults) -> None:
        self.defaults = defaults
        self.columns = {name: {c.name: c for c in table.columns} for name, table in tables.items()}
        self.nested = {name: {inner.last: inner for inner in table.nested} for name, table in tables.items()}
        self.problems: list[Problem] = []
        """What does not fit: of a row the first, and each column that is unknown or missing once."""
        self._told: set[str] = set()
        self._count = 0

    def rows(self, table: Table[Any], documents: Sequence[Document]) -> Iterator[Row]:
        """The rows of documents, each before those nested in it. One that does not fit is left out, with the latter."""
        if len(documents) > MAX_ROWS:
            self._note(Row(table, documents[MAX_ROWS], (), None).problem("size", _TOO_MANY))
            return
        for document in documents:
            yield from self._rows(Row(table, document, (), None), document.value, document.key)

    def _rows(self, row: Row, value: Any, key: str | None) -> Iterator[Row]:
        try:
            nested = self._fill(row, value, key)
        except Problem as problem:
            self._note(problem)
            return
        yield row
        for inner, part in nested:
            yield from self._inside(row, inner, part)

    def _inside(self, row: Row, table: Table[Any], value: Any) -> Iterator[Row]:
        """The rows of a nested table: an array of a list or bag, an object of a map."""
        wanted = "an object that has its rows by their keys" if table.kind == "map" else "an array of rows"
        if isinstance(value, Cell) or not isinstance(value, dict if table.kind == "map" else list):
            self._note(row.problem("form", f"the {table.kind} `{table.title}` is {wanted}", table.last))
            return
        steps = value.items() if isinstance(value, dict) else enumerate(value)
        for step, part in steps:
            inner = Row(table, row.document, (*row.path, table.last, step), row)
            yield from self._rows(inner, part, step if isinstance(step, str) else None)

    def _note(self, problem: Problem) -> None:
        if problem.what in ("value", "form") or problem.text not in self._told:
            self.problems.append(problem)
        self._told.add(problem.text)

    def _fill(self, row: Row, value: Any, key: str | None) -> list[tuple[Table[Any], Any]]:
        """Give a row its values; what its document has of nested tables. Raises `Problem`."""
        table, nested = row.table, []
        self._count += 1
        if self._count > MAX_ROWS:
            raise row.problem("size", _TOO_MANY)
        if not isinstance(value, dict):
            raise row.problem("form", f"a row of `{table.title}` is an object")
        columns, inner = self.columns[table.name], self.nested[table.name]
        for name, part in value.items():
            if name in inner:
                nested.append((inner[name], part))
            elif (column := columns.get(name)) is None:
                known = [*columns, *inner]
                same = [one for one in known if one.lower() == name.lower()]
                close = same or get_close_matches(name[:100], known, n=1)
                hint = f"did you mean `{close[0]}`?" if close else None
                raise row.problem("unknown", f"unknown column `{name[:100]}` of `{table.title}`", name, help=hint)
            else:
                row.values[name] = self._value(row, column, part)
        if key is not None:
            self._take_key(row, key)
        missing = [column.name for column in table.columns if self._misses(row, column)]
        if missing:
            names = ", ".join(f"`{name}`" for name in missing)
            raise row.problem("missing", f"a row of `{table.title}` must set {names}")
        return nested

    def _value(self, row: Row, column: Column, value: Any) -> Any:
        table = row.table
        if column.name == table.numbered or (row.parent is not None and column.name in table.inherited):
            of_parent = column.name != table.numbered
            hint = "it is that of the row around this one" if of_parent else "rows are numbered in their order"
            raise row.problem("unknown", f"`{column.name}` stands in no row of `{table.title}`", column.name, help=hint)
        if value is None or (isinstance(value, Cell) and value.stands_for_null(column)):
            if not column.optional:
                raise row.problem("value", f"`{column.name}` is never null", column.name)
            return None
        try:
            return value_of(column.type, value)
        except Mismatch as mismatch:
            raise row.problem("value", mismatch.about(column.name)[0], column.name) from None

    def _take_key(self, row: Row, name: str) -> None:
        """The name that a row stands under in an object is its key, which may stand inside of it, too."""
        table = row.table
        own = [key for key in table.key if row.parent is None or key not in table.inherited]
        if len(own) != 1:
            text = f"rows of `{table.title}` have a key of several columns, so that they stand in an array"
            raise row.problem("form", text)
        try:
            key = key_of(table.types[own[0]], name)
        except Mismatch as mismatch:
            raise row.problem("value", mismatch.about(own[0])[0]) from None
        if row.values.setdefault(own[0], key) != key:
            raise row.problem("value", f"`{own[0]}` is not the name {name[:100]!r} that its row stands under", own[0])

    def _misses(self, row: Row, column: Column) -> bool:
        """Whether a column must be there and is not. One that may be NULL is then that, unless it has a default."""
        name, table = column.name, row.table
        if name in row.values or name == table.numbered or (row.parent is not None and name in table.inherited):
            return False
        if name in self.defaults.get(table.name, ()):
            return False
        row.values[name] = None
        return not column.optional
