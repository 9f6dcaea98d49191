"""What changes a policy: a step of imitation, and a step of reinforcement."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, cast

import torch
from torch import Tensor
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from transformers import Qwen3ForCausalLM

from forgec.training.advantages import Advantages, Estimator, RunningMoments, advantages, varied
from forgec.training.batches import Written, batch, portions
from forgec.training.descent import Descent
from forgec.training.episodes import Played
from forgec.training.objective import Loss, Objective, policy_loss
from forgec.training.policy import log_probs
from forgec.training.tokenizer import PAD

WARM_UP = 10
"""Steps in which the rate of learning rises, after it was begun with."""
CLIP = 1.0
"""The longest gradient."""


class NotANumber(ArithmeticError):
    """A loss or a gradient that is no number: the policy was left as it was before."""


class Learner:
    """A policy and its optimizer."""

    def __init__(
        self, model: Qwen3ForCausalLM, rate: float, portion: int = 8192, *, matrices: float | None = None,
        average: float | None = None,
    ) -> None:  # fmt: skip
        """`portion` is how many tokens gradients are computed of at once; `rate` and `matrices` are `Descent`'s. With
        `average` what is learned is the mean over the last steps: one counts that many times as much as the next."""
        self.model, self.portion = model, portion
        self.descent = Descent(model, rate, matrices)
        self.averaged: AveragedModel | None = None
        if average is not None:
            mean = get_ema_multi_avg_fn(average)  # type: ignore[no-untyped-call]
            self.averaged = AveragedModel(model, multi_avg_fn=mean)
        self.steps = 0

    @property
    def learned(self) -> Qwen3ForCausalLM:
        """The policy that plays: the mean of the last steps, or the model as it is."""
        return self.model if self.averaged is None else cast(Qwen3ForCausalLM, self.averaged.module)

    def imitate(self, episodes: Sequence[Written], observations: float = 0.0) -> float:
        """One step towards what stands in the episodes. Returns the mean surprise of a token to be written, in nats.

        Tokens that are only read count with the weight `observations`. Raises `NotANumber`.
        """
        total = sum(one.drawn for one in episodes)
        surprise = 0.0
        for places in portions(episodes, self.portion):
            part = batch([episodes[place] for place in places])
            wanted = part.mask
            if observations:
                wanted = part.ids != PAD
                wanted[:, 0] = False
            logs, _ = log_probs(self.model, part._replace(mask=wanted))
            own = -logs[part.mask].sum() / total
            surprise += own.item()
            loss = own - observations * logs[~part.mask].sum() / total
            loss.backward()  # type: ignore[no-untyped-call]
        self._step(surprise)
        return surprise

    def reinforce(
        self, played: Sequence[Played], environments: Sequence[str], estimator: Estimator, objective: Objective, *,
        updates: int = 1, temperature: float = 1.0, min_p: float = 0.0, dynamic_sampling: bool = True,
        moments: RunningMoments | None = None, reference: Qwen3ForCausalLM | None = None, share: float = 1.0,
    ) -> dict[str, Any]:  # fmt: skip
        """One step of reinforcement. Returns what is worth logging of it; without anything to learn from nothing is
        changed. `environments` are all of the run, numbered as the estimator's ranges and the moments have them;
        `share` is that of the rate.

        Raises `NotANumber`.
        """
        judged = Judged.of(played, environments, estimator, dynamic_sampling=dynamic_sampling, moments=moments)
        learnt = [place for place in range(len(played)) if bool(judged.counted[place])]
        told = judged.told()
        if not learnt:
            return told
        episodes = [played[place].written for place in learnt]
        values = judged.advantages.values[learnt]
        for update in range(updates):
            losses = self._update(episodes, values, objective, (temperature, min_p), reference, share)
            told |= losses if update == 0 else {f"{name}_{update}": value for name, value in losses.items()}
        return told

    def _update(
        self, episodes: Sequence[Written], values: Tensor, objective: Objective, drawing: tuple[float, float],
        reference: Qwen3ForCausalLM | None, share: float,
    ) -> dict[str, float]:  # fmt: skip
        tokens = sum(one.drawn for one in episodes)
        told: dict[str, float] = {"loss": 0.0, "kl": 0.0, "ratio": 0.0, "clipped": 0.0, "entropy": 0.0}
        for places in portions(episodes, self.portion):
            part = batch([episodes[place] for place in places])
            by_tokens = sum(episodes[place].drawn for place in places) / tokens
            weight = by_tokens if objective.aggregation == "tokens" else len(places) / len(episodes)
            logs, entropy = log_probs(self.model, part, *drawing)
            before = None
            if objective.kl and reference is not None:
                with torch.no_grad():
                    before, _ = log_probs(reference, part, *drawing)
            valid = torch.ones(len(places), dtype=torch.bool)
            loss: Loss = policy_loss(logs, part.logs, values[places], part.mask, valid, objective, before)
            (loss.value * weight).backward()  # type: ignore[no-untyped-call]
            told["loss"] += loss.value.item() * weight
            told["kl"] += loss.kl.item() * weight
            told["ratio"] += loss.ratio.item() * by_tokens
            told["clipped"] += loss.clipped.item() * by_tokens
            told["entropy"] += entropy[part.mask].mean().item() * by_tokens
        told["gradient"] = self._step(told["loss"], share)
        return told

    def _step(self, loss: float, share: float = 1.0) -> float:
        """Change the policy by the gradients that were collected, at a share of the rate, and give how long they
        were."""
        length = float(torch.nn.utils.clip_grad_norm_(self.model.parameters(), CLIP))
        if not (math.isfinite(loss) and math.isfinite(length)):
            self.descent.forget()
            raise NotANumber(f"the loss is {loss}, the gradient {length} long")
        self.descent.step(share * min(1.0, (self.steps + 1) / WARM_UP))
        if self.averaged is not None:
            self.averaged.update_parameters(self.model)
        self.steps += 1
        return length


@dataclass(frozen=True)
class Judged:
    """Episodes with their advantages. All tensors are [B]."""

    names: tuple[str, ...]
    """The environment of each."""
    questions: tuple[int, ...]
    """The question of each, numbered as they were asked."""
    rewards: Tensor
    valid: Tensor
    counted: Tensor
    """What is learned from: valid ones of questions that were kept."""
    advantages: Advantages
    varies: Tensor

    @staticmethod
    def of(
        played: Sequence[Played], environments: Sequence[str], estimator: Estimator, *, dynamic_sampling: bool,
        moments: RunningMoments | None = None,
    ) -> Judged:  # fmt: skip
        """Judge the episodes of a step."""
        names = [one.episode.question.environment for one in played]
        ids = {name: number for number, name in enumerate(environments)}
        questions: dict[Any, int] = {}
        for one in played:
            questions.setdefault(one.episode.question, len(questions))
        rewards = torch.tensor([one.trajectory.reward for one in played], dtype=torch.float64)
        numbers = tuple(questions[one.episode.question] for one in played)
        asked = torch.tensor(numbers)
        of_environment = torch.tensor([ids[name] for name in names])
        valid = torch.tensor([not one.masked for one in played], dtype=torch.bool)
        varies = varied(rewards, asked, valid)
        kept = varies if dynamic_sampling else None
        found = advantages(rewards, asked, of_environment, valid, estimator, kept=kept, moments=moments)
        counted = valid if kept is None else valid & kept
        found = found._replace(values=found.values.float())
        return Judged(tuple(names), numbers, rewards, valid, counted, found, varies)

    def told(self) -> dict[str, Any]:
        """Per environment: mean reward, success, masked share, share of episodes whose question does not vary, the
        mean size of an advantage among those that are learned from; how many questions were asked, and learned from."""
        told: dict[str, Any] = {}
        for name in sorted(set(self.names)):
            here = [place for place, other in enumerate(self.names) if other == name]
            valid = [place for place in here if bool(self.valid[place])]
            counted = [place for place in here if bool(self.counted[place])]
            told[name] = {
                "episodes": len(here),
                "questions": len({self.questions[place] for place in here}),
                "learned": len({self.questions[place] for place in counted}),
                "reward": _mean(self.rewards[valid].tolist()),
                "masked": 1 - len(valid) / len(here),
                "constant": _mean([float(not bool(self.varies[place])) for place in valid]),
                "advantage": _mean(self.advantages.values[counted].abs().tolist()),
                "scale": _mean(self.advantages.scale[counted].tolist()),
            }
        return {"environments": told}


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
