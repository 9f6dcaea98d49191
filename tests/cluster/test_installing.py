"""What is replaced in NeMo-RL: masks come before the questions are chosen, and masked trajectories weigh nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from forgec.cluster.estimator import MASKED, NemoEstimator
from forgec.cluster.exchange import observed, turn
from forgec.cluster.nemo_rl.installing import RefusedError, _estimators, _masked, _sampled_after_masks, install
from forgec.cluster.rows import RowError, read
from forgec.cluster.seats import Answer
from forgec.dialogue import Message
from forgec.training.questions import Question
from tests.cluster.test_estimator import options


def batch(**more: Any) -> dict[str, Any]:
    """Two questions of three trajectories; in the first only the masked one differs."""
    log = [{"role": "user", "token_ids": torch.tensor([1])}, {"role": "environment", "token_ids": torch.tensor([2])}]
    return {
        "message_log": [log] * 6,
        "extra_env_info": [{"environment": "library", "question": number // 3} for number in range(6)],
        "total_reward": torch.tensor([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
        "loss_multiplier": torch.ones(6),
        **more,
    }


@pytest.mark.parametrize(
    ("masked", "overlong"),
    [
        ({"loss_multiplier": torch.tensor([0.0, 1, 1, 1, 1, 1])}, False),
        ({"mask_sample": torch.tensor([True] + [False] * 5)}, False),
        ({"truncated": [True] + [False] * 5}, True),
    ],
)
@pytest.mark.parametrize("rows", ["numbers", "places"])
@pytest.mark.parametrize("kind", [dict, SimpleNamespace])
def test_questions_are_kept_by_their_valid_trajectories(
    masked: dict[str, Any], overlong: bool, kind: Any, rows: str
) -> None:
    if rows == "places":  # NeMo Gym's rows have no numbers
        masked = {**masked, "extra_env_info": None}
    seen: list[torch.Tensor] = []
    master = SimpleNamespace(grpo=kind(overlong_filtering=overlong, num_generations_per_prompt=3))
    sample = _sampled_after_masks(lambda batch, std, *rest: seen.append(std))
    sample(batch(**masked), torch.full((6,), 0.5), torch.zeros(6), 1, master, None, None)
    sample(batch(), torch.full((6,), 0.5), torch.zeros(6), 1, master, None, None)
    assert seen[0].tolist() == [0, 0, 0, 0.5, 0.5, 0.5]
    assert seen[1].tolist() == [0.5] * 6


def test_masked_episodes_weigh_nothing() -> None:
    played = batch()
    played["message_log"] = [*played["message_log"][:5], [{"role": MASKED}]]
    found, metrics = _masked(lambda **given: (played, {"turns": 3}))(given=1)
    assert found["loss_multiplier"].tolist() == [1, 1, 1, 1, 1, 0]
    assert metrics == {"turns": 3, "masked_rollouts": 1}


def test_only_our_recipes_get_our_estimator() -> None:
    create = _estimators(lambda config: "theirs")
    ours = options()
    assert isinstance(create(SimpleNamespace(grpo={"adv_estimator": ours})), NemoEstimator)
    model = SimpleNamespace(model_dump=lambda: ours)
    assert isinstance(create(SimpleNamespace(grpo=SimpleNamespace(adv_estimator=model))), NemoEstimator)
    assert create(SimpleNamespace(grpo={"adv_estimator": {"name": "grpo"}})) == "theirs"


def test_without_nemo_rl_nothing_is_installed() -> None:
    with pytest.raises(RefusedError, match="there is no NeMo-RL here"):
        install({})


METADATA = {"environment": "library", "task": "late", "seed": 7, "question": 3, "opening": "Hello", "seat": None}


def test_a_turn_is_what_the_policy_wrote_last() -> None:
    log = [{"role": "user", "content": "p"}, {"role": "assistant", "content": "so\n</think>\n\nYes"}]
    found = turn(log, METADATA, thinking=True)
    assert (found.question, found.wrote.text, found.seat, found.opening) == (
        Question("library", "late", 7), "Yes", None, "Hello"
    )  # fmt: skip


def test_a_turn_that_was_cut_off_in_its_thoughts_does_nothing() -> None:
    """Its `<think>` is in the prompt, so that what was generated does not tell."""
    thought = 'I might <tool_call>\n{"name": "delete_all", "arguments": {}}\n</tool_call>, or not'
    found = turn([{"role": "assistant", "content": thought}], METADATA, thinking=True)
    assert (found.wrote.text, found.wrote.calls, found.wrote.finish) == ("", (), "length")
    assert turn([{"role": "assistant", "content": "Yes"}], METADATA, thinking=False).wrote.text == "Yes"
    told = observed(Answer(9, (Message(role="user", content="Well?"),)), METADATA, thinking=True, ended=False)
    assert told.content.startswith("<|im_end|>\n<|im_start|>user\nWell?")


def test_an_observation_is_the_text_between_two_turns() -> None:
    answer = Answer(9, (Message(role="user", content="No."),))
    told = observed(answer, METADATA, thinking=True)
    assert told.content == "\n<|im_start|>user\nNo.<|im_end|>\n<|im_start|>assistant\n<think>\n"
    assert (told.reward, told.over, told.role) == (0.0, False, "environment")
    assert told.metadata == {**METADATA, "seat": 9}


def test_an_episode_that_failed_ends_masked_and_unpaid() -> None:
    told = observed(Answer(9, failure="a worker died"), METADATA, thinking=False)
    assert (told.role, told.reward, told.over) == (MASKED, 0.0, True)
    assert told.content  # some tokenizers make floats of no text


@pytest.mark.parametrize("line", ["", "{}", "[1]", '{"question": "x"}'])
def test_a_line_that_is_no_row_is_an_error(line: str) -> None:
    with pytest.raises(RowError, match="a line is no row"):
        read(line)
