"""Episodes of every task can begin: there are rows to draw, and what is changed beforehand holds."""

from __future__ import annotations

from forgec.diagnostics import Report
from forgec.model.spec import Spec, Task
from forgec.reference import ReferenceEpisode
from forgec.reference.tasks import NothingToDraw, ReferenceTask
from forgec.source import Span
from forgec_runtime.engine import EngineError
from forgec_runtime.errors import Fault, Refusal


def tasks_begin(spec: Spec, report: Report) -> None:
    """Report what keeps the episodes of a task, with the usual seed, from beginning, and changes that do nothing."""
    episodes: dict[str, ReferenceEpisode] = {}
    for task in spec.tasks.values():
        begins = task.samples or task.change or _has_holes(task)
        if not (begins and spec.worlds[task.world].known):
            continue
        if task.world not in episodes:
            episodes[task.world] = ReferenceEpisode(spec, task.world)
        else:
            episodes[task.world].restart()
        _begin(ReferenceTask(task, episodes[task.world]), report)


def _has_holes(task: Task) -> bool:
    messages = [*(one.text for one in task.requests), *(fact.told for fact in task.facts)]
    return any(one.holes for one in (messages if task.intent is None else [task.intent, *messages]))


def _begin(begun: ReferenceTask, report: Report) -> None:
    task = begun.task
    try:
        begun.draw()
        for message in (task.intent, *(one.text for one in task.requests), *(fact.told for fact in task.facts)):
            if message is not None:
                begun.told(message)
    except NothingToDraw as nothing:
        hint = f"no row of the world `{task.world}` is like this"
        report.error("AFS707", f"there is no row to draw for `{nothing.sample.name}`", nothing.sample.span, help=hint)
        return
    except (EngineError, Fault) as error:
        report.error("AFS707", f"the task cannot begin: {_reason(error)}", task.span)
        return
    _change(begun, report)


def _change(begun: ReferenceTask, report: Report) -> None:
    task = begun.task
    if not task.change:
        return
    before = begun.episode.state()
    try:
        wrote = begun.change()
    except Refusal as refusal:
        report.error("AFS708", f"this change cannot be: {refusal}", _breaking(begun))
        return
    except (EngineError, Fault) as error:
        report.error("AFS708", f"this change cannot be computed: {_reason(error)}", _breaking(begun))
        return
    # with samples, what one row has to do with is not there for another
    idle = [] if task.samples else [sql.span for sql, any_row in zip(task.change, wrote, strict=True) if not any_row]
    if not idle and begun.episode.state() == before:
        idle = [Span(task.span.source, task.change[0].span.start, task.change[-1].span.end)]
    for span in idle:
        _report_idle(span, task, report)


def _breaking(begun: ReferenceTask) -> Span:
    """The first write with which, and with all that follow it, a change cannot be made."""
    writes = begun.task.change
    for count in range(len(writes) - 1, 0, -1):
        try:
            begun.episode.change(writes[:count], begun.values)
        except (Refusal, EngineError, Fault):
            continue
        return writes[count].span
    return writes[0].span


def _report_idle(span: Span, task: Task, report: Report) -> None:
    hint = f"in the world `{task.world}` it leaves everything as it is"
    report.error("AFS708", "this change does nothing", span, help=hint)


def _reason(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]
