"""`forgec play` with scripts: exact transcripts of a small shop, exit codes, JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner, Result

from forgec.commands import forgec
from forgec.commands.environments import compiled
from forgec.pipeline import check
from forgec.playing.play import play
from forgec.playing.session import Session
from tests.play_fixture import SHOP, write_shop

ROOT = Path(__file__).parent.parent
Play = Callable[..., Result]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled shop."""
    folder = tmp_path_factory.mktemp("shop")
    result = CliRunner().invoke(forgec, ["compile", str(write_shop(folder)), "--out", str(folder)])
    assert result.exit_code == 0, result.stderr
    return folder / "shop"


@pytest.fixture
def play_shop(package: Path) -> Play:
    """Plays lines, with options of the command."""

    def run(script: str, *options: str) -> Result:
        return CliRunner().invoke(forgec, ["play", str(package), *options], input=dedent(script))

    return run


def shown(result: Result) -> str:
    assert result.exit_code == 0, result.stdout + result.stderr
    return result.stdout


# -- calls and what they change --------------------------------------------------------------------------------------


def test_a_call_shows_its_result_and_what_it_changed(play_shop: Play) -> None:
    script = """\
        -- comments and blank lines are skipped

        find_customer name='Bo O''Hara'
        buy customer_id=C2 lamp_id=A1 gift=true
        send_back(order_id: 'O001');
        find_lamps {"at_most": 1}
        """
    assert shown(play_shop(script)) == dedent(
        """\
        > .world monday
        shop in world monday
        > find_customer name='Bo O''Hara'
        {"customer_id": "C2", "name": "Bo O'Hara", "credit": 2.50}
        > buy customer_id=C2 lamp_id=A1 gift=true
        {"order_id": "O001", "customer_id": "C2", "lamp_id": "A1", "gift": true}
        ~ customers C2: credit: 2.50 -> -7.00
        ~ lamps A1: stock: 1 -> 0
        + orders O001: customer_id C2, lamp_id A1, gift true
        ! rule broken: no_credit
        > send_back(order_id: 'O001');
        null
        - orders O001: customer_id C2, lamp_id A1, gift true
        > find_lamps {"at_most": 1}
        [{"lamp_id": "B7", "price": 0.80}]
        """
    )


def test_a_refused_call_is_no_error_and_changes_nothing(play_shop: Play) -> None:
    script = """\
        buy customer_id=C1 lamp_id=A1
        buy customer_id=C1 lamp_id=A1
        buy customer_id=C7 lamp_id=A1
        buy customer_id=C1
        find_lamps at_most=many
        """
    assert shown(play_shop(script)).split("\n", 7)[-1] == dedent(
        """\
        > buy customer_id=C1 lamp_id=A1
        refused: lamps: stock must satisfy stock >= 0
        > buy customer_id=C7 lamp_id=A1
        refused: Unknown customer_id: C7
        > buy customer_id=C1
        invalid: lamp_id is missing
        > find_lamps at_most=many
        invalid: at_most must be an integer
        """
    )


def test_control_characters_are_shown_and_not_obeyed(play_shop: Play) -> None:
    script = """\
        rename customer_id=C1 name="\\u001b[31m\\u202e\\n"
        .table customers C1
        .say \x1b]0;x\x07
        find_customer name="\\u001b"
        """
    assert shown(play_shop(script)).split("\n", 2)[-1] == dedent(
        """\
        > rename customer_id=C1 name="\\u001b[31m\\u202e\\n"
        "\\u001b[31m<U+202E>\\n it is"
        ~ customers C1: name: Ada Byron -> \u241b[31m<U+202E>\u240a
        > .table customers C1
        customer_id  C1
        name         \u241b[31m<U+202E>\u240a
        credit       20.00
        1 row of 2
        > .say \u241b]0;x\u2407
        said: \u241b]0;x\u2407
        > find_customer name="\\u001b"
        refused: Nobody is called \u241b
        """
    )


