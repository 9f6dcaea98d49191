"""Tables inside tables: states with the same documents are the same, and reasons name the place."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from forgec_runtime import Environment, Episode, load_environment
from forgec_runtime.positions import without_gaps
from forgec_runtime.reward import state_differences

SHOP = Path(__file__).parents[1] / "cases" / "nested_tables" / "generated" / "shop"

Calls = list[tuple[str, dict[str, Any]]]


@pytest.fixture(scope="module")
def env() -> Environment:
    return load_environment(SHOP)


def played(env: Environment, calls: Calls) -> Episode:
    episode = env.reset("small")
    for tool, arguments in calls:
        result = env.call(episode, tool, **arguments)
        assert result.ok, (tool, result.text)
    return episode


def remove(n: int, order: str = "W001") -> tuple[str, dict[str, Any]]:
    return "remove_item", {"order_id": order, "n": n}


def add(item: str, order: str = "W001") -> tuple[str, dict[str, Any]]:
    return "add_item", {"order_id": order, "product_id": "P1", "item_id": item}


def swap(n: int, item: str) -> tuple[str, dict[str, Any]]:
    return "swap_item", {"order_id": "W001", "n": n, "item_id": item}


def note(text: str, order: str = "W001") -> tuple[str, dict[str, Any]]:
    return "note", {"order_id": order, "text": text}


def begin(user: str, item: str, text: str) -> tuple[str, dict[str, Any]]:
    return "open_order", {"user_id": user, "product_id": "P1", "item_id": item, "note": text}


SAME: dict[str, tuple[Calls, Calls]] = {
    "a gap": ([remove(2), add("I1")], [remove(2), add("I1"), remove(4), add("I1")]),
    "nothing in the end": ([add("I1"), remove(4)], []),
    "other numbers": ([remove(2, "W002")], [remove(1, "W002"), remove(2, "W002"), add("I2", "W002")]),
    "the order of a bag": ([note("a"), note("b")], [note("b"), note("a")]),
    "keys that the engine made": (
        [begin("U1", "I1", "x"), begin("U2", "I3", "y"), note("z", "W003")],
        [begin("U2", "I3", "y"), begin("U1", "I1", "z"), note("x", "W004")],
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_states_with_the_same_documents_are_the_same(env: Environment, name: str) -> None:
    one, other = (played(env, calls) for calls in SAME[name])
    assert state_differences(one, other) == state_differences(other, one) == []
    assert one.digest() == other.digest()


UNLIKE: dict[str, tuple[Calls, Calls, list[str]]] = {
    "a place": ([swap(1, "I3")], [], ["orders W001: items[1]: item_id is I3, should be I1"]),
    "ranks, not numbers": (
        [remove(1)],
        [remove(1), add("I1"), remove(4), swap(3, "I2")],
        ["orders W001: items[2]: item_id is I3, should be I2"],
    ),
    "a row of a bag": (
        [note("a"), note("a")],
        [note("a"), note("b")],
        [
            "orders W001: notes: one row too many: {text: a}",
            "orders W001: notes: a row is missing: {text: b}",
        ],
    ),
    "a row of a map": (
        [("add_method", {"user_id": "U2", "id": "m", "source": "card"})],
        [],
        ["users U2: methods[m]: one row too many: {id: m, source: card}"],
    ),
    "a row and what is in it": (
        [("cancel", {"order_id": "W002"})],
        [],
        [
            "orders: a row is missing: {order_id: W002, user_id: U1, items: [{product_id: P1, item_id: I2}, "
            "{product_id: P1, item_id: I1, parts: [{what: lid, gift: false}]}], state: sent}"
        ],
    ),
    "an order of its own": (
        [begin("U2", "I3", "y")],
        [],
        [
            "products P1: variants[I3]: stock is 0, should be 1",
            "orders: one row too many: {order_id: W003, user_id: U2, items: [{product_id: P1, item_id: I3}], "
            "state: open, notes: [{text: y}]}",
        ],
    ),
    "within a list": (
        [("add_parts", {"order_id": "W002", "n": 2, "parts": 0})],
        [],
        ["orders W002: items[2]: parts[2]: one row too many: {what: bow, gift: true}"],
    ),
}


@pytest.mark.parametrize("name", UNLIKE)
def test_reasons_name_the_place(env: Environment, name: str) -> None:
    one, other, reasons = UNLIKE[name]
    left, right = played(env, one), played(env, other)
    assert [difference.text for difference in state_differences(left, right)] == reasons
    assert left.digest() != right.digest()


def test_snapshots_keep_what_is_nested(env: Environment) -> None:
    episode = played(env, [remove(2), add("I1"), note("a"), begin("U2", "I3", "y"), ("cancel", {"order_id": "W002"})])
    again = env.restore(episode.snapshot())
    assert again.state() == episode.state()
    assert again.digest() == episode.digest()
    assert env.call(again, "add_item", order_id="W001", product_id="P1", item_id="I1").text == "5"


def test_an_order_is_a_document(env: Environment) -> None:
    episode = played(env, [remove(1)])
    result = env.call(episode, "order_of", order_id="W001")
    assert result.text == (
        '{"order_id":"W001","user_id":"U1","items":[{"product_id":"P2","item_id":"D1","parts":[]},'
        '{"product_id":"P1","item_id":"I3","parts":[{"what":"plug","gift":false}]}],"state":"open",'
        '"notes":[{"text":"call first","noted_at":null},{"text":"no stairs","noted_at":"2025-06-01T10:00:00"}]}'
    )


def test_documents_are_shared_as_far_as_nobody_changed_them(env: Environment) -> None:
    one, other = env.reset("small"), env.reset("small")
    whole = [env.call(episode, "order_of", order_id="W001") for episode in (one, other)]
    assert whole[0].value is whole[1].value
    env.call(one, "note", order_id="W001", text="ring twice")
    changed = env.call(one, "order_of", order_id="W001")
    assert [note["text"] for note in changed.value["notes"]] == ["call first", "no stairs", "ring twice"]
    assert changed.value["items"] is whole[0].value["items"]
    assert env.call(other, "order_of", order_id="W001").text == whole[1].text == whole[0].text
    env.call(one, "remove_item", order_id="W001", n=1)
    assert len(env.call(one, "order_of", order_id="W001").value["items"]) == len(whole[0].value["items"]) - 1
    assert env.call(one, "order_of", order_id="W002").value is env.call(other, "order_of", order_id="W002").value


def test_rows_of_a_map_come_by_key(env: Environment) -> None:
    episode = env.reset("small")
    env.call(episode, "add_method", user_id="U1", id="z", source="card")
    result = env.call(episode, "add_method", user_id="U1", id="a", source="card")
    assert list(result.value["methods"]) == ["a", "card 1", "z"]


ITEMS = ("I1", "I2", "I3")


def random_calls(chance: random.Random) -> Calls:
    """Calls that write to what is nested, many of which fail."""
    calls: Calls = []
    for _ in range(chance.randint(1, 7)):
        order = chance.choice(("W001", "W002", "W003"))
        n, item = chance.randint(1, 4), chance.choice(ITEMS)
        calls.append(
            chance.choice(
                (
                    remove(n, order),
                    add(item, order),
                    ("swap_item", {"order_id": order, "n": n, "item_id": item}),
                    ("add_parts", {"order_id": order, "n": n, "parts": chance.randint(0, 2)}),
                    note(chance.choice("ab"), order),
                    begin(chance.choice(("U1", "U2")), "I1", chance.choice("ab")),
                )
            )
        )
    return calls


def documents(env: Environment, episode: Episode) -> list[str]:
    """The orders of a state as the comparison should see them, and the stock of what can be bought."""
    found: list[str] = []
    for row in episode.state()["orders"]:
        order = env.call(episode, "order_of", order_id=row["order_id"]).value
        notes = sorted(one["text"] for one in order["notes"])
        name = order["order_id"] if order["order_id"] < "W003" else "new"
        found.append(repr({**order, "order_id": name, "notes": notes}))
    return [*sorted(found), repr(episode.state()["products_variants"])]


@pytest.mark.parametrize("seed", range(150))
def test_states_are_the_same_if_and_only_if_their_documents_are(env: Environment, seed: int) -> None:
    chance = random.Random(seed)
    one, other = env.reset("small"), env.reset("small")
    calls = random_calls(chance)
    for episode, played_calls in (
        (one, calls),
        (other, chance.choice((calls[::-1], random_calls(chance), calls[:-1]))),
    ):
        for tool, arguments in played_calls:
            env.call(episode, tool, **arguments)
    same = documents(env, one) == documents(env, other)
    assert (state_differences(one, other) == []) == same
    assert (state_differences(other, one) == []) == same
    assert (one.digest() == other.digest()) == same


@pytest.mark.parametrize(
    ("changed", "numbered"),
    [
        ({3: "new"}, {2: "new"}),
        ({2: "new", 3: "newer"}, {2: "new", 3: "newer"}),
        ({1: "other"}, {1: "other"}),
        ({1: None, 2: "new"}, {1: "new"}),
        ({1: None}, {1: None}),
        ({2: "new", 4: "newer"}, {2: "new", 3: "newer"}),
    ],
)
def test_a_list_without_others_in_it_is_numbered_anew(
    changed: dict[int, str | None], numbered: dict[int, str | None]
) -> None:
    """In the world, the order has one payment."""
    base = load_environment(SHOP.parents[4] / "generated" / "retail").base("corner_shop")
    table = "orders_payment_history"
    (first,) = base.under(base.tables[table], ("#W2",))

    def rows(texts: dict[int, str | None]) -> dict[Any, Any]:
        return {
            ("#W2", pos): None if text is None else {**first, "pos": pos, "payment_method_id": text}
            for pos, text in texts.items()
        }

    assert without_gaps(base, {table: rows(changed)}) == {table: rows(numbered)}
