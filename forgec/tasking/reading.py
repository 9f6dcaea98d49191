"""Lines to tasks that can be played: built as those of a file are, for an environment that is there already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from forgec.bulk.reading import lines
from forgec.codegen.tasks import task_data
from forgec.diagnostics import Report
from forgec.model import spec as m
from forgec.model.tasks import build_task
from forgec.plans.tasks import ComputedPlan, Kind, TaskPlan
from forgec.source import Source
from forgec.sql.check import SqlChecker
from forgec.sql.emit import Emitter
from forgec.sql.oracle import Oracle
from forgec.sql.query import Sql
from forgec.sql.scope import Cell, Scope
from forgec.syntax.nodes import SqlText
from forgec_runtime.task_file import read_task
from forgec_runtime.tasks import Task

MAX_KEPT = 4096
"""How many pieces of SQL are kept."""


@dataclass(frozen=True)
class _Checker(SqlChecker):
    """Checks each piece of SQL once: made tasks say the same again and again."""

    kept: dict[Any, Sql | None] = field(default_factory=dict)

    def any(
        self, text: SqlText, scope: Scope, rows: Sequence[Mapping[str, Cell]] = (), *, calculates: bool = False
    ) -> Sql | None:
        names = {param.text.removeprefix("$").partition(".")[0] for param in text.params}
        place = (text.span.text, tuple((name, repr(scope.values.get(name))) for name in sorted(names)))
        if place not in self.kept:
            before = len(self.report)
            found = super().any(text, scope, rows, calculates=calculates)
            if len(self.report) > before:
                return found
            if len(self.kept) >= MAX_KEPT:
                self.kept.clear()
            self.kept[place] = found
        return self.kept[place]


class Reader:
    """Reads lines of one spec."""

    def __init__(self, spec: m.Spec) -> None:
        self.spec = spec
        self.emitter = Emitter(spec.tables, spec.functions, spec.clock)
        self.checker = _Checker(Oracle(spec.tables.values()), Report(), self.emitter)
        self.scope = Scope(spec.tables, spec.functions, views=spec.views)
        self.queries: dict[int, tuple[Any, ComputedPlan]] = {}

    def read(self, text: str) -> tuple[m.Task, Task] | Report:
        """The task of a line, as the compiler and as the runtime have it, or what is wrong with it."""
        report = Report()
        checker = replace(self.checker, report=report)
        for found in lines(Source("made.jsonl", text), report):
            task = build_task(found.task(report), self.spec.tools, self.spec.worlds, checker, self.scope)
            if task is not None and not report.failed:
                return task, read_task(task_data(_Plan(task, self.spec, self.emitter, self.queries)))
        return report


@dataclass(frozen=True)
class _Plan(TaskPlan):
    """Writes each query once."""

    queries: dict[int, tuple[Any, ComputedPlan]]

    def asked(self, sql: Sql, kind: Kind = "value") -> ComputedPlan:
        found = self.queries.get(id(sql))
        if found is None or found[0] is not sql or found[1].kind != kind:
            if len(self.queries) >= MAX_KEPT:
                self.queries.clear()
            found = self.queries[id(sql)] = (sql, super().asked(sql, kind))
        return found[1]
