"""Values of a source, as text, to literals of a spec."""

from __future__ import annotations

import datetime
import decimal
import math
import re
import unicodedata
from collections.abc import Iterable

from forgec.model.types import MAX_PRECISION
from forgec.syntax.scan import KEYWORDS
from forgec_runtime.types import (
    MAX_INTEGER,
    MAX_TEXT,
    Boolean,
    Date,
    Decimal,
    Double,
    Enum,
    Integer,
    Timestamp,
    Type,
)

_LOOSE = re.compile(r"^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?!\d)")
"""Dates as people type them: 2024/2/3."""
_TRUTH = {"1": "true", "t": "true", "true": "true", "0": "false", "f": "false", "false": "false"}
_CUTS = re.compile(rf'\n(?=(?:{"|".join(KEYWORDS)})\b)|/\*|"""')
"""What ends a declaration or opens a comment even inside a string: the file is cut before it is parsed."""
MAX_BYTES = 32
"""Bytes of a binary value that are written, in hexadecimal digits."""
MAX_SCALE = 4
"""Numbers with more digits after the point are taken for measurements, not for amounts."""


def literal(type_: Type, text: str) -> str | None:
    """The literal of a value of `type_`; None when the text spells none."""
    if isinstance(type_, Integer):
        whole = re.fullmatch(r"([-+]?\d{1,16})(?:\.0+)?", text.strip())
        return str(int(whole[1])) if whole and abs(int(whole[1])) <= MAX_INTEGER else None
    if isinstance(type_, Decimal):
        return _decimal(type_, text)
    if isinstance(type_, Double):
        return _double(text)
    if isinstance(type_, Boolean):
        return _TRUTH.get(text.strip().lower())
    if isinstance(type_, Date):
        moment = _moment(text)
        return f"'{moment.date()}'" if moment and moment.time() == datetime.time() else None
    if isinstance(type_, Timestamp):
        moment = _moment(text)
        return f"'{moment}'" if moment else None
    if isinstance(type_, Enum) and text not in type_.values:
        return None
    return quoted(text) if len(text) <= MAX_TEXT else None


def typed(type_: Type, literal_: str) -> str:
    """A literal that has its type wherever it stands."""
    prefix = "date " if isinstance(type_, Date) else "timestamp " if isinstance(type_, Timestamp) else ""
    return prefix + literal_


def quoted(text: str) -> str:
    """A 'string' of SQL that says `text`, without what may not stand in a file."""
    return "'" + without_controls(_CUTS.sub(" ", text)).replace("'", "''") + "'"


def shortened(digits: str) -> str:
    """The hexadecimal digits of some bytes, those of the first ones where there are many: pictures are not read."""
    return digits if len(digits) <= MAX_BYTES * 2 else digits[: MAX_BYTES * 2] + "..."


def documentation(text: str) -> str:
    """A "string" of a spec that says `text` in one line."""
    plain = " ".join(without_controls(text).split())
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


def without_controls(text: str) -> str:
    """`text` with LF for other line ends, and no control, private, lone or invisible characters."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(c for c in plain if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Co", "Cs"))


def decimal_for(texts: Iterable[str], least: int) -> Decimal | None:
    """The decimals that hold these numbers, of at least `least` digits after the point; None when none do well."""
    digits, scale = 1, least
    for text in texts:
        number = _number(text)
        if number is None:
            return None
        exponent = number.normalize().as_tuple().exponent
        scale = max(scale, -exponent if isinstance(exponent, int) else MAX_SCALE + 1)
        digits = max(digits, number.adjusted() + 1)
    if scale > MAX_SCALE or digits + scale > MAX_PRECISION:
        return None
    return Decimal(min(MAX_PRECISION, max(10, digits + scale + 2)), scale)


def _decimal(type_: Decimal, text: str) -> str | None:
    number = _number(text)
    if number is None:
        return None
    with decimal.localcontext(decimal.Context(prec=100)):
        exact = number.quantize(decimal.Decimal(1).scaleb(-type_.scale))
        if exact != number or abs(exact) >= decimal.Decimal(10) ** (type_.precision - type_.scale):
            return None
    return format(abs(exact) if exact.is_zero() else exact, "f")


def _number(text: str) -> decimal.Decimal | None:
    try:
        number = decimal.Decimal(text.strip())
    except decimal.InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) < 40 else None


def _double(text: str) -> str | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return repr(number) if math.isfinite(number) and abs(number) < 1e300 else None


def _moment(text: str) -> datetime.datetime | None:
    """A point in time; in UTC where it has a zone."""
    plain = _LOOSE.sub(lambda found: f"{found[1]}-{int(found[2]):02}-{int(found[3]):02}", text.strip())
    try:
        moment = datetime.datetime.fromisoformat(plain)
    except ValueError:
        return None
    try:
        return moment.astimezone(datetime.UTC).replace(tzinfo=None) if moment.tzinfo else moment
    except OverflowError:
        return None
