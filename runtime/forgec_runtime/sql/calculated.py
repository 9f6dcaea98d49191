"""Arithmetic that is written in a text."""

from __future__ import annotations

import math
import re
from typing import Any

MAX_CALCULATED = 1_000
"""Characters of a text that is calculated."""
MAX_BRACKETS = 40
"""Brackets inside each other in it."""

_CHARACTERS = frozenset("0123456789.+-*/() ")


def calculate(a: str | None) -> Any:
    """The value of an expression of decimal numbers, `+ - * /` and brackets, computed in doubles.

    NULL for any other text, and where a step divides by zero or leaves the numbers that a double holds.
    """
    if a is None or len(a) > MAX_CALCULATED or not _CHARACTERS.issuperset(a):
        return None
    try:
        return _Reader(a).whole()
    except (ValueError, ZeroDivisionError):
        return None


class _Reader:
    """Reads one expression, part by part. Raises `ValueError` and `ZeroDivisionError`."""

    def __init__(self, text: str) -> None:
        self.parts: list[str] = [*re.findall(r"[0-9.]+|[-+*/()]", text), ""]
        self.at = 0
        self.brackets = 0

    def whole(self) -> float:
        value = self._sum()
        if self._take() != "":
            raise ValueError("more than one expression")
        return value

    def _take(self) -> str:
        part = self.parts[self.at]
        self.at += 1
        return part

    def _sum(self) -> float:
        value = self._product()
        while self.parts[self.at] in ("+", "-"):
            sign = -1 if self._take() == "-" else 1
            value = _finite(value + sign * self._product())
        return value

    def _product(self) -> float:
        value = self._factor()
        while self.parts[self.at] in ("*", "/"):
            if self._take() == "*":
                value = _finite(value * self._factor())
            else:
                value = _finite(value / self._factor())
        return value

    def _factor(self) -> float:
        sign = 1
        while (part := self._take()) in ("+", "-"):
            sign = -sign if part == "-" else sign
        return sign * (self._bracket() if part == "(" else _finite(float(part)))

    def _bracket(self) -> float:
        self.brackets += 1
        if self.brackets > MAX_BRACKETS:
            raise ValueError("too many brackets inside each other")
        value = self._sum()
        if self._take() != ")":
            raise ValueError("a bracket is not closed")
        self.brackets -= 1
        return value


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("no double")
    return value
