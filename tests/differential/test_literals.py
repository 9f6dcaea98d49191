"""Literals whose value is plain are what DuckDB says that they are."""

from __future__ import annotations

import random

import duckdb
import pytest

from forgec.sql.literals import UNCLEAR, literal_value
from forgec.sql.tree import DIALECT, cast, parse_own
from forgec_runtime.types import Boolean, Date, Decimal, Double, Integer, Text, Timestamp, Type

TYPES: list[Type] = [
    Boolean(), Date(), Decimal(4, 2), Decimal(18, 0), Decimal(2, 2), Double(), Integer(), Text(), Timestamp(),
]  # fmt: skip
PLAIN = ("0", "-7", "12.5", "-0.00", "'x'", "''", "'2025-02-28'", "'2025-02-28 10:00:00'", "null", "true", "false")
CLOSE = (
    "'2025-02-30'", "'2025-2-3'", "' 2025-02-28'", "'0001-01-01'", "'2025-02-28 24:00:00'", "'2025-02-28T10:00:00'",
    "'2025-02-28 10:00:00.5'", "1e3", "0.005", "99.995", "100", "9007199254740993", "99999999999999999999", "1 + 1",
    "'1'", "- -1", "'true'", ".5", "007",
)  # fmt: skip


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_a_plain_value_is_what_duckdb_computes(type_: Type) -> None:
    chance = random.Random(str(type_))
    drawn = [f"{chance.choice(['', '-'])}{chance.randrange(10 ** chance.randrange(1, 8))}" for _ in range(40)]
    drawn += [f"{chance.randrange(200)}.{chance.randrange(1000)}" for _ in range(40)]
    seen = 0
    for text in (*PLAIN, *CLOSE, *drawn):
        tree = parse_own(text)
        value = literal_value(tree, type_)
        if value is not UNCLEAR:
            seen += 1
            (found,) = duckdb.execute(f"select {cast(tree.copy(), type_.sql).sql(dialect=DIALECT)}").fetchall()[0]
            assert (type(value), str(value)) == (type(found), str(found)), (text, type_)
    assert seen >= (1 if isinstance(type_, Double) else 2)


def test_what_needs_a_closer_look_is_left_to_duckdb() -> None:
    for text in ("1 + 1", "'2025-02-30'", "0.005", "1e3"):
        assert literal_value(parse_own(text), Decimal(4, 2)) is UNCLEAR
    assert literal_value(parse_own("'2025-02-30'"), Date()) is UNCLEAR
    assert literal_value(parse_own("'10:00'"), Timestamp()) is UNCLEAR
