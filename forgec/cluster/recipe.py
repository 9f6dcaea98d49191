"""The recipe that NeMo-RL is run with: its own configuration, inherited from its checkout, with what a run asks for."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import yaml

from forgec.cluster import chat
from forgec.cluster.checkout import BASE, Checkout
from forgec.cluster.config import ClusterConfig
from forgec.training.advantages import ESTIMATORS
from forgec.training.config import ConfigError

Tree = dict[str, Any]


def recipe(
    config: ClusterConfig, checkout: Checkout, folder: Path, environments: Sequence[str], *, validation: int,
    gym: Sequence[Path] = (),
) -> Tree:  # fmt: skip
    """The configuration of a run whose files are in `folder`: `train.jsonl`, and `validation.jsonl` of so many rows.

    `environments` are numbered in their order. `gym` are the configurations of NeMo Gym's servers, where it is used.
    Raises `ConfigError` where `config.recipe` has a value for what is a table, or the other way round.
    """
    made: Tree = {"defaults": str(checkout.folder / BASE)}
    for part in (_algorithm(config, environments, validation), _policy(config), _run(config, folder)):
        _merge(made, part)
    _merge(made, _gym(config, folder, gym) if config.rollouts == "gym" else _native(config, folder))
    _merge(made, config.recipe)
    return made


def as_yaml(made: Mapping[str, Any]) -> str:
    """The recipe as it is written."""
    return yaml.safe_dump(dict(made), sort_keys=False, allow_unicode=True, width=120)


def yaml_text(text: str) -> str:
    """A text as YAML has it, in one line."""
    return yaml.safe_dump(text, default_style='"', width=sys.maxsize).strip()


def _algorithm(config: ClusterConfig, environments: Sequence[str], validation: int) -> Tree:
    part = config.algorithm
    gym = config.rollouts == "gym"
    return {
        "grpo": {
            "num_prompts_per_step": config.asked,
            "num_generations_per_prompt": part.trajectories,
            "max_num_steps": part.steps,
            "max_num_epochs": 1_000_000,  # steps are what ends it
            "max_rollout_turns": config.limits.turns + 1,  # our limit is reached first, and judged
            "normalize_rewards": True,
            "use_leave_one_out_baseline": False,
            "overlong_filtering": True,
            "use_dynamic_sampling": part.dynamic_sampling,
            "dynamic_sampling_max_gen_batches": part.generation_batches,
            "val_period": part.validate_every,
            "val_at_start": True,
            "val_at_end": True,
            # NeMo Gym's script sets both to the number of rows
            "max_val_samples": None if gym else validation,
            "val_batch_size": None if gym else validation,
            "seed": config.seed,
            "adv_estimator": {"name": part.estimator, "forgec": _estimator(config, environments)},
        },
        "loss_fn": {
            "reference_policy_kl_penalty": part.kl,
            "ratio_clip_min": part.clip_low,
            "ratio_clip_max": part.clip_high,
            "token_level_loss": part.aggregation == "tokens",
            "sequence_level_importance_ratios": part.level == "sequence",
        },
    }


def _estimator(config: ClusterConfig, environments: Sequence[str]) -> Tree:
    """Every option of the estimator: what `NemoEstimator.of` reads."""
    part = config.algorithm
    known = ESTIMATORS[part.estimator]
    chosen = replace(
        known, ddof=part.ddof, eps=part.eps if known.scale != "none" else known.eps,
        floor=part.floor if known.scale == "environment" else known.floor,
    )  # fmt: skip
    options = asdict(chosen)
    del options["reward_range"], options["reward_ranges"]
    return {
        **options,
        "environments": list(environments),
        "trajectories": part.trajectories,
        "reward_ranges": [list(one.reward_range) for one in config.environments],
        "drop_constant": part.dynamic_sampling,
        "running": part.running,
    }


def _policy(config: ClusterConfig) -> Tree:
    part = config.algorithm
    return {
        "policy": {
            "model_name": config.model.name,
            "max_total_sequence_length": config.model.tokens,
            "train_global_batch_size": config.batch,
            "train_micro_batch_size": 1,
            "logprob_batch_size": 1,
            "optimizer": {"kwargs": {"lr": part.learning_rate}},
            # read where Megatron trains, which a recipe may ask for
            "megatron_cfg": {"optimizer": {"lr": part.learning_rate, "min_lr": part.learning_rate}},
            "generation": {
                "max_new_tokens": config.model.turn_tokens,
                "temperature": part.temperature,
                "stop_strings": None,
                "stop_token_ids": None,
            },
        }
    }


def _run(config: ClusterConfig, folder: Path) -> Tree:
    return {
        "checkpointing": {
            "checkpoint_dir": str(folder / "checkpoints"),
            "save_period": config.algorithm.save_every,
            "model_save_format": "safetensors",
            "save_consolidated": True,
        },
        "logger": {"log_dir": str(folder / "logs"), "tensorboard_enabled": True},
        "cluster": {"num_nodes": config.launch.nodes, "gpus_per_node": config.launch.gpus},
    }


def _native(config: ClusterConfig, folder: Path) -> Tree:
    return {
        "policy": {"generation": {"vllm_cfg": {"async_engine": False}}},
        "data": {
            "max_input_seq_length": config.model.tokens,
            "shuffle": False,
            "num_workers": 1,
            "use_multiple_dataloader": False,
            "train": {"data_path": str(folder / "train.jsonl")},
            "validation": {"data_path": str(folder / "validation.jsonl")},
            "default": {
                "dataset_name": "forgec.cluster.nemo_rl.dataset.ForgecDataset",
                "env_name": "forgec",
                "prompt_file": None,
                "system_prompt_file": None,
            },
            "_override_": True,
        },
        "env": {
            "forgec": {
                "packages": [str(one.package.resolve()) for one in config.environments],
                "user": config.user,
                "limits": config.limits.model_dump(),
                "workers": config.workers,
                "thinking": config.model.thinking,
            },
            "_override_": True,
        },
    }


def _gym(config: ClusterConfig, folder: Path, servers: Sequence[Path]) -> Tree:
    return {
        "policy": {
            "generation": {
                "vllm_cfg": {
                    "async_engine": True,
                    "expose_http_server": True,
                    "http_server_serving_chat_kwargs": {
                        "enable_auto_tools": True,
                        "tool_parser": "hermes",
                        "reasoning_parser": "deepseek_r1",
                        "chat_template": chat.template_text(),
                        "default_chat_template_kwargs": {"open_thinking": config.model.thinking},
                    },
                }
            }
        },
        "data": {
            "max_input_seq_length": None,
            "shuffle": False,
            "num_workers": 0,
            "use_multiple_dataloader": False,
            "train": {"data_path": str(folder / "train.jsonl")},
            "validation": {"data_path": str(folder / "validation.jsonl")},
            "default": {
                "dataset_name": "NemoGymDataset",
                "env_name": "nemo_gym",
                "prompt_file": None,
                "system_prompt_file": None,
                "processor": "nemo_gym_data_processor",
            },
            "_override_": True,
        },
        "env": {
            "should_use_nemo_gym": True,
            "should_log_nemo_gym_responses": True,
            "should_mask_flagged_samples": True,
            "nemo_gym": {
                "config_paths": [
                    "responses_api_models/vllm_model/configs/vllm_model_for_training.yaml",
                    *(str(one) for one in servers),
                ],
                "policy_model": {"responses_api_models": {"vllm_model": {"uses_reasoning_parser": True}}},
            },
            "_override_": True,
        },
    }


def _merge(into: Tree, part: Mapping[str, Any], place: str = "recipe") -> None:
    """Put a tree into another: its values win. Raises `ConfigError`."""
    for key, value in part.items():
        there, here = into.get(key), f"{place}.{key}"
        if there is not None and isinstance(there, dict) != isinstance(value, Mapping):
            what = "a table" if isinstance(there, dict) else "no table"
            raise ConfigError(f"{here}: it is {what} in NeMo-RL's configuration, and cannot be {value!r}")
        if isinstance(value, Mapping):
            into[key] = {} if there is None else there
            _merge(into[key], value, here)
        else:
            into[key] = value
