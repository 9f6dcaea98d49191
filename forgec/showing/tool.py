"""All about one tool, as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from forgec.codegen.package import generate_tool
from forgec.model import spec as m
from forgec.model import walk
from forgec.model.uses import flat, functions_in, keys_in, reads_of, sqls_of, titles_of, writes_of, written_data
from forgec.plans.function import FunctionPlan
from forgec.plans.package import PackagePlan, check_text
from forgec.showing.signatures import action_signature, cell_text, parameter_text, tool_signature
from forgec.sql.scope import Cell


def action_data(action: m.Action, spec: m.Spec) -> dict[str, Any]:
    """What an action does, and what does it."""
    return {
        "kind": "action",
        "name": action.name,
        "signature": action_signature(action),
        "doc": flat(action.doc),
        "guards": [*_references(action, spec), *_body(action.body, (), spec)],
        "reads": [{"table": spec.tables[t].title, "through": by} for t, by in reads_of(action, spec).items()],
        "writes": [written_data(one, spec) for one in writes_of(action)],
        "done_by": {
            "tools": [tool.name for tool in spec.tools.values() if action in walk.actions_of(tool)],
            "actions": [other.name for other in spec.actions.values() if action in walk.actions_of(other)],
        },
    }


def tool_data(tool: m.Tool, plan: PackagePlan) -> dict[str, Any]:
    """What an agent meets that calls the tool, and what the compiler makes of it."""
    spec = plan.spec
    reads, writes = reads_of(tool, spec), writes_of(tool)
    return {
        "kind": "tool",
        "name": tool.name,
        "side": tool.side,
        "signature": tool_signature(tool, spec),
        "doc": flat(tool.doc),
        "parameters": [
            {"name": p.name, "type": parameter_text(p).removeprefix(f"{p.name} "), "doc": flat(p.doc)}
            for p in tool.parameters
        ],
        "result": _result(tool, spec),
        "guards": [*_checks(tool), *_references(tool, spec), *_rules(tool, spec), *_body(tool.body, (), spec)],
        "held": _held(tool, spec),
        "reads": [{"table": spec.tables[table].title, "through": through} for table, through in reads.items()],
        "writes": [written_data(one, spec) for one in writes],
        "indexes": _indexes(tool, plan),
        "queries": _queries(tool, plan),
        "fed_by": _fed_by(tool, spec),
        "feeds": _feeds(tool, spec),
        "python": generate_tool(plan, Path(spec.source.name).name, tool.name),
    }


def _result(tool: m.Tool, spec: m.Spec) -> list[dict[str, Any]]:
    """The fields of a result that is declared in place; of results of several kinds, all that one of them has."""
    if tool.returns is None or isinstance(tool.returns.shape, Cell) or tool.returns.shape.table is not None:
        return []
    docs, cells = tool.returns.docs, tool.returns.shape.columns
    return [
        {"name": name, "type": cell_text(cell, spec), "doc": flat(docs.get(name, ""))} for name, cell in cells.items()
    ]


# -- guards -------------------------------------------------------------------------------------------------------


def _checks(tool: m.Tool) -> Iterator[dict[str, Any]]:
    for parameter in tool.parameters:
        for check in parameter.checks:
            yield _guard("check", check.whole_text.replace(" must satisfy ", ": ", 1), check.whole_text)


def _references(routine: m.Routine, spec: m.Spec, inside: tuple[str, ...] = ()) -> Iterator[dict[str, Any]]:
    for parameter in routine.parameters:
        if parameter.references is not None:
            condition = f"{parameter.name} is the key of a row of {parameter.references}"
            condition += ", or null" if parameter.optional else ""
            text = f"{{${parameter.name}}}".join(
                spec.tables[parameter.references].missing or (f"Unknown {parameter.name}: ", "")
            )
            yield _guard("reference", condition, text, inside)


def _rules(tool: m.Tool, spec: m.Spec) -> Iterator[dict[str, Any]]:
    for rule in spec.rules:
        sql = rule.sqls.get(tool.name)
        if sql is not None:
            yield _guard(rule.verdict, flat(sql.span.text), flat(rule.doc), rule=rule.name)


def _body(body: Iterable[m.Statement], inside: tuple[str, ...], spec: m.Spec) -> Iterator[dict[str, Any]]:
    """The guards of a body; `inside` are the conditions, loops and actions around them, from the outermost on."""
    for statement in body:
        if isinstance(statement, m.Require):
            yield _guard("require", flat(statement.sql.span.text), _message(statement.message), inside)
        elif isinstance(statement, m.Let) and statement.message is not None:
            condition = f"{statement.name} is found: {flat(statement.sql.span.text)}"
            yield _guard("let", condition, _message(statement.message), inside)
        elif isinstance(statement, m.Return) and statement.message is not None:
            yield _guard("return", f"found: {flat(statement.sql.span.text)}", _message(statement.message), inside)
        elif isinstance(statement, m.Fail):
            yield _guard("fail", "", _message(statement.message), inside)
        elif isinstance(statement, m.If):
            yield from _branches(statement, inside, spec)
        elif isinstance(statement, m.Do):
            done = (*inside, f"do {statement.action.name}")
            yield from (*_references(statement.action, spec, done), *_body(statement.action.body, done, spec))
        elif isinstance(statement, m.Each):
            yield from _body(
                statement.body, (*inside, f"each {statement.name} in {flat(statement.sql.span.text)}"), spec
            )


def _branches(statement: m.If, inside: tuple[str, ...], spec: m.Spec) -> Iterator[dict[str, Any]]:
    for branch in statement.branches:
        condition = "otherwise" if branch.condition is None else flat(branch.condition.span.text)
        yield from _body(branch.body, (*inside, condition), spec)


def _guard(
    kind: str, condition: str, text: str, inside: tuple[str, ...] = (), rule: str | None = None
) -> dict[str, Any]:
    return {"kind": kind, "rule": rule, "if": list(inside), "condition": condition, "text": text}


def _message(message: m.Message) -> str:
    """A message as the spec has it, its holes with what stands in them."""
    parts = []
    for part in message.parts:
        if isinstance(part, str):
            parts.append(part)
        else:
            parts.append("{" + flat(part.sql.span.text) + (f":{part.format}" if part.format else "") + "}")
    return "".join(parts)


def _held(tool: m.Tool, spec: m.Spec) -> list[dict[str, str]]:
    """What must hold of the tables that the tool changes when it is done."""
    written = {one.table: one for one in writes_of(tool)}
    found: list[dict[str, str]] = []
    for table in spec.tables.values():
        if table.name not in written:
            continue
        found += [
            {"kind": "check", "text": check_text(table, check)} for column in table.columns for check in column.checks
        ]
        text = f"{table.title}: {{column}} {{value}} is already taken"
        found += [
            {"kind": "unique", "text": text.format(column=c.name, value="...")} for c in table.columns if c.unique
        ]
    for invariant in spec.invariants:
        if invariant.sql.reads & set(written):
            found.append({"kind": "invariant", "text": flat(invariant.doc) or invariant.name})
    return found


# -- queries and neighbours ---------------------------------------------------------------------------------------


def _planned(tool: m.Tool, plan: PackagePlan) -> list[tuple[str | None, FunctionPlan]]:
    """The functions of a tool: its own, and those of the actions and functions that it uses, by name."""
    spec = plan.spec
    called = {name for sql in sqls_of(tool, spec.rules) for name in functions_in(sql, spec.functions)}
    functions = zip(spec.functions, plan.functions, strict=True)
    actions = [one for one in zip(spec.actions.values(), plan.actions, strict=True) if one[0] in walk.actions_of(tool)]
    return [
        (None, plan.tools[tool.name]),
        *((action.name, function) for action, function in actions),
        *((name, function) for name, function in functions if name in called),
    ]


def _indexes(tool: m.Tool, plan: PackagePlan) -> list[dict[str, Any]]:
    """The columns, or expressions over a row, by whose values the tool finds rows without a query."""
    used = [
        (index.table, index.of if isinstance(index.of, str) else ", ".join(index.of), name)
        for name, function in _planned(tool, plan)
        for index in function.indexes
    ]
    tables = plan.spec.tables
    return [{"table": tables[table].title, "by": by, "function": name} for table, by, name in dict.fromkeys(used)]


def _queries(tool: m.Tool, plan: PackagePlan) -> list[dict[str, Any]]:
    """The queries of the tool and of the functions that it calls."""
    return [
        {"name": query.name, "function": name, "why": query.why, "tables": titles_of(query.tables, plan.spec)}
        for name, function in _planned(tool, plan)
        for query in function.queries
    ]


def _fed_by(tool: m.Tool, spec: m.Spec) -> list[dict[str, Any]]:
    """For each parameter that takes a key, the results of other tools that hold such keys."""
    found = []
    for parameter in tool.parameters:
        if parameter.references is None:
            continue
        sources = [
            f"{other.name}.{name}" if name else other.name
            for other in spec.tools.values()
            if other is not tool and other.returns is not None
            for name, table in keys_in(other.returns.shape).items()
            if table == parameter.references
        ]
        found.append({"parameter": parameter.name, "table": parameter.references, "tools": sources})
    return found


def _feeds(tool: m.Tool, spec: m.Spec) -> list[dict[str, Any]]:
    """For each key in the result, the parameters of other tools that take it."""
    if tool.returns is None:
        return []
    shape = tool.returns.shape
    found = []
    for name, table in keys_in(shape).items():
        takers = [
            f"{other.name}({parameter.name})"
            for other in spec.tools.values()
            if other is not tool
            for parameter in other.parameters
            if parameter.references == table
        ]
        found.append({"result": "" if isinstance(shape, Cell) else name, "table": table, "tools": takers})
    return found
