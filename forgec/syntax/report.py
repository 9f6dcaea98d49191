"""What to say of a declaration that does not parse: what was expected, in words, at the place to mend."""

from __future__ import annotations

import re

from lark import Token
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from forgec.diagnostics import Label, Report, did_you_mean
from forgec.source import Source, Span
from forgec.syntax.scan import KEYWORDS, SCAN

_STATEMENT = re.compile(r"^[ \t]*(?P<word>let|require|if|each|do|fact|plan|says|expect|intent|reason)\b", re.MULTILINE)
_SQL_STRING = re.compile(r"--[^\n]*|/\*[\s\S]*?\*/|\"(?:[^\"\\\n]|\\.)*\"|(?P<string>'(?:[^']|'')*')")

_HUMAN = {
    "NAME": "a name", "SQLSTRING": "a 'string'", "STRING": 'a "string"', "TEXT": 'a "string"', "INT": "a number",
    "SIGNED": "a number", "SQLNUM": "a number", "PARAM": "a `$value`", "OP": "an operator", "SEMICOLON": "`;`",
    "COMMA": "`,`", "LPAR": "`(`", "RPAR": "`)`", "LBRACE": "`{`", "RBRACE": "`}`", "LSQB": "`[`", "RSQB": "`]`",
    "EQUAL": "`=`", "COLON": "`:`", "DOT": "`.`", "_ELSE": "`else`", "CASE": "`case`", "END": "`end`", "ARRAY": "`[]`",
    "OPTIONAL": "`?`", "WRITE": "`insert`, `update` or `delete`", "VERDICT": "`enforced` or `audited`",
    "NEST": "`list`, `map` or `bag`",
    "__ANON_0": "`->`", "$END": "the end of the declaration",
}  # fmt: skip
_STATEMENT_START = {"LET", "SET", "REQUIRE", "IF", "EACH", "DO", "RETURN", "REPLY", "FAIL", "WRITE"}
_SQL_START = {"NAME", "SQLNUM", "SQLSTRING", "STRING", "PARAM", "OP", "CASE", "LPAR", "LSQB", "LBRACE"}
_OF_COLUMNS = {
    "not": "a column is never null, unless its type ends with `?`",
    "null": "a `?` after the type allows null",
    "primary": "the key is marked with `key`",
    "references": "a reference is written `-> table` in place of a type",
    ";": "columns are separated by `,`",
}
"""What SQL writes after the type of a column, and what is written here."""
_ELSE_IF = {"elif", "elseif", "elsif"}


def report_syntax(error: UnexpectedInput, source: Source, start: int, end: int, report: Report) -> None:
    """Report why Lark could not read the declaration from `start` to `end`."""
    if isinstance(error, UnexpectedCharacters):
        _report_character(error.pos_in_stream or 0, source, report)
    elif isinstance(error, UnexpectedToken):
        _report_token(error, source, start, end, report)


def _report_character(position: int, source: Source, report: Report) -> None:
    char = source.text[position]
    span = Span(source, position, position + 1)
    if char in "\"'":
        report.error(
            "AFS102", "a string is never closed", span, "it opens here", related=_long_strings(source, position)
        )
    elif char == "$":
        report.error("AFS104", "unexpected `$`", span, help="a value is written `$name`; `$1` and `$$` do not exist")
    else:
        shown = repr(char) if char.isprintable() else f"U+{ord(char):04X}"
        report.error("AFS104", f"unexpected character {shown}", span, help=_character_help(char))


def _character_help(char: str) -> str | None:
    if char.isspace():
        return "write a plain space"
    if char in "\u201c\u201d\u2018\u2019":
        return "use straight quotes"
    if not char.isascii():
        return "names are ASCII; other letters belong in strings"
    return "comments start with `--`" if char in "#/" else None


def _report_token(error: UnexpectedToken, source: Source, start: int, end: int, report: Report) -> None:
    token, accepted = error.token, set(error.accepts or error.expected)
    at_end = token.type == "$END"
    position = end if at_end else token.start_pos or 0
    before = _before(source, start, position)
    missing = _missing(token, accepted, new_line="\n" in source.text[before.end : position])
    if missing is not None:
        report.error("AFS103", f"a `{missing}` is missing", before, "after this")
        return
    span = before if at_end else Span(source, position, token.end_pos or 0)
    found = "the end of the declaration" if at_end else f"`{token}`"
    related: list[Label] = []
    if at_end or (token.type == "SEMICOLON" and accepted & {"RPAR", "RSQB", "RBRACE"}):
        related = _open_bracket(source, start, position)
        if (
            related
            and related[0].span.text == "{"
            and not at_end
            and _report_swallowed(related[0].span, source, start, report)
        ):
            return
    hint = _help(token, accepted, source, start)
    if str(token) in ("(", "fails", "returns") and _in_plan(source, start, position):
        hint = "a plan holds calls that succeed, `name = tool(...)`; what fails is for a test"
    report.error("AFS101", f"expected {_wanted(accepted)}, found {found}", span, related=related, help=hint)


