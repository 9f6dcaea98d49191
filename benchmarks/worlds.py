"""What it takes to open a world of a million rows: in memory, and from a database that several processes share.

    .venv/bin/python benchmarks/worlds.py [ROWS]

Each way in a process of its own (Linux): seconds of processor time, and megabytes resident and at most, of which the
interpreter with the runtime takes the first line's. Then a search and a thousand lookups, the best of eight.
"""

from __future__ import annotations

import json
import pickle
import random
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from forgec_runtime import Column, Environment, Table, World
from forgec_runtime import types as t

ACCOUNTS: Table[Any] = Table(
    "accounts",
    columns=(
        Column("account_id", t.Text()),
        Column("owner", t.Text()),
        Column("balance", t.Integer()),
        Column("opened", t.Date()),
        Column("fee", t.Decimal(8, 2)),
    ),
    key=("account_id",),
)
QUERIES = {
    "search": ("select count(*) from accounts where owner = 'owner 7'", []),
    "lookups": (
        "select t.* from accounts as t join (select unnest($1) as k) as k on t.account_id = k.k",
        [[f"A{i * 97}" for i in range(1000)]],
    ),
}


def write(path: Path, rows: int) -> None:
    chance = random.Random(1)
    with path.open("w", encoding="utf-8") as file:
        for i in range(rows):
            day = f"20{chance.randrange(10, 25)}-0{chance.randrange(1, 10)}-1{chance.randrange(10)}"
            row = {"account_id": f"A{i}", "owner": f"owner {i // 3}", "balance": chance.randrange(10**6)}
            row |= {"opened": day, "fee": f"{chance.randrange(1000) / 100:.2f}"}
            file.write(("," if i else '{"accounts": [') + "\n" + json.dumps(row))
        file.write("]}\n")


def memory() -> str:
    status = Path("/proc/self/status").read_text()
    now, most = (int(status.partition(name)[2].split()[0]) / 1024 for name in ("VmRSS:", "VmHWM:"))
    return f"{now:8.0f}{most:8.0f}"


def measure(way: str, folder: Path) -> None:
    env = Environment(
        "bank", clock=datetime(2025, 1, 1), tables=(ACCOUNTS,), tools=(), worlds=(World("w", folder / "w.json"),)
    )
    kept = folder / "stored"
    start = time.process_time()
    if way == "store":
        kept.write_bytes(pickle.dumps(env.store("w", folder)))
    elif way == "shared":
        env.adopt(pickle.loads(kept.read_bytes()))
    elif way == "memory":
        env.base("w")
    print(f"{way:10}{time.process_time() - start:8.2f}{memory()}", end="")
    for name, (query, values) in QUERIES.items() if way in ("shared", "memory") else ():
        times = []
        for _ in range(8):
            start = time.process_time()
            env.base("w").connection.execute(query, values).fetchall()
            times.append(time.process_time() - start)
        print(f"  {name} {1e3 * min(times):.1f} ms", end="")
    print(memory() if way in ("shared", "memory") else "", flush=True)


def main() -> None:
    if len(sys.argv) > 2:
        measure(sys.argv[1], Path(sys.argv[2]))
        return
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder, "w.json"), int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
        for way in ("nothing", "memory", "store", "shared"):
            subprocess.run([sys.executable, __file__, way, folder], check=True)
        print(f"json {Path(folder, 'w.json').stat().st_size / 1e6:.0f} MB, ", end="")
        print(f"database {Path(folder, 'world.duckdb').stat().st_size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
