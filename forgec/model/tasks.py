"""`task` blocks: how an episode begins, what the user wants and knows, plans, and what is looked at afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from forgec.diagnostics import Label, did_you_mean
from forgec.model.calls import fits, known_world, result_of, unknown_tool
from forgec.model.given import any_given, common, given, nullable, one_of
from forgec.model.graph import in_order, names_in, taken
from forgec.model.messages import build_message
from forgec.model.names import Names, check_name
from forgec.model.spec import (
    CallNode,
    Expect,
    Fact,
    Given,
    Message,
    Never,
    Parameter,
    Plan,
    ReasonNode,
    Request,
    Sample,
    Says,
    Task,
    Tool,
    World,
)
from forgec.sql.check import SqlChecker
from forgec.sql.nulls import may_be_null
from forgec.sql.query import Insert, Sql, values_in
from forgec.sql.scope import Cell, Rows, Scope, Shape
from forgec.syntax import nodes

N = TypeVar("N", bound=nodes.Part)
T = TypeVar("T")


def build_task(
    item: nodes.Task, tools: Mapping[str, Tool], worlds: Mapping[str, World], checker: SqlChecker, scope: Scope
) -> Task | None:
    """The task with its plans in an order that respects every edge; None when something was reported."""
    before = len(checker.report)
    if not known_world(item.world, worlds, checker.report):
        return None
    task = _Task(item, tools, checker, scope).task()
    return None if len(checker.report) > before else task


def _built(build: Callable[[N], T | None], parts: Iterable[N]) -> tuple[T, ...]:
    """What is made of parts, without those about which something was reported."""
    return tuple(made for part in parts if (made := build(part)) is not None)


class _Task:
    """What is known so far while one task is built."""

    def __init__(self, item: nodes.Task, tools: Mapping[str, Tool], checker: SqlChecker, scope: Scope) -> None:
        self.item = item
        self.tools = tools
        self.checker = checker
        self.report = checker.report
        self.scope = scope

    def _parts(self, kind: type[N]) -> list[N]:
        return [part for part in self.item.parts if isinstance(part, kind)]

    def task(self) -> Task | None:
        item = self.item
        samples = _built(self._sample, self._parts(nodes.Sample))
        facts = _built(self._fact, self._parts(nodes.Fact))
        intent = self._intent()
        change = self._change()
        known = self.scope
        plans = self._plans()
        if plans is None:
            return None
        self._common(known, [scope for _, scope in plans], [plan for plan, _ in plans])
        requests = self._requests()
        expect = _built(self._expect, self._parts(nodes.Expect))
        says = _built(self._says, self._parts(nodes.Says))
        never = _built(self._never, self._parts(nodes.Never))
        return Task(
            name=item.name.text,
            doc=item.doc.value if item.doc else "",
            span=item.name.span,
            world=item.world.text,
            intent=intent,
            tags=self._tags(),
            requests=requests,
            samples=samples,
            facts=facts,
            change=change,
            plans=tuple(plan for plan, _ in plans),
            expect=expect,
            says=says,
            never=never,
        )

    # -- what the user wants and knows -------------------------------------------------------------------------

    def _intent(self) -> Message | None:
        found, requests = self._parts(nodes.Intent), self._parts(nodes.Request)
        if len(found) > 1 or not (found or requests):
            message = "a task has one intent" if found else "a task has an intent or requests"
            hint = 'say what the user wants: intent """You want to ..."""'
            self.report.error("AFS701", message, self.item.name.span, help=hint)
        return self._told(found[0].text) if found else None

    def _told(self, message: nodes.Message) -> Message | None:
        """A text for the user, with values of samples and facts alone."""
        found = build_message(message, self.checker, Scope(self.scope.tables, self.scope.functions, self.scope.values))
        for hole in found.holes if found is not None else ():
            if hole.sql.reads:
                hint = "draw the row: sample member from members where ...;"
                self.report.error("AFS703", "a text holds values of samples and facts", hole.sql.span, help=hint)
                return None
        return found

    def _tags(self) -> tuple[str, ...]:
        names = Names("tag", self.report)
        return tuple(name.text for part in self._parts(nodes.Tags) for name in part.names if names.add(name))

    def _requests(self) -> tuple[Request, ...]:
        names, found = Names("request", self.report), list[Request]()
        for part in self._parts(nodes.Request):
            after = [name for name in part.after if self._is_above(name, found)]
            when = self._condition(part.condition)
            text = self._told(part.text)
            if names.add(part.name) and text is not None:
                earlier = tuple(name.text for name in after)
                found.append(Request(name=part.name.text, span=part.name.span, text=text, after=earlier, when=when))
        return tuple(found)

    def _is_above(self, name: nodes.Name, found: Iterable[Request]) -> bool:
        above = [request.name for request in found]
        if name.text not in above:
            hint = did_you_mean(name.text, above) or "a request comes after those that stand above it"
            self.report.error("AFS704", f"unknown request `{name}`", name.span, help=hint)
        return name.text in above

    def _fact(self, part: nodes.Fact) -> Fact | None:
        found = self._fact_value(part)
        if found is None:
            self.report.give_up(part.name.text)
            return None
        value, cell = found
        told = self._told(part.doc) if part.doc is not None else Message(parts=())
        self.scope = self.scope.with_value(part.name.text, cell)
        if told is None:
            return None
        return Fact(name=part.name.text, doc=told.text, span=part.span, cell=cell, value=value, told=told)

    def _fact_value(self, part: nodes.Fact) -> tuple[Given, Cell] | None:
        if not check_name(part.name, "fact", self.report) or taken(part.name, self.scope, self.report):
            return None
        value = given(part.value, self.checker, Scope(self.scope.tables, self.scope.functions, self.scope.values))
        if value is None:
            return None
        if isinstance(value, Sql) and value.reads:
            hint = "write the value itself, or draw it: sample order from orders;"
            self.report.error("AFS703", "a fact is a constant", value.span, help=hint)
            return None
        cell = value.shape if isinstance(value, Sql) else value.cell
        assert isinstance(cell, Cell)
        return value, Cell(cell.type, cell.optional, cell.references)

    # -- how an episode begins ---------------------------------------------------------------------------------

    def _sample(self, part: nodes.Sample) -> Sample | None:
        name = part.name
        sound = check_name(name, "sample", self.report) and not taken(name, self.scope, self.report)
        sql = self.checker.any(part.sql, self.scope) if sound else None
        if sql is None or not isinstance(sql.shape, Rows):
            self.report.give_up(name.text)
            return None
        shape = one_of(sql.shape)
        shape = shape if isinstance(shape, Cell) else type(shape)(shape.columns, False, shape.table)
        self.scope = self.scope.with_value(name.text, shape)
        doc = part.doc.value if part.doc else ""
        return Sample(name=name.text, doc=doc, span=part.span, sql=sql, shape=shape)

    def _change(self) -> tuple[Sql, ...]:
        found = []
        for part in self._parts(nodes.Change):
            for write in part.writes:
                sql = self.checker.change(write.sql, self.scope)
                if sql is not None and isinstance(sql.change, Insert) and sql.change.returning:
                    self.report.error("AFS407", "nothing takes what this returns", write.span, help="leave it out")
                elif sql is not None:
                    found.append(sql)
        return tuple(found)

    # -- plans -------------------------------------------------------------------------------------------------

    def _plans(self) -> list[tuple[Plan, Scope]] | None:
        """The plans, each with the values that are known at its end; None when one is not sound."""
        parts = self._parts(nodes.Plan)
        if not parts:
            hint = "say how it is done: plan { a = some_tool(some_parameter: 'value'); }"
            self.report.error("AFS702", "a task has a plan", self.item.name.span, help=hint)
            return None
        names = Names("plan", self.report)
        found = []
        for number, part in enumerate(parts):
            if part.name is None and number > 0:
                related = [Label(parts[0].span, "the plan that is gold")]
                hint = 'say what is different: plan other "The policy allows this, too" { ... }'
                self.report.error("AFS702", "another plan has a name", part.span, help=hint, related=related)
                return None
            if part.name is not None and not names.add(part.name):
                return None
            if not part.nodes:
                self.report.error("AFS702", "this plan is empty", part.span)
            ordered = in_order(part.nodes, self.scope, self.report)
            if ordered is None:
                return None
            found.append(_Nodes(self, self.scope).plan(part, ordered))
        return found

    def _common(self, known: Scope, scopes: list[Scope], plans: list[Plan]) -> None:
        """From here on the values are those that every plan has; others are reported where they are used."""
        first, *others = scopes
        self.scope = known
        for name, own in first.values.items():
            shape: Shape | None = own
            for scope in others:
                shape = common(shape, scope.values.get(name)) if shape is not None else None
            if shape is not None:
                self.scope = self.scope.with_value(name, shape)
        self.plans = plans
        self.lacking = {
            name: next((plan for plan, scope in zip(plans, scopes, strict=True) if name not in scope.values), None)
            for scope in scopes
            for name in scope.values
            if name not in self.scope.values
        }

    def _is_known(self, *values: nodes.Given | None) -> bool:
        """Whether every plan has all the nodes that some values refer to."""
        for name in names_in(*values):
            if name.text in self.lacking:
                plan = self.lacking[name.text]
                which = "" if plan is None else f" `{plan.name}`" if plan.name else ""
                message = f"the plan{which} has no node `{name}`"
                if plan is None:
                    message = f"`${name}` is something else in each plan"
                hint = "what is looked at afterwards refers to nodes that all plans have"
                self.report.error("AFS709", message, name.span, help=hint)
                return False
        return True

    # -- what is looked at afterwards --------------------------------------------------------------------------

    def _condition(self, node: nodes.SqlText | None) -> Sql | None:
        if node is None or not self._is_known(node):
            return None
        return self.checker.condition(node, self.scope)

    def _expect(self, part: nodes.Expect) -> Expect | None:
        sql = self._condition(part.sql)
        return Expect(sql=sql, span=part.span) if sql is not None else None

    def _says(self, part: nodes.Says) -> Says | None:
        value = given(part.value, self.checker, self.scope) if self._is_known(part.value) else None
        return Says(doc=part.doc.value if part.doc else "", value=value, span=part.span) if value is not None else None

    def _never(self, part: nodes.Never) -> Never | None:
        tool = self.tools.get(part.tool.text)
        if tool is None:
            unknown_tool(part.tool, self.tools, self.report)
            return None
        if not self._is_known(*(argument.value for argument in part.arguments)):
            return None
        arguments = build_arguments(part.arguments, tool, self.checker, self.scope)
        return None if arguments is None else Never(tool=tool.name, arguments=arguments, span=part.span)


class _Nodes:
    """The nodes of one plan, each seeing the values of those before it."""

    def __init__(self, task: _Task, scope: Scope) -> None:
        self.tools = task.tools
        self.checker = task.checker
        self.report = task.report
        self.scope = scope
        self.skipped: set[str] = set()
        """The nodes that may be skipped."""

    def plan(self, part: nodes.Plan, ordered: list[nodes.CallNode | nodes.ReasonNode]) -> tuple[Plan, Scope]:
        """The plan, and what is known at its end."""
        built = list[CallNode | ReasonNode]()
        for node in ordered:
            when = self.checker.condition(node.condition, self.scope) if node.condition is not None else None
            if node.condition is not None and when is None:
                self.report.give_up(node.name.text)
            elif isinstance(node, nodes.ReasonNode):
                built.extend(self._reason(node, when))
            else:
                built.extend(self._call(node, when))
            if node.condition is not None and node.name.text in self.scope.values:
                self.skipped.add(node.name.text)
                self.scope = self.scope.with_value(node.name.text, nullable(self.scope.values[node.name.text]))
        name, doc = (part.name.text if part.name else ""), (part.doc.value if part.doc else "")
        return Plan(name=name, doc=doc, span=part.span, nodes=tuple(built)), self.scope

    def _reason(self, node: nodes.ReasonNode, when: Sql | None) -> Iterator[ReasonNode]:
        found = any_given(node.value, self.checker, self.scope, many=node.many)
        if found is None:
            self.report.give_up(node.name.text)
            return
        value, shape = found
        self.scope = self.scope.with_value(node.name.text, shape)
        doc, after = (node.doc.value if node.doc else ""), tuple(name.text for name in node.after)
        yield ReasonNode(name=node.name.text, doc=doc, span=node.span, value=value, shape=shape, when=when, after=after)

    def _call(self, node: nodes.CallNode, when: Sql | None) -> Iterator[CallNode]:
        tool = self.tools.get(node.tool.text)
        before = self.scope
        self.scope = result_of(tool, self.scope, node.name.text)
        if tool is None:
            unknown_tool(node.tool, self.tools, self.report)
            self.report.give_up(node.name.text)
            return
        arguments = build_arguments(node.arguments, tool, self.checker, before)
        if arguments is not None:
            arguments = complete(arguments, node, tool, self.checker)
        if arguments is None or tool.name in self.report.broken:
            self.report.give_up(node.name.text)
            return
        if node.condition is None:
            self._check_skipped(arguments, tool)
        after = tuple(name.text for name in node.after)
        yield CallNode(name=node.name.text, span=node.span, tool=tool.name, arguments=arguments, when=when, after=after)

    def _check_skipped(self, arguments: Mapping[str, Given], tool: Tool) -> None:
        """What must be there is not taken from a node that may be skipped."""
        optional = {parameter.name for parameter in tool.parameters if parameter.optional}
        for name, value in arguments.items():
            if name in optional or not isinstance(value, Sql) or not may_be_null(value.expression):
                continue
            skipped = [head for head in _heads(value) if head in self.skipped]
            if skipped:
                hint = "give the call a condition, too, or say what else to take: coalesce(..., ...)"
                message = f"`{name}` is never null, and `{skipped[0]}` may be skipped"
                self.report.error("AFS706", message, value.span, help=hint)


def _heads(value: Sql) -> list[str]:
    """The names of the values that a piece of SQL refers to."""
    return [node.name.partition(".")[0] for node in values_in(value.expression)]


def build_arguments(
    named: Iterable[nodes.Named], tool: Tool, checker: SqlChecker, scope: Scope
) -> dict[str, Given] | None:
    """Arguments that the tool has, of the right types; None when something was reported."""
    report, parameters = checker.report, {parameter.name: parameter for parameter in tool.parameters}
    arguments, sound = dict[str, Given](), True
    for argument in named:
        name = argument.name
        parameter = parameters.get(name.text)
        if parameter is None:
            hint = did_you_mean(name.text, parameters)
            if hint is None:
                hint = f"it takes {', '.join(f'`{known}`' for known in parameters)}" if parameters else "it takes none"
            message = f"`{tool.name}` has no parameter `{name}`"
            report.error("AFS215", message, name.span, help=hint, about=name.text)
            sound = False
        elif name.text in arguments:
            report.error("AFS208", f"`{name}` is given twice", name.span)
            sound = False
        else:
            value = _argument(argument, parameter, checker, scope)
            sound = sound and value is not None
            if value is not None:
                arguments[name.text] = value
    return arguments if sound else None


def _argument(argument: nodes.Named, parameter: Parameter, checker: SqlChecker, scope: Scope) -> Given | None:
    value = given(argument.value, checker, scope, parameter.type)
    if isinstance(value, Sql):
        placed = replace(value, span=argument.value.span)
        return value if fits(placed, parameter, checker.report) else None
    if value is not None and value.value is None and not parameter.optional:
        checker.report.error("AFS301", f"`{parameter.name}` is never null", argument.value.span)
        return None
    return value


def complete(
    arguments: dict[str, Given], node: nodes.CallNode, tool: Tool, checker: SqlChecker
) -> dict[str, Given] | None:
    """The arguments, if none is missing."""
    missing = [p.name for p in tool.parameters if not p.optional and p.default is None and p.name not in arguments]
    for name in missing:
        checker.report.error("AFS216", f"`{tool.name}` needs `{name}`", node.span, "the argument is missing")
    return None if missing else arguments
