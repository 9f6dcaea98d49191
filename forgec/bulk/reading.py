"""Lines of a file to tasks, as the syntax tree has them."""

from __future__ import annotations

import decimal
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from forgec.bulk.places import Path, Places, shown
from forgec.bulk.shape import NeverShape, NodeShape, PlanShape, RequestShape, SayingShape, TaskShape
from forgec.diagnostics import Report, did_you_mean
from forgec.source import Source, Span
from forgec.syntax import nodes, text
from forgec.syntax.messages import message as message_at
from forgec.syntax.messages import sql_text
from forgec_runtime.data.documents import DECODER, Unreadable


@dataclass(frozen=True)
class Line:
    """A task in bulk: `task` makes it ready to be built, with the places of its parts if they are to be named."""

    source: Source
    start: int
    end: int
    shape: TaskShape

    def task(self, report: Report, places: Places | None = None) -> nodes.Task:
        """The task; what is wrong with its texts is reported. Without `places` all of it stands where the line does."""
        return _Task(self.shape, places or Places(self.source, self.start, self.end, exact=False), report).task()

    def places(self) -> Places:
        """Where the parts of the task stand."""
        return Places(self.source, self.start, self.end, exact=True)


def lines(source: Source, report: Report) -> Iterator[Line]:
    """The tasks of a file; a line that is none is reported."""
    start = 0
    for line in source.text.split("\n"):
        end = start + len(line)
        if line.strip():
            shape = _shape(source, start, end, report)
            if shape is not None:
                yield Line(source, start, end, shape)
        start = end + 1


def _shape(source: Source, start: int, end: int, report: Report) -> TaskShape | None:
    try:
        value = DECODER.decode(source.text[start:end])
    except json.JSONDecodeError as error:
        place = min(start + error.pos, max(end - 1, start))
        report.error("AFS710", f"this line is no JSON: {error.msg}", Span(source, place, place + 1))
        return None
    except Unreadable as error:
        report.error("AFS710", f"this line is no task: {error}", Span(source, start, end))
        return None
    except (ValueError, RecursionError, decimal.DecimalException):
        report.error("AFS710", "this line is no JSON that can be read", Span(source, start, end))
        return None
    try:
        return TaskShape.model_validate(value)
    except ValidationError as error:
        places = Places(source, start, end, exact=True)
        for one in error.errors(include_url=False)[:5]:
            _report_shape(one["type"], one["msg"], one["loc"], places, report)
        return None


def _report_shape(kind: str, message: str, path: Path, places: Places, report: Report) -> None:
    where, hint = shown(path) or "this line", None
    if kind == "extra_forbidden":
        message, hint = f"`{where}` means nothing here", did_you_mean(str(path[-1]), _names_at(path[:-1]))
    elif kind == "model_type":
        message = f"{where}: an object is expected"
    elif kind == "missing":
        message = f"`{where}` is missing"
    elif kind == "value_error":
        message = f"{where}: {message.removeprefix('Value error, ')}"
    else:
        message = f"{where}: {message[:1].lower()}{message[1:]}"
    report.error("AFS710", message, places.of(path), help=hint)


def _names_at(path: Path) -> list[str]:
    """What an object may have at a place."""
    keys = [part for part in path if isinstance(part, str)]
    kinds: dict[str, type] = {"plan": NodeShape, "nodes": NodeShape, "plans": PlanShape, "requests": RequestShape}
    kinds |= {"says": SayingShape, "never": NeverShape}
    shape: Any = kinds.get(keys[-1], TaskShape) if keys else TaskShape
    return list(shape.model_fields)


