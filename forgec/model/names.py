"""Which names a spec may use, and that each is used once."""

from __future__ import annotations

import re

from forgec.diagnostics import Label, Report
from forgec.source import Span
from forgec.sql.allow import NAMED_FUNCTIONS
from forgec.sql.tree import is_sql_function
from forgec.syntax.nodes import Name

MAX_NAME = 60
_LOWER = re.compile(r"[a-z](?:_?[a-z0-9]+)*")
_ANY = re.compile(r"[A-Za-z](?:_?[A-Za-z0-9]+)*")
_OURS = frozenset({"call", "row", "q"})
_TAKEN = {
    "column": {"call"}, "table": _OURS, "view": _OURS, "parameter": _OURS, "value": _OURS, "fact": _OURS, "node": _OURS,
}  # fmt: skip
"""What the queries of a package call their own, by the kinds of names that would hide it."""


def check_name(name: Name, what: str, report: Report, *, lower: bool = True) -> bool:
    """Whether `name` may be the name of a `what`; reports when not."""
    pattern = _LOWER if lower else _ANY
    if not pattern.fullmatch(name.text) or len(name.text) > MAX_NAME:
        wanted = (
            "lower-case letters, digits and single underscores" if lower else "letters, digits and single underscores"
        )
        hint = f"use {wanted}, starting with a letter, at most {MAX_NAME} characters"
        report.error("AFS209", f"`{name}` cannot be the name of a {what}", name.span, help=hint)
        return False
    if what == "function" and (name.text in NAMED_FUNCTIONS or is_sql_function(name.text)):
        report.error("AFS209", f"`{name}` is a function of SQL already", name.span)
        return False
    if name.text in _TAKEN.get(what, ()):
        report.error("AFS209", f"`{name}` has a meaning of its own and cannot be a name", name.span)
        return False
    return True


class Names:
    """The names of one kind in one place; compared without regard to case."""

    def __init__(self, what: str, report: Report) -> None:
        self.what = what
        self.report = report
        self.seen: dict[str, Span] = {}

    def check(self, name: Name) -> bool:
        """Whether `name` is sound and new, and is taken from now on; nothing is reported."""
        if name.text.lower() in self.seen or not check_name(name, self.what, Report()):
            return False
        self.seen[name.text.lower()] = name.span
        return True

    def add(self, name: Name, *, lower: bool = True) -> bool:
        """Whether `name` is sound and new; reports when not."""
        if not check_name(name, self.what, self.report, lower=lower):
            self.report.give_up(name.text)
            return False
        first = self.seen.setdefault(name.text.lower(), name.span)
        if first is not name.span:
            related = [Label(first, "first declared here")]
            self.report.error(
                "AFS208", f"the {self.what} `{name}` is declared twice", name.span, "declared again", related=related
            )
            return False
        return True
