"""Batches that are filled up: for a question that teaches nothing, another one is asked (DAPO, arXiv 2503.14476)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from forgec.training.episodes import Episode, Played, Rollout
from forgec.training.questions import Question, Stratified


def filled(
    questions: Stratified, step: int, trajectories: int, play: Callable[[Sequence[Episode]], Rollout], *, rounds: int
) -> Rollout:
    """The episodes of a step, each question played `trajectories` times. Environments where fewer questions than were
    asked are worth learning from are asked as many as they lack, `rounds` times at most, and never more.
    """
    batch = questions.batch(step)
    rollout = play(_episodes(batch, trajectories))
    asked = dict.fromkeys((one.environment for one in batch), 0)
    for _ in range(rounds):
        worth = _worth(rollout.played)
        more: list[Question] = []
        for environment, had in asked.items():
            lacking = questions.per_environment - sum(one.environment == environment for one in worth)
            more += questions.more(step, environment, had, lacking)
            asked[environment] += lacking
        if not more:
            break
        rollout.add(play(_episodes(more, trajectories)))
    return rollout


def _episodes(questions: Sequence[Question], trajectories: int) -> list[Episode]:
    return [Episode(question, trial) for question in questions for trial in range(trajectories)]


def _worth(played: Sequence[Played]) -> set[Question]:
    """The questions whose trajectories differ in reward, masked ones aside."""
    rewards: dict[Question, set[float]] = {}
    for one in played:
        if not one.masked:
            rewards.setdefault(one.episode.question, set()).add(one.trajectory.reward)
    return {question for question, found in rewards.items() if len(found) > 1}
