"""Random selects are answered in Python as by DuckDB, over random rows with NULLs, duplicates and ties among them."""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pytest

from forgec.certifying.computing import twin_of
from forgec_runtime import Query
from forgec_runtime.answers import Asked, Rows
from forgec_runtime.base import Base
from forgec_runtime.engine import EngineError
from forgec_runtime.query import execute
from tests.certifying.faults import FAULTS
from tests.certifying.selects import SELDOM, TABLES, Selects, changes, given, query_of, world
from tests.differential.seeding import Fault

QUERIES, ASKED = 400, 24


@dataclass(frozen=True)
class Answered:
    """A query with what DuckDB says to each of some asks; None where it fails."""

    base: Base
    query: Query
    asks: Sequence[Asked]
    answers: Sequence[Rows | None]


@pytest.fixture(scope="module")
def answered() -> list[Answered]:
    chance = random.Random("selects")
    worlds = [world(chance, most) for most in (0, 1, 3, 6, 12)]
    drawn = [_answered(chance, chance.choice(worlds), Selects(chance).query()) for _ in range(QUERIES)]
    queries = [query_of(f"SELECT {text} AS value") for text in SELDOM]
    return [*drawn, *(_answered(chance, base, query) for query in queries for base in worlds)]


def _answered(chance: random.Random, base: Base, query: Query) -> Answered:
    asks = [(given(chance, query), changes(chance, base)) for _ in range(ASKED)]
    try:
        return Answered(base, query, asks, list(execute(base.connection, query, TABLES, asks)))
    except EngineError:
        return Answered(base, query, asks, [_alone(base, query, ask) for ask in asks])


def _alone(base: Base, query: Query, ask: Asked) -> Rows | None:
    try:
        return execute(base.connection, query, TABLES, [ask])[0]
    except EngineError:  # a number that does not fit
        return None


def both(cases: Iterable[Answered]) -> Iterator[tuple[Query, Asked, Rows, Rows]]:
    """What Python says, where it answers, and what DuckDB does."""
    for case in cases:
        twin = twin_of(case.query, TABLES)
        for ask, wanted in zip(case.asks, case.answers, strict=True):
            found = twin(case.base, *ask) if twin is not None else None
            if found is not None and wanted is not None:
                yield case.query, ask, found, wanted


def test_what_is_answered_is_what_duckdb_answers(answered: Sequence[Answered]) -> None:
    compared = 0
    for query, ask, found, wanted in both(answered):
        assert repr(found) == repr(wanted), (query, ask)
        compared += 1
    assert compared > 0.9 * QUERIES * ASKED


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.what.replace(" ", "_"))
def test_a_fault_is_seen(fault: Fault, answered: Sequence[Answered]) -> None:
    with fault.seeded():
        assert _differ(answered)


def _differ(answered: Sequence[Answered]) -> bool:
    try:
        return any(repr(found) != repr(wanted) for _, _, found, wanted in both(answered))
    except Exception:
        return True
