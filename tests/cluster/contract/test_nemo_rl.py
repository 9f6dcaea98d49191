"""The plug-in in the real NeMo-RL, on a CPU: its actor, its rollouts, its masks, its loss; a script generates.

What has no CPU to run on is not here: the policy's workers, vLLM, and a whole step of training.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import ray
import torch
from nemo_rl.algorithms import grpo
from nemo_rl.algorithms.grpo import MasterConfig
from nemo_rl.algorithms.loss import ClippedPGLossFn
from nemo_rl.algorithms.loss.loss_functions import ClippedPGLossConfig
from nemo_rl.data.collate_fn import rl_collate_fn
from nemo_rl.data.datasets import load_response_dataset
from nemo_rl.data.llm_message_utils import batched_message_log_to_flat_message
from nemo_rl.distributed.batched_data_dict import BatchedDataDict
from nemo_rl.environments.utils import create_env
from nemo_rl.utils.config import load_config, register_omegaconf_resolvers
from nemo_rl.utils.timer import Timer
from omegaconf import OmegaConf
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from forgec.cluster.checkout import Checkout
from forgec.cluster.config import ClusterConfig
from forgec.cluster.estimator import MASKED
from forgec.cluster.modes import refusals
from forgec.cluster.nemo_rl.installing import install
from forgec.cluster.planning import Plan, plan
from forgec.dialogue import AssistantMessage
from forgec.rollouts.limits import Limits
from forgec.training.advantages import advantages
from forgec.training.episodes import Episode, Stage
from forgec.training.questions import Question
from forgec.users.scripted import ScriptedUser
from forgec_runtime import load_environment
from tests.cluster.vector import ADVANTAGES, ENVIRONMENTS, MASK, REWARDS
from tests.cluster.vector import QUESTIONS as QUESTION_OF

ROOT = Path(__file__).parents[3]
QUESTIONS, TRAJECTORIES = 2, 4
LIMITS = Limits(turns=30, calls=60, seconds=None)
CONTROL = ("<|im_start|>", "<|im_end|>", "<|endoftext|>")


@pytest.fixture(scope="session")
def tokenizer() -> PreTrainedTokenizerFast:
    """A token for each byte, and for what Qwen's dialogues are held together by."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE({letter: number for number, letter in enumerate(alphabet)}, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([AddedToken(one, special=True) for one in CONTROL])
    return PreTrainedTokenizerFast(tokenizer_object=made, pad_token=CONTROL[2], eos_token=CONTROL[1])