def test_a_wide_result_is_broken_into_lines(play_shop: Play) -> None:
    name = "x" * 90
    assert shown(play_shop(f"rename customer_id=C1 name={name}\nfind_customer name={name}\n")).endswith(
        f'{{\n  "customer_id": "C1",\n  "name": "{name}",\n  "credit": 20.00\n}}\n'
    )


# -- looking ---------------------------------------------------------------------------------------------------------


def test_tools_are_described(play_shop: Play) -> None:
    assert shown(play_shop(".tools\n.tool find_lamps\n.tool ping\n")).split("\n", 2)[-1] == dedent(
        """\
        > .tools
        find_customer(name text)
        find_lamps(finish Finish?, at_most integer default 10)
        buy(customer_id -> customers, lamp_id -> lamps, gift boolean default false)
        send_back(order_id -> orders)
        rename(customer_id -> customers, name text, zip text?)
        measure(size Size)
        ping()
        > .tool find_lamps
        find_lamps(finish Finish?, at_most integer default 10)
          List lamps, the cheapest first.
          finish   Finish?             Only lamps that are painted so. One of brass, white
          at_most  integer default 10
        > .tool ping
        ping()
          Is anybody there?
        """
    )


def test_tables_are_shown_as_they_are_now(play_shop: Play) -> None:
    script = """\
        buy customer_id=C1 lamp_id=B7
        .tables
        .table lamps
        .table lamps LAMP
        .table lamps title=bulb
        .table lamps lamp_id=B
        """
    assert shown(play_shop(script)).split("\n", 7)[-1] == dedent(
        """\
        > .tables
        customers  2 rows  customer_id, name, credit
        lamps      2 rows  lamp_id, title, finish, size, price, stock
        orders     1 row   order_id, customer_id, lamp_id, gift
        > .table lamps
        lamp_id  title     finish  size                      price  stock
        A1       Arc lamp  brass   {height: 180, width: 40}  9.50   1
        B7       Bulb      white   {height: 10, width: 6}    0.80   11
        2 rows
        > .table lamps LAMP
        lamp_id  A1
        title    Arc lamp
        finish   brass
        size     {height: 180, width: 40}
        price    9.50
        stock    1
        1 row of 2
        > .table lamps title=bulb
        lamp_id  B7
        title    Bulb
        finish   white
        size     {height: 10, width: 6}
        price    0.80
        stock    11
        1 row of 2
        > .table lamps lamp_id=B
        lamp_id  title  finish  size  price  stock
        0 rows of 2
        """
    )


def test_the_policy_is_indented_so_that_it_is_not_taken_for_input(play_shop: Play) -> None:
    text = shown(play_shop(".policy\n"))
    assert "\n  Sell politely.\n  > Never on credit.\n" in text
    assert shown(play_shop(text)) == text


def test_help_names_every_command(play_shop: Play) -> None:
    text = shown(play_shop(".help\n.help undo\n"))
    assert "\n  find_customer name=...\n  find_customer(name: ...)\n" in text
    assert "\n  .table NAME [WORD...]  Show rows as they are now; words filter, as in `status=lent`.\n" in text
    assert text.endswith("> .help undo\n.undo [N]\n  Take back the last call that changed something, or the last N.\n")


# -- back and forth --------------------------------------------------------------------------------------------------


