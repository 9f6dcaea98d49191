"""The value of arithmetic that is written in a text: brackets first, then products, then sums, a step at a time."""

from __future__ import annotations

import re

from forgec_runtime.engine import Connection, EngineError, fetch
from forgec_runtime.sql.calculated import MAX_BRACKETS, MAX_CALCULATED

_BETWEEN = re.compile(r"(?<=[0-9.]) +(?=[0-9.])")
"""A space that would make one number of two."""
_NUMBER = re.compile(r"(?<![0-9.])(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?![0-9.])")
_FLAT = re.compile(r"[-+]*#[0-9]+;(?:[-+*/][-+]*#[0-9]+;)*")
"""What may stand between brackets: `#3;` is the value number 3."""
_SIGNED = re.compile(r"(^|[*/]|(?<=;)[-+])([-+]+)#([0-9]+);")
_PRODUCT = re.compile(r"#([0-9]+);([*/])#([0-9]+);")
_SUM = re.compile(r"#([0-9]+);([-+])#([0-9]+);")


class NoValue(Exception):
    """A text is no expression, or has no value."""


class Calculator:
    """Calculates one text. DuckDB computes each step."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.values: list[float] = []

    def value(self, text: str | None) -> float | None:
        """The value of an expression; None for a text that is none, or that has none."""
        try:
            return None if text is None else self._whole(text)
        except (NoValue, EngineError):
            return None

    def _whole(self, text: str) -> float:
        if len(text) > MAX_CALCULATED or re.search(r"[^0-9.+*/() -]", text) or _BETWEEN.search(text):
            raise NoValue
        _check_depth(text)
        left = _NUMBER.sub(lambda found: self._step("", found[0]), text.replace(" ", ""))
        while (inner := re.search(r"\(([^()]*)\)", left)) is not None:
            left = left[: inner.start()] + self._flat(inner[1]) + left[inner.end() :]
        return self.values[int(self._flat(left)[1:-1])]

    def _flat(self, text: str) -> str:
        """The number of the value of an expression without brackets."""
        if _FLAT.fullmatch(text) is None:
            raise NoValue
        text = _SIGNED.sub(self._signed, text)
        for pattern in (_PRODUCT, _SUM):
            while (found := pattern.search(text)) is not None:
                made = self._step(found[2], self._of(found[1]), self._of(found[3]))
                text = text[: found.start()] + made + text[found.end() :]
        return text

    def _signed(self, found: re.Match[str]) -> str:
        negative = found[2].count("-") % 2 == 1
        return found[1] + (self._step("-", self._of(found[3])) if negative else f"#{found[3]};")

    def _of(self, number: str) -> float:
        return self.values[int(number)]

    def _step(self, operator: str, *operands: float | str) -> str:
        """The number of a new value: of what `operator` gives for one operand, or two."""
        (*first, last) = ["cast(? as double)" for _ in operands]
        ((value,),) = fetch(self.connection, f"select {''.join(first)} {operator} {last}", list(operands))
        if value is None:
            raise NoValue
        self.values.append(value)
        return f"#{len(self.values) - 1};"


def _check_depth(text: str) -> None:
    depth = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if not 0 <= depth <= MAX_BRACKETS:
            raise NoValue
    if depth != 0:
        raise NoValue
