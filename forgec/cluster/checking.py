"""What can be known before a GPU is touched: everything that would stop a run, or make it learn the wrong thing."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from forgec.cluster import chat, launching, modes
from forgec.cluster.checkout import TESTED, Checkout
from forgec.cluster.config import ClusterConfig
from forgec.cluster.estimator import NemoEstimator
from forgec.dialogue import ToolCall
from forgec.rollouts.trajectory import Trajectory
from forgec.training.choosing import Choice
from forgec.training.config import ConfigError

BYTES = 3
"""Of a token, where there is no tokenizer to count with: fewer than such text has, so that the count is no less."""
TOOLS = {"local": ("uv",), "slurm": ("sbatch",), "kuberay": ("kubectl",), "nemo-run": ("sbatch", "rsync")}
"""What starts a run, by how it is launched."""
PATIENCE = 300.0
"""Seconds that another interpreter may take to load the environments."""
SEPARATORS = re.compile(r"[:\x00-\x1f\x7f]|\$\{")
"""What no folder of a run may have in its path: NeMo Gym's roots and mounts are lists with colons, and `${` in a recipe
names another key."""
UNQUOTED = re.compile(r"[^\w@%+=./-]")
"""The same where scripts that are not ours put paths into commands as they are."""
DTENSOR_PARTS = ("tensor_parallel_size", "context_parallel_size")
MEGATRON_PARTS = ("tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size")
"""What a model is split by."""


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


def of_launch(config: ClusterConfig, checkout: Checkout, folder: Path) -> list[Finding]:
    """Whether what starts the run can name the folders that the nodes must see, and forgec is installed there."""
    found = []
    slurm = config.launch.by in ("slurm", "nemo-run")
    bad = UNQUOTED if slurm else SEPARATORS
    for path in launching.folders(config, checkout, folder):
        wrong = bad.search(str(path))
        if wrong:
            why = (
                "scripts for Slurm do not quote it" if slurm else "it has a meaning in lists of folders, or in recipes"
            )
            found.append(Finding(f"{str(path)!r} has {wrong.group()!r} in it, and {why}: take another folder"))
    if config.launch.setup is None and launching.source() is None:
        found.append(Finding("launch.setup: say how forgec is installed on the nodes; it is run from no source here"))
    if config.launch.by == "slurm" and not (checkout.folder / "ray.sub").is_file():
        found.append(Finding(f"{checkout.folder} has no ray.sub, which is what Slurm is given"))
    return found


def of_tasks(config: ClusterConfig, choices: Mapping[str, Choice]) -> list[Finding]:
    """Whether a step can ask different questions of each environment."""
    asked = config.algorithm.questions
    return [
        Finding(
            f"a step asks {asked} questions of {name}, which has {len(choice.trained)} tasks to train on: make more "
            "(forgec tasks), or lower algorithm.questions"
        )
        for name, choice in choices.items() if len(choice.trained) < asked
    ]  # fmt: skip


def of_recipe(config: ClusterConfig, recipe: Mapping[str, Any]) -> list[Finding]:
    """Whether keys of NeMo-RL that were set otherwise leave a recipe that can be served."""
    found = [Finding(f"{reason} (see [recipe])") for reason in modes.refusals(recipe)]
    grpo, cluster = recipe["grpo"], recipe["cluster"]
    for key, value, wanted, instead in (
        ("grpo.num_prompts_per_step", grpo["num_prompts_per_step"], config.asked, "algorithm.questions"),
        ("grpo.num_generations_per_prompt", grpo["num_generations_per_prompt"], config.algorithm.trajectories,
         "algorithm.trajectories"),
        ("cluster.num_nodes", cluster["num_nodes"], config.launch.nodes, "launch.nodes"),
        ("cluster.gpus_per_node", cluster["gpus_per_node"], config.launch.gpus, "launch.gpus"),
    ):  # fmt: skip
        if value != wanted:
            found.append(Finding(f"recipe.{key} is {value!r}, where all else goes by {instead}: set that one"))
    try:
        NemoEstimator.of(grpo["adv_estimator"])
    except (KeyError, TypeError, ValueError) as error:
        found.append(Finding(f"recipe.grpo.adv_estimator: {error}"))
    return found


def of_batch(config: ClusterConfig, recipe: Mapping[str, Any]) -> list[Finding]:
    """Whether a step's trajectories can be shared by the GPUs. Raises `ConfigError` for what is no number."""
    policy = recipe["policy"]
    megatron = bool(policy["megatron_cfg"].get("enabled"))
    parts = MEGATRON_PARTS if megatron else DTENSOR_PARTS
    split = math.prod(_whole(policy, "megatron_cfg" if megatron else "dtensor_cfg", part) for part in parts)
    batch, micro = _whole(policy, "train_global_batch_size"), _whole(policy, "train_micro_batch_size")
    gpus = config.launch.nodes * config.launch.gpus
    if config.batch % batch:
        text = f"a step has {config.batch} trajectories, which are not whole batches of policy.train_global_batch_size"
        return [Finding(f"{text} = {batch}")]
    if policy["generation"].get("colocated", {}).get("enabled") is False:
        return [Finding("whether a batch can be shared by the GPUs that train was not looked at: some generate", False)]
    if gpus % split:
        return [Finding(f"{gpus} GPUs cannot be shared by models that are split over {split} each")]
    if batch % (gpus // split * micro):
        return [
            Finding(
                f"a batch of {batch} trajectories cannot be shared evenly by {gpus // split} copies of the model in "
                f"parts of {micro}: change algorithm.questions, algorithm.trajectories, or the number of GPUs"
            )
        ]
    return []


def _whole(tree: Mapping[str, Any], *place: str) -> int:
    """A count in the recipe's `policy`; 1 where it says nothing. Raises `ConfigError`."""
    value: Any = tree
    for key in place:
        value = value.get(key, {} if key != place[-1] else 1) if isinstance(value, Mapping) else value
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ConfigError(f"recipe.policy.{'.'.join(place)}: it must be a whole number from 1 on, not {value!r}")
    return value


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


def of_interpreter(config: ClusterConfig, checkout: Checkout, python: Path | None) -> list[Finding]:
    """Whether the environments load in the interpreter that the workers run in, and NeMo-RL is for it."""
    if python is None:
        return [
            Finding("whether the environments load where they are played was not looked at: name it by --python", False)
        ]
    packages = [str(one.package.resolve()) for one in config.environments]
    needs = "ray, forgec.cluster.nemo_rl.launch" + (", forgec.cluster.seats" if config.rollouts == "native" else "")
    wanted = ".".join(map(str, checkout.python))
    code = (
        "import sys\n"
        f"if sys.version_info < {checkout.python}: sys.exit('it has Python ' + sys.version.split()[0] + ', and this "
        f"NeMo-RL wants {wanted}')\n"
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
        return [
            Finding(f"{python} cannot play: {last[0]}; name NeMo-RL's own interpreter, with forgec installed in it")
        ]
    return []


def of_machine(config: ClusterConfig, which: Callable[[str], str | None] = shutil.which) -> list[Finding]:
    """Whether what starts the run is here."""
    by = config.launch.by
    missing = [f"there is no {one} here" for one in TOOLS[by] if not which(one)]
    if by == "nemo-run" and find_spec("nemo_run") is None:
        missing.append("nemo-run is not installed (pip install 'forgec[nemo-run]')")
    if by == "local":
        count = _gpus(which("nvidia-smi"))
        if count < config.launch.gpus:
            here = f"{count} GPUs are here, of {config.launch.gpus}" if count else "no GPU is here"
            missing.append(here)
    return [Finding(f'{one}, which launch.by = "{by}" needs; --dry-run renders all the same') for one in missing]


def _gpus(command: str | None) -> int:
    """How many GPUs `nvidia-smi` lists."""
    if command is None:
        return 0
    try:
        ran = subprocess.run([command, "-L"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    return sum(line.startswith("GPU ") for line in ran.stdout.splitlines()) if ran.returncode == 0 else 0


def _counter(model: str) -> tuple[Callable[[str], int], list[Finding]]:
    """What counts the tokens of a text, and what is to be said about it."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(model, local_files_only=True)
    except Exception:  # whatever a tokenizer that is not there, or is broken, raises
        guess = Finding(f"the tokenizer of {model} is not on this machine: tokens are guessed, on the safe side", False)
        return guessed, [guess]
    found = []
    if tokenizer.eos_token != chat.END:
        found.append(
            Finding(
                f"turns of {model} end with {tokenizer.eos_token!r}, not with {chat.END!r}: take one of Qwen3's form, "
                "that was trained to talk"
            )
        )
    return lambda text: len(tokenizer(text, add_special_tokens=False)["input_ids"]), found


def guessed(text: str) -> int:
    """How many tokens a text has, or fewer: a digit is one, and so are three bytes of anything else."""
    digits = sum(map(str.isdigit, text))
    return digits + math.ceil((len(text.encode()) - digits) / BYTES)