def test_undo_and_redo(play_shop: Play) -> None:
    script = """\
        buy customer_id=C1 lamp_id=B7
        find_customer name='Ada Byron'
        buy customer_id=C1 lamp_id=B7
        .undo
        .undo
        .undo
        .redo 2
        .redo
        .state
        """
    lines = shown(play_shop(script)).split("\n")
    assert "\n".join(lines[lines.index("> .undo") :]) == dedent(
        """\
        > .undo
        undone: buy customer_id=C1 lamp_id=B7
        ~ customers C1: credit: 18.40 -> 19.20
        ~ lamps B7: stock: 10 -> 11
        - orders O002: customer_id C1, lamp_id B7, gift false
        > .undo
        undone: buy customer_id=C1 lamp_id=B7
        ~ customers C1: credit: 19.20 -> 20.00
        ~ lamps B7: stock: 11 -> 12
        - orders O001: customer_id C1, lamp_id B7, gift false
        > .undo
        nothing to be undone
        > .redo 2
        redone: buy customer_id=C1 lamp_id=B7
        redone: buy customer_id=C1 lamp_id=B7
        ~ customers C1: credit: 20.00 -> 18.40
        ~ lamps B7: stock: 12 -> 10
        + orders O001: customer_id C1, lamp_id B7, gift false
        + orders O002: customer_id C1, lamp_id B7, gift false
        > .redo
        nothing to be redone
        > .state
        ~ customers C1: credit: 20.00 -> 18.40
        ~ lamps B7: stock: 12 -> 10
        + orders O001: customer_id C1, lamp_id B7, gift false
        + orders O002: customer_id C1, lamp_id B7, gift false
        """
    )


def test_looking_keeps_what_can_be_redone_and_a_change_drops_it(play_shop: Play) -> None:
    script = "buy customer_id=C1 lamp_id=B7\n.undo\nping\n.redo\n.undo\n.say hello\n.redo\n"
    text = shown(play_shop(script))
    assert "> .redo\nredone: buy" in text
    assert text.endswith("> .redo\nnothing to be redone\n")


def test_starting_again_can_be_undone(play_shop: Play) -> None:
    script = """\
        buy customer_id=C1 lamp_id=B7
        .reset
        .state
        .world sunday
        .undo
        .undo
        .state
        .world
        .history
        """
    lines = shown(play_shop(script)).split("\n")
    assert "\n".join(lines[lines.index("> .reset") :]) == dedent(
        """\
        > .reset
        shop in world monday
        > .state
        nothing has changed since the start
        > .world sunday
        shop in world sunday
        > .undo
        undone: .world sunday
        shop in world monday
        > .undo
        undone: .reset
        ~ customers C1: credit: 20.00 -> 19.20
        ~ lamps B7: stock: 12 -> 11
        + orders O001: customer_id C1, lamp_id B7, gift false
        > .state
        ~ customers C1: credit: 20.00 -> 19.20
        ~ lamps B7: stock: 12 -> 11
        + orders O001: customer_id C1, lamp_id B7, gift false
        > .world
        monday
        sunday
        > .history
        .world monday
        buy customer_id=C1 lamp_id=B7
        """
    )


def test_history_and_transcript_replay_a_session(play_shop: Play) -> None:
    script = """\
        .task light_up
        find_customer name=Nobody
        .gold
        buy customer_id=C1 lamp_id=B7
        .undo
        .say It costs 0.80.
        .state
        .history
        """
    first = shown(play_shop(script))
    assert shown(play_shop(first)) == first
    history = first[first.index("> .history\n") + len("> .history\n") :]
    assert history == dedent(
        """\
        .task light_up
        find_customer name=Nobody
        -- Nobody is called Nobody
        .gold
        .say It costs 0.80.
        """
    )
    again = shown(play_shop(history + ".state\n.history\n"))
    assert again.endswith(first[first.index("> .state\n") :])


# -- tasks -----------------------------------------------------------------------------------------------------------

TASK = """\
    > .task light_up
    task light_up in world monday: Buy the cheapest lamp
      You want the cheapest lamp there is,
      and to hear what it costs.
      name  Ada Byron  your name
    """


