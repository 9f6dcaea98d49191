"""What tools, columns and values are called."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgec.pipeline import check
from forgec.sql.scope import Cell
from forgec.tasking.choosing import Choosing
from forgec.tasking.likeness import Before, Given
from forgec.tasking.measuring import alike, shape_of
from forgec.tasking.parameters import Meaning, Place, meanings
from forgec.tasking.people import people_of
from forgec.tasking.plans import Plan, numbered
from forgec.tasking.reasoning import criteria, questions
from forgec.tasking.wording import checked
from forgec.tasking.words import Words, label_of, singular
from forgec_runtime import types as t

SPECS = Path(__file__).parents[2] / "specs"
COLUMNS = {"title": Cell(t.Text()), "price": Cell(t.Integer()), "kind": Cell(t.Enum("Kind", ("a", "b")))}


@pytest.mark.parametrize(
    ("name", "label"),
    [("email", "e-mail address"), ("new_email", "e-mail address"), ("payment_method_id", "payment method"),
     ("order_id", "order number"), ("used_gb", "used GB"), ("options['size']", "size")],
)  # fmt: skip
def test_labels(name: str, label: str) -> None:
    assert label_of(name) == label


@pytest.mark.parametrize(
    ("many", "one"), [("copies", "copy"), ("boxes", "box"), ("loans", "loan"), ("address", "address")]
)
def test_singular(many: str, one: str) -> None:
    assert singular(many) == one


def test_phone_is_understood() -> None:
    spec = check(SPECS / "phone.afs").spec
    assert spec is not None
    known = {tool.name: meanings(tool, spec) for tool in spec.tools.values()}
    people = people_of(spec, known)
    assert (people.table, people.device) == ("lines", ("device", "line_id"))
    assert people.owned == {"cards": ("line_id",), "bills": ("line_id",)}
    assert known["find_line"]["number"] == Meaning((Place("lines", ("number",)),))
    assert known["enter_puk"]["puk"].looked == (Place("device", ("puk",)),)
    words = Words(spec, people.table)
    assert words.does(spec.tools["resume"], {}) == "resume your line"
    assert (
        words.does(spec.tools["charge"], {"bill_id": "your last bill"})
        == "charge your last bill to the card of your account"
    )
    assert words.told(spec.tools["data_of"], 3)[1] == "how much data you have"
    roaming, picture = spec.tools["set_roaming"], spec.tools["send_picture"]
    asked = [words.asks(roaming, words.does(roaming, {"roaming": one})) for one in ("yes", "no")]
    assert asked == [
        "You want them to let your line use data abroad.",
        "You want them not to let your line use data abroad.",
    ]
    assert (
        words.asks(picture, words.does(picture, {}))
        == "You want to send a picture yourself, to see whether it goes out."
    )


@given(
    st.lists(
        st.fixed_dictionaries(
            {"title": st.sampled_from("xyz"), "price": st.integers(0, 3), "kind": st.sampled_from("ab")}
        ),
        min_size=1,
        max_size=6,
    )
)
def test_whatever_tells_a_row_tells_it_from_all_others(rows: list[dict[str, object]]) -> None:
    for wanted in rows:
        for one in criteria(rows, wanted, COLUMNS):
            (picked,) = one.picks(rows)
            assert picked is wanted


def test_ties_are_no_extreme() -> None:
    rows = [{"title": "x", "price": 1, "kind": "a"}, {"title": "x", "price": 1, "kind": "a"}]
    assert criteria(rows, rows[0], COLUMNS) == []


def line(title: str, tool: str = "lend") -> dict[str, object]:
    return {
        "name": "n",
        "intent": f"You are {title} and turn to them.",
        "requests": [{"name": "r1", "text": f"You want '{title}'."}],
        "facts": [{"name": "title", "doc": "", "value": title}],
        "plan": [{"name": "a", "tool": tool, "arguments": {"title": {"$": "title"}}}],
    }


def test_tasks_that_differ_in_values_are_alike() -> None:
    assert alike(line("Emma")) == alike(line("Ulysses"))
    assert alike(line("Emma")) != alike(line("Emma", "renew"))
    assert shape_of(line("Emma")) != shape_of(line("Emma", "renew"))


DEMANDS = "You want them to renew your loan of 'Cosmos'. You want to hear the due date."


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Please renew Cosmos for me, and tell me when it is due.", ""),
        ("Please renew my book.", "it does not say Cosmos"),
        ("Renew Cosmos, that is loan L0002.", "it gives away L0002"),
        ("Renew Cosmos, and pay 5.00 as well.", "it adds 5.00"),
        ("Renew Cosmos and 'The Hobbit'.", "it adds The Hobbit"),
    ],
)
def test_other_wordings_are_checked(text: str, problem: str) -> None:
    found = checked(text, ["Cosmos"], ["L0002"], DEMANDS)
    assert found[:1] == ([problem] if problem else [])


@pytest.mark.parametrize(
    ("name", "doc", "text"),
    [
        ("created_by", "", "who created it"),
        ("used_gb", "This month", "how many GB were used this month"),
        ("more_gb", "Topped up this month", "what was topped up this month"),
        ("price", "Of one new copy", "the price of one new copy"),
        ("copies_in", "In the building, including those that are kept", "the number of copies in the building"),
        ("ahead", "Members who are served first", "the number of members who are served first"),
        ("fines", "What is owed now", "what is owed now"),
        ("until", "The hour of today", "the hour of today"),
    ],
)
def test_fields_are_asked_for_by_their_documentation(name: str, doc: str, text: str) -> None:
    spec = check(SPECS / "phone.afs").spec
    assert spec is not None
    assert Words(spec, None).about(name, doc, counts=True) == text


def test_facts_of_one_kind_are_told_apart() -> None:
    plan = Plan()
    names = [plan.fact("title", "the title of the book", title) for title in ("Emma", "Ulysses", "Emma", "Walden")]
    assert names == ["title", "title_2", "title", "title_3"]
    assert [fact.doc for fact in plan.facts.values()] == [
        "the title of the book",
        "the title of the second book",
        "the title of the third book",
    ]
    plan.fact("resolution", "what was done", "Oiled")
    again = plan.fact("resolution", "what was done", "New cable")
    assert plan.facts[again].doc == "what was done, the second time"
    plan.fact("amount", "the amount", 1)
    plan.fact("paid", "whether it is paid", True)
    assert len(plan.facts) == 7


def test_facts_that_are_left_are_counted_anew() -> None:
    plan = Plan()
    for title in ("Emma", "Ulysses", "Walden"):
        plan.fact("title", "the title of the book", title)
    left = numbered([fact for fact in plan.facts.values() if fact.value != "Emma"])
    assert [fact.doc for fact in left.values()] == ["the title of the book", "the title of the second book"]


def test_two_rows_are_compared() -> None:
    rows = [{"title": "x", "price": 1, "kind": "a"}, {"title": "y", "price": 3, "kind": "a"}]
    words = Words(check(SPECS / "phone.afs").spec, None)  # type: ignore[arg-type]
    found = [q for q in questions("list", rows, COLUMNS, "the things", words, Random(1)) if q.kind == "compare"]
    (one,) = found
    assert one.text == "which of the things has the higher price, 'x' or 'y', and how much the difference is"
    assert one.also[0][0].startswith("(select max(price) - min(price) from $list")


def told(text: str, tool: str) -> dict[str, object]:
    return {
        "name": "n", "intent": text, "requests": [], "facts": [], "plan": [{"name": "a", "tool": tool}],
    }  # fmt: skip


def test_words_that_are_nearly_the_same_are_found() -> None:
    given, before = Given(), Before()
    text = "You are Ada and want them to renew your loan of Cosmos, and to hear the day that it is due then"
    given.add(told(text, "renew"))
    before.add(told(text, "renew"))
    near, far = text.replace("Ada", "Bo"), "You are Cy and want to pay what you owe at the front desk of the library"
    assert given.like(told(near, "other")) == "words"
    assert given.like(told(near, "renew")) in ("words", "plan and words")
    assert given.like(told(far, "renew")) == ""
    assert given.pairs[0] == ["n", "n", "words"]
    nearer = f"{text}, please"
    assert before.has_like(told(nearer, "renew")) and not before.has_like(told(nearer, "other"))
    assert not before.has_like(told(far, "renew"))
    before.drop(told(text, "renew"))
    assert not before.has_like(told(nearer, "renew"))


def test_difficulty_has_the_shares_that_are_wanted() -> None:
    choosing = Choosing(7, {"easy": 1.0, "medium": 1.0, "hard": 2.0})
    assert choosing.wanted() == {"easy": 2, "medium": 2, "hard": 3}
    for i in range(4):
        taken = choosing.keeps(told(f"{'word ' * i}number {i} of the tasks", f"tool_{i}") | {"name": f"n{i}"}, "easy")
        assert taken == (i < 2)
    assert choosing.left == {"enough easy ones": 2}
