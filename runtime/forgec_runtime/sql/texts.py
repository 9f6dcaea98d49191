"""Texts are sequences of code points."""

from __future__ import annotations

from functools import cache
from typing import Any

from forgec_runtime.engine import connect, lock


def lower(a: str | None) -> Any:
    if a is None or a.isascii():
        return a and a.lower()
    return a.translate(_letters("lower"))


def upper(a: str | None) -> Any:
    if a is None or a.isascii():
        return a and a.upper()
    return a.translate(_letters("upper"))


@cache
def _letters(function: str) -> dict[int, str]:
    """How DuckDB maps letter by letter, whatever version of Unicode this Python knows."""
    others = f"select ascii(c), {function}(c) from (select chr(n::integer) as c from {{}}) where {function}(c) <> c"
    ranges = f"(from range(1, {0xD800}) as r(n) union all from range({0xE000}, {0x110000}) as r(n))"
    connection = connect()
    lock(connection)
    return dict(connection.execute(others.format(ranges)).fetchall())


def length(a: str | None) -> Any:
    return None if a is None else len(a)
