"""Text to syntax tree: the only door to Lark.

A file is cut at keywords in column 1 and each declaration is parsed by itself, so that one report holds the syntax
errors of all of them and the sound declarations are still checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache

from lark import Lark, TextSlice, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from forgec.diagnostics import Report, did_you_mean
from forgec.resources import resource
from forgec.source import Source, Span
from forgec.syntax.build import Builder, Swallowed
from forgec.syntax.nodes import File, Item

KEYWORDS = (
    "environment", "policy", "enum", "record", "table", "invariant", "function", "tool", "rule", "world", "test",
    "task",
)  # fmt: skip

MAX_FILE = 1_000_000
"""Characters in one spec file."""
MAX_DEPTH = 40
"""Brackets open at once; the libraries behind us recurse, and fail far beyond this."""

_SCAN = re.compile(
    r'(?P<text>"""[\s\S]*?(?:"""|\Z))|(?P<string>"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\')'
    r"|(?P<comment>--[^\n]*|/\*[\s\S]*?(?:\*/|\Z))"
    rf"|(?P<item>^(?:{'|'.join(KEYWORDS)})\b)|(?P<open>[({{\[])|(?P<close>[)}}\]])",
    re.MULTILINE,
)

_HUMAN = {
    "NAME": "a name", "SQLSTRING": "a 'string'", "STRING": 'a "string"', "TEXT": 'a """text"""', "INT": "a number",
    "SIGNED": "a number", "SQLNUM": "a number", "PARAM": "a `$value`", "OP": "an operator", "SEMICOLON": "`;`",
    "COMMA": "`,`", "LPAR": "`(`", "RPAR": "`)`", "LBRACE": "`{`", "RBRACE": "`}`", "LSQB": "`[`", "RSQB": "`]`",
    "EQUAL": "`=`", "COLON": "`:`", "DOT": "`.`", "_ELSE": "`else`", "CASE": "`case`", "END": "`end`", "ARRAY": "`[]`",
    "OPTIONAL": "`?`", "WRITE": "`insert`, `update` or `delete`", "VERDICT": "`enforced` or `audited`",
    "__ANON_0": "`->`", "$END": "the end of the declaration",
}  # fmt: skip
_SQL_START = {"NAME", "SQLNUM", "SQLSTRING", "STRING", "PARAM", "OP", "CASE", "LPAR", "LSQB", "LBRACE"}


@cache
def _parser() -> Lark:
    return Lark(
        resource("grammar", "afs.lark").read_text(encoding="utf-8"),
        parser="lalr",
        lexer="contextual",
        propagate_positions=True,
        maybe_placeholders=True,
        start="file",
    )


def parse(source: Source, report: Report) -> File:
    """The declarations of `source` that parse; each one that does not is reported."""
    items: list[Item] = []
    for start, end in _declarations(source, report):
        try:
            tree = _parser().parse(TextSlice(source.text, start, end))
        except UnexpectedInput as error:
            _report_syntax(error, source, start, end, report)
        else:
            items.extend(_built(tree, Builder(source, report)))
    return File(Span(source, 0, len(source.text)), tuple(items))


def _built(tree: Tree[Token], builder: Builder) -> Iterator[Item]:
    for child in tree.children:
        if isinstance(child, Tree):
            with suppress(Swallowed):
                yield builder.item(child)


def _declarations(source: Source, report: Report) -> list[tuple[int, int]]:
    """Where each declaration starts and ends; none that nests too deep."""
    text = source.text
    if len(text) > MAX_FILE:
        report.error("AFS005", f"a spec has at most {MAX_FILE:,} characters", Span(source, 0, 0))
        return []
    starts, depth, too_deep = [0], 0, set[int]()
    for match in _SCAN.finditer(text):
        if match["item"]:
            starts.append(match.start())
            depth = 0
        elif match["open"]:
            depth += 1
            if depth > MAX_DEPTH and starts[-1] not in too_deep:
                too_deep.add(starts[-1])
                span = Span(source, match.start(), match.end())
                report.error("AFS105", f"brackets nest deeper than {MAX_DEPTH}", span)
        elif match["close"]:
            depth -= 1
    ends = [*starts[1:], len(text)]
    return [(a, b) for a, b in zip(starts, ends, strict=True) if a < b and a not in too_deep]


def _report_syntax(error: UnexpectedInput, source: Source, start: int, end: int, report: Report) -> None:
    if isinstance(error, UnexpectedCharacters):
        _report_character(error.pos_in_stream or 0, source, report)
    elif isinstance(error, UnexpectedToken):
        _report_token(error, source, start, end, report)


def _report_character(position: int, source: Source, report: Report) -> None:
    char = source.text[position]
    span = Span(source, position, position + 1)
    if char in "\"'":
        report.error("AFS102", "a string is never closed", span, "it opens here")
    elif char == "$":
        report.error("AFS104", "unexpected `$`", span, help="a value is written `$name`; `$1` and `$$` do not exist")
    else:
        report.error("AFS104", f"unexpected character {char!r}", span, help=_character_help(char))


def _character_help(char: str) -> str | None:
    if char in "\u201c\u201d\u2018\u2019":
        return "use straight quotes"
    if not char.isascii():
        return "names are ASCII; other letters belong in strings"
    return "comments start with `--`" if char in "#/" else None


def _report_token(error: UnexpectedToken, source: Source, start: int, end: int, report: Report) -> None:
    token = error.token
    at_end = token.type == "$END"
    history = error.token_history or []
    before = history[-1] if history else None
    if "SEMICOLON" in (error.accepts or error.expected) and before is not None and before.end_pos is not None:
        between = source.text[before.end_pos : end if at_end else token.start_pos]
        if "\n" in between or at_end:
            report.error("AFS103", "a `;` is missing", Span(source, before.end_pos - 1, before.end_pos), "after this")
            return
    if at_end:
        last = start + len(source.text[start:end].rstrip()) - 1
        span = Span(source, max(last, start), max(last, start) + 1)
    else:
        span = Span(source, token.start_pos or 0, token.end_pos or 0)
    found = "the end of the declaration" if at_end else f"`{token}`"
    wanted = _wanted(set(error.accepts or error.expected))
    text = str(token)
    hint = None
    if not at_end and token.type == "NAME":
        hint = did_you_mean(text, [*KEYWORDS, *_keywords(error)])
    report.error("AFS101", f"expected {wanted}, found {found}", span, help=hint)


def _keywords(error: UnexpectedToken) -> list[str]:
    return [name.lower() for name in (error.accepts or error.expected) if name.isupper() and name not in _HUMAN]


def _wanted(terminals: set[str]) -> str:
    """What may stand here, in words and in a stable order."""
    words: list[str] = []
    if len(terminals & _SQL_START) >= 8:
        terminals = terminals - _SQL_START
        words.append("an expression")
    names = {_HUMAN.get(name) or f"`{name.lower()}`" for name in terminals}
    words.extend(sorted(names, key=lambda word: (word.startswith("`"), word)))
    if len(words) > 6:
        words = [*words[:5], "..."]
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]
