"""The routes of a resources server: what is paid, what is masked, what is refused, and that nothing is left behind."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from forgec.dialogue import AssistantMessage, ToolCall
from forgec.serving.gym.responses import ResponsesModel
from forgec.serving.gym.routes import SESSION
from tests.serving.playing import (
    Direct,
    Served,
    environment,
    gold_moves,
    model,
    response,
    rollout,
    served,
    written,
)

VERDICT: dict[str, Any] = {"responses_create_params": {}, "response": {"output": []}}


@pytest.mark.parametrize("name", ["library", "phone"])
def test_gold_is_paid_and_nothing_is_not(name: str) -> None:
    env = environment(name)
    tasks = written(env)
    golds = {task: gold_moves(env, task) for task in tasks}

    async def all_of_them() -> tuple[list[Any], list[Any]]:
        async with served(env) as server:
            paid = [await rollout(env, server.client(), task, model(golds[task])) for task in tasks]
            silent = [AssistantMessage()] * 10
            unpaid = [await rollout(env, server.client(), task, model(silent)) for task in tasks]
            assert len(server.service.sessions) == 0
            return paid, unpaid

    paid, unpaid = asyncio.run(all_of_them())
    assert {verdict["reward"] for verdict in paid} == {1.0}
    assert {verdict["end"] for verdict in paid} <= {"satisfied", "tool"}
    assert all(set(verdict["reward_components"].values()) == {1.0} for verdict in paid)
    assert {(verdict["reward"], verdict["end"]) for verdict in unpaid} == {(0.0, "silent")}
    assert not any(verdict["mask_sample"] for verdict in paid + unpaid)
    assert paid[0]["response"]["usage"]["output_tokens_details"]["reasoning_tokens"] > 1


def test_an_agent_that_knows_nothing_of_users_plays_what_is_told_at_once() -> None:
    """As `simple_agent` does: calls are posted to the routes of tools, what it says last stands in the response."""
    env = environment()
    (task,) = [name for name in written(env) if name == "keep_what_can_be_kept"]

    async def play() -> Any:
        async with served(env, user="briefed") as server:
            client = server.client()
            await client.post("/seed_session", {"task": task})
            said = []
            for move in gold_moves(env, task):
                for call in move.calls:
                    answer = await client.send(f"/{call.name}", call.arguments.encode())
                    assert answer.status_code == 200
                if not move.calls:
                    said = response(move)["output"]
            request = {"responses_create_params": {}, "response": {"output": said}}
            return await client.post("/verify", request), await client.post("/verify", request)

    first, second = asyncio.run(play())
    assert (first["reward"], first["end"]) == (1.0, "satisfied")
    assert first == second


def test_a_user_that_errs_is_masked_and_named() -> None:
    """A model plays the user, badly: it makes up what it was not given."""

    async def liar(body: dict[str, Any]) -> Any:
        assert body["input"][0]["role"] == "system"
        return response(AssistantMessage(text="My member number is M77123."))

    async def play() -> Any:
        async with served(user="model", user_model=ResponsesModel(liar)) as server:
            return await rollout(environment(), server.client(), "settle_the_overdue", model([]), most=3)

    verdict = asyncio.run(play())
    assert verdict["mask_sample"] is True and verdict["instance_config"] == {"mask_sample": True}
    assert verdict["failure_kind"] == "library:user_invented" and "M77123" in verdict["failure_reason"]
    assert verdict["reward"] == 0.0 and "_ng_failure_class" not in verdict


def test_a_user_model_that_fails_is_no_fault_of_the_agent() -> None:
    async def dead(body: dict[str, Any]) -> Any:
        raise ConnectionError("nobody listens")

    async def play() -> tuple[int, Any]:
        async with served(user="model", user_model=ResponsesModel(dead)) as server:
            client = server.client()
            begun = await client.ask("/seed_session", task="settle_the_overdue")
            return begun.status_code, await client.post("/verify", VERDICT)

    status, verdict = asyncio.run(play())
    assert status == 502
    assert (verdict["mask_sample"], verdict["failure_kind"]) == (True, "library:user_unavailable")
    assert verdict["_ng_failure_class"] == "user_unavailable"


def test_a_thousand_sessions_at_once_leave_nothing_behind() -> None:
    env = environment()
    tasks = sorted(written(env), key=lambda task: len(gold_moves(env, task)))[:4]
    golds = {task: gold_moves(env, task) for task in tasks}

    async def play() -> list[Any]:
        async with served(env) as server:
            before = asyncio.all_tasks()
            jobs = [
                (task, model(golds[task]) if i % 2 else model([]))
                for i in range(1000)
                for task in [tasks[i % len(tasks)]]
            ]
            found = await asyncio.gather(
                *(rollout(env, Direct(server.service, str(i)), task, ask) for i, (task, ask) in enumerate(jobs))
            )
            assert len(server.service.sessions) == 0
            await asyncio.sleep(0)
            left = {task for task in asyncio.all_tasks() - before if "sweep" not in repr(task)}
            assert not left
            return found

    found = asyncio.run(play())
    assert [verdict["reward"] for verdict in found] == [float(i % 2) for i in range(1000)]


def test_what_is_asked_of_one_session_at_once_happens_in_order() -> None:
    async def play() -> tuple[list[Any], Any]:
        async with served() as server:
            client = server.client()
            await client.post("/seed_session", {"task": "settle_the_overdue"})
            calls = [client.ask("/list_loans", member_id="M001") for _ in range(50)]
            answers = await asyncio.gather(*calls, client.post("/verify", VERDICT), client.ask("/list_loans"))
            return [one.status_code for one in answers[:50]], answers

    codes, answers = asyncio.run(play())
    assert codes == [200] * 50
    assert answers[50]["agent_calls"] == 50
    assert answers[51].status_code == 409


def test_a_turn_that_is_sent_again_is_not_taken_again() -> None:
    async def play() -> list[Any]:
        async with served() as server:
            client = server.client()
            await client.post("/seed_session", {"task": "settle_the_overdue"})
            call = {"id": "1", "name": "list_loans", "arguments": '{"member_id": "M001"}'}
            first = await client.post("/execute_agent_tool_calls", {"turn": 1, "calls": [call]})
            again = await client.post("/execute_agent_tool_calls", {"turn": 1, "calls": [call]})
            said = [await client.post("/next_user_message", {"turn": 2, "message": "Done."}) for _ in range(3)]
            verdict = await client.post("/verify", VERDICT)
            assert first == again and said[0] == said[1] == said[2]
            return [verdict["agent_calls"], verdict["agent_turns"]]

    assert asyncio.run(play()) == [1, 2]


@pytest.mark.parametrize(
    ("path", "body", "status", "text"),
    [
        ("/seed_session", b'{"task": "no such"}', 422, "has no task 'no such'"),
        ("/seed_session", b'{"task": ["x"]}', 422, "has no task"),
        ("/seed_session", b"", 422, "a row must name its task"),
        ("/seed_session", b'{"task": "settle_the_overdue", "seed": -1}', 422, "seed must be"),
        ("/seed_session", b'{"task": "settle_the_overdue", "seed": true}', 422, "seed must be"),
        ("/seed_session", b'{"task": "settle_the_overdue", "environment": "phone"}', 422, "this server plays"),
        ("/seed_session", b"[]", 422, "must be a JSON object"),
        ("/seed_session", b"{", 422, "not valid JSON"),
        ("/seed_session", b"\xff\xfe", 422, "not valid JSON"),
        ("/seed_session", b"[" * 100_000, 422, "not valid JSON"),
        ("/seed_session", b" " * 2_000_001, 413, "more than 2,000,000 bytes"),
        ("/seed_session", b'{"resources_session_id": 3, "task_data": {}}', 422, "must be a string"),
        ("/seed_session", b'{"resources_session_id": "a", "task_data": 3}', 422, "must be a JSON object"),
        ("/next_user_message", b"{}", 410, "no such session"),
        ("/list_loans", b'{"member_id": "M001"}', 410, "no such session"),
        ("/verify", b"{}", 422, "responses_create_params must be an object"),
        ("/verify", b'{"responses_create_params": {}, "response": []}', 422, "response must be an object"),
    ],
)  # fmt: skip
def test_requests_that_make_no_sense_are_refused(path: str, body: bytes, status: int, text: str) -> None:
    async def play() -> Any:
        async with served() as server:
            return await server.client().send(path, body)

    answer = asyncio.run(play())
    assert answer.status_code == status
    assert text in answer.json()["error"]


@pytest.mark.parametrize(
    ("path", "body", "status", "text"),
    [
        ("/next_user_message", b'{"message": 3}', 422, "message must be a string"),
        ("/next_user_message", b'{"message": "x", "turn": "1"}', 422, "turn must be an integer"),
        ("/execute_agent_tool_calls", b"{}", 422, "calls must be a list"),
        ("/execute_agent_tool_calls", b'{"calls": [3]}', 422, "a call must have"),
        ("/execute_agent_tool_calls", b'{"calls": [{"name": "list_loans", "arguments": {}, "id": ""}]}', 422, "a call"),
        ("/no_such_tool", b"{}", 422, "There is no tool 'no_such_tool'"),
        ("/a/b/../c", b"{}", 422, "There is no tool"),
        ("/%E2%98%83", b"{}", 422, "There is no tool"),
        ("/list_loans", b"{", 422, "not valid JSON"),
        ("/list_loans", b"[1]", 422, "must be a JSON object"),
        ("/list_loans", b'{"member_id": 7}', 422, "member_id must be"),
        ("/list_loans", b'{"member_id": "\xff"}', 422, ""),
        ("/list_loans", b'{"member_id": "' + b"x" * 200_000 + b'"}', 422, "Not called: the arguments have"),
        ("/list_loans", b" " * 2_000_001, 413, "more than 2,000,000 bytes"),
    ],
)  # fmt: skip
def test_whatever_an_agent_sends_the_episode_goes_on(path: str, body: bytes, status: int, text: str) -> None:
    async def play() -> tuple[Any, Any]:
        async with served() as server:
            client = server.client()
            await client.post("/seed_session", {"task": "settle_the_overdue"})
            answer = await client.send(path, body)
            return answer, await client.ask("/list_loans", member_id="M001")

    answer, after = asyncio.run(play())
    assert (answer.status_code, after.status_code) == (status, 200)
    assert text in answer.text


def test_a_session_that_was_never_seeded_is_masked_not_judged() -> None:
    async def play() -> Any:
        async with served() as server:
            return await server.client().post("/verify", VERDICT)

    verdict = asyncio.run(play())
    assert (verdict["reward"], verdict["mask_sample"], verdict["failure_kind"]) == (0.0, True, "session_lost")
    assert verdict["_ng_failure_class"] == "session_lost"


def test_cookies_that_are_forged_reach_no_session() -> None:
    async def play() -> list[int]:
        async with served() as server:
            owner = server.client()
            await owner.post("/seed_session", {"task": "settle_the_overdue"})
            stranger, codes = server.client(), []
            cookie = owner.http.cookies["session"]
            for forged in ("", "x", cookie[:-1], cookie + "A", "." + cookie, cookie.replace(".", "", 1)):
                stranger.http.cookies.clear()
                stranger.http.cookies.set("session", forged)
                codes.append((await stranger.ask("/list_loans", member_id="M001")).status_code)
            assert (await owner.ask("/list_loans", member_id="M001")).status_code == 200
            return codes

    assert set(asyncio.run(play())) == {410}


def test_a_server_that_was_started_anew_says_that_the_session_is_lost() -> None:
    async def play() -> tuple[Any, Any]:
        async with served() as server:
            client = server.client()
            await client.post("/seed_session", {"task": "settle_the_overdue"})
            cookies = dict(client.http.cookies)
        async with served() as server:
            client = server.client()
            client.http.cookies.update(cookies)
            return await client.ask("/list_loans", member_id="M001"), await client.post("/verify", VERDICT)

    call, verdict = asyncio.run(play())
    assert call.status_code == 410
    assert verdict["failure_kind"] == "session_lost"


def test_abandoned_sessions_are_swept_out_but_none_that_is_asked() -> None:
    release = asyncio.Event()

    async def slow(body: dict[str, Any]) -> Any:
        await release.wait()
        return response(AssistantMessage(text="Hello."))

    async def play() -> None:
        async with served(user="model", user_model=ResponsesModel(slow), idle=0.05) as server:
            waiting = asyncio.create_task(server.client().ask("/seed_session", task="settle_the_overdue"))
            await asyncio.sleep(0.3)
            assert len(server.service.sessions) == 1  # its user has not answered yet
            release.set()
            assert (await waiting).status_code == 200
            async with asyncio.timeout(5):
                while len(server.service.sessions):
                    await asyncio.sleep(0.01)
            assert server.service.sessions.swept == 1

    asyncio.run(play())


def test_a_server_counts_its_sessions() -> None:
    async def play() -> list[dict[str, Any]]:
        async with served() as server:
            clients = [server.client() for _ in range(3)]
            counts = [await counted(server)]
            for client in clients:
                await client.post("/seed_session", {"task": "settle_the_overdue"})
            await clients[0].post("/verify", VERDICT)
            await clients[1].post("/close_session", {})
            counts.append(await counted(server))
            server.service.sessions.idle = 0.0
            await server.service.sessions.sweep()
            return [*counts, await counted(server)]

    async def counted(server: Served) -> dict[str, Any]:
        answer = await server.client().http.get("/sessions")
        return {name: answer.json()[name] for name in ("open", "playing", "asked", "begun", "swept")}

    assert asyncio.run(play()) == [
        {"open": 0, "playing": 0, "asked": 0, "begun": 0, "swept": 0},
        {"open": 2, "playing": 1, "asked": 0, "begun": 3, "swept": 0},
        {"open": 0, "playing": 0, "asked": 0, "begun": 3, "swept": 2},
    ]


NAMED = {"resources_session_id": "r1", "task_data": {"task": "settle_the_overdue"}}


@pytest.mark.parametrize("seed", [{"task": "settle_the_overdue"}, NAMED])
def test_a_session_that_is_begun_many_times_at_once_is_one(seed: dict[str, Any]) -> None:
    async def play() -> list[dict[str, int]]:
        async with served() as server:
            client = server.client()
            await client.post("/seed_session", seed)
            await asyncio.gather(*(client.ask("/seed_session", **seed) for _ in range(20)))
            counts = [server.service.sessions.counted()]
            await client.post("/close_session", {})
            return [*counts, server.service.sessions.counted()]

    assert [(one["open"], one["playing"]) for one in asyncio.run(play())] == [(1, 1), (0, 0)]


def test_there_are_no_more_sessions_than_there_may_be() -> None:
    async def play() -> list[int]:
        async with served(most=2) as server:
            clients = [server.client() for _ in range(3)]
            codes = [(await one.ask("/seed_session", task="settle_the_overdue")).status_code for one in clients]
            await clients[0].post("/close_session", {})
            return [*codes, (await clients[2].ask("/seed_session", task="settle_the_overdue")).status_code]

    assert asyncio.run(play()) == [200, 200, 503, 200]


def test_sessions_that_their_callers_name() -> None:
    """The contract of NeMo Gym's environment servers."""
    seed = {
        "resources_session_id": "r1",
        "episode_id": "e",
        "task_id": "t",
        "task_data": {"task": "settle_the_overdue"},
    }

    async def play() -> list[Any]:
        async with served() as server:
            client = server.client()
            first = await client.post("/seed_session", seed)
            await client.ask("/list_loans", member_id="M001")
            again = await client.post("/seed_session", seed)
            verdict = await client.post("/verify", VERDICT)
            close = {"resources_session_id": "r1", "episode_id": "e"}
            closed = [await client.post("/close_session", close) for _ in range(2)]
            other = await client.post("/close_session", {**close, "resources_session_id": "r2"})
            late = [
                (await client.ask("/seed_session", **{**seed, "resources_session_id": r})).status_code
                for r in ("r1", "r2")
            ]
            return [first, again, *closed, other, verdict["agent_calls"], late]

    r1 = {"resources_session_id": "r1"}
    assert asyncio.run(play()) == [r1, r1, r1, r1, {"resources_session_id": "r2"}, 1, [409, 409]]


