"""Every twin, by way of the compiler: the Python of an expression computes what DuckDB does.

Value for value, with the type and the scale that DuckDB says, NULL only where the compiler expects it, and a fault
where DuckDB fails. `FORGEC_EXAMPLES=100` tries each expression with twenty times as many rows.
"""

import datetime
import os
import sys
import time
from decimal import Decimal
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forgec_runtime import sql
from forgec_runtime.types import MAX_INTEGER
from tests.differential.expression_bench import Expression

EXAMPLES = int(os.environ.get("FORGEC_EXAMPLES", "5"))
TIMES = st.datetimes().map(lambda time: time.replace(fold=0))
SMALL_DATES = st.dates(datetime.date(1995, 1, 1), datetime.date(2026, 1, 1))


def decimals(precision: int, scale: int) -> st.SearchStrategy[Decimal]:
    most = 10**precision - 1
    units = st.sampled_from([-most, -1, 0, 1, 5, 50, 150, 250, -250, most]) | st.integers(-most, most)
    return (units | st.integers(-1000, 1000)).map(lambda unit: Decimal(min(max(unit, -most), most)).scaleb(-scale))


INTEGERS = st.sampled_from([-MAX_INTEGER, -(2**32), -1, 0, 1, 2**31, 2**32 - 1, 2**32, MAX_INTEGER])
CHARACTERS = (
    "aAbBzZ09 %_\\\t\n\r\u00a0\u1680\u2003\u200b\u3000éÉe\u0301ßẞ\u017fΣ\u03c3ςİ\u0131ǅﬁ\u212a\ufffd"
    "\U00010400\U0001f469\u200d"
)
TEXTS = (
    st.text(st.sampled_from(CHARACTERS), max_size=12)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
    | st.sampled_from(["", " ", "a" * 5000, "é" * 3000 + " ", "%" * 20])
)
MAPS = st.dictionaries(st.text(max_size=3), INTEGERS).map(lambda entries: dict(sorted(entries.items())))
VALUES: dict[str, tuple[str, st.SearchStrategy[Any]]] = {
    "integer": ("bigint", INTEGERS | st.integers(-MAX_INTEGER, MAX_INTEGER) | st.integers(-20, 20)),
    "small": ("bigint", st.integers(-12, 12)),
    "price": ("decimal(8, 2)", decimals(8, 2)),
    "rate": ("decimal(6, 4)", decimals(6, 4)),
    "large": ("decimal(18, 0)", decimals(18, 0)),
    "fine": ("decimal(18, 17)", decimals(18, 17)),
    "boolean": ("boolean", st.booleans()),
    "text": ("varchar", TEXTS),
    "ab": ("varchar", st.text(st.sampled_from("abé"), max_size=8)),
    "pattern": ("varchar", st.text(st.sampled_from("abé%%_A"), max_size=6)),
    "date": ("date", SMALL_DATES | st.dates() | st.sampled_from([datetime.date.min, datetime.date.max])),
    "recent": ("date", SMALL_DATES | st.sampled_from([datetime.date(2024, 2, 29), datetime.date(2025, 1, 31)])),
    "time": ("timestamp", TIMES | st.sampled_from([datetime.datetime.min, datetime.datetime.max])),
    "integers": ("bigint[]", st.lists(st.integers(-3, 3) | INTEGERS, max_size=6)),
    "texts": ("varchar[]", st.lists(st.sampled_from(["a", "b", "é", "Z", ""]), max_size=5)),
    "dates": ("date[]", st.lists(SMALL_DATES | st.just(datetime.date(2024, 2, 29)), max_size=5)),
    "prices": ("decimal(8, 2)[]", st.lists(decimals(8, 2), max_size=5)),
    "doubles": ("double[]", st.lists(st.floats(-1e308, 1e308), max_size=6)),
    "map": ("map(varchar, bigint)", MAPS),
    "double": ("double", st.floats(-1e300, 1e300) | st.integers(-9999, 9999).map(lambda n: n / 200)),
}

