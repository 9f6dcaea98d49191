"""Tasks in a file, one a line: data that the compiler writes, read when a task is asked for.

An expression is an object with one of these: `{"$": "acct.fines"}`, the value of a fact or node; `{"sql": ...}`, a
query with what it takes; else it is a constant. Constants that JSON does not tell apart are objects, too:
`{"decimal": "1.50"}`, `{"date": "2025-03-01"}`, `{"timestamp": ...}`, and `{"fields": {...}}` for a record or map.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from .errors import LoadError
from .query import Query
from .results import from_json
from .tasks import (
    Change,
    Computed,
    Expectation,
    Expression,
    Fact,
    Hole,
    Literal,
    Message,
    Never,
    Node,
    Plan,
    Reason,
    Ref,
    Request,
    Sample,
    Saying,
    Step,
    Task,
    TaskError,
    Template,
)


class Tasks(Mapping[str, Task]):
    """The tasks of a file by name, in its order. A line is read when its task is asked for first, then kept."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: dict[str, Task] = {}

    @cached_property
    def _lines(self) -> dict[str, bytes]:
        try:
            return {from_json(line)["name"]: line for line in self.path.read_bytes().splitlines()}
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise LoadError(f"{self.path.as_posix()} cannot be read: {error}") from error

    def __getitem__(self, name: str) -> Task:
        task = self._read.get(name)
        if task is None:
            task = self._read[name] = self.once(name)
        return task

    def once(self, name: str) -> Task:
        """A task that is not kept, for going through all of very many. Raises `KeyError`, `LoadError`, `TaskError`."""
        line = self._lines[name]
        try:
            return read_task(from_json(line))
        except TaskError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, decimal.InvalidOperation) as error:
            raise LoadError(f"{self.path.as_posix()}: the task {name!r} cannot be read: {error!r}") from error

    def __contains__(self, name: object) -> bool:
        return name in self._lines

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


def read_task(line: Mapping[str, Any]) -> Task:
    """The task of a line. Raises `TaskError`; other errors where the line is none that the compiler writes."""
    return Task(
        name=line["name"],
        world=line["world"],
        intent=_message(line["intent"]),
        doc=line["doc"],
        tags=tuple(line.get("tags", ())),
        requests=tuple(map(_request, line.get("requests", ()))),
        samples=tuple(Sample(one["name"], _computed(one["rows"]), one["doc"]) for one in line.get("samples", ())),
        facts=tuple(map(_fact, line["facts"])),
        change=tuple(Change(one["kind"], one["table"], _computed(one["rows"])) for one in line.get("change", ())),
        plans=tuple(map(_plan, line["plans"])),
        expect=tuple(Expectation(one["text"], _computed(one["condition"])) for one in line["expect"]),
        says=tuple(Saying(one["doc"], _expression(one["value"])) for one in line["says"]),
        never=tuple(Never(one["tool"], one["text"], _arguments(one)) for one in line.get("never", ())),
        features=line["features"],
    )


def _message(parts: str | list[Any]) -> Message:
    if isinstance(parts, str):
        return parts
    return Template(tuple(p if isinstance(p, str) else Hole(_expression(p["value"]), p["format"]) for p in parts))


def _request(line: Mapping[str, Any]) -> Request:
    return Request(line["name"], _message(line["text"]), tuple(line.get("after", ())), _condition(line))


def _fact(line: Mapping[str, Any]) -> Fact:
    value = _expression(line["value"])
    return Fact(line["name"], value.value if isinstance(value, Literal) else value, _message(line["doc"]))


def _plan(line: Mapping[str, Any]) -> Plan:
    return Plan(tuple(map(_node, line["nodes"])), line.get("name", ""), line.get("doc", ""))


def _node(node: Mapping[str, Any]) -> Node:
    after = tuple(node.get("after", ()))
    if "tool" not in node:
        return Reason(node["name"], _expression(node["value"]), node["doc"], after, _condition(node))
    return Step(node["name"], node["tool"], _arguments(node), after, _condition(node))


def _arguments(line: Mapping[str, Any]) -> dict[str, Expression]:
    return {name: _expression(value) for name, value in line.get("arguments", {}).items()}


def _condition(line: Mapping[str, Any]) -> Expression | None:
    return _expression(line["when"]) if "when" in line else None


def _expression(value: Any) -> Expression:
    if isinstance(value, Mapping):
        if "$" in value:
            return _ref(value["$"])
        if "sql" in value:
            return _computed(value)
    return Literal(constant(value))


def _ref(path: str) -> Ref:
    return Ref(*path.split("."))


def _computed(value: Mapping[str, Any]) -> Computed:
    values = tuple((name, type_) for name, type_ in value["values"])
    query = Query(value["sql"], tuple(value["tables"]), values, tuple(value["columns"]), value["order"])
    return Computed(query, tuple(map(_ref, value["inputs"])), value["kind"])


def encoded(value: Any) -> Any:
    """A constant such that `constant` gives it back."""
    if isinstance(value, decimal.Decimal):
        return {"decimal": format(value, "f")}
    if isinstance(value, datetime.datetime):
        return {"timestamp": value.isoformat()}
    if isinstance(value, datetime.date):
        return {"date": value.isoformat()}
    if isinstance(value, Mapping):
        return {"fields": {name: encoded(part) for name, part in value.items()}}
    if isinstance(value, list | tuple):
        return [encoded(part) for part in value]
    return value


def constant(value: Any) -> Any:
    """The value of a constant."""
    if isinstance(value, list):
        return [constant(part) for part in value]
    if not isinstance(value, Mapping):
        return value
    ((kind, content),) = value.items()
    return KINDS[kind](content)


KINDS: dict[str, Callable[[Any], Any]] = {
    "decimal": decimal.Decimal,
    "date": datetime.date.fromisoformat,
    "timestamp": datetime.datetime.fromisoformat,
    "fields": lambda content: {name: constant(part) for name, part in content.items()},
}
"""What an object may be that is a constant."""
