"""Made tasks of domains that no shipped spec is like: keys of two columns, lists in rows, decimals and dates, a tool
that always refuses; things that lie in things; people who work for others.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from forgec.commands.tasks_command import command
from forgec.pipeline import check
from forgec.tasking.parameters import Meaning, Place, meanings
from forgec.tasking.people import people_of

SPEC = Path(__file__).parent / "harbour.afs"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The report of sixty tasks, and the tasks."""
    spec = tmp_path_factory.mktemp("made") / SPEC.name
    shutil.copy(SPEC, spec)
    result = CliRunner().invoke(command, [str(spec), "--count", "60", "--seed", "2", "--json"])
    assert result.exit_code == 0, result.output
    lines = (spec.parent / "harbour.tasks.jsonl").read_text().splitlines()
    return json.loads(result.stdout), [json.loads(line) for line in lines]


def texts(lines: list[dict[str, Any]]) -> Iterator[str]:
    for line in lines:
        yield from (line["intent"], *(request["text"] for request in line["requests"]))
        yield from (fact["doc"] for fact in line["facts"])


def test_nearly_all_that_are_chosen_are_certified(made: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
    assert made[0]["acceptance"] > 0.9


def test_everything_that_can_be_exercised_is(made: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
    coverage = made[0]["coverage"]
    assert coverage["tools"]["missing"] == ["sell_fuel"]
    assert coverage["guards violated"]["missing"] == ["pay: 1 Nothing was paid"]  # nobody asks for that


def test_the_words_are_english(made: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
    for text in texts(made[1]):
        wrong = re.search(r"  |the (for|at|until|what|how) |stays of you|hear how long it is|subject", text)
        assert wrong is None or "About your boat, you want" in text, text
        assert "with the at least" not in text and "larger number of nights, 'o" not in text, text


def test_an_amount_is_that_of_the_same_row_not_one_that_is_called_so(
    made: tuple[dict[str, Any], list[dict[str, Any]]],
) -> None:
    payments = [text for text in texts(made[1]) if "take a payment" in text]
    assert payments and all(re.search(r"the amount: (all of what is owed|\{\$)", text) for text in payments)


def test_nobody_asks_for_what_the_question_says(made: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
    for text in texts(made[1]):
        assert not re.search(r"hear the from day of your stay with the from day \d", text), text


def test_bounds_are_meant() -> None:
    spec = check(SPEC).spec
    assert spec is not None
    assert meanings(spec.tools["pay"], spec)["amount"] == Meaning(bounds=(Place("boats", ("owes",)),))
    assert meanings(spec.tools["free_berths"], spec)["length_m"].bounds == (Place("berths", ("length_m",)),)
    assert Place("stays", ("from_day",)) in meanings(spec.tools["add_service"], spec)["on_day"].bounds


ALMANAC = """
environment almanac "An almanac" {}
table days "Days of the year" { day date key, sunrise text, tide decimal(4, 2) "How high the water comes", kind text }
tool day(day date) returns days "What is known of a day." { return days[$day] else "not known"; }
tool days_of(kind text) returns days[] "List the days of a kind." {
  return select * from days where kind = $kind order by day;
}
world w {
  days (day, sunrise, tide, kind) values (date '2025-01-01', '8:10', 3.2, 'holiday'),
    (date '2025-01-02', '8:09', 3.4, 'workday'), (date '2025-01-03', '8:08', 3.9, 'workday'),
    (date '2025-01-06', '8:07', 2.9, 'holiday');
}
"""


def test_nobody_asks_and_nothing_is_written(tmp_path: Path) -> None:
    """Without people, and with tools that only look, there are questions: each says what it is about."""
    spec = tmp_path / "almanac.afs"
    spec.write_text(ALMANAC)
    result = CliRunner().invoke(command, [str(spec), "--count", "10"])
    assert result.exit_code == 0, result.output
    lines = [json.loads(line) for line in (tmp_path / "almanac.tasks.jsonl").read_text().splitlines()]
    found = list(texts(lines))
    assert "You want to hear the sunrise of the day 2025-01-01." in found
    assert any(text.startswith("You want to hear what is known of a day (day: {$new_day}).") for text in found)
    assert any("the days of the kind 'workday'" in text for text in found)
    assert not any("of a kind with" in text or "day with the day" in text or "comes of the" in text for text in found)


@pytest.fixture(scope="module", params=["vault", "ward"])
def others(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Eighty tasks of a domain in which things lie in things, or people work for others."""
    spec = tmp_path_factory.mktemp("made") / f"{request.param}.afs"
    shutil.copy(SPEC.with_name(spec.name), spec)
    result = CliRunner().invoke(command, [str(spec), "--count", "80", "--seed", "3"])
    assert result.exit_code == 0, result.output
    lines = (spec.parent / f"{request.param}.tasks.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_it_is_said_of_which_row_something_is_the_only_one(others: list[dict[str, Any]]) -> None:
    found = [text for text in texts(others) if "the only " in text]
    assert found
    for text in found:
        assert re.search(r"the only \w+ (of|on|in) (your|the) \w+ ('|of|with)|of the only .* (of|in) your", text), text


def test_no_place_is_taken_for_one_in_what_was_put_in(others: list[dict[str, Any]]) -> None:
    for text in texts(others):
        assert "into another" not in text or "into another (" in text, text
        assert not re.search(r"\bthe the\b|\ban? hero\b|\bthe bed with the date\b", text), text


def test_nothing_is_called_by_what_is_no_longer_so(others: list[dict[str, Any]]) -> None:
    """What lay in a thing and was sold, taken out, or whose container was, is not what lies in it any more."""
    for line in others:
        gone: list[str] = []
        for text in (request["text"] for request in line["requests"]):
            assert not any(what in text for what in gone), (line["name"], text)
            found = re.search(r"(?:sell|take|cancel) (the only \w+ (?:in|of) [^(.]*?'[^']*')( to| out|\.)", text)
            if found and "If that is not possible" not in text:
                gone.append(found[1])


def test_something_goes_to_somebody_else(others: list[dict[str, Any]]) -> None:
    given = [text for text in texts(others) if re.search(r"\b(give|send) ", text)]
    if others[0]["world"] == "vault":
        assert any(re.search(r"to the hero '\w+'", text) for text in given)
        assert any(re.search(r"from you to another \(.*the hero '\w+'\)", text) for text in given)
    for text in given:
        named = re.search(r"the hero '|\(.*yourself|If that is not possible", text)
        assert named or "hero" not in text, text


def test_what_is_not_the_persons_is_not_called_so(others: list[dict[str, Any]]) -> None:
    """Patients are those of nurses, not of doctors, who may ask for a move of theirs."""
    doctors = list(texts([line for line in others if line["intent"].startswith("You are Dr. ")]))
    assert not any("your patient" in text for text in doctors)
    assert not doctors or any("move of the patient " in text for text in doctors)


def test_who_asks_is_somebody_who_acts() -> None:
    for name, people in (("ward", "staff"), ("vault", "heroes")):
        spec = check(SPEC.with_name(f"{name}.afs")).spec
        assert spec is not None
        found = people_of(spec, {tool.name: meanings(tool, spec) for tool in spec.tools.values()})
        assert found.table == people


def test_a_thing_that_has_a_name_is_nobody(tmp_path: Path) -> None:
    path = tmp_path / "towns.afs"
    path.write_text("""
environment towns "An atlas" {}
table towns { town_id text key, name text unique, people integer "How many live there" }
tool town(name text) returns towns "Find a town." { return select * from towns where name = $name else "no"; }
world w { towns (town_id, name, people) values ('T1', 'Ash', 100), ('T2', 'Birch', 250); }
""")
    spec = check(path).spec
    assert spec is not None
    assert people_of(spec, {tool.name: meanings(tool, spec) for tool in spec.tools.values()}).table is None
