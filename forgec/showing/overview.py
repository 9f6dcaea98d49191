"""The whole of a spec at a glance, as data."""

from __future__ import annotations

from typing import Any

from forgec.model import spec as m
from forgec.model.uses import edges, flat, layers
from forgec.showing.signatures import action_signature, column_type, function_signature, modifiers, tool_signature
from forgec_runtime.types import Record


def overview(spec: m.Spec) -> dict[str, Any]:
    """Tables, tools, functions, rules, invariants, worlds, tests and tasks, each in a few words."""
    return {
        "environment": spec.name,
        "doc": flat(spec.doc),
        "spec": spec.source.name,
        "sources": [source.name for source in spec.sources],
        "clock": spec.clock.isoformat(sep=" "),
        "enums": [{"name": enum.name, "values": list(enum.values)} for enum in spec.enums.values()],
        "records": [{"name": r.name, "fields": fields_data(r)} for r in spec.records.values()],
        "domains": [domain_line(domain) for domain in spec.domains.values()],
        "tables": [
            {
                "name": table.title,
                "nested": table.kind,
                "single": table.single,
                "side": table.side,
                "doc": flat(table.doc),
                "columns": [column_data(column) for column in table.columns],
            }
            for table in spec.tables.values()
        ],
        "views": [
            {"name": view.name, "doc": flat(view.doc), "columns": list(view.columns)} for view in spec.views.values()
        ],
        "functions": [
            {"name": function.name, "signature": function_signature(function, spec), "doc": flat(function.doc)}
            for function in spec.functions.values()
        ],
        "actions": [
            {"name": action.name, "signature": action_signature(action), "doc": flat(action.doc)}
            for action in spec.actions.values()
        ],
        "tools": [
            {
                "name": tool.name,
                "side": tool.side,
                "signature": tool_signature(tool, spec),
                "doc": flat(tool.doc),
            }
            for tool in spec.tools.values()
        ],
        "syncs": [{"name": sync.name, "doc": flat(sync.doc)} for sync in spec.syncs.values()],
        "rules": [
            {"name": rule.name, "verdict": rule.verdict, "tools": list(rule.sqls), "doc": flat(rule.doc)}
            for rule in spec.rules
        ],
        "invariants": [{"name": one.name, "doc": flat(one.doc)} for one in spec.invariants],
        "worlds": [
            {
                "name": world.name,
                "doc": flat(world.doc),
                "rows": row_counts(world, spec),
                **outside_data(world),
            }
            for world in spec.worlds.values()
        ],
        "tests": [{"title": test.name, "world": test.world, "steps": len(test.steps)} for test in spec.tests],
        "tasks": [
            {"name": task.name, "world": task.world, "doc": flat(task.doc), "plan": plan_line(task.plans[0])}
            for task in spec.tasks.values()
        ],
    }


def domain_line(domain: m.Domain) -> dict[str, str]:
    """A domain type: what it is made of, and what its values satisfy."""
    check = flat(domain.check.span.text) if domain.check is not None else ""
    type_ = domain.cell.domain or str(domain.cell.type)
    return {"name": domain.name, "type": type_, "check": check, "doc": flat(domain.doc)}


def row_counts(world: m.World, spec: m.Spec) -> dict[str, int]:
    """How many rows a world has, by table."""
    return {spec.tables[name].title: len(rows) for name, rows in world.rows.items()}


def outside_data(world: m.World) -> dict[str, list[str]]:
    """What rows of a world lie outside, and those of which nobody allowed to read them."""
    if not world.outside:
        return {}
    files = dict.fromkeys(f"{found.file.table}: {found.file.label}" for found in world.outside)
    return {"outside": list(files), "unread": world.unread}


def column_data(column: m.Column) -> dict[str, Any]:
    """One column of a table."""
    return {
        "name": column.name,
        "type": column_type(column),
        "modifiers": modifiers(column),
        "key": column.key,
        "references": column.references,
        "doc": flat(column.doc),
    }


def plan_line(plan: m.Plan) -> str:
    """A plan in one line: its steps in order, nodes that need not wait for each other side by side.

    Nodes in parentheses are worked out and call nothing.
    """
    reasons = {node.name for node in plan.nodes if isinstance(node, m.ReasonNode)}
    shown = [[f"({name})" if name in reasons else name for name in layer] for layer in layers(edges(plan))]
    return " -> ".join(" + ".join(layer) for layer in shown)


def fields_data(record: Record) -> list[dict[str, str]]:
    """The fields of a record."""
    return [{"name": f.name, "type": f"{f.type}{'?' if f.optional else ''}", "doc": flat(f.doc)} for f in record.fields]
