"""The TextMate grammar of specs: `python -m forgec.editors.textmate > docs/afs.tmLanguage.json`.

Tokens and words come from `grammar/afs.lark`, types and functions from the lists of the compiler. The patterns use
what Oniguruma and Python's `re` have in common.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from forgec.sql.allow import FUNCTIONS, NAMED_FUNCTIONS
from forgec.syntax.scan import KEYWORDS
from forgec.syntax.terminals import Terminals, terminals
from forgec_runtime.types import Boolean, Date, Double, Integer, Text, Timestamp

SCOPE = "source.afs"
TYPES = (*(str(type_()) for type_ in (Text, Integer, Double, Boolean, Date, Timestamp)), "decimal", "map")
STATEMENTS = ("let", "require", "if", "each", "do", "return", "intent", "fact", "plan", "reason", "expect", "says")
MESSAGES = ("else", "reply", "fail")
"""What follows these words is a text with holes."""
MODIFIERS = ("key", "serial", "unique", "default", "check", "unscored", "unordered", "hidden", "ends")
_WRITES, _VERDICTS, _NESTS = ("insert", "update", "delete"), ("enforced", "audited"), ("list", "map", "bag")
SQL_WORDS = (
    "all", "and", "as", "asc", "between", "by", "case", "cast", "delete", "desc", "distinct", "else", "end", "except",
    "exists", "filter", "first", "from", "group", "having", "ilike", "in", "inner", "insert", "intersect", "interval",
    "into", "is", "join", "last", "left", "like", "limit", "not", "nulls", "on", "or", "order", "outer", "returning",
    "select", "set", "then", "union", "update", "using", "values", "when", "where", "with",
)  # fmt: skip
"""The words of SQL that are coloured. SQL has them in any case, the grammar's own words are lower-case."""

Rule = dict[str, Any]


def grammar() -> dict[str, Any]:
    """The whole TextMate grammar, ready for JSON."""
    known = terminals()
    return {
        "name": "afs",
        "scopeName": SCOPE,
        "fileTypes": ["afs"],
        "patterns": [{"include": f"#{name}"} for name in _ORDER],
        "repository": _repository(known),
    }


_ORDER = (
    "comments", "message", "text", "string", "sql-string", "title", "declaration", "statement", "branch", "value",
    "modifier", "verdict", "nesting", "type", "function", "constant", "clause", "sql-word", "number", "call",
    "operator",
)  # fmt: skip
"""The rules from the most special to the most general: at one place the first that matches counts."""


def _repository(known: Terminals) -> dict[str, Rule]:
    name, patterns = known.patterns["NAME"], known.patterns
    other = {*KEYWORDS, *STATEMENTS, *MESSAGES, *MODIFIERS}
    starts = _words(KEYWORDS)
    return {
        "comments": {
            "patterns": [
                _match("comment.line.double-dash.afs", r"--.*$"),
                _region("comment.block.afs", r"/\*", r"\*/"),
            ]
        },
        "message": {  # the text may stand on the next line
            "begin": rf'\b({_words(MESSAGES)})\b(?=\s*(?:"|$))',
            "beginCaptures": _captures("keyword.control.afs"),
            "end": r"(?=[;{}])",
            "patterns": [
                _region("string.quoted.triple.afs", '"""', '"""', "escape", "hole"),
                _region("string.quoted.double.afs", '"', '"|$', "escape", "hole"),
                *({"include": f"#{rule}"} for rule in _ORDER if rule != "message"),
            ],
        },
        "text": _region("string.quoted.triple.afs", '"""', '"""'),
        "string": _region("string.quoted.double.afs", '"', '"|$', "escape"),
        "sql-string": _region("string.quoted.single.afs", "'", "'(?!')", "quote"),
        "quote": _match("constant.character.escape.afs", "''"),
        "escape": _match("constant.character.escape.afs", r"\\(?:u[0-9a-fA-F]{4}|.)|\{\{|\}\}"),
        "hole": _region("meta.embedded.hole.afs", r"\{", r"\}", "nested", *_ORDER),
        "nested": {"begin": r"\{", "end": r"\}", "patterns": [{"include": "#nested"}, *_includes(_ORDER)]},
        "title": {"match": r"^(use|test|policy)\b", "captures": _captures("keyword.declaration.afs")},
        "declaration": {
            "match": rf"^(user\s+tool|{starts})\s+({name})",
            "captures": _captures("keyword.declaration.afs", "entity.name.type.afs"),
        },
        "statement": {
            "match": rf"(?:^\s*|[;{{}}]\s*)({_words([*STATEMENTS, *_WRITES])})\b",
            "captures": _captures("keyword.control.afs"),
        },
        "branch": {
            "match": r"\b(else)\s+(if)\b",
            "captures": _captures("keyword.control.afs", "keyword.control.afs"),
        },
        "value": _match("variable.other.value.afs", patterns["PARAM"]),
        "modifier": _match("storage.modifier.afs", rf"\b(?:{_words(MODIFIERS)})\b"),
        "verdict": _match("storage.modifier.afs", rf"\b(?:{_words(_VERDICTS)})\b"),
        "nesting": _match("storage.modifier.afs", rf"\b(?:{_words(_NESTS)})\b(?=\s*[\"{{])"),
        "type": _match("support.type.afs", rf"\b(?:{_words(TYPES)})\b(?!\s*\.)"),
        "function": _match(
            "support.function.afs", rf"\b(?i:{_words([*FUNCTIONS.values(), *NAMED_FUNCTIONS])})\b(?=\s*\()"
        ),
        "constant": _match("constant.language.afs", r"\b(?i:true|false|null)\b"),
        "clause": _match("keyword.other.afs", rf"\b(?:{_words(set(known.keywords) - other)})\b"),
        "sql-word": _match("keyword.other.sql.afs", rf"\b(?i:{_words(SQL_WORDS)})\b"),
        "number": _match("constant.numeric.afs", rf"\b(?:{patterns['SQLNUM']})"),
        "call": _match("entity.name.function.afs", rf"\b{name}(?=\s*\()"),
        "operator": _match("keyword.operator.afs", patterns["OP"]),
    }


def _words(words: Iterable[str]) -> str:
    return "|".join(sorted(words))


def _match(scope: str, pattern: str) -> Rule:
    return {"name": scope, "match": pattern}


def _region(scope: str, begin: str, end: str, *inside: str) -> Rule:
    return {"name": scope, "begin": begin, "end": end, "patterns": _includes(inside)}


def _includes(names: Iterable[str]) -> list[Rule]:
    return [{"include": f"#{name}"} for name in names]


def _captures(*scopes: str) -> dict[str, Rule]:
    return {str(i): {"name": scope} for i, scope in enumerate(scopes, 1)}


def render() -> str:
    """The grammar as JSON text, as it is committed."""
    return json.dumps(grammar(), indent=2) + "\n"


if __name__ == "__main__":
    print(render(), end="")
