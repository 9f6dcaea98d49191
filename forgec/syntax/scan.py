"""A spec file before it is parsed: cut into its declarations at the keywords in column 1."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right

from forgec.diagnostics import Report
from forgec.source import Source, Span

KEYWORDS = (
    "use", "extend", "environment", "policy", "enum", "record", "type", "table", "single", "view", "invariant",
    "function", "action", "user", "tool", "sync", "rule", "world", "test", "task",
)  # fmt: skip

MAX_FILE = 1_000_000
"""Characters in one spec file."""
MAX_DECLARATIONS = 10_000
"""Declarations in one spec file."""
MAX_DEPTH = 40
"""Brackets open at once; the libraries behind us recurse, and fail far beyond this."""

SCAN = re.compile(
    r'(?P<text>"""[\s\S]*?(?:"""|\Z))|(?P<string>"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\')'
    r"|(?P<comment>--[^\n]*|/\*[\s\S]*?(?:\*/|\Z))"
    rf"|(?P<item>^(?:{'|'.join(KEYWORDS)})\b)|(?P<open>[({{\[])|(?P<close>[)}}\]])",
    re.MULTILINE,
)
"""Texts, strings and comments, so that what looks like code inside them is none; declarations; brackets."""
_DECLARED = re.compile(
    rf"^(?:[ \t]*(?:user\s+)?(?:{'|'.join(KEYWORDS)})\s+|[A-Za-z]+[ \t]+)([A-Za-z_][A-Za-z0-9_]*)", re.MULTILINE
)
"""A declaration, perhaps indented or with a misspelled keyword, and its name."""


_UNUSUAL = re.compile(r"[^\t\n\r -~]|\r(?!\n)")


def is_hidden(char: str) -> bool:
    """Whether a terminal or a reader would obey `char` and not see it: control, bidirectional, private."""
    return char not in "\n\t" and unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs")


def declarations(source: Source, report: Report) -> list[tuple[int, int]]:
    """Where each declaration starts and ends; none that nests too deep."""
    text = source.text
    if len(text) > MAX_FILE:
        report.error("AFS005", f"a spec has at most {MAX_FILE:,} characters", Span(source, 0, 0))
        return []
    starts, depth, skipped = [0], 0, set[int]()
    for match in SCAN.finditer(text):
        what = _never_closed(match)
        if what is not None:
            skipped.add(starts[-1])
            span = Span(source, match.start(), match.start() + (3 if what == "text" else 2))
            report.error("AFS102", f"a {what} is never closed", span, "it opens here")
            report.give_up(*declared_names(text[starts[-1] :]))
        elif match["item"]:
            if len(starts) > MAX_DECLARATIONS:
                message = f"a spec has at most {MAX_DECLARATIONS:,} declarations"
                report.error("AFS005", message, Span(source, match.start(), match.end()))
                return []
            starts.append(match.start())
            depth = 0
        elif match["open"]:
            depth += 1
            if depth > MAX_DEPTH and starts[-1] not in skipped:
                skipped.add(starts[-1])
                span = Span(source, match.start(), match.end())
                report.error("AFS105", f"brackets nest deeper than {MAX_DEPTH}", span)
        elif match["close"]:
            depth -= 1
    reported = set[tuple[int, str]]()
    for match in _UNUSUAL.finditer(text):
        if is_hidden(match[0]):
            start = starts[bisect_right(starts, match.start()) - 1]
            skipped.add(start)
            if (start, match[0]) not in reported:  # once a declaration: it may end every line
                reported.add((start, match[0]))
                message = f"the character U+{ord(match[0]):04X} may not stand in a spec"
                hint = "end lines with a line feed, as Unix does, or as Windows does" if match[0] == "\r" else None
                report.error("AFS108", message, Span(source, match.start(), match.end()), help=hint)
    for start in skipped:
        if declared := _DECLARED.match(text, start):
            report.give_up(declared[1])
    ends = [*starts[1:], len(text)]
    return [(a, b) for a, b in zip(starts, ends, strict=True) if a < b and a not in skipped]


def _never_closed(match: re.Match[str]) -> str | None:
    """What a match opens and the file never closes."""
    if match["text"] and not (len(match["text"]) >= 6 and match["text"].endswith('"""')):
        return "text"
    if match["comment"] and match["comment"].startswith("/*") and not match["comment"].endswith("*/"):
        return "comment"
    return None


def declared_names(text: str) -> list[str]:
    """The names of the declarations in `text`, in order."""
    return _DECLARED.findall(text)
