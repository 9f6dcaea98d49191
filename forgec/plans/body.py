"""Tool bodies to Python: each statement becomes a few lines that read like it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby

from forgec.model import spec as m
from forgec.model.walk import written
from forgec.plans import picks, unnested
from forgec.plans import python as py
from forgec.plans.checks import check_lines
from forgec.plans.expression import Lowering
from forgec.plans.function import FunctionPlan
from forgec.plans.keyed import select_by_key
from forgec.plans.lowered import Lowered, NoTwin
from forgec.plans.names import free
from forgec.plans.store import given
from forgec.plans.writes import Writes
from forgec.sql.check import row_values
from forgec.sql.query import Sql
from forgec.sql.scope import Cell, Row, Rows, Shape
from forgec.sql.size import may_grow
from forgec.sql.tree import Value, exp
from forgec_runtime.types import List, Map, Record, Text

Group = tuple[str, list[ast.stmt]]
"""Lines that belong together, and what kind they are: blank lines go between kinds."""


def tool_function(tool: m.Tool, rules: Iterable[m.Rule], lowering: Lowering) -> FunctionPlan:
    """The function of a tool: arguments, references, rules, then the body."""
    lowering.arguments |= {parameter.name for parameter in tool.parameters}
    body = _Body(tool, tool.returns, lowering)
    groups = [*body.checks(), *body.references(), *body.rules(rules), *body.block(tool.body)]
    if tool.returns is not None and not (groups and py.ends(groups[-1][1])):
        groups.append(("return", [ast.Return(ast.Constant(None))]))
    return _function(py.identifier(tool.name), tool, groups, body)


def action_function(action: m.Action, name: str, lowering: Lowering) -> FunctionPlan:
    """The function of an action, as a tool's, without rules and result."""
    composite = (Record, List, Map)
    lowering.arguments |= {p.name for p in action.parameters if not isinstance(p.type, composite)}
    body = _Body(action, None, lowering)
    return _function(name, action, [*body.checks(), *body.references(), *body.block(action.body)], body)


def _function(name: str, routine: m.Routine, groups: list[Group], body: _Body) -> FunctionPlan:
    merged = [
        tuple(statement for _, group in run for statement in group)
        for _, run in groupby(groups, key=lambda group: group[0])
    ]
    arguments = [(py.identifier(p.name), annotation(p.cell)) for p in routine.parameters]
    returns = body.returns()
    return FunctionPlan(
        name,
        tuple(arguments),
        returns,
        routine.doc,
        tuple(merged),
        tuple(body.low.queries),
        tuple(body.low.indexes),
    )


def annotation(cell: Cell) -> str:
    """The Python annotation of a single value."""
    return cell.type.python + (" | None" if cell.optional else "")


_TYPED = (
    "call.rows", "call.row", "call.find", "call.single", "call.where", "call.document", "call.documents", "sql.ordered",
    "sql.zipped", "sql.only", "sql.first", "len", "bool", "Decimal", "date", "datetime",
)  # fmt: skip


def returning(value: ast.expr, type_: str, name: str = "result") -> list[ast.stmt]:
    """`return value`; by way of a name with its type where the value comes from a function typed `Any`."""
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
    if all(ast.unparse(node.func) in _TYPED for node in calls) or isinstance(value, ast.Dict) or py.is_written(value):
        return [ast.Return(value)]
    return [py.annotated(name, type_, value), ast.Return(py.name(name))]


