"""The rows of worlds: cells below each other, numbers with their last digits."""

from __future__ import annotations

import re
from collections.abc import Sequence

from forgec.formatting.align import align
from forgec.formatting.flow import flow
from forgec.formatting.leaves import Leaf, Node, flat, leaves_of, one_line
from forgec.formatting.page import STEP, WIDTH, Page

_NUMBER = re.compile(r"\(?(?:[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?|null),?\)?")

_Row = list[list[Leaf]]


def put_fill(page: Page, node: Node, indent: int) -> None:
    """Write the rows of one table: on one line if there is but one and it fits, else each on its own."""
    rows = node.nodes("parens")
    text = one_line([node])
    if len(rows) == 1 and text is not None and indent + len(text) <= WIDTH:
        page.put(node.leaves())
        return
    head = leaves_of(node.parts[: node.index("parens")])
    flow(page, head, indent, start=len(head), hang=STEP)
    grid = _grid(rows)
    lines = dict(zip(grid, _lines(list(grid.values()), indent + STEP), strict=True))
    begun = False
    for part in node.parts[node.index("parens") :]:
        if isinstance(part, Leaf):
            page.put([part])
            continue
        page.begin(part.first, indent + STEP, blank=begun)
        begun = True
        if part in grid:
            _put_row(page, grid[part], lines[part], indent + 2 * STEP)
        else:
            flow(page, list(part.leaves()), indent + STEP)


def _grid(rows: list[Node]) -> dict[Node, _Row]:
    """The cells of the rows that are like most others: no comment inside, as many cells as the first."""
    cells = {row: _split(list(row.leaves())) for row in rows if flat(list(row.leaves())) is not None}
    count = len(next(iter(cells.values()))) if cells else 0
    return {row: split for row, split in cells.items() if all(split) and len(split) == count}


def _split(leaves: list[Leaf]) -> _Row:
    """The tokens of each cell, commas and the outer brackets included."""
    cells: _Row = [[leaves[0]]]
    depth = 0
    for leaf in leaves[1:]:
        cells[-1].append(leaf)
        if leaf.text in ("(", "[", "{"):
            depth += 1
        elif leaf.text in (")", "]", "}"):
            depth -= 1
        elif leaf.text == "," and depth == 0:
            cells.append([])
    return cells


def _lines(rows: Sequence[_Row], indent: int) -> list[dict[int, str]]:
    """The lines of each row by the cell they begin with; long rows are all broken before the same cells."""
    if not rows:
        return []
    texts = [[flat(cell) or "" for cell in row] for row in rows]
    columns = [_justified([row[j] for row in texts]) for j in range(len(texts[0]))]
    lines: list[dict[int, str]] = [{} for _ in rows]
    begin = 0
    while begin < len(columns):
        inset = indent + (STEP if begin else 0)
        end = _line_end(columns, begin, inset)
        aligned = align(list(zip(*columns[begin:end], strict=True)), WIDTH - inset - 1)
        for row, text in zip(lines, aligned, strict=True):
            row[begin] = text
        begin = end
    return lines


def _justified(column: list[str]) -> list[str]:
    """A column of numbers with their last digits below each other; any other column as it is."""
    if not all(map(_NUMBER.fullmatch, column)) or len(set(map(len, column))) == 1:
        return column
    inner = [cell.strip("(,)") for cell in column]
    widest = max(map(len, inner))
    return [
        ("(" if cell[0] == "(" else "") + text.rjust(widest) + cell[len(text) + (cell[0] == "(") :]
        for cell, text in zip(column, inner, strict=True)
    ]


def _line_end(columns: list[list[str]], begin: int, indent: int) -> int:
    """The first column that has no place on the line that begins with the column `begin`."""
    used = indent
    for j in range(begin, len(columns)):
        used += max(map(len, columns[j])) + (j > begin)
        if used + 1 > WIDTH and j > begin:
            return j
    return len(columns)


def _put_row(page: Page, row: _Row, lines: dict[int, str], indent: int) -> None:
    for begin, line in lines.items():
        if begin:
            page.begin(row[begin][0], indent, blank=False)
        page.put_text(line, row[-1] if begin == max(lines) else [])
