"""Words of SQL: which are keywords where they stand, and which end or begin what."""

from __future__ import annotations

import re

from forgec.formatting.leaves import Leaf

STATEMENT_WORD = re.compile(r"let|require|if|each|do|return|reply|fail|insert|update|delete")
"""A line inside SQL that starts with one of these means a missing `;` to the parser."""

QUERY_START = frozenset({"select", "with", "values", "insert", "update", "delete", "from"})
MAJOR_CLAUSES = frozenset({"select", "from", "where", "group", "having", "order", "values", "qualify"})
MINOR_CLAUSES = frozenset({"limit", "offset", "returning", "join"})
JOIN_PREFIXES = frozenset({"left", "right", "full", "inner", "cross", "natural", "asof", "semi", "anti", "positional"})

RESERVED = frozenset({
    "all", "and", "any", "as", "asc", "both", "case", "cast", "collate", "desc", "distinct", "else", "end",
    "except", "false", "for", "from", "group", "having", "in", "intersect", "into", "lambda", "lateral",
    "leading", "limit", "not", "null", "offset", "on", "or", "order", "qualify", "returning", "select", "then",
    "trailing", "true", "union", "using", "when", "where", "window", "with", "inner", "join", "left", "natural",
    "outer", "right", "full", "cross", "is", "like", "ilike",
})  # fmt: skip
"""Words that DuckDB does not take as the name of a column."""

KEYWORDS = RESERVED | frozenset({
    "by", "exists", "over", "filter", "values", "set", "first", "last", "between", "nulls",
})  # fmt: skip
"""Words that are written in lower case where they are keywords."""

_OPERANDS = frozenset({"null", "true", "false", "end"})
_BEFORE_PARENS = frozenset({
    "in", "values", "and", "or", "not", "as", "from", "join", "on", "using", "where", "having", "by", "select",
    "distinct", "all", "when", "then", "else", "case", "union", "except", "intersect", "limit", "offset",
    "over", "filter", "returning", "set", "is", "like", "ilike", "between", "interval", "with", "into",
    "exists", "lateral", "recursive", "escape", "group",
})  # fmt: skip


def lower_keywords(leaves: list[Leaf]) -> None:
    """Write the keywords of a run of SQL in lower case; whatever could be a name stays as it is."""
    cases = [False]
    for i, leaf in enumerate(leaves):
        if leaf.kind in ("CASE", "END") or (leaf.kind == "NAME" and leaf.text != leaf.word):
            before = leaves[i - 1] if i else None
            after = leaves[i + 1] if i + 1 < len(leaves) else None
            if leaf.kind != "NAME" or _is_keyword(leaf, before, after, leaves[0].word, in_case=cases[-1]):
                leaf.text = leaf.word
        if leaf.kind == "CASE" or leaf.text in ("(", "[", "{"):
            cases.append(leaf.kind == "CASE")
        elif leaf.kind == "END" or leaf.text in (")", "]", "}"):
            cases.pop()


def _is_keyword(leaf: Leaf, before: Leaf | None, after: Leaf | None, first: str, *, in_case: bool) -> bool:
    previous, following = (before.word if before else ""), (after.word if after else "")
    if (before and before.text == ".") or (after and after.text == ".") or previous == "as":
        return False
    word = leaf.word
    if word == "else":  # outside of a case, `else` in lower case would begin a message
        return in_case
    if word in RESERVED:
        return True
    if word == "by":
        return previous in ("group", "order", "partition")
    if word in ("exists", "over", "filter", "values"):
        return after is not None and after.text == "("
    if word == "set":
        return first == "update"
    if word in ("first", "last"):
        return previous == "nulls"
    if word == "between":
        return operand_before(before) and after is not None and after.text not in (")", ",", "(")
    return word == "nulls" and following in ("first", "last")


def operand_before(before: Leaf | None) -> bool:
    """Whether a value ends with this token, so that an operator after it has two sides."""
    if before is None or before.kind in ("OP", "COMMA", "LPAR", "LSQB", "LBRACE", "COLON", "EQUAL"):
        return False
    return before.word in _OPERANDS or before.word not in RESERVED | _BEFORE_PARENS


def parens_apart(leaf: Leaf) -> bool:
    """Whether a `(` after this token is no call: `in (`, `values (`."""
    return leaf.kind not in ("NAME", "STRING") or leaf.word in _BEFORE_PARENS
