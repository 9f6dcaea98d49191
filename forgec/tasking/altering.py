"""Worlds that are changed so that a guard stands in the way, where no row of theirs does that."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from forgec.tasking.drafts import Draft, Proposal
from forgec.tasking.ground import Ground
from forgec.tasking.guards import Guard
from forgec.tasking.reasoning import constant
from forgec_runtime import types as t
from forgec_runtime.call import Call
from forgec_runtime.episode import Episode

MOST = 48
"""How many changes are tried for a draft."""


def alterations(
    ground: Ground, draft: Draft, guard: Guard, proposals: list[Proposal]
) -> Iterator[tuple[Proposal, str, str, Episode]]:
    """Calls, each with a change of what the guard looks at: the table, the change in SQL, and the episode with it."""
    tool, count = ground.spec.tools[guard.tool], 0
    references = {p.name: p.references for p in tool.parameters if p.references is not None}
    for proposal in proposals:
        for name, column in guard.columns:
            table, key = references[name], proposal.arguments.get(name)
            for value in others(ground, table, column):
                episode = draft.start.fork()
                if count < MOST and _altered(ground, episode, table, key, column, value):
                    count += 1
                    yield proposal, table, _written(ground, table, key, column, value), episode


def _altered(ground: Ground, episode: Episode, table: str, key: Any, column: str, value: Any) -> bool:
    """Change a row of an episode; whether that can be, and makes a difference."""
    found = episode.base.tables[table]

    def change(call: Call) -> None:
        row = call.find(found, key)
        if row is not None:
            call.update(found, row, {column: value})

    before = episode.changes()
    return ground.env.perform(episode, change).ok and episode.changes() != before


def others(ground: Ground, table: str, column: str) -> list[Any]:
    """Values that a column may be given."""
    found = ground.spec.tables[table].column(column)
    type_ = found.type if found is not None and found.references is None and not found.key else None
    today = ground.spec.clock.date()
    if isinstance(type_, t.Enum):
        return list(type_.values)
    if isinstance(type_, t.Boolean):
        return [True, False]
    if isinstance(type_, t.Integer):
        return [0, 1, 2, 3, 5]
    if isinstance(type_, t.Decimal):
        return [Decimal(number).quantize(Decimal(1).scaleb(-type_.scale)) for number in (0, 8, 25)]
    if isinstance(type_, t.Date):
        return [today + datetime.timedelta(days=days) for days in (-9, -1, 3, 16)]
    return []


def _written(ground: Ground, table: str, key: Any, column: str, value: Any) -> str:
    found = ground.spec.tables[table]
    return f"update {found.title} set {column} = {constant(value)} where {found.key[0].name} = {constant(key)}"
