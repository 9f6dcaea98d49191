"""What comes of a synthesis: declarations, what was left out and why, what the model was asked for and what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from forgec.certifying import Verdict
from forgec.starting.values import without_controls
from forgec.synthesis.asking.asker import Spent
from forgec.synthesis.declarations import Declarations
from forgec.synthesis.judging import Shown
from forgec.synthesis.naming import Named


@dataclass(frozen=True)
class Left:
    """Something that is not in the spec: an operation, a declaration, a part of an answer; at which stage, and why."""

    stage: str
    what: str
    why: str


@dataclass
class Made:
    """The result, as it grows from stage to stage."""

    name: str
    operations: Sequence[Named]
    declarations: Declarations = field(default_factory=Declarations)
    left: list[Left] = field(default_factory=list)
    shown: dict[str, Shown] = field(default_factory=dict)
    """What tests that pass show of tools, by their names."""
    errors: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The codes of documented errors that a test says to show, by its key."""
    edges: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    spent: dict[str, Spent] = field(default_factory=dict)
    rounds: dict[str, int] = field(default_factory=dict)
    """How often something was corrected, by stage."""

    def leave(self, stage: str, what: str, why: str) -> None:
        one = Left(stage, _plain(what)[:200], _plain(why)[:600])
        if one not in self.left:
            self.left.append(one)


def _plain(text: str) -> str:
    """One line, without what a terminal would obey: it may quote what a model said."""
    return " ".join(without_controls(text).split())
