"""Checked SQL: what `resolve` makes of a fragment, and what plans and the reference executor start from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from forgec.source import Span
from forgec.sql.scope import Cell, Rows, Shape
from forgec.sql.tree import Value, cast, exp
from forgec_runtime.types import Type


@dataclass(frozen=True)
class Insert:
    """Rows to add: `rows` of expressions, or the rows of `query`, for `columns` in order."""

    table: str
    columns: tuple[str, ...]
    rows: tuple[tuple[exp.Expr, ...], ...]
    query: exp.Query | None
    returning: bool


@dataclass(frozen=True)
class Update:
    """New values for columns of the rows where `where` holds; `alias` is the table's name in the expressions."""

    table: str
    alias: str
    assignments: tuple[tuple[str, exp.Expr], ...]
    where: exp.Expr


@dataclass(frozen=True)
class Delete:
    table: str
    alias: str
    where: exp.Expr


Change = Insert | Update | Delete


@dataclass(frozen=True)
class Sql:
    """One checked piece of SQL.

    `tree` holds an expression or a query; it is None for a change, which `change` describes. In trees every column is
    qualified, `*` spelled out, and values, lookups, spec functions and clocks are nodes of their own (`sql.tree`).
    `shape` is a `Cell` for an expression and `Rows` for a query.
    """

    span: Span
    tree: exp.Expr | None
    change: Change | None
    shape: Shape
    reads: frozenset[str]

    @property
    def text(self) -> str:
        """The SQL as it was written."""
        return self.span.text

    @property
    def is_query(self) -> bool:
        return isinstance(self.tree, exp.Query)

    @property
    def expression(self) -> exp.Expr:
        """The tree of an expression or query."""
        assert self.tree is not None
        return self.tree


def as_type(sql: Sql, wanted: Type) -> Sql:
    """`sql`, an expression, cast to the type that is declared for it."""
    assert isinstance(sql.shape, Cell)
    if sql.shape.type.sql == wanted.sql:
        return sql
    return replace(sql, tree=cast(sql.expression, wanted.sql), shape=replace(sql.shape, type=wanted))


def as_columns(sql: Sql, wanted: Mapping[str, Cell]) -> Sql:
    """`sql`, a query, with each column cast to the type that is declared for it, in order."""
    assert isinstance(sql.shape, Rows)
    types = [(given.type, cell.type) for given, cell in zip(sql.shape.columns.values(), wanted.values(), strict=True)]
    if not isinstance(sql.tree, exp.Select) or all(given.sql == declared.sql for given, declared in types):
        return sql
    tree = sql.tree.copy()
    for item, (given, declared) in zip(tree.selects, types, strict=True):
        if given.sql != declared.sql:
            item.set("this", cast(item.this.copy(), declared.sql))
    return replace(sql, tree=tree, shape=Rows(dict(zip(sql.shape.columns, wanted.values(), strict=True))))


def values_in(tree: exp.Expr) -> Iterator[Value]:
    """The values that a tree uses, each path once, in order."""
    seen: set[str] = set()
    for node in tree.find_all(Value, bfs=False):
        if node.name not in seen:
            seen.add(node.name)
            yield node


def cell_of(node: exp.Expr) -> Cell:
    """The cell that `resolve` found a value, column, lookup or function call to be."""
    cell: Cell = node.meta["cell"]
    return cell
