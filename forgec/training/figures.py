"""Runs as pictures: SVG for a page, PNG for elsewhere."""

from __future__ import annotations

import io
from collections.abc import Sequence

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from forgec.training.curves import Point, Run

COLOURS = ("#0b6fa4", "#c2571a", "#3d8b37", "#8a3ffc", "#b28600", "#9f1853")
matplotlib.rcParams["svg.hashsalt"] = "forgec"  # the same runs make the same bytes


def success(runs: Sequence[Run], environment: str) -> Figure:
    """Held-out success over the time of learning, with intervals; dotted for the control."""
    figure = Figure(figsize=(7.2, 3.6), layout="constrained")
    axes = figure.add_subplot()
    for number, run in enumerate(runs):
        colour = COLOURS[number % len(COLOURS)]
        imitated = run.evaluations("imitation", environment)
        _curve(axes, imitated, colour, None, "-", 0.35)
        start = imitated[-1:]
        start = [Point(0.0, 0, one.episodes, one.success) for one in start]
        _curve(axes, start + run.evaluations("reinforcement", environment), colour, run.name, "-", 1.0)
        _curve(axes, start + run.evaluations("control", environment), colour, f"{run.name}: control", ":", 0.8)
    axes.axvline(0, color="#999999", linewidth=0.8)
    axes.set(ylim=(-0.03, 1.03), xlabel="CPU seconds of learning since the imitation ended", ylabel="held-out success",
             title=environment)  # fmt: skip
    axes.legend(loc="best", fontsize=8, frameon=False)
    return figure


def training(runs: Sequence[Run]) -> Figure:
    """What the steps of reinforcement were paid, and the entropy of what was drawn."""
    environments = list(dict.fromkeys(name for run in runs for name in run.environments))
    figure = Figure(figsize=(7.2, 2.4 * (len(environments) + 1)), layout="constrained")
    rows = figure.subplots(len(environments) + 1, 1, squeeze=False)[:, 0]
    for number, run in enumerate(runs):
        colour = COLOURS[number % len(COLOURS)]
        lines = list(run.steps("reinforcement"))
        for axes, name in zip(rows, environments, strict=False):
            told = [(line["step"], line["environments"].get(name, {}).get("reward")) for line in lines]
            known = [(step, reward) for step, reward in told if reward is not None]
            axes.plot([step for step, _ in known], [reward for _, reward in known], color=colour, label=run.name)
            axes.set(ylabel="mean reward", title=f"{name}, as it is trained")
        entropies = [(line["step"], line["entropy"]) for line in lines if "entropy" in line]
        rows[-1].plot([step for step, _ in entropies], [one for _, one in entropies], color=colour, label=run.name)
    rows[-1].set(ylabel="nats a token", title="entropy", xlabel="step")
    rows[0].legend(loc="best", fontsize=8, frameon=False)
    return figure


def svg(figure: Figure) -> str:
    """The figure as an element of a page."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    text = file.getvalue()
    return text[text.index("<svg") :]


def png(figure: Figure) -> bytes:
    """The figure as a PNG."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=150, metadata={"Software": None})
    return file.getvalue()


def _curve(axes: Axes, points: Sequence[Point], colour: str, label: str | None, style: str, strength: float) -> None:
    if not points:
        return
    seconds = [one.seconds for one in points]
    axes.plot(seconds, [one.success for one in points], style, color=colour, label=label, alpha=strength)
    low, high = zip(*(one.interval for one in points), strict=True)
    axes.fill_between(seconds, low, high, color=colour, alpha=0.12 * strength, linewidth=0)
