"""Tasks of tau2-bench to lines of ours, which are compiled and played before they are given away."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

from forgec.diagnostics import Diagnostic
from forgec.files.units import Unit
from forgec.importing.tau2.beginning import NotOurs, begin
from forgec.importing.tau2.domains import Domain
from forgec.importing.tau2.lines import line
from forgec.importing.tau2.playing import Gold, play
from forgec.importing.tau2.report import Failing, Idle, LeftOut, Ordered, Report
from forgec.importing.tau2.shape import Tau2Task
from forgec.model import walk
from forgec.model.spec import Spec
from forgec.pipeline import check_unit
from forgec.source import Source
from forgec_runtime import Environment, GoldAgent, GoldError, TaskError

Compiled: TypeAlias = Callable[[Spec, Iterable[str]], AbstractContextManager[Environment]]
"""Compiles a spec, whose worlds may read some sources, to an environment that lasts as long as the context."""


def import_tasks(
    tasks: Sequence[Tau2Task],
    domain: Domain,
    unit: Unit,
    spec: Spec,
    world: str,
    allowed: Sequence[str],
    splits: Mapping[str, Sequence[str]],
    compiled: Compiled,
    progress: Callable[[str], None],
) -> tuple[str, Report]:
    """The lines of the tasks that can be imported, and what was found.

    `spec` is that of `unit`, whose worlds may read the `allowed` sources. Raises `LoadError`.
    """
    report = Report(domain.name, len(tasks), sum(len(task.gold) for task in tasks))
    writing = {tool.name for tool in spec.tools.values() if walk.written(tool.body)}
    lines: dict[str, str] = {}
    names: dict[str, str] = {}
    parts = {name: frozenset(members) for name, members in splits.items() if len(members) < len(tasks)}
    progress(f"playing the gold of {len(tasks)} tasks")
    with compiled(spec, allowed) as environment:
        for task in tasks:
            tags = [name for name, members in parts.items() if task.id in members]
            try:
                start, change = begin(environment, domain, world, task.initial_state)
                gold = play(environment, start, task.gold)
                _note(task, gold, domain, writing, report)
                made = line(task, environment, domain, world, change, gold, tags)
            except NotOurs as reason:
                report.left_out.append(LeftOut(task.id, str(reason)))
                continue
            if names.setdefault(made["name"], task.id) != task.id:
                why = f"its id is too much like that of {names[made['name']]}"
                report.left_out.append(LeftOut(task.id, why))
                continue
            lines[task.id] = json.dumps(made, ensure_ascii=False)
    progress(f"compiling and playing {len(lines)} tasks")
    _try_out(lines, unit, allowed, compiled, report)
    report.imported.extend(lines)
    return "".join(f"{one}\n" for one in lines.values()), report


def _note(task: Tau2Task, gold: Gold, domain: Domain, writing: set[str], report: Report) -> None:
    """Report what is to be said of the gold of a task."""
    for one in gold.failed:
        tool = one.action.name
        report.failing.append(Failing(task.id, one.number + 1, tool, one.text, tool in writing))
    if not gold.changes:
        report.idle.append(Idle(task.id, bool(task.criteria.communicate_info)))
    for number, needed in gold.needs.items():
        for other in needed:
            tools = task.gold[other].name, task.gold[number].name
            report.ordered.append(Ordered(task.id, other + 1, number + 1, tools))
    if any(_is_leaky(domain, one.action.name, one.action.arguments) for one in gold.sound):
        report.leaky.append(task.id)
    if task.criteria.nl_assertions:
        report.judged_by_a_model.append(task.id)


def _is_leaky(domain: Domain, tool: str, arguments: Mapping[str, Any]) -> bool:
    items = arguments.get(domain.leaky.get(tool, ""))
    return isinstance(items, list) and len({json.dumps(item) for item in items}) > 1


def _try_out(lines: dict[str, str], unit: Unit, allowed: Sequence[str], compiled: Compiled, report: Report) -> None:
    """Compile the lines and play them; those that do not compile, or whose gold is not paid, are left out."""
    spec = _checked(lines, unit, allowed, report)
    with compiled(spec, allowed) as environment:
        for task, found in list(lines.items()):
            why = _played(environment, json.loads(found)["name"], task, report)
            if why:
                del lines[task]
                report.left_out.append(LeftOut(task, why))


def _checked(lines: dict[str, str], unit: Unit, allowed: Sequence[str], report: Report) -> Spec:
    """The spec with those of the lines as its tasks that have no errors."""
    name = unit.base.with_name("imported.tasks.jsonl").as_posix()
    while True:
        source = Source(name, "".join(f"{one}\n" for one in lines.values()))
        checked = check_unit(unit, allowed, source)
        if checked.spec is not None:
            return checked.spec
        ids = list(lines)
        for found in checked.report:
            number = _line_of(found, source)
            if number is None:
                raise AssertionError(f"{found.code}: {found.message}")  # the spec itself had no errors
            task = ids[number - 1]
            if lines.pop(task, None) is not None:
                report.left_out.append(LeftOut(task, f"{found.code}: {found.message}"))


def _line_of(found: Diagnostic, source: Source) -> int | None:
    """The line of a file that a finding is about; a text in it is a source of its own, `file:line place`."""
    if found.primary is None:
        return None
    span = found.primary.span
    if span.source is source:
        return source.position(span.start)[0]
    number = span.source.name.removeprefix(f"{source.name}:").partition(" ")[0]
    return int(number) if number.isdigit() else None


def _played(environment: Environment, name: str, task: str, report: Report) -> str:
    """Why the gold of an imported task is not paid, if so; whether doing nothing is, is reported."""
    try:
        episode = environment.reset(name)
        GoldAgent().play(environment, episode, environment.tasks[name])
    except (GoldError, TaskError) as error:
        return str(error)
    reward = environment.reward(episode, environment.tasks[name])
    if reward.value != 1.0:
        return f"its gold is not paid: {'; '.join(map(str, reward.reasons))}"
    if environment.reward(environment.reset(name), environment.tasks[name]).value == 1.0:
        report.paid_for_nothing.append(task)
    return ""
