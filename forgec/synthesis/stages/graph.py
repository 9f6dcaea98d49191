"""What leads from tool to tool: edges that the types allow, and reasoning that compiles."""

from __future__ import annotations

import re
from collections.abc import Iterator

from forgec.model import spec as m
from forgec.model.uses import keys_in
from forgec.showing.signatures import tool_signature
from forgec.sql.scope import Cell
from forgec.synthesis.asking.asker import Unanswered
from forgec.synthesis.asking.forms import Edge, Graph, Reasoning
from forgec.synthesis.declarations import Declaration
from forgec.synthesis.work import Work
from forgec.tasking.tool_graph import links, tool_graph

MAX_KEPT = 60
"""Edges and reasoning nodes of each kind that tasks are told of."""


async def write_graph(work: Work) -> None:
    """Ask for edges and reasoning nodes, and keep those that hold. Raises `LLMError`."""
    spec = work.compile().spec
    if spec is None or not spec.tools:
        return
    signatures = "\n".join(tool_signature(tool, spec) for tool in spec.tools.values())
    known = {
        f"{source}.{link.field} -> {target}.{link.parameter}"
        for source, target, link in links(tool_graph(spec), "gives")
    }
    try:
        answer = await work.ask(
            "graph", "1", Graph, "graph.md.j2", tools=work.within(signatures), state=work.within(work.state())
        )
    except Unanswered as error:
        work.made.leave("graph", "an answer", str(error))
        answer = Graph()
    for edge in answer.edges[: 4 * MAX_KEPT]:
        told = f"{edge.source}.{edge.field} -> {edge.target}.{edge.parameter}"
        problem = _wrong(spec, edge)
        if problem:
            work.made.leave("graph", f"edge {told}", problem)
        else:
            known.add(told)
    work.made.edges = sorted(known)[:MAX_KEPT]
    calls = dict(_calls(spec))
    for reasoning in answer.reasoning[:MAX_KEPT]:
        problem = _uncompiled(work, spec, reasoning, calls)
        if problem:
            work.made.leave("graph", f"reasoning {reasoning.name}", problem)
        else:
            told = f"{reasoning.name} of {reasoning.source}: {reasoning.sql}  -- {' '.join(reasoning.meaning.split())}"
            work.made.reasoning.append(told)


def _wrong(spec: m.Spec, edge: Edge) -> str:
    """Why an edge is none; empty where the types allow it."""
    source, target = spec.tools.get(edge.source), spec.tools.get(edge.target)
    if source is None or target is None:
        return f"there is no tool `{edge.source if source is None else edge.target}`"
    parameter = next((one for one in target.parameters if one.name == edge.parameter), None)
    if parameter is None:
        return f"`{edge.target}` has no parameter `{edge.parameter}`"
    if source.returns is None:
        return f"`{edge.source}` gives nothing"
    for result in source.returns.kinds or (source.returns,):
        shape = result.shape
        cell = shape if isinstance(shape, Cell) else shape.columns.get(edge.field)
        if cell is None:
            continue
        key = keys_in(shape).get("" if isinstance(shape, Cell) else edge.field)
        if parameter.references is not None and key != parameter.references:
            return f"it gives no key of {parameter.references}"
        if cell.type != parameter.type:
            return f"it gives {cell.type}, and {parameter.type} is taken"
        return ""
    return f"`{edge.source}` gives no `{edge.field}`"


def _calls(spec: m.Spec) -> Iterator[tuple[str, tuple[str, str]]]:
    """A call of each tool that a test makes with success, with the world that it is made in."""
    for test in spec.tests:
        for step in test.steps:
            plain = isinstance(step, m.Run) and step.fails is None and "$" not in step.call.span.text
            if isinstance(step, m.Run) and plain:
                yield step.call.tool, (test.world, step.call.span.text)


def _uncompiled(work: Work, spec: m.Spec, reasoning: Reasoning, calls: dict[str, tuple[str, str]]) -> str:
    """Why something cannot be worked out; empty where it compiles as a part of a plan."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", reasoning.name) or reasoning.name == "result":
        return "this is no name"
    if reasoning.source not in calls:
        return f"no test calls `{reasoning.source}`"
    if any(mark in reasoning.sql for mark in (";", "--", "/*")):
        return "this is not one select"
    world, call = calls[reasoning.source]
    key = "task forgec_probe"
    text = (
        f'task forgec_probe on {world} {{\n  intent "x";\n  plan {{\n    result = {call};\n'
        f"    reason {reasoning.name} = {reasoning.sql};\n  }}\n}}"
    )
    work.made.declarations.put(Declaration(key, text, "graph"))
    try:
        findings = work.compile().findings
    finally:
        work.made.declarations.drop(key)
    return findings[key][0].split("\n", 1)[0] if key in findings else ""
