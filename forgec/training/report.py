"""Runs as one page of HTML that needs nothing else: what was learned, how, and how it looks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from forgec.dialogue import Message
from forgec.rollouts.trajectory import Trajectory
from forgec.training import figures
from forgec.training.curves import Point, Run
from forgec.writing import write_whole

PAIRS = 6
"""How many pairs of transcripts a run shows."""
LONGEST = 2_000
"""Characters of a message that are shown."""
SPLITS = {"held_out": "held out", "unseen": "unseen shapes"}
STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem; color: #1c1c1c; }
table { border-collapse: collapse; } th, td { padding: .25rem .8rem; text-align: left; border-bottom: 1px solid #ddd; }
svg { max-width: 100%; height: auto; } .pair { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
.said { margin: .3rem 0; padding: .3rem .6rem; border-radius: .4rem; background: #f3f3f3; overflow-wrap: anywhere; }
.assistant { background: #e4f0f8; } .tool { background: #f8f4e4; font: 12px/1.4 ui-monospace, monospace; }
code { font: 12px/1.4 ui-monospace, monospace; } .paid { color: #2c7a2c; } .unpaid { color: #b03a2e; }
"""


def write(runs: Sequence[Run], folder: Path) -> list[Path]:
    """Write `report.html` and the figures as PNGs. Returns what was written. Raises `OSError`, `StoreError`."""
    folder.mkdir(parents=True, exist_ok=True)
    environments = list(dict.fromkeys(name for run in runs for name in run.environments))
    drawn = {f"success-{name}": figures.success(runs, name) for name in environments}
    drawn["training"] = figures.training(runs)
    written = [folder / "report.html"]
    write_whole(written[0], page(runs, {name: figures.svg(one) for name, one in drawn.items()}).encode())
    for name, figure in drawn.items():
        written.append(folder / f"{name}.png")
        write_whole(written[-1], figures.png(figure))
    return written


def page(runs: Sequence[Run], drawings: dict[str, str]) -> str:
    """The page; `drawings` are SVG elements by name."""
    title = "Training: " + ", ".join(run.name for run in runs)
    parts = [
        "<!doctype html>", '<html lang="en"><head><meta charset="utf-8">', f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style></head><body>", f"<h1>{escape(title)}</h1>",
        "<p>A small policy that knows these environments only. Success is the share of episodes that were paid in "
        "full, with a Wilson interval of 95 per cent; before and after it is of the same episodes.</p>",
        *_summary(runs), *drawings.values(),
    ]  # fmt: skip
    for run in runs:
        parts += _transcripts(run)
    return "\n".join([*parts, "</body></html>", ""])


def _summary(runs: Sequence[Run]) -> Iterator[str]:
    yield "<table><tr><th>run<th>environment<th>tasks<th>imitated<th>reinforced<th>control</tr>"
    for run in runs:
        for name in run.environments:
            for split, words in SPLITS.items():
                points = [
                    run.evaluations(phase, name, split)[-1:] for phase in ("imitation", "reinforcement", "control")
                ]
                if any(points):
                    cells = "".join(f"<td>{_told(*one)}" for one in points)
                    yield f"<tr><td>{escape(run.name)}<td>{escape(name)}<td>{words}{cells}</tr>"
    yield "</table>"


def _told(point: Point | None = None) -> str:
    if point is None:
        return ""
    low, high = point.interval
    return f"{point.success:.0%} ({low:.0%} to {high:.0%}, {point.episodes} episodes)"


def _transcripts(run: Run) -> Iterator[str]:
    before, after = run.transcripts("before"), run.transcripts("after")
    both = [key for key in before if key in after]
    both.sort(key=lambda key: before[key].reward - after[key].reward)  # the most improved first
    if both:
        yield f"<h2>{escape(run.name)}: the same episodes before and after</h2>"
    for key in both[:PAIRS]:
        environment, task, seed, _ = key
        yield f"<h3>{escape(environment)}/{escape(task)}, seed {seed}</h3><div class=pair>"
        yield from _dialogue("imitated", before[key])
        yield from _dialogue("reinforced", after[key])
        yield "</div>"


def _dialogue(title: str, trajectory: Trajectory) -> Iterator[str]:
    paid = "paid" if trajectory.reward >= 1 else "unpaid"
    yield f"<div><b>{title}</b>, reward <span class={paid}>{trajectory.reward:g}</span>"
    yield from (_message(message) for message in trajectory.messages if message.role != "system")
    yield from (f"<p class=unpaid>{escape(reason.text[:LONGEST])}</p>" for reason in trajectory.reasons)
    yield "</div>"


def _message(message: Message) -> str:
    written = [f"{call.name[:LONGEST]} {call.arguments[:LONGEST]}" for call in message.tool_calls]
    calls = "".join(f"<div><code>{escape(call)}</code></div>" for call in written)
    return f'<div class="said {message.role}">{escape(message.content[:LONGEST])}{calls}</div>'
