"""Columns. A column is as wide as its widest cell, unless that cell is far wider than the others."""

from __future__ import annotations

from collections.abc import Sequence

from forgec.diagnostics.cells import columns

SPREAD = 40
"""A cell that would make a line leave more blanks than this stands out of its column."""


def align(
    rows: Sequence[Sequence[str]], limit: int, *, gap: int = 1, least: int = 0, loose: int | None = None
) -> list[str]:
    """The rows, which have equally many cells, as lines with these cells below each other.

    `gap` blanks at least stand between cells, and the first cell takes at least `least` columns. A row ends at its
    last cell that is not empty. In the column `loose` only cells that others follow count. A column gets narrower when
    a line would otherwise be longer than `limit`; cells that are too wide for it then stand out, and what follows them
    moves.
    """
    used = [column for column in range(len(rows[0])) if any(row[column] for row in rows)]
    rows = [[row[column] for column in used] for row in rows]
    lines = [""] * len(rows)
    for column in range(len(used)):
        rest = [_rest(row, column, gap) for row in rows]
        lines = [line + row[column] for line, row in zip(lines, rows, strict=True)]
        ends = list(map(columns, lines))
        followed = [any(row[column + 1 :]) for row in rows]
        counts = followed if used[column] == loose or not any(followed) else [any(row[column:]) for row in rows]
        floor = 0 if column else least
        edge = _edge({i: max(ends[i], floor) for i, counted in enumerate(counts) if counted}, rest, limit, gap)
        for i, line in enumerate(lines):
            if followed[i]:
                lines[i] = line + " " * max(edge - ends[i], gap)
    return lines


def _rest(row: Sequence[str], column: int, gap: int) -> int:
    """The columns that the cells after `column` take at least, with the gaps between them."""
    cells = [cell for cell in row[column + 1 :] if cell]
    return sum(map(columns, cells)) + gap * max(len(cells) - 1, 0)


def _edge(ends: dict[int, int], rest: list[int], limit: int, gap: int) -> int:
    """Where the next column begins, given where the cells of this one end."""
    for end in sorted(set(ends.values()), reverse=True):
        edge = end + gap
        inside = [i for i, other in ends.items() if other <= end]
        narrow = edge - min(ends[i] for i in inside) <= SPREAD
        if narrow and all(edge + rest[i] <= limit or ends[i] + gap + rest[i] > limit for i in inside):
            return edge
    return 0
