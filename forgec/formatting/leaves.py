"""What the formatter works on: the tokens of a file with their comments, under the rules they stand in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

SQL_RULES = frozenset({"sql", "expr", "parens", "value", "document"})


@dataclass(slots=True)
class Comment:
    """A comment, and whether a blank line stands above it."""

    text: str
    blank: bool = False

    @property
    def to_line_end(self) -> bool:
        return self.text.startswith("--")


@dataclass(eq=False, slots=True)
class Leaf:
    """A token as it will be printed.

    `own` are the comments on lines of their own above it, `inline` those before it on its line, `trail` those after
    it that end its line. `broken` and `blank` say whether the author began a line here, and left a blank one above;
    `touches` whether nothing stood between it and the token before.
    """

    kind: str
    text: str
    rule: str
    start: int
    end: int
    own: list[Comment] = field(default_factory=list)
    inline: list[Comment] = field(default_factory=list)
    trail: list[Comment] = field(default_factory=list)
    broken: bool = False
    blank: bool = False
    touches: bool = False
    space: bool = True

    @property
    def sql(self) -> bool:
        return self.rule in SQL_RULES

    @property
    def word(self) -> str:
        """The token in lower case when it may be a keyword of SQL; empty for all others."""
        return self.text.lower() if self.kind in ("NAME", "CASE", "END", "_ELSE", "WRITE") else ""


@dataclass(eq=False, slots=True)
class Node:
    """A rule of the grammar; `magic` when the author ended its list with a comma, which keeps the list broken."""

    rule: str
    parts: list[Node | Leaf]
    magic: bool = False

    def leaves(self) -> Iterator[Leaf]:
        for part in self.parts:
            if isinstance(part, Leaf):
                yield part
            else:
                yield from part.leaves()

    @property
    def first(self) -> Leaf:
        return next(self.leaves())

    @property
    def last(self) -> Leaf:
        """The last child, which must be a token."""
        leaf = self.parts[-1]
        assert isinstance(leaf, Leaf)
        return leaf

    def leaf(self, kind: str) -> Leaf:
        """The first child that is a token of `kind`. Raises `StopIteration` when there is none."""
        return next(part for part in self.parts if isinstance(part, Leaf) and part.kind == kind)

    def nodes(self, *rules: str) -> list[Node]:
        """The children that are rules, only those of `rules` where any are named."""
        return [part for part in self.parts if isinstance(part, Node) and (not rules or part.rule in rules)]

    def index(self, kind: str) -> int:
        """Where the first child is that is a token of `kind` or a node of that rule; the number of children if none."""
        for i, part in enumerate(self.parts):
            if (part.kind if isinstance(part, Leaf) else part.rule) == kind:
                return i
        return len(self.parts)


def leaves_of(parts: Iterable[Node | Leaf]) -> list[Leaf]:
    """The tokens of some children, in order."""
    found: list[Leaf] = []
    for part in parts:
        found.extend([part] if isinstance(part, Leaf) else part.leaves())
    return found


def flat(leaves: list[Leaf]) -> str | None:
    """The tokens on one line, or None where a comment or a text over several lines forbids that.

    Comments above the first and after the last token are not looked at: they are no hindrance.
    """
    pieces: list[str] = []
    for i, leaf in enumerate(leaves):
        if (i and leaf.own) or (leaf.trail and i < len(leaves) - 1):
            return None
        pieces.append(spaced(leaf, first=i == 0))
    text = "".join(pieces)
    return None if "\n" in text else text


def spaced(leaf: Leaf, *, first: bool) -> str:
    """The token with its inline comments, and what separates it from the one before it on the line."""
    text = leaf.text
    for comment in reversed(leaf.inline):
        text = comment.text + ("" if text[:1] in (",", ";", ")", "]") else " ") + text
    return text if first or not (leaf.space or leaf.inline) else " " + text


def width(leaves: list[Leaf]) -> int:
    """How many columns the tokens take on one line; very many when they cannot stand on one."""
    text = flat(leaves)
    return 10_000 if text is None else len(text)


def one_line(parts: Iterable[Node | Leaf]) -> str | None:
    """Some children on one line, or None where a comment, a text or the author's last comma forbids that."""
    parts = list(parts)
    return None if any(_is_magic(part) for part in parts) else flat(leaves_of(parts))


def _is_magic(part: Node | Leaf) -> bool:
    return isinstance(part, Node) and (part.magic or any(map(_is_magic, part.parts)))
