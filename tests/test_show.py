"""`forgec show`: what agents and authors see of a spec."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from click.testing import CliRunner, Result

from forgec.commands import forgec
from forgec.model.spec import Spec
from forgec.pipeline import check, generate_package

ROOT = Path(__file__).parent.parent
LIBRARY = str(ROOT / "specs" / "library.afs")
GENERATED = ROOT / "generated" / "library"

KIOSK = dedent(
    """\
    environment kiosk "A kiosk that lends umbrellas" {
      clock timestamp '2025-03-01 09:00:00';
    }

    policy \"\"\"Lend umbrellas.\"\"\"

    enum Size "How wide" { small, large }

    table guests "People with a deposit" {
      guest_id  text           key  "On the card",
      name      text           unique,
      deposit   decimal(6, 2)  default 5  check (deposit >= 0),
    }

    table rentals "Umbrellas that are out" {
      rental_id  text  key serial 'R{000}',
      guest_id   -> guests,
      size       Size,
      due        date?         unscored,
    }

    invariant three_out "Three umbrellas at most are out": (select count(*) from rentals) <= 3;

    function held(guest_id -> guests) returns integer "How many a guest has" =
      (select count(*) from rentals where guest_id = $guest_id);

    function fee(size Size) returns decimal(6, 2) "What one costs" = case when $size = 'small' then 3.00 else 5.00 end;

    tool find_guest(name text "In any case") returns guests? "Find a guest."
    {
      let g = select * from guests where lower(name) = lower($name) else "Nobody is called {$name}";
      return $g;
    }

    tool rentals_of(guest_id -> guests) returns { rental_id rentals.rental_id, due date? }[] "What a guest has out."
    {
      return select rental_id, due from rentals where guest_id = $guest_id;
    }

    tool rent(guest_id -> guests as g, size Size default 'small') returns rentals "Rent an umbrella."
    {
      if ($g.deposit < 1) {
        fail "{$g.name} has {$g.deposit:.2f} left";
      } else if ($size = 'large') {
        require held($guest_id) < 1 else "Only one at a time";
      } else {
        require fee($size) <= $g.deposit else "That is too little";
      }
      update guests set deposit = deposit - fee($size) where guest_id = $guest_id;
      let made = insert into rentals (guest_id, size, due) values ($guest_id, $size, today() + 3) returning *;
      return $made;
    }

    tool bring_back(rental_id -> rentals) "Bring an umbrella back."
    {
      delete from rentals where rental_id = $rental_id;
    }

    rule adults enforced on rent "Children get none.": $g.name <> 'Kim';
    rule tidy audited on bring_back, rent "Only today.": today() = date '2025-03-01';

    world rainy "It pours" {
      guests (guest_id, name) values ('G1', 'Ada'), ('G2', 'Bo');
    }

    test "a guest rents" on rainy {
      rent(guest_id: 'G1');
    }

    task stay_dry on rainy "Rent two" {
      intent \"\"\"
        You are Ada.

        You want two umbrellas.
        \"\"\"
      fact name "your name" = 'Ada';
      plan {
        who = find_guest(name: $name);
        one = rent(guest_id: $who.guest_id);
        reason much "what it cost" = fee('small');
        two = rentals_of(guest_id: 'G1') after one;
        reason all[] = select rental_id from $two;
      }
      expect (select count(*) from rentals) = 1;
      says "what it cost": $much;
    }
    """
)


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(forgec, list(arguments), catch_exceptions=False)


@pytest.fixture
def kiosk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("kiosk.afs").write_text(KIOSK, encoding="utf-8")
    return "kiosk.afs"


def shown(*arguments: str) -> str:
    result = invoke("show", *arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def part(*arguments: str) -> dict[str, Any]:
    (found,) = json.loads(shown(*arguments, "--json"))["found"]
    assert isinstance(found, dict)
    return found


# -- at a glance --------------------------------------------------------------------------------------------------


def test_the_whole_spec_at_a_glance(kiosk: str) -> None:
    assert shown(kiosk) == dedent(
        """\
        kiosk  -- A kiosk that lends umbrellas
          kiosk.afs, the clock stands at 2025-03-01 09:00:00

        types
          Size: small, large

        tables
          guests  -- People with a deposit
            guest_id  text           key  -- On the card
            name      text           unique
            deposit   decimal(6, 2)  default 5 check (deposit >= 0)
          rentals  -- Umbrellas that are out
            rental_id  text       key serial 'R{000}'
            guest_id   -> guests
            size       Size
            due        date?      unscored

        functions
          held(guest_id -> guests) returns integer
              How many a guest has
          fee(size Size) returns decimal(6, 2)
              What one costs

        tools
          find_guest(name text) returns guests?
              Find a guest.
          rentals_of(guest_id -> guests) returns { rental_id rentals.rental_id, due date? }[]
              What a guest has out.
          rent(guest_id -> guests as g, size Size default 'small') returns rentals
              Rent an umbrella.
          bring_back(rental_id -> rentals)
              Bring an umbrella back.

        rules
          adults: enforced on rent  -- Children get none.
          tidy: audited on bring_back, rent  -- Only today.

        invariants
          three_out  -- Three umbrellas at most are out

        worlds
          rainy: guests 2, rentals 0  -- It pours

        tests
          a guest rents (on rainy, 1 step)

        tasks
          stay_dry on rainy  -- Rent two
            who + (much) -> one -> two -> (all)
        """
    )


def test_the_same_as_data(kiosk: str) -> None:
    data = json.loads(shown(kiosk, "--json"))
    assert list(data) == [
        "environment", "doc", "spec", "sources", "clock", "enums", "records", "domains", "tables", "views", "functions",
        "actions", "tools", "syncs", "rules", "invariants", "worlds", "tests", "tasks",
    ]  # fmt: skip
    assert data["tables"][1]["columns"][1] == {
        "name": "guest_id", "type": "-> guests", "modifiers": "", "key": False, "references": "guests", "doc": "",
    }  # fmt: skip
    assert data["worlds"] == [{"name": "rainy", "doc": "It pours", "rows": {"guests": 2, "rentals": 0}}]
    assert data["tasks"][0]["plan"] == "who + (much) -> one -> two -> (all)"


# -- one part -----------------------------------------------------------------------------------------------------


def test_all_about_a_tool(kiosk: str) -> None:
    text = shown(kiosk, "rent")
    head, python = text.split("\ngenerated\n")
    assert head == dedent(
        """\
        tool rent(guest_id -> guests as g, size Size default 'small') returns rentals
          Rent an umbrella.

        parameters
          guest_id  -> guests as g
          size      Size default 'small'

        guards, in order
           1. guest_id is the key of a row of guests
              "Unknown guest_id: {$guest_id}"
           2. enforced adults: $g.name <> 'Kim'
              "Children get none."
           3. audited tidy: today() = date '2025-03-01'
              no refusal and no reward: "Only today."
           4. if ($g.deposit < 1): fail
              "{$g.name} has {$g.deposit:.2f} left"
           5. if ($size = 'large'): require held($guest_id) < 1
              "Only one at a time"
           6. else: require fee($size) <= $g.deposit
              "That is too little"

        held when it is done
          check: guests: deposit must satisfy deposit >= 0
          unique: guests: name ... is already taken
          invariant: Three umbrellas at most are out

        reads
          guests
          rentals (through held)

        writes
          update guests (deposit)
          insert rentals (guest_id, size, due)

        finds by index
          held(): rentals by guest_id

        fed by
          guest_id: find_guest.guest_id

        feeds
          rental_id: bring_back(rental_id)
          guest_id: rentals_of(guest_id)
        """
    )
    checked = check(Path(kiosk))
    assert checked.spec is not None
    module = generate_package(checked.spec)["tools/rent.py"]
    assert dedent(python) == module


def test_a_tool_as_data(kiosk: str) -> None:
    data = part(kiosk, "rent")
    assert data["kind"] == "tool"
    assert data["guards"][3] == {
        "kind": "fail", "rule": None, "if": ["($g.deposit < 1)"], "condition": "",
        "text": "{$g.name} has {$g.deposit:.2f} left",
    }  # fmt: skip
    assert data["reads"] == [{"table": "guests", "through": []}, {"table": "rentals", "through": ["held"]}]
    assert data["writes"] == [
        {"table": "guests", "how": "update", "columns": ["deposit"]},
        {"table": "rentals", "how": "insert", "columns": ["guest_id", "size", "due"]},
    ]
    assert data["indexes"] == [{"table": "rentals", "by": "guest_id", "function": "held"}]
    assert data["queries"] == []
    assert data["python"].startswith("# Generated by forgec from kiosk.afs. DO NOT EDIT.\n")


def test_all_about_a_table(kiosk: str) -> None:
    assert shown(kiosk, "rentals") == dedent(
        """\
        table rentals
          Umbrellas that are out

        columns
          rental_id  text       key serial 'R{000}'
          guest_id   -> guests
          size       Size
          due        date?      unscored

        referenced by
          bring_back(rental_id)

        read by
          rentals_of
          rent (through held)
          bring_back

        written by
          rent: insert (guest_id, size, due)
          bring_back: delete

        functions
          held

        invariants
          three_out

        rows
          rainy: 0
        """
    )


def test_all_about_a_task(kiosk: str) -> None:
    assert shown(kiosk, "stay_dry") == dedent(
        """\
        task stay_dry on rainy
          Rent two

        intent
          You are Ada.

          You want two umbrellas.

        facts
          name = Ada  -- your name

        plan
          who + (much) -> one -> two -> (all)

          who  <- $name
            find_guest(name: $name)
          one  <- who
            rent(guest_id: $who.guest_id)
          (much)  -- what it cost
            fee('small')
          two  <- one
            rentals_of(guest_id: 'G1')
          (all)  <- two
            select rental_id from $two

        expected of the end
          (select count(*) from rentals) = 1

        to be said
          what it cost: $much

        features
          calls 3, writes 1, reads 2, reasons 2, edges 3, depth 4, plans 1, facts 1, expect 1, says 1
        """
    )
    assert part(kiosk, "stay_dry")["plans"][0]["nodes"][1] == {
        "name": "one", "kind": "call", "text": "rent(guest_id: $who.guest_id)", "doc": "", "when": "",
        "needs": ["who"], "facts": [],
    }  # fmt: skip


@pytest.mark.parametrize("name", ["fee", "tidy", "three_out", "Size", "rainy"])
def test_all_about_anything_else(kiosk: str, name: str) -> None:
    assert shown(kiosk, name) == dedent(OTHERS[name])


OTHERS = {
    "fee": """\
        function fee(size Size) returns decimal(6, 2)
          What one costs

        computes
          case when $size = 'small' then 3.00 else 5.00 end

        used by
          tool rent
        """,
    "tidy": """\
        rule tidy, audited
          Only today.

        condition
          today() = date '2025-03-01'

        tools
          bring_back
          rent
        """,
    "three_out": """\
        invariant three_out
          Three umbrellas at most are out

        condition
          (select count(*) from rentals) <= 3

        reads
          rentals
        """,
    "Size": """\
        enum Size
          How wide

        values
          small
          large

        used by
          rentals.size
          rent(size)
        """,
    "rainy": """\
        world rainy
          It pours

        rows
          guests: 2
          rentals: 0

        guests
          guest_id  name  deposit
          G1        Ada   5.00
          G2        Bo    5.00

        tests
          a guest rents

        tasks
          stay_dry
        """,
}


def test_a_table_and_a_tool_of_one_name_are_both_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.afs").write_text(KIOSK.replace("rentals_of", "rentals"), encoding="utf-8")
    text = shown("k.afs", "rentals")
    assert text.startswith("table rentals\n") and "\n\ntool rentals(guest_id -> guests)" in text
    assert [found["kind"] for found in json.loads(shown("k.afs", "rentals", "--json"))["found"]] == ["table", "tool"]


# -- what the agent is given --------------------------------------------------------------------------------------


def test_the_policy_and_the_schemas_are_those_that_are_generated(kiosk: str) -> None:
    checked = check(Path(kiosk))
    assert checked.spec is not None
    files = generate_package(checked.spec)
    assert shown(kiosk, "--policy") == files["policy.md"]
    assert json.loads(shown(kiosk, "--policy", "--json")) == {"policy": files["policy.md"]}
    assert shown(kiosk, "--schemas") == shown(kiosk, "--schemas", "--json") == files["tools.json"]
    (schema,) = json.loads(shown(kiosk, "rent", "--schemas"))
    assert schema == next(s for s in json.loads(files["tools.json"]) if s["function"]["name"] == "rent")


# -- mistakes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rnt"], "error: `kiosk` declares no `rnt`; did you mean `rent`?\n"),
        (["zebra"], "error: `kiosk` declares no `zebra`\n"),
        (["guests", "--schemas"], "error: `guests` is no tool; did you mean `find_guest`?\n"),
    ],
)
def test_unknown_names(kiosk: str, arguments: list[str], said: str) -> None:
    result = invoke("show", kiosk, *arguments)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", said)


def test_options_that_do_not_go_together(kiosk: str) -> None:
    for arguments in (["--policy", "--schemas"], ["rent", "--policy"]):
        result = invoke("show", kiosk, *arguments)
        assert result.exit_code == 2
        assert "--policy, --schemas and --hashes stand alone" in result.stderr


def test_a_spec_with_findings_is_not_shown(kiosk: str) -> None:
    Path("broken.afs").write_text(KIOSK.replace("from rentals)", "from rental)"), encoding="utf-8")
    broken, missing = invoke("show", "broken.afs"), invoke("show", "missing.afs")
    assert (broken.exit_code, broken.stdout) == (1, "")
    assert "error[AFS201]: unknown table `rental`" in broken.stderr
    assert (missing.exit_code, missing.stdout) == (2, "")
    assert "error[AFS001]: there is no such file" in missing.stderr


# -- the library --------------------------------------------------------------------------------------------------


def test_everything_that_the_library_declares_can_be_shown() -> None:
    data = json.loads(shown(LIBRARY, "--json"))
    text = shown(LIBRARY)
    for kind in ("tables", "functions", "tools", "rules", "invariants", "worlds", "tasks"):
        assert all(one["name"] in text for one in data[kind])
    assert [len(data[kind]) for kind in ("tables", "tools", "tasks")] == [5, 12, 44]


def test_the_library_as_its_agent_is_given_it() -> None:
    assert shown(LIBRARY, "--policy") == (GENERATED / "policy.md").read_text(encoding="utf-8")
    assert shown(LIBRARY, "--schemas") == (GENERATED / "tools.json").read_text(encoding="utf-8")


def test_a_tool_of_the_library() -> None:
    data = part(LIBRARY, "lend_book")
    assert [guard["rule"] or guard["kind"] for guard in data["guards"]] == [
        "reference", "reference", "good_standing", "five_at_a_time", "overdue_first", "reference_stays",
        "small_debts_only", "require", "require",
    ]  # fmt: skip
    assert [one["table"] for one in data["reads"]] == ["members", "books", "loans", "reservations"]
    assert [(one["how"], one["table"]) for one in data["writes"]] == [("update", "reservations"), ("insert", "loans")]
    assert [(one["function"], one["table"], one["by"]) for one in data["indexes"]] == [
        (None, "loans", "member_id"), (None, "reservations", "member_id"), ("copies_in", "loans", "book_id"),
        ("own_reservation", "reservations", "member_id"),
    ]  # fmt: skip
    assert [(q["function"], q["name"]) for q in data["queries"]] == [("queue_ahead", "QUEUE_AHEAD")]
    assert data["fed_by"] == [
        {"parameter": "member_id", "table": "members", "tools": ["find_member.member_id", "find_by_name.member_id"]},
        {"parameter": "book_id", "table": "books", "tools": ["search_books.book_id", "list_loans.book_id"]},
    ]
    assert data["feeds"][0] == {
        "result": "loan_id", "table": "loans",
        "tools": ["renew_loan(loan_id)", "return_book(loan_id)", "report_lost(loan_id)"],
    }  # fmt: skip
    assert data["python"] == (GENERATED / "tools" / "lend_book.py").read_text(encoding="utf-8")


def test_every_example_in_the_help_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    lines = [line.split() for line in shown("--help").splitlines() if line.strip().startswith("forgec show ")]
    assert len(lines) == 6
    for _, *arguments in lines:
        assert invoke(*arguments).exit_code == 0


# -- two sides -------------------------------------------------------------------------------------------------------


GRID = str(ROOT / "tests" / "cases" / "syncs" / "spec.afs")


def test_both_sides_are_shown_apart() -> None:
    text = shown(GRID)
    assert "\n  house on user, one row  -- What the user sees\n" in text
    assert "\n  user tool switch(lamp -> lamps) returns text\n" in text
    assert "\nsyncs\n  supply  -- Whoever is on line has power\n  dark\n  wires\n  watch\n" in text
    assert {tool["name"]: tool["side"] for tool in json.loads(shown(GRID, "--json"))["tools"]} == {
        "switch": "user", "flip_fuse": "user", "look": "user", "cut": "agent", "connect": "agent", "touch": "agent",
    }  # fmt: skip


def test_a_sync_with_what_it_reads_and_writes() -> None:
    assert shown(GRID, "supply") == dedent(
        """\
        sync supply
          Whoever is on line has power

        reads
          contracts (through is_on)
          house

        writes
          update house (power)
        """
    )


def test_an_agent_is_shown_its_own_schemas() -> None:
    names = [tool["function"]["name"] for tool in json.loads(shown(GRID, "--schemas"))]
    assert names == ["cut", "connect", "touch"]


def test_what_the_fields_of_a_result_are(kiosk: str) -> None:
    """In the author's words: at the field, or of the column that it is declared with."""
    fields = 'due date? "The day it must be back", who guests.guest_id }[]'
    text = KIOSK.replace("due date? }[]", fields).replace("rental_id, due from", "rental_id, due, guest_id as who from")
    Path(kiosk).write_text(text, encoding="utf-8")
    docs = {tool.name: tool.returns.docs for tool in checked(kiosk).tools.values() if tool.returns is not None}
    assert docs["rentals_of"] == {"rental_id": "", "due": "The day it must be back", "who": "On the card"}
    assert docs["find_guest"] == {"guest_id": "On the card", "name": "", "deposit": ""}
    assert "  due        date?  -- The day it must be back\n" in shown(kiosk, "rentals_of")
    assert part(kiosk, "rentals_of")["result"][2] == {"name": "who", "type": "guests.guest_id", "doc": "On the card"}


def checked(path: str) -> Spec:
    found = check(Path(path)).spec
    assert found is not None
    return found