CHOICES = """
coalesce($a, $b): fine, double; double, integer
coalesce($a, $b): integer, price; price, rate; fine, integer; rate, large; recent, time; boolean, boolean; text, ab
greatest($a, $b): integer, price; price, rate; fine, integer; date, time; text, text; boolean, boolean; time, time
least($a, $b): integer, price; price, rate; large, fine; time, date; text, text; date, date; integer, integer
coalesce($a, 0): integer; price; rate; large
coalesce($a, -3): price
coalesce($a, (3)): rate
coalesce($a, 3000000000): price
coalesce($a, 1.5): integer; price; fine
coalesce($a, null, $b): price, rate
coalesce($a, '2025-01-31'): date; time
coalesce($a, '1.5'): price
coalesce($a, 'none'): text
greatest($a, 0): integer; price
least($a, 10.00): integer; price; rate
least($a, 10.0000, $b): integer, price
greatest(date_diff('day', $a, $b), 0) * 0.25: recent, recent
least($a, 10.00) * 0.5 + $b: price, rate
greatest($a, 0) + 5: price
nullif($a, 0): integer; price
nullif($a, $b): small, price; price, rate; text, ab; date, date; time, date; boolean, boolean
nullif(trim($a), ''): text
case when $a then $b else $c end: boolean, integer, price; boolean, price, rate; boolean, date, time
case when $a then 1 else $b end: boolean, price
case when $a then $b end: boolean, price
case when $a then null else $b end: boolean, rate
case when $a then 1 when $b > 0 then 2.5 end: boolean, price
case $a when 1 then 'one' when 2 then 'two' else cast($a as text) end: small
case $a when 1 then $b when 2.5 then 0 end: small, price; price, price
case $a when '' then 'empty' when $b then 'same' end: ab, ab
case $a when $b then 1 end: recent, time
"""
COMPARISONS = """
$a = $b: integer, price; price, rate; date, time; double, integer; price, double; double, double; text, text
$a < $b: integer, price; rate, price; time, date; double, small; price, double; double, double; fine, large
$a is distinct from $b: small, price; recent, time; double, price; text, text
$a is not distinct from $b: price, rate; double, double
$a > 0.1: integer; price; double
$a = '2024-02-29': recent; time
$a <= '7': integer
$a in (1, 2.5, $b): small, price; price, rate; double, integer
$a in ($b, '2024-02-29'): recent, recent
$a not in ($b, $c): small, small, price; date, date, time; text, ab, ab
$a between $b and $c: price, small, rate; date, time, date; double, integer, price; text, text, text
$a between 0 and $b: price, small
$a not between '2024-01-01' and $b: recent, recent
($a = 1) is true: small
($a = 1) is not false: small
"""
TEXT_FUNCTIONS = """
trim($a): text
trim($a) <> '': text
lower(trim($a)) = lower($b): text, text
left($a, $b): text, integer; text, small
right($a, $b): text, integer; text, small
substring($a, $b): text, integer; text, small
substring($a, $b, $c): text, small, small; text, integer, small; text, small, integer
left($a, 2): text
left($a, -1): text
right($a, 3): text
substring($a, 2, 3): text
substring($a, -3): text
replace($a, 'a', ''): text; ab
replace($a, 'ab', 'é'): ab
replace($a, '', ''): text
replace(replace($a, 'aa', 'b'), 'b', '%') || $b: ab, text
sha256($a): text; ab
to_json($a): text; ab; integer; price; fine; large; boolean; date; time; double
to_json($a + $b): price, rate; small, integer
contains($a, $b): text, text; ab, ab
starts_with($a, $b): text, text; ab, ab
ends_with($a, $b): text, text; ab, ab
$a like $b: ab, pattern; text, pattern; text, text
$a ilike $b: ab, pattern; text, pattern; text, text
$a not like $b: ab, pattern
$a not ilike $b: ab, pattern
$a like '%' || $b || '%': ab, ab; text, text
$a like 'a%': ab
$a like '%é': ab
$a like '%ab%': ab
$a like 'ab': ab
$a like '%': text
$a like '': text
$a like '_%': text
$a like 'a%b%é': ab
$a like '_b%_': ab
$a ilike '%AB%': ab
$a ilike 'É%': ab
$a not ilike '%é': ab
$a || $b: text, text; text, integer; price, text; boolean, text; text, date; time, text; double, text
'#' || $a || 1.50: integer
"""
CASTS = """
cast($a as text): integer; price; fine; large; boolean; date; time; double
cast($a as integer): price; rate; large; boolean; double; small
cast($a as boolean): integer; small
cast($a as double): integer; price; rate; fine; large
cast($a as decimal(12, 2)): price; rate; small
cast($a as decimal(9, 4)): price; rate; small
cast($a as decimal(4, 1)): price; integer
cast($a as date): time; date
cast($a as timestamp): date
"""
NUMBERS = """
$a // $b: integer, small; small, small; integer, integer
$a % $b: integer, small; small, small; price, rate; rate, price; price, small; small, rate; fine, large; large, fine
$a // 7: integer
$a % 7: integer
$a % 2: price
$a % 0.03: price
$a % 0: integer; price
$a // 0: integer
$a / $b: large, price; fine, fine; integer, small; integer, integer; price, rate; small, price; rate, integer
$a / 3: integer; price
$a / 0: small
$a * $b // -1: integer, integer
abs($a): integer; price; fine; double
abs($a * $b): integer, integer
abs($a - $b): price, rate
-($a * $b): small, integer
sign($a): integer; price; fine
round($a): price; rate; fine; large; double
round($a, 0): price
round($a, 1): price; rate; fine; double
round($a, 2): double
round($a, 7): double
round($a / $b, 1): price, small; small, small
cast(round($a * 100.0 / $b) as integer): small, small
cast(ceil($a / $b) as integer): small, small; integer, small
$a / $b > 0.5: small, small
round($a, 3): price; rate; fine
round($a * $b, 2): price, rate
floor($a): price; rate; fine; large; double
ceil($a): price; rate; fine; large; double
coalesce($a * $b, 0) + 1: integer, integer
abs(coalesce($a * $b, null)): integer, integer
ceil($a) * $b: rate, price
round($a, 1) + $b: price, rate
-round($a): price
abs(-3) + $a: price; integer
$a + (5): price
$a * -3: price; small
$a - nullif(5, $b): price, small
$a + $b % 7: price, small
"""
TIME_FUNCTIONS = """
year($a): date; time
month($a): date; time
day($a): date; time
date_diff('year', $a, $b): date, date; time, time; date, time
date_diff('month', $a, $b): date, date; time, time; time, date
date_diff('week', $a, $b): date, date; time, time; date, time; recent, recent
date_diff('day', $a, $b): date, date; time, time; date, time
date_diff('hour', $a, $b): date, date; time, time; date, time
date_diff('minute', $a, $b): recent, recent; time, time
date_diff('second', $a, $b): recent, time; time, time
$a + interval 1 month: date; time; recent
$a - interval 1 month: recent; time
$a + interval 1 year: recent
$a - interval 4 year: recent
$a + interval 3 day: date; time
$a - interval 2 week: date
$a + interval 90 minute: time; date
$a - interval 36 hour: time
$a + interval -5 second: time
$a + interval ($b) month: recent, small; time, integer
$a - interval ($b) month: recent, small
$a + interval ($b) year: recent, small
$a + interval ($b) week: recent, small; date, integer
$a - interval ($b * 2) day: time, small; time, integer
$a + interval ($b) hour: time, small; date, integer
$a + interval ($b) minute: recent, integer
$a - interval ($b) second: recent, integer
cast($a + interval 1 month as date): recent
$a + interval 1 hour <= $b: recent, time
$a + $b * interval 1 month: recent, small; time, integer
$a - interval 90 minute * $b: recent, small; date, integer
$a + $b * interval (2) day: recent, small
last_day($a): recent; date; time
date_trunc('year', $a): date; time
date_trunc('month', $a): date; time
date_trunc('week', $a): date; time; recent
date_trunc('day', $a): date; time
date_trunc('hour', $a): recent; time
date_trunc('minute', $a): time
date_trunc('second', $a): time
date_trunc('month', cast($a as date)): time
"""

