"""The graph of the tools as Mermaid, which Markdown renderers draw."""

from __future__ import annotations

from forgec.graphing.drawing import Drawing, Node


def mermaid(drawing: Drawing) -> str:
    """A flowchart. Tools that write have double sides, those that end an episode are round; `changes` are dotted."""
    lines = ["flowchart LR"]
    lines.extend(f"  {_node(node)}" for node in drawing.nodes if node.side == "agent")
    if users := [node for node in drawing.nodes if node.side == "user"]:
        lines += ["  subgraph the user's", *(f"    {_node(node)}" for node in users), "  end"]
    for arrow in drawing.arrows:
        line = "-->" if arrow.kind == "gives" else "-.->"
        lines.append(f'  {_id(arrow.source)} {line}|"{", ".join(arrow.words)}"| {_id(arrow.target)}')
    return "\n".join(lines) + "\n"


def _node(node: Node) -> str:
    left, right = ("([", "])") if node.ends else ("[[", "]]") if node.writes else ("[", "]")
    return f'{_id(node.name)}{left}"{node.name}"{right}'


def _id(name: str) -> str:
    """A name that is none of Mermaid's own words."""
    return f"t_{name}"
