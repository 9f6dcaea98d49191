"""Expressions to Python: what has an exact twin is computed there, and the rest is asked of DuckDB."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from forgec.model.spec import Function, Table
from forgec.plans import python as py
from forgec.plans.index import IndexPlan
from forgec.plans.lowered import Lowered, NoTwin, sql_name
from forgec.plans.names import free
from forgec.plans.query import QueryPlan, template
from forgec.plans.twins import TWINS, operands
from forgec.sql.check import SqlChecker, row_values
from forgec.sql.emit import empty_rows, typed_null
from forgec.sql.frames import UNKNOWN
from forgec.sql.infer import infer
from forgec.sql.nulls import may_be_null
from forgec.sql.oracle import Rejected
from forgec.sql.query import cell_of
from forgec.sql.scope import Cell, Row, Rows, Shape
from forgec.sql.tree import Apply, Calculate, Clock, Lookup, Value, exp, is_constant
from forgec_runtime.types import Record, Text, Type

T = TypeVar("T")


@dataclass
class Lowering:
    """What the expressions of one function share: the values in scope, the queries and indexes made so far."""

    tables: Mapping[str, Table]
    functions: Mapping[str, Function]
    checker: SqlChecker
    values: dict[str, Shape] = field(default_factory=dict)
    queries: list[QueryPlan] = field(default_factory=list)
    indexes: list[IndexPlan] = field(default_factory=list)
    purpose: str = "value"
    rows: dict[str, str] = field(default_factory=dict)
    """Python names of values that are not called as the spec calls them (the row that an update changes)."""
    found: dict[tuple[str, str], str] = field(default_factory=dict)
    """Rows that are there, by table and by the Python of their key: their names, until the table is written to."""
    arguments: set[str] = field(default_factory=set)
    """Values that were checked when the call came in."""
    elements: int = 0
    """How many loops look at the elements of a list for a check."""
    taken: frozenset[str] = frozenset()
    """Names that other constants of the module have."""
    prefix: str = "functions."
    """What stands before the name of a function of the spec."""
    actions: Mapping[str, str] = field(default_factory=dict)
    """What the actions of the spec are called here."""

    # -- entry points ------------------------------------------------------------------------------------------

    def value(self, tree: exp.Expr) -> Lowered:
        """The Python of an expression; asks DuckDB where it must."""
        made = len(self.queries), len(self.indexes)
        try:
            return self.twin(tree)
        except NoTwin as reason:
            self._forget_since(*made)
            return self._ask_value(tree, str(reason))

    def attempt(self, plan: Callable[[], T]) -> T | None:
        """What `plan` gives; None when it raises `NoTwin`, and then its queries are forgotten."""
        made = len(self.queries), len(self.indexes)
        try:
            return plan()
        except NoTwin:
            self._forget_since(*made)
            return None

    def _forget_since(self, queries: int, indexes: int) -> None:
        del self.queries[queries:], self.indexes[indexes:]

    @contextmanager
    def row_of(self, table: str, name: str) -> Iterator[None]:
        """While the row `name` of `table` is looked at, its columns are the values `row.column`."""
        self.values["row"], self.rows["row"] = self.tables[table].row, name
        try:
            yield
        finally:
            del self.values["row"], self.rows["row"]

    def row_conditions(self, conditions: Iterable[exp.Expr], alias: str) -> list[ast.expr]:
        """Conditions on the row that is looked at, which they call `alias`."""
        return [self.condition(row_values(part, alias)) for part in conditions]

    def condition(self, tree: exp.Expr) -> ast.expr:
        """Python that is true exactly where the condition is TRUE; false and NULL are alike."""
        parts = [self.value(part) for part in operands(tree, exp.And)]
        return py.conjunction([part.holds or py.truth(part.node) for part in parts])

    def failure(self, tree: exp.Expr) -> ast.expr:
        """Python that is true exactly where the condition is FALSE: NULL passes."""
        lowered = self.value(tree)
        if lowered.optional:
            return py.compare(lowered.node, ast.Is(), ast.Constant(False))
        return py.negated(lowered.node)

    def ask(self, tree: exp.Expr, method: str, why: str, name: str | None = None) -> ast.Call:
        """`call.rows(...)`, `call.row(...)` or `call.value(...)` for a query."""
        made = template(tree, self.checker.emitter, rows=method == "rows")
        inputs = tuple(self._path(path) for path, _ in made.values)
        unique = free(name or self.purpose.upper(), self.constants())
        values = tuple((path.replace(".", "__"), type_) for path, type_ in made.values)
        plan = QueryPlan(unique, made.text, made.tables, values, made.columns, made.order, inputs, why)
        same = next((q for q in self.queries if (q.text, q.order) == (plan.text, plan.order)), None)
        if same is None:
            self.queries.append(plan)
        return py.call(f"call.{method}", py.name((same or plan).name), *inputs)

    def constants(self) -> set[str]:
        """The names that the constants of the module have so far."""
        made = (index.computation.constant for index in self.indexes if index.computation is not None)
        return {*self.taken, *(query.name for query in self.queries), *made}

    # -- values ------------------------------------------------------------------------------------------------

    def name_in_python(self, value: str) -> str:
        """What a value of the call is called in Python."""
        return self.rows.get(value) or py.identifier(value)

    def _path(self, path: str) -> ast.expr:
        """The Python of `$head.column.field`."""
        head, *rest = path.split(".")
        shape = self.values.get(head)
        target: ast.expr = py.name(self.name_in_python(head))
        if not rest:
            return target
        optional = shape is None or isinstance(shape, Rows) or shape.optional
        for part in rest:
            target = py.call("sql.field", target, ast.Constant(part)) if optional else py.item(target, part)
            shape = _part(shape, part)
            optional = optional or shape is None or shape.optional
        return target

    def _ask_value(self, tree: exp.Expr, why: str) -> Lowered:
        type_ = self.type_of(tree)
        return Lowered(self.ask(tree, "value", why), type_, may_be_null(tree))

    def type_of(self, tree: exp.Expr) -> Type:
        """The type of an expression. Raises `NoTwin` for one that no column holds."""
        known = infer(tree)
        if known is not None:
            return known
        query = f"select {self.checker.emitter.text(tree, typed_null, rows=empty_rows)} as x"
        try:
            found = self.checker.oracle.describe(query)[0][1]
        except Rejected as reason:
            raise NoTwin(str(reason)) from None
        return UNKNOWN if found is None else found

    # -- the twins ---------------------------------------------------------------------------------------------

    def twin(self, node: exp.Expr) -> Lowered:
        """The Python of an expression. Raises `NoTwin` where DuckDB must be asked for it as a whole."""
        if node.meta.get("only_duckdb"):
            raise NoTwin("its type is DuckDB's to say")
        if isinstance(node, exp.Paren):
            return self.twin(node.this)
        if isinstance(node, Value):
            cell = cell_of(node)
            return Lowered(self._path(node.name), cell.type, cell.optional)
        if isinstance(node, exp.Null):
            return Lowered(ast.Constant(None), Text(), True)
        if isinstance(node, exp.Literal | exp.Boolean | Clock) or (
            is_constant(node) and not isinstance(node, Calculate)
        ):
            return self._constant(node)
        if isinstance(node, Lookup):
            return self._lookup(node)
        if isinstance(node, Apply):
            return self._apply(node)
        handler = TWINS.get(type(node))
        if handler is None:
            raise NoTwin(f"`{sql_name(node)}` is computed by DuckDB")
        return handler(self, node)

    def _constant(self, node: exp.Expr) -> Lowered:
        """Whatever depends on the spec alone, DuckDB has computed before the code is written."""
        type_ = self.type_of(node)
        query = f"select {self.checker.emitter.text(node, typed_null)}"
        try:
            value = self.checker.oracle.compute(query)[0][0]
        except Rejected as reason:
            raise NoTwin(str(reason)) from None
        return Lowered(py.literal(value), type_, value is None)

    def _lookup(self, node: Lookup) -> Lowered:
        cell, name = cell_of(node), node.args["field"]
        found = self.find(node.name, node.expressions)
        column = self.tables[node.name].column(name)
        if self.is_there(found) and column is not None:
            return Lowered(py.item(found, name), cell.type, column.optional)
        return Lowered(py.call("sql.field", found, ast.Constant(name)), cell.type, True)

    def name_of(self, row: ast.expr) -> str | None:
        """The name of a row that was found before, and is as it was; None for any other expression."""
        return row.id if isinstance(row, ast.Name) and row.id in self.found.values() else None

    def is_there(self, row: ast.expr) -> bool:
        """Whether a row that was looked for cannot be missing."""
        return self.name_of(row) is not None or (isinstance(row, ast.Call) and py.source(row.func) == "call.single")

    def is_held(self, path: str) -> bool:
        """Whether a value is one that a column or an argument holds, and not computed in between."""
        head = path.split(".")[0]
        shape = self.values.get(head)
        return head in self.arguments or (isinstance(shape, Row) and shape.table is not None)

    def forget(self, table: str) -> None:
        """Rows of this table are not what they were: it is written to."""
        self.found = {place: name for place, name in self.found.items() if place[0] != table}

    def find(self, table: str, keys: list[exp.Expr] | tuple[exp.Expr, ...]) -> ast.expr:
        """`call.find(TABLE, key)`, or the name of the row where it was found before; `call.single(TABLE)`."""
        if self.tables[table].single:
            return py.call("call.single", py.name(table.upper()))
        parts: list[ast.expr] = []
        for key, column in zip(keys, self.tables[table].key, strict=True):
            lowered = self.value(key)
            if lowered.type.sql != column.type.sql:
                raise NoTwin(f"the key {column.name} is {column.type}, not {lowered.type}")
            parts.append(lowered.node)
        whole = parts[0] if len(parts) == 1 else ast.Tuple(parts, ast.Load())
        name = self.found.get((table, py.source(whole)))
        return py.name(name) if name else py.call("call.find", py.name(table.upper()), whole)

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


def _part(shape: Shape | None, name: str) -> Cell | None:
    """What a column of a row, or a field of a record, can be; None where that is not known."""
    if isinstance(shape, Row):
        return shape.columns.get(name)
    if isinstance(shape, Cell) and isinstance(shape.type, Record) and (field := shape.type.field(name)):
        return Cell(field.type, field.optional)
    return None
