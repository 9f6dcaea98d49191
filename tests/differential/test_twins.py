"""The twins of `forgec_runtime.sql` compute what DuckDB computes, NULL for NULL and digit for digit.

Each test asks DuckDB once, with all of its cases as rows, and compares row by row.
"""

import datetime
import decimal
import itertools
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgec_runtime import Fault, Refusal, sql
from forgec_runtime.types import MAX_INTEGER, MAX_TEXT

BIGINT = "bigint"
DAY = "date"
MONEY = "decimal(8, 2)"
TEXT = "varchar"
TIME = "timestamp"

BOOLEANS = (True, False, None)
INTEGERS = (-MAX_INTEGER, -10, -1, 0, 1, 2, 7, MAX_INTEGER, None)
DECIMALS = (Decimal("-999999.99"), Decimal("-0.01"), Decimal("0.00"), Decimal("0.01"), Decimal("2.50"), None)
DATES = (datetime.date(1, 1, 1), datetime.date(1969, 12, 31), datetime.date(2024, 2, 29), datetime.date.max, None)
TIMES = (datetime.datetime(1, 1, 1), datetime.datetime(2024, 2, 29, 23, 59, 59, 999999), None)
TEXTS = ("", " ", "a", "A", "ab", "b", "Z", "z", "é", "\U0001f600", "￿", "_", "%", None)
POOLS = {"boolean": BOOLEANS, BIGINT: INTEGERS, MONEY: DECIMALS, DAY: DATES, TIME: TIMES, TEXT: TEXTS}

CONNECTION = duckdb.connect(":memory:", config={"threads": 1})


def duck(expression: str, types: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[Any]:
    """The value of an expression over `a`, `b`, ... for each row."""
    columns = list(zip(*rows, strict=True))
    parts = ", ".join(f"unnest(${i}::{type_}[]) as {'abcde'[i - 1]}" for i, type_ in enumerate(types, 1))
    query = f"select {expression} from (select unnest(range({len(columns[0])})) as n, {parts}) order by n"
    return [value for (value,) in CONNECTION.execute(query, [list(column) for column in columns]).fetchall()]


def exact(value: Any) -> tuple[type, str]:
    """A value such that 1, 1.0, True and Decimal('1.00') are all different."""
    return type(value), repr(value)


def agree(expression: str, types: Sequence[str], rows: Iterable[Sequence[Any]], twin: Callable[..., Any]) -> None:
    cases = list(rows)
    for case, theirs in zip(cases, duck(expression, types, cases), strict=True):
        assert (case, exact(twin(*case))) == (case, exact(theirs))


def pairs(type_: str) -> list[tuple[Any, Any]]:
    return [(a, b) for a in POOLS[type_] for b in POOLS[type_]]


# -- logic and comparison -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("operator", "twin"), [("and", sql.and_), ("or", sql.or_)])
def test_three_valued_logic(operator: str, twin: Callable[..., Any]) -> None:
    rows = list(itertools.product(BOOLEANS, repeat=3))
    agree(f"a {operator} b {operator} c", ["boolean"] * 3, rows, twin)
    agree(f"a {operator} b", ["boolean"] * 2, pairs("boolean"), twin)


def test_not() -> None:
    agree("not a", ["boolean"], [(a,) for a in BOOLEANS], sql.not_)


@pytest.mark.parametrize("type_", POOLS)
@pytest.mark.parametrize(
    ("operator", "twin"),
    [("=", sql.eq), ("<>", sql.ne), ("<", sql.lt), ("<=", sql.le), (">", sql.gt), (">=", sql.ge)],
)
def test_comparison(type_: str, operator: str, twin: Callable[..., Any]) -> None:
    agree(f"a {operator} b", [type_, type_], pairs(type_), twin)


@pytest.mark.parametrize("type_", POOLS)
def test_between_and_in(type_: str) -> None:
    rows = list(itertools.product(POOLS[type_], repeat=3))
    agree("a between b and c", [type_] * 3, rows, sql.between)
    agree("a in (b, c)", [type_] * 3, rows, sql.in_)
    agree("not a in (b, c)", [type_] * 3, rows, lambda a, b, c: sql.not_(sql.in_(a, b, c)))


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), st.text(st.characters(codec="utf-8"))
)
def test_texts_compare_by_code_points(a: str, b: str) -> None:
    rows = [(a, b.replace("\0", "")), (a, a), (a, a + "\u0301")]
    agree("a < b", [TEXT, TEXT], rows, sql.lt)
    agree("a = b", [TEXT, TEXT], rows, sql.eq)


