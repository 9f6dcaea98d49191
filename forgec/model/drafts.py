"""Rows as a world writes them, flat or as documents, before their values are computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from forgec.diagnostics import did_you_mean
from forgec.model.spec import Column, Table
from forgec.source import Span
from forgec.sql.check import SqlChecker
from forgec.sql.scope import Scope
from forgec.sql.tree import Fragment, exp, place_of
from forgec.syntax import nodes


@dataclass
class Draft:
    """A row: the values it was given, as trees of SQL with their places or plain, and the row that it is nested in."""

    table: Table
    span: Span
    trees: dict[str, exp.Expr] = field(default_factory=dict)
    places: dict[str, Span] = field(default_factory=dict)
    given: dict[str, Any] = field(default_factory=dict)
    find: Callable[[str], Span] | None = None
    """Where the value of a column stands, in a file of data."""
    parent: Draft | None = None
    values: dict[str, Any] = field(default_factory=dict)
    """Of all columns, once they are computed."""

    def place(self, column: str) -> Span:
        if self.find is not None:
            return self.find(column)
        return self.places.get(column, self.span)


def flat_rows(fill: nodes.Fill, table: Table, checker: SqlChecker, scope: Scope) -> Iterator[Draft]:
    """The rows of `t (a, b) values (1, 2), ...`; those that are not sound are reported."""
    columns = _columns(fill, table, checker)
    for text in fill.rows if columns is not None else ():
        row = checker.row(text, scope, [column.type for column in columns or ()])
        if row is not None:
            names = [column.name for column in columns or ()]
            trees, places = [tree for tree, _ in row], [span for _, span in row]
            given = dict(zip(names, trees, strict=True)), dict(zip(names, places, strict=True))
            yield Draft(table, text.span, *given)


def _columns(fill: nodes.Fill, table: Table, checker: SqlChecker) -> list[Column] | None:
    columns: list[Column] = []
    for name in fill.columns:
        column = table.column(name.text)
        if column is None:
            hint = did_you_mean(name.text, [c.name for c in table.columns])
            if name.text in table.parts:
                hint = f"fill `{table.title}.{name}`, or write whole documents: `{table.title} rows {{...}};`"
            message = f"unknown column `{name}` of `{table.title}`"
            checker.report.error("AFS202", message, name.span, help=hint, about=name.text)
            return None
        if column.numbered:
            hint = "rows are numbered in their order"
            checker.report.error("AFS408", f"`{name}` is made by the engine and cannot be set", name.span, help=hint)
            return None
        if column in columns:
            checker.report.error("AFS208", f"column `{name}` stands twice", name.span)
            return None
        columns.append(column)
    missing = _missing(table, [column.name for column in columns], nested=False)
    if missing:
        message = f"rows of `{table.title}` must set {', '.join(f'`{name}`' for name in missing)}"
        checker.report.error("AFS409", message, fill.table[0].span.to(fill.table[-1].span))
        return None
    return columns


def _missing(table: Table, given: list[str], *, nested: bool) -> list[str]:
    """The columns that a row must have and has not; one that is nested in another has the key of that."""
    return [
        column.name
        for column in table.columns
        if not (column.name in given or column.numbered or column.optional or column.default is not None)
        and not (nested and column.inherited)
    ]


class Documents:
    """Reads the documents of one world."""

    def __init__(self, tables: Mapping[str, Table], checker: SqlChecker, scope: Scope) -> None:
        self.tables = tables
        self.checker = checker
        self.scope = scope

    def rows(self, node: nodes.Documents, table: Table) -> Iterator[Draft]:
        """The rows of `t rows {...}, {...};`, each before those nested in it."""
        for text in node.rows:
            fragment = self.checker.data(text, self.scope)
            if fragment is not None:
                yield from self._row(fragment, fragment.tree, table, None, None)

    def _row(
        self, fragment: Fragment, tree: exp.Expr, table: Table, parent: Draft | None, key: str | None
    ) -> Iterator[Draft]:
        """One row, with the `key` that it stands under in a map."""
        fields = self._fields(fragment, tree, f"a row of `{table.title}`")
        if fields is None:
            return
        draft = Draft(table, fragment.span_of(tree), parent=parent)
        nested: list[Draft] = []
        if key is not None:
            fields = {table.key[-1].name: exp.Literal.string(key), **fields}
        for name, part in fields.items():
            child = self.tables.get(f"{table.name}_{name}") if name in table.parts else None
            if child is not None and child.parent == table.name:
                nested.extend(self._rows(fragment, part, child, draft))
            elif not self._value(fragment, name, part, draft):
                return
        missing = _missing(table, list(draft.trees), nested=parent is not None)
        if missing:
            message = f"a row of `{table.title}` must set {', '.join(f'`{name}`' for name in missing)}"
            self.checker.report.error("AFS409", message, draft.span)
            return
        yield draft
        yield from nested

    def _value(self, fragment: Fragment, name: str, part: exp.Expr, draft: Draft) -> bool:
        """Whether a value is one that its column holds; the draft then has it."""
        table, report = draft.table, self.checker.report
        column = table.column(name)
        span = fragment.span_of(part) if place_of(part) else draft.span
        if column is None or column.numbered or (column.inherited and draft.parent is not None):
            known = [*table.parts, *(c.name for c in table.inherited if draft.parent is None)]
            hint = did_you_mean(name, known)
            if column is not None:
                hint = (
                    "rows are numbered in their order" if column.numbered else "it is that of the row around this one"
                )
            message = f"unknown column `{name}` of `{table.title}`"
            if column is not None:
                message = f"`{name}` stands in no row of `{table.title}`"
            place = fragment.span_of_field(name, part)
            report.error("AFS202", message, place, help=hint, about=name if column is None else None)
            return False
        tree = self.checker.constant(fragment, part, self.scope, column.type, span)
        if tree is None:
            return False
        draft.trees[name], draft.places[name] = tree, span
        return True

    def _rows(self, fragment: Fragment, tree: exp.Expr, table: Table, parent: Draft) -> Iterator[Draft]:
        """The rows of a nested table: an array of a list or bag, an object of a map."""
        if table.kind == "map":
            rows = self._fields(fragment, tree, f"the map `{table.title}`, with its keys,")
            for key, row in (rows or {}).items():
                yield from self._row(fragment, row, table, parent, key)
            return
        if not isinstance(tree, exp.Array):
            what = f"the {table.kind} `{table.title}` is written [{{...}}, {{...}}]"
            place = fragment.span_of(tree) if place_of(tree) else parent.span
            self.checker.report.error("AFS314", what, place, "this is no array")
            return
        for row in tree.expressions:
            yield from self._row(fragment, row, table, parent, None)

    def _fields(self, fragment: Fragment, tree: exp.Expr, what: str) -> dict[str, exp.Expr] | None:
        place = fragment.span_of(tree) if place_of(tree) else fragment.span
        if not isinstance(tree, exp.Struct):
            self.checker.report.error("AFS314", f"{what} is written {{'name': value}}", place, "this is no object")
            return None
        fields: dict[str, exp.Expr] = {}
        for part in tree.expressions:
            if part.this.name in fields:
                span = fragment.span_of_field(part.this.name, part.expression)
                self.checker.report.error("AFS602", f"'{part.this.name}' stands twice in one object", span)
                return None
            fields[part.this.name] = part.expression
        return fields
