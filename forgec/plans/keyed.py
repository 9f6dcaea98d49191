"""Which conditions pick one row by its key: those need no query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from forgec.model.spec import Column, Table
from forgec.sql.infer import infer
from forgec.sql.tree import exp


@dataclass(frozen=True)
class Keyed:
    """A condition that picks at most one row of a table: the keys it must have, and what else must hold."""

    keys: tuple[exp.Expr, ...]
    rest: tuple[exp.Expr, ...]


def conjuncts(tree: exp.Expr | None) -> list[exp.Expr]:
    """The parts of a condition that must all hold."""
    if tree is None or (isinstance(tree, exp.Boolean) and tree.this):
        return []
    if isinstance(tree, exp.Paren):
        return conjuncts(tree.this)
    if isinstance(tree, exp.And):
        return [*conjuncts(tree.this), *conjuncts(tree.expression)]
    return [tree]


class Equality(NamedTuple):
    """A part of a condition that gives `named`, an expression over one row, a value of its own type."""

    named: exp.Expr
    value: exp.Expr
    part: exp.Expr


def equalities(where: exp.Expr | None, alias: str) -> list[Equality]:
    """The parts of a condition that give something of the row `alias` one value."""
    found = []
    for part in conjuncts(where):
        sides = [(part.this, part.expression), (part.expression, part.this)] if isinstance(part, exp.EQ) else []
        for named, value in sides:
            if not _looks_at(named, alias) or _looks_at(value, alias):
                continue
            wanted, given = infer(named), infer(value)
            if wanted is not None and given is not None and given.sql == wanted.sql:
                found.append(Equality(named, value, part))
                break
    return found


def by_key(where: exp.Expr | None, table: Table, alias: str) -> Keyed | None:
    """How `where` fixes the whole key of `table`; None when it does not."""
    found: dict[str, tuple[exp.Expr, exp.Expr]] = {}
    for named, value, part in equalities(where, alias):
        column = column_of(named, table, alias)
        if column is not None and column.key:
            found.setdefault(column.name, (value, part))
    if len(found) < len(table.key):
        return None
    used = [part for _, part in found.values()]
    rest = tuple(part for part in conjuncts(where) if not any(part is one for one in used))
    return Keyed(tuple(found[column.name][0] for column in table.key), rest)


def column_of(tree: exp.Expr, table: Table, alias: str) -> Column | None:
    """The column of the row `alias` that an expression is."""
    return table.column(tree.name) if isinstance(tree, exp.Column) and tree.table == alias else None


def _looks_at(tree: exp.Expr, alias: str) -> bool:
    return any(column.table == alias for column in tree.find_all(exp.Column))


def plain_source(tree: exp.Expr, tables: Mapping[str, Table]) -> tuple[Table, str] | None:
    """The table that a select takes its rows from, and what it is called, if it does nothing but filter and sort."""
    if not isinstance(tree, exp.Select) or any(
        tree.args.get(part) for part in ("joins", "group", "having", "distinct", "with_", "qualify")
    ):
        return None
    from_ = tree.args.get("from_")
    source = from_.this if from_ is not None else None
    if not isinstance(source, exp.Table) or "rows" in source.meta or source.meta.get("cte"):
        return None
    return tables[source.name], source.alias


def select_by_key(tree: exp.Expr, tables: Mapping[str, Table]) -> tuple[str, str, Keyed] | None:
    """For a select of at most one row of one table by its key: the table, its alias and the keys."""
    source = plain_source(tree, tables)
    if source is None or not isinstance(tree, exp.Select):
        return None
    limit = tree.args.get("limit")
    if limit is not None and limit.expression.name == "0":
        return None
    if any(item.find(exp.AggFunc) for item in tree.selects):
        return None
    table, alias = source
    where = tree.args.get("where")
    keyed = by_key(where.this if where is not None else None, table, alias)
    return None if keyed is None else (table.name, alias, keyed)
