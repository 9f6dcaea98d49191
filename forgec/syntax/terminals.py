"""The words and tokens of `grammar/afs.lark`, for tools that read specs without parsing them."""

from __future__ import annotations

from dataclasses import dataclass

from lark import Lark
from lark.lexer import PatternRE, PatternStr, TerminalDef

from forgec.resources import resource


@dataclass(frozen=True)
class Terminals:
    """`keywords`: the grammar's own words, sorted. `patterns`: the regular expression of each named token."""

    keywords: tuple[str, ...]
    patterns: dict[str, str]


def whole_word(terminal: TerminalDef) -> None:
    """Let a keyword end where its word ends: `requires` is no `require` before an `s`."""
    if isinstance(terminal.pattern, PatternStr) and terminal.pattern.value.isalpha():
        terminal.pattern = PatternRE(rf"{terminal.pattern.value}\b")
        terminal.priority = 1  # as a string it had, before names


def terminals() -> Terminals:
    """The terminals of the grammar as it lies beside the code."""
    grammar = resource("grammar", "afs.lark").read_text(encoding="utf-8")
    found = Lark(grammar, parser="lalr", start="file").terminals
    words = {t.pattern.value for t in found if isinstance(t.pattern, PatternStr) and t.pattern.value.isalpha()}
    patterns = {t.name: t.pattern.to_regexp() for t in found if not isinstance(t.pattern, PatternStr)}
    return Terminals(tuple(sorted(words)), patterns)
