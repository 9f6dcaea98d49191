"""Expressions to Python: what has an exact twin is computed there, and the rest is asked of DuckDB."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count

from forgec.model.spec import Function, Table
from forgec.plans import python as py
from forgec.plans.keyed import is_constant
from forgec.plans.query import QueryPlan, template
from forgec.sql.check import SqlChecker
from forgec.sql.emit import empty_rows, typed_null
from forgec.sql.infer import infer
from forgec.sql.oracle import Rejected
from forgec.sql.query import cell_of
from forgec.sql.resolve import may_be_null
from forgec.sql.scope import Row, Shape
from forgec.sql.tree import Apply, Clock, Lookup, Value, exp
from forgec_runtime.types import Boolean, Date, Decimal, Double, Integer, Text, Timestamp, Type


class NoTwin(Exception):
    """This expression has no exact twin in Python; the text says why."""


@dataclass(frozen=True)
class Lowered:
    """A Python expression, its type, and whether it can be None."""

    node: ast.expr
    type: Type
    optional: bool


@dataclass
class Lowering:
    """What the expressions of one function share: the values in scope and the queries made so far."""

    tables: Mapping[str, Table]
    functions: Mapping[str, Function]
    checker: SqlChecker
    values: dict[str, Shape] = field(default_factory=dict)
    queries: list[QueryPlan] = field(default_factory=list)
    purpose: str = "value"
    rows: dict[str, str] = field(default_factory=dict)
    """Python names of values that are not called as the spec calls them (the row that an update changes)."""
    prefix: str = "functions."
    """What stands before the name of a function of the spec."""

    # -- entry points ------------------------------------------------------------------------------------------

    def value(self, tree: exp.Expr) -> Lowered:
        """The Python of an expression; asks DuckDB where it must."""
        made = len(self.queries)
        try:
            return self._lower(tree)
        except NoTwin as reason:
            del self.queries[made:]
            return self._ask_value(tree, str(reason))

    def condition(self, tree: exp.Expr) -> ast.expr:
        """Python that is true exactly where the condition is TRUE; false and NULL are alike."""
        parts = [self.value(part) for part in _operands(tree, exp.And)]
        if len(parts) == 1:
            return parts[0].node
        return py.conjunction([part.node for part in parts])

    def ask(self, tree: exp.Expr, method: str, why: str, name: str | None = None) -> ast.Call:
        """`call.rows(...)`, `call.row(...)` or `call.value(...)` for a query."""
        made = template(tree, self.checker.emitter, rows=method == "rows")
        inputs = tuple(self._path(path) for path, _ in made.values)
        known = [query.name for query in self.queries]
        base = name or self.purpose.upper()
        unique = next(name for name in (base, *(f"{base}_{i}" for i in count(2))) if name not in known)
        values = tuple((path.replace(".", "__"), type_) for path, type_ in made.values)
        plan = QueryPlan(unique, made.text, made.tables, values, made.columns, made.order, inputs, why)
        same = next((q for q in self.queries if (q.text, q.order) == (plan.text, plan.order)), None)
        if same is None:
            self.queries.append(plan)
        return py.call(f"call.{method}", py.name((same or plan).name), *inputs)

    # -- values ------------------------------------------------------------------------------------------------

    def _path(self, path: str) -> ast.expr:
        """The Python of `$head.column.field`."""
        head, *rest = path.split(".")
        shape = self.values.get(head)
        target: ast.expr = py.name(self.rows.get(head) or py.identifier(head))
        if not rest:
            return target
        optional = isinstance(shape, Row) and shape.optional
        optional = optional or not isinstance(shape, Row)
        cell = shape.columns[rest[0]] if isinstance(shape, Row) else None
        for i, part in enumerate(rest):
            if i > 0:
                optional = optional or (cell is not None and cell.optional) or i > 1
            target = py.call("sql.field", target, ast.Constant(part)) if optional else py.item(target, part)
        return target

    def _ask_value(self, tree: exp.Expr, why: str) -> Lowered:
        type_ = self._type_of(tree)
        return Lowered(self.ask(tree, "value", why), type_, may_be_null(tree))

    def _type_of(self, tree: exp.Expr) -> Type:
        known = infer(tree)
        if known is not None:
            return known
        query = f"select {self.checker.emitter.text(tree, typed_null, rows=empty_rows)} as x"
        try:
            found = self.checker.oracle.describe(query)[0][1]
        except Rejected as reason:
            raise NoTwin(str(reason)) from None
        if found is None:
            raise NoTwin("a value of a type that columns do not hold")
        return found

    # -- the twins ---------------------------------------------------------------------------------------------

    def _lower(self, node: exp.Expr) -> Lowered:
        if node.meta.get("only_duckdb"):
            raise NoTwin("its type is DuckDB's to say")
        if isinstance(node, exp.Paren):
            return self._lower(node.this)
        if isinstance(node, Value):
            cell = cell_of(node)
            return Lowered(self._path(node.name), cell.type, cell.optional)
        if isinstance(node, exp.Null):
            return Lowered(ast.Constant(None), Text(), True)
        if isinstance(node, exp.Literal | exp.Boolean | Clock) or is_constant(node):
            return self._constant(node)
        if isinstance(node, Lookup):
            return self._lookup(node)
        if isinstance(node, Apply):
            return self._apply(node)
        handler = _HANDLERS.get(type(node))
        if handler is None:
            raise NoTwin(f"`{_sql_name(node)}` is computed by DuckDB")
        return handler(self, node)

    def operand(self, node: exp.Expr) -> Lowered:
        """A part of an expression: lowered, or asked on its own."""
        return self.value(node)

    def _constant(self, node: exp.Expr) -> Lowered:
        """Whatever depends on the spec alone, DuckDB has computed before the code is written."""
        type_ = self._type_of(node)
        query = f"select {self.checker.emitter.text(node, typed_null)}"
        try:
            value = self.checker.oracle.compute(query)[0][0]
        except Rejected as reason:
            raise NoTwin(str(reason)) from None
        return Lowered(py.literal(value), type_, value is None)

    def _lookup(self, node: Lookup) -> Lowered:
        cell = cell_of(node)
        found = self.find(node.name, node.expressions)
        return Lowered(py.call("sql.field", found, ast.Constant(node.args["field"])), cell.type, True)

    def find(self, table: str, keys: list[exp.Expr] | tuple[exp.Expr, ...]) -> ast.Call:
        """`call.find(TABLE, key)`."""
        parts: list[ast.expr] = []
        for key, column in zip(keys, self.tables[table].key, strict=True):
            lowered = self.value(key)
            if lowered.type.sql != column.type.sql:
                raise NoTwin(f"the key {column.name} is {column.type}, not {lowered.type}")
            parts.append(lowered.node)
        whole = parts[0] if len(parts) == 1 else ast.Tuple(parts, ast.Load())
        return py.call("call.find", py.name(table.upper()), whole)

    def _apply(self, node: Apply) -> Lowered:
        function = self.functions[node.name]
        arguments = []
        for argument, parameter in zip(node.expressions, function.parameters, strict=True):
            lowered = self.value(argument)
            if lowered.type.sql != parameter.type.sql:
                raise NoTwin(f"`{node.name}` takes {parameter.type}, not {lowered.type}")
            if lowered.optional and not parameter.optional:
                raise NoTwin(f"`{node.name}` is not written for a missing {parameter.name}")
            arguments.append(lowered.node)
        called = py.call(f"{self.prefix}{py.identifier(node.name)}", py.name("call"), *arguments)
        return Lowered(called, function.returns.type, function.returns.optional)


Handler = Callable[[Lowering, exp.Expr], Lowered]


def _operands(tree: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    if isinstance(tree, exp.Paren) and isinstance(tree.this, kind | exp.Paren):
        return _operands(tree.this, kind)
    if isinstance(tree, kind):
        return [*_operands(tree.this, kind), *_operands(tree.expression, kind)]
    return [tree]


def _sql_name(node: exp.Expr) -> str:
    return node.sql_name().lower() if isinstance(node, exp.Func) else type(node).__name__.lower()


def _logic(operator: type[ast.boolop], twin: str) -> Handler:
    def lower(self: Lowering, node: exp.Expr) -> Lowered:
        parts = [self.operand(part) for part in _operands(node, type(node))]
        optional = any(part.optional for part in parts)
        if optional:
            return Lowered(py.call(twin, *(part.node for part in parts)), Boolean(), True)
        return Lowered(ast.BoolOp(operator(), [part.node for part in parts]), Boolean(), False)

    return lower


def _not(self: Lowering, node: exp.Expr) -> Lowered:
    part = self.operand(node.this)
    if part.optional:
        return Lowered(py.call("sql.not_", part.node), Boolean(), True)
    return Lowered(py.negated(part.node), Boolean(), False)


def _comparison(operator: type[ast.cmpop], twin: str) -> Handler:
    def lower(self: Lowering, node: exp.Expr) -> Lowered:
        left, right = _alike(self, node.this, node.expression)
        optional = left.optional or right.optional
        if optional:
            return Lowered(py.call(twin, left.node, right.node), Boolean(), True)
        return Lowered(py.compare(left.node, operator(), right.node), Boolean(), False)

    return lower


def _alike(self: Lowering, a: exp.Expr, b: exp.Expr) -> tuple[Lowered, Lowered]:
    """Two operands of types that Python compares as DuckDB does."""
    left, right = self.operand(a), self.operand(b)
    kinds = {_comparison_kind(left.type), _comparison_kind(right.type)}
    if len(kinds) > 1 and not isinstance(a, exp.Null) and not isinstance(b, exp.Null):
        raise NoTwin(f"DuckDB compares {left.type} with {right.type}")
    if "record" in kinds or "double" in kinds:
        raise NoTwin("records and doubles are compared by DuckDB")  # a NaN equals itself there
    return left, right


def _comparison_kind(type_: Type) -> str:
    if isinstance(type_, Integer | Decimal):
        return "exact"
    return {"VARCHAR": "text", "BOOLEAN": "boolean", "DATE": "date", "TIMESTAMP": "time", "DOUBLE": "double"}.get(
        type_.sql, "record"
    )


def _null_safe(operator: type[ast.cmpop]) -> Handler:
    def lower(self: Lowering, node: exp.Expr) -> Lowered:
        left, right = _alike(self, node.this, node.expression)
        return Lowered(py.compare(left.node, operator(), right.node), Boolean(), False)

    return lower


def _is(self: Lowering, node: exp.Expr) -> Lowered:
    left = self.operand(node.this)
    if isinstance(node.expression, exp.Null):
        return Lowered(py.is_none(left.node), Boolean(), False)
    if isinstance(node.expression, exp.Boolean) and isinstance(left.type, Boolean):
        return Lowered(py.compare(left.node, ast.Is(), ast.Constant(node.expression.this)), Boolean(), False)
    raise NoTwin("`is` is computed by DuckDB")


def _in(self: Lowering, node: exp.Expr) -> Lowered:
    if node.args.get("query") is not None:
        raise NoTwin("`in (select ...)` searches a table")
    pairs = [_alike(self, node.this, value) for value in node.expressions]
    subject = pairs[0][0]
    values = [right for _, right in pairs]
    if subject.optional or any(value.optional for value in values):
        return Lowered(py.call("sql.in_", subject.node, *(value.node for value in values)), Boolean(), True)
    options = ast.Tuple([value.node for value in values], ast.Load())
    return Lowered(py.compare(subject.node, ast.In(), options), Boolean(), False)


def _between(self: Lowering, node: exp.Expr) -> Lowered:
    subject, low = _alike(self, node.this, node.args["low"])
    _, high = _alike(self, node.this, node.args["high"])
    if subject.optional or low.optional or high.optional:
        return Lowered(py.call("sql.between", subject.node, low.node, high.node), Boolean(), True)
    chained = ast.Compare(low.node, [ast.LtE(), ast.LtE()], [subject.node, high.node])
    return Lowered(chained, Boolean(), False)


def _arithmetic(operator: type[ast.operator], twin: str) -> Handler:
    def lower(self: Lowering, node: exp.Expr) -> Lowered:
        type_ = infer(node)
        if not isinstance(type_, Integer | Decimal):
            raise NoTwin(f"`{_sql_name(node)}` is computed by DuckDB")
        left, right = self.operand(node.this), self.operand(node.expression)
        if isinstance(left.type, Date):
            return Lowered(
                py.call("sql.days_between", left.node, right.node), Integer(), left.optional or right.optional
            )
        optional = left.optional or right.optional
        if optional or (operator is ast.Mult and isinstance(type_, Decimal)):  # Python knows a zero below zero
            result: ast.expr = py.call(twin, left.node, right.node)
        else:
            result = ast.BinOp(left.node, operator(), right.node)
        if isinstance(type_, Integer) and _bits(node) > 62:
            result = py.call("sql.bigint", result)
        return Lowered(result, type_, optional)

    return lower


def _add(self: Lowering, node: exp.Expr) -> Lowered:
    if isinstance(infer(node), Date):
        left, right = self.operand(node.this), self.operand(node.expression)
        optional = left.optional or right.optional
        return Lowered(py.call("sql.add_days", left.node, right.node), Date(), optional)
    return _arithmetic(ast.Add, "sql.add")(self, node)


def _bits(node: exp.Expr) -> int:
    """A bound on the size of an integer expression; columns and arguments hold 53 bits."""
    if isinstance(node, exp.Paren | exp.Neg):
        return _bits(node.this)
    if isinstance(node, exp.Literal):
        return int(node.name).bit_length() if node.name.isdigit() else 64
    if isinstance(node, exp.Add | exp.Sub):
        return max(_bits(node.this), _bits(node.expression)) + 1
    if isinstance(node, exp.Mul):
        return _bits(node.this) + _bits(node.expression)
    return 53 if isinstance(node, Value | Lookup) else 62


def _neg(self: Lowering, node: exp.Expr) -> Lowered:
    part = self.operand(node.this)
    if not isinstance(part.type, Integer | Decimal | Double):
        raise NoTwin("`-` is computed by DuckDB")
    if part.optional:
        return Lowered(py.call("sql.neg", part.node), part.type, True)
    return Lowered(ast.UnaryOp(ast.USub(), part.node), part.type, False)


def _concat(self: Lowering, node: exp.Expr) -> Lowered:
    left, right = self.operand(node.this), self.operand(node.expression)
    if left.type.sql != "VARCHAR" or right.type.sql != "VARCHAR":
        raise NoTwin("`||` of what is no text is computed by DuckDB")
    optional = left.optional or right.optional
    if optional:
        return Lowered(py.call("sql.add", left.node, right.node), Text(), True)
    return Lowered(ast.BinOp(left.node, ast.Add(), right.node), Text(), False)


def _text_function(twin: str, result: Type) -> Handler:
    def lower(self: Lowering, node: exp.Expr) -> Lowered:
        part = self.operand(node.this)
        if part.type.sql != "VARCHAR":
            raise NoTwin(f"`{_sql_name(node)}` of what is no text is computed by DuckDB")
        return Lowered(py.call(twin, part.node), result, part.optional)

    return lower


def _coalesce(self: Lowering, node: exp.Expr) -> Lowered:
    parts = [self.operand(part) for part in [node.this, *node.expressions]]
    if len({part.type.sql for part in parts}) > 1:
        raise NoTwin("`coalesce` of different types is computed by DuckDB")
    optional = all(part.optional for part in parts)
    return Lowered(py.call("sql.coalesce", *(part.node for part in parts)), parts[0].type, optional)


def _case(self: Lowering, node: exp.Expr) -> Lowered:
    if node.this is not None:
        raise NoTwin("`case x when` is computed by DuckDB")
    default = node.args.get("default")
    branches = [(self.condition(branch.this), self.operand(branch.args["true"])) for branch in node.args["ifs"]]
    last = self.operand(default) if default is not None else Lowered(ast.Constant(None), branches[0][1].type, True)
    results = [*(result for _, result in branches), last]
    if len({result.type.sql for result in results}) > 1:
        raise NoTwin("`case` of different types is computed by DuckDB")
    node_ = last.node
    for test, result in reversed(branches):
        node_ = ast.IfExp(test, result.node, node_)
    return Lowered(node_, results[0].type, any(result.optional for result in results))


def _extreme(twin: str) -> Handler:
    def lower(self: Lowering, node: exp.Expr) -> Lowered:
        parts = [self.operand(part) for part in [node.this, *node.expressions]]
        if len({part.type.sql for part in parts}) > 1 or _comparison_kind(parts[0].type) in ("record", "double"):
            raise NoTwin(f"`{_sql_name(node)}` of different types is computed by DuckDB")
        called = py.call(twin, *(part.node for part in parts))
        return Lowered(called, parts[0].type, all(part.optional for part in parts))

    return lower


def _date_diff(self: Lowering, node: exp.Expr) -> Lowered:
    end, start = self.operand(node.this), self.operand(node.expression)
    if node.args["unit"].name.upper() != "DAY" or not (isinstance(end.type, Date) and isinstance(start.type, Date)):
        raise NoTwin("`date_diff` of what is no pair of dates, or not in days, is computed by DuckDB")
    return Lowered(py.call("sql.days_between", end.node, start.node), Integer(), end.optional or start.optional)


def _cast(self: Lowering, node: exp.Expr) -> Lowered:
    wanted = self._type_of(node)
    return converted(self.operand(node.this), wanted)


def converted(given: Lowered, wanted: Type) -> Lowered:
    """A value as another type. Raises `NoTwin`."""
    if given.type.sql == wanted.sql:
        return Lowered(given.node, wanted, given.optional)
    if isinstance(wanted, Decimal) and isinstance(given.type, Integer | Decimal):
        twin = py.call("sql.decimal_", given.node, ast.Constant(wanted.precision), ast.Constant(wanted.scale))
    elif isinstance(wanted, Date) and isinstance(given.type, Timestamp):
        twin = py.call("sql.date_", given.node)
    elif isinstance(wanted, Timestamp) and isinstance(given.type, Date):
        twin = py.call("sql.timestamp", given.node)
    else:
        raise NoTwin(f"{given.type} is cast to {wanted} by DuckDB")
    return Lowered(twin, wanted, given.optional)


def _subquery(self: Lowering, node: exp.Expr) -> Lowered:
    return Lowered(self.ask(node.this, "value", "a subquery searches tables"), self._type_of(node), may_be_null(node))


def _exists(self: Lowering, node: exp.Expr) -> Lowered:
    return Lowered(self.ask(node, "value", "`exists` searches tables"), Boolean(), False)


_HANDLERS: dict[type[exp.Expr], Handler] = {
    exp.And: _logic(ast.And, "sql.and_"),
    exp.Or: _logic(ast.Or, "sql.or_"),
    exp.Not: _not,
    exp.EQ: _comparison(ast.Eq, "sql.eq"),
    exp.NEQ: _comparison(ast.NotEq, "sql.ne"),
    exp.LT: _comparison(ast.Lt, "sql.lt"),
    exp.LTE: _comparison(ast.LtE, "sql.le"),
    exp.GT: _comparison(ast.Gt, "sql.gt"),
    exp.GTE: _comparison(ast.GtE, "sql.ge"),
    exp.NullSafeEQ: _null_safe(ast.Eq),
    exp.NullSafeNEQ: _null_safe(ast.NotEq),
    exp.Is: _is,
    exp.In: _in,
    exp.Between: _between,
    exp.Add: _add,
    exp.Sub: _arithmetic(ast.Sub, "sql.sub"),
    exp.Mul: _arithmetic(ast.Mult, "sql.mul"),
    exp.Neg: _neg,
    exp.DPipe: _concat,
    exp.Lower: _text_function("sql.lower", Text()),
    exp.Upper: _text_function("sql.upper", Text()),
    exp.Length: _text_function("sql.length", Integer()),
    exp.Coalesce: _coalesce,
    exp.Case: _case,
    exp.Cast: _cast,
    exp.Greatest: _extreme("sql.greatest"),
    exp.Least: _extreme("sql.least"),
    exp.DateDiff: _date_diff,
    exp.Subquery: _subquery,
    exp.Exists: _exists,
}
