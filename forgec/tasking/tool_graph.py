"""The graph of the tools: which results hold what other tools take, and whose writes others read.

It follows from what the spec declares: keys are types, and the tables of a body are known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import networkx as nx

from forgec.model import spec as m
from forgec.model import walk
from forgec.model.uses import keys_in, reads_of, writes_of
from forgec.plans.keyed import conjuncts
from forgec.sql.scope import Rows
from forgec.sql.tree import Value, exp

if TYPE_CHECKING:
    ToolGraph = nx.MultiDiGraph[str]
else:
    ToolGraph = nx.MultiDiGraph


@dataclass(frozen=True)
class Link:
    """Why an edge leads from one tool to another.

    `gives`: the result of the first has, in `field` (empty for the value itself), a key of `table`, which the second
    takes as its `parameter`; a key that the first was given itself is no gift. `changes`: the first writes `table`,
    which the second reads.
    """

    kind: Literal["gives", "changes"]
    table: str
    field: str = ""
    parameter: str = ""


def tool_graph(spec: m.Spec) -> ToolGraph:
    """A node for each tool, in the order of the spec; edges with a `link` each, several between two tools."""
    graph = ToolGraph()
    graph.add_nodes_from(spec.tools)
    takers = [(tool.name, p) for tool in spec.tools.values() for p in tool.parameters if p.references is not None]
    reads = {tool.name: reads_of(tool, spec) for tool in spec.tools.values()}
    for tool in spec.tools.values():
        if tool.returns is not None:
            for field, table in dict(_found(tool, spec)).items():
                for name, parameter in takers:
                    if parameter.references == table and name != tool.name:
                        graph.add_edge(tool.name, name, link=Link("gives", table, field, parameter.name))
        for table in dict.fromkeys(written.table for written in writes_of(tool)):
            for name, read in reads.items():
                if table in read and name != tool.name:
                    graph.add_edge(tool.name, name, link=Link("changes", table))
    return graph


def links(graph: ToolGraph, kind: str) -> Iterator[tuple[str, str, Link]]:
    """The edges of one kind."""
    link: Link
    for source, target, link in graph.edges(data="link"):
        if link.kind == kind:
            yield source, target, link


def _found(tool: m.Tool, spec: m.Spec) -> Iterator[tuple[str, str]]:
    """The keys in a result, without those of one row that its caller had to know."""
    assert tool.returns is not None
    known = {parameter.references for parameter in tool.parameters if not parameter.optional}
    single = not isinstance(tool.returns.shape, Rows)
    given = _given(tool)
    for field, table in _keys(tool.returns, spec):
        if field not in given and (table not in known or not (single and "." not in field)):
            yield field, table


def _given(tool: m.Tool) -> set[str]:
    """The columns that have in all rows of a result what its caller gave: `where line_id = $line_id`."""
    given = {parameter.name for parameter in tool.parameters if parameter.references and not parameter.optional}
    trees = [one.sql.tree for one in walk.statements(tool.body) if isinstance(one, m.Return)]
    found = [_fixed(tree, given) if isinstance(tree, exp.Select) else set[str]() for tree in trees]
    return set.intersection(*found) if found else set()


def _fixed(select: exp.Select, given: set[str]) -> set[str]:
    """The columns of a query that are required to equal one of these values."""
    where = select.args.get("where")
    equal = set()
    for part in conjuncts(where.this) if where is not None else ():
        for one, other in (
            ((part.this, part.expression), (part.expression, part.this)) if isinstance(part, exp.EQ) else ()
        ):
            if isinstance(other, Value) and other.name in given:
                equal.add(one)
    return {item.alias_or_name for item in select.selects if item.unalias() in equal}


def _keys(result: m.Result, spec: m.Spec) -> Iterator[tuple[str, str]]:
    """Where in a result there are keys, and of which tables; in nested tables, too."""
    if result.kinds:
        for kind in result.kinds:
            yield from _keys(kind, spec)
        return
    yield from keys_in(result.shape).items()
    if result.nested:
        table = getattr(result.shape, "table", None)
        if table is not None:
            yield from _keys_below(spec.tables[table], "", spec)


def _keys_below(table: m.Table, path: str, spec: m.Spec) -> Iterator[tuple[str, str]]:
    for inner in spec.tables.values():
        if inner.parent == table.name:
            below = f"{path}{inner.title.rpartition('.')[2]}."
            for column in inner.columns:
                if column.references is not None and not column.inherited:
                    yield below + column.name, column.references
            yield from _keys_below(inner, below, spec)
