"""Everything that a training loop waits for, in one table, with goals and with the same tools written by hand.

    make bench        # or: .venv/bin/python -m benchmarks.table [--quick]

Prints the table, keeps the raw figures in benchmarks/results.json, and puts both into docs/speed.md. The compiler runs
in a process of its own, so that only the runtime is measured; calls decode their arguments and encode their results.
Where tau2-bench is installed its retail environment is measured in the same run (`tau2.py` says how to install it).
"""

from __future__ import annotations

import gc
import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks import orders_by_hand
from benchmarks.by_hand import BARE, Bank, step
from benchmarks.tau2 import figures
from forgec_runtime import Environment, Episode, Workers, load_environment
from forgec_runtime.reward import state_differences

ROOT = Path(__file__).parent
STEP = 1024
ACCOUNTS = 1000
SIZES = (1_000, 10_000, 100_000, 1_000_000)
CROWDS = (1, 10, 100, 1_000, 10_000)


@dataclass(frozen=True)
class Measure:
    """One line of the table. `value` is in `unit`; `better` says whether more or less of it is wanted."""

    what: str
    value: float
    unit: str
    goal: float
    better: str = "more"
    by_hand: float | None = None
    """The same of the tool written by hand, which does the same; see `by_hand.py`."""
    bare: float | None = None
    """The same of nothing but the lookups, the guards, the writes and the JSON, in one dictionary."""
    tau2: float | None = None
    """The same of a tool of that kind in tau2-bench's retail environment."""

    @property
    def met(self) -> bool:
        return self.value >= self.goal if self.better == "more" else self.value <= self.goal


def arguments(tool: str, i: int, accounts: int = ACCOUNTS) -> dict[str, Any]:
    if tool == "get_account":
        return {"account_id": f"A{i % accounts}"}
    if tool == "transfer":
        return {"source": f"A{i % accounts}", "target": f"A{(i + 7) % accounts}", "amount": 3}
    return {"owner": f"owner {i % (accounts // 3)}"}


