"""Workers play as one environment does, lose nothing without a word, and leave nothing behind."""

from __future__ import annotations

import gc
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from forgec_runtime import (
    Environment,
    LoadError,
    NoopAgent,
    SnapshotError,
    WorkerError,
    Workers,
    crew,
    load_environment,
    process,
    wire,
    workers,
)
from forgec_runtime.agents import WorldValues, _Draw
from forgec_runtime.plan import known_at_start, play_gold
from tests.runtime.test_snapshots import signed

GENERATED = Path(__file__).parents[2] / "generated"
LIBRARY = GENERATED / "library"


@pytest.fixture(scope="module")
def pool() -> Iterator[Workers]:
    with Workers(LIBRARY, 2) as pool:
        yield pool


@pytest.fixture(scope="module")
def env() -> Environment:
    return load_environment(LIBRARY)


def random_calls(env: Environment, world: str, seed: int, count: int) -> list[tuple[str, dict[str, Any]]]:
    tasks = list(env.tasks.values())
    task = next((task for task in tasks if task.world == world), tasks[0])
    draw = _Draw(random.Random(seed), WorldValues(env, world), known_at_start(env, env.reset(task.name), task))
    tools = [draw.chance.choice(list(env.tools.values())) for _ in range(count)]
    return [(tool.name, draw.arguments(tool)) for tool in tools]


def told(results: list[Any]) -> list[tuple[str, str, str]]:
    return [(result.kind, result.text, result.detail) for result in results]


@pytest.mark.parametrize("name", sorted(path.name for path in GENERATED.iterdir()))
def test_random_calls_end_as_in_one_process(name: str) -> None:
    env = load_environment(GENERATED / name)
    kinds = set()
    with Workers(GENERATED / name, 3) as pool:
        for seed, world in enumerate(name for name in env.worlds if not env.denied(name)):
            here, there = [env.reset(world) for _ in range(7)], [pool.reset(world) for _ in range(7)]
            for turn in range(8):
                calls = random_calls(env, world, 100 * seed + turn, 20)
                chance = random.Random(turn)
                places = [chance.randrange(7) for _ in calls]
                mine = env.step([(here[i], *call) for i, call in zip(places, calls, strict=True)])
                theirs = pool.step([(there[i], *call) for i, call in zip(places, calls, strict=True)])
                assert told(theirs) == told(mine)
                kinds |= {result.kind for result in mine}
            assert [one.digest() for one in there] == [one.digest() for one in here]
            assert [one.snapshot() for one in there] == [one.snapshot() for one in here]
            assert [one.broken_rules for one in there] == [one.broken_rules for one in here]
    assert kinds >= {"ok", "refused"}


def test_rewards_are_those_of_one_process(pool: Workers, env: Environment) -> None:
    asked = []
    for task in env.tasks.values():
        for plays in (False, True):
            episode = pool.reset(task.name)
            assert episode.task is pool.tasks[task.name]
            if plays:
                run = play_gold(env, task)
                for call in run.calls:
                    assert pool.call(episode, call.tool, **call.arguments).text == call.result.text
                episode.messages.extend(run.answers)
            asked.append((episode, pool.tasks[task.name]))
    rewards = pool.rewards(asked)
    assert [reward.value for reward in rewards] == [0.0, 1.0] * len(env.tasks)
    first = next(iter(env.tasks.values()))
    assert rewards[0].reasons == pool.reward(*asked[0]).reasons
    fresh = env.reset(first.name)
    NoopAgent().play(env, fresh, first)
    assert [str(one) for one in rewards[0].reasons] == [str(one) for one in env.reward(fresh, first).reasons]


def test_what_cannot_be_rewarded_is_told(pool: Workers, env: Environment) -> None:
    episode = pool.reset("riverside_branch")
    other = next(task for task in pool.tasks.values() if task.world != "riverside_branch")
    with pytest.raises(ValueError, match="plays in"):
        pool.reward(episode, other)
    with pytest.raises(ValueError, match="is no task of library"):
        pool.reward(episode, env.tasks[other.name])


