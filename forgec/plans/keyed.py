"""Which conditions pick one row by its key: those need no query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from forgec.model.spec import Table
from forgec.sql.infer import infer
from forgec.sql.tree import Apply, Lookup, Value, exp


@dataclass(frozen=True)
class Keyed:
    """A condition that picks at most one row of a table: the keys it must have, and what else must hold."""

    keys: tuple[exp.Expr, ...]
    rest: tuple[exp.Expr, ...]


def conjuncts(tree: exp.Expr | None) -> list[exp.Expr]:
    """The parts of a condition that must all hold."""
    if tree is None:
        return []
    if isinstance(tree, exp.Paren):
        return conjuncts(tree.this)
    if isinstance(tree, exp.And):
        return [*conjuncts(tree.this), *conjuncts(tree.expression)]
    return [tree]


def by_key(where: exp.Expr | None, table: Table, alias: str) -> Keyed | None:
    """How `where` fixes the whole key of `table`; None when it does not."""
    found: dict[str, exp.Expr] = {}
    rest: list[exp.Expr] = []
    for part in conjuncts(where):
        sides = [(part.this, part.expression), (part.expression, part.this)] if isinstance(part, exp.EQ) else []
        for column, value in sides:
            if not (isinstance(column, exp.Column) and column.table == alias) or _looks_at(value, alias):
                continue
            declared = table.column(column.name)
            given = infer(value)
            if declared is None or not declared.key or column.name in found:
                continue
            if given is None or given.sql != declared.type.sql:
                continue
            found[column.name] = value
            break
        else:
            rest.append(part)
    if len(found) < len(table.key):
        return None
    return Keyed(tuple(found[column.name] for column in table.key), tuple(rest))


def _looks_at(tree: exp.Expr, alias: str) -> bool:
    return any(column.table == alias for column in tree.find_all(exp.Column))


def select_by_key(tree: exp.Expr, tables: Mapping[str, Table]) -> tuple[str, str, Keyed] | None:
    """For a select of at most one row of one table by its key: the table, its alias and the keys."""
    if not isinstance(tree, exp.Select) or any(
        tree.args.get(part) for part in ("joins", "group", "having", "distinct", "with_")
    ):
        return None
    limit = tree.args.get("limit")
    if limit is not None and limit.expression.name == "0":
        return None
    from_ = tree.args.get("from_")
    source = from_.this if from_ is not None else None
    if not isinstance(source, exp.Table) or "rows" in source.meta or source.meta.get("cte"):
        return None
    if any(item.find(exp.AggFunc) for item in tree.selects):
        return None
    where = tree.args.get("where")
    keyed = by_key(where.this if where is not None else None, tables[source.name], source.alias)
    return None if keyed is None else (source.name, source.alias, keyed)


def is_settled(tree: exp.Expr) -> bool:
    """Whether the value depends on nothing but the spec and the values of the call."""
    return not any(isinstance(node, Lookup | Apply | exp.Column | exp.Query) for node in tree.walk())


def is_constant(tree: exp.Expr) -> bool:
    """Whether the value depends on nothing but the spec."""
    return is_settled(tree) and tree.find(Value) is None
