"""Reinforcement of one question, again and again: all of the path has to be right for it to get anywhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import fmean

from forgec.rollouts.limits import Limits
from forgec.training import policy, tokenizer
from forgec.training.advantages import ESTIMATORS
from forgec.training.demonstrations import demonstration, names, texts
from forgec.training.episodes import Episode, Played, Stage
from forgec.training.learner import Learner
from forgec.training.objective import Objective
from forgec.training.policy import Shape
from forgec.training.questions import Question
from forgec.training.template import Template
from forgec.users.scripted import ScriptedUser
from forgec_runtime import load_environment

SHAPE = Shape(width=64, layers=2, heads=4, kv_heads=2, feed_forward=128, context=384)
QUESTION = Question("mock", "minutes_sent", 0)
MIN_P = 0.02
IMITATED = 60
STEPS = 20


def test_what_succeeds_now_and_then_mostly_does_after_a_few_steps_of_reinforcement() -> None:
    environments = {"mock": load_environment(Path("generated/mock"))}
    stage = Stage(environments, ScriptedUser, limits=Limits(turns=7, silent=2, seconds=None))
    gold = stage.gold([Episode(QUESTION)])
    made = tokenizer.train(texts(gold), names(environments, gold), 500)
    template = Template(made)
    shown = demonstration(gold[0], template, [tool.schema for tool in environments["mock"].tools.values()])
    model = policy.new(SHAPE, made.size, seed=0)

    def played(seed: str, trials: int) -> list[Played]:
        asked = [Episode(QUESTION, trial) for trial in range(trials)]
        return stage.rollout(model, template, asked, seed, min_p=MIN_P, longest_turn=64).played

    # two of three that are imitated set the status that is not asked for
    right, wrong = (made.names[status] for status in ("completed", "pending"))
    calls = [token == right and drawn for token, drawn in zip(shown.ids, shown.mask, strict=True)]
    spoilt = replace(shown, ids=[wrong if call else token for call, token in zip(calls, shown.ids, strict=True)])
    assert sum(calls) == 1
    imitating = Learner(model, 4e-3, matrices=1e-2)
    for _ in range(IMITATED):
        imitating.imitate([shown, spoilt, spoilt])
    before = success(played("before", 32))
    assert 0.05 <= before <= 0.4

    learner = Learner(model, 1e-3)
    for step in range(STEPS):
        learner.reinforce(played(f"step {step}", 16), ["mock"], ESTIMATORS["erpo"], Objective(), min_p=MIN_P)
    after = success(played("after", 32))
    assert after >= 0.7, f"{before:.0%} became {after:.0%}"


def success(played: list[Played]) -> float:
    return fmean(one.trajectory.reward for one in played)
