"""Where the nodes of a drawing stand: in columns, each right of what leads to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import networkx as nx

from forgec.graphing.drawing import Drawing

_SWEEPS = 8
_LETTER, _MARGIN, _HEIGHT, _GAP, _BETWEEN = 8, 14, 34, 22, 110
"""Widths of a letter and of what is beside a name; of a row, between rows, between columns: all in pixels."""


@dataclass(frozen=True)
class Box:
    """The place of a node, in pixels from the upper left."""

    x: float
    y: float
    width: float
    height: float


def layout(drawing: Drawing) -> tuple[dict[str, Box], float, float]:
    """The place of each node, and the width and height of all."""
    columns = _ordered(_columns(drawing), drawing)
    tallest = max(map(len, columns), default=0)
    boxes: dict[str, Box] = {}
    x = float(_GAP)
    for column in columns:
        width = _LETTER * max(map(len, column)) + 2 * _MARGIN
        top = _GAP + (tallest - len(column)) * (_HEIGHT + _GAP) / 2
        for i, name in enumerate(column):
            boxes[name] = Box(x, top + i * (_HEIGHT + _GAP), width, _HEIGHT)
        x += width + _BETWEEN
    return boxes, x - _BETWEEN + _GAP, tallest * (_HEIGHT + _GAP) + _GAP


def _columns(drawing: Drawing) -> list[list[str]]:
    """The nodes by how long a way leads to them; those on one circle stand together, those without arrows last."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(node.name for node in drawing.nodes)
    graph.add_edges_from((arrow.source, arrow.target) for arrow in drawing.arrows if arrow.kind == "gives")
    alone = [node.name for node in drawing.nodes if graph.degree(node.name) == 0]
    graph.remove_nodes_from(alone)
    order = {node.name: i for i, node in enumerate(drawing.nodes)}
    circles = nx.condensation(graph)
    columns = [
        sorted((name for circle in generation for name in circles.nodes[circle]["members"]), key=order.__getitem__)
        for generation in nx.topological_generations(circles)
    ]
    return [*columns, alone] if alone else columns


def _ordered(columns: list[list[str]], drawing: Drawing) -> list[list[str]]:
    """Each column in the order of the middles of its neighbours, so that fewer arrows cross."""
    beside: dict[str, list[str]] = {}
    for arrow in drawing.arrows:
        beside.setdefault(arrow.source, []).append(arrow.target)
        beside.setdefault(arrow.target, []).append(arrow.source)
    place = {name: i - len(column) / 2 for column in columns for i, name in enumerate(column)}

    def middle(name: str) -> float:
        found = [place[other] for other in beside.get(name, ())]
        return sum(found) / len(found) if found else place[name]

    def sweep(order: Iterable[int]) -> None:
        for number in order:
            columns[number] = sorted(columns[number], key=middle)
            place.update((name, i - len(columns[number]) / 2) for i, name in enumerate(columns[number]))

    for _ in range(_SWEEPS):
        sweep(range(len(columns)))
        sweep(reversed(range(len(columns))))
    return columns
