"""Worlds that are changed so that a guard stands in the way, where no row of theirs does that."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import Any

from forgec.tasking.drafts import Draft, Proposal
from forgec.tasking.ground import Ground
from forgec.tasking.guards import Guard
from forgec.tasking.reasoning import constant
from forgec_runtime import types as t
from forgec_runtime.call import Call
from forgec_runtime.episode import Episode
from forgec_runtime.schema import Table

MOST = 48
"""How many changes of those that can be made are looked at for a draft."""


@dataclass(frozen=True)
class Alteration:
    """A call, and a change of what a guard looks at: the table, the change in SQL, and the episode that begins so."""

    proposal: Proposal
    table: str
    sql: str
    episode: Episode


def alterations(ground: Ground, wanted: Sequence[tuple[Draft, Guard, Sequence[Proposal]]]) -> list[list[Alteration]]:
    """For each draft, calls with changes that can be made, and make a difference. All are tried at once."""
    found = [list(_alterations(ground, *one)) for one in wanted]
    performed = iter(ground.env.perform_all([(one.episode, change) for tried in found for one, change in tried]))
    done: list[list[Alteration]] = []
    for (draft, _, _), tried in zip(wanted, found, strict=True):
        before = draft.start.changes()
        results = [(one, next(performed)) for one, _ in tried]
        made = (one for one, result in results if result.ok and one.episode.changes() != before)
        done.append(list(islice(made, MOST)))
    return done


def _alterations(
    ground: Ground, draft: Draft, guard: Guard, proposals: Sequence[Proposal]
) -> Iterator[tuple[Alteration, Callable[[Call], None]]]:
    references = {p.name: p.references for p in ground.spec.tools[guard.tool].parameters if p.references is not None}
    for proposal in proposals:
        for name, column in guard.columns:
            table, key = references[name], proposal.arguments.get(name)
            for value in others(ground, table, column):
                episode = draft.start.fork()
                change = _change(episode.base.tables[table], key, column, value)
                yield Alteration(proposal, table, _written(ground, table, key, column, value), episode), change


def _change(table: Table[Any], key: Any, column: str, value: Any) -> Callable[[Call], None]:
    """What changes a row, if it is there."""

    def change(call: Call) -> None:
        row = call.find(table, key)
        if row is not None:
            call.update(table, row, {column: value})

    return change


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
