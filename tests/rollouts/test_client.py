"""The client against a server that misbehaves: retries, time-outs, budgets, prices, odd answers, recorded traffic."""

from __future__ import annotations

import asyncio
import json
import time
from base64 import b64encode
from collections.abc import Callable, Coroutine
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from forgec.llm.answer import Answer
from forgec.llm.client import Client, Endpoint, SetupError
from forgec.llm.errors import LLMError, NotAllowed, NotRecorded, NotWritten, OverBudget, Rejected, TooLong, Unavailable
from forgec.llm.retrying import Patience, asked_to_wait
from forgec.llm.secrets import HIDDEN, Secrets, secrets_of
from forgec.llm.spending import Budget, Meter, Price, PriceError, Usage, parse_price, read_prices
from forgec.llm.traffic import Traffic, TrafficError
from tests.rollouts.playing import QUICK, client
from tests.rollouts.server import called, completion, serving
from tests.test_alone import full_at

HELLO = [{"role": "user", "content": "Hello"}]
KEY = "sk-very-secret-key"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORGEC_TEST_KEY", KEY)


def run(one: Client, what: Callable[[Client], Coroutine[Any, Any, Any]]) -> Any:
    async def at_last_closed() -> Any:
        try:
            return await what(one)
        finally:
            await one.close()

    return asyncio.run(at_last_closed())


def ask(one: Client, meter: Meter | None = None) -> Answer:
    answer = run(one, lambda one: one.complete(HELLO, meter=meter or Meter()))
    assert isinstance(answer, Answer)
    return answer


def after(*troubles: str | None) -> Callable[[int], str | None]:
    """The first requests go wrong, each in its way; the others do not."""
    return lambda number: troubles[number] if number < len(troubles) else None


# -- what goes wrong ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trouble", "kind"),
    [
        ("429", "rate_limit"),
        ("500", "http_500"),
        ("503", "http_503"),
        ("408", "http_408"),
        ("409", "http_409"),
        ("hang 30", "timeout"),
        ("trickle", "timeout"),
        ("drop", "connection"),
        ("cut", "connection"),
        ("truncated", "unreadable"),
        ("malformed", "unreadable"),
        ("no_choices", "unreadable"),
    ],
)
def test_what_fails_is_sent_again(trouble: str, kind: str) -> None:
    meter = Meter()
    with serving(lambda body: "Hello", after(trouble, trouble)) as server:
        patience = Patience(0.5 if kind == "timeout" else 10.0, retries=3, first_wait=0.001, longest_wait=0.01)
        assert ask(client(server.url, patience), meter).text == "Hello"
    assert (meter.requests, meter.answers, meter.failures) == (3, 1, {kind: 2})
    assert (meter.prompt_tokens, meter.cached_tokens, meter.completion_tokens) == (100, 40, 10)


@pytest.mark.parametrize("trouble", ["500", "drop", "truncated"])
def test_what_goes_on_failing_is_unavailable(trouble: str) -> None:
    with serving(lambda body: "Hello", lambda number: trouble) as server:
        with pytest.raises(Unavailable, match="no answer after 3 attempts"):
            ask(client(server.url, Patience(10.0, 2, 0.001, 0.01)))
        assert len(server.seen) == 3


def test_nobody_there_is_unavailable() -> None:
    with pytest.raises(Unavailable):
        ask(client("http://127.0.0.1:9/v1", Patience(10.0, 1, 0.001, 0.01)))


def test_retry_after_is_respected_by_all_requests() -> None:
    with serving(lambda body: "Hello", after("429 Retry-After: 0.4")) as server:

        async def two(one: Client) -> None:
            refused = asyncio.Event()
            one.tell = lambda text: refused.set()
            first = asyncio.create_task(one.complete(HELLO, meter=Meter()))
            await refused.wait()
            await asyncio.gather(first, one.complete(HELLO, meter=Meter()))

        run(client(server.url), two)
        first, *later = server.moments
        assert len(later) == 2
        assert min(later) - first >= 0.4


def test_retry_after_is_respected_by_those_that_wait_for_their_turn() -> None:
    with serving(lambda body: "Hello", after("429 Retry-After: 0.4")) as server:

        async def two(one: Client) -> None:
            await asyncio.gather(*(one.complete(HELLO, meter=Meter()) for _ in range(2)))

        run(client(server.url, concurrency=1), two)
        first, *later = server.moments
        assert len(later) == 2
        assert min(later) - first >= 0.4


