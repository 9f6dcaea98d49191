"""Declarations: what begins in column 1."""

from __future__ import annotations

from itertools import pairwise

from forgec.formatting.align import align
from forgec.formatting.flow import flow
from forgec.formatting.leaves import Leaf, Node, flat, leaves_of, one_line
from forgec.formatting.lists import put_list, put_or_break
from forgec.formatting.page import STEP, WIDTH, Page
from forgec.formatting.statements import put_body, put_sql, put_statement
from forgec.formatting.worlds import put_fill

_SHORT = frozenset({"use", "extend", "policy", "enum", "record", "domain", "view", "function", "invariant", "rule"})
"""Declarations that may stand on one line."""


def put_file(page: Page, file: Node) -> None:
    """Write all declarations, a blank line between any two; the author may keep those of one line together."""
    items = file.nodes()
    texts = {item: _one_line(item) for item in items}
    together = {b for a, b in pairwise(items) if texts[a] and texts[b] and not _apart(b)}
    lines = _aligned_enums(items, texts, together)
    for item in items:
        page.begin(item.first, 0, apart=item not in together)
        text = lines.get(item) or texts[item]
        if text is not None:
            page.put_text(text, list(item.leaves()))
        else:
            _put(page, item)
    page.comments(file.last, 0, apart=bool(items))


def _apart(item: Node) -> bool:
    """Whether the author left a blank line anywhere above a declaration."""
    return item.first.blank or any(comment.blank for comment in item.first.own)


def _one_line(item: Node) -> str | None:
    """A declaration that fits on one line; with SQL only when there is no documentation."""
    if item.rule not in _SHORT or (item.rule in ("view", "function", "invariant", "rule") and item.nodes("doc")):
        return None
    text = one_line([item])
    return text if text is not None and len(text) <= WIDTH else None


def _aligned_enums(items: list[Node], texts: dict[Node, str | None], together: set[Node]) -> dict[Node, str]:
    """Enums that stand together have their names, documentation and values below each other."""
    lines: dict[Node, str] = {}
    run: list[Node] = []
    for item in [*items, None]:
        if run and (item is None or item.rule != "enum" or item not in together):
            cells = [[flat(leaves_of(cell)) or "" for cell in _enum_cells(enum)] for enum in run]
            lines.update(zip(run, align(cells, WIDTH), strict=True))
            run = []
        if item is not None and item.rule == "enum" and texts[item]:
            run.append(item)
    return lines


def _enum_cells(enum: Node) -> list[list[Node | Leaf]]:
    return [enum.parts[:2], list(enum.nodes("doc")), enum.parts[enum.index("LBRACE") :]]


def _put(page: Page, item: Node) -> None:
    """Write one declaration over several lines, the first of them begun already."""
    if item.rule in ("enum", "record", "table", "single"):
        _put_head(page, item)
        put_list(page, item, 0)
    elif item.rule in ("environment", "world", "test", "task"):
        _put_head(page, item)
        page.put([item.leaf("LBRACE")])
        put_body(page, item, 0, put_fill if item.rule == "world" else put_statement)
    elif item.rule in ("action", "tool"):
        block = item.nodes("block")[0]
        _put_signature(page, item, item.index("block"), block.first)
        put_body(page, block, 0, put_statement)
    elif item.rule == "sync":
        block = item.nodes("block")[0]
        _put_condition(page, item, block.first)
        put_body(page, block, 0, put_statement)
    elif item.rule == "function":
        _put_signature(page, item, item.index("EQUAL"), item.leaf("EQUAL"))
        put_sql(page, item, 0)
    elif item.rule in ("invariant", "rule"):
        _put_claim(page, item)
    elif item.rule == "view":
        _put_view(page, item)
    elif item.rule == "domain":
        _put_domain(page, item)
    else:
        page.put(item.leaves())


def _put_head(page: Page, item: Node) -> None:
    """Write what stands before a brace; when that is too long, its texts and the brace get lines."""
    end = item.index("LBRACE")
    missing = min(item.index("MISSING"), end)
    doc = min(item.index("doc"), missing)
    if doc == end or _fits(item.parts[: end + 1]):
        page.put(leaves_of(item.parts[:end]))
        return
    page.put(leaves_of(item.parts[:doc]))
    for text in (item.parts[doc:missing], item.parts[missing:end]):
        if text:
            _put_below(page, text)
    page.begin(item.leaf("LBRACE"), 0, blank=False)


