"""Tool bodies to Python: each statement becomes a few lines that read like it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from itertools import groupby

from forgec.model import spec as m
from forgec.plans import python as py
from forgec.plans.expression import Lowering, NoTwin
from forgec.plans.function import FunctionPlan
from forgec.plans.keyed import by_key, is_settled, select_by_key
from forgec.plans.store import answered, stored
from forgec.sql.check import row_values
from forgec.sql.query import Delete, Insert, Sql, Update
from forgec.sql.scope import Cell, Row, Rows, Shape
from forgec.sql.tree import Value, cast, exp

Group = tuple[str, list[ast.stmt]]
"""Lines that belong together, and what kind they are: blank lines go between kinds."""


def tool_function(tool: m.Tool, rules: Iterable[m.Rule], lowering: Lowering) -> FunctionPlan:
    """The function of a tool: references, rules, then the body."""
    body = _Body(tool, lowering)
    groups = [*body.references(), *body.rules(rules), *body.block(tool.body)]
    merged = [
        tuple(statement for _, group in run for statement in group)
        for _, run in groupby(groups, key=lambda group: group[0])
    ]
    arguments = [(py.identifier(p.name), annotation(p.cell)) for p in tool.parameters]
    returns = body.returns()
    return FunctionPlan(
        py.identifier(tool.name), tuple(arguments), returns, tool.doc, tuple(merged), tuple(lowering.queries)
    )


def annotation(cell: Cell) -> str:
    """The Python annotation of a single value."""
    return cell.type.python + (" | None" if cell.optional else "")


_TYPED = ("call.rows", "call.row", "call.find", "Decimal", "date", "datetime")


def returning(value: ast.expr, type_: str) -> list[ast.stmt]:
    """`return value`; by way of a name with its type where the value comes from a function typed `Any`."""
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
    if all(ast.unparse(node.func) in _TYPED for node in calls) or isinstance(value, ast.Dict | ast.JoinedStr):
        return [ast.Return(value)]
    return [py.annotated("result", type_, value), ast.Return(py.name("result"))]


class _Body:
    def __init__(self, tool: m.Tool, lowering: Lowering) -> None:
        self.tool = tool
        self.low = lowering
        self.may_be_none = tool.returns is not None and tool.returns.optional
        for parameter in tool.parameters:
            lowering.values[parameter.name] = parameter.cell

    def returns(self) -> str:
        """The annotation of the result; complete once the body was planned."""
        if self.tool.returns is None:
            return "None"
        return self._result_type() + (" | None" if self.may_be_none else "")

    def _result_type(self) -> str:
        assert self.tool.returns is not None
        shape = self.tool.returns.shape
        if isinstance(shape, Rows):
            return "Sequence[Mapping[str, object]]"
        return "Mapping[str, object]" if isinstance(shape, Row) else shape.type.python

    # -- before the body ---------------------------------------------------------------------------------------

    def references(self) -> list[Group]:
        """Each referenced row must exist, in the order of the parameters."""
        groups: list[Group] = []
        for parameter in self.tool.parameters:
            if parameter.references is None:
                continue
            value = py.identifier(parameter.name)
            found = py.call("call.find", py.name(parameter.references.upper()), py.name(value))
            unknown = ast.Raise(py.call("call.unknown", ast.Constant(parameter.name), py.name(value)))
            if parameter.row is not None:
                row = py.identifier(parameter.row)
                shape = self.low.tables[parameter.references].row
                self.low.values[parameter.row] = Row(shape.columns, parameter.optional, shape.table)
                lines: list[ast.stmt] = [py.assign(row, found)]
                missing: ast.expr = py.is_none(py.name(row))
            else:
                lines, missing = [], py.is_none(found)
            if parameter.optional:
                missing = py.conjunction([py.is_not_none(py.name(value)), missing])
            groups.append(("references", [*lines, ast.If(missing, [unknown], [])]))
        return groups

    def rules(self, rules: Iterable[m.Rule]) -> list[Group]:
        """Enforced rules are guards; audited ones leave a note for the grader."""
        groups: list[Group] = []
        for rule in rules:
            sql = rule.sqls.get(self.tool.name)
            if sql is None:
                continue
            self.low.purpose = rule.name
            broken = py.negated(self.low.condition(sql.expression))
            if rule.verdict == "enforced":
                then: ast.stmt = _refuse(ast.Constant(rule.doc))
            else:
                then = ast.Expr(py.call("call.breaks", ast.Constant(rule.name)))
            groups.append(("rules", [ast.If(broken, [then], [])]))
        return groups

    # -- statements --------------------------------------------------------------------------------------------

    def block(self, statements: Iterable[m.Statement]) -> list[Group]:
        groups: list[Group] = []
        for statement in statements:
            groups.extend(self._statement(statement))
        return groups

    def _statement(self, statement: m.Statement) -> list[Group]:
        if isinstance(statement, m.Let):
            return self._let(statement)
        if isinstance(statement, m.Require):
            self.low.purpose = "guard"
            failed = py.negated(self.low.condition(statement.sql.expression))
            return [("guards", [ast.If(failed, [self._refusal(statement.message)], [])])]
        if isinstance(statement, m.If):
            return [("if", [self._if(statement)])]
        if isinstance(statement, m.Return):
            return [("return", self._return(statement))]
        if isinstance(statement, m.Reply):
            return [("return", [ast.Return(self._message(statement.message))])]
        if isinstance(statement, m.Fail):
            return [("guards", [self._refusal(statement.message)])]
        return [("writes", self._change(statement.sql, None))]

    def _if(self, statement: m.If) -> ast.stmt:
        otherwise: list[ast.stmt] = []
        made: list[tuple[ast.expr, list[ast.stmt]]] = []
        for branch in statement.branches:
            self.low.purpose = "condition"
            test = self.low.condition(branch.condition.expression) if branch.condition else None
            known = dict(self.low.values)
            lines = [line for _, group in self.block(branch.body) for line in group] or [ast.Pass()]
            self.low.values = known
            if test is None:
                otherwise = lines
            else:
                made.append((test, lines))
        for test, lines in reversed(made):
            otherwise = [ast.If(test, lines, otherwise)]
        return otherwise[0]

    def _let(self, statement: m.Let) -> list[Group]:
        target = py.identifier(statement.name)
        if statement.sql.change is not None:
            lines = self._change(statement.sql, target)
            self.low.values[statement.name] = statement.shape
            return [("writes", lines)]
        self.low.purpose = f"select_{statement.name}"
        lines = self._bind(target, statement.sql, statement.shape)
        self.low.values[statement.name] = statement.shape
        if statement.message is not None:
            value = py.name(target)
            missing = ast.UnaryOp(ast.Not(), value) if isinstance(statement.shape, Rows) else py.is_none(value)
            lines.append(ast.If(missing, [self._refusal(statement.message)], []))
        return [("guards", lines)]

    def _bind(self, target: str, sql: Sql, shape: Shape) -> list[ast.stmt]:
        """Lines that leave the value of `sql`, which has `shape`, in `target`."""
        tree = sql.expression
        if isinstance(shape, Rows):
            rows = py.name(py.identifier(tree.name)) if isinstance(tree, Value) else self._ask(tree, "rows")
            return [py.assign(target, rows)]
        if isinstance(shape, Cell):
            if sql.is_query:
                return [py.assign(target, self._ask(tree, "value"))]
            lowered = self.low.value(tree)
            if any(isinstance(node, ast.Call) for node in ast.walk(lowered.node)) and target != "result":
                return [py.annotated(target, annotation(Cell(lowered.type, lowered.optional)), lowered.node)]
            return [py.assign(target, lowered.node)]
        if isinstance(tree, Value):
            return [py.assign(target, py.name(py.identifier(tree.name)))]
        assert isinstance(tree, exp.Query)
        return self._bind_row(target, tree)

    def _ask(self, tree: exp.Expr, method: str) -> ast.expr:
        return self.low.ask(tree, method, "a select searches tables")

    def _bind_row(self, target: str, tree: exp.Query) -> list[ast.stmt]:
        if isinstance(tree, exp.Select) and not any(part for name, part in tree.args.items() if name != "expressions"):
            return [py.assign(target, self._record(tree))]
        try:
            return self._bind_by_key(target, tree)
        except NoTwin:
            return [py.assign(target, self._ask(tree, "row"))]

    def _record(self, tree: exp.Select) -> ast.expr:
        return py.dictionary([(item.alias, self.low.value(item.this).node) for item in tree.selects])

    def _bind_by_key(self, target: str, tree: exp.Query) -> list[ast.stmt]:
        picked = select_by_key(tree, self.low.tables)
        if picked is None:
            raise NoTwin("not by key")
        table, alias, keyed = picked
        whole = [item.alias for item in tree.selects] == [c.name for c in self.low.tables[table].columns] and all(
            isinstance(item.this, exp.Column) and item.this.name == item.alias for item in tree.selects
        )
        if whole and not keyed.rest:
            return [py.assign(target, self.low.find(table, keyed.keys))]
        with _Row(self.low, table) as row:
            lines: list[ast.stmt] = [py.assign(row, self.low.find(table, keyed.keys))]
            tests = [py.is_not_none(py.name(row)), *self._tests(keyed.rest, alias)]
            if whole:
                found: ast.expr = py.name(row)
            else:
                entries = [(i.alias, self.low.value(row_values(i.this, alias)).node) for i in tree.selects]
                found = py.dictionary(entries)
            return [*lines, py.assign(target, ast.IfExp(py.conjunction(tests), found, ast.Constant(None)))]

    def _tests(self, rest: Iterable[exp.Expr], alias: str) -> list[ast.expr]:
        return [self.low.condition(row_values(part, alias)) for part in rest]

    # -- results -----------------------------------------------------------------------------------------------

    def _return(self, statement: m.Return) -> list[ast.stmt]:
        assert self.tool.returns is not None
        self.low.purpose = "select_result"
        sql, shape = statement.sql, self.tool.returns.shape
        tree = sql.expression
        if statement.message is None and isinstance(tree, Value) and "cell" not in tree.meta:
            self._note_none(isinstance(sql.shape, Row) and sql.shape.optional)
            return [ast.Return(py.name(py.identifier(tree.name)))]
        if isinstance(shape, Cell) and not sql.is_query:
            lowered = self.low.value(tree)
            lines: list[ast.stmt] = [py.assign("result", lowered.node)]
            optional = lowered.optional
        else:
            lines = self._bind("result", sql, shape)
            last = lines[-1]
            assert isinstance(last, ast.Assign)
            optional = not isinstance(shape, Rows) and not isinstance(last.value, ast.Dict)
        if statement.message is not None:
            value = py.name("result")
            missing = ast.UnaryOp(ast.Not(), value) if isinstance(shape, Rows) else py.is_none(value)
            lines.append(ast.If(missing, [self._refusal(statement.message)], []))
            return [*lines, ast.Return(value)]
        self._note_none(optional)
        return self._returned(lines, optional)

    def _returned(self, lines: list[ast.stmt], optional: bool) -> list[ast.stmt]:
        """`return` of what the last line assigns; by way of a typed name where its own type says nothing."""
        last = lines[-1]
        assert isinstance(last, ast.Assign)
        type_ = self._result_type() + (" | None" if optional else "")
        return [*lines[:-1], *returning(last.value, type_)]

    def _note_none(self, optional: bool) -> None:
        self.may_be_none = self.may_be_none or optional

    def _refusal(self, message: m.Message) -> ast.stmt:
        return _refuse(self._message(message))

    def _message(self, message: m.Message) -> ast.expr:
        parts: list[ast.expr] = []
        self.low.purpose = "message"
        for part in message.parts:
            if isinstance(part, str):
                parts.append(ast.Constant(part))
            else:
                parts.append(ast.FormattedValue(self._hole(part), -1))
        if all(isinstance(part, ast.Constant) for part in parts):
            return ast.Constant("".join(str(part.value) for part in parts if isinstance(part, ast.Constant)))
        return ast.JoinedStr(parts)

    def _hole(self, hole: m.Hole) -> ast.expr:
        lowered = self.low.value(hole.sql.expression)
        if hole.format:
            return py.call("sql.formatted", lowered.node, ast.Constant(hole.format))
        if lowered.type.sql == "VARCHAR" and not lowered.optional:
            return lowered.node
        return py.call("sql.text", lowered.node)

    # -- writes ------------------------------------------------------------------------------------------------

    def _change(self, sql: Sql, target: str | None) -> list[ast.stmt]:
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
        try:
            return self._update_by_key(change)
        except NoTwin:
            return self._update_rows(change)

    def _update_by_key(self, change: Update) -> list[ast.stmt]:
        table = self.low.tables[change.table]
        keyed = by_key(change.where, table, change.alias)
        if keyed is None:
            raise NoTwin("not by key")
        with _Row(self.low, table.name) as row:
            find = py.assign(row, self.low.find(table.name, keyed.keys))
            tests = [py.is_not_none(py.name(row)), *self._tests(keyed.rest, change.alias)]
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
        table = self.low.tables[change.table]
        row = f"{table.name}_row"
        delete = ast.Expr(py.call("call.delete", py.name(table.name.upper()), py.name(row)))
        keyed = by_key(change.where, table, change.alias)
        if keyed is not None:
            try:
                with _Row(self.low, table.name):
                    find: ast.stmt = py.assign(row, self.low.find(table.name, keyed.keys))
                    tests = [py.is_not_none(py.name(row)), *self._tests(keyed.rest, change.alias)]
                    return [find, ast.If(py.conjunction(tests), [delete], [])]
            except NoTwin:
                pass
        rows, find = self._search(table, change.alias, change.where, [])
        body: list[ast.stmt] = [find, ast.If(py.is_not_none(py.name(row)), [delete], [])]
        return [ast.For(ast.Name("changed", ast.Store()), rows, body, [], lineno=0)]

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


class _Row:
    """While a row of `table` is looked at, its columns are the values `row.column`."""

    def __init__(self, lowering: Lowering, table: str) -> None:
        self.low, self.table = lowering, table

    def __enter__(self) -> str:
        name = f"{self.table}_row"
        self.low.values["row"] = self.low.tables[self.table].row
        self.low.rows["row"] = name
        return name

    def __exit__(self, *_: object) -> None:
        self.low.values.pop("row", None)
        self.low.rows.pop("row", None)


def _refuse(message: ast.expr) -> ast.stmt:
    return ast.Raise(py.call("Refusal", message))
