"""Text to syntax tree: the only door to Lark.

Each declaration is parsed by itself, so that one report holds the syntax errors of all of them and the sound
declarations are still checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from lark import Lark, TextSlice, Token, Tree
from lark.exceptions import UnexpectedInput

from forgec.diagnostics import Report
from forgec.source import Source, Span
from forgec.syntax.build import Builder, Swallowed
from forgec.syntax.nodes import File, Item
from forgec.syntax.report import report_syntax
from forgec.syntax.scan import declarations, declared_names
from forgec.syntax.table import parser


@cache
def _parser() -> Lark:
    return parser(propagate_positions=True, maybe_placeholders=True)


def parse(source: Source, report: Report) -> File:
    """The declarations of `source` that parse; each one that does not is reported."""
    items: list[Item] = []
    for start, end in declarations(source, report):
        try:
            tree = _parser().parse(TextSlice(source.text, start, end))
        except UnexpectedInput as error:
            report_syntax(error, source, start, end, report)
            report.give_up(*declared_names(source.text[start:end]))
        else:
            items.extend(_built(tree, Builder(source, report)))
    return File(Span(source, 0, len(source.text)), tuple(items))


def _built(tree: Tree[Token], builder: Builder) -> Iterator[Item]:
    for child in tree.children:
        if isinstance(child, Tree):
            try:
                yield builder.item(child)
            except Swallowed:
                builder.report.give_up(str(next(part for part in child.children if isinstance(part, Token))))
