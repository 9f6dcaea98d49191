"""Inserts, updates and deletes to Python: by key where the key is given, else a query finds the rows."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from forgec.model import spec as m
from forgec.plans import python as py
from forgec.plans.expression import Lowering
from forgec.plans.keyed import by_key, is_settled
from forgec.plans.lowered import NoTwin
from forgec.plans.store import answered, stored
from forgec.sql.check import row_values
from forgec.sql.query import Delete, Insert, Sql, Update
from forgec.sql.tree import cast, exp


class Writes:
    """Plans the writes of one function."""

    def __init__(self, lowering: Lowering) -> None:
        self.low = lowering

    def lines(self, sql: Sql, target: str | None) -> list[ast.stmt]:
        """The lines of one statement; the row of an insert is left in `target`, if given."""
        change = sql.change
        if isinstance(change, Insert):
            return self._insert(change, target)
        if isinstance(change, Update):
            return self._update(change)
        assert isinstance(change, Delete)
        return self._delete(change)

    def _insert(self, change: Insert, target: str | None) -> list[ast.stmt]:
        self.low.purpose = f"insert_{change.table}"
        constant = py.name(change.table.upper())
        if change.query is not None:
            return self._insert_rows(change)
        rows = [self._new_row(change, row) for row in change.rows]
        if len(rows) == 1:
            inserted = py.call("call.insert", constant, rows[0])
            return [py.assign(target, inserted) if target else ast.Expr(inserted)]
        insert = ast.Expr(py.call("call.insert", constant, py.name("added")))
        return [ast.For(ast.Name("added", ast.Store()), ast.Tuple(rows, ast.Load()), [insert], [], lineno=0)]

    def _new_row(self, change: Insert, row: tuple[exp.Expr, ...]) -> ast.expr:
        """All columns but a serial key: given ones first, as they are computed in that order, then defaults."""
        table = self.low.tables[change.table]
        given = dict(zip(change.columns, row, strict=True))
        entries: list[tuple[str, ast.expr]] = []
        for name, tree in given.items():
            column = table.column(name)
            assert column is not None
            entries.append((name, stored(tree, column, table.name, self.low)))
        return py.dictionary([*entries, *self._defaults(table, change.columns)])

    def _defaults(self, table: m.Table, given: tuple[str, ...]) -> list[tuple[str, ast.expr]]:
        entries: list[tuple[str, ast.expr]] = []
        for column in table.columns:
            if column.name in given or column.serial:
                continue
            tree = column.default.expression if column.default else exp.Null()
            entries.append((column.name, stored(tree, column, table.name, self.low)))
        return entries

    def _insert_rows(self, change: Insert) -> list[ast.stmt]:
        assert change.query is not None
        table = self.low.tables[change.table]
        columns = [column for name in change.columns if (column := table.column(name))]
        query = change.query.copy()
        for item, column in zip(query.selects, columns, strict=True):
            item.set("this", cast(item.this.copy(), column.type.sql))
        rows = self.low.ask(query, "rows", "the rows to insert are searched for")
        names = query.named_selects
        entries = [(c.name, answered("added", n, c, table.name)) for n, c in zip(names, columns, strict=True)]
        values = py.dictionary([*entries, *self._defaults(table, change.columns)])
        insert = ast.Expr(py.call("call.insert", py.name(table.name.upper()), values))
        return [ast.For(ast.Name("added", ast.Store()), rows, [insert], [], lineno=0)]

    def _update(self, change: Update) -> list[ast.stmt]:
        self.low.purpose = f"update_{change.table}"
        by_key = self.low.attempt(lambda: self._update_by_key(change))
        return by_key if by_key is not None else self._update_rows(change)

    def _update_by_key(self, change: Update) -> list[ast.stmt]:
        table = self.low.tables[change.table]
        keyed = by_key(change.where, table, change.alias)
        if keyed is None:
            raise NoTwin("not by key")
        with self.low.row_of(table.name) as row:
            find = py.assign(row, self.low.find(table.name, keyed.keys))
            tests = [py.is_not_none(py.name(row)), *self.low.row_conditions(keyed.rest, change.alias)]
            entries = []
            for name, tree in change.assignments:
                column = table.column(name)
                assert column is not None
                entries.append((name, stored(row_values(tree, change.alias), column, table.name, self.low)))
            update = py.call("call.update", py.name(table.name.upper()), py.name(row), py.dictionary(entries))
            return [find, ast.If(py.conjunction(tests), [ast.Expr(update)], [])]

    def _update_rows(self, change: Update) -> list[ast.stmt]:
        table = self.low.tables[change.table]
        entries: list[tuple[str, ast.expr]] = []
        items: list[tuple[str, exp.Expr]] = []
        for name, tree in change.assignments:
            column = table.column(name)
            assert column is not None
            if is_settled(tree):  # the same for every row, and whatever is written: no need to ask
                entries.append((name, stored(tree, column, table.name, self.low)))
            else:
                items.append((f"new_{name}", cast(tree.copy(), column.type.sql)))
                entries.append((name, answered("changed", f"new_{name}", column, table.name)))
        rows, find = self._search(table, change.alias, change.where, items)
        row = f"{table.name}_row"
        update = py.call("call.update", py.name(table.name.upper()), py.name(row), py.dictionary(entries))
        body: list[ast.stmt] = [find, ast.If(py.is_not_none(py.name(row)), [ast.Expr(update)], [])]
        return [ast.For(ast.Name("changed", ast.Store()), rows, body, [], lineno=0)]

    def _delete(self, change: Delete) -> list[ast.stmt]:
        self.low.purpose = f"delete_{change.table}"
        by_key = self.low.attempt(lambda: self._delete_by_key(change))
        if by_key is not None:
            return by_key
        rows, find = self._search(self.low.tables[change.table], change.alias, change.where, [])
        body: list[ast.stmt] = [find, ast.If(py.is_not_none(_row(change.table)), [_deletion(change.table)], [])]
        return [ast.For(ast.Name("changed", ast.Store()), rows, body, [], lineno=0)]

    def _delete_by_key(self, change: Delete) -> list[ast.stmt]:
        keyed = by_key(change.where, self.low.tables[change.table], change.alias)
        if keyed is None:
            raise NoTwin("not by key")
        with self.low.row_of(change.table) as row:
            find = py.assign(row, self.low.find(change.table, keyed.keys))
            tests = [py.is_not_none(py.name(row)), *self.low.row_conditions(keyed.rest, change.alias)]
            return [find, ast.If(py.conjunction(tests), [_deletion(change.table)], [])]

    def _search(
        self, table: m.Table, alias: str, where: exp.Expr, items: Sequence[tuple[str, exp.Expr]]
    ) -> tuple[ast.expr, ast.stmt]:
        """The keys of the rows to change, with new values; and the line that takes one of those rows."""
        keys = [column.name for column in table.key]
        selects = [exp.alias_(exp.column(key, table=alias), key) for key in keys]
        selects.extend(exp.alias_(tree.copy(), name) for name, tree in items)
        source = exp.Table(this=exp.to_identifier(table.name), alias=exp.TableAlias(this=exp.to_identifier(alias)))
        query = exp.Select(expressions=selects, from_=exp.From(this=source), where=exp.Where(this=where.copy()))
        rows = self.low.ask(query, "rows", "the rows to change are searched for")
        parts: list[ast.expr] = [py.item(py.name("changed"), key) for key in keys]
        key = parts[0] if len(parts) == 1 else ast.Tuple(parts, ast.Load())
        find = py.assign(f"{table.name}_row", py.call("call.find", py.name(table.name.upper()), key))
        return rows, find


def _row(table: str) -> ast.Name:
    return py.name(f"{table}_row")


def _deletion(table: str) -> ast.stmt:
    return ast.Expr(py.call("call.delete", py.name(table.upper()), _row(table)))