def test_the_longest_of_several_waits_holds() -> None:
    with serving(lambda body: "Hello", after("429 Retry-After: 0.6", "429 Retry-After: 0.05"), delay=0.05) as server:

        async def three(one: Client) -> None:
            await asyncio.gather(*(one.complete(HELLO, meter=Meter()) for _ in range(2)))

        run(client(server.url), three)
        first, second, *later = server.moments
        assert second - first < 0.4
        assert min(later) - first >= 0.6


def test_one_request_that_is_put_off_for_long_does_not_hold_up_the_others_as_long() -> None:
    patience = Patience(10.0, retries=0, longest_asked=0.2)
    with serving(lambda body: "Hello", after("429 Retry-After: 7200")) as server:

        async def two(one: Client) -> Answer:
            with pytest.raises(Unavailable):
                await one.complete(HELLO, meter=Meter())
            async with asyncio.timeout(5):
                return await one.complete(HELLO, meter=Meter())

        assert run(client(server.url, patience), two).text == "Hello"
        assert server.moments[1] - server.moments[0] >= 0.2


def test_waits_double_from_one_attempt_to_the_next() -> None:
    with serving(lambda body: "Hello", after("500", "drop", "malformed", "503")) as server:
        ask(client(server.url, Patience(10.0, 4, first_wait=0.05)))
        gaps = [after - before for before, after in zip(server.moments, server.moments[1:], strict=False)]
    assert [gap >= 0.025 * 2**i for i, gap in enumerate(gaps)] == [True] * 4


def test_an_endpoint_that_wants_to_be_left_alone_for_long_is_unavailable() -> None:
    with serving(lambda body: "Hello", lambda number: "429 Retry-After: 7200") as server:
        began = time.monotonic()
        with pytest.raises(Unavailable, match="left alone for 7200 seconds"):
            ask(client(server.url))
        assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Sun, 06 Nov 1994 08:49:37 GMT"}, 0.0),
        ({"retry-after": "Sun, 06 Nov 1994 08:49:37 -0000"}, 0.0),
    ],
)
def test_how_long_an_endpoint_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert asked_to_wait(headers) == seconds


def test_an_endpoint_may_ask_to_be_left_alone_until_a_moment() -> None:
    moment = format_datetime(datetime.now(UTC) + timedelta(minutes=2), usegmt=True)
    assert asked_to_wait({"retry-after": moment}) == pytest.approx(120, abs=10)


@pytest.mark.parametrize(
    ("trouble", "error"),
    [
        ("401", NotAllowed),
        ("402", NotAllowed),
        ("403", NotAllowed),
        ("404", NotAllowed),
        ('429 body {"error": {"message": "pay", "code": "insufficient_quota"}}', NotAllowed),
        ("400", Rejected),
        ("422", Rejected),
        ("413", TooLong),
        ('400 body {"error": {"message": "x", "code": "context_length_exceeded"}}', TooLong),
        ('400 body {"message": "This model\'s maximum context length is 8192 tokens."}', TooLong),
    ],
)
def test_what_asking_again_does_not_help_is_not_asked_again(trouble: str, error: type[LLMError]) -> None:
    with serving(lambda body: "Hello", lambda number: trouble) as server:
        with pytest.raises(error) as raised:
            ask(client(server.url))
        assert type(raised.value) is error
        assert len(server.seen) == 1


def test_no_more_requests_are_on_their_way_than_allowed() -> None:
    with serving(lambda body: "Hello", delay=0.02) as server:

        async def many(one: Client) -> None:
            await asyncio.gather(*(one.complete(HELLO, meter=Meter()) for _ in range(20)))

        run(client(server.url, concurrency=3), many)
        assert server.answered == 20
        assert server.most_at_once == 3


# -- answers ------------------------------------------------------------------------------------------------------


def answered(body: Any) -> Answer:
    given = body if isinstance(body, bytes) else json.dumps({"choices": [{"message": body}]}).encode()
    with serving(lambda request: given) as server:
        return ask(client(server.url, Patience(10.0, 0)))


