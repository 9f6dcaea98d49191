"""Rows that almost do: where a person has hardly any to choose from, the world begins with another one.

It is like the row that a call was made for, but for what it refers to and for one column, if there are any at which a
guard looks. All calls are made again then: the draft goes on as if the row had been there from the beginning.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from forgec.model import spec as m
from forgec.tasking.altering import others
from forgec.tasking.drafts import Draft, Move
from forgec.tasking.ground import Ground
from forgec.tasking.guards import guard_of
from forgec.tasking.proposing import Rows
from forgec.tasking.reasoning import constant
from forgec.tasking.walks import attempt
from forgec_runtime import types as t
from forgec_runtime.call import Call
from forgec_runtime.episode import Episode
from forgec_runtime.schema import Table

SHARE = 0.35
"""How many of the drafts in which there is hardly anything to choose from get more."""
FEW = 3
TRIES = 3


@dataclass
class _Again:
    """A draft that is made again, and how far it is."""

    draft: Draft
    table: str
    sql: str
    start: Episode
    episode: Episode
    moves: list[Move]
    failed: bool = False


_Beginning = Generator[tuple[Episode, Callable[[Call], None]], bool | None, _Again | None]


def distract(ground: Ground, rows: Rows, drafts: Sequence[Draft]) -> None:
    """Give some of the drafts another row to choose from."""
    again = _begun(ground, [_begin(ground, rows, draft) for draft in drafts if draft.chance.random() < SHARE])
    for step in range(max((len(one.draft.moves) for one in again), default=0)):
        going = [one for one in again if not one.failed and step < len(one.draft.moves)]
        forks = [one.episode.fork() for one in going]
        moves = [one.draft.moves[step] for one in going]
        results = attempt(ground, ((fork, move.proposal) for fork, move in zip(forks, moves, strict=True)))
        for one, fork, move, result in zip(going, forks, moves, results, strict=True):
            broken = fork.broken_rules[len(one.episode.broken_rules) :]
            if move.guard is None:
                one.failed = not result.ok or bool(broken)
            elif move.guard.kind == "audited":
                one.failed = not result.ok or broken != [move.guard.rule]
            else:
                one.failed = result.ok or guard_of(result.text, ground.guards[move.tool]) is not move.guard
            one.moves.append(replace(move, before=one.episode, value=result.value if result.ok else result.text))
            if move.guard is None:
                one.episode = fork
    for one in again:
        if not one.failed:
            draft = one.draft
            draft.start, draft.episode, draft.moves = one.start, one.episode, one.moves
            draft.change, draft.altered = [one.sql], frozenset({one.table})


def _begun(ground: Ground, beginnings: Sequence[_Beginning]) -> list[_Again]:
    """The drafts that can be made again. What they try is tried at once."""
    found: list[_Again] = []
    answered: list[tuple[_Beginning, bool | None]] = [(one, None) for one in beginnings]
    while answered:
        waiting: list[tuple[_Beginning, tuple[Episode, Callable[[Call], None]]]] = []
        for one, answer in answered:
            try:
                waiting.append((one, one.send(answer)))
            except StopIteration as end:
                found += [end.value] if end.value is not None else []
        results = ground.env.perform_all([write for _, write in waiting])
        answered = [(one, result.ok) for (one, _), result in zip(waiting, results, strict=True)]
    return sorted(found, key=lambda one: one.draft.number)


def _begin(ground: Ground, rows: Rows, draft: Draft) -> _Beginning:
    """The draft in a world with one row more. Yields a row that is to be put in, and is told whether that can be."""
    people, person = ground.people, draft.person
    if person is None or draft.change:
        return None
    for move in draft.moves:
        for parameter in ground.spec.tools[move.tool].parameters:
            table = parameter.references
            if table is None or table not in people.owned or not _can_grow(ground, ground.spec.tables[table]):
                continue
            mine = rows.owned(draft.world, table, person[people.key])
            key = ground.spec.tables[table].key[0].name
            row = next((r for r in mine if r[key] == move.proposal.arguments.get(parameter.name)), None)
            if row is None or len(mine) > FEW:
                continue
            looked = {column for guard in ground.guards[move.tool] for name, column in guard.columns
                      if name == parameter.name}  # fmt: skip
            for _ in range(TRIES):
                values = _like(ground, rows, draft, ground.spec.tables[table], row, looked)
                start = draft.start.fork()
                if (yield start, _insert(start.base.tables[table], values)):
                    return _Again(draft, table, _written(ground, table, values), start, start, [])
    return None


def _can_grow(ground: Ground, table: m.Table) -> bool:
    """Whether a row can be added without more than that: the engine makes its key, and nothing is nested in it."""
    nested = any(other.parent == table.name for other in ground.spec.tables.values())
    return table.serial is not None and len(table.key) == 1 and not nested and table.parent is None


def _like(
    ground: Ground, rows: Rows, draft: Draft, table: m.Table, row: Mapping[str, Any], looked: set[str]
) -> dict[str, Any]:
    """A row like another one, but for what it refers to, for dates and numbers, and perhaps for what guards look at."""
    chance, owners = draft.chance, ground.people.owned[table.name]
    values = {c.name: row[c.name] for c in table.columns if not c.key and not c.made and c.scored}
    for column in table.columns:
        if column.references is not None and column.name not in owners and values.get(column.name) is not None:
            pool = rows.of(draft.world, column.references)
            values[column.name] = chance.choice(pool)[ground.spec.tables[column.references].key[0].name]
        elif isinstance(values.get(column.name), datetime.date) and chance.random() < 0.7:
            values[column.name] += datetime.timedelta(days=chance.choice((-3, -1, 1, 2, 5)))
    changing = [name for name in sorted(looked) if name in values and _can_differ(table, name)]
    if changing and chance.random() < 0.5:
        name = chance.choice(changing)
        found = [value for value in others(ground, table.name, name) if value != row[name]]
        if found:
            values[name] = chance.choice(found)
    return values


def _can_differ(table: m.Table, name: str) -> bool:
    """Whether a column may hold something else without the rest of the row: a status goes with other columns."""
    column = table.column(name)
    return column is not None and not isinstance(column.type, t.Enum)


def _insert(table: Table[Any], values: Mapping[str, Any]) -> Callable[[Call], None]:
    """What puts a row in, with a key that the engine makes."""
    names = set(table.names) - set(table.key)

    def change(call: Call) -> None:
        call.insert(table, {name: values.get(name) for name in names})

    return change


def _written(ground: Ground, table: str, values: Mapping[str, Any]) -> str:
    held = ", ".join("null" if value is None else constant(value) for value in values.values())
    return f"insert into {ground.spec.tables[table].title} ({', '.join(values)}) values ({held})"
