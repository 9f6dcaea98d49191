"""Columns and constraints of `create table`, as sqlglot reads them, to found columns."""

from __future__ import annotations

import re
from collections.abc import Iterable

from forgec.source import Source, Span
from forgec.sql.tree import exp
from forgec.starting.found import FoundColumn, FoundReference, FoundTable
from forgec.starting.types import SERIALS


def name_of(node: exp.Expr | None) -> str:
    """The bare name of a table, column or identifier."""
    return "" if node is None else node.name


def named(nodes: Iterable[exp.Expr]) -> list[str]:
    """The names of columns that a constraint lists, whatever order or length stands with them."""
    return [(node.this if isinstance(node, exp.Ordered | exp.ColumnPrefix) else node).name for node in nodes]


class Constraints:
    """Adds the parts of `create table` or `alter table ... add` to one table."""

    def __init__(self, table: FoundTable, dialect: str, source: Source) -> None:
        self.table = table
        self.dialect = dialect
        self.source = source

    def add(self, part: exp.Expr) -> None:
        """A column, or a constraint of the table."""
        if isinstance(part, exp.ColumnDef):
            self._column(part)
        elif isinstance(part, exp.Constraint):
            for inner in part.expressions:
                self.add(inner)
        elif isinstance(part, exp.PrimaryKey):
            self.table.key = named(part.expressions)
        elif isinstance(part, exp.UniqueColumnConstraint):
            self._unique(part)
        elif isinstance(part, exp.ForeignKey):
            self._foreign(named(part.expressions), part.args.get("reference"))
        elif isinstance(part, exp.CheckColumnConstraint):
            self.table.checks.append(part.this)
        elif isinstance(part, exp.Identifier):  # SQLite: a column without a type
            self.table.columns.append(FoundColumn(part.name, None, span=self._span(part)))
        elif isinstance(part, exp.ExcludeColumnConstraint | exp.LikeProperty):
            self.table.notes.append(f"left out: {part.sql(dialect=self.dialect)}")

    def _unique(self, part: exp.UniqueColumnConstraint) -> None:
        if isinstance(part.this, exp.Schema):
            self.table.unique.append(named(part.this.expressions))

    def _foreign(self, columns: list[str], reference: exp.Expr | None) -> None:
        if not isinstance(reference, exp.Reference):
            return
        schema = reference.this
        targets = named(schema.expressions) if isinstance(schema, exp.Schema) else []
        table = schema.find(exp.Table)
        if table is not None:
            self.table.references.append(FoundReference(columns, name_of(table), targets))

    def _column(self, part: exp.ColumnDef) -> None:
        data = part.args.get("kind")
        column = FoundColumn(part.name, data if isinstance(data, exp.DataType) else None, span=self._span(part.this))
        if column.type is not None and isinstance(column.type.this, exp.DataType.Type):
            column.numbered = column.type.this.name in SERIALS
            if column.numbered:
                column.nullable = False
        self.table.columns.append(column)
        for constraint in part.args.get("constraints") or ():
            self._of_column(column, constraint.kind if isinstance(constraint, exp.ColumnConstraint) else constraint)
        if self.dialect == "sqlite" and self.table.key == [column.name] and self._is_rowid(column):
            column.numbered = True

    def _of_column(self, column: FoundColumn, kind: exp.Expr) -> None:
        if isinstance(kind, exp.NotNullColumnConstraint):
            column.nullable = bool(kind.args.get("allow_null"))
        elif isinstance(kind, exp.PrimaryKeyColumnConstraint):
            self.table.key = [column.name]
        elif isinstance(kind, exp.UniqueColumnConstraint):
            self.table.unique.append([column.name])
        elif isinstance(kind, exp.DefaultColumnConstraint):
            column.default = kind.this
            if isinstance(kind.this, exp.Anonymous | exp.NextValueFor) and kind.this.name.lower() == "nextval":
                column.numbered = True
        elif isinstance(kind, exp.AutoIncrementColumnConstraint):
            column.numbered = True
        elif isinstance(kind, exp.ComputedColumnConstraint):
            column.notes.append(f"computed there: {_flat(kind.this, self.dialect)}")
        elif isinstance(kind, exp.GeneratedAsIdentityColumnConstraint):
            if kind.args.get("expression") is not None:
                column.notes.append(f"computed there: {_flat(kind.expression, self.dialect)}")
            else:
                column.numbered, column.nullable = True, False
        elif isinstance(kind, exp.CommentColumnConstraint):
            column.doc = kind.name
        elif isinstance(kind, exp.CheckColumnConstraint):
            self.table.checks.append(kind.this)
        elif isinstance(kind, exp.Reference):
            self._foreign([column.name], kind)

    def _is_rowid(self, column: FoundColumn) -> bool:
        """Whether SQLite numbers a key: it must be called `integer`, and `int` will not do."""
        text = "" if column.span is None else column.span.source.text[column.span.end :]
        return re.match(r"\s+INTEGER\b", text, re.IGNORECASE) is not None

    def _span(self, node: exp.Expr) -> Span | None:
        if "start" not in node.meta:
            return None
        return Span(self.source, node.meta["start"], node.meta["end"] + 1)


def _flat(node: exp.Expr, dialect: str) -> str:
    return " ".join(node.sql(dialect=dialect, comments=False).split())
