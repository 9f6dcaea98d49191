"""Whether the user knows something for nothing."""

from __future__ import annotations

from collections.abc import Iterator

from forgec.certifying.verdict import Outcome
from forgec_runtime import Ref, Task
from forgec_runtime.tasks import Message, Template, references


def facts(task: Task) -> Outcome:
    """Each fact is read: by a plan, a text, another fact, or what is looked at afterwards."""
    read = {ref.name for ref in _reads(task)}
    idle = [fact.name for fact in task.facts if fact.name not in read]
    if idle:
        hint = "read it in the plan, or leave it out; one that must not be used can stand in a `never`"
        return Outcome("facts", False, f"nothing reads {', '.join(idle)}", hint)
    return Outcome("facts", True, f"{len(task.facts)} read" if task.facts else "no facts")


def _reads(task: Task) -> Iterator[Ref]:
    for plan in task.plans:
        for node in plan.nodes:
            yield from node.reads()
    for expectation in task.expect:
        yield from expectation.condition.inputs
    for saying in task.says:
        yield from references(saying.value)
    for never in task.never:
        for value in never.arguments.values():
            yield from references(value)
    for change in task.change:
        yield from change.rows.inputs
    for request in task.requests:
        yield from _holes(request.text)
        if request.when is not None:
            yield from references(request.when)
    yield from _holes(task.intent)
    for fact in task.facts:
        yield from _holes(fact.doc)
        yield from references(fact.value)


def _holes(message: Message) -> tuple[Ref, ...]:
    return message.reads() if isinstance(message, Template) else ()
