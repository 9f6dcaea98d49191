"""How much faster two workers are than one, and what each process spends on a call.

    .venv/bin/python -m benchmarks.workers

Steps of 1,024 calls over `desk.afs`: a guarded write of two rows, a read by key and a search, in turn, in episodes
that have changed rows of their own. One worker and two take turns within one run, so that noise of the machine hits
both. On a machine that is busy otherwise two workers do not get two cores: the last lines tell how many they got, and
what they would gain with two if the parent did nothing while they work.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.table import arguments, compiled
from forgec_runtime import Workers, load_environment

STEP = 1024
ROUNDS = 20
TURN = 5
"""Steps of one before it is the turn of the next."""
TOOLS = ("transfer", "get_account", "find_accounts")


def calls(env: Any, count: int = STEP) -> list[Any]:
    episodes = [env.reset("bank") for _ in range(count)]
    env.step([(episode, "transfer", arguments("transfer", i)) for i, episode in enumerate(episodes)])
    return [(episode, TOOLS[i % 3], arguments(TOOLS[i % 3], i)) for i, episode in enumerate(episodes)]


def processor_time(env: Any) -> list[float]:
    """Seconds of processor time that the parent and each worker have used (Linux)."""
    workers = env._crew.processes if isinstance(env, Workers) else ()
    pids = ["self", *(str(worker.pid) for worker in workers)]
    return [int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9 for pid in pids]


def cores() -> float:
    """How many cores two busy processes get at the moment: the most that two workers can gain."""
    spin = "import time; s = time.perf_counter(); sum(i * i for i in range(10**6)); print(time.perf_counter() - s)"

    def slowest(count: int) -> float:
        runs = [subprocess.Popen([sys.executable, "-c", spin], stdout=subprocess.PIPE, text=True) for _ in range(count)]
        return max(float(run.communicate()[0]) for run in runs)

    return 2 * slowest(1) / slowest(2)


def main() -> None:
    got = [cores() for _ in range(5)]
    with tempfile.TemporaryDirectory() as folder:
        path = compiled(Path(folder))
        with Workers(path, 1) as one, Workers(path, 2) as two:
            players: dict[str, Any] = {"in process": load_environment(path), "one worker": one, "two workers": two}
            times: dict[str, list[float]] = {who: [] for who in players}
            used: dict[str, list[list[float]]] = {who: [] for who in players}
            for _ in range(ROUNDS):
                for who, env in [pair for pair in players.items() for _ in range(TURN)]:
                    step = calls(env)
                    before, wall = processor_time(env), time.perf_counter()
                    env.step(step)
                    times[who].append(time.perf_counter() - wall)
                    used[who].append([b - a for a, b in zip(before, processor_time(env), strict=True)])
        got += [cores() for _ in range(5)]
        print(f"{'us a call':14}{'median':>9}{'best':>8}  processor: parent, each worker")
        for who, took in times.items():
            cpu = "".join(f"{us(statistics.median(one)):8.2f}" for one in zip(*used[who][TURN:], strict=True))
            print(f"{who:14}{us(statistics.median(took[TURN:])):9.2f}{us(min(took[TURN:])):8.2f}{cpu}")
        for what, one_of in (("medians", statistics.median), ("best", min)):
            print(f"two workers against one, {what}: {one_of(times['one worker']) / one_of(times['two workers']):.2f}")
        print(f"cores that two busy processes got, before and after: {statistics.median(got):.2f}")
        alone, shared = (longest(used[who][TURN:]) for who in ("one worker", "two workers"))
        print(f"by processor time of the parent and the slowest worker: {alone / shared:.2f}")


def longest(used: list[list[float]]) -> float:
    return statistics.median(one[0] + max(one[1:]) for one in used)


def us(seconds: float) -> float:
    return 1e6 * seconds / STEP


if __name__ == "__main__":
    main()