@pytest.fixture(scope="session")
def planned(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Plan:
    packages = [{"package": str(ROOT / "generated" / name)} for name in ("library", "phone")]
    config = ClusterConfig.model_validate({
        "checkout": str(checkout), "rollouts": "native", "environments": packages, "workers": 2,
        "model": {"tokens": 60_000, "turn_tokens": 4_000},
        "algorithm": {"questions": QUESTIONS, "trajectories": TRAJECTORIES, "steps": 2, "validation": 2},
        "launch": {"gpus": 1},
    })  # fmt: skip
    made = plan(config, tmp_path_factory.mktemp("run"), python=None, untested=False, tell=lambda text: None)
    assert not made.stops, [one.text for one in made.findings]
    made.write()
    return made


@pytest.fixture(scope="session")
def composed(planned: Plan) -> dict[str, Any]:
    register_omegaconf_resolvers()
    found: dict[str, Any] = OmegaConf.to_container(load_config(str(planned.folder / "recipe.yaml")), resolve=True)
    return found


@pytest.fixture(scope="session")
def master(composed: dict[str, Any]) -> MasterConfig:
    return MasterConfig(**composed)


@pytest.fixture(scope="session")
def installed(composed: dict[str, Any]) -> None:
    install(composed)


@pytest.fixture(scope="session")
def actor(composed: dict[str, Any], installed: None) -> Iterator[Any]:
    os.environ["RAY_AUTH_MODE"] = "disabled"
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
    made = create_env("forgec", composed["env"]["forgec"])
    yield made
    ray.get(made.shutdown.remote())
    ray.shutdown()


@pytest.fixture(scope="session")
def batch(composed: dict[str, Any], tokenizer: PreTrainedTokenizerFast) -> BatchedDataDict[Any]:
    """The first batch, as NeMo-RL's own loader makes it of our rows."""
    data = composed["data"]
    dataset = load_response_dataset({**data["train"], **data["default"]})
    count = 2 * QUESTIONS
    rows = [dataset.processor(dataset.dataset[i], dataset.task_spec, tokenizer, 60_000, i) for i in range(count)]
    made: BatchedDataDict[Any] = rl_collate_fn(rows).repeat_interleave(TRAJECTORIES)
    return made


def test_the_recipe_is_a_configuration_of_nemo_rl(composed: dict[str, Any], master: MasterConfig) -> None:
    assert refusals(composed) == []
    assert composed["policy"]["generation"]["vllm_cfg"]["async_engine"] is False
    assert composed["data"]["default"]["env_name"] == "forgec"
    assert "_override_" not in str(composed)


def test_the_recipe_for_nemo_gym_is_one_too(checkout: Path, installed: None, tmp_path: Path) -> None:
    if not Checkout.at(checkout).masks:
        pytest.skip("this NeMo-RL does not keep what NeMo Gym masks out of the loss: its path is refused")
    from nemo_rl.environments.nemo_gym import should_use_nemo_gym

    packages = [{"package": str(ROOT / "generated" / name)} for name in ("library", "phone")]
    asked = ClusterConfig.model_validate({
        "checkout": str(checkout), "rollouts": "gym", "environments": packages, "launch": {"gpus": 1},
        "model": {"tokens": 60_000}, "algorithm": {"questions": 2, "trajectories": 4, "steps": 1, "validation": 2},
    })  # fmt: skip
    made = plan(asked, tmp_path / "run", python=None, untested=False, tell=lambda text: None)
    assert not made.stops, [one.text for one in made.findings]
    made.write()
    register_omegaconf_resolvers()
    found: Any = OmegaConf.to_container(load_config(str(made.folder / "recipe.yaml")), resolve=True)
    assert refusals(found) == []
    master = MasterConfig(**found)
    assert should_use_nemo_gym(master)
    assert list(grpo._create_advantage_estimator(master).numbers) == ["library_agent", "phone_agent"]
    row = load_response_dataset({**found["data"]["train"], **found["data"]["default"]})
    datum = row.processor(row.dataset[0], row.task_spec, None, None, 0)
    assert datum["extra_env_info"]["agent_ref"]["name"] == "library_agent"


def test_a_batch_has_the_same_number_of_questions_of_each_environment(batch: BatchedDataDict[Any]) -> None:
    asked = [(one["environment"], one["question"]) for one in batch["extra_env_info"]]
    assert [name for name, _ in asked] == ["library"] * 8 + ["phone"] * 8
    assert len({*asked}) == 4


class Scripted:
    """Generates what gold would write in every other trajectory, and idle talk in the others."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast, batch: BatchedDataDict[Any]) -> None:
        self.tokenizer = tokenizer
        self.scripts = [self._script(number, info) for number, info in enumerate(batch["extra_env_info"])]
        self.prompts: list[list[int]] = []

    def _script(self, number: int, info: Mapping[str, Any]) -> list[str]:
        if number % 2:
            return [f"<think>\nrow {number};\n</think>\n\nGood day.<|im_end|>"] * 40
        question = Question(info["environment"], info["task"], info["seed"])
        environment = load_environment(ROOT / "generated" / question.environment)
        stage = Stage({question.environment: environment}, ScriptedUser, limits=LIMITS)
        (played,) = stage.gold([Episode(question)])
        return [
            _written(AssistantMessage(text=one.content, calls=one.tool_calls, reasoning=f"row {number};"))
            for one in played.messages if one.role == "assistant"
        ]  # fmt: skip

    def generate(self, data: BatchedDataDict[Any], greedy: bool = False) -> BatchedDataDict[Any]:
        outputs, lengths = [], []
        for place, (ids, length) in enumerate(zip(data["input_ids"], data["input_lengths"], strict=True)):
            read = ids[:length]
            text = self.tokenizer.decode(read)
            known = re.search(r"row (\d+);", text)
            number = place if known is None else int(known.group(1))
            turn = len(re.findall(r"<think>\nrow \d+;", text))
            wrote = self.tokenizer(self.scripts[number][turn], return_tensors="pt", add_special_tokens=False)
            self.prompts.append(read.tolist())
            outputs.append(torch.cat([read, wrote.input_ids[0]]))
            lengths.append(len(wrote.input_ids[0]))
        padded = torch.nn.utils.rnn.pad_sequence(outputs, batch_first=True, padding_value=self.tokenizer.pad_token_id)
        return BatchedDataDict({
            "output_ids": padded,
            "generation_lengths": torch.tensor(lengths),
            "unpadded_sequence_lengths": torch.tensor([len(one) for one in outputs]),
            "logprobs": torch.zeros(padded.shape),
        })  # fmt: skip


def _written(message: AssistantMessage) -> str:
    calls = "\n".join(
        f'<tool_call>\n{{"name": "{one.name}", "arguments": {one.arguments}}}\n</tool_call>' for one in message.calls
    )
    return f"<think>\n{message.reasoning}\n</think>\n\n{message.text}{calls}<|im_end|>"


@pytest.fixture(scope="session")
def played(
    actor: Any, batch: BatchedDataDict[Any], tokenizer: PreTrainedTokenizerFast
) -> tuple[BatchedDataDict[Any], dict[str, Any], Scripted]:
    """A whole rollout; the first row's user begins otherwise than its prompt says."""
    generator = Scripted(tokenizer, batch)
    asked = batch.copy()
    asked["extra_env_info"] = [dict(one) for one in batch["extra_env_info"]]
    asked["message_log"] = [[dict(one) for one in log] for log in batch["message_log"]]
    asked["extra_env_info"][0]["opening"] = "Something else."
    found, metrics = grpo.run_multi_turn_rollout(
        policy_generation=generator, input_batch=asked, tokenizer=tokenizer, task_to_env={"forgec": actor},
        max_seq_len=60_000, max_rollout_turns=31,
    )  # fmt: skip
    return found, metrics, generator


def test_gold_is_paid_and_idle_talk_is_not(played: Any) -> None:
    found, metrics, _ = played
    assert found["total_reward"].tolist() == [0.0, 0.0] + [1.0, 0.0] * 7
    assert not found["truncated"].any()
    assert metrics["max_turns_reached_rate"] == 0.0  # our limits come first


def test_what_failed_is_masked_and_nothing_else(played: Any) -> None:
    found, metrics, _ = played
    assert found["loss_multiplier"].tolist() == [0.0] + [1.0] * 15
    assert metrics["masked_rollouts"] == 1


def test_every_prompt_begins_with_the_one_before(played: Any) -> None:
    """Token ids are only appended, so that what was thought stays."""
    found, _, generator = played
    whole = [torch.cat([one["token_ids"] for one in log]).tolist() for log in found["message_log"]]
    for prompt in generator.prompts:
        assert any(tokens[: len(prompt)] == prompt for tokens in whole)


def test_no_episode_is_left_behind(actor: Any, played: Any) -> None:
    assert ray.get(actor.playing.remote()) == 0


def test_a_masked_trajectory_has_no_gradient_and_no_vote(played: Any, master: MasterConfig) -> None:
    found, _, _ = played
    grpo.add_grpo_token_loss_masks_and_generation_logprobs(found["message_log"])
    flat, _ = batched_message_log_to_flat_message(found["message_log"], pad_value_dict={"token_ids": 0})
    sample_mask = found["loss_multiplier"]
    mask = flat["token_loss_mask"] * sample_mask.unsqueeze(-1)
    estimator = grpo._create_advantage_estimator(master)
    values = estimator.compute_advantage(
        prompt_ids=torch.zeros(16, 1), rewards=found["total_reward"], mask=mask, repeated_batch=found
    )
    questions = torch.tensor([one["question"] for one in found["extra_env_info"]])
    environments = torch.tensor([0] * 8 + [1] * 8)
    expected = advantages(
        found["total_reward"], questions, environments, sample_mask > 0,
        estimator.estimator, kept=torch.ones(16, dtype=torch.bool),
    )  # fmt: skip
    assert torch.equal(values[:, 0], expected.values)
    assert expected.values[0] == 0 and (expected.values[1:] != 0).all()
    assert estimator.last_metrics["erpo/masked"] == pytest.approx(1 / 16)

    shape = mask.shape
    logprobs = torch.full((shape[0], shape[1] - 1), -1.0, requires_grad=True)  # of the next tokens
    data = BatchedDataDict(
        {
            "input_ids": flat["token_ids"],
            "token_mask": flat["token_loss_mask"],
            "sample_mask": sample_mask,
            "advantages": values,
            "prev_logprobs": torch.full(shape, -1.0),
            "reference_policy_logprobs": torch.full(shape, -1.0),
            "generation_logprobs": torch.full(shape, -1.0),
        }
    )
    loss_fn = ClippedPGLossFn(ClippedPGLossConfig(**dict(master.loss_fn)))
    loss, _ = loss_fn(
        next_token_logprobs=logprobs, data=data, global_valid_seqs=sample_mask.sum(), global_valid_toks=mask.sum()
    )
    loss.backward()
    assert logprobs.grad is not None
    assert not logprobs.grad[0].any()
    trained = logprobs.grad != 0
    assert torch.equal(trained, mask[:, 1:] > 0)  # what was written, and nothing that was read


def test_dynamic_sampling_does_not_look_at_masked_trajectories(played: Any, master: MasterConfig) -> None:
    """The first question's only variance, once its gold trajectories are masked, is theirs."""
    found, _, _ = played
    asked = found.copy()
    asked["loss_multiplier"] = found["loss_multiplier"].clone()
    asked["loss_multiplier"][2] = 0.0
    std = torch.ones(16)
    _, complete, cache, _ = grpo.dynamic_sampling(asked, std, torch.zeros(16), 1, master, Timer(), None)
    assert not complete  # three questions of four are kept, so that it asks again
    assert cache.size == 12
    assert {one["question"] for one in cache["extra_env_info"]} == {1, 2, 3}


def test_questions_that_begin_with_the_same_words_are_chosen_apart(installed: None, master: MasterConfig) -> None:
    """Rows of NeMo Gym have no numbers, and NeMo-RL's deviations are by prompts: all of these are one to it."""
    rewards = torch.tensor([1.0, 0, 0, 0] + [1.0] * 4 + [0.0] * 8)
    asked: BatchedDataDict[Any] = BatchedDataDict({
        "message_log": [[{"role": "user", "content": "Hi", "token_ids": torch.tensor([1])}] for _ in range(16)],
        "agent_ref": [{"name": "library_agent"}] * 16,
        "total_reward": rewards, "loss_multiplier": torch.ones(16), "truncated": torch.zeros(16, dtype=torch.bool),
    })  # fmt: skip
    baseline, std = grpo.calculate_baseline_and_std_per_prompt(
        torch.ones(16, 1), rewards, torch.ones(16), leave_one_out_baseline=False
    )
    assert (std > 0).all()
    _, _, cache, _ = grpo.dynamic_sampling(asked, std, baseline, 1, master, Timer(), None)
    assert cache["filtered_reward"].tolist() == [1.0, 0.0, 0.0, 0.0]


def test_the_reference_vector_comes_out_of_the_patched_factory(installed: None, master: MasterConfig) -> None:
    rows = [
        {"environment": name, "question": question} for name, question in zip(ENVIRONMENTS, QUESTION_OF, strict=True)
    ]
    values = grpo._create_advantage_estimator(master).compute_advantage(
        prompt_ids=torch.zeros(12, 1), rewards=REWARDS, mask=MASK, repeated_batch={"extra_env_info": rows}
    )
    assert torch.allclose(values[:, 1], torch.tensor(ADVANTAGES), atol=1e-4)


def test_asynchronous_rollouts_play_the_same_episodes(
    actor: Any, batch: BatchedDataDict[Any], tokenizer: PreTrainedTokenizerFast
) -> None:
    """One call for each episode, many at once."""

    async def ask(row: int) -> Any:
        log = [{"role": "assistant", "content": "</think>\n\nGood day."}]
        return await asyncio.to_thread(lambda: ray.get(actor.step.remote([log], [dict(batch["extra_env_info"][row])])))

    async def all_of_them() -> list[Any]:
        return list(await asyncio.gather(*(ask(row % 16) for row in range(64))))

    answers = asyncio.run(all_of_them())
    assert all(not one.terminateds.any() for one in answers)
    assert all(one.observations[0]["content"].startswith("\n<|im_start|>user\n") for one in answers)


def test_a_worker_that_dies_takes_its_episodes_with_it_and_nothing_else(
    actor: Any, batch: BatchedDataDict[Any], played: Any
) -> None:
    """Of two episodes the workers have one each; the later turns of one are masked, and new episodes are played."""
    log = [{"role": "assistant", "content": "</think>\n\nGood day."}]
    begun = ray.get(actor.step.remote([log] * 2, [dict(one) for one in batch["extra_env_info"][:2]]))
    assert not begun.terminateds.any()
    ray.get(actor.__ray_call__.remote(lambda self: ray.kill(self.players[0])))
    later = ray.get(actor.step.remote([log] * 2, begun.metadata))
    roles = {one["worker"]: told["role"] for one, told in zip(begun.metadata, later.observations, strict=True)}
    assert roles == {0: MASKED, 1: "environment"}
    again = ray.get(actor.step.remote([log] * 2, [dict(one) for one in batch["extra_env_info"][:2]]))
    assert not again.terminateds.any()