def test_a_task_shows_what_the_user_wants_and_its_gold_plan_is_played_step_by_step(play_shop: Play) -> None:
    script = ".facts\n.gold\n.gold\n.gold\n.reward\n.gold\n.reward\n.gold\n"
    assert shown(play_shop(script, "--task", "light_up")) == dedent(TASK) + dedent(
        """\
        > .facts
          name  Ada Byron  your name
        > .gold
        who = find_customer name='Ada Byron'
        {"customer_id": "C1", "name": "Ada Byron", "credit": 20.00}
        > .gold
        lamps = find_lamps
        [{"lamp_id": "B7", "price": 0.80}, {"lamp_id": "A1", "price": 9.50}]
        > .gold
        pick = lamp_id B7, price 0.80  -- the cheapest
        sold = buy customer_id=C1 lamp_id=B7
        {"order_id": "O001", "customer_id": "C1", "lamp_id": "B7", "gift": false}
        ~ customers C1: credit: 20.00 -> 19.20
        ~ lamps B7: stock: 12 -> 11
        + orders O001: customer_id C1, lamp_id B7, gift false
        > .reward
        reward 0
          says  not said: the price (0.80)
        > .gold
        said: 0.80
        > .reward
        reward 1
        > .gold
        the gold plan is at its end; `.reward` tells what it earns
        """
    )


def test_gold_all_goes_on_from_where_it_is_and_undo_takes_back_a_step(play_shop: Play) -> None:
    text = shown(play_shop(".task light_up\n.gold\n.gold all\n.undo 2\n.reward\n.gold all\n.reward\n"))
    assert text.count("who = find_customer") == 1
    assert text.count("sold = buy") == 2
    undone = text[text.index("> .undo 2") : text.index("> .reward")]
    assert undone == dedent(
        """\
        > .undo 2
        undone: .gold
        undone: .gold
        ~ customers C1: credit: 19.20 -> 20.00
        ~ lamps B7: stock: 11 -> 12
        - orders O001: customer_id C1, lamp_id B7, gift false
        """
    )
    assert text.endswith("the gold plan is at its end; `.reward` tells what it earns\n> .reward\nreward 1\n")


def test_a_gold_plan_that_fails_in_the_present_state_says_where(play_shop: Play) -> None:
    text = shown(play_shop("rename customer_id=C1 name=Eve\n.gold all\n.gold\n", "--task", "light_up"))
    failure = dedent(
        """\
        who = find_customer name='Ada Byron'
        refused: Nobody is called Ada Byron
        the gold plan fails here: who failed
        """
    )
    assert text.endswith(f"> .gold all\n{failure}> .gold\n{failure}")


def test_a_reward_has_reasons(play_shop: Play) -> None:
    script = ".say It is 0.80\nbuy customer_id=C2 lamp_id=A1\n.reward\n"
    assert shown(play_shop(script, "--task", "light_up")).endswith(
        dedent(
            """\
            > .reward
            reward 0
              state  customers C1: credit is 20.00, should be 19.20
              state  customers C2: credit is -7.00, should be 2.50
              state  lamps A1: stock is 0, should be 1
              state  lamps B7: stock is 12, should be 11
              state  orders O001: customer_id is C2, should be C1; lamp_id is A1, should be B7
              rule   rule broken: no_credit
            """
        )
    )


# -- mistakes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("pnig", "there is no tool `pnig`; did you mean `ping`?"),
        ("undo", "there is no tool `undo`; did you mean `.undo`?"),
        ("buy custmer_id=C1", "`buy` has no argument `custmer_id`; did you mean `customer_id`?"),
        (".tabel lamps", "there is no command `.tabel`; did you mean `.table`?"),
        (".", "there is no command `.`; `.help` lists them"),
        (".tables lamps", "`.tables` takes nothing after it"),
        (".table", "which table? there are customers, lamps, orders"),
        (".table lamp", "there is no table `lamp`; did you mean `lamps`?"),
        (".tool byu", "there is no tool `byu`; did you mean `buy`?"),
        (".world mars", "there is no world `mars`; there are monday, sunday"),
        (".task ligth_up", "there is no task `ligth_up`; did you mean `light_up`?"),
        (".undo lamps", "`lamps` is no number of lines"),
        (".undo 0", "`0` is no number of lines"),
        (".undo \u0661", "`\u0661` is no number of lines"),
        (".gold", "no task is being played; `.task NAME` starts one, `.task` lists them"),
        (".say", "say what?"),
        ("ping \x1b", "`\u241b` is no argument; write name=value, and quote texts that have spaces"),
    ],
)
def test_a_script_stops_at_what_cannot_be_understood(play_shop: Play, line: str, message: str) -> None:
    result = play_shop(f"ping\n{line}\nping\n")
    assert result.exit_code == 1
    assert result.stdout.split("\n", 4)[-1].split("\n", 1)[1] == f"error: {message}\n"
    assert result.stderr == "standard input:2: stopped at a line that cannot be played\n"


