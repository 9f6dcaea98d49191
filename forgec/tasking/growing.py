"""A plan that grows, and where it stands: the state that the next call is made in, and what was changed until then."""

from __future__ import annotations

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

    def stale(self, tool: m.Tool) -> bool:
        """Whether a tool may answer otherwise than in the beginning."""
        return bool(self.ground.reads[tool.name] & self.changed)
