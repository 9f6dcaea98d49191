"""The private database of one reference episode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forgec.model.spec import Spec, Table, World
from forgec.model.types import type_of
from forgec.sql.emit import Emitter
from forgec.sql.oracle import Oracle
from forgec.sql.query import cell_of
from forgec.sql.scope import Rows
from forgec.sql.tree import Value, cast, exp
from forgec_runtime.engine import fetch

Values = Mapping[str, Any]
"""The values of a call by name: scalars, rows (dicts) and row sets (lists of dicts)."""


class ReferenceDatabase:
    """All tables of a spec, filled with the rows of one world."""

    def __init__(self, spec: Spec, world: World) -> None:
        self.spec = spec
        self.emitter = Emitter(spec.tables, spec.functions, spec.clock)
        self.connection = Oracle(spec.tables.values()).connection
        for name, rows in world.rows.items():
            for row in rows:
                self.insert(spec.tables[name], row)

    # -- reading -----------------------------------------------------------------------------------------------

    def rows(self, tree: exp.Expr, values: Values) -> list[dict[str, Any]]:
        """The rows of a query, ties in its order broken by its columns from left to right."""
        query = tree.copy()
        assert isinstance(query, exp.Query)
        names = query.named_selects
        order = query.args.get("order")
        terms = [term.copy() for term in order.expressions] if order is not None else []
        terms.extend(exp.Ordered(this=exp.column(name), nulls_first=False) for name in names)
        query.set("order", exp.Order(expressions=terms))
        return [dict(zip(names, row, strict=True)) for row in self._run(query, values)]

    def value(self, tree: exp.Expr, values: Values) -> Any:
        """The value of an expression."""
        return self._run(exp.Select(expressions=[tree.copy()]), values)[0][0]

    def holds(self, tree: exp.Expr, values: Values) -> bool | None:
        """The truth of a condition: True, False or None for NULL."""
        found = self.value(tree, values)
        return None if found is None else bool(found)

    def _run(self, tree: exp.Expr, values: Values) -> list[tuple[Any, ...]]:
        bound: dict[str, Any] = {}

        def value(node: Value) -> exp.Expr:
            name = f"v{len(bound)}"
            head, *path = node.name.split(".")
            bound[name] = values[head]
            for part in path:
                bound[name] = None if bound[name] is None else bound[name][part]
            return cast(exp.Placeholder(this=name), cell_of(node).type.sql)

        def row_set(name: str, shape: Rows) -> exp.Expr:
            parameter = f"v{len(bound)}"
            bound[parameter] = values[name]
            struct = cast(exp.Placeholder(this=parameter), type_of(shape).sql)
            unnest = exp.alias_(exp.Unnest(expressions=[struct]), "_row")
            inner = exp.Subquery(
                this=exp.Select(expressions=[unnest]), alias=exp.TableAlias(this=exp.to_identifier("_r"))
            )
            fields = [
                exp.alias_(exp.Dot(this=exp.column("_row"), expression=exp.to_identifier(n)), n) for n in shape.columns
            ]
            return exp.Select(expressions=fields, from_=exp.From(this=inner))

        text = self.emitter.text(tree, value, rows=row_set)
        return fetch(self.connection, text, bound)

    def find(self, table: Table, key: tuple[Any, ...]) -> dict[str, Any] | None:
        """The row with this key."""
        where = " and ".join(f'"{column.name}" = ?' for column in table.key)
        found = self.connection.execute(f"{_select(table)} where {where}", list(key)).fetchall()
        return dict(zip(_names(table), found[0], strict=True)) if found else None

    def table(self, table: Table) -> dict[tuple[Any, ...], dict[str, Any]]:
        """All rows of a table by key."""
        rows = [
            dict(zip(_names(table), row, strict=True)) for row in self.connection.execute(_select(table)).fetchall()
        ]
        return {key_of(table, row): row for row in sorted(rows, key=lambda row: key_of(table, row))}

    def count(self, table: Table, column: str, value: Any) -> int:
        """How many rows of `table` hold `value` in `column`."""
        found = self.connection.execute(f'select count(*) from "{table.name}" where "{column}" = ?', [value]).fetchall()
        return int(found[0][0])

    # -- writing -----------------------------------------------------------------------------------------------

    def insert(self, table: Table, row: Mapping[str, Any]) -> None:
        marks = ", ".join(f"cast(? as {column.type.sql})" for column in table.columns)
        names = ", ".join(f'"{name}"' for name in _names(table))
        self.connection.execute(
            f'insert into "{table.name}" ({names}) values ({marks})', [row[name] for name in _names(table)]
        )

    def update(self, table: Table, key: tuple[Any, ...], changes: Mapping[str, Any]) -> None:
        types = {column.name: column.type.sql for column in table.columns}
        sets = ", ".join(f'"{name}" = cast(? as {types[name]})' for name in changes)
        where = " and ".join(f'"{column.name}" = ?' for column in table.key)
        self.connection.execute(f'update "{table.name}" set {sets} where {where}', [*changes.values(), *key])

    def delete(self, table: Table, key: tuple[Any, ...]) -> None:
        where = " and ".join(f'"{column.name}" = ?' for column in table.key)
        self.connection.execute(f'delete from "{table.name}" where {where}', list(key))


def key_of(table: Table, row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[column.name] for column in table.key)


def _names(table: Table) -> list[str]:
    return [column.name for column in table.columns]


def _select(table: Table) -> str:
    names = ", ".join(f'"{name}"' for name in _names(table))
    return f'select {names} from "{table.name}"'
