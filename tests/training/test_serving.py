"""A policy behind an endpoint, asked by the client that agents use."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from click.testing import CliRunner

from forgec.commands import forgec
from forgec.commands.serve_policy_command import _policy
from forgec.training import opening, policy, tokenizer
from forgec.training.choosing import FIRST_HELD_OUT
from forgec.training.config import RunConfig
from forgec.training.policy import Shape
from forgec.training.run import Training
from forgec.training.serving import Answerer, Completes, server
from forgec.training.template import Template
from forgec_runtime import load_environment

TOOLS = [tool.schema for tool in load_environment("generated/phone").tools.values()]
NAMES = {name for tool in TOOLS for name in (tool["function"]["name"], *tool["function"]["parameters"]["properties"])}


RUN: dict[str, Any] = {
    "environments": [{"package": "generated/phone", "tasks": ["while_it_lasts"]}],
    "allow_uncertified": True,
    "longest_turn": 12,
    "limits": {"turns": 4, "silent": 3},
    "policy": {"width": 32, "layers": 1, "heads": 2, "kv_heads": 1, "feed_forward": 32, "context": 768},
    "tokenizer": {"size": 300, "trajectories": 2},
    "imitation": {"gate": 0.0, "most_steps": 40, "first": 40, "batch": 2, "pool": 4, "episodes": 1},
    "reinforcement": {"steps": 0},
    "evaluation": {"final": 4, "temperature": 0.0},
    "control": {"enabled": False},
}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    yield from served(min_p=0.0)


def served(**options: float) -> Iterator[str]:
    made = tokenizer.train(["what is your number"] * 3, NAMES, 300)
    shape = Shape(width=32, layers=1, heads=2, kv_heads=1, feed_forward=32, context=512)
    yield from listening(Answerer(policy.new(shape, made.size, seed=5), Template(made), longest_turn=6, **options))


def listening(answerer: Completes) -> Iterator[str]:
    endpoint = server(answerer, "127.0.0.1", 0)
    thread = threading.Thread(target=endpoint.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{endpoint.server_address[1]}/v1"
    endpoint.shutdown()
    thread.join()
    endpoint.server_close()
    if isinstance(answerer, Answerer):
        answerer.close()


def ask(url: str, body: Any) -> dict[str, Any]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        with urlopen(Request(f"{url}/chat/completions", data), timeout=30) as response:
            found: dict[str, Any] = json.load(response)
    except HTTPError as error:
        with error:
            found = {"code": error.code, **json.load(error)}
    return found


def question(text: str = "Hello.", **options: Any) -> dict[str, Any]:
    return {"model": "forgec", "messages": [{"role": "user", "content": text}], "tools": TOOLS, **options}


def test_an_answer_has_the_shape_of_a_chat_completion(url: str) -> None:
    answer = ask(url, question())
    assert answer["choices"][0]["message"]["role"] == "assistant"
    assert answer["usage"]["total_tokens"] == answer["usage"]["prompt_tokens"] + answer["usage"]["completion_tokens"]
    assert ask(url, question()) == answer
    assert {str(ask(url, question(seed=seed))["choices"]) for seed in range(4)} != {str(answer["choices"])}


def test_what_is_too_unlikely_is_not_drawn(url: str) -> None:
    def said(url: str, **options: Any) -> list[str]:
        return [str(ask(url, question(seed=seed, **options))["choices"]) for seed in range(4)]

    likeliest = said(url, temperature=0)
    with contextlib.contextmanager(served)(min_p=0.999) as narrow:
        assert said(narrow) == likeliest
    with contextlib.contextmanager(served)(temperature=0.0) as cold:
        assert said(cold) == likeliest != said(cold, temperature=1)


def test_an_evaluation_of_what_is_served_is_that_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = opening.open_environments(RunConfig.model_validate(RUN))
    opening.begin(tmp_path / "run", opened)
    Training(
        tmp_path / "run", opened.config, opened.environments, opened.choices, opened.stage, lambda line: None
    ).play()
    own = [json.loads(line) for line in (tmp_path / "run" / "transcripts" / "after.jsonl").read_text().splitlines()]
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    out = tmp_path / "served.jsonl"
    with contextlib.contextmanager(listening)(_policy(tmp_path / "run", "trained", None, None)) as url:
        result = CliRunner().invoke(
            forgec,
            ["run", "phone", "--user", "scripted", "--agent", "openai:forgec", "--base-url", url, "--task",
             "while_it_lasts", "--seed", str(FIRST_HELD_OUT), "--seeds", "4", "--max-turns", "4", "--max-tool-calls",
             "24", "--out", str(out)],
        )  # fmt: skip
    assert result.exit_code == 0, result.output
    found = {line["seed"]: line for line in map(json.loads, out.read_text().splitlines())}
    assert len(own) == 4 and any("tool_calls" in message for line in own for message in line["messages"])
    for line in own:
        assert told(line) == told(found[line["seed"]])


def told(trajectory: dict[str, Any]) -> list[object]:
    return [trajectory["reward"], trajectory["turns"], *(
        (one["role"], one.get("content", ""), [call["function"] for call in one.get("tool_calls", ())])
        for one in trajectory["messages"]
    )]  # fmt: skip


def test_many_are_answered_at_once(url: str) -> None:
    with ThreadPoolExecutor(12) as pool:
        answers = [*pool.map(lambda n: ask(url, question("word " * n, temperature=n % 2)), range(40))]
    assert all("choices" in answer for answer in answers)


@pytest.mark.parametrize(
    ("body", "code", "text"),
    [
        (b"{", 400, "no JSON"),
        (b"[" * 100_000, 400, "no JSON"),
        ({"messages": []}, 400, "messages"),
        (question("word " * 500), 400, "context_length_exceeded"),
        (question(stream=True), 400, "stream"),
        (question(tools=[{"function": {"name": "fly"}}]), 400, "does not know fly"),
        (question(tools=[{}]), 400, "tools"),
        (question(tools=[{"function": 3}]), 400, "tools"),
        ({"messages": [{"role": "pilot", "content": "x"}]}, 400, "no role `pilot`"),
    ],
    ids=["cut off", "deep", "empty", "too long", "stream", "unknown tool", "no tool", "no function", "role"],
)
def test_what_cannot_be_answered_is_refused(body: Any, code: int, text: str, url: str) -> None:
    refused = ask(url, body)
    assert refused["code"] == code and text in refused["error"]["message"]


def test_a_request_that_is_too_large_is_refused_before_it_is_read(url: str) -> None:
    connection = HTTPConnection(url.removeprefix("http://").removesuffix("/v1"), timeout=30)
    connection.putrequest("POST", "/v1/chat/completions")
    connection.putheader("Content-Length", "4000001")
    connection.endheaders()
    response = connection.getresponse()
    assert response.status == 413 and b"at most" in response.read()
    connection.close()


def test_it_plays_in_the_rollout_loop(url: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    out = tmp_path / "served.jsonl"
    result = CliRunner().invoke(
        forgec,
        ["run", "phone", "--user", "scripted", "--agent", "openai:forgec", "--base-url", url, "--task",
         "while_it_lasts", "--max-turns", "3", "--trials", "2", "--out", str(out)],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(lines) == 2 and all(line["turns"] > 0 and line["usage"]["agent"]["answers"] > 0 for line in lines)


def test_a_run_without_a_policy_is_told(tmp_path: Any) -> None:
    result = CliRunner().invoke(forgec, ["serve-policy", str(tmp_path)])
    assert result.exit_code == 2 and "there is no policy in" in result.output
