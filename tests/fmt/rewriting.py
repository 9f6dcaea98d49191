"""Other layouts of a spec: its tokens with other white space, line breaks and comments between them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from forgec.formatting.keywords import STATEMENT_WORD
from forgec.source import Source
from forgec.syntax.concrete import Phrase, Word, concrete

COMMENTS = (
    '-- it\'s {a "comment"; select\n',
    "/* block */",
    "/* two\n  lines */",
    "--\n",
    "-- x -- y\n",
    "/*table t {*/",
)
_AROUND = "(),;{}"
_SQL = ("sql", "expr", "parens")


def words(phrase: Phrase) -> Iterator[tuple[Word, str]]:
    """The tokens below a rule, each with the rule it stands in."""
    for part in phrase.parts:
        if isinstance(part, Word):
            yield part, phrase.rule
        else:
            yield from words(part)


def rewritten(text: str, random: Random, *, comments: float, breaks: float) -> str:
    """The spec with other gaps; `comments` and `breaks` say how likely each is in a gap."""
    phrase = concrete(Source("spec.afs", text))
    assert phrase is not None
    declarations = {next(words(part))[0].start for part in phrase.parts if isinstance(part, Phrase)}
    pieces: list[str] = []
    end = 0
    for word, rule in words(phrase):
        old, end = text[end : word.start], word.end
        if word.start in declarations:
            pieces.append(_before_declaration(random, comments))
        elif old or word.text in _AROUND or text[word.start - 1] in _AROUND:
            needed = bool(old) and word.text not in _AROUND and text[word.start - 1] not in _AROUND
            gap = _gap(random, comments, breaks) or (" " if needed else "")
            if gap[:1] in ("-", "/") and text[word.start - len(old) - 1] in "-/":  # a comment would become an operator
                gap = f" {gap}"
            pieces.append(" " if rule in _SQL and STATEMENT_WORD.fullmatch(word.text) else gap)
        pieces.append(word.text)
    return "".join([*pieces, random.choice(["", "\n", "\n\n\n"])])


def widened(text: str, random: Random) -> str:
    """The spec with more blanks where there are some between two tokens of a line."""
    phrase = concrete(Source("spec.afs", text))
    assert phrase is not None
    pieces: list[str] = []
    end = 0
    for word, _ in words(phrase):
        gap, end = text[end : word.start], word.end
        pieces += [gap * random.randint(1, 3) if set(gap) == {" "} else gap, word.text]
    return "".join([*pieces, text[end:]])


def _before_declaration(random: Random, comments: float) -> str:
    gap = random.choice(["\n", "\n\n", "\n\n\n"])
    while random.random() < min(comments, 0.5):
        gap += random.choice(COMMENTS) + random.choice(["\n", "\n\n"])
    return gap


def _gap(random: Random, comments: float, breaks: float) -> str:
    """White space and comments that do not put a token into column 1, where it may begin a declaration."""
    gap = ""
    for _ in range(random.choice([0, 1, 1, 1, 2])):
        kind = random.random()
        if kind < comments:
            gap += random.choice(COMMENTS)
        elif kind < comments + breaks:
            gap += random.choice(["\n ", "\n\n\n  ", "\r\n "])
        else:
            gap += random.choice([" ", "  ", "\t"])
    return gap + " " if gap.endswith("\n") else gap


_POOL = (
    "select SELECT from From where WHERE group by order BY limit and AND or not NOT between BETWEEN in IN is NULL null "
    "exists EXISTS union all UNION left join LEFT JOIN on ON as AS set values VALUES insert into update when then else "
    "ELSE over filter nulls first NULLS Last distinct a b loans x1 Order e E date interval count sum extract map 1 2.5 "
    ".5 0x1F 1_000 'text' 'it''s' e'x' $p $p.q \"q\" \"a\"\"b\" + - * / % < > = <= <> != || ** // :: : . ! & | ~ ^ "
    "-> ->> => := <-> , , , ( ) [ ] { } case end -1"
)
_CLOSERS = {"(": ")", "[": "]", "{": "}", "case": "end"}


def sql_soup(random: Random, size: int, *, comments: float, breaks: float, joints: float) -> str:
    """Tokens of SQL that make no sense, their brackets balanced; `joints` is how likely nothing stands between two."""
    text = ""
    for token in _balanced(random, size):
        kind = random.random()
        if kind < comments:
            text += random.choice([" -- c\n ", " /* c */ ", "\n -- own\n ", "\n\n /* own */\n "])
        elif kind < comments + breaks:
            text += "\n  "
        elif kind > comments + breaks + joints or token in ("end", "else"):
            text += " "
        text += token
    return text


def _balanced(random: Random, size: int) -> Iterator[str]:
    opened: list[str] = []
    for token in random.choices(_POOL.split(), k=size):
        if token in _CLOSERS and len(opened) < 6:
            opened.append(_CLOSERS[token])
            yield from [token, "a"]
        elif token in _CLOSERS.values() and opened:
            yield opened.pop()
        elif not (token in _CLOSERS or token in _CLOSERS.values() or (token == "else" and opened[-1:] != ["end"])):
            yield token
    yield from reversed(opened)
