"""Names inside a fragment: an expression, a query or a change, each name found or reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forgec.diagnostics import counted, did_you_mean
from forgec.sql.frames import Columns, Frame
from forgec.sql.queries import QueryResolver
from forgec.sql.query import Change, Delete, Insert, Update
from forgec.sql.tree import Value, exp, is_value, written

if TYPE_CHECKING:
    from forgec.model.spec import Table


class Resolver(QueryResolver):
    """Resolves one fragment. Raises `Unresolved` for what was reported."""

    def expression(self, frame: Frame | None = None) -> exp.Expr:
        return self._expression(self.fragment.tree, frame or Frame())

    def constant(self, part: exp.Expr) -> exp.Expr:
        """One part of the fragment, which may look at nothing."""
        tree = self._expression(part, Frame())
        if self.reads or isinstance(tree, Value):
            raise self._fail("AFS703", "only constants may stand here", part)
        return tree

    def query(self) -> tuple[exp.Expr, Columns]:
        return self._query(self.fragment.tree, None)

    def change(self) -> Change:
        tree = self.fragment.tree
        if isinstance(tree, exp.Insert):
            return self._insert(tree)
        if isinstance(tree, exp.Update):
            return self._update(tree)
        assert isinstance(tree, exp.Delete)
        return self._delete(tree)

    def _target(self, node: exp.Expr) -> tuple[Table, str]:
        """The table that is written to, and what the statement calls it."""
        if not isinstance(node, exp.Table):
            raise self._fail("AFS405", "a write names one table", node)
        alias = node.alias or node.name
        return self._named_table(node), alias

    def _insert(self, tree: exp.Insert) -> Insert:
        schema = tree.this
        if not isinstance(schema, exp.Schema):
            raise self._fail("AFS407", "an insert names its columns", tree, "insert into t (a, b) values (1, 2)")
        table, _ = self._target(schema.this)
        self._check_rows_change(table, tree)
        if not schema.expressions:
            needed = "a table needs a column besides those that the engine fills"
            raise self._fail("AFS407", "an insert names at least one column", tree, needed)
        columns: list[str] = []
        for identifier in schema.expressions:
            column = table.column(identifier.name)
            if column is None:
                hint = did_you_mean(identifier.name, [c.name for c in table.columns])
                if is_value(identifier):
                    hint = "columns stand here, and they take no `$`"
                message = f"unknown column `{written(identifier.name)}` of `{table.title}`"
                raise self._fail("AFS202", message, identifier, hint, about=identifier.name)
            if identifier.name in columns:
                raise self._fail("AFS208", f"column `{identifier.name}` is set twice", identifier)
            if column.made:
                raise self._fail("AFS408", f"`{column.name}` is made by the engine and cannot be set", identifier)
            columns.append(identifier.name)
        for column in table.columns:
            if column.name not in columns and not (column.optional or column.made or column.default):
                raise self._fail("AFS409", f"an insert into `{table.title}` must set `{column.name}`", schema)
        self._check_returning(tree)
        return self._insert_rows(tree, table.name, tuple(columns))

    def _insert_rows(self, tree: exp.Insert, name: str, columns: tuple[str, ...]) -> Insert:
        returning = tree.args.get("returning") is not None
        body = tree.expression
        if isinstance(body, exp.Values):
            rows = tuple(tuple(self._expression(part, Frame()) for part in row.expressions) for row in body.expressions)
            for row in rows:
                if len(row) != len(columns):
                    raise self._fail(
                        "AFS410", f"{counted(len(columns), 'column')} but {counted(len(row), 'value')}", tree
                    )
            if returning and len(rows) != 1:
                raise self._fail("AFS407", "`returning *` is for one row", tree)
            return Insert(name, columns, rows, None, returning)
        if returning or not isinstance(body, exp.Query):
            raise self._fail("AFS407", "an insert takes `values (...)` or a select without `returning`", tree)
        query, found = self._query(body, None)
        if len(found) != len(columns):
            raise self._fail("AFS410", f"{counted(len(columns), 'column')} but {counted(len(found), 'value')}", tree)
        assert isinstance(query, exp.Query)
        return Insert(name, columns, (), query, False)

    def _check_returning(self, tree: exp.Expr) -> None:
        returning = tree.args.get("returning")
        if returning is not None and [type(part) for part in returning.expressions] != [exp.Star]:
            raise self._fail("AFS407", "only `returning *` is known", returning)

    def _update(self, tree: exp.Update) -> Update:
        table, alias = self._target(tree.this)
        if tree.args.get("returning") is not None:
            raise self._fail("AFS407", "`returning` is for inserts; read the row with `table[key]`", tree)
        frame = self._write_frame(tree, table, alias)
        assignments: dict[str, exp.Expr] = {}
        for part in tree.expressions:
            target = part.this if isinstance(part, exp.EQ) else None
            column = table.column(target.name) if isinstance(target, exp.Column) else None
            if target is None or column is None:
                known = [c.name for c in table.columns]
                shown = target if target is not None else part
                hint = did_you_mean(shown.name, known)
                if isinstance(target, exp.Column) and is_value(target.this):
                    hint = "a column is set, and columns take no `$`"
                message = f"unknown column `{written(shown.name)}` of `{table.title}`"
                raise self._fail("AFS202", message, shown, hint, about=shown.name)
            if column.key:
                raise self._fail("AFS408", f"`{column.name}` is a key and keys do not change", target)
            if column.name in assignments:
                raise self._fail("AFS208", f"column `{column.name}` is set twice", target)
            assignments[column.name] = self._expression(part.expression, frame)
        where = self._expression(tree.args["where"].this, frame)
        return Update(table.name, alias, tuple(assignments.items()), where)

    def _delete(self, tree: exp.Delete) -> Delete:
        table, alias = self._target(tree.this)
        self._check_rows_change(table, tree)
        frame = self._write_frame(tree, table, alias)
        return Delete(table.name, alias, self._expression(tree.args["where"].this, frame))

    def _check_rows_change(self, table: Table, tree: exp.Expr) -> None:
        if table.single:
            hint = f"write `update {table.name} set ...`"
            raise self._fail("AFS407", f"`{table.name}` has always one row, which is only updated", tree, hint)

    def _write_frame(self, tree: exp.Expr, table: Table, alias: str) -> Frame:
        if tree.args.get("where") is None and table.single:
            tree.set("where", exp.Where(this=exp.true()))
        if tree.args.get("where") is None:
            hint = "all of them are `where true`"
            raise self._fail("AFS407", f"say which rows of `{table.title}` with `where`", tree, hint)
        self.reads.add(table.name)
        return Frame({alias: dict(table.row.columns)})
