"""The bodies of tools: statements in order, each seeing the values bound before it."""

from __future__ import annotations

from collections.abc import Iterable

from forgec.diagnostics import Label, did_you_mean
from forgec.model import spec as m
from forgec.model import walk
from forgec.model.doing import MAX_STATEMENTS, build_do, is_small
from forgec.model.messages import build_message
from forgec.model.names import check_name
from forgec.model.types import TypeResolver
from forgec.source import Span
from forgec.sql.check import SqlChecker
from forgec.sql.infer import assignable
from forgec.sql.query import Insert, Sql, as_columns, as_type
from forgec.sql.scope import Cell, Row, Rows, Scope, Shape
from forgec.sql.tree import Calculate, Fragment, Value, exp
from forgec.syntax import nodes
from forgec_runtime.types import List, Text, Type

MAX_BRANCHES = 200
"""Of one `if`: each stands inside the one before when it is compiled."""
MAX_EACH = 3
"""So many `each` stand inside each other."""


def build_tool(
    item: nodes.Tool,
    parameters: tuple[m.Parameter, ...],
    result: m.Result | None,
    types: TypeResolver,
    checker: SqlChecker,
    scope: Scope,
) -> m.Tool:
    """The tool with all of its statements that could be checked."""
    statements = _statements(item, parameters, result, types, checker, scope)
    if result is not None and not result.optional and not _always_ends(item.body):
        hint = "end the body with `return`, `reply` or `fail`"
        checker.report.error("AFS501", f"`{item.name}` may end without a result", item.name.span, help=hint)
    is_small(item.name.text, statements, item.name.span, checker.report)
    doc = item.doc.value if item.doc else ""
    return m.Tool(
        name=item.name.text,
        doc=doc,
        span=item.name.span,
        parameters=parameters,
        returns=result,
        body=statements,
        side=item.side,
        ends=item.ends,
    )


def build_action(
    item: nodes.Action,
    parameters: tuple[m.Parameter, ...],
    types: TypeResolver,
    checker: SqlChecker,
    scope: Scope,
) -> m.Action | None:
    """The action with all of its statements that could be checked; None when it is too large for others to do."""
    for parameter in item.parameters:
        if parameter.default is not None:
            hint = "all arguments of an action are given"
            checker.report.error("AFS510", "an action has no defaults", parameter.default.span, help=hint)
    statements = _statements(item, parameters, None, types, checker, scope)
    if not is_small(item.name.text, statements, item.name.span, checker.report):
        return None
    levels = 1 + max((one.action.levels for one in walk.statements(statements) if isinstance(one, m.Do)), default=0)
    doc = item.doc.value if item.doc else ""
    return m.Action(
        name=item.name.text, doc=doc, span=item.name.span, parameters=parameters, body=statements, levels=levels
    )


def _statements(
    item: nodes.Tool | nodes.Action,
    parameters: tuple[m.Parameter, ...],
    result: m.Result | None,
    types: TypeResolver,
    checker: SqlChecker,
    scope: Scope,
) -> tuple[m.Statement, ...]:
    for parameter in parameters:
        scope = scope.with_value(parameter.name, parameter.cell)
        if parameter.row is not None and parameter.references is not None:
            row = scope.tables[parameter.references].row
            scope = scope.with_value(parameter.row, Row(row.columns, parameter.optional, row.table))
    statements, _ = _Body(item, result, types, checker).block(item.body, scope)
    return statements


def _always_ends(body: tuple[nodes.Statement, ...]) -> bool:
    """Whether every way through `body` returns, replies or fails."""
    for statement in body:
        if isinstance(statement, nodes.Return | nodes.Reply | nodes.Fail):
            return True
        if isinstance(statement, nodes.If) and statement.branches[-1].condition is None:
            if all(_always_ends(branch.body) for branch in statement.branches):
                return True
    return False


def _columns_of(kind: m.Result) -> Iterable[str]:
    return kind.body.columns if isinstance(kind.body, Row) else ()