def test_forks_and_snapshots(pool: Workers, env: Environment) -> None:
    episode = pool.reset("main_library")
    pay = {"member_id": "M002", "method": "card"}
    assert pool.call(episode, "pay_fines", amount=1.25, **pay).text == "2.25"
    episode.messages.append("Paid.")
    fork, saved = episode.fork(), episode.snapshot()
    assert pool.call(fork, "pay_fines", amount=2.25, **pay).text == "0.00"
    again = pool.restore(saved)
    assert fork.messages == again.messages == ["Paid."]
    assert episode.snapshot() == saved == again.snapshot() == env.restore(saved).snapshot()
    assert episode.digest() == again.digest() != fork.digest()
    assert pool.call(again, "pay_fines", amount=1, **pay).text == "1.25"
    assert pool.call(episode, "pay_fines", amount=2, **pay).text == "0.25"


def test_snapshots_that_do_not_fit_are_refused(pool: Workers) -> None:
    saved = pool.reset("main_library").snapshot()
    with pytest.raises(SnapshotError, match="damaged"):
        pool.restore(saved[:-1])
    body = json.loads(saved.split(b"\n")[2])
    with pytest.raises(SnapshotError, match="the rows of the world main_library"):
        pool.restore(signed({**body, "rows": "0"}))
    assert pool.call(pool.reset("main_library"), "list_loans", member_id="M001").ok


def test_unknown_names_and_folders_are_told(pool: Workers, tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="library has no world or task 'nowhere'"):
        pool.reset("nowhere")
    with pytest.raises(LoadError, match="there is no generated environment"):
        Workers(tmp_path, 1)


def test_any_arguments_end_as_in_one_process(pool: Workers, env: Environment) -> None:
    given: list[Any] = [
        '{"member_id": "M002", "amount": 1, "method": "card"}',
        b'{"member_id": "M002"}',
        "{",
        b"\xff",
        "\ud800",
        {},
        {"member_id": "M\ud800"},
        {"member_id": "M002", "amount": float("nan"), "method": None},
        {"member_id": "M002", "amount": 10**40, "method": "card"},
        {"member_id": "M002", "amount": Decimal("0.25"), "method": "card"},
        {"member_id": "M002", "amount": date(2025, 3, 1), "method": {"a": [None]}},
        {"member_id": "M002", "amount": {1, 2}, "method": "card"},
        {3: 4},
        None,
        7,
        [1],
    ]
    mine = env.step([(env.reset("main_library"), "pay_fines", one) for one in given])
    theirs = pool.step([(pool.reset("main_library"), "pay_fines", one) for one in given])
    assert told(theirs) == told(mine)
    names: list[Any] = ["nothing", "pay\ud800", None, 3, "", "x" * 1000]
    mine = env.step([(env.reset("main_library"), name, {}) for name in names])
    assert told(pool.step([(pool.reset("main_library"), name, {}) for name in names])) == told(mine)


def test_what_cannot_travel_is_told_and_nothing_is_lost(pool: Workers) -> None:
    episodes = [pool.reset("main_library") for _ in range(2)]
    arguments: list[Any] = [{"member_id": lambda: 0}, {"member_id": "M001"}]
    calls = [(one, "list_loans", each) for one in episodes for each in arguments]
    found = pool.step(calls)
    assert [result.kind for result in found] == ["invalid", "ok", "invalid", "ok"]
    assert found[0].text.startswith("The arguments cannot be sent to a worker")


def test_an_empty_step_is_a_step(pool: Workers) -> None:
    assert pool.step([]) == []


def test_a_closed_episode_is_told(pool: Workers) -> None:
    episode, other = pool.reset("main_library"), pool.reset("main_library")
    episode.close()
    episode.close()
    with pytest.raises(ValueError, match="closed"):
        pool.step([(other, "list_loans", {"member_id": "M001"}), (episode, "list_loans", {"member_id": "M001"})])
    with pytest.raises(ValueError, match="closed"):
        episode.fork()