def test_decimals_of_different_scales_compare_by_value() -> None:
    values = [Decimal("2.5"), Decimal("2.4"), Decimal("-2.5")]
    others = [Decimal("2.500"), Decimal("2.501"), Decimal("-2.499")]
    rows = list(itertools.product(values, others))
    for operator, twin in (("=", sql.eq), ("<", sql.lt), (">=", sql.ge)):
        agree(f"a {operator} b", ["decimal(4, 1)", "decimal(9, 3)"], rows, twin)


def test_decimals_compare_with_integers() -> None:
    rows = list(itertools.product(DECIMALS, [-1, 0, 1, 2, 999_999, None]))
    for operator, twin in (("=", sql.eq), ("<", sql.lt), ("<>", sql.ne)):
        agree(f"a {operator} b", [MONEY, BIGINT], rows, twin)


@pytest.mark.parametrize("type_", POOLS)
def test_coalesce(type_: str) -> None:
    agree("coalesce(a, b)", [type_, type_], pairs(type_), sql.coalesce)


@pytest.mark.parametrize("type_", POOLS)
def test_greatest_and_least_pass_over_null(type_: str) -> None:
    rows = list(itertools.product(POOLS[type_], repeat=3))
    agree("greatest(a, b, c)", [type_] * 3, rows, sql.greatest)
    agree("least(a, b, c)", [type_] * 3, rows, sql.least)


# -- arithmetic -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("operator", "twin"), [("+", sql.add), ("-", sql.sub), ("*", sql.mul)])
def test_integer_arithmetic(operator: str, twin: Callable[..., Any]) -> None:
    small = [n for n in INTEGERS if n is None or abs(n) < 100]
    rows = pairs(BIGINT) if operator != "*" else [*itertools.product(small, INTEGERS)]
    agree(f"a {operator} b", [BIGINT, BIGINT], rows, twin)


@pytest.mark.parametrize(("operator", "twin"), [("+", sql.add), ("-", sql.sub), ("*", sql.mul)])
def test_decimal_arithmetic_keeps_the_scale_of_duckdb(operator: str, twin: Callable[..., Any]) -> None:
    agree(f"a {operator} b", [MONEY, MONEY], pairs(MONEY), twin)
    others = [Decimal("-1.125"), Decimal("0.000"), Decimal("3.999"), None]
    agree(f"a {operator} b", [MONEY, "decimal(6, 3)"], itertools.product(DECIMALS, others), twin)


@pytest.mark.parametrize("type_", [BIGINT, MONEY])
def test_negation(type_: str) -> None:
    agree("-a", [type_], [(a,) for a in POOLS[type_]], sql.neg)


def test_bigint_faults_where_duckdb_overflows() -> None:
    for a, b in itertools.product((MAX_INTEGER, -MAX_INTEGER, 1023, 1024, 1025, -1024, -1025), repeat=2):
        try:
            theirs: Any = duck("a * b", [BIGINT, BIGINT], [(a, b)])[0]
        except duckdb.OutOfRangeException:
            with pytest.raises(Fault):
                sql.bigint(a * b)
        else:
            assert sql.bigint(a * b) == theirs
    assert sql.bigint(None) is None


# -- text -----------------------------------------------------------------------------------------------------------

ALL_CHARACTERS = [chr(n) for n in range(1, sys.maxunicode + 1) if not 0xD800 <= n <= 0xDFFF]


@pytest.mark.parametrize(("function", "twin"), [("lower", sql.lower), ("upper", sql.upper)])
def test_every_character_of_unicode_is_mapped_alike(function: str, twin: Callable[[str], str]) -> None:
    theirs = duck(f"{function}(a)", [TEXT], [(char,) for char in ALL_CHARACTERS])
    different = [
        (f"U+{ord(char):04X}", twin(char), mapped)
        for char, mapped in zip(ALL_CHARACTERS, theirs, strict=True)
        if twin(char) != mapped
    ]
    assert different == []


@given(st.lists(st.text(st.sampled_from("aZ éÉßẞſΣσςİıǅﬁ́Å\U00010400\U0001f600")), min_size=1, max_size=20))
def test_case_is_mapped_letter_by_letter(texts: list[str]) -> None:
    rows = [(text,) for text in texts]
    agree("lower(a)", [TEXT], rows, sql.lower)
    agree("upper(a)", [TEXT], rows, sql.upper)
    agree("length(a)", [TEXT], rows, sql.length)


