"""From a source to the tree that is printed."""

from __future__ import annotations

from forgec.formatting.comments import attach, fold_comma, settle
from forgec.formatting.keywords import lower_keywords
from forgec.formatting.leaves import SQL_RULES, Leaf, Node
from forgec.formatting.spacing import joined, set_spaces
from forgec.formatting.texts import holes_break, without_indent
from forgec.source import Source
from forgec.syntax.concrete import Phrase, Word, concrete

_LISTS = frozenset({"enum", "fields", "table", "nested", "single", "params", "call", "deed", "fill", "documents"})
"""Rules that allow a comma after the last element."""


def read(source: Source) -> Node | None:
    """The tree of a source with its comments, or None when it does not parse.

    The commas after the last element of lists are taken out. The last child is a token without text that holds what
    ends the file.
    """
    phrase = concrete(source)
    if phrase is None:
        return None
    reader = _Reader(source.text)
    file = reader.node(phrase)
    file.parts.append(reader.end())
    leaves = list(file.leaves())
    taken = _take_commas(file)
    for i, leaf in enumerate(leaves):
        if leaf in taken:
            fold_comma(leaves[i - 1], leaf, leaves[i + 1])
    return file


def prepare(file: Node) -> None:
    """Make a tree ready to be printed: comments behind commas, keywords in lower case, spaces between tokens."""
    leaves = list(file.leaves())
    settle(leaves)
    for run in _sql_of(file):
        lower_keywords(run)
    set_spaces(leaves)


class _Reader:
    """Makes leaves of the words of a text, in their order."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.last: Leaf | None = None
        self.before: Leaf | None = None

    def node(self, phrase: Phrase) -> Node:
        node = Node(phrase.rule, [])
        for part in phrase.parts:
            if isinstance(part, Phrase):
                node.parts.append(self.node(part))
            else:
                leaf = self._leaf(part, phrase.rule)
                if leaf is not None:
                    node.parts.append(leaf)
        return node

    def end(self) -> Leaf:
        """The token behind the last; the end of the file ends a line."""
        self.text += "\n"
        return self._attached(Leaf("$END", "", "file", len(self.text), len(self.text)))

    def _leaf(self, word: Word, rule: str) -> Leaf | None:
        kind, text = word.kind, word.text
        rule = "sql" if kind == "WRITE" else rule
        if kind == "ARRAY":
            text = "[]"
        elif kind == "TEXT" and rule == "message" and holes_break(text):
            kind = "VERBATIM"
        elif kind == "TEXT":
            text = without_indent(text)
        leaf = self._attached(Leaf(kind, text, rule, word.start, word.end))
        before = self.before
        if before is not None and joined(before, leaf):
            before.text += leaf.text
            before.end = leaf.end
            before.kind = leaf.kind if before.kind == "NAME" else before.kind
            self.last = before
            return None
        return leaf

    def _attached(self, leaf: Leaf) -> Leaf:
        self.before, self.last = self.last, leaf
        start = self.before.end if self.before else 0
        attach(self.before, self.text[start : leaf.start], leaf)
        return leaf


def _take_commas(node: Node) -> set[Leaf]:
    """Take the comma out after the last element of every list; the printer puts it where it belongs."""
    taken: set[Leaf] = set()
    for part in node.parts:
        if isinstance(part, Node):
            taken |= _take_commas(part)
    place = len(node.parts) - (1 if node.rule == "fields" else 2)
    if node.rule in _LISTS and place > 0:
        comma = node.parts[place]
        if isinstance(comma, Leaf) and comma.kind == "COMMA":
            del node.parts[place]
            node.magic = node.rule not in ("fill", "documents")
            taken.add(comma)
    return taken


def _sql_of(node: Node) -> list[list[Leaf]]:
    """The runs of SQL below a node; the word that begins a write belongs to its run."""
    if node.rule in SQL_RULES:
        return [list(node.leaves())]
    if node.rule == "write":
        return [list(node.leaves())[:-1]]
    return [run for part in node.parts if isinstance(part, Node) for run in _sql_of(part)]