LISTS = """
len($a): integers; texts; prices
list_contains($a, $b): integers, small; texts, ab; dates, recent; prices, price; prices, small
list_contains($a, 3): integers
list_contains(['a', 'b'], $a): ab
list_position($a, $b): integers, small; texts, ab; dates, recent
list_position($a, $b) * 3000000000: integers, small
list_sort($a): integers; texts; dates; prices
list_reverse($a): integers; texts; doubles; dates
list_reverse(list_sort($a)): texts
list_concat($a, $b): integers, integers; texts, texts; doubles, doubles
list_concat($a, $b, $a): texts, texts
$a || $b: integers, integers; texts, texts
$a || list_reverse($a): doubles
list_sum($a): integers; prices; doubles
list_sum($a) + 1: integers
list_min($a): integers; texts; dates; prices
list_max($a): integers; texts; dates; prices
list_distinct($a): integers; texts; dates; prices
len(list_distinct($a)) = len($a): texts
list_has_all($a, $b): integers, integers; texts, texts; dates, dates; integers, prices
list_has_any($a, $b): integers, integers; texts, texts; dates, dates
contains_all($a, $b): integers, integers; texts, texts; dates, dates
contains_all($a, list_concat($b, $b)): texts, texts
first_missing($a, $b): integers, integers; texts, texts
first_missing($a, list_sort(list_concat($b, $a))): texts, texts
array_to_string($a, ', '): integers; texts; dates; prices; doubles
to_json($a): integers; texts; dates; doubles; map
cardinality($a): map
cardinality($a) - 5: map
map_keys($a): map
map_values($a): map
map($a, $b): texts, integers
map(list_distinct($a), list_distinct($a)): texts
map_keys(map(list_distinct($a), list_distinct($a))): texts
"""


