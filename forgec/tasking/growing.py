"""A plan that grows, and where it stands: the state that the next call is made in, and what was changed until then."""

from __future__ import annotations

from typing import Any

from forgec.model import spec as m
from forgec.tasking import proposing
from forgec.tasking.coverage import Coverage, Edge
from forgec.tasking.drafts import Draft, Move
from forgec.tasking.ground import Ground
from forgec.tasking.looks import Looks
from forgec.tasking.plans import Node, Plan
from forgec.tasking.words import Words


class Unreachable(Exception):
    """An agent cannot come by an argument."""


class Growing:
    """The plan of one draft."""

    def __init__(
        self, ground: Ground, rows: proposing.Rows, looks: Looks, words: Words, draft: Draft, coverage: Coverage
    ) -> None:
        self.ground, self.rows, self.looks, self.words = ground, rows, looks, words
        self.draft, self.coverage, self.chance = draft, coverage, draft.chance
        self.plan = Plan()
        self.edges: list[Edge] = []
        self.changed: frozenset[str] = draft.altered
        """The tables that may be otherwise than in the beginning."""
        self.written = 0
        """How many calls have written."""
        self.state = draft.start
        self.move: Move | None = None

    def before(self, move: Move) -> None:
        """Go to the state in which a call was made."""
        self.state, self.move = move.before, move

    def made(self, node: Node) -> None:
        """A call was made: what it writes may be otherwise from here on."""
        self.changed |= self.ground.writes[node.tool]
        self.written += bool(self.ground.writes[node.tool])

    def asks(self, table: str, key: Any) -> bool:
        """Whether a row is the person's who asks."""
        person, people = self.draft.person, self.ground.people
        return table == people.table and person is not None and bool(person[people.key] == key)

    def mine(self, table: str, key: Any) -> bool:
        """Whether a row is the person's, as it is now; one that the plan made is."""
        person, owners = self.draft.person, self.ground.people.owned.get(table, ())
        name = self.ground.spec.tables[table].key[0].name
        rows = self.rows.where(self.draft.world, table, name, key)
        if person is None or not rows or not owners:
            return bool(owners)
        row = self.rows.now(self.state, table, rows[0])
        return any(row[owner] == person[self.ground.people.key] for owner in owners)

    def stale(self, tool: m.Tool) -> bool:
        """Whether a tool may answer otherwise than in the beginning."""
        return bool(self.ground.reads[tool.name] & self.changed)