class _Body:
    def __init__(self, routine: m.Routine, result: m.Result | None, lowering: Lowering) -> None:
        self.routine = routine
        self.result = result
        self.low = lowering
        self.may_be_none = result is not None and result.optional
        self.names: set[str] = set(lowering.actions.values())
        """The Python names that are taken so far."""
        for parameter in routine.parameters:
            lowering.values[parameter.name] = parameter.cell
            self.names.update(py.identifier(name) for name in (parameter.name, parameter.row) if name)

    def returns(self) -> str:
        """The annotation of the result; complete once the body was planned."""
        if self.result is None:
            return "None"
        return self._result_type() + (" | None" if self.may_be_none else "")

    def _result_type(self) -> str:
        assert self.result is not None
        shape = self.result.shape
        if isinstance(shape, Rows):
            return "Sequence[Mapping[str, object]]"
        return "Mapping[str, object]" if isinstance(shape, Row) else shape.type.python

    # -- before the body ---------------------------------------------------------------------------------------

    def checks(self) -> list[Group]:
        """What the types of the parameters demand, in their order."""
        self.low.purpose = "check"
        before = f"{self.routine.name}." if isinstance(self.routine, m.Action) else ""
        return [
            ("checks", check_lines(self.low, check, before, _refuse))
            for parameter in self.routine.parameters
            for check in parameter.checks
        ]

    def references(self) -> list[Group]:
        """Each referenced row must exist, in the order of the parameters."""
        groups: list[Group] = []
        for parameter in self.routine.parameters:
            if parameter.references is None:
                continue
            value = py.identifier(parameter.name)
            found = py.call("call.find", py.name(parameter.references.upper()), py.name(value))
            unknown = self._unknown(parameter, value)
            if parameter.row is not None:
                row = py.identifier(parameter.row)
                shape = self.low.tables[parameter.references].row
                self.low.values[parameter.row] = Row(shape.columns, parameter.optional, shape.table)
                if not parameter.optional:
                    self.low.found[parameter.references, value] = row
                lines: list[ast.stmt] = [py.assign(row, found)]
                missing: ast.expr = py.is_none(py.name(row))
            else:
                lines, missing = [], py.is_none(found)
            if parameter.optional:
                missing = py.conjunction([py.is_not_none(py.name(value)), missing])
            groups.append(("references", [*lines, ast.If(missing, [unknown], [])]))
        return groups

    def _unknown(self, parameter: m.Parameter, value: str) -> ast.stmt:
        """What is raised where no row has the key that an argument is."""
        missing = self.low.tables[parameter.references or ""].missing
        if len(missing) == 1:
            return _refuse(ast.Constant(missing[0]))
        if missing:
            key = py.name(value) if isinstance(parameter.type, Text) else py.call("sql.text", py.name(value))
            parts = [missing[0], *(part for text in missing[1:] for part in (key, text))]
            return _refuse(py.text([part for part in parts if part != ""]))
        return ast.Raise(py.call("call.unknown", ast.Constant(parameter.name), py.name(value)))

    def rules(self, rules: Iterable[m.Rule]) -> list[Group]:
        """Enforced rules are guards; audited ones leave a note for the grader."""
        groups: list[Group] = []
        for rule in rules:
            sql = rule.sqls.get(self.routine.name)
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
        if isinstance(statement, m.Set):
            return [("sets", [self._set(statement)])]
        if isinstance(statement, m.Require):
            self.low.purpose = "guard"
            failed = py.negated(self.low.condition(statement.sql.expression))
            return [("guards", [ast.If(failed, [self._refusal(statement.message)], [])])]
        if isinstance(statement, m.If):
            return [("if", [self._if(statement)])]
        if isinstance(statement, m.Each):
            return [("each", self._each(statement))]
        if isinstance(statement, m.Do):
            return [("writes", [self._do(statement)])]
        if isinstance(statement, m.Return):
            return [("return", self._return(statement))]
        if isinstance(statement, m.Reply):
            return [("return", [ast.Return(self._message(statement.message))])]
        if isinstance(statement, m.Fail):
            return [("guards", [self._refusal(statement.message)])]
        return [("writes", Writes(self.low).lines(statement.sql, None))]

    def _if(self, statement: m.If) -> ast.stmt:
        otherwise: list[ast.stmt] = []
        made: list[tuple[ast.expr, list[ast.stmt]]] = []
        for branch in statement.branches:
            self.low.purpose = "condition"
            test = self.low.condition(branch.condition.expression) if branch.condition else None
            lines = self._inner(branch.body)
            if test is None:
                otherwise = lines
            else:
                made.append((test, lines))
        for test, lines in reversed(made):
            otherwise = [ast.If(test, lines, otherwise)]
        return otherwise[0]

    def _each(self, statement: m.Each) -> list[ast.stmt]:
        self.low.purpose = f"each_{statement.name}"
        items = self._items(statement.sql)
        for table in written(statement.body):  # what was found before the first pass may be gone in the second
            self.low.forget(table)
        known, rows = dict(self.low.values), dict(self.low.rows)
        target = ast.Name(self._new_name(statement.name), ast.Store())
        self.low.values[statement.name] = statement.item
        lines = self._inner(statement.body)
        self.low.values, self.low.rows = known, rows
        before: list[ast.stmt] = []
        if any(isinstance(node, ast.Dict) for node in ast.walk(items)):  # whose type says nothing of its values
            name = self._free(f"{statement.name}_found")
            before.append(py.annotated(name, "list[dict[str, Any]]", items))
            items = py.name(name)
        return [*before, ast.For(target, py.call("call.each", items), lines, [], lineno=0)]

    def _items(self, sql: Sql) -> ast.expr:
        """What an `each` goes through; nothing where a list is NULL."""
        if isinstance(sql.shape, Cell):
            lowered = self.low.value(sql.expression)
            return ast.BoolOp(ast.Or(), [lowered.node, py.literal(())]) if lowered.optional else lowered.node
        (bound,) = self._bind("rows", sql, sql.shape)
        assert isinstance(bound, ast.Assign)
        return bound.value

    def _inner(self, body: Iterable[m.Statement]) -> list[ast.stmt]:
        """The lines of a body inside another, whose values are its own."""
        known, rows = dict(self.low.values), dict(self.low.rows)
        lines = [line for _, group in self.block(body) for line in group]
        self.low.values, self.low.rows = known, rows
        return lines or [ast.Pass()]

    def _new_name(self, value: str) -> str:
        """The Python name of a value that begins here: its own, unless another body has used that."""
        name = self._free(py.identifier(value))
        if name != py.identifier(value):
            self.low.rows[value] = name
        return name

    def _free(self, wanted: str) -> str:
        """A name of the function that no other value has."""
        name = free(wanted, self.names)
        self.names.add(name)
        return name

    def _set(self, statement: m.Set) -> ast.stmt:
        self.low.purpose = f"set_{statement.name}"
        lowered = self.low.value(statement.sql.expression)
        name = self.low.name_in_python(statement.name)
        return py.assign(name, self._bounded(statement.sql.expression, lowered))

    def _do(self, statement: m.Do) -> ast.stmt:
        action = statement.action
        self.low.purpose = f"do_{action.name}"
        arguments = [
            given(sql.expression, parameter, action, self.low)
            for sql, parameter in zip(statement.arguments, action.parameters, strict=True)
        ]
        for table in written((statement,)):
            self.low.forget(table)
        return ast.Expr(py.call(self.low.actions[action.name], py.name("call"), *arguments))

    def _let(self, statement: m.Let) -> list[Group]:
        target = self._new_name(statement.name)
        if statement.sql.change is not None:
            lines = Writes(self.low).lines(statement.sql, target)
            self.low.values[statement.name] = statement.shape
            return [("writes", lines)]
        self.low.purpose = f"select_{statement.name}"
        if statement.typed and isinstance(statement.shape, Cell):
            lowered = self.low.value(statement.sql.expression)
            cell = Cell(statement.shape.type, statement.shape.optional or lowered.optional)
            value = self._bounded(statement.sql.expression, lowered)
            lines = [py.annotated(target, annotation(cell), value)]
        else:
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
            if isinstance(tree, Value):
                return [py.assign(target, py.name(self.low.name_in_python(tree.name)))]
            picked = self.low.attempt(lambda: unnested.rows(self.low, tree))
            picked = picked or self.low.attempt(lambda: picks.rows(self.low, tree))
            return [py.assign(target, picked if picked is not None else self._ask(tree, "rows"))]
        if isinstance(shape, Cell):
            if sql.is_query:
                counted = self.low.attempt(lambda: picks.single(self.low, tree))
                return [py.assign(target, counted.node if counted is not None else self._ask(tree, "value"))]
            lowered = self.low.value(tree)
            lowered = replace(lowered, node=self._bounded(tree, lowered))
            if any(isinstance(node, ast.Call) for node in ast.walk(lowered.node)):
                return [py.annotated(target, annotation(Cell(lowered.type, lowered.optional)), lowered.node)]
            return [py.assign(target, lowered.node)]
        if isinstance(tree, Value):
            return [py.assign(target, py.name(self.low.name_in_python(tree.name)))]
        assert isinstance(tree, exp.Query)
        return self._bind_row(target, tree)

    def _bounded(self, tree: exp.Expr, value: Lowered) -> ast.expr:
        """A value that is kept for later, or a fault where it is a text that grew and grew."""
        grows = isinstance(value.type, Text) and may_grow(tree, self.low.functions)
        return py.call("sql.bounded", value.node) if grows else value.node

    def _ask(self, tree: exp.Expr, method: str) -> ast.expr:
        return self.low.ask(tree, method, "a select searches tables")

    def _bind_row(self, target: str, tree: exp.Query) -> list[ast.stmt]:
        if isinstance(tree, exp.Select) and not any(part for name, part in tree.args.items() if name != "expressions"):
            return [py.assign(target, self._record(tree))]
        by_key = self.low.attempt(lambda: self._bind_by_key(target, tree))
        if by_key is not None:
            return by_key
        picked = self.low.attempt(lambda: picks.row(self.low, tree))
        return [py.assign(target, picked if picked is not None else self._ask(tree, "row"))]

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
        found = self.low.find(table, keyed.keys)
        if whole and not keyed.rest:
            return [py.assign(target, found)]
        known = self.low.name_of(found)
        row = known or f"{table}_row"
        with self.low.row_of(table, row):
            tests = self.low.row_conditions(keyed.rest, alias)
            if whole:
                value: ast.expr = py.name(row)
            else:
                entries = [(i.alias, self.low.value(row_values(i.this, alias)).node) for i in tree.selects]
                value = py.dictionary(entries)
        if not self.low.is_there(found):
            tests.insert(0, py.is_not_none(py.name(row)))
        if tests:
            value = ast.IfExp(py.conjunction(tests), value, ast.Constant(None))
        return [*([] if known else [py.assign(row, found)]), py.assign(target, value)]

    # -- results -----------------------------------------------------------------------------------------------

    def _return(self, statement: m.Return) -> list[ast.stmt]:
        assert self.result is not None
        self.low.purpose = "select_result"
        sql, shape, result = statement.sql, statement.result.body, statement.result
        tree, name = sql.expression, self._free("result")
        if statement.message is None and isinstance(tree, Value) and "cell" not in tree.meta:
            self._note_none(isinstance(sql.shape, Row) and sql.shape.optional)
            return [ast.Return(self._whole(py.name(self.low.name_in_python(tree.name)), result))]
        if isinstance(shape, Cell) and not sql.is_query:
            lowered = self.low.value(tree)
            lines: list[ast.stmt] = [py.assign(name, lowered.node)]
            optional = lowered.optional
        else:
            lines = self._bind(name, sql, shape)
            last = lines[-1]
            assert isinstance(last, ast.Assign)
            there = isinstance(last.value, ast.Dict) or self.low.is_there(last.value)
            optional = not isinstance(shape, Rows) and not there
        untyped = isinstance(shape, Cell) and any(self._is_untyped(value.name) for value in tree.find_all(Value))
        if statement.message is not None:
            value = py.name(name)
            if isinstance(shape, Cell):
                lines[-1] = self._annotated(lines[-1], optional=True) if untyped else self._typed(lines[-1])
            missing = ast.UnaryOp(ast.Not(), value) if isinstance(shape, Rows) else py.is_none(value)
            lines.append(ast.If(missing, [self._refusal(statement.message)], []))
            return [*lines, ast.Return(self._whole(value, result))]
        self._note_none(optional)
        if untyped:
            return [*lines[:-1], self._annotated(lines[-1], optional=optional), ast.Return(py.name(name))]
        return self._returned(lines, optional, result)

    def _is_untyped(self, path: str) -> bool:
        """Whether a value is read from a dictionary that Python knows no types of: no row of a table."""
        head, *rest = path.split(".")
        shape = self.low.values.get(head)
        return bool(rest) and (not isinstance(shape, Row) or shape.table is None or len(rest) > 1)

    def _annotated(self, line: ast.stmt, *, optional: bool) -> ast.stmt:
        assert isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name)
        return py.annotated(line.targets[0].id, self._result_type() + (" | None" if optional else ""), line.value)

    def _returned(self, lines: list[ast.stmt], optional: bool, result: m.Result) -> list[ast.stmt]:
        """`return` of what the last line assigns; by way of a typed name where its own type says nothing."""
        last = lines[-1]
        assert isinstance(last, ast.Assign)
        type_ = self._result_type() + (" | None" if optional else "")
        assert isinstance(last.targets[0], ast.Name)
        return [*lines[:-1], *returning(self._whole(last.value, result), type_, last.targets[0].id)]

    def _whole(self, found: ast.expr, result: m.Result) -> ast.expr:
        """A row, or rows, with those that are nested in it."""
        if not result.nested:
            return found
        shape = result.shape
        assert isinstance(shape, Row | Rows) and shape.table is not None
        method = "call.documents" if isinstance(shape, Rows) else "call.document"
        return py.call(method, py.name(shape.table.upper()), found)

    def _typed(self, line: ast.stmt) -> ast.stmt:
        """`result = ...` with its type, where that comes from a function typed `Any`."""
        assert isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name)
        written, *rest = returning(line.value, f"{self._result_type()} | None", line.targets[0].id)
        return written if rest else line

    def _note_none(self, optional: bool) -> None:
        self.may_be_none = self.may_be_none or optional

    def _refusal(self, message: m.Message) -> ast.stmt:
        return _refuse(self._message(message))

    def _message(self, message: m.Message) -> ast.expr:
        self.low.purpose = "message"
        if all(isinstance(part, str) for part in message.parts):
            return ast.Constant("".join(part for part in message.parts if isinstance(part, str)))
        return py.text([part if isinstance(part, str) else self._hole(part) for part in message.parts])

    def _hole(self, hole: m.Hole) -> ast.expr:
        lowered = self.low.value(hole.sql.expression)
        if hole.format:
            return py.call("sql.formatted", lowered.node, ast.Constant(hole.format))
        if lowered.type.sql == "VARCHAR" and not lowered.optional:
            return lowered.node
        return py.call("sql.text", lowered.node)


def _refuse(message: ast.expr) -> ast.stmt:
    return ast.Raise(py.call("Refusal", message))
