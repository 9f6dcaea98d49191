"""A task of tau2-bench as a line of ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from forgec.importing.tau2.beginning import NotOurs
from forgec.importing.tau2.domains import Domain
from forgec.importing.tau2.playing import Gold, Played
from forgec.importing.tau2.shape import Assertion, Tau2Task
from forgec.model.given import written
from forgec_runtime import Environment
from forgec_runtime.types import Text

RAISES, IDLE, IN_ORDER = "gold_fails", "gold_changes_nothing", "order_matters"
"""Tags of tasks whose gold is as the report says."""
_NOTHING = {"name": "nothing", "doc": "nothing is to be done", "reason": True}
"""The plan of a task no gold action of which succeeds."""
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")


def line(
    task: Tau2Task,
    environment: Environment,
    domain: Domain,
    world: str,
    change: Sequence[str],
    gold: Gold,
    splits: Sequence[str],
) -> dict[str, Any]:
    """A line for the file of tasks. Raises `NotOurs`."""
    facts = _Facts("\n".join(task.user_scenario.paragraphs))
    plan = [_node(one, gold, environment, facts) for one in gold.sound] or [_NOTHING]
    found = {RAISES: gold.failed, IDLE: not gold.changes, IN_ORDER: any(gold.needs.values())}
    parts = {
        "doc": " ".join(((task.description and task.description.purpose) or "").split()),
        "tags": [*splits, *(tag for tag, holds in found.items() if holds)],
        "intent": "\n\n".join(task.user_scenario.paragraphs).replace("{", "{{").replace("}", "}}"),
        "facts": [{"name": name, "value": value} for value, name in facts.names.items()],
        "change": list(change),
        "plan": plan,
        "expect": [_condition(one, domain) for one in task.criteria.env_assertions or ()],
        "says": [{"value": _said(text)} for text in task.criteria.communicate_info or ()],
    }
    return {"name": task_name(task.id), "world": world, **{name: part for name, part in parts.items() if part}}


def task_name(id: str) -> str:
    """The name here of a task that has an id there."""
    return "tau2_" + re.sub(r"[^a-z0-9]+", "_", id.lower()).strip("_")


class _Facts:
    """What the user knows of what the gold actions are given: it stands in the text as it is given."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.names: dict[str, str] = {}

    def given(self, parameter: str, value: Any) -> Any:
        """An argument: a constant, or the fact that it is."""
        if not isinstance(value, str) or not value.strip():
            return value
        if value not in self.names:
            if not re.search(rf"(?<!\w){re.escape(value)}(?!\w)", self.text):
                return value
            taken = sum(re.fullmatch(rf"{parameter}(_\d+)?", name) is not None for name in self.names.values())
            self.names[value] = parameter if not taken else f"{parameter}_{taken + 1}"
        return {"$": self.names[value]}


def _node(one: Played, gold: Gold, environment: Environment, facts: _Facts) -> dict[str, Any]:
    tool = environment.tool(one.action.name)
    texts = {parameter.name for parameter in tool.parameters if isinstance(parameter.type, Text)}
    arguments = {
        name: facts.given(name, value) if name in texts else value for name, value in one.action.arguments.items()
    }
    after = [_step(number) for number in gold.needs[one.number]]
    parts: Mapping[str, Any] = {"arguments": arguments, "after": after}
    node = {"name": _step(one.number), "tool": tool.name}
    return {**node, **{name: part for name, part in parts.items() if part}}


def _step(number: int) -> str:
    return f"step_{number + 1}"


def _condition(assertion: Assertion, domain: Domain) -> str:
    form = domain.asserted.get(assertion.func_name)
    if form is None:
        raise NotOurs(f"it asserts `{assertion.func_name}`, which is not known")
    try:
        condition = form.format(**{name: written(value) for name, value in assertion.arguments.items()})
    except KeyError as missing:
        raise NotOurs(f"it asserts `{assertion.func_name}` without {missing}") from None
    return condition if assertion.assert_value else f"({condition}) is not true"


def _said(text: str) -> Any:
    """What has to be told: a number as a number, which may be written in several ways."""
    if _NUMBER.fullmatch(text):
        return float(text) if "." in text else int(text)
    return text
