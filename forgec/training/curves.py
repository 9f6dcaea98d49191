"""What the metrics of a run say, ready to be drawn and told: success by environment, split and time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forgec.rollouts.statistics import wilson
from forgec.rollouts.store import read as read_trajectories
from forgec.rollouts.trajectory import Trajectory
from forgec.training.opening import recorded


@dataclass(frozen=True)
class Point:
    """One evaluation."""

    seconds: float
    """CPU time of learning since the imitation ended; before that it is negative."""
    step: int
    episodes: int
    success: float

    @property
    def interval(self) -> tuple[float, float]:
        """The Wilson score interval at 95 per cent."""
        return wilson(self.success, self.episodes)


@dataclass(frozen=True)
class Run:
    """A run as its folder has it. Of one that has not ended, what there is so far."""

    folder: Path
    record: dict[str, Any]
    lines: tuple[dict[str, Any], ...]

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def environments(self) -> list[str]:
        return list(self.record["packages"])

    def evaluations(self, phase: str, environment: str, split: str = "held_out") -> list[Point]:
        """The evaluations of a phase, in order; the longest one where a step has several."""
        found: dict[int, Point] = {}
        end = self._end_of_imitation if phase == "imitation" else 0.0
        for line in self.lines:
            if line["what"] != "evaluation" or line["phase"] != phase or line["split"] != split:
                continue
            told = line["environments"].get(environment)
            if told is None:
                continue
            point = Point(line["times"]["cpu"] - end, line["step"], told["episodes"], told["success"])
            if line["step"] not in found or found[line["step"]].episodes <= point.episodes:
                found[line["step"]] = point
        return [found[step] for step in sorted(found)]

    def steps(self, phase: str) -> Iterator[dict[str, Any]]:
        """The lines of a phase's steps."""
        return (line for line in self.lines if line["what"] == "step" and line["phase"] == phase)

    def transcripts(self, name: str) -> dict[Any, Trajectory]:
        """The trajectories that were kept, by key: `before`, `after`, `control`; none if there is no such file yet.

        Raises `StoreError`.
        """
        path = self.folder / "transcripts" / f"{name}.jsonl"
        return {one.key: one for one in read_trajectories(path)} if path.exists() else {}

    @property
    def _end_of_imitation(self) -> float:
        seconds = [line["times"]["cpu"] for line in self.steps("imitation")]
        return max(seconds, default=0.0)


def read(folder: Path) -> Run:
    """The run of a folder. Raises `ConfigError` where there is none, `ValueError` where its metrics are damaged."""
    record = recorded(folder)
    lines = []
    path = folder / "metrics.jsonl"
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True) if path.exists() else (), 1):
        if line.endswith(b"\n"):  # else it is being written
            try:
                lines.append(json.loads(line))
            except ValueError:
                raise ValueError(f"{path}:{number} is no JSON") from None
    return Run(folder, record, tuple(lines))