# -- what is left behind ---------------------------------------------------------------------------------------------


def held(pool: Workers) -> int:
    """How many episodes the workers have in memory."""
    return sum(pool._exchange([(worker, ["count"]) for worker in pool._crew.processes]).values())


def test_abandoned_and_closed_episodes_are_forgotten() -> None:
    with Workers(LIBRARY, 2) as pool:
        episodes = [pool.reset("main_library") for _ in range(50)]
        forks = [episode.fork() for episode in episodes]
        pool.step([(episode, "list_loans", {"member_id": "M001"}) for episode in episodes])
        assert held(pool) == 100
        for fork in forks:
            fork.close()
        assert held(pool) == 50
        del fork, forks, episodes[10:]
        gc.collect()
        assert held(pool) == 10
        episodes.clear()
        for _ in range(3):
            pool.call(pool.reset("main_library"), "list_loans", member_id="M001")
        gc.collect()
        assert held(pool) == 0
        assert not any(worker.episodes for worker in pool._crew.processes)


def test_episodes_that_nobody_plays_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "MAX_WAITING", 10)
    with Workers(LIBRARY, 1) as pool:
        for _ in range(100):
            pool.reset("main_library")
        (worker,) = pool._crew.processes
        assert len(worker.begun) + len(worker.gone) <= 11
        gc.collect()
        assert held(pool) == 0


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone(pids: list[int], seconds: float = 20) -> bool:
    until = time.monotonic() + seconds
    while any(map(alive, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    return not any(map(alive, pids))


def pids(pool: Workers) -> list[int]:
    return [worker.pid for worker in pool._crew.processes]


def test_closing_ends_the_processes() -> None:
    pool = Workers(LIBRARY, 2)
    episode = pool.reset("main_library")
    running = pids(pool)
    assert all(map(alive, running))
    pool.close()
    pool.close()
    assert not any(map(alive, running))
    with pytest.raises(WorkerError, match="closed"):
        pool.reset("main_library")
    with pytest.raises(WorkerError, match="closed"):
        pool.call(episode, "list_loans", member_id="M001")


def test_a_pool_without_references_ends() -> None:
    pool = Workers(LIBRARY, 1)
    running = pids(pool)
    del pool
    gc.collect()
    assert not any(map(alive, running))


START = f"""
import sys, time
from forgec_runtime import Workers
pool = Workers({str(LIBRARY)!r}, 2)
episodes = [pool.reset("main_library") for _ in range(4)]
print(*(worker.pid for worker in pool._crew.processes), flush=True)
"""
PLAY = """
while True:
    pool.step([(episode, "list_loans", {"member_id": "M001"}) for episode in episodes])
"""


def listens_to_ctrl_c() -> None:
    """Also where the tests run in the background of a shell, which has its programs ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def started(program: str) -> tuple[subprocess.Popen[str], list[int]]:
    """A program in a process group of its own, as a shell would start it, and its workers."""
    run = subprocess.Popen(
        [sys.executable, "-c", START + program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, preexec_fn=listens_to_ctrl_c,
    )  # fmt: skip
    assert run.stdout is not None
    return run, [int(word) for word in run.stdout.readline().split()]


def test_the_end_of_the_program_ends_the_workers() -> None:
    for program in ("", "raise SystemExit(3)", "1 / 0"):
        run, running = started(program)
        run.communicate(timeout=30)
        assert len(running) == 2 and gone(running)


def test_ctrl_c_ends_the_workers() -> None:
    run, running = started(PLAY)
    time.sleep(0.3)
    os.killpg(run.pid, signal.SIGINT)
    try:
        _, errors = run.communicate(timeout=30)
    finally:
        run.kill()
    assert gone(running)
    assert errors.count("KeyboardInterrupt") == 1 and "forgec_runtime/worker.py" not in errors


def test_a_program_that_is_killed_leaves_no_workers() -> None:
    run, running = started(PLAY)
    time.sleep(0.3)
    run.kill()
    run.communicate(timeout=30)
    assert gone(running)


def test_half_a_conversation_closes_the_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Workers(LIBRARY, 1)
    episode = pool.reset("main_library")
    running = pids(pool)

    def interrupted(pipe: int, moment: float) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(process, "read_by", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pool.call(episode, "list_loans", member_id="M001")
    assert not any(map(alive, running))
    with pytest.raises(WorkerError, match="closed"):
        pool.call(episode, "list_loans", member_id="M001")


# -- worlds, and packages that are odd -------------------------------------------------------------------------------


def test_a_large_world_is_read_from_one_file(env: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew, "SHARED_FROM", 0)
    with Workers(LIBRARY, 2, confine=os.geteuid() == 0) as pool:  # only root may look into those that are confined
        here, there = [env.reset("main_library") for _ in range(4)], [pool.reset("main_library") for _ in range(4)]
        calls = random_calls(env, "main_library", 5, 80)
        mine = env.step([(here[i % 4], *call) for i, call in enumerate(calls)])
        assert told(pool.step([(there[i % 4], *call) for i, call in enumerate(calls)])) == told(mine)
        assert [one.snapshot() for one in there] == [one.snapshot() for one in here]
        for pid in pids(pool):
            files = [os.readlink(file) for file in Path(f"/proc/{pid}/fd").iterdir()]
            assert any("world.duckdb" in file for file in files)
            assert not any(Path(file).exists() for file in files if "world.duckdb" in file)


ODD = """
import os
from datetime import datetime
from pathlib import Path
from forgec_runtime import Environment, World
print("printing while it is loaded")

ENVIRONMENT = Environment(
    name="odd", clock=datetime(2025, 3, 1), tables=(), tools=(),
    worlds=(World("w", Path(__file__).with_name("w.json")), World("broken", Path(__file__).with_name("broken.json"))),
)
"""


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / "__init__.py").write_text(ODD, encoding="utf-8")
    (folder / "w.json").write_text("{}", encoding="utf-8")
    (folder / "broken.json").write_text("{", encoding="utf-8")
    return folder


def test_a_world_that_cannot_be_opened(odd: Path) -> None:
    with Workers(odd, 1, trusted=True) as pool:
        with pytest.raises(LoadError, match="the world broken cannot be read"):
            pool.reset("broken")
        assert pool.reset("w").digest() == pool.reset("w").digest()


def test_a_package_that_only_the_parent_can_load(odd: Path) -> None:
    init = ODD + f"\nassert os.getpid() == {os.getpid()}, 'only here'\n"
    (odd / "__init__.py").write_text(init, encoding="utf-8")
    with pytest.raises(LoadError, match="is no environment of this runtime: only here"):
        Workers(odd, 2, trusted=True)


def test_a_package_that_holds_what_is_not_generated(odd: Path) -> None:
    with pytest.raises(LoadError, match=r"__init__.py:2: generated code has no Import"):
        Workers(odd, 1)


# -- messages --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "as_json"),
    [
        (["a", [1, None, 2.5, "x\u2028\0"]], True),
        ([], True),
        ([float("inf")], False),
        ([None, {"a": float("-inf")}], False),
        ([10**30], False),
        ([{1: 2}], False),
    ],
)
def test_messages_arrive_as_they_were_sent(message: list[Any], as_json: bool) -> None:
    data = wire.pack(message)
    assert wire.unpack(data) == message
    assert data.startswith(b"[") == as_json


def test_only_plain_values_are_sent() -> None:
    class Text(str):
        pass

    for value in (Text("a"), object(), {"a": [lambda: 0]}, {Text("a"): 1}):
        with pytest.raises(TypeError, match="a value of type"):
            wire.pack([value])


@pytest.mark.parametrize("message", [["ok", [1, None]], ["a\ud800", 10**30], [], [float("inf")]])
def test_answers_are_json(message: list[Any]) -> None:
    assert wire.understood(wire.answer(message)) == [None if one == float("inf") else one for one in message]
    with pytest.raises(ValueError, match="line 1 column 1"):
        wire.understood(pickle.dumps(message))