def cases(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Expressions with the kinds of their values, line by line."""
    lines = [line.rpartition(": ") for line in text.splitlines() if line]
    return [(expression, tuple(kinds.split(", "))) for expression, _, all_ in lines for kinds in all_.split("; ")]


@cache
def compiled(expression: str, kinds: tuple[str, ...], optional: bool) -> Expression:
    return Expression(expression, [VALUES[kind][0] + "?" * optional for kind in kinds])


@pytest.mark.parametrize(
    ("expression", "kinds"),
    cases(CHOICES + COMPARISONS + TEXT_FUNCTIONS + CASTS + NUMBERS + TIME_FUNCTIONS + LISTS),
    ids=str,
)
def test_twin(expression: str, kinds: tuple[str, ...]) -> None:
    given_ = [VALUES[kind][1] for kind in kinds]
    sometimes = [st.none() | value | value | value for value in given_]

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(
        st.lists(st.tuples(*given_), min_size=1, max_size=40), st.lists(st.tuples(*sometimes), min_size=1, max_size=40)
    )
    def agree(rows: list[Any], rows_with_nulls: list[Any]) -> None:
        compiled(expression, kinds, optional=False).check(rows)
        compiled(expression, kinds, optional=True).check(rows_with_nulls)

    agree()


@pytest.mark.parametrize(
    ("expression", "kinds"),
    [
        ("cast($a as integer)", "text"),  # ' 1_000e-1' is a number
        ("cast($a as date)", "text"),
        ("cast($a as decimal(8, 2))", "double"),
        ("cast($a as boolean)", "price"),
        ("round($a, -1)", "price"),
        ("floor($a)", "integer"),  # a double
        ("sign($a) * 100", "integer"),  # of 8 bits
        ("greatest($a, $b)", "double, double"),  # either zero
        ("$a * $b = $c", "fine, price, large"),  # more than 38 digits
        ("nullif($a, $b)", "date, time"),
        ("$a between '2025-01-01' and $b", "date, time"),
        ("case $a + 1 when 1 then 2 end", "integer"),
        ("$a + interval 1.5 hour", "time"),
        ("round_even($a, 1)", "price"),
    ],
)
def test_what_has_no_exact_twin_is_asked(expression: str, kinds: str) -> None:
    assert not compiled(expression, tuple(kinds.split(", ")), optional=True).is_twin


ALL_CHARACTERS = [chr(n) for n in range(1, sys.maxunicode + 1) if not 0xD800 <= n <= 0xDFFF]


def test_every_character_is_a_space_or_not() -> None:
    compiled("trim($a)", ("text",), optional=False).check([(f"{character}a",) for character in ALL_CHARACTERS])


def test_every_character_is_like_its_capital() -> None:
    rows = [(character, other) for character in ALL_CHARACTERS for other in {character.lower(), character.upper()}]
    compiled("$a ilike $b", ("text", "text"), optional=False).check(rows)
    compiled("$a like '_'", ("text",), optional=False).check([(character,) for character in ALL_CHARACTERS])


def test_a_pattern_takes_no_longer_than_its_text() -> None:
    start = time.perf_counter()
    assert not sql.like("a" * 65_000, "%a" * 30_000 + "%b")
    assert not sql.like("a" * 65_000, "%a_" * 10_000 + "b%")
    assert time.perf_counter() - start < 5
