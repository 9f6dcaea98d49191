"""Workers that die, or hang: they are replaced, their episodes go on as if nothing had been, and poison is found."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from forgec_runtime import Environment, RemoteEpisode, WorkerError, Workers, load_environment, workers
from forgec_runtime.errors import FAULT_TEXT, STOPPED
from tests.runtime.test_workers import LIBRARY, pids, random_calls, told

Calls = list[tuple[int, str, dict[str, Any]]]


@pytest.fixture(scope="module")
def env() -> Environment:
    return load_environment(LIBRARY)


def program(env: Environment, seed: int, episodes: int, each: int, quick: bool = False) -> list[Calls]:
    """Steps in each of which every episode makes a call; or only calls that DuckDB is not asked for."""

    def is_quick(call: tuple[str, dict[str, Any]]) -> bool:
        before = env.executions
        env.step([(env.reset("main_library"), *call)])
        return env.executions == before

    drawn = [call for call in random_calls(env, "main_library", seed, 150) if not quick or is_quick(call)]
    chance = random.Random(seed)
    members = [f"M00{i}" for i in range(1, 10)]
    drawn += [("pay_fines", {"member_id": one, "amount": 0.05, "method": "card"}) for one in members] * 5
    return [[(i, *chance.choice(drawn)) for i in range(episodes)] for _ in range(each)]


def played(env: Any, episodes: list[Any], steps: list[Calls]) -> list[list[tuple[str, str, str]]]:
    return [told(env.step([(episodes[i], tool, given) for i, tool, given in step])) for step in steps]


def test_a_thousand_episodes_go_on_after_their_worker_was_killed(env: Environment) -> None:
    steps = program(env, 7, 1000, 24, quick=True)
    assert len({tool for step in steps for _, tool, _ in step}) > 5
    here = [env.reset("main_library") for _ in range(1000)]
    expected = played(env, here, steps)
    with Workers(LIBRARY, 1) as pool:
        there = [pool.reset("main_library") for _ in range(1000)]
        assert played(pool, there, steps[:20]) == expected[:20]
        assert sum(len(one.made) for one in there) > 2000
        killed = pids(pool)
        os.kill(killed[0], signal.SIGKILL)
        begun = time.process_time(), time.monotonic()
        assert played(pool, there, steps[20:]) == expected[20:]
        assert pids(pool) != killed
        assert time.monotonic() - begun[1] < 30  # three seconds on a quiet machine: benchmarks/recovery.py
        assert [one.digest() for one in there] == [one.digest() for one in here]
        assert [one.snapshot() for one in there] == [one.snapshot() for one in here]


def test_whatever_an_episode_came_from_it_comes_back(env: Environment) -> None:
    def begun(env: Any) -> list[Any]:
        """A fresh one, one of a task that draws its facts, a restored one, a fork, and one that ended."""
        pay = {"member_id": "M002", "method": "card", "amount": 1.25}
        fresh = env.reset("main_library")
        sampled = next((name for name, task in env.tasks.items() if task.sampled), "settle_the_overdue")
        task = env.reset(sampled, 3)
        env.step([(fresh, "pay_fines", pay)])
        restored = env.restore(fresh.snapshot())
        fork = restored.fork()
        env.step([(restored, "pay_fines", pay), (fork, "pay_fines", {**pay, "amount": 2})])
        restored.messages.append("Paid.")
        return [fresh, task, restored, fork, fork.fork()]

    here = begun(env)
    with Workers(LIBRARY, 2) as pool:
        there = begun(pool)
        for pid in pids(pool):
            os.kill(pid, signal.SIGKILL)
        assert [one.snapshot() for one in there] == [one.snapshot() for one in here]
        assert [one.digest() for one in there] == [one.digest() for one in here]
        task = here[1].task
        assert str(pool.reward(there[1], pool.tasks[task.name])) == str(env.reward(here[1], task)) or [
            str(reason) for reason in pool.reward(there[1], pool.tasks[task.name]).reasons
        ] == [str(reason) for reason in env.reward(here[1], task).reasons]
        assert there[1].briefing == here[1].briefing


@pytest.mark.parametrize(("most", "bytes_"), [(3, 2**30), (1000, 2000)])
def test_long_histories_become_snapshots(
    env: Environment, monkeypatch: pytest.MonkeyPatch, most: int, bytes_: int
) -> None:
    monkeypatch.setattr(workers, "MAX_MADE", most)
    monkeypatch.setattr(workers, "MAX_KEPT", bytes_)
    steps = program(env, 11, 20, 16, quick=True)
    here = [env.reset("main_library") for _ in range(20)]
    expected = played(env, here, steps)
    with Workers(LIBRARY, 2) as pool:
        there = [pool.reset("main_library") for _ in range(20)]
        found = []
        for turn, step in enumerate(steps):
            found += played(pool, there, [step])
            assert all(len(one.made) <= most for one in there)
            if turn % 5 == 2:
                os.kill(pids(pool)[turn % 2], signal.SIGKILL)
        assert found == expected
        assert any(kind == "snapshot" for kind, _ in (one.began for one in there))
        assert [one.snapshot() for one in there] == [one.snapshot() for one in here]


def test_the_nursery_may_die_too(env: Environment) -> None:
    with Workers(LIBRARY, 2) as pool:
        episodes = [pool.reset("main_library") for _ in range(4)]
        pay = {"member_id": "M002", "method": "card", "amount": 1.25}
        pool.step([(one, "pay_fines", pay) for one in episodes])
        os.kill(pool._crew._nursery[0].process.pid, signal.SIGKILL)
        found = pool.step([(one, "pay_fines", {**pay, "amount": 2}) for one in episodes])
        assert [result.text for result in found] == ["0.25"] * 4


DEADLY = """
import os, time
from datetime import datetime
from pathlib import Path
from forgec_runtime import Column, Environment, Table, Tool, World, types as t
from forgec_runtime import Parameter, Query

