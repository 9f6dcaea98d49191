"""Verdicts as people read them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from forgec.certifying.lock import Certified, Entry, Stale, Status
from forgec.certifying.verdict import Kills

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
        measured = _measured(entry.kills.values()) if content and entry is not None else ""
        lines.append(f"  {name.ljust(width)}  {measured.ljust(34)}  {how}".rstrip())
        if content and not isinstance(how, Certified):
            explained += 1
            if explained <= MAX_FAILED:
                lines.extend(_reasons(content))
    return lines


def _measured(kills: Iterable[Kills]) -> str:
    found = sum(kills, Kills())
    return f"{found.made - found.paid} of {found.made} mutants not paid" if found.made else ""


def _reasons(content: dict[str, Any]) -> Iterable[str]:
    for check, one in content["checks"].items():
        if not one["passed"]:
            yield f"    {check}: {one['evidence']}"
            yield f"      hint: {one['hint']}"


def summary(entries: Iterable[Entry]) -> list[str]:
    """What became of perturbed plans in all, a line a kind."""
    found: dict[str, Kills] = {}
    for entry in entries:
        for kind, one in entry.kills.items():
            found[kind] = found.get(kind, Kills()) + one
    return [
        f"  {kind}: {one.refused} of {one.made} refused by a tool, {one.unpaid} not paid, {one.paid} paid all the same"
        + (f"; {one.same} change nothing that is compared" if one.same else "")
        for kind, one in found.items()
    ]
