"""Batches of questions: the same number of every environment, and none twice before its time."""

from __future__ import annotations

from collections import Counter

import pytest

from forgec.training.questions import Stratified

TASKS = {"library": [f"l{n}" for n in range(5)], "phone": ["p0", "p1", "p2"]}


def test_every_environment_has_the_same_number() -> None:
    for step in range(20):
        batch = Stratified(TASKS, per_environment=3).batch(step)
        assert Counter(question.environment for question in batch) == {"library": 3, "phone": 3}


def test_a_task_comes_again_when_all_others_have_come() -> None:
    sampler = Stratified(TASKS, per_environment=2)
    asked = [q.task for step in range(15) for q in sampler.batch(step) if q.environment == "phone"]
    for start in range(0, 30, 3):
        assert sorted(asked[start : start + 3]) == ["p0", "p1", "p2"]
    assert len({tuple(asked[start : start + 3]) for start in range(0, 30, 3)}) > 1


def test_a_batch_depends_on_its_number_and_the_seed_alone() -> None:
    assert Stratified(TASKS).batch(7) == Stratified({"library": TASKS["library"][::-1], "phone": TASKS["phone"]}).batch(
        7
    )
    assert Stratified(TASKS, seed=1).batch(7) != Stratified(TASKS, seed=2).batch(7)
    seeds = [question.seed for step in range(10) for question in Stratified(TASKS).batch(step)]
    assert len(set(seeds)) == len(seeds)


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(ValueError, match="no tasks of phone"):
        Stratified({"library": ["a"], "phone": []})
    with pytest.raises(ValueError, match="no environments"):
        Stratified({})
    with pytest.raises(ValueError, match="at least two"):
        Stratified(TASKS, per_environment=1)