def compiled(folder: Path, accounts: int = ACCOUNTS) -> Path:
    """The package of `desk.afs`, its world grown to so many accounts."""
    spec = ROOT / "desk.afs"
    command = [sys.executable, "-m", "forgec", "compile", str(spec), "--out", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    with (folder / "desk" / "worlds" / "bank.json").open("w", encoding="utf-8") as file:
        for i in range(accounts):
            file.write((",\n" if i else '{"accounts": [\n') + json.dumps(account(i)))
        file.write("]}\n")
    return folder / "desk"


def seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def stepped(env: Environment, tool: str, rounds: int, *, touched: bool = False, first: int = 0) -> float:
    """Calls a second in steps over fresh episodes, or over episodes with changed rows of their own: the median."""
    rates = []
    accounts = ACCOUNTS if first == 0 else 10**9
    for round_ in range(rounds):
        episodes = [env.reset("bank") for _ in range(STEP)]
        if touched:
            env.step([(episode, "transfer", arguments("transfer", i)) for i, episode in enumerate(episodes)])
        start = first + round_ * STEP * 10
        calls = [
            (e, tool, arguments(tool, start + (i if first == 0 else i * 10), accounts)) for i, e in enumerate(episodes)
        ]
        rates.append(STEP / seconds(lambda: env.step(calls)))  # noqa: B023
    return statistics.median(rates[rounds // 4 :])


def account(i: int) -> dict[str, Any]:
    return {"account_id": f"A{i}", "owner": f"owner {i // 3}", "balance": 1_000_000}


def by_hand(tool: str, rounds: int) -> float:
    """Calls a second of the tool written by hand, each in a fresh episode: the median."""
    bank = Bank(map(account, range(ACCOUNTS)))
    rates = []
    for _ in range(rounds):
        calls: list[Any] = [({}, tool, arguments(tool, i)) for i in range(STEP)]
        rates.append(STEP / seconds(lambda: step(bank, calls)))  # noqa: B023
    return statistics.median(rates)


def bare(tool: str, rounds: int) -> float | None:
    """Calls a second of next to nothing."""
    function = BARE.get(tool)
    if function is None:
        return None
    rows = {row["account_id"]: row for row in map(account, range(ACCOUNTS))}
    calls = [arguments(tool, i) for i in range(STEP)]
    return statistics.median(STEP / seconds(lambda: [function(rows, **call) for call in calls]) for _ in range(rounds))


def heavy(tool: str, rounds: int) -> tuple[float, float]:
    """Calls a second of a tool of retail in steps over fresh episodes, and of the same written by hand: the medians."""
    env = load_environment(ROOT.parent / "generated" / "retail")
    shop, arguments = orders_by_hand.shop(env), orders_by_hand.CALLS[tool]
    rates, by_hand = [], []
    for _ in range(rounds):
        calls = [(env.reset(orders_by_hand.WORLD), tool, arguments) for _ in range(STEP)]
        rates.append(STEP / seconds(lambda: env.step(calls)))  # noqa: B023
        made = [(orders_by_hand.Changed(), tool, arguments) for _ in range(STEP)]
        by_hand.append(STEP / seconds(lambda: step(shop, made, orders_by_hand.TOOLS)))  # noqa: B023
    return statistics.median(rates[rounds // 4 :]), statistics.median(by_hand)


def singles(env: Environment, tool: str, count: int) -> list[float]:
    """Microseconds of calls one at a time, each in an episode of its own, from the fastest to the slowest."""
    episodes = [env.reset("bank") for _ in range(count)]
    taken = [seconds(lambda: env.call(e, tool, **arguments(tool, i))) for i, e in enumerate(episodes)]  # noqa: B023
    return sorted(1e6 * one for one in taken)


def first_touches(env: Environment, accounts: int, count: int) -> list[float]:
    """Microseconds of calls one at a time, each for a row that was not decoded before."""
    episode, half = env.reset("bank"), accounts // 2
    taken = [seconds(lambda: env.call(episode, "get_account", account_id=f"A{half + i * 37}")) for i in range(count)]  # noqa: B023
    return sorted(1e6 * one for one in taken)


def bytes_an_episode(env: Environment, transfers: int) -> float:
    count = 2_000
    gc.collect()
    tracemalloc.start()
    episodes = [env.reset("bank") for _ in range(count)]
    for n in range(transfers):
        env.step([(e, "transfer", arguments("transfer", i + 20 * n)) for i, e in enumerate(episodes)])
    gc.collect()
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return size / count


def comparison(env: Environment) -> float:
    """Microseconds of comparing two final states of six changed rows."""
    pair: list[Episode] = [env.reset("bank"), env.reset("bank")]
    for n in range(3):
        env.step([(episode, "transfer", arguments("transfer", 20 * n)) for episode in pair])
    return 1e6 * min(seconds(lambda: state_differences(*pair)) for _ in range(2_000))


def two_workers(package: Path, step: int, rounds: int) -> float:
    """How much faster two workers are than one, in steps of a write, a read and a search in turn over long episodes."""
    tools = ("transfer", "get_account", "find_accounts")
    with Workers(package, 1) as one, Workers(package, 2) as two:
        players: dict[int, tuple[Workers, list[float]]] = {1: (one, []), 2: (two, [])}
        episodes = {count: [env.reset("bank") for _ in range(step)] for count, (env, _) in players.items()}
        for round_ in range(rounds):
            for count, (env, taken) in players.items():
                turns = [(i + round_) % 3 for i in range(step)]
                made = [
                    (e, tools[n], arguments(tools[n], i))
                    for i, (e, n) in enumerate(zip(episodes[count], turns, strict=True))
                ]
                taken.append(seconds(lambda: env.step(made)))  # noqa: B023
        return statistics.median(players[1][1][2:]) / statistics.median(players[2][1][2:])


def growth(folder: Path, rounds: int, sizes: tuple[int, ...]) -> dict[str, dict[int, float]]:
    """Microseconds a call by the number of rows of the world, and by the number of other, idle episodes."""
    curves: dict[str, dict[int, float]] = {"read": {}, "write": {}, "cold read": {}, "search": {}, "idle episodes": {}}
    for size in sizes:
        env = load_environment(compiled(folder / str(size), size))
        env.base("bank")
        curves["read"][size] = 1e6 / stepped(env, "get_account", rounds)
        curves["write"][size] = 1e6 / stepped(env, "transfer", rounds)
        curves["search"][size] = 1e6 / stepped(env, "find_accounts", rounds)
        if size > 10_000:  # smaller tables are decoded whole
            curves["cold read"][size] = 1e6 / stepped(env, "get_account", min(rounds, size // (STEP * 20)), first=10)
    env = load_environment(folder / str(sizes[0]) / "desk")
    for crowd in CROWDS:
        idle = [env.reset("bank") for _ in range(crowd)]
        env.step([(episode, "transfer", arguments("transfer", i)) for i, episode in enumerate(idle)])
        curves["idle episodes"][crowd] = 1e6 / stepped(env, "transfer", rounds)
        del idle
    return curves


def measures(folder: Path, rounds: int) -> Iterator[Measure]:
    package = compiled(folder / "small")
    env = load_environment(package)
    tau2 = figures() or {}
    for tool, what, goal, like in (
        ("transfer", "guarded write by key, step of 1,024", 200_000, "write"),
        ("get_account", "read by key, step of 1,024", 200_000, "read"),
        ("find_accounts", "search by another column, step of 1,024", 80_000, "search"),
    ):
        hand, least = by_hand(tool, rounds), bare(tool, rounds)
        yield Measure(what, stepped(env, tool, rounds), "calls/s", goal, "more", hand, least, tau2.get(like))
    touched = stepped(env, "find_accounts", rounds, touched=True)
    yield Measure("the same, in episodes with changed rows", touched, "calls/s", 80_000)
    for tool, what in (
        ("modify_pending_order_items", "retail's heaviest tool, items of an order changed, step of 1,024"),
        ("exchange_delivered_order_items", "its second, items of an order exchanged, step of 1,024"),
    ):
        rate, hand = heavy(tool, rounds)
        yield Measure(what, rate, "calls/s", 80_000, by_hand=hand)
    yield Measure("search by another column, alone", singles(env, "find_accounts", 2_000)[1_000], "us", 2_000, "less")
    single = singles(env, "transfer", 5_000)
    yield Measure("guarded write alone, warm: half of them within", single[2_500], "us", 30, "less")
    yield Measure("guarded write alone, warm: 99 of 100 within", single[4_950], "us", 200, "less")
    rows = 200_000
    large = load_environment(compiled(folder / "large", rows))
    yield Measure(
        "read by key, every row cold, step of 1,024", stepped(large, "get_account", 6, first=10), "calls/s", 40_000
    )
    touch = first_touches(large, rows, 200)
    yield Measure("first touch of a row of 200,000, alone", touch[100], "us", 1_000, "less")
    fresh = min(seconds(lambda: [env.reset("bank") for _ in range(10_000)]) for _ in range(5))
    yield Measure("fresh episode", fresh * 100, "us", 2, "less", tau2=_us(tau2.get("fresh")))
    yield Measure("memory of an idle episode", bytes_an_episode(env, 0) / 1e3, "KB", 0.5, "less")
    yield Measure("memory of an episode with six changed rows", bytes_an_episode(env, 3) / 1e3, "KB", 5, "less")
    compared = comparison(env)
    yield Measure(
        "comparison of final states, six changed rows", compared, "us", 20, "less", tau2=_us(tau2.get("hash"))
    )
    yield Measure("two workers against one, step of 8,192", two_workers(package, 8 * STEP, 10), "times", 1.8)
    yield Measure("two workers against one, step of 1,024", two_workers(package, STEP, 40), "times", 1.8)


def _us(seconds: float | None) -> float | None:
    return None if seconds is None else 1e6 * seconds


def line(measure: Measure) -> str:
    number = f"{measure.value:,.0f}" if measure.value >= 1000 else f"{measure.value:.2f}"
    sign = ">=" if measure.better == "more" else "<="
    verdict = "met" if measure.met else "NOT MET"
    compared = "".join(f"{_times(measure, other):>11}" for other in (measure.by_hand, measure.bare, measure.tau2))
    return f"{measure.what:66}{number:>11} {measure.unit:8}{sign}{measure.goal:>8,.9g}  {verdict:7}{compared}"


def _times(measure: Measure, other: float | None) -> str:
    """How many times as good as `other`."""
    if other is None:
        return ""
    return f"{measure.value / other if measure.better == 'more' else other / measure.value:,.2f}"


def publish(found: list[Measure], page: Path) -> None:
    """Put the table into the page that shows it, between its two marks."""
    rows = [
        "| what | measured | goal | | by hand | bare | tau2-bench |",
        "| --- | ---: | ---: | --- | ---: | ---: | ---: |",
    ]
    for one in found:
        number = f"{one.value:,.0f}" if one.value >= 1000 else f"{one.value:.2f}"
        goal = f"{'at least' if one.better == 'more' else 'at most'} {one.goal:,.9g}"
        others = " | ".join(f"{_times(one, other)}x" if other else "" for other in (one.by_hand, one.bare, one.tau2))
        rows.append(f"| {one.what} | {number} {one.unit} | {goal} | {'met' if one.met else 'not met'} | {others} |")
    publish_between(rows, "table", page)


def publish_between(rows: list[str], name: str, page: Path) -> None:
    """Put lines into a page, between the mark of this name and the next `end`."""
    before, _, rest = page.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
    _, _, after = rest.partition("<!-- end -->")
    lines = "".join(f"{row}\n" for row in rows)
    page.write_text(f"{before}<!-- {name} -->\n{lines}<!-- end -->{after}", encoding="utf-8")


def draw(curves: dict[str, dict[int, float]], path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, (rows, crowd) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for name, points in curves.items():
        axes = crowd if name == "idle episodes" else rows
        axes.plot(list(points), list(points.values()), marker="o", label="write" if axes is crowd else name)
    for axes, label in ((rows, "rows of the world"), (crowd, "other episodes, each with two changed rows")):
        axes.set(xscale="log", ylim=(0, None), xlabel=label, ylabel="us a call, step of 1,024")
        axes.grid(visible=True, which="both", alpha=0.2)
        axes.legend()
    figure.savefig(path, dpi=120)


def main() -> None:
    quick = "--quick" in sys.argv
    rounds = 8 if quick else 60
    print(f"{'':86}{'goal':>10}{'':9}{'x by hand':>11}{'x bare':>11}{'x tau2':>11}")
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for measure in measures(Path(folder), rounds):
            found.append(measure)
            print(line(measure), flush=True)
        curves = growth(Path(folder), rounds, SIZES[:3] if quick else SIZES)
    print("\nmicroseconds a call, step of 1,024, by rows of the world (or number of other episodes)")
    for name, points in curves.items():
        print(f"{name:16}" + "".join(f"{size:>11,}: {value:6.2f}" for size, value in points.items()))
    if not quick:
        raw = {
            "python": platform.python_version(),
            "machine": platform.machine(),
            "measures": [{**asdict(one), "met": one.met} for one in found],
            "growth_us_a_call": curves,
        }
        (ROOT / "results.json").write_text(json.dumps(raw, indent=2) + "\n", encoding="utf-8")
        draw(curves, ROOT.parent / "docs" / "growth.png")
        publish(found, ROOT.parent / "docs" / "speed.md")


if __name__ == "__main__":
    main()
