"""Calls a second at steps of 1, 64 and 1,024, beside the same tool written by hand over dictionaries.

    .venv/bin/python benchmarks/steps.py

One process, one core. Medians over repetitions; every step is of fresh or reused episodes as a rollout would have
them, arguments decoded and results encoded as JSON. The last column is the time of the hand-written tool divided by
ours, measured in the same run: noise of the machine hits both.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from forgec.codegen.manifest import build_manifest, compare, write
from forgec.pipeline import check, generate_package
from forgec_runtime import Environment, load_environment

SIZES = (1, 64, 1024)
ACCOUNTS = 1000


def compiled(folder: Path) -> Environment:
    """The environment of `desk.afs`, its world grown to a thousand accounts."""
    spec = check(Path(__file__).with_name("desk.afs")).spec
    assert spec is not None
    files = generate_package(spec)
    rows = [{"account_id": f"A{i}", "owner": f"owner {i // 3}", "balance": 1_000_000} for i in range(ACCOUNTS)]
    files["worlds/bank.json"] = orjson.dumps({"accounts": rows}).decode()
    target = folder / spec.name
    manifest = build_manifest(spec, files)
    write(target, files, manifest, compare(target, files, manifest))
    return load_environment(target)


def per_call(size: int, make: Callable[[], Callable[[], object]]) -> float:
    """Seconds a call: the median over enough repetitions to be stable, after two to warm up."""
    times = []
    for _ in range(max(12, 2000 // size) if size < 1024 else 25):
        run = make()
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) / size)
    return statistics.median(times[2:])


def by_hand(size: int, tool: str) -> Callable[[], Callable[[], object]]:
    """The same tools as a person would write them for one mutable dictionary an episode."""
    base = {f"A{i}": {"account_id": f"A{i}", "owner": f"owner {i // 3}", "balance": 1_000_000} for i in range(ACCOUNTS)}

    def get_account(rows: dict[str, dict[str, Any]], account_id: str) -> bytes:
        row = rows.get(account_id)
        return orjson.dumps(row) if row is not None else b"Unknown account"

    def transfer(rows: dict[str, dict[str, Any]], source: str, target: str, amount: int) -> bytes:
        a, b = rows.get(source), rows.get(target)
        if a is None or b is None:
            return b"Unknown account"
        if amount <= 0 or a["balance"] < amount:
            return b"Refused"
        rows[source] = {**a, "balance": a["balance"] - amount}
        rows[target] = {**b, "balance": b["balance"] + amount}
        return orjson.dumps(rows[source])

    def find_accounts(rows: dict[str, dict[str, Any]], owner: str) -> bytes:
        found = [row for row in rows.values() if row["owner"] == owner]
        return orjson.dumps(sorted(found, key=lambda row: str(row["account_id"])))

    functions: dict[str, Callable[..., bytes]] = {
        "get_account": get_account, "transfer": transfer, "find_accounts": find_accounts,
    }  # fmt: skip
    function = functions[tool]

    def make() -> Callable[[], object]:
        calls = [arguments(tool, i) for i in range(size)]
        return lambda: [function(base, **call) for call in calls]

    return make


def arguments(tool: str, i: int) -> dict[str, Any]:
    if tool == "get_account":
        return {"account_id": f"A{i % ACCOUNTS}"}
    if tool == "transfer":
        return {"source": f"A{i % ACCOUNTS}", "target": f"A{(i + 7) % ACCOUNTS}", "amount": 3}
    return {"owner": f"owner {i % (ACCOUNTS // 3)}"}


def stepped(env: Environment, size: int, tool: str, touched: bool) -> Callable[[], Callable[[], object]]:
    """Steps over fresh episodes, or over episodes that have changed rows of their own (`touched`)."""

    def make() -> Callable[[], object]:
        episodes = [env.reset("bank") for _ in range(size)]
        if touched:
            env.step([(episode, "transfer", arguments("transfer", i)) for i, episode in enumerate(episodes)])
        calls = [(episode, tool, arguments(tool, i)) for i, episode in enumerate(episodes)]
        return lambda: env.step(calls)

    return make


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        env = compiled(Path(folder))
        print(f"{'tool':34}{'step':>6}{'us a call':>11}{'calls a second':>16}{'by hand, us':>13}{'ratio':>7}")
        for tool, touched in (
            ("get_account", False), ("transfer", False), ("transfer", True), ("find_accounts", False),
            ("find_accounts", True),
        ):  # fmt: skip
            for size in SIZES:
                ours = per_call(size, stepped(env, size, tool, touched))
                hand = per_call(size, by_hand(size, tool))
                name = f"{tool}{', changed rows of its own' if touched else ''}"
                print(f"{name:34}{size:6}{ours * 1e6:11.2f}{1 / ours:16,.0f}{hand * 1e6:13.2f}{hand / ours:7.2f}")
        start = time.perf_counter()
        episodes = [env.reset("bank") for _ in range(100_000)]
        print(f"fresh episode: {(time.perf_counter() - start) / len(episodes) * 1e6:.2f} us")


if __name__ == "__main__":
    main()
