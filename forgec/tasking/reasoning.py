"""What has to be worked out of results: which row is meant, and what a user may ask about rows.

Each is SQL over the rows of a node, as an agent would do it in its head, and the words for it.
"""

from __future__ import annotations

import datetime
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from forgec.sql.scope import Cell
from forgec.tasking.plans import Source
from forgec.tasking.words import Words, label_of
from forgec_runtime import types as t

Row = Mapping[str, Any]
Columns = Mapping[str, Cell]

_NUMBERS = (t.Integer, t.Decimal)
_ORDERED = (t.Integer, t.Decimal, t.Double, t.Date)


@dataclass(frozen=True)
class Criterion:
    """Which of some rows is meant: that with these values and, of those, the one with the least or greatest `order`."""

    equals: tuple[tuple[str, Any], ...] = ()
    order: str | None = None
    most: bool = False

    def picks(self, rows: Sequence[Row]) -> list[Row]:
        """The rows that are meant: one, if it is clear."""
        found = [row for row in rows if all(row[name] == value for name, value in self.equals)]
        if self.order is None or not found:
            return found
        if any(row[self.order] is None for row in found):
            return []
        best = (max if self.most else min)(row[self.order] for row in found)
        return [row for row in found if row[self.order] == best]

    def sql(self, field: str, source: Source, facts: Mapping[str, str]) -> str:
        """The field of the row that is meant; `facts` are the names of facts that hold values of columns."""
        prefix = source.prefix
        parts = [f"select {prefix}{field}{f' as {field}' if prefix else ''} from {source.sql}"]
        tests = [
            f"{prefix}{name} = {f'${facts[name]}' if name in facts else constant(value)}" for name, value in self.equals
        ]
        if tests:
            parts.append(f"where {' and '.join(tests)}")
        if self.order is not None:
            parts.append(f"order by {prefix}{self.order}{' desc' if self.most else ''} limit 1")
        return " ".join(parts)


ANY = Criterion()
"""The only one."""


def criteria(rows: Sequence[Row], wanted: Row, columns: Columns) -> list[Criterion]:
    """What tells one row from the others, plainest first: nothing, a value, an extreme, an extreme among a kind.

    Ties are left out; so are keys, which nobody but the desk knows.
    """
    if len(rows) == 1:
        return [Criterion()]
    telling = [name for name, cell in columns.items() if _tells(name, cell) and wanted[name] not in (None, "")]
    extreme = [name for name, cell in columns.items() if _counts(name, cell) and isinstance(cell.type, _ORDERED)]
    kinds = [name for name, cell in columns.items() if isinstance(cell.type, t.Enum) and wanted[name] is not None]
    found = [Criterion(((name, wanted[name]),)) for name in [*telling, *kinds]]
    for most in (False, True):
        found += [Criterion((), name, most) for name in extreme]
        found += [Criterion(((kind, wanted[kind]),), name, most) for kind in kinds for name in extreme]
    plain = [name for name in telling if isinstance(columns[name].type, t.Text)]
    plain = [name for name in plain if len(Criterion(((name, wanted[name]),)).picks(rows)) > 1]
    found += [Criterion(((a, wanted[a]), (b, wanted[b]))) for i, a in enumerate(plain) for b in plain[i + 1 :]]
    return [one for one in found if [id(row) for row in one.picks(rows)] == [id(wanted)] and _is_choice(one, rows)]


def _is_choice(one: Criterion, rows: Sequence[Row]) -> bool:
    """Whether an extreme is one of several."""
    return one.order is None or len(Criterion(one.equals).picks(rows)) > 1


def _counts(name: str, cell: Cell) -> bool:
    """Whether a number is more than a name."""
    return cell.references is None and name != "id" and not name.endswith("_id")


def comparable(name: str, cell: Cell) -> bool:
    """Whether of two rows one can have more of it."""
    return _counts(name, cell) and isinstance(cell.type, _ORDERED)


def _tells(name: str, cell: Cell) -> bool:
    return _counts(name, cell) and isinstance(cell.type, t.Text | t.Date)


@dataclass(frozen=True)
class Question:
    """What a user asks: the SQL of the answer, what it is, and how it is asked for; and what belongs to the answer
    `also`, each SQL and what it is.
    """

    sql: str
    doc: str
    text: str
    kind: str
    also: tuple[tuple[str, str], ...] = ()


def questions(
    source: str,
    rows: Sequence[Row],
    columns: Columns,
    group: str,
    words: Words,
    chance: random.Random,
    docs: Mapping[str, str] | None = None,
) -> Iterator[Question]:
    """What can be asked about several rows, which are called `group`, in a random order; `docs` are of the columns."""
    found = list(_questions(source, rows, columns, group, words, docs or {}))
    chance.shuffle(found)
    yield from found