def test_quit_leaves(play_shop: Play) -> None:
    assert shown(play_shop(".quit\nnonsense\n")) == "> .world monday\nshop in world monday\n> .quit\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--task", "lite_up"], "error: there is no task `lite_up`; did you mean `light_up`?\n"),
        (["--world", "sundy"], "error: there is no world `sundy`; did you mean `sunday`?\n"),
        (["--script", "nowhere.txt"], "error: there is no file nowhere.txt\n"),
    ],
)
def test_what_cannot_be_started(play_shop: Play, options: list[str], message: str) -> None:
    result = play_shop("", *options)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", message)


def test_a_task_has_its_own_world(play_shop: Play) -> None:
    result = play_shop("", "--task", "light_up", "--world", "sunday")
    assert result.exit_code == 2
    assert "give --world or --task, not both" in result.stderr


def test_an_environment_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "generated" / "library").mkdir(parents=True)
    close, far = (CliRunner().invoke(forgec, ["play", name]) for name in ("librray", "zoo"))
    assert (close.exit_code, far.exit_code) == (2, 2)
    assert close.stderr == "error: there is no generated environment `librray`; did you mean `library`?\n"
    assert far.stderr == "error: there is no generated environment in generated/zoo; compile its spec first\n"


def test_a_script_that_is_not_utf8(package: Path, tmp_path: Path) -> None:
    script = tmp_path / "session.txt"
    script.write_bytes(b"ping\nfind_customer name=\xff\n")
    result = CliRunner().invoke(forgec, ["play", str(package), "--script", str(script)])
    assert result.exit_code == 2
    assert result.stderr == f"error: {script}:2: this line is not UTF-8\n"


# -- specs, programs -------------------------------------------------------------------------------------------------


def test_a_spec_is_compiled_on_the_spot(tmp_path: Path) -> None:
    result = CliRunner().invoke(forgec, ["play", str(write_shop(tmp_path)), "--world", "sunday"], input="ping\n")
    assert shown(result) == "> .world sunday\nshop in world sunday\n> ping\n1\n"
    assert [path.name for path in tmp_path.iterdir()] == ["shop.afs"]


def test_a_spec_with_errors_is_not_played(tmp_path: Path) -> None:
    path = tmp_path / "shop.afs"
    path.write_text(SHOP.replace("$c.credit >=", "$c.credti >="), encoding="utf-8")
    result = CliRunner().invoke(forgec, ["play", str(path)], input="ping\n")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "credti" in result.stderr
    assert CliRunner().invoke(forgec, ["play", str(tmp_path / "no.afs")]).exit_code == 2


def test_a_seed_that_changes_nothing_is_told(play_shop: Play) -> None:
    said = "the seed changes nothing: this task samples nothing\n"
    assert said not in shown(play_shop("", "--task", "light_up"))
    assert shown(play_shop("", "--task", "light_up", "--seed", "7")).startswith(f"> .task light_up 7\n{said}")
    assert said in shown(play_shop(".task light_up 0\n"))


def test_a_seed_is_that_of_a_task(play_shop: Play) -> None:
    result = play_shop("", "--seed", "7")
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (
        2,
        "Error: a seed draws what a task samples: give --task, too",
    )


