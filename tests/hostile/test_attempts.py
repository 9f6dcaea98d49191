"""The 222 attempts on DuckDB are refused wherever a tool could say them, or do no harm."""

import time

from tests.hostile.attempts import BOMBS, ESCAPES, HARMLESS
from tests.hostile.desk import HEAD, TAIL, judge

ATTEMPTS = {**ESCAPES, **BOMBS}
ROWS, GUARD, VALUE, WRITE = (
    "let v[] = %s;",
    'require (%s) is not null else "x";',
    "let v = (%s);",
    "update accounts set owner = (%s) where true;",
)


def codes_of(attempts: dict[str, str], place: str) -> dict[str, str]:
    """The codes of each attempt, each in a tool of its own, of one spec."""
    text, starts = HEAD + TAIL, dict[str, int]()
    for number, (name, sql) in enumerate(attempts.items()):
        starts[name] = len(text)
        text += f"tool t{number}() {{ {place.replace('%s', sql)} }}\n"
    found = [(one.primary.span.start, one.code) for one in judge(text).report if one.primary is not None]
    ends = [*starts.values(), len(text)][1:]
    return {
        name: " ".join(sorted({code for place, code in found if start <= place < end}))
        for (name, start), end in zip(starts.items(), ends, strict=True)
    }


def test_there_are_222() -> None:
    assert (len(ESCAPES), len(BOMBS)) == (161, 61)
    assert HARMLESS.keys() == {name for name, (code, _) in ATTEMPTS.items() if not code}


def test_each_attempt_gets_its_codes_where_rows_are_asked_for() -> None:
    started = time.process_time()
    assert codes_of({name: sql for name, (_, sql) in ATTEMPTS.items()}, ROWS) == {
        name: code for name, (code, _) in ATTEMPTS.items()
    }
    assert time.process_time() - started < 5 * len(ATTEMPTS) / 10


def test_each_attempt_is_refused_elsewhere_too() -> None:
    attempts = {name: sql for name, (code, sql) in ATTEMPTS.items() if code and len(sql) < 1_000}
    for place in (GUARD, VALUE, WRITE):
        assert [name for name, code in codes_of(attempts, place).items() if not code] == []


def test_the_parts_of_several_statements_are_refused_one_by_one() -> None:
    """All but the harmless first halves, such as `SELECT 1`, that lead up to something."""
    parts = {
        f"{name} {number}": part.strip()
        for name, (_, sql) in ATTEMPTS.items()
        if ";" in sql and "/*" not in sql
        for number, part in enumerate(sql.split(";"))
        if part.strip() and "'" not in part[:1] and part.count("(") == part.count(")")
    }
    accepted = [parts[name] for name, code in codes_of(parts, ROWS).items() if not code]
    assert set(accepted) <= {"SELECT 1", "SELECT lower('A')", "SELECT * FROM accounts"}
