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
from .tasks import Computed, Expectation, Expression, Fact, Literal, Node, Reason, Ref, Saying, Step, Task, TaskError


class Tasks(Mapping[str, Task]):
    """The tasks of a file by name, in its order. A line is read when its task is asked for first."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: dict[str, Task] = {}

    @cached_property
    def _lines(self) -> dict[str, dict[str, Any]]:
        try:
            found = [from_json(line) for line in self.path.read_bytes().splitlines()]
            return {line["name"]: line for line in found}
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise LoadError(f"{self.path.as_posix()} cannot be read: {error}") from error

    def __getitem__(self, name: str) -> Task:
        task = self._read.get(name)
        if task is None:
            line = self._lines[name]
            try:
                task = self._read[name] = _task(line)
            except TaskError:
                raise
            except (KeyError, TypeError, ValueError, AttributeError, decimal.InvalidOperation) as error:
                raise LoadError(f"{self.path.as_posix()}: the task {name!r} cannot be read: {error!r}") from error
        return task

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


def _task(line: Mapping[str, Any]) -> Task:
    return Task(
        name=line["name"],
        world=line["world"],
        doc=line["doc"],
        intent=line["intent"],
        facts=tuple(Fact(one["name"], constant(one["value"]), one["doc"]) for one in line["facts"]),
        plan=tuple(map(_node, line["plan"])),
        expect=tuple(Expectation(one["text"], _computed(one["condition"])) for one in line["expect"]),
        says=tuple(Saying(one["doc"], _expression(one["value"])) for one in line["says"]),
    )


def _node(node: Mapping[str, Any]) -> Node:
    if "tool" not in node:
        return Reason(node["name"], _expression(node["value"]), node["doc"])
    arguments = {name: _expression(value) for name, value in node["arguments"].items()}
    return Step(node["name"], node["tool"], arguments, tuple(node.get("after", ())))


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


def constant(value: Any) -> Any:
    """The value of a constant."""
    if isinstance(value, list):
        return [constant(part) for part in value]
    if not isinstance(value, Mapping):
        return value
    ((kind, content),) = value.items()
    return _KINDS[kind](content)


_KINDS: dict[str, Callable[[Any], Any]] = {
    "decimal": decimal.Decimal,
    "date": datetime.date.fromisoformat,
    "timestamp": datetime.datetime.fromisoformat,
    "fields": lambda content: {name: constant(part) for name, part in content.items()},
}