def test_json_is_an_object_a_line(play_shop: Play) -> None:
    script = """\
        buy customer_id=C2 lamp_id=A1
        send_back order_id=O001
        buy customer_id=C1 lamp_id=A1
        .undo
        .task light_up
        .reward
        .nonsense
        """
    result = play_shop(script, "--json")
    assert result.exit_code == 1
    objects = [json.loads(line) for line in result.stdout.splitlines()]
    row = {"order_id": "O001", "customer_id": "C2", "lamp_id": "A1", "gift": False}
    assert [(one["input"], one["kind"]) for one in objects] == [
        (".world monday", "world"),
        ("buy customer_id=C2 lamp_id=A1", "ok"),
        ("send_back order_id=O001", "ok"),
        ("buy customer_id=C1 lamp_id=A1", "refused"),
        (".undo", "undo"),
        (".task light_up", "task"),
        (".reward", "reward"),
        (".nonsense", "error"),
    ]
    assert objects[1] == {
        "input": "buy customer_id=C2 lamp_id=A1",
        "kind": "ok",
        "result": row,
        "changes": [
            {"kind": "changed", "table": "customers", "key": "C2", "columns": {"credit": {"old": 2.5, "new": -7.0}}},
            {"kind": "changed", "table": "lamps", "key": "A1", "columns": {"stock": {"old": 1, "new": 0}}},
            {"kind": "added", "table": "orders", "key": "O001", "row": row},
        ],
        "rules_broken": ["no_credit"],
    }
    assert '"old":2.50,"new":-7.00' in result.stdout
    assert objects[2]["changes"] == [{"kind": "removed", "table": "orders", "key": "O001", "row": row}]
    assert objects[3]["result"] == "lamps: stock must satisfy stock >= 0"
    assert objects[4]["result"] == ["send_back order_id=O001"]
    assert objects[5]["result"] == {
        "environment": "shop",
        "world": "monday",
        "task": "light_up",
        "intent": "You want the cheapest lamp there is,\nand to hear what it costs.",
        "facts": [{"name": "name", "value": "Ada Byron", "doc": "your name"}],
    }
    assert objects[6]["result"]["value"] == 0
    assert {reason["kind"] for reason in objects[6]["result"]["reasons"]} == {"state", "says"}


def test_every_command_answers_in_json(play_shop: Play) -> None:
    script = (
        ".help\n.tools\n.tool buy\n.tables\n.table lamps\n.state\n.history\n.facts\n.policy\n.gold all\n.redo\n.reset\n"
    )
    result = play_shop(script, "--json", "--task", "light_up")
    assert result.exit_code == 0
    objects = [json.loads(line) for line in result.stdout.splitlines()]
    assert [one["input"].partition(" ")[0] for one in objects[1:]] == [line.split()[0] for line in script.splitlines()]
    gold = objects[-3]["result"]
    assert [step.get("node") for step in gold] == ["who", "lamps", "sold", None]
    assert gold[2]["reasons"] == {"pick": {"lamp_id": "B7", "price": 0.8}}
    assert gold[2]["call"] == "buy customer_id=C1 lamp_id=B7"
    assert gold[3]["said"] == ["0.80"]


def test_a_session_of_the_shipped_library() -> None:
    script = "find_by_name name=Moreno\n.task keep_what_can_be_kept\n.gold all\n.reward\n"
    result = CliRunner().invoke(forgec, ["play", str(ROOT / "specs" / "library.afs")], input=script)
    assert shown(result).endswith("> .reward\nreward 1\n")


def test_the_answers_come_line_by_line(package: Path) -> None:
    """A program may hold a session through pipes."""
    command = [sys.executable, "-m", "forgec", "play", str(package), "--json"]
    environment = {**os.environ, "PYTHONUNBUFFERED": ""}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in ("ping", ".state"):
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            seen = json.loads(process.stdout.readline())
            while seen["input"] != line:
                seen = json.loads(process.stdout.readline())
        process.stdin.close()
        assert process.wait(30) == 0


def test_a_large_history_of_a_session_costs_what_was_changed(tmp_path: Path) -> None:
    spec = check(write_shop(tmp_path)).spec
    assert spec is not None
    with compiled(spec) as environment:
        session = Session(environment, "monday")
        for _ in range(50):
            assert play(session, "find_customer name='Ada Byron'").kind == "ok"
        assert len({id(moment.episode) for moment in session.history}) == 1
