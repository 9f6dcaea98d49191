"""What identifies an environment, its grading, its worlds and its tasks: hashes of what they mean.

Layout, comments, the files that a spec lies in, and the order of declarations where it says nothing change none of
them. The order of tables, tools, syncs, rules and invariants says something: it is that of the tools and rules that an
agent is told, and of what is looked at first when a call breaks several things.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

from forgec.codegen.canonical import canonical
from forgec.codegen.tasks import task_data
from forgec.codegen.values import to_json
from forgec.model import spec as m
from forgec.plans.tasks import TaskPlan
from forgec_runtime import REWARD_VERSION


def digest_of(data: Any) -> str:
    """The hash of data that JSON can hold; the order of keys does not count."""
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def environment_hash(spec: m.Spec) -> str:
    """What an agent sees, and what its calls do: all but worlds, tests, tasks, and what only the grader looks at."""
    any_order = (spec.enums, spec.records, spec.domains, spec.views, spec.functions, spec.actions)
    in_order = (spec.tools, spec.syncs)
    return digest_of(
        [
            [spec.name, spec.doc, spec.policy, spec.clock.isoformat()],
            [{name: canonical(one) for name, one in declared.items()} for declared in any_order],
            [[canonical(one) for one in declared.values()] for declared in in_order],
            [canonical(_ungraded(table)) for table in spec.tables.values()],
            canonical(spec.invariants),
            [_told(rule) for rule in spec.rules],
        ]
    )


def grading_hash(spec: m.Spec) -> str:
    """What decides whether an episode is paid: which states are the same, audited rules, and how rewards are made."""
    audited = {rule.name: canonical(rule.sqls) for rule in spec.rules if rule.verdict == "audited"}
    return digest_of([REWARD_VERSION, {table.name: _compared(table) for table in spec.tables.values()}, audited])


def world_hash(world: m.World) -> str:
    """The rows of a world, in whichever order they are written; of those that lie outside, where that is."""
    own = {name: held[: len(held) - world.read.get(name, 0)] for name, held in world.rows.items()}
    rows = {name: sorted(json.dumps(to_json(row), sort_keys=True) for row in held) for name, held in own.items()}
    return digest_of([rows, [canonical(outside.file) for outside in world.outside]])


def task_hash(plan: TaskPlan, world: str) -> str:
    """A task, and the hash of its world."""
    task = task_data(plan)
    del task["features"]  # which follow from the rest
    for part in (*task["expect"], *task.get("never", ())):
        del part["text"]  # how it is written
    return digest_of([task, world])


def hashes_of(spec: m.Spec, tasks: tuple[TaskPlan, ...]) -> dict[str, Any]:
    """All hashes of a spec."""
    worlds = {name: world_hash(world) for name, world in spec.worlds.items()}
    return {
        "environment": environment_hash(spec),
        "grading": grading_hash(spec),
        "worlds": worlds,
        "tasks": {plan.task.name: task_hash(plan, worlds[plan.task.world]) for plan in tasks},
    }


def _ungraded(table: m.Table) -> m.Table:
    """A table without what only the grader looks at."""
    columns = tuple(replace(column, scored=True, ordered=True) for column in table.columns)
    return replace(table, columns=columns)


def _told(rule: m.Rule) -> Any:
    """A rule as the agent meets it: the condition of one that is only audited is the grader's."""
    sqls = canonical(rule.sqls) if rule.verdict == "enforced" else list(rule.sqls)
    return [rule.verdict, rule.doc, sqls]


def _compared(table: m.Table) -> Any:
    """What decides whether two states of a table are the same."""
    columns = {
        column.name: [column.key, column.made, column.scored, column.ordered, column.references]
        for column in table.columns
    }
    return [table.parent, table.kind, columns, [[tie.columns, tie.table] for tie in table.ties]]