def _help(token: Token, accepted: set[str], source: Source, start: int) -> str | None:
    """What was meant, where other languages write something else."""
    text, position, end = str(token), token.start_pos or 0, token.end_pos or 0
    if "UNSCORED" in accepted and text.lower() in _OF_COLUMNS:
        return _OF_COLUMNS[text.lower()]
    if token.type == "SQLSTRING" and "STRING" in accepted:
        return "texts for people and agents stand in double quotes"
    if text == "//":
        return "comments start with `--`"
    if text == "-" and re.match(r"\w-\w", source.text[max(position - 1, 0) : end + 1]):
        return "names have `_` where others have `-`"
    if text in _ELSE_IF and "_ELSE" in accepted:
        return "write `else if`"
    if accepted == {"NAME", "RPAR"} and source.text.startswith(("test", "task"), start):
        return "every argument has its name: `parameter: value`"
    if token.type != "NAME":
        return None
    if accepted == {"LPAR", "PARAM"}:
        called = source.text[end:].lstrip().startswith("(")
        return "SQL stands in brackets here" if called else f"the rows of a table are `(select * from {text})`"
    hint = did_you_mean(text, _keywords(accepted))
    if hint is None and "LET" in accepted and source.text[end:].lstrip().startswith("="):
        return f"a value gets its name with `let {text} = ...;`"
    return hint


def _missing(token: Token, accepted: set[str], *, new_line: bool) -> str | None:
    """The `;` or `,` that was most likely forgotten before `token`."""
    if token.type == "LPAR" and accepted == {"COMMA", "SEMICOLON"} and new_line:
        return ","  # between the rows of a world
    if "SEMICOLON" in accepted:
        return ";" if token.type == "RBRACE" or (new_line and "COMMA" not in accepted) else None
    return "," if "COMMA" in accepted and new_line and token.type == "NAME" else None


def _before(source: Source, start: int, position: int) -> Span:
    """The last character before `position` that is neither blank nor in a comment."""
    bare = source.text[:position]
    for match in SCAN.finditer(source.text, start, position):
        if match["comment"]:
            bare = bare[: match.start()] + " " * len(match[0]) + bare[match.end() :]
    last = max(len(bare.rstrip()) - 1, start)
    return Span(source, last, last + 1)


def _report_swallowed(brace: Span, source: Source, start: int, report: Report) -> bool:
    """Report the `;` missing before the statement that has this brace, which SQL has swallowed."""
    found = list(_STATEMENT.finditer(source.text, start, brace.start))
    if not found:
        return False
    before = _before(source, start, found[-1].start())
    if before.text in ";{}":
        return False
    swallowed = Span(source, found[-1].start("word"), found[-1].end("word"))
    related = [Label(swallowed, "this starts another statement")]
    report.error("AFS103", "a `;` is missing", before, "after this", related=related)
    return True


def _long_strings(source: Source, position: int) -> list[Label]:
    """The last SQL string before `position` that runs over several lines, as it may be the one to close."""
    found = [match for match in _SQL_STRING.finditer(source.text, 0, position) if "\n" in (match["string"] or "")]
    spans = [Span(source, match.start(), match.start() + 1) for match in found[-1:]]
    return [Label(span, "or this one, which runs over several lines") for span in spans]


def _open_bracket(source: Source, start: int, position: int) -> list[Label]:
    """The innermost bracket that is open at `position`."""
    text, opened = source.text, list[int]()
    for match in SCAN.finditer(text, start, position):
        if match["open"]:
            opened.append(match.start())
        elif match["close"] and opened:
            opened.pop()
    return [Label(Span(source, opened[-1], opened[-1] + 1), "opened here")] if opened else []


def _in_plan(source: Source, start: int, position: int) -> bool:
    """Whether a node of a plan is expected at `position`, or goes on there."""
    opened = _open_bracket(source, start, position)
    return bool(opened) and re.search(r"\bplan\s*$", source.text[start : opened[0].span.start]) is not None


def _keywords(accepted: set[str]) -> list[str]:
    return [name.lower() for name in accepted if name.isupper() and name not in _HUMAN]


def _wanted(terminals: set[str]) -> str:
    """What may stand here, in words and in a stable order."""
    items = {keyword.upper() for keyword in KEYWORDS}
    if items <= terminals:
        return "a declaration"
    words: list[str] = []
    if terminals >= _STATEMENT_START:
        terminals = terminals - _STATEMENT_START
        words.append("a statement")
    if len(terminals & _SQL_START) >= 8:
        terminals = terminals - _SQL_START
        words.append("an expression")
    names = {_HUMAN.get(name) or f"`{name.lower()}`" for name in terminals}
    words = [*sorted(names, key=lambda word: (not word.startswith("`"), word[1:2].isalpha(), word)), *words]
    if len(words) > 6:
        words = [*words[:5], "..."]
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]
