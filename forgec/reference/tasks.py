"""Tasks by the reference executor: how their episodes begin, and their plans, call by call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forgec.model import spec as m
from forgec.reference.executor import ReferenceEpisode
from forgec.sql.query import Sql
from forgec.sql.scope import Cell, Row, Rows, Shape
from forgec.sql.tree import Value
from forgec_runtime.errors import Fault
from forgec_runtime.results import json_able
from forgec_runtime.starts import drawn


class NothingToDraw(Exception):
    """A sample has no row."""

    def __init__(self, sample: m.Sample) -> None:
        super().__init__(f"there is no row to draw for the sample {sample.name}")
        self.sample = sample


class PlanFails(Exception):
    """A call of a plan is refused."""


class ReferenceTask:
    """One task in a fresh episode of its world. Whatever it computes raises DuckDB's errors and `Fault`."""

    def __init__(self, task: m.Task, episode: ReferenceEpisode, seed: int = 0) -> None:
        self.task = task
        self.episode = episode
        self.spec = episode.spec
        self.seed = seed
        self.values: dict[str, Any] = {}

    def draw(self) -> None:
        """Draw the samples, and compute the facts. Raises `NothingToDraw`."""
        for sample in self.task.samples:
            rows = self.read(sample.sql, Rows(_columns(sample.shape, sample.sql)))
            if not rows:
                raise NothingToDraw(sample)
            row = rows[drawn(self.seed, self.task.name, sample.name, len(rows))]
            self.values[sample.name] = row if isinstance(sample.shape, Row) else next(iter(row.values()))
        for fact in self.task.facts:
            self.values[fact.name] = self._value(fact.value, fact.cell)

    def told(self, message: m.Message) -> str:
        """A text for the user, its holes filled in."""
        return self.episode.text(message, self.values)

    def change(self) -> list[bool]:
        """Make the changes; for each whether it wrote to any row. Raises `Refusal`."""
        return self.episode.change(self.task.change, self.values)

    def play(self, plan: m.Plan) -> None:
        """Play a plan. Raises `PlanFails`."""
        for node in plan.nodes:
            if node.when is not None and self._value(node.when, node.when.shape) is not True:
                self.values[node.name] = None
            elif isinstance(node, m.ReasonNode):
                self.values[node.name] = self._value(node.value, node.shape)
            else:
                self.values[node.name] = self._call(node)

    def says(self) -> list[Any]:
        """What is to be said at the end."""
        return [self._value(one.value, _shape(one.value)) for one in self.task.says]

    def _call(self, node: m.CallNode) -> Any:
        arguments: dict[str, Any] = {}
        for parameter in self.spec.tools[node.tool].parameters:
            given = node.arguments.get(parameter.name)
            value = None if given is None else json_able(self._value(given, _shape(given)))
            arguments[parameter.name] = parameter.value if given is None else None
            if value is not None:
                arguments[parameter.name] = parameter.type.decode(value)
        answer = self.episode.call(node.tool, arguments)
        if not answer.ok:
            raise PlanFails(f"{self.task.name}: {node.name}: {answer.text}")
        return answer.value

    def _value(self, given: m.Given, shape: Shape) -> Any:
        if isinstance(given, m.Constant):
            return given.value
        if isinstance(given.tree, Value):
            return _at(given.tree.name, self.values)
        return self.read(given, shape)

    def read(self, sql: Sql, shape: Shape) -> Any:
        """The value of a piece of SQL in the present state."""
        if not sql.is_query:
            return self.episode.evaluate(sql, self.values)
        rows = self.episode.database.rows(sql.expression, self.values)  # type: ignore[arg-type]
        if isinstance(shape, Rows):
            return rows
        if len(rows) > 1:
            raise Fault("more than one row")
        if not rows:
            return None
        return rows[0] if isinstance(shape, Row) else next(iter(rows[0].values()))


def _shape(given: m.Given) -> Shape:
    return given.cell if isinstance(given, m.Constant) else given.shape


def _columns(shape: Cell | Row, sql: Sql) -> Mapping[str, Cell]:
    if isinstance(shape, Row):
        return shape.columns
    assert isinstance(sql.shape, Rows)
    return sql.shape.columns


def _at(path: str, values: Mapping[str, Any]) -> Any:
    head, *rest = path.split(".")
    found = values[head]
    for part in rest:
        found = None if found is None else found[part]
    return found