def test_length_counts_code_points() -> None:
    rows = [("",), ("abc",), ("é",), ("e\u0301",), ("\U0001f469‍\U0001f469‍\U0001f467",), ("\U00010400" * 3,), (None,)]
    agree("length(a)", [TEXT], rows, sql.length)


def test_text_functions_of_null_are_null() -> None:
    assert [sql.lower(None), sql.upper(None), sql.length(None)] == [None] * 3


def test_concatenation() -> None:
    agree("a || b", [TEXT, TEXT], pairs(TEXT), sql.add)


# -- dates ----------------------------------------------------------------------------------------------------------


def test_days_between_dates() -> None:
    agree("a - b", [DAY, DAY], pairs(DAY), sql.days_between)


def test_adding_days_to_a_date() -> None:
    days = [-400, -1, 0, 1, 31, 366, None]
    inner = [datetime.date(1970, 1, 1), datetime.date(2024, 2, 28), datetime.date(1999, 12, 31), None]
    agree("a + b::integer", [DAY, BIGINT], itertools.product(inner, days), sql.add_days)


@pytest.mark.parametrize("days", [10**9, -(10**9), 3_000_000, MAX_INTEGER, -MAX_INTEGER])
def test_dates_beyond_those_of_python_are_faults(days: int) -> None:
    with pytest.raises(Fault):
        sql.add_days(datetime.date(2025, 1, 1), days)


@given(st.dates() | st.none(), st.datetimes() | st.none())
def test_dates_and_times_convert(day: datetime.date | None, time: datetime.datetime | None) -> None:
    agree("a::timestamp", [DAY], [(day,)], sql.timestamp)
    agree("a::date", [TIME], [(time,)], sql.date_)


# -- what a column holds --------------------------------------------------------------------------------------------


@given(st.decimals(-(10**10), 10**10, places=6), st.integers(0, 5))
def test_a_decimal_is_rounded_as_duckdb_casts_it(value: Decimal, scale: int) -> None:
    digits = Decimal(f"{value:.6f}")
    agree(f"a::decimal(18, {scale})", ["decimal(18, 6)"], [(digits,)], lambda a: sql.decimal_(a, 18, scale))


@pytest.mark.parametrize("half", ["0.005", "-0.005", "1.115", "-1.115", "2.675", "0.004", "-0.004", "0.000", "-0.0049"])
def test_halves_are_rounded_away_from_zero_and_zero_has_no_sign(half: str) -> None:
    agree(
        f"a::{MONEY}",
        ["decimal(9, 4)"],
        [(Decimal(half).quantize(Decimal("0.0001")),)],
        lambda a: sql.decimal_(a, 8, 2),
    )


@pytest.mark.parametrize("value", [0, 1, -7, 999_999, 1_000_000, -1_000_000, MAX_INTEGER])
def test_integers_become_decimals_or_faults_as_in_duckdb(value: int) -> None:
    try:
        theirs = duck(f"a::{MONEY}", [BIGINT], [(value,)])[0]
    except duckdb.ConversionException:
        with pytest.raises(Fault):
            sql.decimal_(value, 8, 2)
    else:
        assert exact(sql.decimal_(value, 8, 2)) == exact(theirs)


@pytest.mark.parametrize("value", ["999999.994", "999999.995", "-999999.995", "9999999.000"])
def test_decimals_that_do_not_fit_are_faults_after_rounding(value: str) -> None:
    given_ = Decimal(value)
    try:
        theirs = duck(f"a::{MONEY}", ["decimal(10, 3)"], [(given_,)])[0]
    except duckdb.ConversionException:
        with pytest.raises(Fault):
            sql.decimal_(given_, 8, 2)
    else:
        assert exact(sql.decimal_(given_, 8, 2)) == exact(theirs)


def test_what_a_column_refuses() -> None:
    assert sql.integer(MAX_INTEGER, "t.c") == MAX_INTEGER
    assert sql.short("x" * MAX_TEXT, "t.c") == "x" * MAX_TEXT
    assert sql.one_of("b", ("a", "b"), "t.c") == "b"
    assert sql.required(0, "t.c") == 0
    with pytest.raises(Refusal, match=r"t\.c is out of range"):
        sql.integer(-MAX_INTEGER - 1, "t.c")
    with pytest.raises(Refusal, match=r"t\.c is too long"):
        sql.short("x" * (MAX_TEXT + 1), "t.c")
    with pytest.raises(Refusal, match=r"t\.c must be one of a, b"):
        sql.one_of("c", ("a", "b"), "t.c")
    with pytest.raises(Refusal, match=r"t\.c must not be null"):
        sql.required(None, "t.c")


