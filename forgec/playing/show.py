"""Lines for the terminal: results, changes, rows. Whatever comes from data is made visible, never obeyed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, Literal, NamedTuple

from forgec.diagnostics.cells import ELLIPSIS, clean, columns
from forgec.playing.changes import Change
from forgec_runtime.equality import shown
from forgec_runtime.results import to_json

Tone = Literal["plain", "quiet", "strong", "added", "removed", "changed", "error"]
_ANSI: dict[Tone, str] = {
    "quiet": "2", "strong": "1", "added": "32", "removed": "31", "changed": "33", "error": "1;31",
}  # fmt: skip
_SIGNS: dict[str, tuple[str, Tone]] = {
    "added": ("+", "added"), "removed": ("-", "removed"), "changed": ("~", "changed"),
}  # fmt: skip
_CELLS = (60, 40, 28, 20, 14)
"""The widths tried for the cells of a table, until its lines fit."""


class Line(NamedTuple):
    """One line, clean."""

    text: str
    tone: Tone = "plain"


def painted(line: Line, *, color: bool) -> str:
    """A line for the terminal; the only escape sequences are those of `color`."""
    return f"\x1b[{_ANSI[line.tone]}m{line.text}\x1b[0m" if color and line.tone in _ANSI else line.text


def text_lines(text: str, indent: str = "", tone: Tone = "plain") -> list[Line]:
    """A text of several lines, cleaned, without the blank ones around it."""
    return [Line(f"{indent}{clean(line)}".rstrip(), tone) for line in text.strip("\n").split("\n")]


def json_lines(value: Any, width: int) -> list[Line]:
    """A value as pretty JSON: what fits into `width` columns stays on one line. Decimals keep all their digits."""
    return [Line(line) for line in _json(value, width, "", "")]


def _json(value: Any, width: int, indent: str, label: str) -> Iterator[str]:
    flat = clean(_flat(value))
    nested = isinstance(value, Mapping | list | tuple) and value
    if not nested or columns(indent) + columns(label) + columns(flat) < width:
        yield f"{indent}{label}{flat}"
        return
    record = isinstance(value, Mapping)
    parts = [(f"{_flat(name)}: ", part) for name, part in value.items()] if record else [("", one) for one in value]
    yield f"{indent}{label}{'{' if record else '['}"
    for number, (name, part) in enumerate(parts, 1):
        *lines, last = _json(part, width - 1, indent + "  ", clean(name))
        yield from lines
        yield last + ("," if number < len(parts) else "")
    yield f"{indent}{'}' if record else ']'}"


def _flat(value: Any) -> str:
    """JSON on one line, with spaces after its signs."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{to_json(name)}: {_flat(part)}" for name, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flat, value)) + "]"
    return to_json(value)


def change_lines(changes: Iterable[Change], broken: Iterable[str] = ()) -> list[Line]:
    """A line for each changed row and each rule that was broken."""
    lines = []
    for one in changes:
        sign, tone = _SIGNS[one.kind]
        if one.kind == "changed":
            told = "; ".join(f"{name}: {value_text(old)} -> {value_text(new)}" for name, old, new in one.columns)
        else:
            told = row_text({name: value for name, value in one.row.items() if name not in one.key_columns})
        lines.append(Line(f"{f'{sign} {one.table} {key_text(one.key)}'.rstrip()}{': ' * bool(told)}{told}", tone))
    return [*lines, *(Line(f"! rule broken: {clean(rule)}", "error") for rule in broken)]


def key_text(key: Any) -> str:
    """The key of a row; several columns with commas between them."""
    return ", ".join(map(value_text, key if isinstance(key, tuple) else (key,)))


def value_text(value: Any) -> str:
    """A value, clean."""
    return clean(shown(value))


def row_text(row: Mapping[str, Any]) -> str:
    """A row with the names of its columns."""
    return ", ".join(f"{name} {value_text(value)}" for name, value in row.items())


def cut(text: str, width: int) -> str:
    """Clean text in at most `width` columns."""
    if columns(text) <= width:
        return text
    fitting = sum(1 for total in accumulate(map(columns, text)) if total <= width - len(ELLIPSIS))
    return text[:fitting] + ELLIPSIS


def table_lines(names: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[Line]:
    """Rows of clean texts under a header; cells are cut until the lines fit into `width` columns, if they can."""
    widths: list[int] = []
    for most in _CELLS:
        widths = [min(max(map(columns, cells)), most) for cells in zip(names, *rows, strict=True)]
        if sum(widths) + 2 * len(widths) - 2 <= width:
            break
    header, *body = ("  ".join(map(_padded, cells, widths)).rstrip() for cells in (names, *rows))
    return [Line(header, "strong"), *map(Line, body)]


def _padded(text: str, width: int) -> str:
    shorter = cut(text, width)
    return shorter + " " * (width - columns(shorter))


def pairs_lines(pairs: Iterable[Sequence[str]], indent: str = "  ") -> list[Line]:
    """Clean texts in columns as wide as their widest; the last column is as long as it is."""
    rows = [list(pair) for pair in pairs]
    widths = [max(map(columns, cells)) for cells in list(zip(*rows, strict=True))[:-1]]
    return [Line((indent + "  ".join([*map(_padded, row, widths), row[-1]])).rstrip()) for row in rows]
