"""Syntax to model: resolves every name and type of one spec, in the order in which they build on each other."""

from __future__ import annotations

import datetime
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from forgec.diagnostics import Label, Report
from forgec.files.data import DataFiles
from forgec.files.gather import Gathered
from forgec.model import spec as m
from forgec.model.bodies import build_action, build_tool
from forgec.model.calls import unknown_tool
from forgec.model.data_rows import DataRows
from forgec.model.domains import build_domain, claimed
from forgec.model.happenings import check_bases
from forgec.model.names import Names
from forgec.model.syncs import build_sync
from forgec.model.tables import build_tables, check_columns
from forgec.model.tasks import build_task
from forgec.model.tests import build_test
from forgec.model.types import TypeResolver
from forgec.model.worlds import build_world
from forgec.source import Span
from forgec.sql.check import SqlChecker
from forgec.sql.constants import constant
from forgec.sql.emit import Emitter
from forgec.sql.nulls import may_be_null
from forgec.sql.oracle import Oracle
from forgec.sql.query import Sql, as_type
from forgec.sql.scope import Cell, Scope
from forgec.sql.size import size_of
from forgec.sql.tree import Clock
from forgec.syntax import nodes
from forgec_runtime.types import Enum, Timestamp

if TYPE_CHECKING:
    from forgec.bulk.reading import Line

N = TypeVar("N", bound=nodes.Item)
DEFAULT_CLOCK = datetime.datetime(2025, 1, 1)


def build(gathered: Gathered, report: Report, data: DataFiles) -> m.Spec | None:
    """The model of a spec, with the files of `data` that it names; None when anything was reported as an error."""
    spec = _Build(gathered, report, data).spec()
    return None if report.failed else spec


