"""Texts are sequences of code points."""

from __future__ import annotations

import hashlib
import re
from functools import cache, lru_cache
from typing import Any

from forgec_runtime.engine import connect, lock
from forgec_runtime.errors import Fault
from forgec_runtime.sql import messages
from forgec_runtime.sql.logic import strict

MAX_KEPT = 1_000_000
"""The longest text that is kept while a call runs, in characters; a column holds far less."""
_SPACES = " \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
"""What Unicode calls a space; tabs and ends of lines are none."""


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


def bounded(a: str | None) -> Any:
    """A text that a call keeps for later. Raises `Fault` for one that is longer than any could be meant to be."""
    if a is not None and len(a) > MAX_KEPT:
        raise Fault("text too long")
    return a


def length(a: Any) -> Any:
    """The characters of a text, the elements of a list, the entries of a map."""
    return None if a is None else len(a)


@strict
def varchar(a: Any) -> Any:
    """A value cast to text."""
    return messages.text(a)


@strict
def trim(a: str) -> Any:
    return a.strip(_SPACES)


@strict
def replace(a: str, old: str, new: str) -> Any:
    return a.replace(old, new) if old else a


@strict
def sha256(a: str) -> Any:
    """The hash of a text in UTF-8, as 64 digits."""
    return hashlib.sha256(a.encode()).hexdigest()


@strict
def contains(a: str, part: str) -> Any:
    return part in a


@strict
def starts_with(a: str, part: str) -> Any:
    return a.startswith(part)


@strict
def ends_with(a: str, part: str) -> Any:
    return a.endswith(part)


# -- parts ----------------------------------------------------------------------------------------------------------


@strict
def left(a: str, count: int) -> Any:
    """The first `count` characters; all but the last ones where `count` is negative. Raises `Fault`."""
    return a[: _near(count)] if count >= 0 else a[:count]


@strict
def right(a: str, count: int) -> Any:
    """The last `count` characters; all but the first ones where `count` is negative."""
    return a[max(0, len(a) - count) :] if count >= 0 else a[-count:]


@strict
def substring(a: str, start: int, count: int = 2**32 - 1) -> Any:
    """`count` characters from the `start`th on, or those before it where `count` is negative.

    A negative `start` counts from the end. Raises `Fault`.
    """
    begin = _near(start) - 1 if start >= 0 else len(a) + _near(start)
    first, last = sorted((begin, begin + _near(count)))
    return a[max(0, first) : max(0, last)]


def _near(count: int) -> int:
    """DuckDB counts characters with 32 bits. Raises `Fault`."""
    if not -(2**32) <= count < 2**32:
        raise Fault("substring out of range")
    return count


# -- patterns -------------------------------------------------------------------------------------------------------


@strict
def like(a: str, pattern: str) -> Any:
    """`%` stands for any text, `_` for any character; nothing escapes them."""
    head, *pieces = pattern.split("%")
    if not pieces:
        return len(a) == len(head) and _stands(head, a, 0)
    *pieces, tail = pieces
    at, end = len(head), len(a) - len(tail)
    if at > end or not _stands(head, a, 0) or not _stands(tail, a, end):
        return False
    for piece in pieces:  # the first place is as good as any
        found = _find(piece, a, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def _stands(piece: str, a: str, at: int) -> bool:
    return a.startswith(piece, at) if "_" not in piece else _expression(piece).match(a, at) is not None


def _find(piece: str, a: str, at: int, end: int) -> int:
    if "_" not in piece:
        return a.find(piece, at, end)
    found = _expression(piece).search(a, at, end)
    return found.start() if found else -1


@lru_cache(64)
def _expression(piece: str) -> re.Pattern[str]:
    return re.compile(".".join(map(re.escape, piece.split("_"))), re.DOTALL)
