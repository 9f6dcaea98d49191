"""What is counted is what was done, and counting changes nothing."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from forgec.commands import forgec
from forgec_runtime import AsyncEnvironment, Workers, load_environment
from forgec_runtime.telemetry import STAGES, Telemetry
from tests.runtime.test_workers import LIBRARY, pids, told

CALLS: list[tuple[str, Any]] = [
    ("list_loans", {"member_id": "M001"}),
    ("search_books", {"words": "a"}),
    ("list_loans", {}),
    ("drop_all", {}),
    ("drop_none", "{"),
    ("pay_fines", {"member_id": "M002", "amount": 1.25, "method": "card"}),
]
COUNTED = {
    "(unknown)": {"invalid": 20},
    "list_loans": {"invalid": 10, "ok": 10},
    "pay_fines": {"ok": 10},
    "search_books": {"ok": 10},
}


def played(env: Any) -> list[tuple[str, str, str]]:
    async def play() -> list[tuple[str, str, str]]:
        async with AsyncEnvironment(env) as front:
            episodes = [await front.reset("main_library") for _ in range(10)]
            found = await asyncio.gather(*(front.calls(one, CALLS) for one in episodes))
        return told([result for results in found for result in results])

    return asyncio.run(play())


def counted(telemetry: Telemetry) -> dict[str, dict[str, int]]:
    return {name: one["calls"] for name, one in telemetry.as_dict()["tools"].items()}


def test_calls_and_their_stages_are_counted() -> None:
    plain, env = load_environment(LIBRARY), load_environment(LIBRARY)
    telemetry = env.measure()
    assert plain.measured() is None
    assert played(env) == played(plain)
    assert env.measured() is telemetry and counted(telemetry) == COUNTED
    assert (telemetry.steps, telemetry.queries) == (1, env.executions)
    search, loans = telemetry.tools["search_books"], telemetry.tools["list_loans"]
    assert all(search.seconds[stage] > 0 for stage in STAGES) and search.slowest > 0
    assert telemetry.tools["(unknown)"].seconds["queue"] > 0 == telemetry.tools["(unknown)"].seconds["execute"]
    assert telemetry.tools["pay_fines"].seconds["engine"] == 0 < loans.seconds["plan"]
    assert "60 calls in 1 steps" in str(telemetry) and str(telemetry).count("\n") == 5


def test_what_workers_count_is_added_up() -> None:
    with Workers(LIBRARY, 2, telemetry=True) as pool:
        played(pool)
        first = pool.measured()
        assert first is not None and counted(first) == COUNTED and first.steps == 2
        assert first.tools["list_loans"].seconds["queue"] > 0 and first.tools["list_loans"].seconds["encode"] > 0
        os.kill(pids(pool)[0], signal.SIGKILL)
        played(pool)
        again = pool.measured()
        assert again is not None and again.restarts == 1
        assert counted(again)["pay_fines"]["ok"] == 20
    with Workers(LIBRARY, 1) as pool:
        assert pool.measured() is None


def test_prometheus_scrapes_it() -> None:
    prometheus = pytest.importorskip("prometheus_client", reason="the extra `prometheus` is not installed")
    from forgec_runtime.prometheus import TelemetryCollector

    env = load_environment(LIBRARY)
    env.measure()
    played(env)
    registry = prometheus.CollectorRegistry()
    registry.register(TelemetryCollector({"library": env, "nothing": load_environment(LIBRARY)}))
    page = prometheus.generate_latest(registry).decode()
    assert 'forgec_calls_total{environment="library",kind="ok",tool="list_loans"} 10.0' in page
    assert 'forgec_steps_total{environment="library"} 1.0' in page
    assert 'forgec_seconds_total{environment="library",stage="engine",tool="search_books"}' in page
    assert "nothing" not in page


def test_a_run_tells_it(tmp_path: Path) -> None:
    file = tmp_path / "telemetry.json"
    arguments = ["run", str(LIBRARY), "--task", "settle_the_overdue"]
    run = CliRunner().invoke(forgec, [*arguments, f"--telemetry={file}"])
    assert run.exit_code == 0
    data = json.loads(file.read_text(encoding="utf-8"))["library"]
    assert sum(sum(one["calls"].values()) for one in data["tools"].values()) == data["steps"] > 3
    run = CliRunner().invoke(forgec, [*arguments, "--user", "scripted", "--workers", "1", "--telemetry"])
    assert run.exit_code == 0 and "library: microseconds a call" in run.stderr
    run = CliRunner().invoke(forgec, [*arguments, f"--telemetry={tmp_path}/none/file"])
    assert run.exit_code == 2 and "cannot write" in run.stderr
