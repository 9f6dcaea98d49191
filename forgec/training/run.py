"""A run: imitation up to its gate, reinforcement, and a control that goes on imitating; measured on the way.

Every step is a function of the configuration, its number and the policy before it. So a run that was killed, and goes
on from its last checkpoint, comes to the same curve as one that was not; times aside.

    RUN/run.json             the configuration, hashes of what is played and of the code, what was counted
    RUN/tokenizer.json
    RUN/metrics.jsonl        a line a step and an evaluation
    RUN/tensorboard/         the same, where it is wanted
    RUN/checkpoints/         all that is needed to go on
    RUN/imitated/            the policy at the gate, RUN/trained/ and RUN/control/ those at the end
    RUN/transcripts/         before.jsonl, after.jsonl, control.jsonl: trajectories of the evaluations
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from time import perf_counter, process_time
from typing import Any

import torch
from transformers import Qwen3ForCausalLM

from forgec.rollouts.trajectory import Trajectory
from forgec.training import checkpoints, options, policy, tokenizer
from forgec.training.advantages import RunningMoments
from forgec.training.batches import Written
from forgec.training.board import Board
from forgec.training.checkpoints import Metrics, Phase, State
from forgec.training.choosing import Choice, Split, episodes
from forgec.training.config import ImitationPart, RunConfig
from forgec.training.demonstrations import demonstration, names, texts
from forgec.training.episodes import Episode, Rollout, Stage
from forgec.training.filling import filled
from forgec.training.learner import Learner, NotANumber
from forgec.training.questions import Question, Stratified
from forgec.training.template import Template
from forgec.writing import write_whole
from forgec_runtime import Environment

MOST_ROWS = 96
"""How many episodes are evaluated at once."""
SELDOM = 5
"""How much less often it is looked at the gate until a first episode succeeds."""
MOST_BARREN = 20
"""After how many steps without anything to learn a run ends."""
LOW_ENTROPY = 0.005
"""Nats; below that a policy hardly tries anything else any more."""


class RunStopped(Exception):
    """A run that cannot go on. Its last checkpoint is good."""


class Training:
    """A run in a folder, from its beginning or from where it was left."""

    def __init__(
        self, folder: Path, config: RunConfig, environments: Mapping[str, Environment], choices: Mapping[str, Choice],
        stage: Stage, tell: Callable[[str], None],
    ) -> None:  # fmt: skip
        """`tell` is handed a line now and then. Raises `RunStopped`, `ValueError`, `OSError`."""
        self.folder, self.config, self.environments, self.choices = folder, config, environments, choices
        self.stage, self.tell = stage, tell
        torch.set_num_threads(config.threads)
        self.tools = {name: [tool.schema for tool in one.tools.values()] for name, one in environments.items()}
        self.template = Template(self._tokenizer())
        self.learner = self._learner(policy.new(config.policy, self.template.tokenizer.size, config.seed), "imitation")
        self.state = State()
        self._pool: dict[str, list[Written]] | None = None
        self._reference: Qwen3ForCausalLM | None = None
        self._failed = ""
        """Why the last episode that could not be played could not."""
        found = checkpoints.latest(folder / "checkpoints")
        if found is not None:
            self._go_on_from(*found)
        self.moments = RunningMoments(config.reinforcement.running or 0.0)
        self.moments.load(self.state.moments)
        follow = {"follow": Board(folder / "tensorboard").add} if config.tensorboard else {}
        self.metrics = Metrics(folder / "metrics.jsonl", self.state.place, **follow)

    def play(self) -> None:
        """Go on to the end. Raises `RunStopped`, `OSError`."""
        phases: dict[Phase, Callable[[], None]] = {
            "imitation": self._imitation, "reinforcement": self._reinforcement, "control": self._control
        }  # fmt: skip
        try:
            while self.state.phase != "done":
                phases[self.state.phase]()
        except NotANumber as error:
            raise RunStopped(
                f"{error}, in step {self.state.step + 1} of {self.state.phase}; the last checkpoint is good, but what "
                "comes after it will be the same: begin a run with a lower learning_rate"
            ) from None

    # -- phases ------------------------------------------------------------------------------------------------

    def _imitation(self) -> None:
        part = self.config.imitation
        while True:
            self._imitate()
            step = self.state.step
            every = part.every * (1 if self.state.succeeded else SELDOM)
            if (step >= part.first and step % every == 0) or step >= part.most_steps:
                found = self.evaluate("held_out", part.episodes)
                if not found:
                    raise RunStopped(f"no held-out episode could be played: {self._failed}")
                passed = tuple(name for name, one in found.items() if _passes(one, part))
                reached = len(passed) == len(self.environments)
                self.state.resting = () if reached else passed
                self.state.succeeded = any(one["success"] > 0 for one in found.values())
                if reached or step >= part.most_steps:
                    break
            self._checkpoint_now_and_then()
        policy.save(self.folder / "imitated", self.learner.learned, self.template.tokenizer)
        if not reached:
            errand = f", and {part.errand:.0%} of each task" if part.errand else ""
            self.tell(f"imitation ended after {step} steps without having reached its gate of {part.gate:.0%}{errand}")
        self._transcribe("before")
        self._turn_to("reinforcement")

    def _imitate(self) -> None:
        """One step of imitation, whichever phase it belongs to."""
        part, state = self.config.imitation, self.state
        if self._pool is None:
            self._pool = self._demonstrations()
        # the control goes on with what the imitation would have seen
        number = state.step if state.phase == "imitation" else self.config.imitation.most_steps + state.step
        began = process_time()
        draws = random.Random(f"{self.config.seed}/imitation/{number}")
        names_ = [*self._pool]
        shares = dict(zip(self.environments, (one.share for one in self.config.environments), strict=True))
        weights = [shares[name] * (part.rest if name in state.resting else 1.0) for name in names_]
        chosen = [draws.choice(self._pool[name]) for name in draws.choices(names_, weights, k=part.batch)]
        surprise = self.learner.imitate(chosen, part.observations)
        self._spent(process_time() - began)
        state.step += 1
        self.metrics.add(state.phase, state.step, "step", {"surprise": surprise, "times": self._times()})
        if state.step % 10 == 0:
            self.tell(f"{state.phase} {state.step}: surprise {surprise:.3f} nats a token")

    def _reinforcement(self) -> None:
        part, state = self.config.reinforcement, self.state
        while state.step < part.steps:
            self._reinforce()
            if state.step % part.every == 0 or state.step == part.steps:
                self.evaluate("held_out", self.config.evaluation.episodes)
            self._checkpoint_now_and_then()
        policy.save(self.folder / "trained", self.learner.learned, self.template.tokenizer)
        self._transcribe("after")
        self._turn_to("control" if self.config.control.enabled else "done")

    def _reinforce(self) -> None:
        part, state = self.config.reinforcement, self.state
        tasks = {name: choice.trained for name, choice in self.choices.items()}
        began, wall = process_time(), perf_counter()
        rollout = filled(
            Stratified(tasks, part.questions, self.config.seed), state.step, part.trajectories,
            lambda asked: self._rollout(asked, f"{self.config.seed}/rollout/{state.step}", self.config.temperature),
            rounds=part.refills if part.dynamic_sampling else 0,
        )  # fmt: skip
        played, rolled = process_time(), perf_counter()
        told = self.learner.reinforce(
            rollout.played, list(self.choices), options.estimator(self.config), options.objective(self.config),
            updates=part.updates, temperature=self.config.temperature, min_p=self.config.min_p,
            dynamic_sampling=part.dynamic_sampling,
            moments=None if part.running is None else self.moments, reference=self._before(),
            share=1 - (1 - part.last_rate) * state.step / max(part.steps - 1, 1),
        )  # fmt: skip
        ended = process_time()
        self._spent(ended - began)
        state.step += 1
        state.moments = self.moments.state()
        state.barren = 0 if "loss" in told else state.barren + 1
        told |= {"failures": len(rollout.failures), "tokens": rollout.tokens, "alarms": self._alarms(told)}
        if rollout.failures:
            told["alarms"].append(f"{len(rollout.failures)} episodes could not be played: {self._failed}")
        times = {
            "decode": rollout.decoding, "environment": played - began - rollout.decoding, "update": ended - played,
            "wall": perf_counter() - wall, "wall_rollout": rolled - wall,
        }  # fmt: skip
        self.metrics.add("reinforcement", state.step, "step", {**told, "times": self._times() | times})
        self._tell_step(told)
        if state.barren >= MOST_BARREN:
            raise RunStopped(
                f"nothing could be learned in {MOST_BARREN} steps, one after the other: "
                "all trajectories were masked, failed, or worth the same as the others of their question"
                + (f"; the last failure: {self._failed}" if rollout.failures else "")
            )

    def _control(self) -> None:
        state = self.state
        if state.control_steps is None:
            wanted = self.config.control.steps
            each = state.seconds.get("imitation", 0.0) / max(self._steps_of("imitation"), 1)
            same = round(state.seconds.get("reinforcement", 0.0) / each) if each else 0
            state.control_steps = same if wanted is None else wanted
            self._back_to_imitated()
            self._save()
        # looked at as often as the reinforcement was
        looks = max(self.config.reinforcement.steps // self.config.reinforcement.every, 1)
        while state.step < state.control_steps:
            self._imitate()
            if state.step % math.ceil(state.control_steps / looks) == 0 or state.step == state.control_steps:
                self.evaluate("held_out", self.config.evaluation.episodes)
            self._checkpoint_now_and_then()
        policy.save(self.folder / "control", self.learner.learned, self.template.tokenizer)
        self._transcribe("control")
        self._turn_to("done")

    def _turn_to(self, phase: Phase) -> None:
        self.learner = self._learner(self.learner.learned, phase)
        self.state.phase, self.state.step, self.state.resting = phase, 0, ()
        self._save()

    # -- what is learned from ----------------------------------------------------------------------------------

    def _tokenizer(self) -> tokenizer.Tokenizer:
        path = self.folder / "tokenizer.json"
        if not path.exists():
            gold = self._gold(self.config.tokenizer.trajectories, "tokenizer")
            tokenizer.train(texts(gold), names(self.environments, gold), self.config.tokenizer.size).save(path)
        return tokenizer.load(path)

    def _demonstrations(self) -> dict[str, list[Written]]:
        """What is imitated, by environment."""
        found: dict[str, list[Written]] = {name: [] for name in self.environments}
        left_out = 0
        for one in self._gold(self.config.imitation.pool, "imitation"):
            written = demonstration(one, self.template, self.tools[one.environment])
            if len(written.ids) <= self.config.policy.context:
                found[one.environment].append(written)
            else:
                left_out += 1
        for name, shown in found.items():
            if not shown:
                raise RunStopped(
                    f"there is nothing to imitate in {name}: no gold trajectory is paid with this user and fits into "
                    "policy.context"
                )
        if left_out:
            self.tell(f"{left_out} gold trajectories do not fit into policy.context and are left out")
        return found

    def _gold(self, count: int, purpose: str) -> list[Trajectory]:
        """Gold trajectories of the tasks that are trained on, as many of each environment, with seeds of their own."""
        draws = random.Random(f"{self.config.seed}/{purpose}")
        order = list(self.choices.items())
        asked = []
        for number in range(count):
            name, choice = order[number % len(order)]
            task = choice.trained[number // len(order) % len(choice.trained)]
            asked.append(Episode(Question(name, task, draws.getrandbits(31)), number))
        gold = [one for one in self.stage.gold(asked) if one.reward >= self._top(one.environment)]
        if len(gold) < len(asked):
            self.tell(f"{len(asked) - len(gold)} of {len(asked)} gold trajectories are not paid and are left out")
        return gold

    def _before(self) -> Qwen3ForCausalLM | None:
        """The policy that the divergence is measured from."""
        if self.config.reinforcement.kl and self._reference is None:
            self._reference = policy.load(self.folder / "imitated")[0]
        return self._reference

    def _back_to_imitated(self) -> None:
        self.learner = self._learner(policy.load(self.folder / "imitated")[0], "control")

    def _learner(self, model: Qwen3ForCausalLM, phase: Phase) -> Learner:
        """A fresh optimizer for a policy, as a phase has it."""
        if phase == "reinforcement":
            rl = self.config.reinforcement
            return Learner(model, rl.learning_rate, self.config.portion, matrices=rl.matrix_rate)
        part = self.config.imitation
        return Learner(
            model, part.learning_rate, self.config.portion, matrices=part.matrix_rate, average=part.average
        )  # fmt: skip

    # -- measuring ---------------------------------------------------------------------------------------------

    def _rollout(self, asked: Sequence[Episode], seed: str, temperature: float) -> Rollout:
        found = Rollout([], [], 0.0, 0)
        for first in range(0, len(asked), MOST_ROWS):
            part = self.stage.rollout(
                self.learner.learned, self.template, asked[first : first + MOST_ROWS], seed, temperature=temperature,
                min_p=self.config.min_p, longest_turn=self.config.longest_turn,
            )  # fmt: skip
            found.add(part)
        if found.failures:
            self._failed = found.failures[-1].text
        return found

    def evaluate(self, split: Split, count: int, keep: list[Trajectory] | None = None) -> dict[str, dict[str, Any]]:
        """Play episodes that are not trained on; what came of it, by environment. `keep` takes the trajectories.

        They are the same ones every time, and so is what chance does in them.
        """
        asked = episodes(self.choices, split, count)
        rollout = self._rollout(asked, f"{self.config.seed}/{split}", self.config.evaluation.temperature)
        found: dict[str, list[Trajectory]] = {}
        for one in rollout.played:
            found.setdefault(one.trajectory.environment, []).append(one.trajectory)
        told = {name: _told(self._top(name), played) for name, played in found.items()}
        if told:
            content = {"split": split, "environments": told, "times": self._times()}
            self.metrics.add(self.state.phase, self.state.step, "evaluation", content)
            successes = ", ".join(f"{name} {one['success']:.0%}" for name, one in told.items())
            self.tell(f"{self.state.phase} {self.state.step}: success on {split.replace('_', ' ')} tasks: {successes}")
        if keep is not None:
            keep += [one.trajectory for one in rollout.played]
        return told

    def _transcribe(self, name: str) -> None:
        """Evaluate at length, and keep the trajectories."""
        kept: list[Trajectory] = []
        splits: tuple[Split, ...] = ("held_out", "unseen")
        for split in splits:
            self.evaluate(split, self.config.evaluation.final, kept)
        folder = self.folder / "transcripts"
        folder.mkdir(exist_ok=True)
        write_whole(folder / f"{name}.jsonl", b"".join(one.line() for one in kept))

    def _top(self, environment: str) -> float:
        names_ = list(self.choices)
        return self.config.environments[names_.index(environment)].reward_range[1]

    def _alarms(self, told: Mapping[str, Any]) -> list[str]:
        found = [
            f"every trajectory of {name} is worth nothing" for name, one in told["environments"].items()
            if one["reward"] is not None and one["reward"] <= 0
        ]  # fmt: skip
        found += [
            f"all trajectories of {name} are masked" for name, one in told["environments"].items() if one["masked"] == 1
        ]
        if told.get("entropy", 1.0) < LOW_ENTROPY:
            found.append(f"the entropy is {told['entropy']:.4f}: hardly anything is tried any more")
        return found

    def _tell_step(self, told: Mapping[str, Any]) -> None:
        parts = []
        for name, one in told["environments"].items():
            reward = "none" if one["reward"] is None else f"{one['reward']:.2f}"
            parts.append(f"{name} {reward}" + (f" ({one['masked']:.0%} masked)" if one["masked"] else ""))
        entropy = f", entropy {told['entropy']:.3f}" if "entropy" in told else ", nothing to learn from"
        self.tell(f"reinforcement {self.state.step}: reward {', '.join(parts) or 'none'}{entropy}")
        for alarm in told["alarms"]:
            self.tell(f"  beware: {alarm}")

    # -- going on ----------------------------------------------------------------------------------------------

    def _go_on_from(self, state: State, tensors: Mapping[str, torch.Tensor]) -> None:
        self.learner = self._learner(self.learner.model, state.phase)
        self.state = state
        checkpoints.restore(self.learner, state, tensors)
        self.tell(f"going on with {state.phase}, step {state.step + 1}")

    def _checkpoint_now_and_then(self) -> None:
        if self.state.step % self.config.checkpoint_every == 0:
            self._save()

    def _save(self) -> None:
        self.state.learnt = self.learner.steps
        checkpoints.save(self.folder / "checkpoints", self.state, self.learner)

    def _spent(self, seconds: float) -> None:
        phase = self.state.phase
        self.state.seconds[phase] = self.state.seconds.get(phase, 0.0) + seconds

    def _times(self) -> dict[str, float]:
        return {"cpu": self.state.seconds.get(self.state.phase, 0.0)}

    def _steps_of(self, phase: Phase) -> int:
        lines = (self.folder / "metrics.jsonl").read_bytes().splitlines()
        return sum(line.startswith(f'{{"phase": "{phase}"'.encode()) and b'"what": "step"' in line for line in lines)


def _passes(found: Mapping[str, Any], part: ImitationPart) -> bool:
    """Whether an environment has come to the gate, and each of its tasks."""
    return bool(found["success"] >= part.gate and min(found["tasks"].values()) >= part.errand)


def _told(top: float, played: Sequence[Trajectory]) -> dict[str, Any]:
    ends: dict[str, int] = {}
    tasks: dict[str, list[float]] = {}
    for one in played:
        ends[one.end] = ends.get(one.end, 0) + 1
        tasks.setdefault(one.task, []).append(float(one.reward >= top))
    return {
        "episodes": len(played),
        "success": fmean(float(one.reward >= top) for one in played),
        "tasks": {name: fmean(paid) for name, paid in sorted(tasks.items())},
        "reward": fmean(one.reward for one in played),
        "turns": fmean(one.turns for one in played),
        "ends": dict(sorted(ends.items())),
    }