class _Body:
    """Builds the statements of one tool or action."""

    def __init__(
        self, item: nodes.Tool | nodes.Action, result: m.Result | None, types: TypeResolver, checker: SqlChecker
    ) -> None:
        self.item = item
        self.result = result
        self.checker = checker
        self.report = checker.report
        self.types = types
        self.first_write: Span | None = None
        self.variables: dict[str, Cell] = {}
        """The values that `set` may change: as their `let` declares them."""
        self.count = 0
        """How many statements were built, or begun."""
        self.depth = 0
        """How many `each` are around the statement that is built."""

    def block(self, body: tuple[nodes.Statement, ...], scope: Scope) -> tuple[tuple[m.Statement, ...], Scope]:
        statements: list[m.Statement] = []
        ended: nodes.Statement | None = None
        for node in body:
            self.count += 1
            if self.count > MAX_STATEMENTS:
                message = f"`{self.item.name.text}` has more than {MAX_STATEMENTS:,} statements"
                self.report.error("AFS005", message, self.item.name.span)
                break
            if ended is not None:
                related = [Label(ended.span, "the body ends here")]
                self.report.error("AFS502", "this is never reached", node.span, related=related)
                break
            built, scope = self._statement(node, scope)
            if built is not None:
                statements.append(built)
            if _always_ends((node,)):
                ended = node
        return tuple(statements), scope

    def _statement(self, node: nodes.Statement, scope: Scope) -> tuple[m.Statement | None, Scope]:
        if isinstance(node, nodes.Let):
            built, inner = self._let(node, scope)
            if built is None:
                self.report.give_up(node.name.text)
            return built, inner
        if isinstance(node, nodes.Set):
            return self._set(node, scope), scope
        if isinstance(node, nodes.Require):
            return self._require(node, scope), scope
        if isinstance(node, nodes.If):
            return self._if(node, scope), scope
        if isinstance(node, nodes.Each):
            return self._each(node, scope), scope
        if isinstance(node, nodes.Do):
            return self._do(node, scope), scope
        if isinstance(node, nodes.Return | nodes.Reply) and isinstance(self.item, nodes.Action):
            hint = "the tool that does it can return"
            self.report.error("AFS510", "an action gives no result", node.span, help=hint)
            return None, scope
        if isinstance(node, nodes.Return):
            return self._return(node, scope), scope
        if isinstance(node, nodes.Reply):
            return self._reply(node, scope), scope
        if isinstance(node, nodes.Fail):
            message = build_message(node.message, self.checker, scope)
            return (m.Fail(message=message, span=node.span) if message else None), scope
        return self._write(node, scope), scope

    def _is_free(self, name: nodes.Name, scope: Scope) -> bool:
        """Whether a value may get this name; reports when not."""
        if name.text in scope.values:
            self.report.error("AFS208", f"`${name}` has a value already", name.span, help="choose another name")
            return False
        return check_name(name, "value", self.report)

    def _let(self, node: nodes.Let, scope: Scope) -> tuple[m.Statement | None, Scope]:
        if not self._is_free(node.name, scope):
            return None, scope
        if node.type is not None:
            return self._typed_let(node, node.type, scope)
        is_insert = node.sql.span.text[:6].lower() == "insert"
        sql = self.checker.change(node.sql, scope) if is_insert else self.checker.any(node.sql, scope, calculates=True)
        message = build_message(node.message, self.checker, scope) if node.message else None
        if sql is None or (node.message and message is None):
            return None, scope
        shape = self._shape(node, sql)
        if shape is None or not self.checker.has_type(sql):
            return None, scope
        if is_insert:
            self.first_write = node.span
        let = m.Let(name=node.name.text, sql=sql, shape=shape, message=message, span=node.span)
        return let, scope.with_value(node.name.text, shape)

    def _typed_let(
        self, node: nodes.Let, type_: nodes.TypeExpression, scope: Scope
    ) -> tuple[m.Statement | None, Scope]:
        declared = self.types.cell(type_)
        sql = self.checker.expression(node.sql, scope, declared.type if declared else None, calculates=True)
        message = build_message(node.message, self.checker, scope) if node.message else None
        if declared is None or sql is None or (node.message and message is None):
            return None, scope
        if node.message is None and not self._may_hold(declared, sql, node.name):
            return None, scope
        sql = as_type(sql, declared.type)
        let = m.Let(name=node.name.text, sql=sql, shape=declared, typed=True, message=message, span=node.span)
        self.variables[node.name.text] = declared
        return let, scope.with_value(node.name.text, declared)

    def _set(self, node: nodes.Set, scope: Scope) -> m.Statement | None:
        name = node.name.text
        cell = scope.values.get(name)
        if cell is None or cell is not self.variables.get(name):
            if cell is None:
                close = did_you_mean(name, self.variables)
                self.report.error("AFS203", f"unknown value `${name}`", node.name.span, help=close, about=name)
                return None
            type_ = cell.type if isinstance(cell, Cell) else "integer"
            hint = f"only a value whose `let` declares its type is set, such as `let {name} {type_} = ...;`"
            self.report.error("AFS514", f"`${name}` cannot be set", node.name.span, help=hint)
            return None
        assert isinstance(cell, Cell)
        sql = self.checker.expression(node.sql, scope, cell.type)
        if sql is None or not self._may_hold(cell, sql, node.name):
            return None
        return m.Set(name=name, sql=as_type(sql, cell.type), cell=cell, span=node.span)

    def _may_hold(self, cell: Cell, sql: Sql, name: nodes.Name) -> bool:
        """Whether a value may have what `sql` gives; reports when that can be NULL and the value cannot."""
        assert isinstance(sql.shape, Cell)
        if not sql.shape.optional or cell.optional:
            return True
        hint = f"declare `{cell.type}?`, or say what to take instead with `coalesce`"
        if isinstance(sql.tree, Calculate):
            hint = f"declare `{cell.type}?`, or say with `else` what is wrong then"
        self.report.error("AFS514", f"`{name}` is never null, and this can be", sql.span, help=hint)
        return False

    def _shape(self, node: nodes.Let, sql: Sql) -> Shape | None:
        checked = node.message is not None
        if sql.change is not None:
            if not isinstance(sql.change, Insert) or not sql.change.returning or checked or node.many:
                hint = "let x = insert into t (...) values (...) returning *;"
                self.report.error("AFS407", "a let takes an insert with `returning *`", node.span, help=hint)
                return None
            assert isinstance(sql.shape, Rows)
            return Row(sql.shape.columns, False, sql.shape.table)
        if isinstance(sql.shape, Rows):
            if node.many:
                return sql.shape
            return Row(sql.shape.columns, not checked, sql.shape.table)
        if node.many:
            self.report.error("AFS503", "`[]` is for a select", node.span, help=f"write `let {node.name} = ...`")
            return None
        assert isinstance(sql.shape, Cell)
        return Cell(sql.shape.type, sql.shape.optional and not checked, sql.shape.references)

    def _require(self, node: nodes.Require, scope: Scope) -> m.Statement | None:
        self._check_order(node.span)
        sql = self.checker.condition(node.sql, scope)
        message = build_message(node.message, self.checker, scope)
        return m.Require(sql=sql, message=message, span=node.span) if sql and message else None

    def _check_order(self, span: Span) -> None:
        if self.first_write is not None:
            related = [Label(self.first_write, "written here")]
            self.report.error(
                "AFS504",
                "a guard stands after a write",
                span,
                related=related,
                help="put all guards first: a call that fails changes nothing",
            )

    def _if(self, node: nodes.If, scope: Scope) -> m.Statement | None:
        if len(node.branches) > MAX_BRANCHES:
            self.report.error("AFS005", f"an `if` has at most {MAX_BRANCHES} branches", node.span)
            return None
        branches: list[m.Branch] = []
        before = self.first_write
        writes: list[Span] = []
        for branch in node.branches:
            condition = self.checker.condition(branch.condition, scope) if branch.condition else None
            self.first_write = before
            body, _ = self.block(branch.body, scope)
            writes.extend([self.first_write] if self.first_write else [])
            if branch.condition is None or condition is not None:
                branches.append(m.Branch(condition=condition, body=body))
        self.first_write = writes[0] if writes else before
        return m.If(branches=tuple(branches), span=node.span) if len(branches) == len(node.branches) else None

    def _each(self, node: nodes.Each, scope: Scope) -> m.Statement | None:
        if self.depth == MAX_EACH:
            message = f"`each` stands inside `each` at most {MAX_EACH} deep"
            self.report.error("AFS507", message, node.span, help="a join goes through several tables at once")
            return None
        sql = self._whole_value(node.sql, scope) or self.checker.any(node.sql, scope)
        item = self._item(node, sql) if sql is not None else None
        if sql is None or item is None or not self._is_free(node.name, scope):
            self.report.give_up(node.name.text)
            return None
        self.depth += 1
        body, _ = self.block(node.body, scope.with_value(node.name.text, item))
        self.depth -= 1
        return m.Each(name=node.name.text, sql=sql, item=item, body=body, span=node.span)

    def _item(self, node: nodes.Each, sql: Sql) -> Row | Cell | None:
        """What the name of an `each` stands for in a pass."""
        if isinstance(sql.shape, Rows):
            return Row(sql.shape.columns, False, sql.shape.table)
        if isinstance(sql.shape, Cell) and isinstance(sql.shape.type, List):
            return Cell(sql.shape.type.of)
        what = "one row" if isinstance(sql.shape, Row) else f"one {sql.shape.type}"
        hint = f"such as `each {node.name} in (select ...) {{ ... }}`"
        self.report.error("AFS508", "`each` goes through rows and lists", node.sql.span, f"this is {what}", help=hint)
        return None

    def _do(self, node: nodes.Do, scope: Scope) -> m.Statement | None:
        built = build_do(node, self.checker, scope)
        if built is not None and walk.written((built,)):
            self.first_write = self.first_write or node.span
        return built

    def _return(self, node: nodes.Return, scope: Scope) -> m.Statement | None:
        message = build_message(node.message, self.checker, scope) if node.message else None
        if node.message:
            self._check_order(node.span)
        if self.result is None:
            hint = f"declare `returns` on `{self.item.name}`"
            if self._declares_nothing():
                self.report.error("AFS505", "a tool without `returns` returns nothing", node.span, help=hint)
            return None
        whole = self._whole_value(node.sql, scope)
        kinds = self.result.kinds or (self.result,)
        rows = [kind.body.columns for kind in kinds if isinstance(kind.body, Row)]
        sql = whole or self.checker.any(node.sql, scope, rows, calculates=True)
        if sql is None or (node.message and message is None):
            return None
        result = self._kind(node, sql) if self.result.kinds else self.result
        if result is None or not self._check_result(node, sql, result):
            return None
        return m.Return(sql=self._as_declared(sql, result), result=result, message=message, span=node.span)

    def _declares_nothing(self) -> bool:
        """Whether the author declared no result; else what is declared was reported."""
        return isinstance(self.item, nodes.Action) or not self.item.returns

    def _kind(self, node: nodes.Return, sql: Sql) -> m.Result | None:
        """Which of several kinds of results this is: of its table, else with its columns."""
        assert self.result is not None
        if not isinstance(sql.shape, Cell):
            alike = [kind for kind in self.result.kinds if list(_columns_of(kind)) == list(sql.shape.columns)]
            same = [kind for kind in alike if isinstance(kind.body, Row) and kind.body.table == sql.shape.table]
            if found := same or alike:
                return found[0]
        kinds = " or ".join(f"({', '.join(_columns_of(kind))})" for kind in self.result.kinds)
        message = "this is none of the declared kinds of results"
        self.report.error("AFS309", message, node.sql.span, help=f"`{self.item.name}` returns {kinds}")
        return None

    def _as_declared(self, sql: Sql, result: m.Result) -> Sql:
        """The result in the declared types."""
        wanted = result.body
        if isinstance(sql.shape, Cell):
            return as_type(sql, result.type)
        if not sql.is_query:
            return sql
        return as_columns(sql, {"": wanted} if isinstance(wanted, Cell) else wanted.columns)

    def _whole_value(self, text: nodes.SqlText, scope: Scope) -> Sql | None:
        """`return $row;` and `return $rows;`: the value as it is."""
        name = text.span.text[1:]
        shape = scope.values.get(name)
        if len(text.params) != 1 or text.params[0] != text.span or shape is None or isinstance(shape, Cell):
            return None
        return Sql(text.span, Value(this=name), None, shape, frozenset())

    def _check_result(self, node: nodes.Return, sql: Sql, result: m.Result) -> bool:
        wanted, given = result.body, sql.shape
        if isinstance(wanted, Cell):
            if isinstance(given, Cell):
                return self._check_type(wanted.type, given.type, sql, node.sql)
            if len(given.columns) == 1 and not isinstance(given, Row):
                return self._check_type(wanted.type, next(iter(given.columns.values())).type, sql, node.sql)
            self.report.error("AFS301", f"expected one {wanted.type}, found columns", node.sql.span)
            return False
        if isinstance(given, Cell):
            self.report.error("AFS301", f"expected {result.type}, found {given.type}", node.sql.span)
            return False
        if isinstance(given, Rows) and sql.tree is not None and not sql.is_query and isinstance(wanted, Row):
            self.report.error("AFS301", "expected one row, found rows", node.sql.span)
            return False
        if isinstance(given, Row) and isinstance(wanted, Rows):
            self.report.error("AFS301", "expected rows, found one row", node.sql.span)
            return False
        return self._check_columns(wanted, given, sql, node.sql)

    def _check_columns(self, wanted: Row | Rows, given: Row | Rows, sql: Sql, text: nodes.SqlText) -> bool:
        names, others = list(wanted.columns), list(given.columns)
        if names != others:
            expected = ", ".join(names)
            self.report.error(
                "AFS309",
                "the columns differ from those declared",
                text.span,
                f"gives {', '.join(others)}",
                help=f"`{self.item.name}` returns {expected}",
            )
            return False
        types = [(wanted.columns[name].type, given.columns[name].type) for name in names]
        if not isinstance(sql.tree, exp.Select):
            return all(self._check_type(declared, found, None, text) for declared, found in types)
        fragment, items = Fragment(text, sql.tree), [item.this for item in sql.tree.selects]
        return all(
            self.checker.check_assignable(declared, item, found, fragment, fragment.span_of(item))
            for item, (declared, found) in zip(items, types, strict=True)
        )

    def _check_type(self, wanted: Type, given: Type, sql: Sql | None, text: nodes.SqlText) -> bool:
        if sql is not None and sql.tree is not None and not sql.is_query:
            return self.checker.check_assignable(wanted, sql.tree, given, Fragment(text, sql.tree), text.span)
        if assignable(wanted, given):
            return True
        self.report.error("AFS301", f"expected {wanted}, found {given}", text.span)
        return False

    def _reply(self, node: nodes.Reply, scope: Scope) -> m.Statement | None:
        if self.result is None and not self._declares_nothing():
            return None
        if self.result is None or not isinstance(self.result.type, Text):
            hint = f"declare `returns text` on `{self.item.name}`"
            self.report.error("AFS505", "a reply is a text", node.span, help=hint)
            return None
        message = build_message(node.message, self.checker, scope)
        return m.Reply(message=message, span=node.span) if message else None

    def _write(self, node: nodes.Write, scope: Scope) -> m.Statement | None:
        sql = self.checker.change(node.sql, scope)
        self.first_write = self.first_write or node.span
        if sql is not None and isinstance(sql.change, Insert) and sql.change.returning:
            hint = "let x = insert into t (...) values (...) returning *;"
            self.report.error("AFS407", "`returning *` needs a name", node.span, help=hint)
            return None
        return m.Write(sql=sql, span=node.span) if sql else None
