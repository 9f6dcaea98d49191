"""Garbage that holds itself: there is little of it in a run that ends soon, and looking for it takes long."""

import atexit
import gc

THRESHOLD = 100_000
"""Objects made, and not let go of, between two searches. Python's own is 700."""


def collect_seldom() -> None:
    """For programs of our own: whoever imports forgec decides for himself."""
    gc.set_threshold(THRESHOLD)
    atexit.register(gc.freeze)  # Python looks through all there is once more when it ends: a tenth of a check
