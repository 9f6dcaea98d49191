"""Where two judges of the same episodes agree, and why they do not where they do not; as JSON and as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from forgec.diagnostics import counted
from forgec.diagnostics.cells import clean
from forgec.regrading.published import STOPPED, Paid

MAX_TEXT = 120
"""How many characters of an answer are shown."""
MAX_NAMED = 10
"""How many episodes that were left out for one reason are named."""


@dataclass(frozen=True)
class LeftOut:
    """An episode that was not played again."""

    task: str
    trial: int
    why: str


@dataclass(frozen=True)
class Answered:
    """A call, by its number from 1, and what both answered to it."""

    number: int
    tool: str
    theirs: str
    ours: str


@dataclass(frozen=True)
class Episode:
    """What both found of an episode."""

    task: str
    """Its id in tau2-bench."""
    name: str
    """Its name here."""
    trial: int
    theirs: Paid
    ended: str
    """How it ended there."""
    reward: float
    parts: Mapping[str, float]
    reasons: tuple[str, ...]
    other: Answered | None
    """The first call that was answered otherwise here."""
    beside: str
    """What the agent wrote beside calls, as tau2-bench looks at it: in lower case, without commas."""
    has_state: bool
    """Whether tau2-bench has a final state to compare with."""

    @property
    def agrees(self) -> bool:
        return (self.reward == 1.0) == (self.theirs.reward == 1.0)

    @property
    def states_agree(self) -> bool | None:
        """Whether both say the same of the final state; None where tau2-bench says nothing."""
        check = self.theirs.db_check
        if check is None or not self.has_state or self.ended not in STOPPED:
            return None
        return check.db_match == (self.parts["state"] == 1.0)

    @property
    def causes(self) -> list[str]:
        """Why the rewards differ, where they do; `not explained` where none of the known causes holds."""
        return [] if self.agrees else list(self._causes()) or ["not explained"]

    def _causes(self) -> Iterator[str]:
        theirs, basis = self.theirs, self.theirs.reward_basis or ()
        if self.ended not in STOPPED:
            yield f"tau2-bench pays nothing for an episode that ends so: {self.ended}"
            return
        if theirs.part("NL_ASSERTION") == 0.0:
            yield "an assertion that a model judged was not met"
        if theirs.part("ACTION") == 0.0:
            yield "the calls were not those of the gold, which tau2-bench demands there"
        if self.states_agree is False:
            yield "the states are judged otherwise" + (
                f": {self.other.tool} was answered otherwise" if self.other else ""
            )
        if not self.has_state and self.parts["state"] == 0.0:
            yield "tau2-bench takes any state for right where a task has neither gold calls nor assertions"
        told = theirs.part("COMMUNICATE")
        if self.parts["says"] == 0.0 and told != 0.0:
            if told is None or "COMMUNICATE" not in basis:
                yield "what has to be said is no part of the reward in tau2-bench"
            elif any(one.info.lower() in self.beside for one in theirs.communicate_checks or ()):
                yield "what has to be said was written beside a call, where no user hears it"
            else:
                yield "what was said has it as a part of another word or number"
        elif told == 0.0 and self.parts["says"] == 1.0:
            yield "what was said has it in another form, which tau2-bench does not read"
        asserted = theirs.part("ENV_ASSERTION")
        if asserted is not None and (asserted == 1.0) != (self.parts["expect"] == 1.0):
            yield "the assertions are judged otherwise"
        for part in ("never", "rule"):
            if self.parts[part] == 0.0:
                yield f"tau2-bench knows nothing of `{part}`"

    def json(self) -> dict[str, Any]:
        """What scripts read of it."""
        other = self.other
        return {
            "task": self.task, "name": self.name, "trial": self.trial, "ended": self.ended,
            "tau2": {"reward": self.theirs.reward, "parts": self.theirs.reward_breakdown},
            "forgec": {"reward": self.reward, "parts": dict(self.parts), "reasons": list(self.reasons)},
            "agrees": self.agrees, "causes": self.causes,
            "answered_otherwise": None if other is None else vars(other),
        }  # fmt: skip


@dataclass
class Report:
    """Of all episodes of a file."""

    episodes: list[Episode] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    stopped: str = ""
    """Why not all were played, if so."""

    @property
    def differing(self) -> list[Episode]:
        return [one for one in self.episodes if not one.agrees]

    @property
    def unexplained(self) -> list[Episode]:
        return [one for one in self.differing if one.causes == ["not explained"]]

    def json(self) -> dict[str, Any]:
        """The report as JSON holds it."""
        return {
            "episodes": len(self.episodes), "agree": len(self.episodes) - len(self.differing),
            "states": self._states(), "means": self._means(), "causes": dict(self._causes()),
            "differing": [one.json() for one in self.differing],
            "answered_otherwise": [
                {"task": one.task, "trial": one.trial, **vars(one.other)} for one in self.episodes if one.other
            ],
            "left_out": [vars(one) for one in self.left_out], "stopped": self.stopped,
        }  # fmt: skip

    def text(self) -> str:
        """The report for people."""
        return "\n".join(clean(line) for lines in self._lines() for line in lines.split("\n"))

    def _states(self) -> dict[str, int]:
        judged = [one.states_agree for one in self.episodes if one.states_agree is not None]
        return {"judged": len(judged), "agree": sum(judged)}

    def _means(self) -> dict[str, float | None]:
        count = len(self.episodes)
        return {
            "tau2": sum(one.theirs.reward for one in self.episodes) / count if count else None,
            "forgec": sum(one.reward for one in self.episodes) / count if count else None,
        }

    def _causes(self) -> Counter[str]:
        return Counter(cause for one in self.differing for cause in one.causes)

    def _lines(self) -> Iterator[str]:
        count, differing, states, means = len(self.episodes), self.differing, self._states(), self._means()
        yield f"{counted(count, 'episode')} played again; the rewards agree in {count - len(differing)}"
        if count:
            yield f"mean reward {means['tau2']:.3f} in tau2-bench, {means['forgec']:.3f} here"
        if states["judged"]:
            yield f"whether the final state is right: {states['agree']} of {states['judged']} agree"
        otherwise = [one for one in self.episodes if one.other]
        if otherwise:
            yield f"\nA call was answered otherwise in {counted(len(otherwise), 'episode')}; the first in each:"
            for one in otherwise:
                assert one.other is not None
                yield f"  {one.task}, trial {one.trial}, call {one.other.number}, {one.other.tool}:"
                yield f"    tau2-bench: {_short(one.other.theirs)}"
                yield f"    here:       {_short(one.other.ours)}"
        if differing:
            yield f"\nThe rewards differ in {counted(len(differing), 'episode')}:"
            for cause, times in self._causes().most_common():
                yield f"  {times} x {cause}"
            for one in differing:
                yield f"  {one.task}, trial {one.trial}: {one.theirs.reward:g} there, {one.reward:g} here"
                yield from (f"    {cause}" for cause in one.causes)
                yield from (f"    here: {_short(reason)}" for reason in one.reasons)
        if self.left_out:
            yield f"\n{counted(len(self.left_out), 'episode')} not played again:"
            for why, some in _by_reason(self.left_out).items():
                named = "; ".join(f"{one.task}, trial {one.trial}" for one in some[:MAX_NAMED])
                more = f"; and {len(some) - MAX_NAMED} more" if len(some) > MAX_NAMED else ""
                yield f"  {why}: {named}{more}"
            if not count:
                yield "\nIs this the right environment? `forgec import tau2 --tasks` takes over the tasks of a file."
        if self.stopped:
            yield f"\nstopped: {self.stopped}"


def _by_reason(left_out: Sequence[LeftOut]) -> dict[str, list[LeftOut]]:
    found: dict[str, list[LeftOut]] = {}
    for one in left_out:
        found.setdefault(one.why, []).append(one)
    return found


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_TEXT else f"{line[:MAX_TEXT]}..."
