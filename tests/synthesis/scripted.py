"""A model for tests: what it answers about the lockers was written by hand, right and wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.rollouts.server import completion

Script = Mapping[str, Sequence[Any]]
"""Answers by form, in the order in which they are given; the last one is given again."""

STATE = """
enum Size "How much goes in" { small, large }

table guests "People with a booking" missing "There is no guest {guest_id}." {
  guest_id text key,
  name text "On the booking",
  deposit decimal(8, 2) check (deposit >= 0) "What is left of the deposit",
}

table lockers "Lockers at the station" missing "There is no locker {locker_id}." {
  locker_id text key,
  size Size,
  daily_fee decimal(6, 2) check (daily_fee > 0),
}

table rentals "Who has which locker, and until when" missing "There is no rental {rental_id}." {
  rental_id text key serial 'R{000}',
  guest_id -> guests,
  locker_id -> lockers,
  until date,
  fee decimal(8, 2),
  closed boolean default false "Given back, or over",
}
"""
FIND = """
tool find_guest(name text "Full name") returns { guest_id guests.guest_id, name text, deposit decimal(8, 2) }
  "Find a guest by the name on the booking."
{
  return select guest_id, name, deposit from guests where lower(name) = lower($name) order by guest_id limit 1
    else "Nobody is called {$name}";
}
"""
LIST = """
tool list_lockers(size Size? "All sizes, if left out")
  returns { locker_id lockers.locker_id, size Size, daily_fee decimal(6, 2) }[] "List the lockers that are free."
{
  return select locker_id, size, daily_fee from lockers l
    where ($size is null or l.size = $size) and not is_rented(l.locker_id) order by daily_fee, locker_id;
}
"""
RENT = """
tool rent_locker(locker_id -> lockers as l, guest_id -> guests as g, days integer "From 1 to 14")
  returns { rental_id rentals.rental_id, locker_id lockers.locker_id, until date, fee decimal(8, 2) }
  "Rent a free locker to a guest for some days. The fee is taken from the deposit."
{
  require $days between 1 and 14 else "A locker is rented for 1 to 14 days";
  require not is_rented($locker_id) else "{$locker_id} is rented";
  require $g.deposit >= $l.daily_fee * $days else "The deposit of {$g.name} is too small";
  update guests set deposit = deposit - $l.daily_fee * $days where guest_id = $guest_id;
  let made = insert into rentals (guest_id, locker_id, until, fee)
    values ($guest_id, $locker_id, today() + $days, $l.daily_fee * $days) returning *;
  return select $made.rental_id as rental_id, $made.locker_id as locker_id, $made.until as until, $made.fee as fee;
}
"""
RETURN = """
tool return_locker(rental_id -> rentals as r)
  returns { rental_id rentals.rental_id, locker_id lockers.locker_id, until date, fee decimal(8, 2) }
  "Give a locker back before its time. The days that are left are not paid back."
{
  require not $r.closed and $r.until >= today() else "{$rental_id} is over";
  update rentals set closed = true, until = today() where rental_id = $rental_id;
  return select rental_id, locker_id, until, fee from rentals where rental_id = $rental_id;
}
"""
SHARED = """
function is_rented(locker text) returns boolean =
  exists (select 1 from rentals where locker_id = $locker and not closed and until >= today());
"""
POLICY = """
invariant one_guest_a_locker "A locker is rented to one guest at a time":
  not exists (select 1 from rentals where not closed and until >= today() group by locker_id having count(*) > 1);

rule three_at_most enforced on rent_locker "A guest has three lockers at most.":
  (select count(*) from rentals where guest_id = $guest_id and not closed) < 3;
"""
WORLD = """
world sample "A quiet morning" {
  guests (guest_id, name, deposit) values
    ('G1', 'Ada Marsh', 40.00), ('G2', 'Ben Okoro', 5.00), ('G3', 'Eva Lind', 90.00);
  lockers (locker_id, size, daily_fee) values ('L1', 'small', 4.00), ('L2', 'small', 4.50), ('L3', 'large', 9.00);
  rentals (rental_id, guest_id, locker_id, until, fee, closed) values
    ('R001', 'G3', 'L1', '2025-01-03', 16.00, false), ('R002', 'G1', 'L2', '2024-12-30', 9.00, true);
}

world large extends sample "A holiday" seed 1 {
  guests generate 20 { guest_id = 'H' || n(); name = fake('name'); deposit = uniform(0, 120); }
  lockers generate 30 { locker_id = 'M' || n(); size = weighted('small', 2, 'large', 1); daily_fee = uniform(3, 12); }
}
"""
TESTS = {
    "find_guest": ("""
test "find_guest finds by name" on sample {
  found = find_guest(name: 'ada marsh');
  expect $found.guest_id = 'G1' and $found.deposit = 40;
  find_guest(name: 'Nobody') fails "Nobody is called Nobody";
}
""", ["404"]),
    "list_lockers": ("""
test "list_lockers lists what is free" on sample {
  found = list_lockers();
  expect (select string_agg(locker_id, ',') from $found) = 'L2,L3';
  small = list_lockers(size: 'small');
  expect (select count(*) from $small) = 1;
}
""", []),
    "rent_locker": ("""
test "rent_locker takes the fee" on sample {
  made = rent_locker(locker_id: 'L3', guest_id: 'G1', days: 2);
  expect $made.fee = 18 and $made.until = date '2025-01-03' and guests['G1'].deposit = 22;
  rent_locker(locker_id: 'L3', guest_id: 'G1', days: 1) fails "L3 is rented";
  rent_locker(locker_id: 'L2', guest_id: 'G2', days: 2) fails "The deposit of Ben Okoro is too small";
}
""", ["402", "409"]),
    "return_locker": ("""
