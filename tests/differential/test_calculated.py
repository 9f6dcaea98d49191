"""`calculate`: the runtime's evaluator, the reference's, and DuckDB give the same doubles."""

import random
from collections.abc import Callable

import pytest

from forgec.reference.calculating import Calculator
from forgec_runtime.engine import connect
from forgec_runtime.sql import calculate

CONNECTION = connect()
NUMBERS = ("0", "1", "2", "3.5", ".25", "10.", "007", "0.1", "12345.678", "0.000001", "99999999999999999999")


class Expressions:
    """Draws expressions: the text, and DuckDB's with each number cast and each step in brackets."""

    def __init__(self, seed: object) -> None:
        self.chance = random.Random(f"{seed}")

    def sum(self, depth: int = 0) -> tuple[str, str]:
        return self._steps("+-", self._product, depth)

    def _product(self, depth: int) -> tuple[str, str]:
        return self._steps("*/", self._factor, depth)

    def _steps(self, operators: str, part: Callable[[int], tuple[str, str]], depth: int) -> tuple[str, str]:
        text, sql = part(depth)
        while self.chance.random() < 0.4:
            operator = self.chance.choice(operators)
            right, right_sql = part(depth)
            text, sql = f"{text}{self._space()}{operator}{right}", f"({sql} {operator} {right_sql})"
        return text, sql

    def _factor(self, depth: int) -> tuple[str, str]:
        if self.chance.random() < 0.2:
            text, sql = self._factor(depth)
            sign = self.chance.choice("+-")
            return f"{self._space()}{sign}{text}", f"({sign} {sql})"
        if depth < 4 and self.chance.random() < 0.3:
            text, sql = self.sum(depth + 1)
            return f"{self._space()}({text}{self._space()})", sql
        number = self.chance.choice(NUMBERS)
        return f"{self._space()}{number}", f"cast('{number}' as double)"

    def _space(self) -> str:
        return self.chance.choice(("", "", " ", "  "))


def test_expressions_have_the_values_that_duckdb_gives() -> None:
    drawn = [Expressions(i).sum() for i in range(5_000)]
    for start in range(0, len(drawn), 100):
        texts, trees = zip(*drawn[start : start + 100], strict=True)
        (theirs,) = CONNECTION.execute(f"select {', '.join(trees)}").fetchall()
        assert [(text, repr(calculate(text))) for text in texts] == list(zip(texts, map(repr, theirs), strict=True))
    assert 0.5 < sum(calculate(text) is not None for text, _ in drawn) / len(drawn) < 1


def test_the_reference_takes_and_refuses_the_same_texts() -> None:
    chance = random.Random(7)
    for i in range(2_000):
        text, _ = Expressions(i).sum()
        for _ in range(chance.choice((0, 0, 1, 2))):
            at = chance.randint(0, len(text))
            text = text[:at] + chance.choice(("", " ", ".", "(", ")", "+", "-", "*", "/", "1", "e")) + text[at + 1 :]
        assert (text, repr(calculate(text))) == (text, repr(Calculator(CONNECTION).value(text)))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-(2)*3", -6.0),
        ("2--1", 3.0),
        ("2 - + - 1", 3.0),
        ("10-2-3", 5.0),
        ("100/10/5", 2.0),
        ("5. + .5", 5.5),
        ("0 * -1", -0.0),
        ("9" * 308 + "/1", float("9" * 308)),
        ("(" * 40 + "1" + ")" * 40, 1.0),
        ("1" + "+(1)" * 249, 250.0),
        ("-" * 999 + "1", -1.0),
        (" " * 999 + "1", 1.0),
    ],
)
def test_what_is_calculated(text: str, value: float) -> None:
    assert repr(calculate(text)) == repr(value)
    assert repr(Calculator(CONNECTION).value(text)) == repr(value)


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "()", "(", ")", "(1", "1)", "1 2", "1. 5", "1 .5", ".", "1.2.3", "1,5", "2(3)", "(2)3", "*1", "1+"),
        *("9**9**9", "9//2", "9%2", "9^2", "1e309", "1e5", "0x10", "1_000", "1j", "inf", "nan", "x", "$x", "1=1"),
        *("\u0663+1", "\u00b2", "\uff11", "1\t+1", "1\n", "1\u00a0+1", "1\x00", "\u22121", "__import__('os')", "1--x"),
        *("1/0", "0/0", "1/(2-2)", "1/-0", "2*(1/0)", "9" * 309, "9" * 308 + "*10", f"1/({'9' * 308}*10)"),
        *("(" * 41 + "1" + ")" * 41, "(" * 1_000, ")" * 1_000, "1" * 1_001, " " * 1_000 + "1", "(1)" * 333),
    ],
)  # fmt: skip
def test_what_has_no_value(text: str) -> None:
    assert calculate(text) is None
    assert Calculator(CONNECTION).value(text) is None


def test_null_has_no_value() -> None:
    assert calculate(None) is None
    assert Calculator(CONNECTION).value(None) is None
