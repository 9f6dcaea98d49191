"""The private database of one reference episode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from forgec.model.spec import Spec, Table, World
from forgec.reference.statements import Statement, Statements, Values, bound, in_order
from forgec.sql.oracle import Oracle
from forgec.sql.query import values_in
from forgec.sql.tree import Value, cast, exp
from forgec_runtime.engine import fetch
from forgec_runtime.types import Type


class Held(Protocol):
    """A row, as far as it can be asked for its columns."""

    def __getitem__(self, column: str, /) -> Any: ...


class ReferenceDatabase:
    """All tables of a spec, filled with the rows of one world."""

    def __init__(self, spec: Spec, world: World, statements: Statements | None = None) -> None:
        self.spec = spec
        self.statements = statements or Statements(spec)
        self.connection = Oracle(spec.tables.values()).connection
        for name, rows in world.rows.items():
            self.fill(spec.tables[name], rows)

    # -- reading -----------------------------------------------------------------------------------------------

    def rows(self, tree: exp.Query, values: Values) -> list[dict[str, Any]]:
        """The rows of a query, ties in its order broken by its columns from left to right."""
        return self.answer(self.statements.of(tree, "rows", lambda: in_order(tree)), values)

    def value(self, tree: exp.Expr, values: Values, type_: str | None = None) -> Any:
        """The value of an expression, or of what it is cast to."""

        def build() -> exp.Query:
            return exp.Select(expressions=[cast(tree.copy(), type_) if type_ is not None else tree.copy()])

        statement = self.statements.of(tree, f"as {type_}", build)
        return fetch(self.connection, statement.text, statement.bound(values))[0][0]

    def over(
        self, tree: exp.Expr, rows: Sequence[Held], types: Mapping[str, Type], wanted: Type | None = None
    ) -> Sequence[Any]:
        """The value of an expression, or of what it is cast to, for each of some rows, which it knows as `$row`."""
        used = list(dict.fromkeys(_path_in_row(value)[0] for value in values_in(tree)))
        if isinstance(tree, Value) and len(_path_in_row(tree)) == 1:
            if wanted is None or types[used[0]].sql == wanted.sql:
                return [row[used[0]] for row in rows]
        if not rows:
            return []
        whole = cast(tree.copy(), wanted.sql) if wanted is not None else tree
        text = self.statements.emitter.text(whole, _of_row)
        if not used:
            return [fetch(self.connection, f"select {text}")[0][0]] * len(rows)
        lists = ", ".join(f'unnest(?::{types[name].sql}[]) as "{name}"' for name in used)
        statement = f'select {text} from (select unnest(?::BIGINT[]) as "_", {lists}) as "row" order by "row"."_"'
        values = [[bound(types[name], row[name]) for row in rows] for name in used]
        return [value for (value,) in fetch(self.connection, statement, [list(range(len(rows))), *values])]

    def holds(self, tree: exp.Expr, values: Values) -> bool | None:
        """The truth of a condition: True, False or None for NULL."""
        found = self.value(tree, values)
        return None if found is None else bool(found)

    def answer(self, statement: Statement, values: Values) -> list[dict[str, Any]]:
        """The rows of a statement."""
        found = fetch(self.connection, statement.text, statement.bound(values))
        return [dict(zip(statement.columns, row, strict=True)) for row in found]

    def find(self, table: Table, key: tuple[Any, ...]) -> dict[str, Any] | None:
        """The row with this key."""
        found = self.connection.execute(f"{_select(table)} where {_by_key(table)}", list(key)).fetchall()
        return dict(zip(_names(table), found[0], strict=True)) if found else None

    def under(self, table: Table, parent: tuple[Any, ...]) -> list[dict[str, Any]]:
        """The rows that are nested in the row with the key `parent`, by number or key."""
        where = " and ".join(f'"{column.name}" = ?' for column in table.inherited)
        statement = f'{_select(table)} where {where} order by "{table.key[-1].name}"'
        found = self.connection.execute(statement, list(parent)).fetchall()
        return [dict(zip(_names(table), row, strict=True)) for row in found]

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

    def fill(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """Make these the rows of a table."""
        lists = ", ".join(f'unnest(?::{column.type.sql}[]) as "{column.name}"' for column in table.columns)
        values = [[bound(column.type, row[column.name]) for row in rows] for column in table.columns]
        self.connection.execute(f'create or replace table "{table.name}" as select {lists}', values)

    def append(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add rows that the table is known to hold."""
        names = ", ".join(f'"{name}"' for name in _names(table))
        lists = ", ".join(f"unnest(?::{column.type.sql}[])" for column in table.columns)
        values = [[bound(column.type, row[column.name]) for row in rows] for column in table.columns]
        if rows:
            self.connection.execute(f'insert into "{table.name}" ({names}) select {lists}', values)

    def insert(self, table: Table, row: Mapping[str, Any]) -> None:
        marks = ", ".join(f"cast(? as {column.type.sql})" for column in table.columns)
        names = ", ".join(f'"{name}"' for name in _names(table))
        values = [bound(column.type, row[column.name]) for column in table.columns]
        self.connection.execute(f'insert into "{table.name}" ({names}) values ({marks})', values)

    def update(self, table: Table, key: tuple[Any, ...], changes: Mapping[str, Any]) -> None:
        types = {column.name: column.type for column in table.columns}
        sets = ", ".join(f'"{name}" = cast(? as {types[name].sql})' for name in changes)
        values = [bound(types[name], value) for name, value in changes.items()]
        self.connection.execute(f'update "{table.name}" set {sets} where {_by_key(table)}', [*values, *key])

    def delete(self, table: Table, key: tuple[Any, ...]) -> None:
        self.connection.execute(f'delete from "{table.name}" where {_by_key(table)}', list(key))


def _of_row(value: Value) -> exp.Expr:
    column, *fields = _path_in_row(value)
    found: exp.Expr = exp.column(column, table="row", quoted=True)
    for field in fields:
        found = exp.Dot(this=found, expression=exp.to_identifier(field, quoted=True))
    return found


def _path_in_row(value: Value) -> list[str]:
    """A column, and perhaps a field of what it holds."""
    return value.name.removeprefix("row.").split(".")


def key_of(table: Table, row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[column.name] for column in table.key)


def _names(table: Table) -> list[str]:
    return [column.name for column in table.columns]


def _by_key(table: Table) -> str:
    """The condition on the row with a key; the row of a single has none."""
    return " and ".join(f'"{column.name}" = ?' for column in table.key) or "true"


def _select(table: Table) -> str:
    names = ", ".join(f'"{name}"' for name in _names(table))
    return f'select {names} from "{table.name}"'