test "return_locker ends a rental" on sample {
  return_locker(rental_id: 'R001');
  expect rentals['R001'].closed and rentals['R001'].until = today();
  return_locker(rental_id: 'R001') fails "R001 is over";
}
""", ["409"]),
}  # fmt: skip
TASK_LARGE = """
task the_large_one on sample {
  intent "You want to put a surfboard into a large locker, for {$days} days.";
  fact name "your name" = 'Ada Marsh';
  fact days "for how many days" = 3;
  plan {
    guest = find_guest(name: $name);
    free = list_lockers(size: 'large');
    reason locker "the large one that is free" = select locker_id from $free order by locker_id limit 1;
    rental = rent_locker(locker_id: $locker, guest_id: $guest.guest_id, days: $days);
  }
  says "what it costs": $rental.fee;
}
"""
TASK_CHEAP = """
task the_cheapest on sample {
  intent "You want the cheapest free locker for one day, and to hear what it costs.";
  fact name "your name" = 'Ben Okoro';
  plan {
    guest = find_guest(name: $name);
    free = list_lockers();
    reason cheapest "the cheapest" = select locker_id, daily_fee from $free order by daily_fee limit 1;
    rental = rent_locker(locker_id: $cheapest.locker_id, guest_id: $guest.guest_id, days: 1);
  }
  says "what it costs": $cheapest.daily_fee;
}
"""
REFINED = TASK_LARGE.replace(
    "You want to put a surfboard into a large locker, for {$days} days.",
    "You want a large locker for your surfboard, for as long as you are in town, and to hear what it costs.",
)


def tools(*texts: str, shared: str = SHARED) -> dict[str, Any]:
    """The answer about tools; beeping is left out, since nothing of it is kept."""
    assumed = {"rent_locker": ["a locker is free again on the day after"]}
    names = [match[1] for text in texts if (match := re.search(r"tool (\w+)", text))]
    return {
        "shared": shared,
        "tools": [
            {"operation": name, "declaration": text, "assumed": assumed.get(name, [])}
            for name, text in zip(names, texts, strict=True)
        ],
        "left_out": [{"operation": "beep_locker", "why": "nothing is kept of a beep"}],
    }


def tests(**others: str) -> dict[str, Any]:
    """The answer about tests, some of them `others`."""
    return {
        "tests": [
            {"tool": name, "declaration": others.get(name, text), "errors": errors}
            for name, (text, errors) in TESTS.items()
        ]
    }


def repair(*texts: str, given_up: Sequence[str] = ()) -> dict[str, Any]:
    return {"declarations": "\n".join(texts), "given_up": list(given_up)}


def edge(source: str, field: str, target: str, parameter: str) -> dict[str, str]:
    return {"source": source, "field": field, "target": target, "parameter": parameter}


def reasoning(name: str, source: str, sql: str, meaning: str) -> dict[str, str]:
    return {"name": name, "source": source, "sql": sql, "meaning": meaning}


GRAPH = {
    "edges": [
        edge("find_guest", "guest_id", "rent_locker", "guest_id"),
        edge("find_guest", "name", "rent_locker", "guest_id"),  # a name is no key
    ],
    "reasoning": [
        reasoning("cheapest", "list_lockers", "select min(daily_fee) as fee from $result", "the lowest fee"),
        reasoning("unknown", "list_lockers", "select min(price) as fee from $result", "what is not there"),
    ],
}


def right() -> dict[str, list[Any]]:
    """A script in which everything is right at once, but for an edge and a reasoning node that do not hold."""
    policy = "You serve guests of a station. Rent what is free."
    return {
        "State": [{"declarations": STATE, "assumed": ["a rental is closed when it is given back"]}],
        "Tools": [tools(FIND, LIST, RENT, RETURN)],
        "Policy": [{"policy": policy, "declarations": POLICY, "assumed": []}],
        "World": [{"declarations": WORLD}],
        "Tests": [tests()],
        "Graph": [GRAPH],
        "Tasks": [{"declarations": TASK_LARGE + TASK_CHEAP}],
        "Refined": [{"declaration": REFINED}, {"declaration": TASK_CHEAP}],
        "Repair": [{"declarations": "", "given_up": []}],
    }


class Model:
    """Gives the answers of a script; what is bytes is the body of a response, a text is said as it is."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[tuple[str, str]] = []
        """The form and the question of each request."""

    def __call__(self, body: dict[str, Any]) -> dict[str, Any] | str | bytes:
        form = body["response_format"]["json_schema"]["name"] if "response_format" in body else self._form(body)
        number = sum(one == form for one, _ in self.asked)
        self.asked.append((form, "\n".join(message["content"] for message in body["messages"])))
        answers = self.script[form]
        answer = answers[min(number, len(answers) - 1)]
        if isinstance(answer, Callable):  # type: ignore[arg-type]
            answer = answer(body)
        return answer if isinstance(answer, bytes | str) else json.dumps(answer)

    def _form(self, body: dict[str, Any]) -> str:
        """Which form is asked for in words, where the endpoint has no schemas."""
        text = body["messages"][1]["content"]
        fields = {
            '"left_out"': "Tools", '"policy"': "Policy", '"tests"': "Tests", '"edges"': "Graph", '"given_up"': "Repair",
            'the whole task': "Refined", '"world sample': "World", '"task ': "Tasks",
        }  # fmt: skip
        return next((form for mark, form in fields.items() if mark in text), "State")


def cut_off(text: str) -> bytes:
    """An answer that ends where the model may say no more."""
    return completion(text, "length")
