"""What can be known before a GPU is touched: everything that would stop a run, or make it learn the wrong thing."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forgec.cluster import chat
from forgec.cluster.checkout import TESTED, Checkout
from forgec.cluster.config import ClusterConfig
from forgec.cluster.rows import Row
from forgec.dialogue import ToolCall
from forgec.rollouts.trajectory import Trajectory
from forgec.training.choosing import Choice

CHARACTERS = 3.0
"""Of a token, where there is no tokenizer to count with: fewer than such text has, so that the count is no less."""
PATIENCE = 300.0
"""Seconds that another interpreter may take to load the environments."""


@dataclass(frozen=True)
class Finding:
    """Something amiss, or worth knowing."""

    text: str
    stops: bool = True
    """Whether the run must not begin."""


def of_checkout(config: ClusterConfig, checkout: Checkout, *, untested: bool) -> list[Finding]:
    """Whether the plug-in fits the checkout."""
    found = [
        Finding(f"{one}: the plug-in was run with {', '.join(TESTED)}; --untested tries it all the same", not untested)
        for one in checkout.differences
    ]
    if config.rollouts == "gym" and not checkout.masks:
        found.append(
            Finding('this NeMo-RL trains on trajectories that NeMo Gym masks; take a newer one, or rollouts = "native"')
        )
    return found


def of_batch(config: ClusterConfig, choices: Mapping[str, Choice], recipe: Mapping[str, Any]) -> list[Finding]:
    """Whether the numbers of a step fit each other, the tasks, and the GPUs."""
    found = []
    for name, choice in choices.items():
        if len(choice.trained) < config.algorithm.questions:
            found.append(
                Finding(
                    f"a step asks {config.algorithm.questions} questions of {name}, which has {len(choice.trained)} "
                    "tasks to train on: make more (forgec tasks), or lower algorithm.questions"
                )
            )
    policy = recipe["policy"]
    parts = policy.get("dtensor_cfg", {})
    split = int(parts.get("tensor_parallel_size", 1)) * int(parts.get("context_parallel_size", 1))
    gpus = config.launch.nodes * config.launch.gpus
    batch, micro = int(policy["train_global_batch_size"]), int(policy["train_micro_batch_size"])
    if gpus % split:
        found.append(Finding(f"{gpus} GPUs cannot be shared by models that are split over {split} each"))
    elif batch % (gpus // split * micro):
        found.append(
            Finding(
                f"a step's {batch} trajectories cannot be shared evenly by {gpus // split} copies of the model in "
                f"parts of {micro}: change algorithm.questions, algorithm.trajectories, or the number of GPUs"
            )
        )
    return found


def of_template(recipe: Mapping[str, Any]) -> list[Finding]:
    """Whether the template of NeMo Gym's path keeps what was thought in earlier turns."""
    serving = recipe["policy"]["generation"].get("vllm_cfg", {}).get("http_server_serving_chat_kwargs")
    if serving is None:
        return []
    text = serving.get("chat_template")
    if text is None:
        return [Finding("without a chat_template the model's own is used, and Qwen3's drops what was thought before")]
    thought = "the first of all thoughts"
    dialogue: list[dict[str, Any]] = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "", "reasoning_content": thought, "tool_calls": [
            ToolCall.of("look", {}, "a").model_dump()]},
        {"role": "tool", "content": "nothing", "tool_call_id": "a"},
        {"role": "assistant", "content": "There is nothing.", "reasoning_content": "so be it"},
        {"role": "user", "content": "Thanks"},
    ]  # fmt: skip
    try:
        shown = chat.rendered(text, dialogue, **serving.get("default_chat_template_kwargs", {}))
    except ValueError as error:
        return [Finding(f"the chat_template cannot be rendered: {error}")]
    if thought not in shown:
        return [Finding("the chat_template drops what was thought in earlier turns: leave it out, and ours is used")]
    return []


def of_prompts(config: ClusterConfig, rows: Sequence[Row]) -> list[Finding]:
    """Whether NeMo Gym's rollouts can tell the questions of a step apart: it is by their prompts."""
    if config.rollouts != "gym":
        return []
    for start in range(0, len(rows), config.asked):
        seen: dict[str, Row] = {}
        for row in rows[start : start + config.asked]:
            other = seen.setdefault(row.prompt, row)
            if other is not row:
                text = f"{row.environment}: {other.task} and {row.task} begin with the same words"
                return [Finding(f"{text}, and can be asked in one step: their trajectories would be one group")]
    return []


def of_tokens(
    config: ClusterConfig, prompts: Iterable[str], gold: Sequence[Trajectory], tools: Mapping[str, list[dict[str, Any]]]
) -> list[Finding]:
    """Whether prompts, and gold's episodes, fit into the tokens of an episode."""
    count, found = _counter(config.model.name)
    longest = max(map(count, {*prompts}), default=0)
    if longest + config.model.turn_tokens > config.model.tokens:
        found.append(
            Finding(
                f"the longest prompt has {longest:,} tokens: no turn of model.turn_tokens = "
                f"{config.model.turn_tokens:,} fits into model.tokens = {config.model.tokens:,}"
            )
        )
        return found
    for one in gold:
        length = count(chat.prompt(list(one.messages), tools[one.environment]))
        if length > config.model.tokens:
            found.append(
                Finding(
                    f"{one.environment}/{one.task}: gold's own episode has {length:,} tokens, without any thoughts; "
                    f"model.tokens is {config.model.tokens:,}"
                )
            )
    return found


def of_interpreter(config: ClusterConfig, python: Path | None) -> list[Finding]:
    """Whether the environments load in the interpreter that the workers run in."""
    if python is None:
        return [
            Finding("whether the environments load where they are played was not looked at: name it by --python", False)
        ]
    packages = [str(one.package.resolve()) for one in config.environments]
    needs = "ray, forgec.cluster.seats" if config.rollouts == "native" else "forgec_runtime"
    code = (
        f"import json, sys, pathlib, {needs}, forgec_runtime\n"
        "for one in json.loads(sys.argv[1]): forgec_runtime.load_environment(pathlib.Path(one))\n"
    )
    try:
        ran = subprocess.run(
            [str(python), "-c", code, json.dumps(packages)],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return [Finding(f"{python} cannot be run: {error}")]
    if ran.returncode:
        last = ran.stderr.strip().splitlines()[-1:] or ["it says nothing"]
        return [Finding(f"the environments do not load in {python}: {last[0]}; install forgec there")]
    return []


def of_machine(config: ClusterConfig, which: Callable[[str], str | None] = shutil.which) -> list[Finding]:
    """Whether what starts the run is here."""
    tools = {"local": "nvidia-smi", "slurm": "sbatch", "kuberay": "kubectl"}
    needed = tools.get(config.launch.by)
    if needed is None or which(needed):
        return []
    what = "no GPU is here" if needed == "nvidia-smi" else f"there is no {needed} here"
    return [Finding(f'{what}, which launch.by = "{config.launch.by}" needs; --dry-run renders all the same')]


def _counter(model: str) -> tuple[Callable[[str], int], list[Finding]]:
    """What counts the tokens of a text, and what is to be said about it."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(model, local_files_only=True)
    except Exception:  # whatever a tokenizer that is not there, or is broken, raises
        guess = Finding(f"the tokenizer of {model} is not on this machine: tokens are guessed, on the safe side", False)
        return lambda text: int(len(text) / CHARACTERS), [guess]
    return lambda text: len(tokenizer(text, add_special_tokens=False)["input_ids"]), []