class _Build:
    """What is known so far while one spec is built."""

    def __init__(self, gathered: Gathered, report: Report, data: DataFiles) -> None:
        self.file = gathered.file
        self.sources = gathered.sources
        self.bulk = gathered.tasks
        self.data = data
        self.report = report
        self.types = TypeResolver(report)
        self.tables: dict[str, m.Table] = {}
        self.views: dict[str, m.View] = {}
        self.functions: dict[str, m.Function] = {}

    def _items(self, kind: type[N]) -> list[N]:
        return [item for item in self.file.items if isinstance(item, kind)]

    def spec(self) -> m.Spec | None:
        environment = self._environment()
        if environment is None:
            return None
        clock = self._clock(environment)
        self._named_types(clock)
        self.tables = build_tables(self._items(nodes.Table), self.types, self.report)
        self.types.tables = self.tables
        oracle = Oracle(self.tables.values())
        checker = SqlChecker(oracle, self.report, Emitter(self.tables, self.functions, clock))
        scope = Scope(self.tables, self.functions, views=self.views)
        check_columns(self._items(nodes.Table), self.tables, checker, scope)
        self._views_and_functions(checker, scope)
        invariants = self._invariants(checker, scope)
        scope = replace(scope, actions=self._actions(checker, scope))
        tools = self._tools(checker, scope)
        syncs = self._syncs(checker, scope)
        rules = self._rules(tools, checker, scope)
        worlds = self._worlds(checker, scope)
        tests = [build_test(test, tools, worlds, checker, scope) for test in self._items(nodes.Test)]
        self._check_titles()
        tasks = self._tasks(tools, worlds, checker, scope)
        for what, found in (("tool", tools), ("world", worlds)):
            if not found and not self.report.failed:
                self.report.error("AFS212", f"this spec declares no {what}", environment.name.span)
        return m.Spec(
            name=environment.name.text,
            doc=environment.doc.value if environment.doc else "",
            span=environment.span,
            source=self.sources[0],
            sources=self.sources,
            clock=clock,
            policy=self._policy(),
            enums=self.types.enums,
            records=self.types.records,
            domains=self.types.domains,
            tables=self.tables,
            invariants=tuple(invariants),
            views=self.views,
            functions=self.functions,
            actions=dict(scope.actions),
            tools=tools,
            syncs=syncs,
            rules=tuple(rules),
            worlds=worlds,
            tests=tuple(test for test in tests if test),
            tasks=tasks,
        )

    # -- head --------------------------------------------------------------------------------------------------

    def _environment(self) -> nodes.Environment | None:
        found = self._items(nodes.Environment)
        if not found:
            first = self.file.items[0].span if self.file.items else self.file.span
            place = Span(first.source, first.start, first.start + len(first.text.split()[0]))
            if not self.report.failed:
                example = 'environment library "Front desk of a public library" { }'
                hint = f"begin with `{example}`, or name a spec that uses this file"
                self.report.error("AFS210", "this spec declares no environment", place, help=hint)
            return None
        for again in found[1:]:
            related = [Label(found[0].name.span, "the first one")]
            self.report.error("AFS208", "a spec declares one environment", again.name.span, related=related)
        Names("environment", self.report).add(found[0].name)
        return found[0]

    @cached_property
    def _tableless(self) -> Oracle:
        """Judges what stands above all tables."""
        return Oracle()

    def _clock(self, environment: nodes.Environment) -> datetime.datetime:
        clock = DEFAULT_CLOCK
        for setting in environment.settings:
            if setting.name.text != "clock":
                self.report.error(
                    "AFS211", f"unknown setting `{setting.name}`", setting.name.span, help="known is `clock`"
                )
                continue
            checker = SqlChecker(self._tableless, self.report, Emitter({}, {}, clock))
            sql = checker.expression(setting.value, Scope({}, {}))
            if sql is None:
                continue
            assert isinstance(sql.shape, Cell)
            is_time = sql.shape.type == Timestamp() and sql.expression.find(Clock) is None
            value = constant(sql.expression, Timestamp(), checker, setting.value.span) if is_time else None
            if type(value) is not datetime.datetime:
                hint = "such as timestamp '2025-03-01 09:00:00'"
                self.report.error("AFS301", "a clock is a timestamp", setting.value.span, help=hint)
            else:
                clock = value
        return clock

    def _policy(self) -> str:
        found = self._items(nodes.Policy)
        for again in found[1:]:
            related = [Label(found[0].span, "the first one")]
            self.report.error("AFS208", "a spec has one policy", again.span, related=related)
        return found[0].text.value if found else ""

    def _named_types(self, clock: datetime.datetime) -> None:
        names = Names("type", self.report)
        declared = (nodes.Enum, nodes.Record, nodes.Domain)
        self.types.declared = frozenset(item.name.text for item in self.file.items if isinstance(item, declared))
        checker = SqlChecker(self._tableless, self.report, Emitter({}, {}, clock))
        made_of_others = sorted(self.file.items, key=lambda item: not isinstance(item, nodes.Enum))
        for item in made_of_others:
            if not isinstance(item, declared) or not names.add(item.name, lower=False):
                continue
            if isinstance(item, nodes.Enum):
                self._enum(item)
                continue
            if isinstance(item, nodes.Domain):
                made = build_domain(item, self.types, checker)
            else:
                made = self.types.add_record(item.name.text, item.fields, _doc(item.doc))
            if not made:
                self.report.give_up(item.name.text)

    def _enum(self, item: nodes.Enum) -> None:
        values: dict[str, nodes.Variant] = {}
        for variant in item.variants:
            if variant.value in values:
                related = [Label(values[variant.value].span, "first here")]
                self.report.error("AFS208", f"the value '{variant.value}' stands twice", variant.span, related=related)
            values.setdefault(variant.value, variant)
        self.types.enums[item.name.text] = Enum(item.name.text, tuple(values), _doc(item.doc))

    # -- behaviour ---------------------------------------------------------------------------------------------

    def _views_and_functions(self, checker: SqlChecker, scope: Scope) -> None:
        """In order: each may use those before it, so that none can recurse."""
        views, functions = Names("view", self.report), Names("function", self.report)
        items = [item for item in self.file.items if isinstance(item, nodes.View | nodes.Function)]
        for i, item in enumerate(items):
            scope = replace(scope, later=frozenset(later.name.text for later in items[i:]))
            if isinstance(item, nodes.View):
                if views.add(item.name):
                    self._view(item, checker, scope)
            elif functions.add(item.name):
                self._function(item, checker, scope)

    def _view(self, item: nodes.View, checker: SqlChecker, scope: Scope) -> None:
        name = item.name.text
        if name in self.tables:
            related = [Label(self.tables[name].span, "the table")]
            self.report.error("AFS208", f"`{name}` is already the name of a table", item.name.span, related=related)
            return
        found = checker.view(item.sql, scope)
        if found is None:
            self.report.give_up(name)
            return
        sql, columns = found
        self.views[name] = m.View(name=name, doc=_doc(item.doc), span=item.name.span, sql=sql, columns=columns)

    def _function(self, item: nodes.Function, checker: SqlChecker, scope: Scope) -> None:
        parameters = self._parameters(item.parameters, checker, scope)
        returns = self.types.cell(item.returns)
        if returns is None:
            self.report.give_up(item.name.text)
            return
        inner = scope
        for parameter in parameters:
            inner = inner.with_value(parameter.name, parameter.cell)
        sql = checker.expression(item.sql, inner, returns.type)
        if sql is None:
            self.report.give_up(item.name.text)
            return
        sql = as_type(sql, returns.type)
        returns = Cell(returns.type, may_be_null(sql.expression), returns.references)
        self.functions[item.name.text] = m.Function(
            name=item.name.text,
            doc=_doc(item.doc),
            span=item.name.span,
            parameters=parameters,
            returns=returns,
            sql=sql,
            size=size_of(sql.expression, self.functions),
        )

    def _parameters(
        self, items: tuple[nodes.Parameter, ...], checker: SqlChecker, scope: Scope
    ) -> tuple[m.Parameter, ...]:
        names = Names("parameter", self.report)
        parameters: list[m.Parameter] = []
        for item in items:
            if not names.add(item.name) or (item.row and not names.add(item.row)):
                self.report.give_up(item.name.text, *([item.row.text] if item.row else []))
                continue
            is_reference = isinstance(item.type, nodes.Reference)
            cell = (
                self.types.reference(item.type)
                if isinstance(item.type, nodes.Reference)
                else self.types.cell(item.type)
            )
            if cell is None:
                self.report.give_up(item.name.text, *([item.row.text] if item.row else []))
                continue
            default = checker.expression(item.default, scope, cell.type, data=True) if item.default else None
            value = None
            if item.default and default is not None and default.reads:
                self.report.error("AFS703", "a default is a constant", item.default.span, help="use `coalesce`")
            elif item.default and default is not None:
                value = constant(default.expression, cell.type, checker, item.default.span)
            parameters.append(
                m.Parameter(
                    name=item.name.text,
                    doc=_doc(item.doc) or self.types.doc(item.type),
                    span=item.name.span,
                    type=cell.type,
                    optional=cell.optional,
                    domain=cell.domain,
                    checks=claimed(cell, item.name.text),
                    references=cell.references if is_reference else None,
                    row=item.row.text if item.row else None,
                    default=default,
                    value=value,
                )
            )
        return tuple(parameters)

    def _invariants(self, checker: SqlChecker, scope: Scope) -> list[m.Invariant]:
        names = Names("invariant", self.report)
        invariants = []
        for item in self._items(nodes.Invariant):
            sql = checker.condition(item.sql, scope) if names.add(item.name) else None
            if sql is not None:
                doc = _doc(item.doc)
                invariants.append(m.Invariant(name=item.name.text, doc=doc, span=item.name.span, sql=sql))
        return invariants

    def _actions(self, checker: SqlChecker, scope: Scope) -> dict[str, m.Action]:
        """In order: an action may do those before it, so that none can do itself."""
        names = Names("action", self.report)
        actions: dict[str, m.Action] = {}
        items = self._items(nodes.Action)
        for i, item in enumerate(items):
            if not names.add(item.name):
                continue
            later = frozenset(later.name.text for later in items[i:])
            parameters = self._parameters(item.parameters, checker, scope)
            known = replace(scope, actions=actions, later_actions=later)
            action = build_action(item, parameters, self.types, checker, known)
            if action is None or len(parameters) < len(item.parameters):
                self.report.give_up(item.name.text)
            else:
                actions[item.name.text] = action
        return actions

    def _tools(self, checker: SqlChecker, scope: Scope) -> dict[str, m.Tool]:
        names = Names("tool", self.report)
        tools: dict[str, m.Tool] = {}
        for item in self._items(nodes.Tool):
            if names.add(item.name):
                parameters = self._parameters(item.parameters, checker, scope)
                result = self.types.results(item.returns) if item.returns else None
                if item.returns and result is None:
                    self.report.give_up(item.name.text)
                tools[item.name.text] = build_tool(item, parameters, result, self.types, checker, scope)
        return tools

    def _syncs(self, checker: SqlChecker, scope: Scope) -> dict[str, m.Tool]:
        names = Names("sync", self.report)
        syncs = {}
        for item in self._items(nodes.Sync):
            sync = build_sync(item, self.types, checker, scope) if names.add(item.name) else None
            if sync is not None:
                syncs[sync.name] = sync
        return syncs

    def _rules(self, tools: dict[str, m.Tool], checker: SqlChecker, scope: Scope) -> list[m.Rule]:
        names = Names("rule", self.report)
        rules = []
        for item in self._items(nodes.Rule):
            if not names.add(item.name):
                continue
            if item.doc is None:
                hint = "the text is what the agent reads, and what an enforced rule answers"
                self.report.error("AFS213", f"the rule `{item.name}` has no text", item.name.span, help=hint)
                continue
            sqls: dict[str, Sql] = {}
            for name in item.tools:
                tool = self._known_tool(name, tools)
                if tool is None:
                    continue
                inner = replace(scope, where=f" in `{name}`" if len(item.tools) > 1 else "")
                for parameter in tool.parameters:
                    inner = inner.with_value(parameter.name, parameter.cell)
                    if parameter.row and parameter.references:
                        inner = inner.with_value(parameter.row, self.tables[parameter.references].row)
                sql = checker.condition(item.sql, inner)
                if sql is not None:
                    sqls[name.text] = sql
            rules.append(
                m.Rule(name=item.name.text, doc=item.doc.value, span=item.name.span, verdict=item.verdict, sqls=sqls)
            )
        return rules

    def _known_tool(self, name: nodes.Name, tools: dict[str, m.Tool]) -> m.Tool | None:
        if name.text not in tools:
            unknown_tool(name, tools, self.report)
        return tools.get(name.text)

    # -- worlds, tests, tasks ----------------------------------------------------------------------------------

    def _worlds(self, checker: SqlChecker, scope: Scope) -> dict[str, m.World]:
        names = Names("world", self.report)
        worlds = {}
        data = DataRows(self.tables, self.data, self.report)
        for item in self._items(nodes.World):
            if names.add(item.name):
                worlds[item.name.text] = build_world(item, self.tables, data, checker, scope)
        check_bases(self._items(nodes.World), worlds, self.report)
        return worlds

    def _check_titles(self) -> None:
        seen: dict[str, nodes.Text] = {}
        for item in self._items(nodes.Test):
            first = seen.setdefault(item.title.value, item.title)
            if first is not item.title:
                related = [Label(first.span, "first here")]
                self.report.error("AFS208", "two tests have this title", item.title.span, related=related)

    def _tasks(
        self, tools: dict[str, m.Tool], worlds: dict[str, m.World], checker: SqlChecker, scope: Scope
    ) -> dict[str, m.Task]:
        names = Names("task", self.report)
        tasks = {}
        for item in self._items(nodes.Task):
            if names.add(item.name):
                if item.name.text in worlds:
                    self.report.error("AFS208", f"`{item.name}` is already the name of a world", item.name.span)
                task = build_task(item, tools, worlds, checker, scope)
                if task is not None:
                    tasks[item.name.text] = task
        if self.bulk is None:
            return tasks
        from forgec.bulk.reading import lines  # here, because most specs have none, and it brings pydantic

        for line in lines(self.bulk, self.report):
            task = self._bulk_task(line, names, tools, worlds, checker, scope)
            if task is not None:
                tasks[task.name] = task
        return tasks

    def _bulk_task(
        self,
        line: Line,
        names: Names,
        tools: dict[str, m.Tool],
        worlds: dict[str, m.World],
        checker: SqlChecker,
        scope: Scope,
    ) -> m.Task | None:
        """A task in bulk: built without places of its parts, and again with them if there is anything to report."""
        report, name = Report(), line.shape.name
        if name.lower() not in names.seen and name not in worlds:
            item = line.task(report)
            task = build_task(item, tools, worlds, replace(checker, report=report), scope)
            if task is not None and len(report) == 0 and names.check(item.name):
                return task
        places, report = line.places(), Report(broken=self.report.broken)
        item = line.task(report, places)
        if names.add(item.name):
            if name in worlds:
                self.report.error("AFS208", f"`{name}` is already the name of a world", item.name.span)
            build_task(item, tools, worlds, replace(checker, report=report), scope)
        self.report.diagnostics.extend(map(places.placed, report.diagnostics))
        return None


def _doc(text: nodes.Text | None) -> str:
    return text.value if text is not None else ""
