"""Tasks as generated code holds them."""

from __future__ import annotations

from typing import Any

from forgec.plans import python as py
from forgec.plans.package import Computation, ComputedPlan, LiteralPlan, ReasonPlan, ReferencePlan, StepPlan, TaskPlan


def task_context(plan: TaskPlan, constant: str) -> dict[str, Any]:
    """What the template `tasks.py.j2` needs of one task."""
    task = plan.task
    return {
        "constant": constant,
        "name": task.name,
        "world": task.world,
        "doc": task.doc,
        "intent": task.intent,
        "facts": [
            f"Fact({f.name!r}, {py.source_literal(f.value)}, doc={py.source_literal(f.doc)})" for f in task.facts
        ],
        "plan": [_step(step) for step in plan.plan],
        "expect": [f"Expectation({py.source_literal(text)}, {_computation(c)})" for text, c in plan.expect],
        "says": [f"Saying({py.source_literal(text)}, {_computation(c)})" for text, c in plan.says],
    }


def _step(step: StepPlan | ReasonPlan) -> str:
    if isinstance(step, ReasonPlan):
        return f"Reason({step.name!r}, {_computation(step.computation)}, doc={py.source_literal(step.doc)})"
    arguments = ", ".join(f"{name!r}: {_computation(value)}" for name, value in step.arguments)
    after = f", after={py.source_literal(step.after)}" if step.after else ""
    return f"Step({step.name!r}, {step.tool!r}, {{{arguments}}}{after})"


def _computation(value: Computation) -> str:
    if isinstance(value, ReferencePlan):
        return f"Ref({', '.join(map(repr, value.path))})"
    if isinstance(value, LiteralPlan):
        return f"Literal({value.source})"
    assert isinstance(value, ComputedPlan)
    inputs = "".join(f"Ref({', '.join(map(repr, path))}), " for path in value.inputs)
    return f"Computed({value.query.name}, inputs=({inputs}), kind={value.kind!r})"
