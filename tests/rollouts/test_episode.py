"""The loop: who speaks when, what each side sees, how it ends, and what it bears."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from forgec.commands.environments import package
from forgec.dialogue import AssistantMessage, Message, ToolCall, Transcript, Utterance
from forgec.llm.errors import TooLong
from forgec.rollouts import players
from forgec.rollouts.agents.agent import AgentError, Tools
from forgec.rollouts.agents.built_in import GoldPlayer, NoopPlayer
from forgec.rollouts.limits import Limits
from forgec.rollouts.run import MAX_FAILURES, Failure
from forgec.rollouts.trajectory import Trajectory
from forgec.users.scripted import ScriptedUser
from forgec_runtime import Environment, load_environment
from tests.rollouts.playing import Scripted, environment, plain, play, scripted, written

TASK = "keep_what_can_be_kept"
FIND = ("find_member", {"email": "lena.fischer@example.org"})


@pytest.fixture(scope="module")
def env() -> Environment:
    return environment()


def calls(*given: tuple[str, object]) -> AssistantMessage:
    made = [ToolCall.of(name, what if isinstance(what, str) else json.dumps(what)) for name, what in given]
    return AssistantMessage(calls=tuple(one.model_copy(update={"id": f"c{i}"}) for i, one in enumerate(made)))


def one(env: Environment, *moves: AssistantMessage, limits: Limits | None = None) -> Trajectory:
    (trajectory,) = play(env, scripted(*moves), [TASK], limits=limits)
    return trajectory


def results(trajectory: Trajectory) -> list[Message]:
    return [message for message in trajectory.messages if message.role == "tool"]


@pytest.mark.parametrize("name", ["library", "tickets", "phone", "retail", "mock"])
def test_the_gold_agent_is_paid_after_a_dialogue_with_the_scripted_user(name: str) -> None:
    played = play(environment(name), GoldPlayer)
    assert [(one.task, one.reasons) for one in played if one.reward != 1.0] == []
    assert {one.end for one in played} <= {"satisfied", "tool"}
    assert all(one.messages[0].role == "system" and one.messages[1].role == "user" for one in played)


def test_an_agent_that_does_nothing_is_not_paid(env: Environment) -> None:
    played = play(env, NoopPlayer)
    assert {(one.reward, one.end) for one in played} == {(0.0, "silent")}


def test_the_same_run_gives_the_same_trajectories(env: Environment) -> None:
    first, again = (plain(play(env, GoldPlayer, trials=2, at_once=n)) for n in (1, 30))
    assert first == again
    assert len(first) == 2 * len(written(env))


def test_facts_are_put_down_where_they_are_told(env: Environment) -> None:
    (trajectory,) = play(env, GoldPlayer, ["settle_the_overdue"])
    assert {fact.name for fact in trajectory.facts} == {"email", "author", "shelf", "method"}
    for fact in trajectory.facts:
        assert fact.name in trajectory.messages[fact.turn].reveals


def test_a_trajectory_survives_its_line(env: Environment) -> None:
    for trajectory in play(env, GoldPlayer):
        assert Trajectory.model_validate_json(trajectory.line()) == trajectory


def test_several_calls_of_one_message_run_in_order(env: Environment) -> None:
    pay = ("pay_fines", {"member_id": "M002", "amount": 3.5})
    trajectory = one(env, calls(FIND, pay, pay))
    assert [message.kind for message in results(trajectory)] == ["ok", "ok", "refused"]
    assert [message.tool_call_id for message in results(trajectory)] == ["c0", "c1", "c2"]
    assert trajectory.calls == 3


def test_sides_see_what_is_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    env = environment("phone")
    seen: list[Transcript] = []
    heard: list[Transcript] = []

    class Watching(GoldPlayer):
        async def act(self, transcript: Transcript, tools: Tools) -> AssistantMessage:
            seen.append(transcript)
            assert {tool["function"]["name"] for tool in tools} == set(env.tools)
            return await super().act(transcript, tools)

    class Hearing(ScriptedUser):
        async def answer(self, transcript: Transcript) -> Utterance:
            heard.append(transcript)
            return await super().answer(transcript)

    monkeypatch.setattr(players, "ScriptedUser", Hearing)
    (trajectory,) = play(env, Watching, ["text_from_the_train"])
    assert trajectory.reward == 1.0
    assert all(message.by != "user" and not (message.role == "user" and message.tool_calls) for message in seen[-1])
    assert all(message.by != "agent" and message.role != "system" for message in heard[-1])
    assert all(not message.tool_calls for message in heard[-1] if message.role == "assistant")
    assert any(message.by == "user" for message in heard[-1])


def test_a_tool_that_ends_the_episode_leaves_the_agent_the_last_word() -> None:
    env = environment("mock")
    (task,) = [name for name, task in env.tasks.items() if name == "nothing_is_deleted"]
    (trajectory,) = play(env, GoldPlayer, [task])
    assert (trajectory.end, trajectory.reward) == ("tool", 1.0)
    assert trajectory.messages[-1].role == "assistant"


def test_an_ending_tool_that_does_not_succeed_ends_nothing() -> None:
    transfer: tuple[str, object] = ("transfer_to_human_agents", {})
    (trajectory,) = play(environment("mock"), scripted(calls(transfer)), ["minutes_sent"])
    assert results(trajectory)[0].kind == "invalid"
    assert trajectory.end == "gave_up"


def test_an_agent_that_has_no_last_word_has_ended_all_the_same() -> None:
    class Speechless(Scripted):
        async def act(self, transcript: Transcript, tools: Tools) -> AssistantMessage:
            if transcript[-1].role == "tool":
                raise TooLong("no more than this")
            return await super().act(transcript, tools)

    transfer = calls(("transfer_to_human_agents", {"summary": "I cannot."}))
    (trajectory,) = play(environment("mock"), lambda part: Speechless(transfer), ["minutes_sent"])
    assert (trajectory.end, trajectory.turns) == ("tool", 1)


LINE = """
environment line {}
single phone on user "The phone in hand" { off_hook boolean default true, }
tool wave() returns text "Wave." { reply "Nobody sees it"; }
user tool hang_up() returns text ends "Hang up." { update phone set off_hook = false; reply "You hang up"; }
world monday {}
task goodbye on monday "A call that has to end" { intent "You want to hang up."; plan { done = hang_up(); } }
"""


def test_a_tool_of_the_user_may_end_the_episode(tmp_path: Path) -> None:
    (tmp_path / "line.afs").write_text(LINE)
    with package(str(tmp_path / "line.afs")) as folder:
        (trajectory,) = play(load_environment(folder), GoldPlayer, ["goodbye"])
    assert (trajectory.end, trajectory.reward) == ("tool", 1.0)
    assert trajectory.messages[-1].by == "user"


def test_a_user_that_calls_its_tools_for_ever_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    class Restless(ScriptedUser):
        async def open(self) -> Utterance:
            return Utterance(calls=(ToolCall.of("look_at_phone"),) * 2)

        async def answer(self, transcript: Transcript) -> Utterance:
            return await self.open()

    monkeypatch.setattr(players, "ScriptedUser", Restless)
    limits = Limits(user_calls=5)
    (trajectory,) = play(environment("phone"), NoopPlayer, ["text_from_the_train"], limits=limits)
    assert trajectory.end == "user"
    assert [message.kind for message in results(trajectory)] == ["ok"] * 4


# -- what the loop bears ------------------------------------------------------------------------------------------


def test_a_message_of_ten_megabytes_is_not_delivered(env: Environment) -> None:
    trajectory = one(env, AssistantMessage(text="a" * 10_000_000), calls(FIND))
    said, note = trajectory.messages[2:4]
    assert (said.cut, len(said.content)) == (10_000_000, 1000)
    assert (note.role, note.by) == ("user", "loop")
    assert "10,000,000 characters, at most 100,000" in note.content
    assert results(trajectory)[0].kind == "ok"
    assert trajectory.end == "gave_up"
    assert len(trajectory.line()) < 100_000


def test_arguments_of_ten_megabytes_are_not_taken(env: Environment) -> None:
    trajectory = one(env, calls(("find_member", {"email": "a" * 10_000_000}), FIND))
    assert [message.kind for message in results(trajectory)] == ["not_run", "ok"]
    assert "10,000,013 characters" in results(trajectory)[0].content
    assert len(trajectory.line()) < 100_000


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("find_membr", "{}", "There is no tool 'find_membr'. Did you mean find_member?"),
        ("", "{}", "There is no tool ''"),
        ("x" * 100_000, "{}", "There is no tool 'xxx"),
        ("toggle\ud800", "{}", "There is no tool"),
        ("find_member", '{"email": 7}', "email"),
        ("find_member", '{"email": ', "The arguments are not valid JSON"),
        ("find_member", "", "The arguments are not valid JSON"),
        ("find_member", "[1]", "The arguments must be a JSON object"),
        ("find_member", "[" * 90_000, "The arguments are not valid JSON"),
        ("find_member", '{"email": "\\ud800"}', "The arguments are not valid JSON"),
        ("find_member", '{"email": NaN}', "The arguments are not valid JSON"),
        ("find_member", "{}", "email is missing"),
        ("find_member", '{"email": "a@b.c", "mail": 1}', "there is no argument 'mail'"),
    ],
)
def test_a_call_that_is_wrong_is_answered(env: Environment, name: str, arguments: str, said: str) -> None:
    trajectory = one(env, calls((name, arguments)), calls(FIND))
    wrong, right = results(trajectory)
    assert wrong.kind == "invalid"
    assert said in wrong.content
    assert right.kind == "ok"
    assert Trajectory.model_validate_json(trajectory.line()) == trajectory


def test_of_a_thousand_calls_in_a_message_a_hundred_are_made(env: Environment) -> None:
    trajectory = one(env, calls(*[FIND] * 1000), calls(FIND))
    found = results(trajectory)
    assert [message.kind for message in found] == ["ok"] * 100 + ["not_run"] * 900 + ["ok"]
    assert found[100].content == "Not called: a message may have 100 calls, not 1,000."
    assert (trajectory.calls, trajectory.end) == (101, "gave_up")


def test_calls_get_ids_that_tell_them_apart(env: Environment) -> None:
    given = [ToolCall.of("list_loans", {"member_id": "M001"}, id) for id in ("", "", "same", "same", "\ud800" * 9999)]
    trajectory = one(env, AssistantMessage(calls=tuple(given)))
    ids = [message.tool_call_id for message in results(trajectory)]
    assert ids == [call.id for call in trajectory.messages[2].tool_calls]
    assert len(set(ids)) == 5
    assert Trajectory.model_validate_json(trajectory.line()) == trajectory


# -- limits ---------------------------------------------------------------------------------------------------------


def test_an_agent_that_never_ends_is_ended(env: Environment) -> None:
    talk = [AssistantMessage(text=f"Shall I go on with number {i}?") for i in range(50)]
    assert (one(env, *talk, limits=Limits(turns=20)).end, one(env, *talk, limits=Limits(turns=20)).turns) == (
        "turns",
        20,
    )
    trajectory = one(env, *[calls(FIND, FIND)] * 50, limits=Limits(calls=5))
    assert (trajectory.end, trajectory.calls) == ("calls", 5)
    assert [message.kind for message in results(trajectory)][-1] == "not_run"


def test_an_agent_that_takes_too_long_is_ended(env: Environment) -> None:
    class Slow:
        async def act(self, transcript: Transcript, tools: Tools) -> AssistantMessage:
            await asyncio.sleep(60)
            raise AssertionError

    (trajectory,) = play(env, lambda part: Slow(), [TASK], limits=Limits(seconds=0.05))
    assert (trajectory.end, trajectory.reward) == ("seconds", 0.0)


def test_empty_messages_are_said_to_be_empty_and_then_end_it(env: Environment) -> None:
    nothing = AssistantMessage(text=" ")
    assert one(env, nothing, nothing, nothing).end == "silent"
    assert one(env, nothing, nothing, calls(FIND), nothing, nothing, AssistantMessage(text="Done.")).end == "gave_up"


# -- agents that fail -----------------------------------------------------------------------------------------------


def test_an_agent_that_fails_has_no_trajectory_and_harms_no_other(env: Environment) -> None:
    class Failing(GoldPlayer):
        async def act(self, transcript: Transcript, tools: Tools) -> AssistantMessage:
            if self.part.task.name == TASK:
                raise AgentError("no idea")
            return await super().act(transcript, tools)

    failures: list[Failure] = []
    played = play(env, Failing, failures=failures)
    assert len(played) == len(written(env)) - 1
    assert [(one.key[1], one.kind, one.text) for one in failures] == [(TASK, "agent", "no idea")]


def test_a_run_goes_on_when_some_episodes_fail_between_others(env: Environment) -> None:
    class Failing(GoldPlayer):
        async def act(self, transcript: Transcript, tools: Tools) -> AssistantMessage:
            if self.part.trial % 4:
                raise AgentError("no idea")
            return await super().act(transcript, tools)

    failures: list[Failure] = []
    assert len(play(env, Failing, [TASK], trials=40, failures=failures, at_once=1)) == 10
    assert len(failures) == 30 > MAX_FAILURES


def test_a_run_stops_when_one_episode_after_the_other_fails(env: Environment) -> None:
    class Failing(NoopPlayer):
        async def act(self, transcript: Transcript, tools: Tools) -> AssistantMessage:
            raise AgentError("no idea")

    failures: list[Failure] = []
    assert play(env, Failing, trials=10, failures=failures, at_once=4) == []
    assert MAX_FAILURES <= len(failures) < MAX_FAILURES + 4
