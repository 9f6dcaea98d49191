"""Statements of tools, steps of tests and parts of tasks: whatever stands in a body and ends with `;`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from forgec.formatting.align import align
from forgec.formatting.flow import flow
from forgec.formatting.leaves import Leaf, Node, flat, leaves_of, one_line
from forgec.formatting.lists import fits, put_broken
from forgec.formatting.page import STEP, WIDTH, Page

Writer = Callable[[Page, Node, int], None]

_ALIGNED = {
    "require": ("_ELSE",),
    "fact": ("doc", "EQUAL"),
    "reason_node": ("doc", "EQUAL"),
    "call_node": ("EQUAL",),
    "made": ("EQUAL",),
}
"""Before which parts the columns of adjacent lines of a kind begin."""
_PLAN_NAME = len("reason")
"""Names of the calls in a plan take this much at least, so that they line up across the reasons between them."""


def put_body(page: Page, node: Node, indent: int, write: Writer) -> None:
    """Write what stands in the braces of a rule, a line or more each, and the brace that closes it.

    The one that opens it is written already. `write` gets what is begun already.
    """
    opening, closing = node.leaf("LBRACE"), node.last
    children = [part for part in node.parts[node.index("LBRACE") :] if isinstance(part, Node)]
    if not (children or closing.own or opening.trail):
        page.put([closing])
        return
    lines = aligned_lines(children, indent + STEP)
    for i, child in enumerate(children):
        page.begin(child.first, indent + STEP, blank=i > 0)
        line = lines.get(child)
        if line is not None:
            page.put_text(line, list(child.leaves()))
        else:
            write(page, child, indent + STEP)
    page.close(closing, indent)


def aligned_lines(children: list[Node], indent: int) -> dict[Node, str]:
    """The lines of those that fit on one and are aligned with their neighbours of the same kind."""
    lines: dict[Node, str] = {}
    run: list[Node] = []
    for child in children:
        text = one_line([child]) if child.rule in _ALIGNED else None
        if run and (text is None or child.rule != run[0].rule or child.first.own or child.first.blank):
            lines.update(_align(run, indent))
            run = []
        if text is not None and indent + len(text) <= WIDTH:
            run.append(child)
        elif run:
            lines.update(_align(run, indent))
            run = []
    return {**lines, **(_align(run, indent) if run else {})}


def _align(run: list[Node], indent: int) -> dict[Node, str]:
    least = _PLAN_NAME if run[0].rule == "call_node" else 0
    lines = align([_cells(node) for node in run], WIDTH - indent, least=least)
    return dict(zip(run, lines, strict=True))


def _cells(node: Node) -> list[str]:
    """What stands in each column; nothing where a part is missing."""
    places = [len(node.parts)]
    for kind in reversed(_ALIGNED[node.rule]):
        places.insert(0, min(node.index(kind), places[0]))
    return [flat(leaves_of(node.parts[a:b])) or "" for a, b in pairwise([0, *places])]


def put_statement(page: Page, node: Node, indent: int) -> None:
    """Write one statement of a body, its line begun already."""
    if node.rule in ("if", "each"):
        _put_blocks(page, node, indent)
    elif node.rule in ("plan", "change"):
        page.put(leaves_of(node.parts[: node.index("LBRACE") + 1]))
        put_body(page, node, indent, put_statement)
    elif (text := one_line([node])) is not None and indent + len(text) <= WIDTH:
        page.put(node.leaves())
    elif node.rule in ("fact", "reason_node", "says"):
        head = leaves_of(node.parts[: node.index("sql")])
        flow(page, head, indent, start=len(head))
        put_sql(page, node, indent)
    elif node.rule == "request":
        _put_request(page, node, indent)
    elif node.rule in ("run", "call_node", "do"):
        _put_call(page, node, indent)
    else:
        _put_inline(page, node, indent)


def put_sql(page: Page, node: Node, indent: int) -> None:
    """Write the SQL that ends a rule on lines of its own."""
    run = leaves_of(node.parts[node.index("sql") :])
    page.begin(run[0], indent + STEP, blank=False)
    flow(page, run, indent + STEP, inline=False)


def _put_inline(page: Page, node: Node, indent: int) -> None:
    """Write a statement whose SQL goes on behind its first words, its message on a line of its own."""
    otherwise = node.index("_ELSE")
    run = leaves_of(node.parts[:otherwise])
    start = 0 if node.rule == "write" else _sql_start(run)
    flow(page, run, indent, start=start, hang=STEP if node.rule == "require" else 0)
    message = leaves_of(node.parts[otherwise:])
    if message:
        page.begin(message[0], indent + STEP, blank=False)
        page.put(message)


def _put_request(page: Page, node: Node, indent: int) -> None:
    """Write a request, its text on a line of its own."""
    place = next(i for i, part in enumerate(node.parts) if isinstance(part, Leaf) and part.kind in ("STRING", "TEXT"))
    flow(page, leaves_of(node.parts[:place]), indent, start=_sql_start(leaves_of(node.parts[:place])))
    page.begin(leaves_of(node.parts[place:])[0], indent + STEP, blank=False)
    page.put(leaves_of(node.parts[place:]))


def _put_blocks(page: Page, node: Node, indent: int) -> None:
    """Write an `if` or an `each`: what stands before each block, and the block."""
    head: list[Leaf] = []
    for part in node.parts:
        if isinstance(part, Leaf) or part.rule != "block":
            head.extend(leaves_of([part]))
            continue
        if head[0].kind == "_ELSE" and (head[0].own or page.closed):
            page.begin(head[0], indent, blank=False)
        flow(page, [*head, part.first], indent, start=_sql_start(head), hang=STEP)
        put_body(page, part, indent, put_statement)
        head = []


def _put_call(page: Page, node: Node, indent: int) -> None:
    """Write a call, and what it must give on a line of its own; or its arguments on lines of theirs."""
    place = node.index("deed" if node.rule == "do" else "call")
    head, call, rest = leaves_of(node.parts[:place]), node.parts[place], leaves_of(node.parts[place + 1 :])
    page.put(head[:1])
    if node.rule == "call_node":
        page.pad(indent + _PLAN_NAME)
    page.put(head[1:])
    assert isinstance(call, Node)
    ended = rest[0].kind == "SEMICOLON"
    text = one_line([call])
    if text is not None and fits(page, text + (";" if ended else "")):
        page.put(call.leaves())
    else:
        put_broken(page, call, indent)
    if ended:
        page.put(rest)
        return
    if not fits(page, flat(rest)):
        page.begin(rest[0], indent + STEP, blank=False)
    flow(page, rest, indent + STEP, start=1)


def _sql_start(run: list[Leaf]) -> int:
    return next((i for i, leaf in enumerate(run) if leaf.sql), len(run))