def _questions(
    source: str, rows: Sequence[Row], columns: Columns, group: str, words: Words, docs: Mapping[str, str]
) -> Iterator[Question]:
    if len(rows) < 2:
        return
    plain = re.fullmatch(r"the (\w+)", group)
    text = f"how many {plain[1]} there are" if plain else f"the number of {group}"
    yield Question(f"(select count(*) from ${source})", text, text, "count")
    numbers = [n for n, c in columns.items() if _counts(n, c) and isinstance(c.type, _NUMBERS)]
    dates = [n for n, c in columns.items() if isinstance(c.type, t.Date)]
    titles = [
        n
        for n, c in columns.items()
        if type(c.type) is t.Text and re.search(r"(^|_)(title|name|subject|what|message)$", n)
    ]
    for name, cell in columns.items():
        if isinstance(cell.type, t.Enum):
            for value in dict.fromkeys(row[name] for row in rows if row[name] is not None):
                if 1 <= sum(row[name] == value for row in rows) < len(rows):
                    text = f"how many of {group} have the {label_of(name)} '{value}'"
                    yield Question(f"(select count(*) from ${source} where {name} = {constant(value)})", text, text,
                                   "filter")  # fmt: skip
    for name in numbers:
        values = [row[name] for row in rows if row[name] is not None]
        if len(values) < len(rows) or len(set(values)) < 2:
            continue
        label = words.label(name, columns)
        if isinstance(columns[name].type, t.Decimal):
            text = f"what the {label} of {group} adds up to"
            yield Question(f"(select sum({name}) from ${source})", text, text, "sum")
            text = f"how far apart the highest and the lowest {label} of {group} are"
            yield Question(f"(select max({name}) - min({name}) from ${source})", text, text, "difference")
            text = f"what the highest {label} among {group} is"
            yield Question(f"(select max({name}) from ${source})", text, text, "max")
            text = f"what the lowest {label} among {group} is"
            yield Question(f"(select min({name}) from ${source})", text, text, "min")
            many_above = _above(values)
            if many_above is not None:
                text = f"how many of {group} have a {label} of more than {many_above}"
                yield Question(f"(select count(*) from ${source} where {name} > {many_above})", text, text, "filter")
    for name in dates:
        label = words.label(name, columns)
        values = [row[name] for row in rows if row[name] is not None]
        if values:
            text = f"in how many days the earliest {label} among {group} is, counted from today"
            if min(values) > words.today:
                yield Question(
                    f"date_diff('day', today(), (select min({name}) from ${source}))", text, text, "distance"
                )
        if len(values) == len(rows) and min(values) < max(values):
            text = f"how many days lie between the earliest and the latest {label} of {group}"
            sql = f"(select date_diff('day', min({name}), max({name})) from ${source})"
            yield Question(sql, text, text, "distance")
    for title in titles[:1]:
        yield from _comparisons(source, rows, columns, title, [*numbers, *dates], group, words)
        for name in [*numbers, *dates]:
            for most in (True, False):
                best = Criterion((), name, most).picks(rows)
                if len(best) == 1 and best[0][title]:
                    text = f"which of {group} has the {words.extreme(name, columns, most, docs.get(name, ''))}"
                    if isinstance(columns[name].type, t.Date):
                        kind = "first or last"
                    else:
                        kind = "arg-max" if most else "arg-min"
                    desc = " desc" if most else ""
                    yield Question(f"select {title} from ${source} order by {name}{desc} limit 1", text, text, kind)


def _comparisons(
    source: str, rows: Sequence[Row], columns: Columns, title: str, names: Sequence[str], group: str, words: Words
) -> Iterator[Question]:
    """Which of two has more of something, and how much more: the second tells a guess from an answer."""
    one, other = rows[0], rows[-1]
    titled = sum(row[title] in (one[title], other[title]) for row in rows) == 2
    if not titled or not one[title] or not other[title] or one[title] == other[title]:
        return
    two = f"from ${source} where {title} in ({constant(one[title])}, {constant(other[title])})"
    for name in names:
        if one[name] is None or other[name] is None or one[name] == other[name]:
            continue
        extreme = words.comparative(name, columns)
        first = f"which of {group} has the {extreme}, '{one[title]}' or '{other[title]}'"
        if isinstance(columns[name].type, t.Date):
            sql = f"(select date_diff('day', min({name}), max({name})) {two})"
            more = "by how many days"
        else:
            sql, more = f"(select max({name}) - min({name}) {two})", "how much the difference is"
        yield Question(f"select {title} {two} order by {name} desc limit 1", first, f"{first}, and {more}", "compare",
                       ((sql, more),))  # fmt: skip


def _above(values: Sequence[Any]) -> Decimal | None:
    """A round number that some values are above, and some are not."""
    middle = sorted(values)[len(values) // 2]
    bound = Decimal(int(middle))
    above = sum(value > bound for value in values)
    return bound if 0 < above < len(values) and bound > 0 else None


def constant(value: Any) -> str:
    """A value as SQL writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, datetime.date):
        return f"date '{value.isoformat()}'"
    return format(value, "f") if isinstance(value, Decimal) else str(value)
