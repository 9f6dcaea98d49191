"""NeMo-RL's own source, where `NEMO_RL` names it: `make nemo-contract CHECKOUT=folder`."""

from __future__ import annotations

import os
import sys
import typing
from pathlib import Path

import pytest

CHECKOUT = os.environ.get("NEMO_RL", "")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Without it there is nothing to collect: the modules import what is not there."""
    return True if not CHECKOUT and collection_path.name.startswith("test_") else None


if CHECKOUT:
    sys.path.insert(0, CHECKOUT)
    if sys.version_info < (3, 12):
        # NeMo-RL is for newer Pythons; this is all that it lacks here
        import typing_extensions

        typing.TypedDict = typing_extensions.TypedDict


@pytest.fixture(scope="session")
def checkout() -> Path:
    return Path(CHECKOUT)
