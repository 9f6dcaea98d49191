"""SQL text to sqlglot trees whose nodes know their place in the spec: the only door to sqlglot.

`$x` is no SQL of its own here: before parsing, each dollar is replaced by a letter that the grammar admits in no name,
so that `$m.fines` parses as a column of a table and `from $pairs` as a table, both with exact positions.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import sqlglot
from sqlglot import Dialect, Token, TokenType, exp
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.expressions import core

from forgec.diagnostics import Report
from forgec.installation import require_interpreted
from forgec.source import Span
from forgec.syntax.nodes import SqlText

DIALECT: Dialect = Dialect.get_or_raise("duckdb")
"""One for all: it is made anew wherever it is called by its name."""
MARK = "\u00aa"

require_interpreted(core.__file__)
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # it warns on the terminal about what we refuse ourselves


class Value(exp.Expression):
    """A value of the call: `this` is its path, such as `amount` or `m.fines`."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


class Lookup(exp.Expression):
    """`members[$id].fines`: the row with these keys, or one field of it, as it is now."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expressions": True, "field": False}


class Element(exp.Expression):
    """`xs[1]` or `m['a']`: what a list has at a position, counted from 1, or a map at a key; NULL if nothing."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expression": True}


class Apply(exp.Expression):
    """A call of a function that the spec declares."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expressions": False}


class Clock(exp.Expression):
    """`now()` or `today()`."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


class Calculate(exp.Expression):
    """`calculate(text)`, which is computed outside of SQL: it is the whole of what it stands in."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


class Fragment:
    """A parsed piece of SQL and where it stands."""

    def __init__(self, text: SqlText, tree: exp.Expr) -> None:
        self.span = text.span
        self.tree = tree

    def span_of(self, node: exp.Expr) -> Span:
        """The place of `node`, with the brackets that close it; the whole fragment when it has none."""
        place = place_of(node)
        if place is None:
            return self.span
        text, (start, end) = self.span.text, place
        if isinstance(node, exp.Struct):
            start = max(text.rfind("{", 0, start), 0)
        if isinstance(node, exp.Neg):
            start = max(text.rfind("-", 0, start), 0)
        while end < len(text) and _open(text[start:end]) > 0:
            end += 1
        return self.part(start, end)

    def span_of_field(self, name: str, value: exp.Expr) -> Span:
        """The name of a field in a record that is written out, where it has this value."""
        place = place_of(value)
        keys = re.finditer(rf"(?<!\w)(['\"]?){re.escape(name)}\1(?=\s*:)", self.span.text)
        found = [key for key in keys if place is None or key.end() <= place[0]]
        if not found:
            return self.span
        key = found[0 if place is None else -1]
        return self.part(key.start(), key.end())

    def span_of_name(self, node: exp.Func) -> Span:
        """The name of a function that is called."""
        if "start" in node.meta:
            return self.part(node.meta["start"], node.meta["end"] + 1)
        return self.span_of_word("|".join(re.escape(name) for name in node.sql_names()), node)

    def span_of_word(self, pattern: str, node: exp.Expr) -> Span:
        """Where a word stands first in the fragment, else the place of `node`."""
        found = re.search(rf"\b(?:{pattern})\b", self.span.text, re.IGNORECASE)
        return self.part(found.start(), found.end()) if found else self.span_of(node)

    def has_word(self, word: str) -> bool:
        return re.search(rf"\b{re.escape(word)}\b", self.span.text, re.IGNORECASE) is not None

    def part(self, start: int, end: int) -> Span:
        """From one character to before another."""
        return Span(self.span.source, self.span.start + start, self.span.start + end)


def place_of(node: exp.Expr) -> tuple[int, int] | None:
    """From the first to the last part of `node` whose place in its fragment is known."""
    places = [(part.meta["start"], part.meta["end"] + 1) for part in node.walk() if "start" in part.meta]
    return (min(places)[0], max(end for _, end in places)) if places else None


def _open(text: str) -> int:
    """How many brackets are left open."""
    return sum(text.count(bracket) for bracket in "([{") - sum(text.count(bracket) for bracket in ")]}")


def parse_sql(text: SqlText, report: Report) -> Fragment | None:
    """Parse one statement or expression; None when it was reported."""
    chars = list(text.span.text)
    for param in text.params:
        chars[param.start - text.span.start] = MARK
    try:
        trees = sqlglot.parse("".join(chars), dialect=DIALECT)
    except ParseError as error:
        _report_parse(error, text, report)
        return None
    except (SqlglotError, RecursionError, ValueError, IndexError) as error:
        report.error("AFS401", "this SQL cannot be read", text.span, _first_line(str(error)))
        return None
    except (AttributeError, TypeError, KeyError):  # where sqlglot falls over something that is missing: `{: 1}`
        report.error("AFS401", "this SQL cannot be read", text.span)
        return None
    if len(trees) != 1 or trees[0] is None:
        report.error("AFS402", "one expression or statement stands here, without a `;`", text.span)
        return None
    _lift_joins(trees[0])
    return Fragment(text, trees[0])


def _lift_joins(tree: exp.Expr) -> None:
    """Of a select that begins with its `from`, sqlglot takes the joins for a part of the first table."""
    from_ = tree.args.get("from_") if isinstance(tree, exp.Select) else None
    joins = from_.this.args.get("joins") if from_ is not None and not tree.args.get("joins") else None
    if joins and from_ is not None:
        from_.this.set("joins", None)
        tree.set("joins", joins)


def _report_parse(error: ParseError, text: SqlText, report: Report) -> None:
    first = error.errors[0] if error.errors else {}
    span = text.span
    line, column = first.get("line"), first.get("col")
    highlight = first.get("highlight") or ""
    if line and column:
        lines = span.text.split("\n")
        end = sum(len(before) + 1 for before in lines[: line - 1]) + column
        start = max(0, min(end, len(span.text)) - max(len(highlight), 1))
        span = Span(span.source, span.start + start, min(span.start + end, span.end))
    hint = "a documentation string goes before `=` or `:`" if text.span.text.endswith('"') else None
    before = text.span.text[: span.start - text.span.start]
    if span.text == ":" and (label := re.search(r"\S\s+(\w+)\s*$", before)):
        hint = f"is a `,` missing before `{label[1]}`?"
    elif re.search(r"\n\s*\Z", before) and re.match(r"\w+\s*=\s*\w+\s*\(", text.span.text[len(before) :]):
        hint = "is a `;` missing at the end of the line above?"
        report.give_up(span.text)  # the name of what stands there
    what = re.sub(r"\s+", " ", str(first.get("description") or "")).rstrip(".")
    report.error("AFS401", "this SQL cannot be read", span, _words(what), help=hint)


def _words(description: str) -> str:
    """sqlglot's description without its class names."""
    if description.startswith("Required keyword"):
        return "something is missing here"
    if "unexpected token" in description.lower():
        return "this is not expected here"
    return description[:1].lower() + description[1:]


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0][:120] if text.strip() else ""


