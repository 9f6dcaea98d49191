"""The graph of the tools as DOT, which Graphviz draws."""

from __future__ import annotations

from forgec.graphing.drawing import Drawing, Node


def dot(drawing: Drawing) -> str:
    """A directed graph, tools that write with double sides, those that end an episode round; `changes` are dotted."""
    lines = ["digraph tools {", "  rankdir=LR;", '  node [shape=box, fontname="sans-serif"];']
    lines.append(f"  label={_quoted(drawing.title)};")
    lines.extend(f"  {_node(node)}" for node in drawing.nodes if node.side == "agent")
    if users := [node for node in drawing.nodes if node.side == "user"]:
        lines += ["  subgraph cluster_user {", '    label="the user\'s";']
        lines += [*(f"    {_node(node)}" for node in users), "  }"]
    for arrow in drawing.arrows:
        style = "" if arrow.kind == "gives" else ", style=dotted"
        label = _quoted(", ".join(arrow.words))
        lines.append(f"  {_quoted(arrow.source)} -> {_quoted(arrow.target)} [label={label}{style}];")
    return "\n".join([*lines, "}"]) + "\n"


def _node(node: Node) -> str:
    more = ", style=rounded" if node.ends else ", peripheries=2" if node.writes else ""
    return f"{_quoted(node.name)} [tooltip={_quoted(node.doc or node.name)}{more}];"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
