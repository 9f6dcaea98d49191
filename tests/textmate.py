"""As much of a TextMate engine as the grammar of specs needs: match and begin/end rules, captures, includes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

Rule = dict[str, Any]


class Tokeniser:
    """Gives each character of a text the scopes that a grammar gives it."""

    def __init__(self, grammar: Rule) -> None:
        self.grammar = grammar

    def scopes(self, text: str) -> list[tuple[str, ...]]:
        """The scopes of every character, outermost first, line by line as editors do it."""
        found: list[tuple[str, ...]] = []
        stack: list[Rule] = []
        for line in text.splitlines(keepends=True):
            marks: list[list[str]] = [[] for _ in line]
            self._line(line, stack, marks)
            found.extend(tuple(mark) for mark in marks)
        return found

    def _line(self, line: str, stack: list[Rule], marks: list[list[str]]) -> None:
        position, standing = 0, set[tuple[int, int]]()
        while position <= len(line):
            assert (position, len(stack)) not in standing, f"stands still at {position} of {line!r}"
            standing.add((position, len(stack)))
            match, rule, ends = self._next(line, position, stack)
            upto = match.start() if match else len(line)
            self._mark(marks, position, upto, [one["name"] for one in stack if "name" in one])
            if match is None:
                return
            if ends:
                self._mark(marks, match.start(), match.end(), [one["name"] for one in stack if "name" in one])
                stack.pop()
            else:
                names = [one["name"] for one in [*stack, rule] if "name" in one]
                self._mark(marks, match.start(), match.end(), names)
                for number, capture in (rule.get("captures") or rule.get("beginCaptures") or {}).items():
                    self._mark(marks, *match.span(int(number)), [capture["name"]])
                if "begin" in rule:
                    stack.append(rule)
            position = match.end()

    def _next(self, line: str, position: int, stack: list[Rule]) -> tuple[re.Match[str] | None, Rule, bool]:
        """The leftmost match, the end of the innermost region first among equals."""
        best: re.Match[str] | None = None
        of: Rule = {}
        if stack:
            best, of = _compiled(stack[-1]["end"]).search(line, position), stack[-1]
        ends = best is not None
        for rule in self._rules(stack[-1]["patterns"] if stack else self.grammar["patterns"]):
            match = _compiled(rule.get("match") or rule["begin"]).search(line, position)
            if match and (best is None or match.start() < best.start()):
                best, of, ends = match, rule, False
        return best, of, ends

    def _rules(self, patterns: list[Rule]) -> Iterator[Rule]:
        for rule in patterns:
            if "include" in rule:
                yield from self._rules([self.grammar["repository"][rule["include"].removeprefix("#")]])
            elif "match" in rule or "begin" in rule:
                yield rule
            else:
                yield from self._rules(rule["patterns"])

    @staticmethod
    def _mark(marks: list[list[str]], start: int, end: int, names: list[str]) -> None:
        for mark in marks[max(start, 0) : end]:
            mark.extend(names)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)
