"""Comments find their tokens: one pass over the gaps between tokens, then commas are made to stand aside.

A comment belongs to the token before it when it ends that token's line, and to the token after it otherwise. Since
every comment hangs on a token and every token is printed once, none can be lost.
"""

from __future__ import annotations

import re

from forgec.formatting.keywords import STATEMENT_WORD
from forgec.formatting.leaves import Comment, Leaf

_GAP = re.compile(r"(?P<comment>--[^\n]*|/\*[\s\S]*?\*/)|(?P<newline>\n)|[ \t\r]+")


def comments_in(gap: str) -> list[str]:
    """The comments between two tokens, without white space at the end of their lines."""
    return [_clean(match["comment"]) for match in _GAP.finditer(gap) if match["comment"]]


def _clean(comment: str) -> str:
    return "\n".join(line.rstrip() for line in comment.split("\n"))


def attach(before: Leaf | None, gap: str, leaf: Leaf) -> None:
    """Hang the comments of the `gap` between two tokens on them, and note its line breaks."""
    found: list[tuple[Comment, int]] = []
    newlines = 0
    for match in _GAP.finditer(gap):
        if match["comment"]:
            found.append((Comment(_clean(match["comment"]), newlines > 1), newlines))
            newlines = 0
        elif match["newline"]:
            newlines += 1
    leaf.broken = newlines > 0 or any(above for _, above in found)
    leaf.blank = newlines > 1
    leaf.touches = not gap
    _place(before, found, newlines, leaf)


def _place(before: Leaf | None, found: list[tuple[Comment, int]], newlines: int, leaf: Leaf) -> None:
    """`found` holds each comment with the line breaks above it; `newlines` are those after the last."""
    inline = len(found)
    while inline and _followed_on_line(found, inline - 1, newlines):
        inline -= 1
    for comment, _ in found[inline:]:
        leaf.inline.append(comment)
    ends_line = before is not None
    for comment, above in found[:inline]:
        ends_line = ends_line and above == 0
        if ends_line and before is not None:
            before.trail.append(comment)
        else:
            leaf.own.append(comment)


def _followed_on_line(found: list[tuple[Comment, int]], i: int, newlines: int) -> bool:
    """Whether what follows the comment `i` stands on its line, up to the token."""
    after = found[i + 1][1] if i + 1 < len(found) else newlines
    return not found[i][0].to_line_end and after == 0


def settle(leaves: list[Leaf]) -> None:
    """Move comments from before `,` and `;` to after them, where people write them."""
    for i in range(1, len(leaves) - 1):
        leaf = leaves[i]
        if leaf.text not in (",", ";"):
            continue
        before, after = leaves[i - 1], leaves[i + 1]
        if leaf.sql and STATEMENT_WORD.fullmatch(after.text):
            continue  # a line that starts with such a word means a missing `;` to the parser
        if before.trail or leaf.own:
            rest = [*leaf.own, *leaf.inline, *leaf.trail]
            leaf.own, leaf.inline, leaf.trail = [], [], before.trail
            before.trail = []
            _after(leaf, rest, after)


def fold_comma(before: Leaf, comma: Leaf, after: Leaf) -> None:
    """Hand the comments of a comma that is taken away to its neighbours."""
    if comma.own:
        after.own[:0] = [*comma.own, *comma.inline, *comma.trail]
    else:
        _after(before, [*comma.inline, *comma.trail], after)


def _after(leaf: Leaf, comments: list[Comment], after: Leaf) -> None:
    """Put comments behind `leaf`, on its line as long as that is possible."""
    for i, comment in enumerate(comments):
        if leaf.trail and leaf.trail[-1].to_line_end:
            after.own[:0] = comments[i:]
            return
        leaf.trail.append(comment)
