"""All about one table, function, rule, invariant, type, world or task, as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from forgec.codegen.values import to_json
from forgec.model import spec as m
from forgec.model.features import features
from forgec.model.uses import (
    edges,
    flat,
    functions_in,
    needs,
    reads_of,
    sqls_in,
    sqls_of,
    tables_in,
    titles_of,
    values_of_node,
    views_in,
    writes_of,
)
from forgec.showing.overview import column_data, domain_line, fields_data, outside_data, plan_line, row_counts
from forgec.showing.signatures import cell_text, function_signature
from forgec.sql.query import Sql
from forgec.sql.scope import Rows
from forgec_runtime.types import Enum, Record, Type


def table_data(table: m.Table, spec: m.Spec) -> dict[str, Any]:
    """A table: its columns, who refers to it, who reads and who writes it."""
    reads = {tool.name: reads_of(tool, spec).get(table.name) for tool in spec.tools.values()}
    return {
        "kind": "table",
        "name": table.title,
        "nested": table.kind,
        "single": table.single,
        "side": table.side,
        "doc": flat(table.doc),
        "columns": [column_data(column) for column in table.columns],
        "ties": [tie_line(tie) for tie in table.ties],
        "referenced_by": {
            "columns": [
                *(
                    f"{other.title}.{column.name}"
                    for other in spec.tables.values()
                    for column in other.columns
                    if column.references == table.name
                ),
                *(
                    f"{other.title}.({', '.join(tie.columns)})"
                    for other in spec.tables.values()
                    for tie in other.ties
                    if tie.table == table.name
                ),
            ],
            "parameters": [
                f"{tool.name}({parameter.name})"
                for tool in spec.tools.values()
                for parameter in tool.parameters
                if parameter.references == table.name
            ],
        },
        "read_by": [{"tool": name, "through": through} for name, through in reads.items() if through is not None],
        "written_by": [
            {"tool": tool.name, "how": one.how, "columns": list(one.columns)}
            for tool in spec.tools.values()
            for one in writes_of(tool)
            if one.table == table.name
        ],
        "functions": [f.name for f in spec.functions.values() if table.name in tables_in(f.sql, spec.tables)],
        "invariants": [one.name for one in spec.invariants if table.name in one.sql.reads],
        "rows": {world.name: len(world.rows[table.name]) for world in spec.worlds.values()},
    }


def tie_line(tie: m.Tie) -> str:
    """`(line, place) -> seats`."""
    return f"({', '.join(tie.columns)}) -> {tie.table}"


def view_data(view: m.View, spec: m.Spec) -> dict[str, Any]:
    """A view: its columns, what it selects, and where it is used."""
    assert isinstance(view.sql.shape, Rows)

    def used(sqls: list[Sql]) -> bool:
        return any(view.name in views_in(sql) for sql in sqls)

    return {
        "kind": "view",
        "name": view.name,
        "doc": flat(view.doc),
        "columns": [{"name": name, "type": cell_text(cell, spec)} for name, cell in view.sql.shape.columns.items()],
        "sql": flat(view.sql.span.text),
        "reads": titles_of(view.sql.reads, spec),
        "used_by": {
            "tools": [tool.name for tool in spec.tools.values() if used(sqls_of(tool, spec.rules))],
            "views": [other.name for other in spec.views.values() if used([other.sql])],
            "functions": [one.name for one in spec.functions.values() if used([one.sql])],
            "invariants": [one.name for one in spec.invariants if used([one.sql])],
        },
    }


def function_data(function: m.Function, spec: m.Spec) -> dict[str, Any]:
    """A function: what it computes, and where it is used."""

    def used(sqls: list[Sql]) -> bool:
        return any(function.name in functions_in(sql, spec.functions) for sql in sqls)

    return {
        "kind": "function",
        "name": function.name,
        "signature": function_signature(function, spec),
        "doc": flat(function.doc),
        "sql": flat(function.sql.span.text),
        "reads": titles_of(function.sql.reads, spec),
        "used_by": {
            "tools": [tool.name for tool in spec.tools.values() if used(sqls_of(tool, spec.rules))],
            "functions": [other.name for other in spec.functions.values() if used([other.sql])],
            "invariants": [one.name for one in spec.invariants if used([one.sql])],
        },
    }


def sync_data(sync: m.Tool, spec: m.Spec) -> dict[str, Any]:
    """A sync: what it looks at, and what it writes."""
    reads = [{"table": table, "through": through} for table, through in reads_of(sync, spec).items()]
    writes = [{"table": w.table, "how": w.how, "columns": list(w.columns)} for w in writes_of(sync)]
    return {"kind": "sync", "name": sync.name, "doc": flat(sync.doc), "reads": reads, "writes": writes}


def rule_data(rule: m.Rule) -> dict[str, Any]:
    """A rule and the tools that it is about."""
    texts = dict.fromkeys(flat(sql.span.text) for sql in rule.sqls.values())
    return {
        "kind": "rule", "name": rule.name, "verdict": rule.verdict, "doc": flat(rule.doc), "sql": " / ".join(texts),
        "tools": list(rule.sqls),
    }  # fmt: skip


def invariant_data(invariant: m.Invariant, spec: m.Spec) -> dict[str, Any]:
    """An invariant and the tables that it looks at."""
    return {
        "kind": "invariant", "name": invariant.name, "doc": flat(invariant.doc), "sql": flat(invariant.sql.span.text),
        "reads": titles_of(invariant.sql.reads, spec),
    }  # fmt: skip


def type_data(type_: Enum | Record, spec: m.Spec) -> dict[str, Any]:
    """An enum or record, and the columns and parameters of that type."""
    data: dict[str, Any] = {"kind": "enum", "name": type_.name, "doc": flat(type_.doc)}
    if isinstance(type_, Enum):
        data["values"] = list(type_.values)
    else:
        data["kind"] = "record"
        data["fields"] = fields_data(type_)
    return {**data, "used_by": list(_users(type_, spec))}


def domain_data(domain: m.Domain, spec: m.Spec) -> dict[str, Any]:
    """A domain type, and the columns and parameters that are declared to be of it."""
    columns = [
        f"{table.title}.{column.name}"
        for table in spec.tables.values()
        for column in table.columns
        if column.domain == domain.name
    ]
    parameters = [
        f"{tool.name}({parameter.name})"
        for tool in spec.tools.values()
        for parameter in tool.parameters
        if parameter.domain == domain.name
    ]
    return {"kind": "type", **domain_line(domain), "used_by": [*columns, *parameters]}


def _users(type_: Type, spec: m.Spec) -> Iterator[str]:
    for table in spec.tables.values():
        yield from (f"{table.title}.{column.name}" for column in table.columns if column.type == type_)
    for tool in spec.tools.values():
        yield from (f"{tool.name}({parameter.name})" for parameter in tool.parameters if parameter.type == type_)


FIRST = 4
"""Rows of a table of a world that are shown."""


def world_data(world: m.World, spec: m.Spec) -> dict[str, Any]:
    """A world: how many rows it has, the first of each table, and what is played in it."""
    return {
        "kind": "world",
        "name": world.name,
        "doc": flat(world.doc),
        **({"extends": world.base} if world.base is not None else {}),
        "rows": row_counts(world, spec),
        **outside_data(world),
        "first": {spec.tables[name].title: to_json(list(rows[:FIRST])) for name, rows in world.rows.items() if rows},
        "tests": [test.name for test in spec.tests if test.world == world.name],
        "tasks": [task.name for task in spec.tasks.values() if task.world == world.name],
    }


def task_data(task: m.Task, spec: m.Spec) -> dict[str, Any]:
    """A task: how it begins, what is asked for, how it is done, and what is expected of the end."""
    return {
        "kind": "task",
        "name": task.name,
        "world": task.world,
        "doc": flat(task.doc),
        "tags": list(task.tags),
        "intent": task.intent.text if task.intent is not None else "",
        "requests": [
            {
                "name": one.name,
                "text": one.text.text,
                "after": list(one.after),
                "when": flat(one.when.text) if one.when is not None else "",
            }
            for one in task.requests
        ],
        "samples": [{"name": one.name, "doc": flat(one.doc), "sql": flat(one.sql.text)} for one in task.samples],
        "facts": [_fact(fact) for fact in task.facts],
        "change": [flat(sql.text) for sql in task.change],
        "plans": [
            {
                "name": plan.name,
                "doc": flat(plan.doc),
                "line": plan_line(plan),
                "nodes": [_node(node, task, edges(plan)[node.name]) for node in plan.nodes],
            }
            for plan in task.plans
        ],
        "expect": [flat(part.sql.text) for part in task.expect],
        "never": [flat(part.text) for part in task.never],
        "says": [{"doc": flat(part.doc), "sql": flat(part.value.text)} for part in task.says],
        "features": features(spec, task),
    }


def _fact(fact: m.Fact) -> dict[str, Any]:
    value = to_json(fact.value.value) if isinstance(fact.value, m.Constant) else flat(fact.value.text)
    return {"name": fact.name, "doc": flat(fact.doc), "type": str(fact.cell.type), "value": value}


def _node(node: m.CallNode | m.ReasonNode, task: m.Task, before: list[str]) -> dict[str, Any]:
    wanted = needs(sqls_in(values_of_node(node)))
    if isinstance(node, m.ReasonNode):
        kind, text, doc = "reason", flat(node.value.text), flat(node.doc)
    else:
        arguments = ", ".join(f"{name}: {flat(value.text)}" for name, value in node.arguments.items())
        kind, text, doc = "call", f"{node.tool}({arguments})", ""
    known = [*(sample.name for sample in task.samples), *(fact.name for fact in task.facts)]
    return {
        "name": node.name,
        "kind": kind,
        "text": text,
        "doc": doc,
        "when": flat(node.when.text) if node.when is not None else "",
        "needs": before,
        "facts": [name for name in known if name in wanted],
    }