def test_odd_messages_are_read_for_what_they_are_worth() -> None:
    function = {"name": "find", "arguments": {"a": 1}}
    assert answered({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, 7]}).text == "ab"
    assert answered({"content": None, "refusal": "No."}).text == "No."
    assert answered({}).text == ""
    assert answered({"content": 7, "tool_calls": {"a": 1}}).calls == ()
    calls = answered({"tool_calls": [{"function": function}, {"id": "x", "function": function}, 7, None]}).calls
    assert [(call.id, call.name, call.arguments) for call in calls] == [
        ("call_0", "find", '{"a": 1}'), ("x", "find", '{"a": 1}'), ("call_2", "", "{}"), ("call_3", "", "{}"),
    ]  # fmt: skip
    twice = answered({"tool_calls": [{"id": "x", "function": {"name": "a"}}, {"id": "x", "function": {"name": "b"}}]})
    assert len({call.id for call in twice.calls}) == 2
    assert answered(b'{"choices": [{"message": {"content": "half a pair: \\ud83d"}}]}').text == "half a pair: ?"
    assert answered(b'{"choices": [{"message": {"content": "x"}, "finish_reason": "length"}]}').finish == "length"


@pytest.mark.parametrize(
    ("message", "text", "reasoning", "field"),
    [
        ({"content": "a", "reasoning_content": "b"}, "a", "b", "reasoning_content"),
        ({"content": "a", "reasoning": "b"}, "a", "b", "reasoning"),
        ({"content": "<think>\nb\n</think>\n\na"}, "a", "b", "content"),
        ({"content": "b\n</think>\n\na"}, "a", "b", "content"),
        ({"content": "<think>\nb"}, "", "b", "content"),
        ({"content": "a <think>b</think>"}, "a <think>b</think>", None, None),
        ({"content": "a < b"}, "a < b", None, None),
    ],
)
def test_reasoning_is_found_where_it_is(message: dict[str, str], text: str, reasoning: str | None, field: str) -> None:
    found = answered(message)
    assert (found.text, found.reasoning, found.reasoning_field) == (text, reasoning, field)


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"null", b'{"choices": [7]}', b'{"choices": [{"message": "x"}]}', b'{"error": "busy"}', b"\xff"],
)
def test_answers_that_are_none_are_unavailable(body: bytes) -> None:
    with pytest.raises(Unavailable):
        answered(body)


def test_what_is_sent_is_what_was_asked() -> None:
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    with serving(lambda body: called("f", {})) as server:
        one = client(server.url, settings={"temperature": 0.5, "chat_template_kwargs": {"preserve_thinking": True}})
        run(one, lambda one: one.complete(HELLO, tools, meter=Meter()))
        assert server.seen == [
            {"model": "small", "messages": HELLO, "tools": tools, "temperature": 0.5,
             "chat_template_kwargs": {"preserve_thinking": True}}
        ]  # fmt: skip
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_a_client_without_a_key_needs_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORGEC_TEST_KEY")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(SetupError, match="FORGEC_TEST_KEY has no key"):
        Client(Endpoint("small", key_variable="FORGEC_TEST_KEY"))
    with serving(lambda body: "Hello") as server:
        assert ask(client(server.url)).text == "Hello"