def cast(tree: exp.Expr, type_: str) -> exp.Cast:
    """`tree` as a type of DuckDB. (`exp.cast` drops a cast of what is cast to a decimal of other digits already.)"""
    return exp.Cast(this=tree, to=_type(type_).copy())


@cache
def _type(text: str) -> exp.DataType:
    return exp.DataType.build(text, dialect=DIALECT)


def parse_own(text: str) -> exp.Expr:
    """The tree of an expression that stands in the compiler itself."""
    return sqlglot.parse_one(text, dialect=DIALECT)


def literal_record(tree: exp.Expr) -> exp.Struct | None:
    """The record that is written out, if `tree` is one."""
    while isinstance(tree, exp.Paren):
        tree = tree.this
    return tree if isinstance(tree, exp.Struct) else None


_UNREAD = (
    ("ON", "CONFLICT", "ROLLBACK|ABORT|FAIL|IGNORE|REPLACE"),
    ("WITHOUT", "ROWID"),
    (r"\)", "VIRTUAL"),
)
"""Words that SQLite and PostgreSQL have in `create table` and sqlglot cannot read; they say nothing about types."""


@dataclass(frozen=True)
class Statement:
    """One statement of a foreign script: its tree, None where the dialect cannot read it, and where it stands."""

    tree: exp.Expr | None
    start: int
    end: int


def parse_script(text: str, dialect: str) -> list[Statement]:
    """The statements of a script in any dialect of sqlglot, such as a dump. Raises `ValueError` if it has no tokens."""
    reader = Dialect.get_or_raise(dialect)
    try:
        tokens = reader.tokenize(text)
    except SqlglotError as error:
        raise ValueError(_first_line(str(error))) from None
    statements: list[list[Token]] = [[]]
    for token in tokens:
        if token.token_type == TokenType.SEMICOLON:
            statements.append([])
        else:
            statements[-1].append(token)
    return [_statement(part, text, reader) for part in statements if part]


def _statement(tokens: list[Token], text: str, reader: Dialect) -> Statement:
    end = tokens[-1].end + 1
    words = [token.text.upper() for token in tokens]
    for i in reversed(range(len(words) - 1)):
        for unread in _UNREAD:
            found = words[i : i + len(unread)]
            if len(found) == len(unread) and all(map(re.fullmatch, unread, found)):
                del tokens[i + (found[0] == ")") : i + len(unread)]
    tree: exp.Expr | None = None
    try:
        (tree,) = reader.parser().parse(tokens, text)
    except (SqlglotError, RecursionError, ValueError, IndexError):
        tree = None
    return Statement(tree, tokens[0].start, end)


def is_value(identifier: exp.Expr | None) -> bool:
    """Whether an identifier was written with a dollar."""
    return isinstance(identifier, exp.Identifier) and identifier.name.startswith(MARK) and not identifier.quoted


def is_sql_function(name: str) -> bool:
    """Whether a call of `name` means something to SQL already, so that no function of a spec can have it."""
    try:
        call = sqlglot.parse_one(f"{name}(1)", dialect=DIALECT)
    except SqlglotError:
        return True
    return type(call) is not exp.Anonymous


def written(name: str) -> str:
    """A name as its author wrote it."""
    return name.replace(MARK, "$")


__all__ = [
    "DIALECT",
    "MARK",
    "Apply",
    "Calculate",
    "Clock",
    "Dialect",
    "Element",
    "Fragment",
    "Lookup",
    "Statement",
    "Value",
    "cast",
    "exp",
    "is_sql_function",
    "is_value",
    "literal_record",
    "parse_own",
    "parse_script",
    "parse_sql",
    "place_of",
    "written",
]


def is_settled(tree: exp.Expr) -> bool:
    """Whether the value depends on nothing but the spec and the values of the call."""
    return not any(isinstance(node, Lookup | Apply | exp.Column | exp.Query) for node in tree.walk())


def is_constant(tree: exp.Expr) -> bool:
    """Whether the value depends on nothing but the spec."""
    return is_settled(tree) and tree.find(Value) is None