def _put_signature(page: Page, item: Node, end: int, closer: Leaf) -> None:
    """Write a tool or a function up to its body, which `closer` begins.

    On one line if that fits; else the documentation gets a line, and so do result and parameters if they must.
    """
    if _fits([*item.parts[:end], closer]):
        page.put([*leaves_of(item.parts[:end]), closer])
        return
    params, returns, doc = item.index("params"), min(item.index("RETURNS"), end), min(item.index("doc"), end)
    apart = doc < end
    if _fits([*item.parts[:doc], *([] if apart else [closer])]):
        page.put(leaves_of(item.parts[:doc]))
    else:
        page.put(leaves_of(item.parts[:params]))
        put_or_break(page, item.nodes("params")[0], 0)
        if returns < end:
            apart = True
            _put_below(page, item.parts[returns : returns + 1])
            kinds = [kind for results in item.nodes("results") for kind in results.nodes("type")]
            if len(kinds) > 1:
                page.put(leaves_of(item.nodes("results")))
            else:
                put_or_break(page, (kinds or item.nodes("type"))[0], STEP)
        page.put(leaves_of(item.nodes("ends")))
    if doc < end:
        _put_below(page, item.parts[doc:end])
    if apart and closer.kind == "LBRACE":
        page.begin(closer, 0, blank=False)
    page.put([closer])


def _put_condition(page: Page, item: Node, closer: Leaf) -> None:
    """Write a sync up to its body, which `closer` begins: what does not fit on one line gets lines of its own."""
    doc, when, end = item.index("doc"), item.index("WHEN"), item.index("block")
    if _fits([*item.parts[:end], closer]):
        page.put([*leaves_of(item.parts[:end]), closer])
        return
    page.put(leaves_of(item.parts[: min(doc, when, end)]))
    if doc < end:
        _put_below(page, item.parts[doc : min(when, end)])
    if when < end:
        head = leaves_of(item.parts[when:end])
        page.begin(head[0], STEP, blank=False)
        flow(page, head, STEP, start=1)
    page.begin(closer, 0, blank=False)
    page.put([closer])


def _put_claim(page: Page, item: Node) -> None:
    """Write a rule or an invariant; the documentation of a rule is what agents read, and always gets a line."""
    doc, colon = item.index("doc"), item.index("COLON")
    if doc > colon or (item.rule == "invariant" and _fits(item.parts[: colon + 1])):
        head = leaves_of(item.parts[: colon + 1])
        flow(page, head, 0, start=len(head), hang=STEP)
    else:
        head = leaves_of(item.parts[:doc])
        flow(page, head, 0, start=len(head), hang=STEP)
        _put_below(page, item.parts[doc : colon + 1])
    put_sql(page, item, 0)


def _put_view(page: Page, item: Node) -> None:
    """Write a view, its documentation on a line of its own where it must be."""
    doc, equal = item.index("doc"), item.index("EQUAL")
    if doc > equal or _fits(item.parts[: equal + 1]):
        page.put(leaves_of(item.parts[: equal + 1]))
    else:
        page.put(leaves_of(item.parts[:doc]))
        _put_below(page, item.parts[doc : equal + 1])
    put_sql(page, item, 0)


def _put_domain(page: Page, item: Node) -> None:
    """Write a domain type, its documentation and its check on lines of their own where they must be."""
    doc, equal = item.index("doc"), item.index("EQUAL")
    check = min(item.index("CHECK"), item.index("SEMICOLON"))
    if doc > equal or _fits(item.parts[:check]):
        page.put(leaves_of(item.parts[:check]))
    else:
        page.put(leaves_of(item.parts[:doc]))
        _put_below(page, item.parts[doc : equal + 1])
        _put_below(page, item.parts[equal + 1 : check])
    rest = leaves_of(item.parts[check:])
    if rest[0].kind == "CHECK":
        page.begin(rest[0], STEP, blank=False)
    flow(page, rest, STEP, start=1, hang=STEP)


def _put_below(page: Page, parts: list[Node | Leaf]) -> None:
    leaves = leaves_of(parts)
    page.begin(leaves[0], STEP, blank=False)
    page.put(leaves)


def _fits(parts: list[Node | Leaf]) -> bool:
    """Whether some parts can stand on a line of their own."""
    text = one_line(parts)
    return text is not None and len(text) <= WIDTH
