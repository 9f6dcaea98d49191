"""How long it takes to check and to compile: by lines of a spec, and by number of specs.

    .venv/bin/python -m benchmarks.compile [SPECS]

Each run is a `forgec` of its own, start included, with nothing remembered of specs unless it says otherwise; forgec is
installed, that is, its bytecode and its parser are at hand. One spec: seconds of processor time, the best of three
runs; many: seconds, one run. Nothing else should run.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FORGEC = (sys.executable, "-m", "forgec")
LINES = (100, 300, 1_000, 2_000)
SPECS = 200

HEAD = """environment {name} "A shop" {{
  clock timestamp '2025-03-01 09:00:00';
}}

enum Kind {{ desk, floor, wall }}
"""
PART = """
table lamps{i} "What is sold" {{
  lamp_id  text           key serial 'L{{000}}',
  kind     Kind           default 'desk',
  price    decimal(8, 2)  check (price >= 0),
  sold_on  date?,
}}

tool find_lamps{i}(kind Kind "What it stands on", most decimal(8, 2)) returns lamps{i}[] "Find lamps by price." {{
  return select * from lamps{i} where kind = $kind and price <= $most order by price, lamp_id;
}}

tool sell_lamp{i}(lamp_id -> lamps{i} as l, discount integer "In percent") returns lamps{i} "Sell a lamp." {{
  require $l.sold_on is null else "{{$lamp_id}} was sold on {{$l.sold_on}}";
  require $discount between 0 and 30 else "at most 30 percent";

  update lamps{i} set sold_on = today(), price = round(price * (100 - $discount) / 100, 2) where lamp_id = $lamp_id;
  return lamps{i}[$lamp_id];
}}

test "a lamp is sold once {i}" on monday {{
  sell_lamp{i}(lamp_id: 'L001', discount: 10);
  sell_lamp{i}(lamp_id: 'L003', discount: 10) fails "L003 was sold on 2025-02-01";
  expect lamps{i}['L001'].price = 9.00;
}}

task buy{i} on monday {{
  intent "You want the cheapest lamp for a desk.";
  fact most "what you can spend" = 50.00;
  plan {{
    found = find_lamps{i}(kind: 'desk', most: $most);
    reason cheapest = select lamp_id from $found order by price, lamp_id limit 1;
    sold = sell_lamp{i}(lamp_id: $cheapest, discount: 0);
  }}
}}
"""

ROWS = """
  lamps{i} (lamp_id, kind, price, sold_on) values
    ('L001', 'desk', 10.00, null),
    ('L002', 'desk', 20.00, null),
    ('L003', 'wall', 30.00, '2025-02-01');
"""


def spec_text(name: str, lines: int) -> str:
    """A spec of at least so many lines."""
    parts = range(max(1, round(lines / (PART + ROWS).count("\n"))))
    rows = "".join(ROWS.format(i=i) for i in parts)
    return HEAD.format(name=name) + "".join(PART.format(i=i) for i in parts) + f"\nworld monday {{{rows}}}\n"


def timed(folder: Path, *arguments: str) -> float:
    """The seconds that a command takes: of processor time for one process, else of a clock on the wall."""
    start = time.perf_counter() if "many" in folder.name else _processor()
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env = {**kept, "FORGEC_CACHE": str(folder / "cache")}
    subprocess.run([*FORGEC, *arguments], cwd=folder, env=env, check=True, capture_output=True)
    return (time.perf_counter() if "many" in folder.name else _processor()) - start


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def by_lines(folder: Path) -> None:
    print("| lines of a spec | check | compile | nothing changed |\n| ---: | ---: | ---: | ---: |")
    for lines in LINES:
        path = folder / f"shop{lines}.afs"
        path.write_text(spec_text(f"shop{lines}", lines), encoding="utf-8")
        check = min(timed(folder, "check", path.name) for _ in range(3))
        cold = min(timed(folder, "compile", path.name, "--force", "--out", f"out{i}") for i in range(3))
        timed(folder, "compile", path.name, "--out", "out0")
        again = min(timed(folder, "compile", path.name, "--out", "out0") for _ in range(2))
        print(f"| {lines:,} | {check:.2f} s | {cold:.2f} s | {again:.2f} s |", flush=True)


def by_specs(folder: Path, most: int) -> None:
    print("\n| specs of 50 lines | compile | nothing changed | one changed |\n| ---: | ---: | ---: | ---: |")
    for count in dict.fromkeys((max(most // 8, 1), most)):
        many = folder / f"many{count}"
        many.mkdir()
        names = [f"shop{i}.afs" for i in range(count)]
        for name in names:
            (many / name).write_text(spec_text(name.removesuffix(".afs"), 50), encoding="utf-8")
        cold, again = timed(many, "compile", *names), timed(many, "compile", *names)
        with (many / names[0]).open("a", encoding="utf-8") as file:
            file.write("\n-- changed\n")
        changed = timed(many, "compile", *names)
        print(f"| {count:,} | {cold:.1f} s | {again:.2f} s | {changed:.2f} s |", flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        by_lines(Path(folder))
        by_specs(Path(folder), int(sys.argv[1]) if len(sys.argv) > 1 else SPECS)


if __name__ == "__main__":
    main()
