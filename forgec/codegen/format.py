"""The one style of generated Python: the only door to ruff."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from ruff import find_ruff_bin

LINE_LENGTH = 100


def formatted(modules: Mapping[str, str]) -> dict[str, str]:
    """Modules by name, in the style of ruff: one process for all of them, whatever is configured around it.

    Raises `RuntimeError` for a module that is no Python.
    """
    with TemporaryDirectory(prefix="forgec-") as name:
        places = {module: Path(name, f"m{i}.py") for i, module in enumerate(modules)}
        for module, text in modules.items():
            places[module].write_bytes(text.encode("utf-8"))
        done = subprocess.run([*_command(), name], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"ruff cannot format what was generated: {done.stderr.strip()}")
        return {module: place.read_bytes().decode("utf-8") for module, place in places.items()}


@cache
def _command() -> tuple[str, ...]:
    style = ("--line-length", str(LINE_LENGTH), "--target-version", "py311")
    return (find_ruff_bin(), "format", "--isolated", "--no-cache", "--quiet", *style)
