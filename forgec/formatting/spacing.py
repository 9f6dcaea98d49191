"""White space between two tokens of a line."""

from __future__ import annotations

from forgec.formatting.keywords import RESERVED, operand_before, parens_apart
from forgec.formatting.leaves import Leaf

_OPENING, _CLOSING = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}
_TIGHT_PARENS = frozenset({"params", "call", "deed", "named_type"})
_VALUE_ENDS = frozenset({"NAME", "PARAM", "STRING", "RPAR", "RSQB", "SQLSTRING"})
_WORDS = frozenset({"CASE", "END", "_ELSE"})
_PREFIX = frozenset({"b", "e", "n", "r", "u", "x"})


def joined(before: Leaf, leaf: Leaf) -> bool:
    """Whether two tokens of the grammar that touch are one token of SQL: `=>`, `1_000`, `e'a\\n'`, `"a""b"`."""
    if not (leaf.touches and leaf.sql and before.sql):
        return False
    kinds = (before.kind, leaf.kind)
    if kinds == ("OP", "OP"):
        if before.text == ":":
            return leaf.text == "="
        return before.text != "." and leaf.text not in ("-", "+", ":", ".")
    if before.kind == "SQLNUM":
        return leaf.kind in ("NAME", "SQLNUM") or leaf.text == "."
    if kinds == ("NAME", "SQLSTRING"):
        return before.word in _PREFIX
    return kinds == ("STRING", "STRING")


def set_spaces(leaves: list[Leaf]) -> None:
    """Decide for each token whether a space separates it from the one before it."""
    opened: list[str] = []
    sign = into = False
    for i, leaf in enumerate(leaves):
        before = leaves[i - 1] if i else None
        if leaf.text in _CLOSING and opened:
            opened.pop()
        if before is None:
            leaf.space = False
        elif leaf.sql and before.sql:
            leaf.space = _sql_space(before, leaf, opened[-1] if opened else "", sign, into)
        else:
            leaf.space = _space(before, leaf)
        if leaf.text in _OPENING:
            opened.append(leaf.text)
        into = leaf.word == "into" or (into and (leaf.text == "." or leaf.word not in RESERVED | {""}))
        sign = leaf.sql and leaf.text in ("-", "+", "~") and not (before and before.sql and operand_before(before))


def _space(before: Leaf, leaf: Leaf) -> bool:
    """Between tokens of which one stands outside SQL."""
    if leaf.text in (",", ";", ")", "]", "?", ".", ":") or leaf.kind == "ARRAY" or before.text in ("(", "["):
        return False
    if leaf.text == "}":
        return before.text != "{"
    if leaf.text == "(":
        return leaf.rule not in _TIGHT_PARENS
    return before.text != "."


def _sql_space(before: Leaf, leaf: Leaf, bracket: str, sign: bool, into: bool) -> bool:
    """Between two tokens of SQL; `bracket` is the innermost one open before `leaf`."""
    if (before.text == "{" and leaf.kind == "OP") or (before.kind == "OP" and leaf.text == "}"):
        return not leaf.touches  # `{%` and the like mean something to sqlglot
    if before.text in _OPENING or leaf.text in _CLOSING or leaf.text == ",":
        return False
    pair = (before.text, leaf.text)
    if "!" in pair or _run_together(before, leaf):
        return not leaf.touches
    if before.kind == leaf.kind == "OP":
        return _operator_space(before, leaf)
    if "." in pair:
        return not _path(before, leaf)
    if "::" in pair:
        return False
    if ":" in pair:
        return before.text == ":" and bracket != "["
    if sign:
        return False
    if leaf.text == "(":
        return into or parens_apart(before)
    if leaf.text == "[":
        return before.kind not in _VALUE_ENDS or before.word in RESERVED
    return True


def _operator_space(before: Leaf, leaf: Leaf) -> bool:
    """Between two operators, which must not become one."""
    if before.text == ".":
        return leaf.text != "*" and not leaf.touches
    if before.text == ":" and leaf.text in ("-", "+", "~"):
        return False
    return leaf.text not in (".", ":") or not leaf.touches


def _run_together(before: Leaf, leaf: Leaf) -> bool:
    """Whether two tokens of the grammar are a name or number to sqlglot if nothing stands between them."""
    if leaf.kind == "PARAM" or (leaf.kind == "SQLNUM" and leaf.text[0] == "."):
        return before.kind in _VALUE_ENDS | _WORDS | {"SQLNUM"}
    return before.kind == "SQLNUM" and leaf.kind in _WORDS


def _path(before: Leaf, leaf: Leaf) -> bool:
    """Whether a dot is that of a path; elsewhere it stays where the author put it."""
    if before.text == ".":
        return leaf.kind in ("NAME", "STRING") or leaf.touches
    return before.kind in _VALUE_ENDS or leaf.touches
