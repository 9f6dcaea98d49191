"""Was a value said? Texts as whole words, numbers by value, dates in the forms that people write them."""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from math import isclose, isfinite
from typing import Any

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
# typographic quotes, two kinds of hyphen and the minus sign
_LOOKALIKES = str.maketrans("\u2018\u2019\u201c\u201d\u2010\u2011\u2212", "''\"\"---")

# Not in the middle of a longer word, number, date or range: "M1" is not said by "M10", 5 not by "2025-03-05".
_NO_WORD_BEFORE, _NO_WORD_AFTER = r"(?<!\w)", r"(?!\w)"
_NO_DIGIT_BEFORE, _NO_DIGIT_AFTER = r"(?<![0-9][-.,:/])", r"(?![-.,:/][0-9])"
_START, _END = _NO_WORD_BEFORE + _NO_DIGIT_BEFORE, _NO_WORD_AFTER + _NO_DIGIT_AFTER

_UNITS = "st|nd|rd|th|gb|mb|kb|tb|kg|g|mg|km|cm|mm|l|ml|lbs?|oz|h|hrs?|min|mins|s|sec|ms|usd|eur|gbp|px"
_NUMBER = re.compile(
    r"(?<![\w.])(?<![0-9][-:/])(?<!\w-)(?<!\w-[$€£¥])"
    r"(?P<sign>-?)[$€£¥]?(?P<sign2>-?)"
    r"(?P<digits>[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"
    rf"(?:{_UNITS})?(?!\w)(?![-.:/][0-9])"
)
"""A number as people write it. In "1,2,3" each is a number of its own; in "1,234" the comma groups digits."""

_SMALL = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_WORDED = {word: i for i, word in enumerate(_SMALL)} | {word: 10 * i for i, word in enumerate(_TENS, 2)}
# Beside these a word is part of another number: "three hundred", "two point five", "two thirds", "twenty first".
_BESIDE = [
    "minus", "negative", "point", "half", "halves", "quarters?", "dozen", "hundred", "thousand", "million", "billion",
    "first", "second", "thirds?", "fourths?", "fifths?", "sixths?", "sevenths?", "eighths?", "ninths?", "tenths?",
]  # fmt: skip
_NUMBER_WORD = rf"(?:{'|'.join([*_WORDED, *_BESIDE])})(?!\w)"
_WORDS = re.compile(
    rf"(?<![\w\u2013\u2014-])(?>{_NUMBER_WORD}(?:(?:[ -]|(?<=hundred) and |(?<=thousand) and ){_NUMBER_WORD})*)"
    r"(?![\w\u2013\u2014-])(?! and an? (?:half|quarter|third))"
)
"""All words that stand together and are part of a number; not inside a longer word, such as "two-factor"."""


class Unsayable(ValueError):
    """A value that nobody can be asked to say."""


def parts(value: Any) -> tuple[Any, ...]:
    """The values to be said one by one. Raises `Unsayable` for rows, nothing and blanks."""
    values = tuple(value) if isinstance(value, list | tuple) else (value,)
    if not values:
        raise Unsayable("an empty list cannot be said")
    for one in values:
        if one is None:
            raise Unsayable("null cannot be said")
        if isinstance(one, Mapping | list | tuple):
            raise Unsayable("only values and lists of values can be said")
        if isinstance(one, str) and not _folded(one):
            raise Unsayable("an empty text cannot be said")
        if isinstance(one, float) and not isfinite(one):
            raise Unsayable(f"{one} cannot be said")
    return values


def said(value: Any, messages: Iterable[str]) -> bool:
    """Whether each part of `value` occurs in any of the messages."""
    folded = [_folded(message) for message in messages]
    return all(any(_occurs(one, message) for message in folded) for one in parts(value))


def spoken(value: Any) -> str:
    """A sentence fragment that says `value`, so that `said(value, [spoken(value)])`."""
    return ", ".join(_written(one) for one in parts(value))


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, float):
        return format(Decimal(repr(value)), "f")
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    if isinstance(value, datetime.date):
        return value.isoformat()
    return str(value)


def _folded(text: str) -> str:
    """Without differences that a reader would not see: case, white space, typographic quotes and hyphens."""
    plain = unicodedata.normalize("NFC", text).translate(_LOOKALIKES)
    return " ".join(plain.casefold().split())


