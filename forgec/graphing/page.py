"""The graph of the tools as one HTML page, without anything from elsewhere."""

from __future__ import annotations

import json
from dataclasses import asdict

from forgec.graphing.drawing import Drawing
from forgec.graphing.layout import Box, layout
from forgec.pages import render_page


def page(drawing: Drawing) -> str:
    """A page that draws the graph; a tool that is clicked or searched shows what it takes, gives and changes."""
    boxes, width, height = layout(drawing)
    arrows = [(arrow, _curve(boxes[arrow.source], boxes[arrow.target])) for arrow in drawing.arrows]
    data = {"nodes": [asdict(node) for node in drawing.nodes], "arrows": [asdict(arrow) for arrow in drawing.arrows]}
    return render_page(
        "graph", title=drawing.title, nodes=drawing.nodes, boxes=boxes, arrows=arrows, width=width, height=height,
        data=_for_a_script(data),
    )  # fmt: skip


def _for_a_script(data: object) -> str:
    """JSON that cannot end the script it stands in."""
    return json.dumps(data, ensure_ascii=True).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _curve(start: Box, end: Box) -> str:
    """The path of an arrow: from the right side of one box to the left side of the other, wherever that is."""
    x1, y1 = start.x + start.width, start.y + start.height / 2
    x2, y2 = end.x, end.y + end.height / 2
    bend = max(40.0, (x2 - x1) / 2)  # what leads back bends little, so that it stays on the page
    return f"M {x1:g} {y1:g} C {x1 + bend:g} {y1:g}, {x2 - bend:g} {y2:g}, {x2 - 4:g} {y2:g}"
