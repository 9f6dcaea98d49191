"""Rows that a world has made: each of their columns with the SQL that it is computed by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from forgec.diagnostics import did_you_mean
from forgec.model.spec import Column, Generate, Made, Table
from forgec.source import Span
from forgec.sql.check import SqlChecker
from forgec.sql.draws import FAKES, DrawChecker, Drawn
from forgec.sql.scope import Cell, Scope
from forgec.syntax import nodes
from forgec_runtime.types import Enum

MAX_ROWS = 100_000
"""Rows that one block makes, those nested in them included."""


class Generating:
    """Reads the `generate` blocks of one world."""

    def __init__(self, tables: Mapping[str, Table], checker: SqlChecker, scope: Scope) -> None:
        self.tables = tables
        self.checker = checker
        self.scope = scope
        self.numbers: Counter[str] = Counter()

    def block(self, node: nodes.Generate, table: Table) -> Generate | None:
        """What a block says; None when it was reported."""
        if _largest(node) > MAX_ROWS:
            message = f"this makes more than {MAX_ROWS:,} rows"
            self.checker.report.error("AFS625", message, _head(node))
            return None
        return self._block(node, table, inside=False)

    def _block(self, node: nodes.Generate, table: Table, *, inside: bool) -> Generate | None:
        if node.least > node.most:
            message = f"`{node.least} to {node.most}` are no rows"
            self.checker.report.error("AFS410", message, _head(node), help="the smaller number stands first")
            return None
        if table.single:
            hint = f"write `update {table.name} set ...`, or fill it"
            self.checker.report.error("AFS407", f"`{table.name}` has always one row", _head(node), help=hint)
            return None
        self.numbers[table.name] += 1
        number = self.numbers[table.name]
        before = len(self.checker.report)
        given = self._given(node, table, inside=inside)
        made = tuple(self._made(node, table, given, inside=inside))
        nested = [self._nested(part, table) for part in node.nested]
        if len(self.checker.report) > before:
            return None
        return Generate(
            table=table.name,
            number=number,
            least=node.least,
            most=node.most,
            made=made,
            nested=tuple(part for part in nested if part is not None),
            span=_head(node),
        )

    def _nested(self, node: nodes.Generate, table: Table) -> Generate | None:
        name = ".".join(part.text for part in node.table)
        child = self.tables.get(f"{table.name}_{name}") if name in table.parts else None
        if child is None or child.parent != table.name:
            inner = [part for part in table.parts if f"{table.name}_{part}" in self.tables]
            message = f"`{name}` is no table inside of `{table.title}`"
            self.checker.report.error("AFS201", message, _place(node), help=did_you_mean(name, inner), about=name)
            return None
        return self._block(node, child, inside=True)

    def _given(self, node: nodes.Generate, table: Table, *, inside: bool) -> dict[str, nodes.Made]:
        """The columns that are said, by name; without those that are reported."""
        given: dict[str, nodes.Made] = {}
        for made in node.made:
            name, report = made.name, self.checker.report
            column = table.column(name.text)
            if column is None:
                hint = did_you_mean(name.text, [c.name for c in table.columns])
                if name.text in table.parts:
                    hint = f"write `{name} generate 1 to 3 {{ ... }}`"
                message = f"unknown column `{name}` of `{table.title}`"
                report.error("AFS202", message, name.span, help=hint, about=name.text)
            elif column.numbered:
                hint = "rows are numbered in their order"
                report.error("AFS408", f"`{name}` is made by the engine and cannot be set", name.span, help=hint)
            elif column.inherited and inside:
                hint = "it is that of the row around this one"
                report.error("AFS408", f"`{name}` cannot be set here", name.span, help=hint)
            elif name.text in given:
                report.error("AFS208", f"column `{name}` is set twice", name.span)
            else:
                given[name.text] = made
        return given

    def _made(
        self, node: nodes.Generate, table: Table, given: Mapping[str, nodes.Made], *, inside: bool
    ) -> Iterator[Made]:
        """The columns, those that nothing is said of first: what is said of the others may look at them."""
        row: dict[str, Cell] = {}
        for column in table.columns:
            if column.name not in given:
                drawn = self._unsaid(node, table, column, row, inside=inside)
                row[column.name] = column.cell
                if drawn is not None:
                    yield Made(column=column.name, drawn=drawn)
        for name, made in given.items():
            said = table.column(name)
            assert said is not None
            drawn = DrawChecker(self.checker, self.scope, row).drawn(made.sql, said.type)
            row[name] = said.cell
            if drawn is not None:
                yield Made(column=name, drawn=drawn)

    def _unsaid(
        self, node: nodes.Generate, table: Table, column: Column, row: Mapping[str, Cell], *, inside: bool
    ) -> Drawn | None:
        """What a column holds of which nothing is said: nothing where the engine makes it, or it is NULL."""
        if column.made or (column.inherited and inside):
            return None
        if column.default is not None:
            return Drawn(column.default)
        if column.optional:
            return None
        draws, span = DrawChecker(self.checker, self.scope, row), _head(node)
        if column.references is not None:
            return draws.any_row(self.tables[column.references], span)
        if isinstance(column.type, Enum) and not column.key:
            return draws.any_value(column.type, span)
        if any(table.column(made.name.text) is None for made in node.made):
            return None  # this one may be meant by the name of which that was said
        message = f"nothing says what `{table.title}.{column.name}` is"
        hint = f"such as `{column.name} = {_example(column)};`"
        self.checker.report.error("AFS409", message, span, help=hint)
        return None


def _largest(node: nodes.Generate) -> int:
    return node.most * (1 + sum(_largest(nested) for nested in node.nested))


def _place(node: nodes.Generate) -> Span:
    return node.table[0].span.to(node.table[-1].span)


def _head(node: nodes.Generate) -> Span:
    """`members generate 40`."""
    text = node.span.text
    return Span(node.span.source, node.span.start, node.span.start + len(text[: text.index("{")].rstrip()))


def _example(column: Column) -> str:
    """What may be written for a column, by its type."""
    kind = str(column.type)
    if kind == "text":
        fake = column.name if column.name in FAKES else "sentence"
        return f"'{column.name[0].upper()}' || n()" if column.key or column.unique else f"fake('{fake}')"
    examples = {
        "integer": "n()" if column.key or column.unique else "uniform(1, 10)",
        "date": "uniform(date '2024-01-01', today())",
        "timestamp": "uniform(timestamp '2024-01-01 00:00:00', now())",
        "boolean": "chance(0.5)",
        "double": "uniform(0, 1)",
    }
    return examples.get(kind, "uniform(1, 10)" if kind.startswith("decimal") else "choice(..., ...)")