@pytest.mark.parametrize("wrong", ["sk-\nsecret", "sk-s\u00e9cret", "sk-\x7fsecret"])
def test_a_key_that_cannot_be_sent_is_refused_and_not_told(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    monkeypatch.setenv("FORGEC_TEST_KEY", wrong)
    with pytest.raises(SetupError, match="FORGEC_TEST_KEY holds characters that no key has") as raised:
        client("http://127.0.0.1:9/v1")
    assert "cret" not in str(raised.value)


def test_a_key_may_have_the_end_of_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORGEC_TEST_KEY", f"{KEY}\n")
    with serving(lambda body: "Hello") as server:
        assert ask(client(server.url)).text == "Hello"
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("url", ["http://", "http:///v1", "http://127.0.0.1:99999/v1", "http://[::1", "ftp://x", "x"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(SetupError, match="the base URL"):
        client(url)


# -- budgets and prices -------------------------------------------------------------------------------------------


def test_a_budget_of_requests_is_never_passed() -> None:
    budget = Budget(max_calls=5)
    with serving(lambda body: "Hello", lambda number: "500" if number % 2 else None) as server:

        async def many(one: Client) -> list[Any]:
            asked = (one.complete(HELLO, meter=Meter()) for _ in range(20))
            return await asyncio.gather(*asked, return_exceptions=True)

        found = run(client(server.url, budget=budget), many)
        assert len(server.seen) == 5
    assert {type(one) for one in found} == {Answer, OverBudget}


def test_a_budget_of_money_stops_what_comes_after_it() -> None:
    budget, prices, meter = Budget(max_cost=0.000_5), {"small": Price(input=2, output=10, cached=1)}, Meter()
    with serving(lambda body: "Hello") as server:

        async def one_by_one(one: Client) -> None:
            for _ in range(20):
                await one.complete(HELLO, meter=meter)

        with pytest.raises(OverBudget, match=r"0\.0005"):
            run(client(server.url, budget=budget, prices=prices), one_by_one)
    # 60 fresh tokens at 2, 40 cached ones at 1, 10 written at 10: 260 for a million
    assert meter.answers == 2
    assert meter.cost == pytest.approx(0.000_52)


def test_a_recorded_answer_costs_what_it_cost_and_is_no_request(tmp_path: Path) -> None:
    prices = {"small": Price(input=2, output=10, cached=1)}
    with serving(lambda body: "Hello") as server, closing(Traffic(tmp_path / "t.jsonl")) as traffic:
        run(client(server.url, prices=prices, traffic=traffic), _thrice)
    budget, traffic = Budget(max_calls=0, max_cost=0.000_5), Traffic(tmp_path / "t.jsonl", only=True)
    with pytest.raises(OverBudget, match=r"0\.0005"):
        run(client("http://127.0.0.1:9/v1", budget=budget, prices=prices, traffic=traffic), _thrice)
    assert budget.calls == 0
    assert budget.cost == pytest.approx(0.000_52)


def test_tokens_that_nobody_told_are_guessed() -> None:
    meter, body = Meter(), b'{"choices": [{"message": {"content": "abcdef"}}]}'
    with serving(lambda request: body) as server:
        ask(client(server.url), meter)
    assert (meter.estimated_answers, meter.completion_tokens) == (1, 2)
    assert meter.prompt_tokens > 2


def test_prices_are_read(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text('{"small": {"input": 0.5, "output": 2}}')
    assert read_prices(path) == {"small": Price(input=0.5, output=2)}
    assert Price(input=1, output=2).of(Usage(1_000_000, 500_000, 1_000_000)) == 3.0
    assert parse_price("a=b=1,2,0.5") == ("a=b", Price(input=1, output=2, cached=0.5))
    for text in ("small", "small=1", "small=1,2,3,4", "=1,2", "small=1,x", "small=-1,2", "small=nan,1"):
        with pytest.raises(PriceError):
            parse_price(text)
    for content in ("", "[]", '{"small": 1}', '{"small": {"input": 1}}', '{"small": {"input": 1, "output": "x"}}'):
        path.write_text(content)
        with pytest.raises(PriceError, match=r"prices\.json"):
            read_prices(path)
    with pytest.raises(PriceError):
        read_prices(tmp_path / "none.json")


# -- traffic ------------------------------------------------------------------------------------------------------


async def _thrice(one: Client) -> list[str]:
    asked = [await one.complete(HELLO, meter=Meter(), scope=scope) for scope in ("a", "a", "b")]
    return [answer.text for answer in asked]


def recorded(url: str, path: Path) -> Any:
    """What three requests give, with their traffic on file."""
    with closing(Traffic(path)) as traffic:
        return run(client(url, traffic=traffic), _thrice)


def test_traffic_is_recorded_and_replayed(tmp_path: Path) -> None:
    path, numbers = tmp_path / "traffic.jsonl", iter(range(100))
    with serving(lambda body: f"answer {next(numbers)}", after("500", None, "malformed")) as server:
        first = recorded(server.url, path)
        asked = len(server.seen)
        assert recorded(server.url, path) == first
        assert len(server.seen) == asked
    assert run(client("http://127.0.0.1:9/v1", traffic=Traffic(path, only=True)), _thrice) == first
    with pytest.raises(NotRecorded):
        ask(client("http://127.0.0.1:9/v1", traffic=Traffic(path, only=True)))


def test_secrets_are_never_written(tmp_path: Path) -> None:
    path = tmp_path / "traffic.jsonl"
    with serving(lambda body: f"Your key is {KEY}.") as server:
        address = server.url.replace("http://", "http://ada:lovelace99@")
        messages = [{"role": "user", "content": f"My key is {KEY}, my password lovelace99."}]
        with closing(Traffic(path)) as traffic:
            run(client(address, traffic=traffic), lambda one: one.complete(messages, meter=Meter()))
    written = path.read_text()
    assert KEY not in written
    assert "lovelace99" not in written
    assert written.count(HIDDEN) == 3
    assert "authorization" not in written.lower()


@pytest.mark.parametrize("shown", [str, json.dumps, lambda text: json.dumps(text).replace("/", "\\/"), quote, repr])
def test_secrets_are_hidden_in_whatever_form_they_come_back(shown: Callable[[str], str]) -> None:
    secrets = Secrets(
        ['sk-a/b"c\\d', *secrets_of("http://ada-token:love%40lace@x/v1?api_key=q-1234567&version=2024-06-01")]
    )
    for secret in ('sk-a/b"c\\d', "love@lace", b64encode(b"ada-token:love@lace").decode(), "q-1234567", "ada-token"):
        assert secrets.hide(f"<{shown(secret)}>").strip("<>'\"") == HIDDEN
    assert secrets.hide("ada on 2024-06-01") == "ada on 2024-06-01"


def test_what_an_address_asks_for_is_asked_for_with_each_request() -> None:
    with serving(lambda body: f"You sent {KEY}.") as server:
        assert ask(client(f"{server.url}?api-version=1&api-key=q-1234567")).text == f"You sent {HIDDEN}."
        assert server.paths == ["/v1/chat/completions?api-version=1&api-key=q-1234567"]


@pytest.mark.parametrize("status", [400, 401, 500])
def test_secrets_are_in_no_error(status: int) -> None:
    trouble = f"{status} body {json.dumps({'error': {'message': f'no such key: {KEY}'}})}"
    with serving(lambda body: "", lambda number: trouble) as server, pytest.raises(LLMError) as raised:
        ask(client(server.url, Patience(10.0, 0)))
    assert KEY not in str(raised.value)
    assert HIDDEN in str(raised.value)


def test_traffic_hides_what_it_is_told_to_hide(tmp_path: Path) -> None:
    with closing(Traffic(tmp_path / "t.jsonl")) as traffic:
        traffic.secrets.add([KEY])
        traffic.record("a", {"messages": [KEY]}, f"Your key is {KEY}.".encode())
    assert KEY not in (written := (tmp_path / "t.jsonl").read_text())
    assert written.count(HIDDEN) == 2


def test_traffic_that_was_cut_off_is_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "traffic.jsonl"
    with serving(lambda body: "Hello") as server:
        recorded(server.url, path)
        path.write_bytes(path.read_bytes()[:-10])
        recorded(server.url, path)
        assert len(server.seen) == 4
    assert len(path.read_bytes().splitlines()) == 3
    path.write_bytes(b"no traffic\n" + path.read_bytes())
    with pytest.raises(TrafficError, match="1: this line is no recorded request"):
        Traffic(path)
    with pytest.raises(TrafficError, match="there is no file"):
        Traffic(tmp_path / "none", only=True)


def test_traffic_that_cannot_be_written_stops_whoever_asks(tmp_path: Path) -> None:
    path = tmp_path / "traffic.jsonl"
    with serving(lambda body: "Hello" * 100) as server:
        recorded(server.url, path)
        whole = path.read_bytes()
        told = r"an answer cannot be written to .*traffic.jsonl: File too large"
        with closing(Traffic(path)) as traffic, full_at(len(whole) + 100), pytest.raises(NotWritten, match=told):
            run(client(server.url, traffic=traffic), lambda one: one.complete(HELLO, meter=Meter(), scope="c"))
    assert path.read_bytes() == whole


def test_traffic_is_written_by_one_run_at_a_time_and_to_no_other_file(tmp_path: Path) -> None:
    with closing(Traffic(tmp_path / "t.jsonl")), pytest.raises(TrafficError, match="another run is writing"):
        Traffic(tmp_path / "t.jsonl")
    for content in ("notes without an end of their line", "notes\n"):
        (tmp_path / "notes").write_text(content)
        with pytest.raises(TrafficError, match="recorded request"):
            Traffic(tmp_path / "notes")
        assert (tmp_path / "notes").read_text() == content


def test_a_large_answer_is_read() -> None:
    with serving(lambda body: completion("a" * 10_000_000)) as server:
        assert len(ask(client(server.url, Patience(20.0, 0))).text) == 10_000_000


def test_an_answer_that_never_ends_is_not_read_to_its_end() -> None:
    with serving(lambda body: completion("a" * 1_000_000)) as server:
        with pytest.raises(Rejected, match="the answer has more than 100,000 bytes"):
            ask(client(server.url, max_body=100_000))
        assert len(server.seen) == 1
    with serving(lambda body: completion("a" * 1_000_000), lambda number: "200 Content-Encoding: gzip") as server:
        with pytest.raises(Rejected, match="compressed"):
            ask(client(server.url))
        assert server.headers[0]["accept-encoding"] == "identity"


def test_waits_stay_within_bounds_and_are_not_all_the_same() -> None:
    waits = [QUICK.wait(attempt) for attempt in range(2000)]
    assert all(0 < wait <= QUICK.longest_wait for wait in waits)
    assert len(set(waits)) > 1000
