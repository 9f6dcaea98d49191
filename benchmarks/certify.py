"""How many tasks are certified in a second, and what it takes to hold them.

    make bench-certify        # or: .venv/bin/python -m benchmarks.certify [--tasks 10000]

Tasks are made by rows: of the library, four kinds for each member of its large world; of retail, the tasks of its
small world under other names. Time is that of all processors, the process that plays plans again included, so that
the figures are those of one core; making and compiling the tasks is left out.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from forgec.certifying.batches import certify_all
from forgec.commands.environments import compiled
from forgec.pipeline import check
from forgec_runtime import Environment, load_environment

ROOT = Path(__file__).parent.parent
Task = dict[str, Any]


@dataclass(frozen=True)
class Measured:
    """What certifying so many tasks took: seconds of all processors, and megabytes at a quarter and at the end."""

    what: str
    tasks: int
    certified: int
    mutants: int
    seconds: float
    quarter: float
    end: float

    def __str__(self) -> str:
        rate = self.tasks / self.seconds
        return (
            f"{self.what}: {self.tasks:,} tasks, {self.certified:,} certified, "
            f"{self.mutants / self.tasks:.1f} mutants each, {rate:.0f} a second; "
            f"{self.quarter:.0f} MB at a quarter, {self.end:.0f} MB at the end"
        )


def library_tasks() -> Iterator[Task]:
    """Tasks in the large world of the library: what is owed, a payment, a loan given back, another address."""
    env = load_environment(ROOT / "generated" / "library")
    state = env.reset("whole_town").state()
    lent = {row["loan_id"]: row for row in state["loans"] if row["status"] == "lent"}
    for number, member in enumerate(state["members"]):
        email = {"name": "email", "doc": "your e-mail address", "value": member["email"]}
        who = {"name": "who", "tool": "find_member", "arguments": {"email": {"$": "email"}}}
        have = {"name": "have", "tool": "list_loans", "arguments": {"member_id": {"$": "who.member_id"}}}
        own = [row for row in lent.values() if row["member_id"] == member["member_id"]]
        base = {"world": "whole_town", "facts": [email]}
        total = {"name": "total", "reason": {"sql": "(select coalesce(sum(late_fee), 0) from $have) + $who.fines"}}
        yield {
            **base,
            "name": f"owed_{number}",
            "intent": "You want to know what you would owe if you brought everything back today.",
            "plan": [who, have, total],
            "says": [{"doc": "what that is", "value": {"$": "total"}}],
        }
        new = {"name": "new_email", "doc": "your new address", "value": f"reader{number}@example.net"}
        yield {
            **base,
            "name": f"address_{number}",
            "intent": "You have a new e-mail address and want your account changed to it.",
            "facts": [email, new],
            "plan": [
                who,
                {
                    "name": "mail",
                    "tool": "change_email",
                    "arguments": {"member_id": {"$": "who.member_id"}, "email": {"$": "new_email"}},
                },
            ],
        }
        if own:
            first = {"name": "first", "reason": {"sql": "select loan_id from $have order by due, loan_id limit 1"}}
            back = {"name": "back", "tool": "return_book", "arguments": {"loan_id": {"$": "first"}}}
            yield {
                **base,
                "name": f"back_{number}",
                "intent": "You bring back the book that is due first, and want to hear what you owe then.",
                "plan": [who, have, first, back],
                "says": [{"doc": "what is owed", "value": {"$": "back.fines"}}],
            }
        if member["fines"] > 1:
            pay = {"member_id": {"$": "who.member_id"}, "amount": {"$": "half"}, "method": "cash"}
            yield {
                **base,
                "name": f"pay_{number}",
                "intent": "You pay 1.00 less than what you owe, in cash, and ask what is left.",
                "plan": [
                    who,
                    {"name": "half", "reason": {"sql": "$who.fines - 1.00"}},
                    {"name": "left", "tool": "pay_fines", "arguments": pay},
                ],
                "says": [{"doc": "what is left", "value": {"$": "left"}}],
            }


def copies(tasks: list[Task], count: int) -> Iterator[Task]:
    """So many tasks, under other names where there are fewer."""
    for number, task in enumerate(islice(cycle(tasks), count)):
        yield {**task, "name": f"{task['name']}_{number}"}


def shipped(name: str) -> list[Task]:
    """The tasks of a spec as lines."""
    from forgec.showing.bulk import line

    checked = check(ROOT / "specs" / f"{name}.afs")
    assert checked.spec is not None
    return [json.loads(line(task)) for task in checked.spec.tasks.values() if checked.spec.worlds[task.world].known]


def measured(what: str, name: str, tasks: list[Task], count: int) -> Measured:
    """Compile a spec with so many tasks and certify them."""
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / f"{name}.afs"
        shutil.copy(ROOT / "specs" / f"{name}.afs", spec)
        bulk = "".join(json.dumps(task) + "\n" for task in copies(tasks, count))
        (spec.parent / f"{name}.tasks.jsonl").write_text(bulk, encoding="utf-8")
        checked = check(spec)
        assert checked.spec is not None, [one.message for one in checked.report][:5]
        with compiled(checked.spec) as environment:
            del checked
            return _certified(what, environment, count)


def _certified(what: str, environment: Environment, count: int) -> Measured:
    names = list(environment.tasks)[-count:]
    before, done, certified, mutants, quarter = seconds(), 0, 0, 0, 0.0
    for batch in certify_all(environment, names):
        done += len(batch)
        certified += sum(verdict.certified for _, verdict in batch)
        mutants += sum(kills.made + kills.same for _, verdict in batch for kills in verdict.kills.values())
        if not quarter and done * 4 >= count:
            quarter = megabytes()
    return Measured(what, count, certified, mutants, seconds() - before, quarter, megabytes())


def seconds() -> float:
    """Of all processors, with those of processes that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def megabytes() -> float:
    """What this process holds."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=2_000, help="of the library")
    parser.add_argument("--retail", type=int, default=500, help="of retail")
    given = parser.parse_args()
    if given.tasks:
        print(measured("library, whole town", "library", list(library_tasks()), given.tasks), flush=True)
    if given.retail:
        print(measured("retail, corner shop", "retail", shipped("retail"), given.retail))


if __name__ == "__main__":
    main()