ROWS = Table("rows", columns=(Column("k", t.Text()), Column("n", t.Integer())), key=("k",))
SLOW = Query(
    "select sum(a.i * b.i % 7) as s from range(10000000) as a(i), range(100000000) as b(i)",
    tables=(), values=(), columns=("s",), order="")

def add(call, n):
    row = call.find(ROWS, "a")
    call.update(ROWS, row, {"n": row["n"] + n})
    return row["n"] + n

def leave(call):
    os._exit(7)

def search(call):
    return call.value(SLOW)

def spin(call):
    while True:
        time.sleep(0.01)

N = (Parameter("n", t.Integer()),)
ENVIRONMENT = Environment(
    name="deadly", clock=datetime(2025, 3, 1), tables=(ROWS,),
    tools=(Tool("add", add, parameters=N), Tool("leave", leave), Tool("search", search), Tool("spin", spin)),
    worlds=(World("w", Path(__file__).with_name("w.json")),),
)
"""


@pytest.fixture
def deadly(tmp_path: Path) -> Path:
    folder = tmp_path / "deadly"
    folder.mkdir()
    (folder / "__init__.py").write_text(DEADLY, encoding="utf-8")
    (folder / "w.json").write_text('{"rows": [{"k": "a", "n": 0}]}', encoding="utf-8")
    return folder


def test_calls_that_kill_are_faults_alone(deadly: Path) -> None:
    with Workers(deadly, 1, trusted=True) as pool:
        episodes = [pool.reset("w") for _ in range(20)]
        chance = random.Random(1)
        calls = [(one, "add", {"n": 1}) for one in episodes for _ in range(4)]
        deadly_ones = sorted(chance.sample(range(80), 3))
        for i in deadly_ones:
            calls[i] = (calls[i][0], "leave", {})
        results = pool.step(calls)
        assert [i for i, result in enumerate(results) if not result.ok] == deadly_ones
        for i in deadly_ones:
            assert (results[i].kind, results[i].text) == ("fault", FAULT_TEXT)
            assert "ended with exit code 7, when it made this call alone" in results[i].detail
        for i, one in enumerate(episodes):
            own = [int(result.text) for result in results[4 * i : 4 * i + 4] if result.ok]
            assert own == list(range(1, len(own) + 1))
            assert pool.call(one, "add", n=1).text == str(len(own) + 1)
        assert pool.call(episodes[0], "leave").kind == "fault"


@pytest.mark.parametrize(("tool", "why"), [("search", STOPPED), ("spin", "was killed: it took longer than 1 seconds")])
def test_what_takes_too_long_is_stopped_or_killed(deadly: Path, tool: str, why: str) -> None:
    with Workers(deadly, 1, trusted=True, timeout=1) as pool:
        episodes = [pool.reset("w") for _ in range(3)]
        before = pids(pool)
        calls: list[Any] = [(one, "add", {"n": 1}) for one in episodes]
        calls.insert(1, (episodes[0], tool, {}))
        calls.append((episodes[0], "add", {"n": 1}))
        results = pool.step(calls)
        assert [result.text for result in results] == ["1", FAULT_TEXT, "1", "1", "2"]
        assert why in results[1].detail
        assert (pids(pool) == before) == (tool == "search")
        assert [result.text for result in pool.step([(one, "add", {"n": 1}) for one in episodes])] == ["3", "2", "2"]


def test_an_environment_is_stopped_from_another_thread(deadly: Path) -> None:
    env = load_environment(deadly, trusted=True)
    episodes = [env.reset("w") for _ in range(2)]
    timer = threading.Timer(0.3, env.stop)
    timer.start()
    calls: list[Any] = [(episodes[0], "search", {}), (episodes[0], "add", {"n": 1}), (episodes[1], "add", {"n": 1})]
    results = env.step(calls)
    assert [(result.text, result.detail) for result in results] == [(FAULT_TEXT, STOPPED)] * 2 + [("1", "")]
    assert [result.ok for result in env.step(calls[1:])] == [True, True]


def test_a_worker_that_cannot_be_replaced_takes_its_episodes_along(deadly: Path) -> None:
    with Workers(deadly, 2, trusted=True) as pool:
        episodes = [pool.reset("w") for _ in range(5)]
        calls: list[Any] = [(one, "add", {"n": 1}) for one in episodes]
        pool.step(calls)
        (deadly / "w.json").write_text("{", encoding="utf-8")
        os.kill(pids(pool)[0], signal.SIGKILL)
        with pytest.raises(
            WorkerError, match=r"worker 1 of 2 .* was ended by signal 9; its place cannot be taken"
        ) as e:
            pool.step(calls)
        assert [result and result.text for result in e.value.results] == [None, "2", None, "2", None]
        for use in (episodes[0].fork, episodes[0].snapshot, episodes[0].digest):
            with pytest.raises(WorkerError, match="worker 1 of 2"):
                use()
        assert [result.text for result in pool.step([calls[1], calls[3]])] == ["3", "3"]
        assert pool.call(pool.reset("w"), "add", n=1).text == "1"
        os.kill(pids(pool)[1], signal.SIGKILL)
        with pytest.raises(WorkerError, match="worker 2 of 2"):
            episodes[1].digest()
        with pytest.raises(WorkerError, match=r"worker 1 of 2.*worker 2 of 2"):
            pool.reset("w")


def test_a_worker_that_does_not_read_is_killed_and_replaced() -> None:
    with Workers(LIBRARY, 1, timeout=1) as pool:
        episode: RemoteEpisode = pool.reset("main_library")
        assert pool.call(episode, "list_loans", member_id="M001").ok
        os.kill(pids(pool)[0], signal.SIGSTOP)
        assert pool.call(episode, "list_loans", member_id="x" * 2**22).kind == "invalid"
