"""Verdicts as people read them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from forgec.certifying.lock import Certified, Entry, Stale, Status

MAX_LINES = 60
"""So many tasks have a line each; of more, only those that are not certified."""
MAX_FAILED = 20
"""So many tasks that are not certified are shown with all that speaks against them."""


def shown(tasks: Sequence[tuple[str, Status, Entry | None]]) -> list[str]:
    """A line a task, and below those that are not certified why, with a hint."""
    few = [one for one in tasks if len(tasks) <= MAX_LINES or not isinstance(one[1], Certified)]
    width = max((len(name) for name, _, _ in few), default=0)
    lines, explained = [], 0
    for name, how, entry in few:
        content: dict[str, Any] = {} if entry is None or isinstance(how, Stale) else json.loads(entry.line)
        lines.append(f"  {name.ljust(width)}  {_measured(content).ljust(34)}  {how}".rstrip())
        if content and not isinstance(how, Certified):
            explained += 1
            if explained <= MAX_FAILED:
                lines.extend(_reasons(content))
    return lines


def _measured(content: dict[str, Any]) -> str:
    if not content.get("mutants"):
        return ""
    made = sum(sum(one.values()) for one in content["mutants"].values())
    paid = sum(one["paid"] for one in content["mutants"].values())
    return f"{made - paid} of {made} mutants not paid"


def _reasons(content: dict[str, Any]) -> Iterable[str]:
    for check, one in content["checks"].items():
        if not one["passed"]:
            yield f"    {check}: {one['evidence']}"
            yield f"      hint: {one['hint']}"


def summary(entries: Iterable[Entry]) -> list[str]:
    """What became of perturbed plans in all, a line a kind."""
    found: Counter[tuple[str, str]] = Counter()
    kinds: dict[str, None] = {}
    for entry in entries:
        for kind, one in json.loads(entry.line)["mutants"].items():
            kinds[kind] = None
            found.update({(kind, what): number for what, number in one.items()})
    lines = []
    for kind in kinds:
        refused, unpaid, paid = (found[kind, what] for what in ("refused", "unpaid", "paid"))
        made = refused + unpaid + paid
        lines.append(f"  {kind}: {refused} of {made} refused by a tool, {unpaid} not paid, {paid} paid all the same")
    return lines
