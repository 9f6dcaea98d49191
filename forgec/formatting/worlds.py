"""The rows of worlds: cells below each other, numbers with their last digits."""

from __future__ import annotations

import re
from collections.abc import Sequence

from forgec.diagnostics.cells import columns
from forgec.formatting.align import align
from forgec.formatting.flow import flow
from forgec.formatting.leaves import Leaf, Node, flat, leaves_of, one_line
from forgec.formatting.page import STEP, WIDTH, Page
from forgec.formatting.statements import put_body, put_statement

_NUMBER = re.compile(r"\(?(?:[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?|null),?\)?")

_Row = list[list[Leaf]]


def put_fill(page: Page, node: Node, indent: int) -> None:
    """Write the rows of one table: on one line if there is but one and it fits, else each on its own.

    Where they lie elsewhere, that is said on one line. What is generated has a body, and what is written or expected
    is written as in one.
    """
    if node.rule == "generate":
        _put_generate(page, node, indent)
        return
    if node.rule in ("write", "expect", "made"):
        put_statement(page, node, indent)
        return
    if node.rule == "sourced":
        flow(page, list(node.leaves()), indent)
        return
    kind = "parens" if node.rule == "fill" else "document"
    rows = node.nodes(kind)
    text = one_line([node])
    if len(rows) == 1 and text is not None and indent + len(text) <= WIDTH:
        page.put(node.leaves())
        return
    head = leaves_of(node.parts[: node.index(kind)])
    flow(page, head, indent, start=len(head), hang=STEP)
    grid = _grid(rows) if kind == "parens" else {}
    lines = dict(zip(grid, _lines(list(grid.values()), indent + STEP), strict=True))
    begun = False
    for part in node.parts[node.index(kind) :]:
        if isinstance(part, Leaf):
            page.put([part])
            continue
        page.begin(part.first, indent + STEP, blank=begun)
        begun = True
        if part in grid:
            _put_row(page, grid[part], lines[part], indent + 2 * STEP)
        else:
            flow(page, list(part.leaves()), indent + STEP)


def _put_generate(page: Page, node: Node, indent: int) -> None:
    """Write a block, on one line if but one column is said and there is room."""
    text = one_line([node])
    if len(node.nodes("made", "generate")) == 1 and text is not None and indent + len(text) <= WIDTH:
        page.put(node.leaves())
        return
    page.put(leaves_of(node.parts[: node.index("LBRACE") + 1]))
    put_body(page, node, indent, put_fill)


def _grid(rows: list[Node]) -> dict[Node, _Row]:
    """The cells of the rows that are like most others: no comment inside, as many cells as the first."""
    cells = {row: _split(leaves) for row in rows if _is_plain(leaves := list(row.leaves()))}
    count = len(next(iter(cells.values()))) if cells else 0
    return {row: split for row, split in cells.items() if all(split) and len(split) == count}


def _is_plain(leaves: list[Leaf]) -> bool:
    return flat(leaves) is not None and not any(leaf.inline for leaf in leaves)


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
    """The lines of each row by the cell they begin with; the rows that are broken are so before the same cells."""
    if not rows:
        return []
    texts = [[flat(cell) or "" for cell in row] for row in rows]
    lines: list[dict[int, str]] = [{} for _ in rows]
    broken = _broken(texts, indent)
    begin, count, placed = 0, len(texts[0]), list(range(len(rows)))
    while begin < count:
        inset = indent + (STEP if begin else 0)
        end = _line_end([texts[i] for i in broken], begin, inset) if broken else count
        ends = [end if i in broken else count for i in placed]
        cells = [[*texts[i][begin:e], *[""] * (count - e)] for i, e in zip(placed, ends, strict=True)]
        first, *others = zip(*cells, strict=True)
        justified = [first if begin else _justified(first), *map(_justified, others)]
        for i, line in zip(placed, align(list(zip(*justified, strict=True)), WIDTH - inset - 1), strict=True):
            lines[i][begin] = line
        begin, placed = end, list(broken)
    return lines


def _broken(rows: list[list[str]], indent: int) -> dict[int, None]:
    """The rows that take several lines: those that are too long, or all when they are the most, or short ones."""
    long = dict.fromkeys(i for i, row in enumerate(rows) if _line_end([row], 0, indent) < len(row))
    short = [row for i, row in enumerate(rows) if i not in long]
    fit = short and _line_end(short, 0, indent) == len(rows[0])
    return long if fit and len(short) > len(long) else dict.fromkeys(range(len(rows)))


def _justified(column: Sequence[str]) -> Sequence[str]:
    """A column of numbers with their last digits below each other; any other column as it is."""
    numbers = [cell.strip("(,)") for cell in column]
    if not all(_NUMBER.fullmatch(cell) for cell in column if cell):
        return column
    widest = max(map(len, numbers))
    return [
        cell and cell.replace(number, number.rjust(widest), 1) for cell, number in zip(column, numbers, strict=True)
    ]


def _line_end(rows: list[list[str]], begin: int, indent: int) -> int:
    """The first column that has no place on the line of some rows that begins with the column `begin`."""
    used = indent
    for j in range(begin, len(rows[0])):
        used += max(columns(row[j]) for row in rows) + (j > begin)
        if used + 1 > WIDTH and j > begin:
            return j
    return len(rows[0])


def _put_row(page: Page, row: _Row, lines: dict[int, str], indent: int) -> None:
    for begin, line in lines.items():
        if begin:
            page.begin(row[begin][0], indent, blank=False)
        page.put_text(line, row[-1] if begin == max(lines) else [])