class _Task:
    """One task on its way to a syntax tree."""

    def __init__(self, shape: TaskShape, places: Places, report: Report) -> None:
        self.shape = shape
        self.places = places
        self.report = report

    def task(self) -> nodes.Task:
        shape = self.shape
        names = self._name(shape.name, "name"), self._name(shape.world, "world")
        return nodes.Task(self.places.line, *names, self._doc(shape.doc, "doc"), tuple(self._parts()))

    def _parts(self) -> Iterator[nodes.Part]:
        shape, of = self.shape, self.places.of
        if shape.intent is not None:
            yield nodes.Intent(of(("intent",)), self._message(shape.intent, "intent"))
        if shape.tags:
            tags = tuple(self._name(tag, "tags", i) for i, tag in enumerate(shape.tags))
            yield nodes.Tags(of(("tags",)), tags)
        for i, request in enumerate(shape.requests):
            yield self._request(request, ("requests", i))
        for i, sample in enumerate(shape.samples):
            at: Path = ("samples", i)
            parts = self._doc(sample.doc, *at, "doc"), self._sql(sample.rows, *at, "rows")
            yield nodes.Sample(of(at), self._name(sample.name, *at, "name"), *parts)
        for i, fact in enumerate(shape.facts):
            at = ("facts", i)
            doc = self._message(fact.doc, *at, "doc") if fact.doc else None
            yield nodes.Fact(of(at), self._name(fact.name, *at, "name"), doc, self._given(fact.value, *at, "value"))
        if shape.change:
            writes = [self._write(sql, "change", i) for i, sql in enumerate(shape.change)]
            yield nodes.Change(of(("change",)), tuple(writes))
        if shape.plan is not None:
            yield nodes.Plan(of(("plan",)), None, None, self._nodes(shape.plan, "plan"))
        for i, plan in enumerate(shape.plans):
            yield self._plan(plan, ("plans", i))
        for i, condition in enumerate(shape.expect):
            yield nodes.Expect(of(("expect", i)), self._sql(condition, "expect", i))
        for i, never in enumerate(shape.never):
            at = ("never", i)
            parts_ = self._name(never.tool, *at, "tool"), self._named(never.arguments, *at, "arguments")
            yield nodes.Never(of(at), *parts_)
        for i, saying in enumerate(shape.says):
            at = ("says", i)
            yield nodes.Says(of(at), self._doc(saying.doc, *at, "doc"), self._given(saying.value, *at, "value"))

    def _request(self, request: RequestShape, at: Path) -> nodes.Request:
        after = tuple(self._name(name, *at, "after", i) for i, name in enumerate(request.after))
        parts = after, self._condition(request.when, *at, "when"), self._message(request.text, *at, "text")
        return nodes.Request(self.places.of(at), self._name(request.name, *at, "name"), *parts)

    def _plan(self, plan: PlanShape, at: Path) -> nodes.Plan:
        name = None if plan.name is None else self._name(plan.name, *at, "name")
        parts = self._doc(plan.doc, *at, "doc"), self._nodes(plan.nodes, *at, "nodes")
        return nodes.Plan(self.places.of(at), name, *parts)

    def _nodes(self, shapes: list[NodeShape], *path: str | int) -> tuple[nodes.CallNode | nodes.ReasonNode, ...]:
        return tuple(self._node(shape, (*path, i)) for i, shape in enumerate(shapes))

    def _node(self, node: NodeShape, at: Path) -> nodes.CallNode | nodes.ReasonNode:
        span, name = self.places.of(at), self._name(node.name, *at, "name")
        when = self._condition(node.when, *at, "when")
        after = tuple(self._name(one, *at, "after", i) for i, one in enumerate(node.after))
        if node.tool is not None:
            tool, arguments = self._name(node.tool, *at, "tool"), self._named(node.arguments, *at, "arguments")
            return nodes.CallNode(span, name, tool, arguments, when, after)
        doc, value = self._doc(node.doc, *at, "doc"), self._given(node.reason, *at, "reason")
        return nodes.ReasonNode(span, name, node.many, when, doc, value, after)

    # -- parts of parts ----------------------------------------------------------------------------------------

    def _name(self, name: str, *path: str | int) -> nodes.Name:
        return nodes.Name(self.places.of(path), name)

    def _doc(self, doc: str, *path: str | int) -> nodes.Text | None:
        if not doc:
            return None
        span = self.places.of(path)
        text.check_characters(doc, span, self.report)
        return nodes.Text(span, doc)

    def _message(self, message: str, *path: str | int) -> nodes.Message:
        span = self.places.apart(path, message, '"""')
        return message_at(span, self.report)

    def _sql(self, sql: str, *path: str | int) -> nodes.SqlText:
        return sql_text(self.places.text(path, sql))

    def _condition(self, sql: str | None, *path: str | int) -> nodes.SqlText | None:
        return None if sql is None else self._sql(sql, *path)

    def _write(self, sql: str, *path: str | int) -> nodes.Write:
        read = self._sql(sql, *path)
        return nodes.Write(read.span, "update", read)

    def _named(self, arguments: Mapping[str, Any], *path: str | int) -> tuple[nodes.Named, ...]:
        return tuple(
            nodes.Named(self.places.of((*path, name)), self._name(name, *path, name), self._given(value, *path, name))
            for name, value in arguments.items()
        )

    def _given(self, value: Any, *path: str | int) -> nodes.Given:
        if isinstance(value, dict) and len(value) == 1:
            ((kind, content),) = value.items()
            if isinstance(content, str) and kind == "$":
                return nodes.Path(self.places.of((*path, "$")), content)
            if isinstance(content, str) and kind == "sql":
                return self._sql(content, *path, "sql")
        return nodes.Data(self.places.of(path), value)
