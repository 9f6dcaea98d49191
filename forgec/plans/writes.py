"""Inserts, updates and deletes to Python: by key where the key is given, else a query finds the rows."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from forgec.model import spec as m
from forgec.plans import picks
from forgec.plans import python as py
from forgec.plans.expression import Lowering
from forgec.plans.keyed import by_key
from forgec.plans.lowered import NoTwin
from forgec.plans.store import answered, stored
from forgec.sql.check import row_values
from forgec.sql.query import Delete, Insert, Sql, Update
from forgec.sql.tree import Apply, Lookup, cast, exp, is_settled


class Writes:
    """Plans the writes of one function."""

    def __init__(self, lowering: Lowering) -> None:
        self.low = lowering

    def lines(self, sql: Sql, target: str | None) -> list[ast.stmt]:
        """The lines of one statement; the row of an insert is left in `target`, if given."""
        change = sql.change
        if isinstance(change, Insert):
            lines = self._insert(change, target)
        elif isinstance(change, Update):
            lines = self._update(change)
        else:
            assert isinstance(change, Delete)
            lines = self._delete(change)
        self.low.forget(change.table)
        return lines

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
            entries.append((name, stored(tree, column, table, self.low)))
        return py.dictionary([*entries, *self._defaults(table, change.columns)])

    def _defaults(self, table: m.Table, given: tuple[str, ...]) -> list[tuple[str, ast.expr]]:
        entries: list[tuple[str, ast.expr]] = []
        for column in table.columns:
            if column.name in given or column.made:
                continue
            tree = column.default.expression if column.default else exp.Null()
            entries.append((column.name, stored(tree, column, table, self.low)))
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
        entries = [(c.name, answered("added", n, c, table)) for n, c in zip(names, columns, strict=True)]
        values = py.dictionary([*entries, *self._defaults(table, change.columns)])
        insert = ast.Expr(py.call("call.insert", py.name(table.name.upper()), values))
        return [ast.For(ast.Name("added", ast.Store()), rows, [insert], [], lineno=0)]

    def _update(self, change: Update) -> list[ast.stmt]:
        self.low.purpose = f"update_{change.table}"
        table = self.low.tables[change.table]

        def update(row: ast.Name) -> ast.stmt:
            entries = []
            for name, tree in change.assignments:
                column = table.column(name)
                assert column is not None
                entries.append((name, stored(row_values(tree, change.alias), column, table, self.low)))
            return _on_row("update", table.name, row, py.dictionary(entries))

        written = self.low.attempt(lambda: self._by_key(change, update))
        written = written or self.low.attempt(lambda: self._by_index(change, update))
        return written or self._update_rows(change)

    def _update_rows(self, change: Update) -> list[ast.stmt]:
        table = self.low.tables[change.table]
        entries: list[tuple[str, ast.expr]] = []
        items: list[tuple[str, exp.Expr]] = []
        for name, tree in change.assignments:
            column = table.column(name)
            assert column is not None
            if is_settled(tree):  # the same for every row, and whatever is written: no need to ask
                entries.append((name, stored(tree, column, table, self.low)))
            else:
                items.append((f"new_{name}", cast(tree.copy(), column.type.sql)))
                entries.append((name, answered("changed", f"new_{name}", column, table)))
        return self._by_search(change, items, lambda row: _on_row("update", table.name, row, py.dictionary(entries)))

    def _delete(self, change: Delete) -> list[ast.stmt]:
        self.low.purpose = f"delete_{change.table}"

        def delete(row: ast.Name) -> ast.stmt:
            return _on_row("delete", change.table, row)

        written = self.low.attempt(lambda: self._by_key(change, delete))
        written = written or self.low.attempt(lambda: self._by_index(change, delete))
        return written or self._by_search(change, [], delete)

    def _by_key(self, change: Update | Delete, write: Callable[[ast.Name], ast.stmt]) -> list[ast.stmt]:
        """Write to the row that the condition picks by its key, if it is there and the rest of the condition holds."""
        keyed = by_key(change.where, self.low.tables[change.table], change.alias)
        if keyed is None:
            raise NoTwin("not by key")
        found = self.low.find(change.table, keyed.keys)
        known = self.low.name_of(found)
        row = known or _row(change.table)
        with self.low.row_of(change.table, row):
            tests = self.low.row_conditions(keyed.rest, change.alias)
            written = write(py.name(row))
        if not self.low.is_there(found):
            tests.insert(0, py.is_not_none(py.name(row)))
        lines: list[ast.stmt] = [ast.If(py.conjunction(tests), [written], [])] if tests else [written]
        return lines if known else [py.assign(row, found), *lines]

    def _by_index(self, change: Update | Delete, write: Callable[[ast.Name], ast.stmt]) -> list[ast.stmt]:
        """Write to the rows that an index finds, in the order of their keys."""
        table = self.low.tables[change.table]
        picked = picks.pick(self.low, table, change.alias, change.where)
        if isinstance(change, Update) and any(tree.find(Lookup, Apply) for _, tree in change.assignments):
            raise NoTwin("something is looked up for each row")
        written = picks.on_row(self.low, table.name, picked.row, lambda: write(py.name(picked.row)))
        ordered = py.call("sql.ordered", picked.each(None), *(ast.Constant(column.name) for column in table.key))
        return [ast.For(ast.Name(picked.row, ast.Store()), ordered, [written], [], lineno=0)]

    def _by_search(
        self, change: Update | Delete, items: Sequence[tuple[str, exp.Expr]], write: Callable[[ast.Name], ast.stmt]
    ) -> list[ast.stmt]:
        """Write to the rows that a query finds: it gives their keys, and what else is to be computed for each."""
        name, alias = change.table, change.alias
        keys = [column.name for column in self.low.tables[name].key]
        selects = [exp.alias_(exp.column(key, table=alias), key) for key in keys]
        selects.extend(exp.alias_(tree.copy(), item) for item, tree in items)
        source = exp.Table(this=exp.to_identifier(name), alias=exp.TableAlias(this=exp.to_identifier(alias)))
        where = exp.Where(this=change.where.copy())
        query = exp.Select(expressions=selects, from_=exp.From(this=source), where=where)
        asked = self.low.ask(query, "rows", "the rows to change are searched for")
        found = py.call("call.matches", py.name(name.upper()), *asked.args)
        row = ast.Name(_row(name), ast.Store())
        target = ast.Tuple([ast.Name("changed" if items else "_", ast.Store()), row], ast.Store())
        return [ast.For(target, found, [write(py.name(row.id))], [], lineno=0)]


def _row(table: str) -> str:
    return f"{table}_row"


def _on_row(method: str, table: str, row: ast.Name, *changes: ast.expr) -> ast.stmt:
    return ast.Expr(py.call(f"call.{method}", py.name(table.upper()), row, *changes))
