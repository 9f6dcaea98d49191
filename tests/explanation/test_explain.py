"""Why an episode was worth what it was: what is lacking, and the call after which it could not be saved any more."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from forgec.commands import forgec
from forgec.commands.environments import package
from forgec.dialogue import Message, ToolCall
from forgec.explanation import Mismatch, explain
from forgec.explanation.page import page
from forgec.explanation.text import text
from forgec.rollouts.run import hashes_of
from forgec.rollouts.trajectory import Shortfall, Times, Trajectory
from forgec_runtime import Environment, load_environment
from forgec_runtime.plan import gold_run

GENERATED = Path(__file__).parents[2] / "generated"
Calls = list[tuple[str, dict[str, Any]]]


@pytest.fixture(scope="module")
def library() -> Environment:
    return load_environment(GENERATED / "library")


def gold(env: Environment, task: str, plan: int = 0) -> Calls:
    return [(call.tool, dict(call.arguments)) for call in gold_run(env, env.tasks[task], 0, plan).calls]


def played(env: Environment, task: str, calls: Calls, *said: str) -> Trajectory:
    """The trajectory of an agent that makes some calls and says some things."""
    episode = env.reset(task)
    messages = [Message(role="user", content="Hello")]
    for i, (tool, arguments) in enumerate(calls):
        call = ToolCall.of(tool, arguments, f"call_{i}")
        (result,) = env.step([(episode, tool, call.arguments)])
        messages.append(Message(role="assistant", content="", tool_calls=(call,)))
        told = {"role": "tool", "content": result.text, "tool_call_id": call.id, "name": tool}
        messages.append(Message.model_validate({**told, "by": "agent", "kind": result.kind}))
    for one in said:
        messages.append(Message(role="assistant", content=one))
        episode.messages.append(one)
    reward = env.reward(episode, env.tasks[task])
    return Trajectory(
        format=1, environment=env.name, task=task, seed=0, trial=0, agent="test", user="none",
        hashes=hashes_of(env, env.tasks[task]), messages=tuple(messages), turns=len(calls), calls=len(calls),
        end="satisfied", reward=reward.value, parts={},
        reasons=tuple(Shortfall(kind=one.kind, text=one.text) for one in reward.reasons),
        digest=episode.digest(), times=Times(total=0, agent=0, user=0, environment=0),
    )  # fmt: skip


TASK = "settle_the_overdue"
"""An overdue book is returned, another one is lost, all is paid, and one is lent."""


def test_gold_is_never_lost_and_leaves_nothing_undone(library: Environment) -> None:
    for task in library.tasks:
        found = explain(library, played(library, task, gold(library, task)))
        assert (found.turn, found.undone, found.drift) == (None, (), ""), task


@pytest.mark.parametrize("name", ["library", "tickets", "phone", "mock"])
def test_who_looks_nothing_up_or_only_afterwards_is_not_lost(name: str) -> None:
    """What a plan looks up is another thing when something has changed: that may not be held against anybody."""
    env = load_environment(GENERATED / name)
    for task in env.tasks.values():
        if "made" in task.tags:
            continue
        run = gold_run(env, task, 0)
        reads = [(call.tool, dict(call.arguments)) for call in run.calls if not call.result.changed]
        writes = [(call.tool, dict(call.arguments)) for call in run.calls if call.result.changed]
        for calls in (writes, [*writes, *reads]):
            assert explain(env, played(env, task.name, calls)).turn is None, task.name


WHO, HAVE, BACK, LOST, PAY, SEARCH, LEND = (
    ("find_member", {"email": "walter.quist@example.org"}), ("list_loans", {"member_id": "M009"}),
    ("return_book", {"loan_id": "L0006"}), ("report_lost", {"loan_id": "L0007"}),
    ("pay_fines", {"member_id": "M009", "amount": 20.45, "method": "card"}),
    ("search_books", {"words": "Le Guin", "shelf": "fiction"}), ("lend_book", {"member_id": "M009", "book_id": "B104"}),
)  # fmt: skip


def with_(call: tuple[str, dict[str, Any]], **arguments: Any) -> tuple[str, dict[str, Any]]:
    return call[0], {**call[1], **arguments}


@pytest.mark.parametrize(
    ("calls", "lost", "undone"),
    [
        ([LOST, BACK, PAY, SEARCH, LEND], None, "find_member list_loans"),  # another order
        ([WHO, HAVE, LEND, BACK, LOST, PAY, LEND], None, "search_books"),  # too early is refused, and then mended
        ([BACK, PAY, LOST, LEND], None, "find_member list_loans pay_fines search_books lend_book"),  # both refused
        ([BACK, LOST, with_(PAY, amount="20.45"), LEND], None, "find_member list_loans search_books"),
        ([BACK, LOST, ("pay_fines", {"member_id": "M009", "amount": 20.450}), LEND], None,
         "find_member list_loans search_books"),  # by card, unless another method is said
        ([BACK, BACK, LOST, PAY, PAY, LEND, LEND], None, "find_member list_loans search_books"),  # twice is refused
        ([BACK, LOST, PAY, LEND, WHO, HAVE, SEARCH, SEARCH], None, ""),  # looks too late, and more than it has to
        ([with_(PAY, amount=-1), ("pay_fines", {}), with_(LEND, book_id="B102"), BACK, LOST, PAY, LEND], None,
         "find_member list_loans search_books"),  # wrong arguments, repaired
        ([BACK, LOST, with_(PAY, method="cash"), LEND], 2, "find_member list_loans pay_fines search_books"),
        ([BACK, with_(PAY, amount=3.5), LOST, with_(PAY, amount=16.95), LEND], 1,
         "find_member list_loans pay_fines search_books"),  # paid in two parts: two payments
        ([with_(LOST, loan_id="L0006"), BACK, LOST, PAY], 0,
         "find_member list_loans return_book search_books lend_book"),  # the wrong one is lost
        ([BACK, LOST, PAY, with_(LEND, book_id="B101"), ("return_book", {"loan_id": "L0021"}), LEND], 3,
         "find_member list_loans search_books"),  # mended, but a row of it stays
        ([WHO, HAVE, BACK, LOST, PAY, SEARCH, LEND, ("change_email", {"member_id": "M009", "email": "a@b.cd"})], 7,
         ""),  # all is done, and one thing more
    ],
)  # fmt: skip
def test_the_call_with_which_it_was_lost(library: Environment, calls: Calls, lost: int | None, undone: str) -> None:
    found = explain(library, played(library, TASK, calls))
    assert (None if found.turn is None else found.turn.message // 2) == lost
    assert " ".join(one.tool for one in found.undone) == undone


def test_of_several_calls_in_a_message_the_one_that_lost_it_is_told(library: Environment) -> None:
    apart = played(library, TASK, [BACK, with_(LOST, loan_id="L0008"), LOST])
    calls = [call for message in apart.messages for call in message.tool_calls]
    results = [message for message in apart.messages if message.role == "tool"]
    not_run = results[0].model_copy(update={"tool_call_id": "late", "kind": "not_run", "content": "Not called"})
    late = ToolCall.of("lend_book", {"member_id": "M001", "book_id": "B101"}, "late")
    both = Message(role="assistant", content="", tool_calls=(*calls, late))
    one = apart.model_copy(update={"messages": (apart.messages[0], both, *results, not_run)})
    found = explain(library, one)
    assert found.turn is not None and found.drift == ""
    assert (found.turn.message, found.turn.call.id) == (1, calls[1].id)


BELL = """
environment bell {}
table rings { ring_id text key serial 'R{00}', door text, note text? unscored, }
tool ring(door text?, note text?) returns rings "Ring." {
  let made = insert into rings (door, note) values (coalesce($door, 'front'), $note) returning *;
  return $made;
}
world monday {}
task twice on monday "The same call, two times" {
  intent "Ring twice.";
  plan { one = ring(); two = ring() after one; }
  plan back { other = ring(door: 'back'); }
}
"""


@pytest.mark.parametrize(
    ("calls", "lost", "undone"),
    [
        ([{}], None, ["two"]),
        ([{}, {}], None, []),
        ([{}, {}, {}], 2, []),
        ([{"door": None}, {"door": None}], None, []),
        ([{"door": "back"}], None, []),  # the other plan
        ([{"door": "front", "note": "in my own words"}, {}], None, ["two"]),  # the same, said otherwise
        ([{"note": "one"}, {"note": "two"}], None, ["other"]),
        ([{"note": "one"}, {"note": "two"}, {"note": "three"}], 2, ["other"]),
        ([{}, {"door": "back"}], 1, []),
        ([{"door": "garden"}], 0, ["other"]),
    ],
)
def test_what_a_plan_does_twice_has_to_be_done_twice_in_whatever_words(
    tmp_path: Path, calls: list[dict[str, Any]], lost: int | None, undone: list[str]
) -> None:
    (tmp_path / "bell.afs").write_text(BELL)
    with package(str(tmp_path / "bell.afs")) as folder:
        env = load_environment(folder)
        found = explain(env, played(env, "twice", [("ring", call) for call in calls]))
    assert (None if found.turn is None else found.turn.message // 2) == lost
    assert [one.node for one in found.undone] == undone


def test_what_either_side_did_counts() -> None:
    env = load_environment(GENERATED / "phone")
    task = "text_from_the_train"
    calls = gold(env, task)
    own = [i for i, (tool, _) in enumerate(calls) if tool in env.user_tools]
    assert own
    one = played(env, task, [])
    episode, messages = env.reset(task), list(one.messages)
    for i, (tool, arguments) in enumerate([*calls, ("toggle_mobile_data", {})]):
        side: Any = "user" if tool in env.user_tools else "agent"
        call = ToolCall.of(tool, arguments, f"c{i}")
        (result,) = env.step([(episode, tool, call.arguments)], by=side)
        messages.append(Message(role="user" if side == "user" else "assistant", content="", tool_calls=(call,)))
        told = {"role": "tool", "content": result.text, "tool_call_id": call.id, "name": tool, "by": side}
        messages.append(Message.model_validate({**told, "kind": result.kind}))
    found = explain(env, one.model_copy(update={"messages": tuple(messages)}))
    assert (found.drift, found.undone) == ("", ())
    assert found.turn is not None and found.turn.call.name == "toggle_mobile_data"


def test_who_does_nothing_could_have_been_saved_until_the_end(library: Environment) -> None:
    found = explain(library, played(library, TASK, []))
    assert found.turn is None
    assert [one.tool for one in found.undone] == [tool for tool, _ in gold(library, TASK)]
    assert "It could have been saved until the end." in text(found)


def test_a_wrong_write_is_where_it_was_lost(library: Environment) -> None:
    calls = gold(library, TASK)
    last, arguments = calls[-1]
    assert last == "lend_book"
    wrong = [*calls[:-1], ("lend_book", {**arguments, "book_id": "B101"})]
    found = explain(library, played(library, TASK, wrong))
    assert found.turn is not None
    assert (found.turn.message, found.turn.call.name) == (2 * len(calls) - 1, "lend_book")
    assert any("B101" in why for why in found.turn.why)
    assert [(one.tool, one.arguments["book_id"]) for one in found.undone] == [("lend_book", arguments["book_id"])]
    shown = text(found)
    assert "^^^ from here on no plan leads to the reward any more" in shown
    assert f"Lost with message {found.turn.message}" in shown


def test_the_first_of_several_wrong_writes_is_told(library: Environment) -> None:
    email = ("change_email", {"member_id": "M002", "email": "joan@example.org"})
    found = explain(library, played(library, TASK, [email, *gold(library, TASK)]))
    assert found.turn is not None
    assert (found.turn.message, found.turn.call.name) == (1, "change_email")
    assert any("joan@example.org" in why for why in found.turn.why)


def test_what_is_refused_or_only_looked_at_loses_nothing(library: Environment) -> None:
    harmless: Calls = [
        ("find_member", {"email": "nobody@example.org"}), ("search_books", {"words": "Le Guin"}),
        ("lend_book", {"member_id": "M002"}), ("no_such_tool", {}),
    ]  # fmt: skip
    assert explain(library, played(library, TASK, harmless)).turn is None


def test_a_mistake_that_no_plan_mends_is_told_also_where_the_agent_mended_it(library: Environment) -> None:
    """An e-mail address that is changed, and changed back, is as it was, and the episode is paid."""
    episode = library.reset(TASK)
    before = library.call(episode, "find_member", email="j.moreno@example.org").value
    there = ("change_email", {"member_id": before["member_id"], "email": "joan@example.org"})
    back = ("change_email", {"member_id": before["member_id"], "email": before["email"]})
    found = explain(library, played(library, TASK, [there, back, *gold(library, TASK)], "20.45, and until 2025-04-04"))
    assert found.trajectory.reward == 1
    # what is left of the plan does not mend it: the turn is a verdict on the plans, not on all that could be done
    assert found.turn is not None


def test_any_plan_that_the_task_accepts_will_do(library: Environment) -> None:
    several = [task for task in library.tasks.values() if len(task.plans) > 1]
    assert several
    for task in several:
        for plan in range(len(task.plans)):
            assert explain(library, played(library, task.name, gold(library, task.name, plan))).turn is None


def test_a_result_that_is_another_one_now_is_said(library: Environment) -> None:
    one = played(library, TASK, gold(library, TASK))
    messages = list(one.messages)
    messages[2] = messages[2].model_copy(update={"content": "{}"})
    found = explain(library, one.model_copy(update={"messages": tuple(messages)}))
    assert found.drift.startswith("message 1: ")
    assert "comes out otherwise" in text(found)


def test_an_environment_that_has_changed_is_refused(library: Environment) -> None:
    one = played(library, TASK, [])
    assert one.hashes is not None
    other = one.model_copy(update={"hashes": one.hashes.model_copy(update={"world": "0" * 64})})
    with pytest.raises(Mismatch, match="its world changed"):
        explain(library, other)
    with pytest.raises(Mismatch, match="was played in elsewhere"):
        explain(library, one.model_copy(update={"environment": "elsewhere"}))
    with pytest.raises(Mismatch, match="no task 'gone'"):
        explain(library, one.model_copy(update={"task": "gone"}))


def test_a_page_shows_texts_as_texts(library: Environment) -> None:
    one = played(
        library, TASK, [("search_books", {"words": "<script>alert(1)</script>"})], "<img src=x onerror=alert(2)>"
    )
    shown = page([explain(library, one)], "<b>run</b>")
    assert "<script" not in shown
    assert "<img" not in shown
    assert "&lt;img src=x onerror=alert(2)&gt;" in shown
    assert not re.search(r"https?://|src=\"|@import", re.sub(r"&#?\w+;", "", shown))
    assert "default-src 'none'" in shown


@pytest.mark.parametrize("width", [40, 79, 120])
def test_lines_are_as_wide_as_they_may_be(library: Environment, width: int) -> None:
    said = "It was " + "very " * 60 + "late.\n\n  1. indeed"
    calls: Calls = [("find_member", {"email": "j.moreno@example.org"}), ("change_email", {"email": "a@b.c"})]
    shown = text(explain(library, played(library, TASK, calls, said, "")), width).splitlines()
    assert width - 5 <= max(map(len, shown)) <= width
    (begun,) = [i for i, line in enumerate(shown) if "It was very" in line]
    assert shown[begun].startswith("   5  agent   It was") and shown[begun + 1].startswith(" " * 14 + "very")
    assert any(line.endswith("(nothing)") for line in shown)


def test_a_terminal_obeys_nothing_that_was_said(library: Environment) -> None:
    evil = "\x1b]0;mine\x07\x1b[2J\u202etfel\nand on"
    shown = text(explain(library, played(library, TASK, [(evil, {"words": evil})], evil)))
    assert "mine" in shown and "and on" in shown
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)


# -- the command ---------------------------------------------------------------------------------------------------


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(forgec, ["explain", *arguments], catch_exceptions=False)


@pytest.fixture
def run(library: Environment, tmp_path: Path) -> Path:
    """Two trajectories: one that was paid, and one that was not."""
    answers = gold_run(library, library.tasks[TASK], 0).answers
    paid = played(library, TASK, gold(library, TASK), *answers)
    assert paid.reward == 1
    path = tmp_path / "run.jsonl"
    path.write_bytes(paid.line() + played(library, "a_clean_slate", []).line())
    return path


def test_what_was_not_paid_is_explained(run: Path) -> None:
    result = invoke(str(run), "--env", str(GENERATED / "library"))
    assert result.exit_code == 0
    assert "library/a_clean_slate, seed 0, trial 0: reward 0" in result.stdout
    assert TASK not in result.stdout
    paid = invoke(str(run), TASK, "--all", "--env", str(GENERATED / "library"))
    assert "Paid in full." in paid.stdout


def test_findings_are_lines_of_json(run: Path) -> None:
    result = invoke(str(run), "--all", "--json", "--env", str(GENERATED / "library"))
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [one["task"] for one in found] == [TASK, "a_clean_slate"]
    assert found[0]["undone"] == [] and found[0]["turn"] is None
    assert found[1]["reasons"] and found[1]["undone"]


def test_a_page_is_written_whole(run: Path, tmp_path: Path) -> None:
    result = invoke(str(run), "--html", str(tmp_path / "run.html"), "--env", str(GENERATED / "library"))
    assert result.exit_code == 0
    assert "library/a_clean_slate" in (tmp_path / "run.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere.jsonl",), "there is no file nowhere.jsonl"),
        (("RUN", "no_such_task"), "nothing matches"),
        (("RUN", "--env", "nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_explained_is_said(run: Path, arguments: tuple[str, ...], said: str) -> None:
    result = invoke(*(str(run) if one == "RUN" else one for one in arguments))
    assert result.exit_code == 2
    assert said in result.output
    assert "Traceback" not in result.output


def test_where_there_is_nothing_to_explain_that_is_said(run: Path, tmp_path: Path) -> None:
    all_paid = tmp_path / "paid.jsonl"
    all_paid.write_bytes(run.read_bytes().splitlines(keepends=True)[0])
    paid = invoke(str(all_paid), "--env", str(GENERATED / "library"))
    assert (paid.exit_code, paid.stdout) == (0, "") and "every trajectory was paid" in paid.stderr
    (tmp_path / "empty.jsonl").touch()
    empty = invoke(str(tmp_path / "empty.jsonl"))
    assert empty.exit_code == 2 and "empty.jsonl has no trajectories" in empty.stderr
