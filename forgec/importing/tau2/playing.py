"""Gold actions of tau2-bench, played in our environment: which fail, which write, and which must come after others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forgec.importing.tau2.shape import Action
from forgec_runtime import Environment, Episode
from forgec_runtime.reward import state_differences


@dataclass(frozen=True)
class Played:
    """A gold action: whether it succeeded, the text of its error, and whether it changed the state."""

    number: int
    action: Action
    ok: bool
    text: str
    wrote: bool


@dataclass(frozen=True)
class Gold:
    """The gold actions of a task. `needs` are, for each that succeeded, the earlier ones it must come after."""

    played: tuple[Played, ...]
    changes: bool
    needs: dict[int, tuple[int, ...]]

    @property
    def sound(self) -> list[Played]:
        return [one for one in self.played if one.ok]

    @property
    def failed(self) -> list[Played]:
        return [one for one in self.played if not one.ok]


def play(environment: Environment, start: Episode, actions: Sequence[Action]) -> Gold:
    """Play the gold actions of a task in copies of the episode that it begins with."""
    episode = start.fork()
    played = []
    for number, action in enumerate(actions):
        before = episode.fork()
        ok, text = call(environment, episode, action)
        wrote = ok and bool(state_differences(before, episode))
        played.append(Played(number, action, ok, text, wrote))
    sound = [one for one in played if one.ok]
    needs = {one.number: _needs(environment, start, sound[:place], one) for place, one in enumerate(sound)}
    return Gold(tuple(played), bool(state_differences(start, episode)), _nearest(needs))


def call(environment: Environment, episode: Episode, action: Action) -> tuple[bool, str]:
    """One call, by the side that the tool is of. No call ends an episode here: tau2-bench plays on."""
    (result,) = environment.step([(episode, action.name, action.arguments)], by=None)
    episode.ended = False
    return result.ok, "" if result.ok else result.text


def _needs(environment: Environment, start: Episode, earlier: list[Played], later: Played) -> tuple[int, ...]:
    """Those of the earlier actions which may not be exchanged with a later one.

    All others are played before both, so that each pair is looked at by itself.
    """
    found = []
    for one in earlier:
        if not (one.wrote or later.wrote):
            continue
        in_order = start.fork()
        for other in earlier:
            if other is not one:
                call(environment, in_order, other.action)
        exchanged = in_order.fork()
        first = [call(environment, in_order, action)[0] for action in (one.action, later.action)]
        second = [call(environment, exchanged, action)[0] for action in (later.action, one.action)]
        if first != second[::-1] or state_differences(in_order, exchanged):
            found.append(one.number)
    return tuple(found)


def _nearest(needs: dict[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
    """The same without those that follow from others."""
    before: dict[int, set[int]] = {}
    for number, needed in needs.items():
        before[number] = set(needed).union(*(before[other] for other in needed))
    return {
        number: tuple(one for one in needed if not any(one in before[other] for other in needed))
        for number, needed in needs.items()
    }
