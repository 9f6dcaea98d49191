"""Batches are filled up with questions that are worth learning from, and no further than was said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from forgec.rollouts.trajectory import Times, Trajectory, UserVerdict
from forgec.training.batches import Written
from forgec.training.episodes import Episode, Played, Rollout
from forgec.training.filling import filled
from forgec.training.questions import Stratified

TASKS = {"library": ["easy", "hopeless"], "phone": ["easy", "half"]}


class Table:
    """Plays episodes by rules in place of a policy: of `half`, every second trial is paid; of `user`, all others are
    masked."""

    def __init__(self) -> None:
        self.calls: list[Counter[str]] = []

    def __call__(self, asked: Sequence[Episode]) -> Rollout:
        self.calls.append(Counter(one.question.environment for one in asked if one.trial == 0))
        return Rollout([self._played(one) for one in asked], [], 1.0, len(asked))

    def _played(self, one: Episode) -> Played:
        task, first = one.question.task, one.trial % 2 == 0
        reward = {"easy": 1.0, "hopeless": 0.0}.get(task, float(first))
        trajectory = Trajectory(
            format=1, environment=one.question.environment, task=task, seed=one.question.seed, trial=one.trial,
            agent="policy", user="scripted", messages=(), turns=1, calls=0, end="satisfied", reward=reward, parts={},
            digest="", user_verdict=UserVerdict(mask=task == "user" and first, source="rules"),
            times=Times(total=0, agent=0, user=0, environment=0),
        )  # fmt: skip
        return Played(one, trajectory, Written())


def fill(tasks: dict[str, list[str]], rounds: int, step: int = 3) -> tuple[Table, Rollout]:
    table = Table()
    return table, filled(Stratified(tasks, 4, seed=1), step, 2, table, rounds=rounds)


def test_an_environment_is_asked_more_until_enough_is_worth_learning_from() -> None:
    table, rollout = fill(TASKS, rounds=50)
    assert table.calls[0] == {"library": 4, "phone": 4}
    worth = {one.episode.question for one in rollout.played if one.trajectory.task == "half"}
    assert len(worth) == 4
    assert len(rollout.played) == 2 * sum(sum(one.values()) for one in table.calls) == rollout.tokens
    assert rollout.decoding == len(table.calls)


def test_what_never_varies_is_asked_no_more_often_than_was_said() -> None:
    table, rollout = fill({"library": ["hopeless"], "phone": ["half"]}, rounds=3)
    assert table.calls == [{"library": 4, "phone": 4}, *[{"library": 4}] * 3]
    assert len({one.episode.question.seed for one in rollout.played}) == 20, "no question is asked twice"
    assert len(fill(TASKS, rounds=0)[0].calls) == 1


def test_masked_trajectories_make_no_difference() -> None:
    assert fill({"phone": ["user"]}, rounds=2)[0].calls == [{"phone": 4}] * 3


def test_the_same_step_asks_the_same_and_another_step_something_else() -> None:
    def keys(step: int) -> list[object]:
        return [one.episode.key for one in fill(TASKS, rounds=3, step=step)[1].played]

    assert keys(3) == keys(3)
    assert not {*keys(3)} & {*keys(4)}