def _occurs(value: Any, message: str) -> bool:
    if isinstance(value, bool):
        return bool(_any_of(("yes", "true") if value else ("no", "false")).search(message))
    if isinstance(value, int | float | Decimal):
        return any(_same_number(value, number) for number in _numbers(message))
    if isinstance(value, datetime.datetime):
        return bool(_moment_pattern(value).search(message))
    if isinstance(value, datetime.date):
        return bool(_date_pattern(value).search(message))
    return bool(_text_pattern(_folded(str(value))).search(message))


def _numbers(message: str) -> Iterator[Decimal]:
    for match in _NUMBER.finditer(message):
        number = Decimal(match["digits"].replace(",", ""))
        yield -number if match["sign"] or match["sign2"] else number
    for match in _WORDS.finditer(message):
        worded = _worded(re.split("[ -]", match[0]))
        if worded is not None:
            yield Decimal(worded)


def _worded(words: list[str]) -> int | None:
    """A number below a hundred that these words are. "one" alone is none: it stands for anything ("which one?")."""
    if words == ["one"]:
        return None
    if len(words) == 1:
        return _WORDED.get(words[0])
    if len(words) == 2 and words[0] in _TENS and words[1] in _SMALL[1:10]:
        return _WORDED[words[0]] + _WORDED[words[1]]
    return None


def _same_number(value: int | float | Decimal, number: Decimal) -> bool:
    # 0.1 + 0.2 is told as 0.3; exact numbers have no such excuse
    if isinstance(value, float):
        return isclose(value, float(number), rel_tol=1e-9, abs_tol=1e-9)
    return number == value


@lru_cache(maxsize=1024)
def _text_pattern(text: str) -> re.Pattern[str]:
    # the words of an enumeration's value are joined by underscores; people speak them apart
    words = re.escape(text).replace("_", "[_ -]").replace(r"\ ", " ")
    before = (_NO_WORD_BEFORE if _inner(text[0]) else "") + (_NO_DIGIT_BEFORE if text[0].isdigit() else "")
    after = (_NO_WORD_AFTER if _inner(text[-1]) else "") + (_NO_DIGIT_AFTER if text[-1].isdigit() else "")
    return re.compile(before + words + after)


def _inner(char: str) -> bool:
    """Whether a word could go on beyond this character."""
    return char == "_" or char.isalnum()


@lru_cache(maxsize=8)
def _any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(_NO_WORD_BEFORE + "(?:" + "|".join(words) + ")" + _NO_WORD_AFTER)


def _date_forms(day: datetime.date) -> str:
    year, month = f"{day.year:04}", _MONTHS[day.month - 1]
    short = "sept?" if month == "september" else month[:3]
    name = rf"(?:{month}|{short}\.?)"
    number = rf"0?{day.day}(?:st|nd|rd|th)?"
    return "|".join(
        (
            rf"{year}([-/])0?{day.month}[-/]0?{day.day}",
            rf"0?{day.month}/0?{day.day}/{year}",
            rf"{name} (?:the )?{number},? {year}",
            rf"(?:the )?{number} (?:of )?{name},? {year}",
        )
    )


@lru_cache(maxsize=1024)
def _date_pattern(day: datetime.date) -> re.Pattern[str]:
    # a time may follow an ISO date without a space
    return re.compile(rf"{_START}(?:{_date_forms(day)})(?:(?=t[0-9])|{_END})")


def _time_forms(moment: datetime.datetime) -> str:
    minute, second, hour = moment.minute, moment.second, moment.hour % 12 or 12
    half = r"a\.?m\.?" if moment.hour < 12 else r"p\.?m\.?"
    seconds = rf":{second:02}(?:\.0+)?" if second else r"(?::00(?:\.0+)?)?"
    if moment.microsecond:
        fraction = f"{moment.microsecond:06}".rstrip("0")
        seconds = rf":{second:02}\.{fraction}0*"
    on_the_hour = "|" + rf"0?{hour} ?{half}" if not (minute or second or moment.microsecond) else ""
    return rf"0?{moment.hour}:{minute:02}{seconds}|0?{hour}:{minute:02}{seconds} ?{half}{on_the_hour}"


@lru_cache(maxsize=1024)
def _moment_pattern(moment: datetime.datetime) -> re.Pattern[str]:
    date, time = _date_forms(moment), _time_forms(moment)
    forms = rf"(?:{date})(?:t|,? (?:at )?)(?:{time})|(?:{time}),? (?:on )?(?:{date})"
    # a morning's hour is not said by "9:00 pm"
    other = r"(?! ?p\.?m\b)" if moment.hour < 12 else r"(?! ?a\.?m\b)"
    return re.compile(rf"{_START}(?:{forms}){_END}{other}")
