"""Queries that differ in nothing but names and constants, as one query with more values.

Tasks that were made ask the same of their results again and again, each with names, titles and dates of its own. As one
query it is planned once for all of them, and what was answered before is not asked for again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from forgec_runtime import Query

MAX_KEPT = 16_384
"""How many texts are remembered, and how many shapes."""

_TEXT = re.compile(r"'(?:[^']|'')*'")
_DATE = re.compile(r"CAST\('(\d+)' AS DATE\)")
_EQUAL = re.compile(r"(\.(\w+) (?:=|<>) )'(\d+)'")
_AMONG = re.compile(r"(\.(\w+) IN \()('\d+'(?:, '\d+')*)\)")
_MORE = re.compile(r"(\.(\w+) > )(\d{1,9})(?=\)| AND | AS value$| ORDER BY |$)")
_FIELD = re.compile(r'"(\w+)" (\w+)')


class Shaped(NamedTuple):
    """A query that many are instances of, and the values that make one of them of it, after those it had."""

    query: Query
    constants: tuple[Any, ...]


def shaped(query: Query) -> Shaped:
    """A query over values alone by its shape; any other as it is."""
    if query.tables or any(mark in query.text for mark in '{}"'):
        return Shaped(query, ())
    text, values, constants = _shape(query.text, query.values, query.columns)
    return Shaped(_query(text, values, query.columns, query.order), constants)


@lru_cache(maxsize=MAX_KEPT)
def _query(text: str, values: tuple[tuple[str, str], ...], columns: tuple[str, ...], order: str) -> Query:
    return Query(text, (), values, columns, order)


@lru_cache(maxsize=MAX_KEPT)
def _shape(
    text: str, values: tuple[tuple[str, str], ...], columns: tuple[str, ...]
) -> tuple[str, tuple[tuple[str, str], ...], tuple[Any, ...]]:
    written: list[str] = []

    def mask(found: re.Match[str]) -> str:
        written.append(found[0])
        return f"'{len(written) - 1}'"

    masked = _renamed(_TEXT.sub(mask, text), values, columns)
    types = _types(values)
    constants: list[Any] = []
    kinds: list[str] = []

    def lifted(value: Any, kind: str) -> str:
        constants.append(value)
        kinds.append(kind)
        return f"call._c{len(constants) - 1}"

    def lifted_text(number: str) -> str:
        return lifted(written[int(number)][1:-1].replace("''", "'"), "VARCHAR")

    def equal(found: re.Match[str]) -> str:
        return found[1] + lifted_text(found[3]) if types.get(found[2]) == {"VARCHAR"} else found[0]

    def among(found: re.Match[str]) -> str:
        if types.get(found[2]) != {"VARCHAR"}:
            return found[0]
        numbers = re.findall(r"\d+", found[3])
        return f"{found[1]}{', '.join(map(lifted_text, numbers))})"

    def more(found: re.Match[str]) -> str:
        exact = types.get(found[2], {""}) <= {"BIGINT", "DECIMAL"}
        return found[1] + lifted(int(found[3]), "BIGINT") if exact else found[0]

    masked = _DATE.sub(lambda found: f"CAST({lifted_text(found[1])} AS DATE)", masked)
    masked = _MORE.sub(more, _AMONG.sub(among, _EQUAL.sub(equal, masked)))
    whole = re.sub(r"'(\d+)'", lambda found: written[int(found[1])], masked)
    named = [(f"_v{i}", kind) for i, (_, kind) in enumerate(values)]
    return whole, (*named, *((f"_c{i}", kind) for i, kind in enumerate(kinds))), tuple(constants)


def _renamed(text: str, values: Sequence[tuple[str, str]], columns: Sequence[str]) -> str:
    """A text in which values, and rows that are called like one, have numbers for names."""
    numbers = {name: i for i, (name, _) in enumerate(values)}
    text = re.sub(r"\bcall\.(\w+)", lambda found: f"call._v{numbers[found[1]]}", text)
    for name, number in numbers.items():
        if name != name.lower() or name in columns or re.search(rf"\.{name}\b", text) or f"_row.{name}" in text:
            continue  # it may be a column, too
        if not re.search(rf"\bAS {name}, |\b{name}\(", text):
            text = re.sub(rf"(?<![.\w']){name}(?=\.)|(?<=\bAS ){name}\b", f"_a{number}", text)
    return text


def _types(values: Sequence[tuple[str, str]]) -> dict[str, set[str]]:
    """The types that columns of a name have in all values, and the values themselves."""
    found: dict[str, set[str]] = {}
    for i, (_, kind) in enumerate(values):
        found.setdefault(f"_v{i}", set()).add(kind.partition("(")[0])
        for name, of in _FIELD.findall(kind):
            found.setdefault(name, set()).add(of)
    return found
