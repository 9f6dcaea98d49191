"""The plan of a whole environment: every function and query of the package to generate."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from forgec.diagnostics import Report
from forgec.model import spec as m
from forgec.plans import python as py
from forgec.plans.body import action_function, annotation, returning, tool_function
from forgec.plans.checks import check_lines
from forgec.plans.expression import Lowering
from forgec.plans.function import FunctionPlan
from forgec.plans.names import OURS, Constants, free
from forgec.plans.query import QueryPlan, template
from forgec.plans.tasks import TaskPlan, plan_task
from forgec.sql.check import SqlChecker
from forgec.sql.emit import Emitter
from forgec.sql.oracle import Oracle
from forgec.sql.tree import exp


@dataclass(frozen=True)
class PackagePlan:
    spec: m.Spec
    constants: Constants
    tools: dict[str, FunctionPlan]
    functions: tuple[FunctionPlan, ...]
    actions: tuple[FunctionPlan, ...]
    syncs: tuple[FunctionPlan, ...]
    checks: dict[str, FunctionPlan]
    invariants: tuple[tuple[m.Invariant, QueryPlan], ...]
    tasks: tuple[TaskPlan, ...]


def plan_package(spec: m.Spec) -> PackagePlan:
    """Plan everything that a package holds."""
    planner = _Planner(spec)
    return PackagePlan(
        spec,
        planner.constants,
        {name: tool_function(tool, spec.rules, planner.lowering(tool)) for name, tool in spec.tools.items()},
        tuple(planner.function(function) for function in spec.functions.values()),
        tuple(planner.action(action) for action in spec.actions.values()),
        tuple(planner.sync(sync) for sync in spec.syncs.values()),
        {name: check for name, table in spec.tables.items() if (check := planner.check(table)) is not None},
        tuple((invariant, planner.invariant(invariant)) for invariant in spec.invariants),
        tuple(plan_task(task, spec, planner.checker.emitter) for task in spec.tasks.values()),
    )


def plan_tasks(spec: m.Spec) -> tuple[TaskPlan, ...]:
    """Plan the tasks alone."""
    emitter = Emitter(spec.tables, spec.functions, spec.clock)
    return tuple(plan_task(task, spec, emitter) for task in spec.tasks.values())


class _Planner:
    def __init__(self, spec: m.Spec) -> None:
        self.spec = spec
        emitter = Emitter(spec.tables, spec.functions, spec.clock)
        self.checker = SqlChecker(Oracle(spec.tables.values()), Report(), emitter)
        self.constants = Constants.of(spec)
        schema = {*self.constants.tables.values(), *self.constants.types.values()}
        self.taken = {
            "functions": set(schema), "actions": set(schema), "schema": set(schema), "syncs": {"SYNCS", *schema},
            "init": {*OURS, *schema, *self.constants.tools.values()},
        }  # fmt: skip
        """The names of the constants of each module that holds queries of many declarations."""

    def lowering(self, tool: m.Tool | None = None, module: str = "schema") -> Lowering:
        taken = self.taken[module] | ({self.constants.tools[tool.name]} if tool is not None else set())
        actions = {name: f"actions.{function}" for name, function in self.constants.actions.items()}
        return Lowering(self.spec.tables, self.spec.functions, self.checker, taken=frozenset(taken), actions=actions)

    def function(self, function: m.Function) -> FunctionPlan:
        low = self.lowering(module="functions")
        low.purpose = function.name
        low.prefix = ""
        for parameter in function.parameters:
            low.values[parameter.name] = parameter.cell
            if parameter.name in self.spec.functions:
                low.rows[parameter.name] = f"{parameter.name}_"
        returns = annotation(function.returns)
        value = low.value(function.sql.expression).node
        lines = tuple(returning(value, returns))
        arguments = tuple(
            (low.rows.get(p.name) or py.identifier(p.name), annotation(p.cell)) for p in function.parameters
        )
        self.taken["functions"].update(low.constants())
        name = py.identifier(function.name)
        return FunctionPlan(name, arguments, returns, function.doc, (lines,), tuple(low.queries), tuple(low.indexes))

    def action(self, action: m.Action) -> FunctionPlan:
        low = self.lowering(module="actions")
        low.actions = self.constants.actions
        plan = action_function(action, self.constants.actions[action.name], low)
        self.taken["actions"].update(query.name for query in plan.queries)
        return plan

    def sync(self, sync: m.Tool) -> FunctionPlan:
        low = self.lowering(module="syncs")
        planned = tool_function(sync, (), low)
        self.taken["syncs"].update(low.constants())
        return planned

    def check(self, table: m.Table) -> FunctionPlan | None:
        """A function that refuses a row which breaks a `check` of its table."""
        low = self.lowering()
        low.values["row"] = table.row
        low.rows["row"] = "row"
        low.purpose = f"check_{table.name}"
        lines: list[ast.stmt] = []
        for column in table.columns:
            for check in column.checks:
                lines.extend(check_lines(low, check, f"{table.title}: ", _violation))
        if not lines:
            return None
        self.taken["schema"].update(query.name for query in low.queries)
        row = (("row", f"{row_class(table)}"),)
        doc = f"What every row of `{table.title}` satisfies."
        return FunctionPlan(f"check_{table.name}", row, "None", doc, (tuple(lines),), tuple(low.queries))

    def invariant(self, invariant: m.Invariant) -> QueryPlan:
        return self._query("init", invariant.name.upper(), invariant.sql.expression, rows=False)

    def _query(self, module: str, wanted: str, tree: exp.Expr, *, rows: bool) -> QueryPlan:
        name = free(wanted, self.taken[module])
        self.taken[module].add(name)
        made = template(tree, self.checker.emitter, rows=rows)
        values = tuple((path.replace(".", "__"), type_) for path, type_ in made.values)
        return QueryPlan(name, made.text, made.tables, values, made.columns, made.order)


def check_text(table: m.Table, check: m.Check) -> str:
    """What an agent reads when a row breaks a check."""
    return f"{table.title}: {check.whole_text}"


def _violation(text: ast.expr) -> ast.stmt:
    return ast.Raise(py.call("call.violation", text))


def row_class(table: m.Table) -> str:
    """The name of the class of a table's rows."""
    return re.sub("(?:^|_)([a-z])", lambda match: match[1].upper(), table.name) + "Row"