def test_a_session_begun_again_is_another_one() -> None:
    async def play() -> Any:
        async with served() as server:
            client = server.client()
            await client.post("/seed_session", {"task": "settle_the_overdue"})
            await client.ask("/list_loans", member_id="M001")
            await client.post("/seed_session", {"task": "settle_the_overdue"})
            return await client.post("/verify", VERDICT)

    assert asyncio.run(play())["agent_calls"] == 0


def test_calls_of_one_message_are_one_turn() -> None:
    calls = tuple(ToolCall.of("list_loans", {"member_id": f"M00{i}"}, "same id") for i in range(1, 4))

    async def play() -> Any:
        async with served() as server:
            ask = model([AssistantMessage(text="Let me see.", calls=calls)])
            return await rollout(environment(), server.client(), "settle_the_overdue", ask, most=1)

    verdict = asyncio.run(play())
    kinds = [item["type"] for item in verdict["response"]["output"]]
    assert kinds == ["message", "message", *["function_call"] * 3, *["function_call_output"] * 3]
    assert (verdict["agent_turns"], verdict["agent_calls"], verdict["calls_ok"], verdict["end"]) == (1, 3, 3, "left")


def test_the_name_of_a_session_is_where_nemo_gym_has_it() -> None:
    assert SESSION == "session_id"
