"""What is drawn of a graph of tools: its nodes, and one arrow for all links of a kind between two of them."""

from __future__ import annotations

from dataclasses import dataclass

from forgec.model.spec import Spec
from forgec.model.uses import flat, writes_of
from forgec.showing.signatures import tool_signature
from forgec.tasking.tool_graph import Link, ToolGraph, links


@dataclass(frozen=True)
class Node:
    """One tool."""

    name: str
    signature: str
    doc: str
    side: str
    writes: bool
    ends: bool


@dataclass(frozen=True)
class Arrow:
    """What leads from one tool to another, in words: `member_id`, or `id -> member_id` where the names differ."""

    source: str
    target: str
    kind: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Drawing:
    """A graph of tools, in the order of the spec."""

    title: str
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]


def drawing(spec: Spec, graph: ToolGraph, kinds: tuple[str, ...]) -> Drawing:
    """What to draw of a graph of the tools of `spec`: the links of these kinds."""
    nodes = tuple(
        Node(tool.name, tool_signature(tool, spec), flat(tool.doc), tool.side, bool(writes_of(tool)), tool.ends)
        for tool in spec.tools.values()
    )
    words: dict[tuple[str, str, str], dict[str, None]] = {}
    for kind in kinds:
        for source, target, link in links(graph, kind):
            words.setdefault((source, target, kind), {})[_words(link, spec)] = None
    arrows = tuple(Arrow(*ends, tuple(found)) for ends, found in words.items())
    return Drawing(f"{spec.name}: {flat(spec.doc)}" if spec.doc else spec.name, nodes, arrows)


def _words(link: Link, spec: Spec) -> str:
    if link.kind == "changes":
        return spec.tables[link.table].title
    return link.parameter if link.field in ("", link.parameter) else f"{link.field} -> {link.parameter}"
