"""Garbage that holds itself: amid a large step it would be looked for in all that its calls hold, in vain."""

from __future__ import annotations

import gc

MANY = 100
"""In steps of more calls than these it is not looked for."""


def pause(calls: int) -> bool:
    """Look for no garbage amid a step of so many calls; tells whether to `resume` after it."""
    if calls <= MANY or not gc.isenabled():
        return False
    gc.disable()
    return True


def resume() -> None:
    gc.enable()
