"""Time and depth: formatting takes time in proportion to the length of a spec, whatever is long in it."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tests.fmt.test_layout import formatted

LONG: dict[str, Callable[[int], str]] = {
    "rows": lambda n: "world w { t (a, b) values " + ", ".join(f"('A{i}', {i})" for i in range(n)) + "; }",
    "a chain": lambda n: "invariant i: " + " and ".join(f"a{i} or b" for i in range(n)) + ";",
    "a sum": lambda n: "invariant i: " + " + ".join(f"a{i}" for i in range(n)) + ";",
    "a list": lambda n: "invariant i: a in (" + ", ".join(f"'v{i}'" for i in range(n)) + ");",
    "a case": lambda n: "invariant i: CASE " + " ".join(f"WHEN a THEN {i} ELSE b" for i in range(n)) + " END;",
    "columns": lambda n: "table t { " + ", ".join(f'c{i} text? check (c{i} > 1) "c"' for i in range(n)) + " }",
    "statements": lambda n: "tool f() {" + "\n".join(f"  require a = {i} else 'x'; -- c" for i in range(n)) + "\n}",
    "comments": lambda n: "/* a */" * n + "\n-- b" * n + "\nenum A { a " + "/* c */" * n + "-- d\n" * n + "}",
}


@pytest.mark.parametrize("make", LONG.values(), ids=LONG)
def test_time_is_linear(make: Callable[[int], str]) -> None:
    text = {size: make(size).replace("'x'", '"x"') for size in (400, 1600)}
    formatted(text[400])  # makes what is made once
    times = {size: min(_seconds(text[size]) for _ in range(3)) for size in text}
    assert times[1600] < 9 * times[400] + 0.2  # four times as much, and twice that for the noise of a busy machine


def _seconds(text: str) -> float:
    """Of the processor; the best of a few, as a collection of garbage may come in between."""
    begin = time.process_time()
    formatted(text)
    return time.process_time() - begin
