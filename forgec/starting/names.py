"""Names of a source as names of a spec."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from forgec.diagnostics import Report
from forgec.model.names import MAX_NAME, check_name
from forgec.source import Source, Span
from forgec.syntax.nodes import Name

_WORDS = """
    all alter analyse analyze and any array as asc asymmetric between both call case cast check collate column
    constraint create cross current_date current_timestamp default deferrable desc describe distinct do drop else end
    except false fetch for force foreign from glob grant group having if ilike in initially inner insert install
    intersect into join lambda lateral leading like limit map not notnull null offset on only or order outer pivot
    pivot_longer pivot_wider placing positional primary q qualify references returning revoke rollback row select show
    some summarize symmetric table tablesample then to trailing true union unique unpivot using variadic when where
    window with
    """
"""Words that SQL reads as something else wherever a name may stand, and those that generated code needs."""
_WORDS_FOR_TABLES = """
    attach begin bigint binary bit boolean cache char character comment commit connect copy date dec decimal delete
    detach disconnect double enum execute explain float int integer interval json load merge nchar number numeric
    object pragma prepare range real ref rename reset set smallint struct text time timestamp truncate unknown update
    use vacuum values varchar
    """
"""Words that SQL reads as something else where a table stands."""
_RESERVED = frozenset(_WORDS.split())
_RESERVED_TABLES = _RESERVED | frozenset(_WORDS_FOR_TABLES.split())

_LETTERS = str.maketrans({"ß": "ss", "æ": "ae", "Æ": "Ae", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "œ": "oe"})
"""Letters that are no letter of ASCII with a mark."""


def is_name(text: str, what: str = "environment") -> bool:
    """Whether `text` may be the name of a `what`."""
    return check_name(Name(Span(Source("", text), 0, len(text)), text), what, Report())


def legal(original: str, what: str, taken: Iterable[str], position: int) -> str:
    """The name for a table or column (`what`) called `original`: words in snake case, unlike every name in `taken`.

    `position`, from 1, names it where the original has no letter or digit that a name may have.
    """
    name = snake(original) or f"{what}_{position}"
    if not name[0].isalpha():
        name = f"{what[0]}_{name}"
    name = name[:MAX_NAME].rstrip("_")
    sound = is_name(name, what) and is_name(name, "parameter")  # keys become parameters
    if not sound or name in (_RESERVED_TABLES if what == "table" else _RESERVED):
        name = f"{name}s" if what == "table" and not name.endswith("s") else f"{name[: MAX_NAME - 6]}_value"
    used, number, base = set(taken), 1, name
    while name in used:
        number += 1
        name = f"{base[: MAX_NAME - 4].rstrip('_')}_{number}"
    return name


def type_name(words: str, taken: Iterable[str]) -> str:
    """`order_status` as the name of an enum, `OrderStatus`, unlike every name in `taken`."""
    base = "".join(part.capitalize() for part in snake(words).split("_")) or "Values"
    base = (base if base[0].isalpha() else f"E{base}")[: MAX_NAME - 4]
    name, number, used = base, 1, {other.lower() for other in taken}
    while name.lower() in used:
        number += 1
        name = f"{base}{number}"
    return name


def singulars(table: str) -> list[str]:
    """What one row of a table may be called, likely ones first: `cities` gives `city`, `citie`, `cities`."""
    found = [table]
    if table.endswith("s") and len(table) > 2:
        found.insert(0, table[:-1])
    if table.endswith("es") and len(table) > 3:
        found.insert(1, table[:-2])
    if table.endswith("ies") and len(table) > 4:
        found.insert(0, table[:-3] + "y")
    return found


def snake(original: str) -> str:
    plain = unicodedata.normalize("NFKD", original.translate(_LETTERS)).encode("ascii", "ignore").decode()
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", plain)
    return re.sub(r"[^a-z0-9]+", "_", parted.lower()).strip("_")
