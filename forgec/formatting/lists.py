"""Lists in brackets: on one line, or one element a line, with columns and a comma behind each."""

from __future__ import annotations

from forgec.formatting.align import align
from forgec.formatting.flow import flow
from forgec.formatting.leaves import Leaf, Node, flat, leaves_of, one_line
from forgec.formatting.page import STEP, WIDTH, Page

_MODIFIERS = frozenset({
    "key", "serial", "serial_list", "unique", "default", "check", "when", "unscored", "unordered", "hidden",
})  # fmt: skip
_MODIFIED = 2
"""The column of a table that holds modifiers: a long `check` without documentation moves nobody else's."""
_LISTS = frozenset({"record_type", "params", "call", "deed", "nested"})
"""Rules with a list that a line may be broken for."""


def fits(page: Page, text: str | None) -> bool:
    """Whether a text can follow what stands on the line, a space before it included."""
    return text is not None and page.column + 1 + len(text) <= WIDTH


def put_or_break(page: Page, node: Node, indent: int) -> None:
    """Write a rule behind what stands on the line, its list broken where it does not fit."""
    if fits(page, one_line([node])):
        page.put(node.leaves())
    else:
        put_broken(page, node, indent)


def put_broken(page: Page, node: Node, indent: int) -> None:
    """Write a rule behind what stands on the line, its outermost list broken: one element a line."""
    if node.rule in _LISTS:
        page.put(leaves_of(node.parts[: _opening(node)]))
        put_list(page, node, indent)
        return
    for part in node.parts:
        if isinstance(part, Node) and _has_list(part):
            put_broken(page, part, indent)
        else:
            page.put(leaves_of([part]))


def put_list(page: Page, node: Node, indent: int) -> None:
    """Write what a rule holds from its opening bracket on, one element a line."""
    opening = _opening(node)
    parts, last = node.parts[opening + 1 : -1], node.last
    if len(parts) == 1 and isinstance(parts[0], Node) and parts[0].rule == "fields":
        parts = parts[0].parts
    lines = _lines([part for part in parts if isinstance(part, Node)], indent)
    page.put(leaves_of([node.parts[opening]]))
    for i, part in enumerate(parts):
        if isinstance(part, Leaf):
            page.put([part])
            continue
        page.begin(part.first, indent + STEP, blank=i > 0)
        _put_element(page, part, lines[part], indent + STEP)
        if i + 1 == len(parts):
            page.comma()
    page.close(last, indent)


def _opening(node: Node) -> int:
    return next(i for i, part in enumerate(node.parts) if isinstance(part, Leaf) and part.kind in ("LPAR", "LBRACE"))


def _has_list(node: Node) -> bool:
    return node.rule in _LISTS or any(_has_list(child) for child in node.nodes())


def _lines(elements: list[Node], indent: int) -> dict[Node, str | None]:
    """The elements on a line each, in columns; None for those that cannot stand on one."""
    limit = WIDTH - indent - STEP - 1
    cells = {element: _cells(element) for element in elements}
    rows = {element: row for element, row in cells.items() if row is not None and _shortest(row) <= limit}
    aligned = align(list(rows.values()), limit, gap=2, loose=_MODIFIED) if rows else []
    return {**dict.fromkeys(elements), **dict(zip(rows, aligned, strict=True))}


def _shortest(row: list[str]) -> int:
    filled = [cell for cell in row if cell]
    return sum(map(len, filled)) + 2 * len(filled) - 2


def _cells(element: Node) -> list[str] | None:
    """The cells of one element: its name, its type, what modifies that, and its documentation."""
    if one_line([element]) is None or element.rule in ("nested", "tie"):
        return None
    if element.rule not in ("column", "field", "param"):
        return [flat(list(element.leaves())) or ""]
    name, *rest = element.parts
    doc = [part for part in rest if isinstance(part, Node) and part.rule == "doc"]
    modifiers = [part for part in rest if isinstance(part, Node) and part.rule in _MODIFIERS]
    described = [part for part in rest if part not in doc and part not in modifiers]
    texts = [flat(leaves_of(parts)) or "" for parts in ([name], described, doc)]
    if element.rule != "column":
        return texts
    return [*texts[:2], _modifiers(modifiers), texts[2]]


def _modifiers(modifiers: list[Node]) -> str:
    text = ""
    for modifier in modifiers:
        gap = "" if not text else "  " if modifier.rule in ("check", "when") else " "
        text += gap + (flat(list(modifier.leaves())) or "")
    return text


def _put_element(page: Page, element: Node, line: str | None, indent: int) -> None:
    leaves = list(element.leaves())
    if line is not None:
        page.put_text(line, leaves)
    elif element.rule == "nested":
        put_or_break(page, element, indent)
    elif _has_list(element):
        put_broken(page, element, indent)
    else:
        start = next((i for i, leaf in enumerate(leaves) if leaf.sql), len(leaves))
        flow(page, leaves, indent, start=start, hang=STEP)
