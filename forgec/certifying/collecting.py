"""How often Python looks for garbage while very many plans are played."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = 100_000, 20, 100
"""Thresholds of `gc`: most of what plays leave behind is let go of at once, without any collection."""


@contextmanager
def seldom_collected() -> Iterator[None]:
    """What is there by now, such as specs and worlds, is not looked through, and what comes after seldom."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
