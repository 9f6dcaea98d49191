"""The folders `grammar/` and `templates/`: inside the package when installed from a wheel, beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def resource(folder: str, *names: str) -> Path:
    """The path of a file or folder that ships with forgec."""
    installed = _PACKAGE / folder
    base = installed if installed.is_dir() else _PACKAGE.parent / folder
    return base.joinpath(*names)
