"""Strings of a spec: escapes, indentation, and messages with holes."""

from __future__ import annotations

import re
import textwrap

from forgec.diagnostics import Report
from forgec.source import Span
from forgec.syntax.scan import is_hidden

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPE_OR_BRACES = re.compile(_ESCAPE.pattern + r"|(\{\{|\}\})", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "{": "{", "}": "}"}
_FORMAT = re.compile(r"[,.0-9]{0,6}[dfs]?")


def is_triple(raw: str) -> bool:
    return raw.startswith('"""')


def inner(span: Span) -> Span:
    """What stands between the quotes of a string or text."""
    width = 3 if is_triple(span.text) else 1
    return Span(span.source, span.start + width, span.end - width)


def plain(span: Span, report: Report) -> str:
    """The value of a string or text; its escapes decoded, its common indentation taken away."""
    body = inner(span)
    if is_triple(span.text):
        value = textwrap.dedent(body.text.replace("\r\n", "\n")).strip()
    else:
        value = unescape(body, report)
    check_characters(value, span, report)
    return value


def unescape(span: Span, report: Report, *, braces: bool = False) -> str:
    """The text of `span`, its escapes decoded; with `braces`, those that are doubled are one."""

    def one(match: re.Match[str]) -> str:
        code = match[1]
        if code is None:
            return match[0][0]
        if code in _SIMPLE:
            return _SIMPLE[code]
        if len(code) == 5:
            return chr(int(code[1:], 16))
        place = Span(span.source, span.start + match.start(), span.start + match.end())
        report.error(
            "AFS106", f"unknown escape `{match[0]}`", place, help='known are \\" \\\\ \\n \\t \\{ \\} and \\uXXXX'
        )
        return ""

    return (_ESCAPE_OR_BRACES if braces else _ESCAPE).sub(one, span.text)


def sql_string(raw: str) -> str:
    """The value of a 'string' of SQL."""
    return raw[1:-1].replace("''", "'")


def split_message(span: Span, report: Report) -> list[str | tuple[Span, str | None]]:
    """The literal parts of a message and its holes: the span of each expression, and its format."""
    body = inner(span)
    text = body.text
    parts: list[str | tuple[Span, str | None]] = []
    literal_start = i = 0

    def literal(end: int) -> None:
        piece = Span(body.source, body.start + literal_start, body.start + end)
        if is_triple(span.text):
            value = piece.text.replace("{{", "{").replace("}}", "}")
        else:
            value = unescape(piece, report, braces=True)
        check_characters(value, span, report)
        if value:
            parts.append(value)

    while i < len(text):
        if (text[i] == "\\" and not is_triple(span.text)) or text[i : i + 2] in ("{{", "}}"):
            i += 2
        elif text[i] == "}":
            place = Span(body.source, body.start + i, body.start + i + 1)
            report.error("AFS107", "a `}` without its `{` in a message", place, help="write `}}` for a brace")
            i += 1
        elif text[i] == "{":
            literal(i)
            end = _hole_end(text, i + 1)
            if end is None:
                place = Span(body.source, body.start + i, body.start + i + 1)
                report.error("AFS107", "a `{` in a message is never closed", place, help="write `{{` for a brace")
                return parts
            if text[i + 1 : end].strip():
                parts.append(_hole(body, i + 1, end))
            else:
                place = Span(body.source, body.start + i, body.start + end + 1)
                report.error("AFS107", "nothing stands between these braces", place, help="write `{{` for a brace")
            i = literal_start = end + 1
        else:
            i += 1
    literal(len(text))
    if is_triple(span.text):
        parts = _dedent(parts)
    return parts


def _dedent(parts: list[str | tuple[Span, str | None]]) -> list[str | tuple[Span, str | None]]:
    """Take the common indentation away from a message over several lines, its holes left alone."""
    mark = "\ue000"
    flat = "".join(part if isinstance(part, str) else mark for part in parts)
    pieces = textwrap.dedent(flat.replace("\r\n", "\n")).strip().split(mark)
    holes = [part for part in parts if not isinstance(part, str)]
    woven: list[str | tuple[Span, str | None]] = []
    for i, piece in enumerate(pieces):
        if piece:
            woven.append(piece)
        if i < len(holes):
            woven.append(holes[i])
    return woven


def _hole_end(text: str, start: int) -> int | None:
    depth, i = 0, start
    while i < len(text):
        if text[i] == "'":
            closing = text.find("'", i + 1)
            if closing < 0:
                return None
            i = closing
        elif text[i] in "({[":
            depth += 1
        elif text[i] == "}" and depth == 0:
            return i
        elif text[i] in ")}]":
            depth -= 1
        i += 1
    return None


def _hole(body: Span, start: int, end: int) -> tuple[Span, str | None]:
    """Split `{expression:format}` at its last colon, if what follows it is a format."""
    text = body.text[start:end]
    head, colon, tail = text.rpartition(":")
    if colon and tail and not head.endswith(":") and _FORMAT.fullmatch(tail):
        return Span(body.source, body.start + start, body.start + start + len(head)), tail
    return Span(body.source, body.start + start, body.start + end), None


def check_characters(value: str, span: Span, report: Report) -> None:
    """Text goes into prompts and terminals: what may not stand in a spec is not written as an escape either."""
    for char in value:
        if is_hidden(char):
            report.error("AFS108", f"the character U+{ord(char):04X} may not stand in a text", span)
            return
