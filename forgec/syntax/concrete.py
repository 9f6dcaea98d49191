"""The concrete syntax of a file: every token under the rule of `grammar/afs.lark` it stands in.

The syntax tree of `nodes.py` says what a spec means; this one says how it is written, for tools that write it anew.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput

from forgec.source import Source
from forgec.syntax.table import parser


class Word(NamedTuple):
    """One token: the name of its terminal, its text, and the offset where it starts."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class Phrase(NamedTuple):
    """One rule (or its alias) of the grammar, and what it consists of, punctuation included."""

    rule: str
    parts: tuple[Phrase | Word, ...]


@cache
def _parser() -> Lark:
    return parser(keep_all_tokens=True, maybe_placeholders=False)


def concrete(source: Source) -> Phrase | None:
    """The concrete syntax of a source, or None when it does not parse; `parse` says why."""
    try:
        tree = _parser().parse(source.text)
    except UnexpectedInput:
        return None
    return _phrase(tree)


def _phrase(tree: Tree[Token]) -> Phrase:
    parts = [_phrase(part) if isinstance(part, Tree) else _word(part) for part in tree.children]
    return Phrase(str(tree.data), tuple(parts))


def _word(token: Token) -> Word:
    return Word(token.type, str(token), token.start_pos or 0)
