"""What a run will be, in words, before anything is run."""

from __future__ import annotations

import json

from forgec.training import options
from forgec.training.choosing import Split, episodes
from forgec.training.opening import Opened

SPLITS: tuple[Split, ...] = ("trained", "held_out", "unseen")
TRIED = 3
"""Gold episodes of each task that are played to see whether they are paid."""


def told(opened: Opened) -> str:
    """Everything that will be run: tasks, steps, episodes, and every option. Gold is played a few times."""
    config, lines = opened.config, list[str]()
    gold = opened.stage.gold
    for name, choice in opened.choices.items():
        lines.append(f"{name}:")
        for split in SPLITS:
            names: tuple[str, ...] = getattr(choice, split)
            if split == "held_out" and names == choice.trained:
                lines.append("  held out: the same tasks, with other seeds")
                continue
            if names:
                lines.append(f"  {split.replace('_', ' ')}: {', '.join(names)}")
            asked = episodes({name: choice}, split, TRIED * len(names), first=0)
            paid = [one for one in gold(asked) if one.reward >= 1]
            if len(paid) < len(asked):
                lines.append(f"    gold is paid in {len(paid)} of {len(asked)} episodes")
    imitation, reinforcement, evaluation = config.imitation, config.reinforcement, config.evaluation
    environments = len(opened.choices)
    step = environments * reinforcement.questions * reinforcement.trajectories
    lines += [
        f"imitation: until {imitation.gate:.0%} of the held-out episodes of each environment succeed, at most "
        f"{imitation.most_steps} steps, each of {imitation.batch} of {imitation.pool} gold trajectories",
        f"reinforcement: {reinforcement.steps} steps of {step} episodes: {environments} environments, "
        f"{reinforcement.questions} questions of each, {reinforcement.trajectories} trajectories a question",
        f"evaluation: {evaluation.episodes} held-out episodes of each environment on the way, "
        f"{evaluation.final} before and after",
        "control: " + ("imitation goes on for as long" if config.control.enabled else "none"),
        "options: " + json.dumps(options.told(config), indent=2),
        "configuration: " + config.model_dump_json(indent=2),
        "packages: " + json.dumps(opened.record()["packages"], indent=2),
    ]
    return "\n".join(lines)