@pytest.mark.parametrize("check", [lambda: sql.integer(None, "c"), lambda: sql.short(None, "c")])
def test_null_is_in_every_range(check: Callable[[], object]) -> None:
    assert check() is None


# -- messages -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("type_", POOLS)
def test_a_message_shows_what_duckdb_casts_to_text(type_: str) -> None:
    agree("coalesce(a::varchar, 'NULL')", [type_], [(a,) for a in POOLS[type_]], sql.text)


@given(st.datetimes())
def test_times_are_shown_with_the_digits_they_have(time: datetime.datetime) -> None:
    rows = [
        (time,),
        (time.replace(microsecond=0),),
        (time.replace(microsecond=120_000),),
        (time.replace(microsecond=1),),
    ]
    agree("a::varchar", [TIME], rows, sql.text)


@given(st.floats())
def test_doubles_are_shown_as_duckdb_shows_them(value: float) -> None:
    agree("a::varchar", ["double"], [(value,)], sql.text)


def test_doubles_at_the_edges_of_the_exponent() -> None:
    powers = [float(f"{digit}e{power}") for digit in ("1", "-1", "1.5", "9.999") for power in range(-30, 31)]
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, sys.float_info.max, sys.float_info.min, 5e-324, 0.1 + 0.2]
    agree("a::varchar", ["double"], [(value,) for value in [*powers, *special]], sql.text)


@given(st.decimals(-(10**12), 10**12, places=4))
def test_decimals_are_shown_with_all_their_places(value: Decimal) -> None:
    agree("a::varchar", ["decimal(18, 4)"], [(Decimal(f"{value:.4f}"),)], sql.text)


def test_a_key_of_several_columns_is_shown_part_by_part() -> None:
    assert sql.text(("A", 7, datetime.date(2025, 3, 1), Decimal("1.50"))) == "A, 7, 2025-03-01, 1.50"


@pytest.mark.parametrize(
    ("value", "form", "shown"),
    [
        (Decimal("4.75"), ".2f", "4.75"),
        (Decimal("4.745"), ".2f", "4.75"),
        (Decimal("-4.745"), ".2f", "-4.75"),
        (Decimal("2.5"), ".0f", "3"),
        (Decimal("1234567.5"), ",.2f", "1,234,567.50"),
        (Decimal("1.5"), "f", "1.500000"),
        (Decimal("-0.001"), ".2f", "0.00"),
        (1234567, ",d", "1,234,567"),
        (7, "04d", "0007"),
        (7, ".1f", "7.0"),
        (None, ".2f", "NULL"),
    ],
)
def test_formats_round_half_away_from_zero(value: object, form: str, shown: str) -> None:
    assert sql.formatted(value, form) == shown


@given(st.decimals(-(10**9), 10**9, places=4), st.integers(0, 4))
def test_a_format_rounds_as_a_column_does(value: Decimal, places: int) -> None:
    with decimal.localcontext(decimal.Context(prec=60)):
        rounded = sql.decimal_(value, 18, places)
    assert sql.formatted(value, f".{places}f") == sql.text(rounded)


LISTS: tuple[list[str] | None, ...] = ([], ["a"], ["a", "", "😀"], None)
MAPS: tuple[dict[str, int | None] | None, ...] = ({}, {"a": 1}, {"": 2, "é": 3, "￿": None}, None)


def test_element() -> None:
    cases = list(itertools.product(LISTS, (*INTEGERS, 3, 4)))
    expected = duck("list_extract(a, greatest(b, 0))", [f"{TEXT}[]", BIGINT], cases)
    assert [sql.element(*case) for case in cases] == expected


def test_entry() -> None:
    cases = list(itertools.product(MAPS, TEXTS))
    given = [(None if m is None else {"key": list(m), "value": list(m.values())}, key) for m, key in cases]
    expected = duck("map_extract_value(a, b)", ["map(varchar, bigint)", TEXT], given)
    assert [sql.entry(*case) for case in cases] == expected
