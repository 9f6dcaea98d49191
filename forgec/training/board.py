"""The metrics of a run for TensorBoard, too: one scalar for every number of every line."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

SAID = {"phase", "step", "what", "split"}
"""What a tag or a step says already."""


def installed() -> bool:
    """Whether TensorBoard is there to write for."""
    return find_spec("tensorboard") is not None


class Board:
    """The events of a run, in a folder of their own. What was there before is made again, from the metrics."""

    def __init__(self, folder: Path) -> None:
        """Needs `forgec[tensorboard]`. Raises `OSError`."""
        from torch.utils.tensorboard import SummaryWriter

        if folder.exists():
            shutil.rmtree(folder)
        self._writer = SummaryWriter(folder)

    def add(self, line: Mapping[str, Any]) -> None:
        """Write the numbers of a line of the metrics."""
        for tag, value in scalars(line):
            self._writer.add_scalar(tag, value, line["step"])
        self._writer.flush()


def scalars(line: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """The numbers of a line with their tags: `reinforcement/library/reward`, `control/held_out/phone/success`."""
    split = line.get("split")
    prefix = f"{line['phase']}/{split}" if split else str(line["phase"])
    for key, value in line.items():
        if key not in SAID:
            yield from _numbers(prefix if key == "environments" else f"{prefix}/{key}", value)


def _numbers(tag: str, value: Any) -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _numbers(f"{tag}/{key}", inner)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield tag, float(value)
