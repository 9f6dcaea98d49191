"""The TextMate grammar: fresh, sound, and right about what it colours."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forgec.editors.textmate import grammar, render
from forgec.syntax.terminals import terminals
from tests.textmate import Tokeniser

ROOT = Path(__file__).parent.parent
COMMITTED = ROOT / "docs" / "afs.tmLanguage.json"
LIBRARY = (ROOT / "specs" / "library.afs").read_text(encoding="utf-8")


def _patterns(rule: Any) -> Iterator[str]:
    if isinstance(rule, dict):
        yield from (value for key, value in rule.items() if key in ("match", "begin", "end"))
    for part in rule.values() if isinstance(rule, dict) else rule if isinstance(rule, list) else ():
        yield from _patterns(part)


def _scope_of(word: str, text: str) -> str:
    """The innermost scope of the first `word` of a text; empty when it has none."""
    return (Tokeniser(grammar()).scopes(text)[text.index(word)] or ("",))[-1]


def test_the_committed_grammar_is_the_one_that_is_generated(regen: bool) -> None:
    if regen:
        COMMITTED.write_text(render(), encoding="utf-8")
    assert COMMITTED.read_text(encoding="utf-8") == render()


def test_every_pattern_compiles_and_matches_something_or_asserts() -> None:
    patterns = list(_patterns(json.loads(render())))
    assert len(patterns) > 30
    for pattern in patterns:
        re.compile(pattern)
        assert not re.search(r"\(\?<[=!][^)]*[*+]", pattern), "Oniguruma has no look-behind of variable length"


def test_every_include_leads_somewhere() -> None:
    made = grammar()
    included = set(re.findall(r'"include": "#([\w-]+)"', json.dumps(made)))
    assert included == set(made["repository"])


@pytest.mark.parametrize("word", terminals().keywords)
def test_every_keyword_of_the_grammar_has_a_colour(word: str) -> None:
    texts = (f"{word} x {{", f'  {word} "text";', f"x text {word},")
    assert any(re.match(r"keyword|storage", _scope_of(word, text)) for text in texts)


@pytest.mark.parametrize(
    ("text", "word", "scope"),
    [
        ("table members {", "table", "keyword.declaration.afs"),
        ("table members {", "members", "entity.name.type.afs"),
        ('test "a title" on x {', '"a title"', "string.quoted.double.afs"),
        ("  due date, -- the day", "date", "support.type.afs"),
        ("  due date, -- the day", "-- the day", "comment.line.double-dash.afs"),
        ("  -- one\n  fines decimal(8, 2)", "decimal", "support.type.afs"),
        ("  fines decimal(8, 2)", "8", "constant.numeric.afs"),
        ("  id text key serial 'R{000}'", "serial", "storage.modifier.afs"),
        ("  id text key serial 'R{000}'", "'R{000}'", "string.quoted.single.afs"),
        ("  let n = (select count(*) from loans);", "let", "keyword.control.afs"),
        ("  let n = (select count(*) from loans);", "select", "keyword.other.sql.afs"),
        ("  let n = (SELECT COUNT(*) FROM loans);", "FROM", "keyword.other.sql.afs"),
        ("  let n = (select count(*) from loans);", "count", "support.function.afs"),
        ("  return late_fee($l.due);", "late_fee", "entity.name.function.afs"),
        ("  return late_fee($l.due);", "$l", "variable.other.value.afs"),
        ("  update members set fines = 0.25", "update", "keyword.control.afs"),
        ("  update members set fines = 0.25", "0.25", "constant.numeric.afs"),
        ("  } else if (true) {", "if", "keyword.control.afs"),
        ("  } else if (true) {", "true", "constant.language.afs"),
        ('{ reply "It is {$fee:.2f} now"; }', "It is", "string.quoted.double.afs"),
        ('{ reply "It is {$fee:.2f} now"; }', "$fee", "variable.other.value.afs"),
        ("  require $a > 0 else\n    \"not {lower('}')}\";", "lower", "support.function.afs"),
        ("  case when $a then 1 else 2 end;", "else", "keyword.other.sql.afs"),
        ("x /* a\n'b */ text", "'b", "comment.block.afs"),
        ("x /* a\n'b */ text", "text", "support.type.afs"),
        ("  name = 'it''s' and x", "''", "constant.character.escape.afs"),
        ("  name = 'it''s' and x", "and", "keyword.other.sql.afs"),
    ],
)
def test_a_word_has_its_scope(text: str, word: str, scope: str) -> None:
    assert _scope_of(word, text) == scope


def test_comments_and_strings_of_a_real_spec_are_those_that_the_language_sees() -> None:
    token = re.compile(
        r'(?P<triple>"""[\s\S]*?""")|(?P<double>"(?:[^"\\\n]|\\.)*")|(?P<single>\'(?:[^\']|\'\')*\')|(?P<comment>--.*)'
    )
    scopes = Tokeniser(grammar()).scopes(LIBRARY)
    seen = {position for match in token.finditer(LIBRARY) for position in range(*match.span())}
    for match in token.finditer(LIBRARY):
        kind = "comment" if match.lastgroup == "comment" else f"string.quoted.{match.lastgroup}"
        wrong = [i for i in range(*match.span()) if not any(scope.startswith(kind) for scope in scopes[i])]
        assert wrong == [], match[0]
    outside = [
        i for i, all_ in enumerate(scopes) if i not in seen and any(s.startswith(("comment", "string")) for s in all_)
    ]
    assert outside == []


def test_only_names_and_punctuation_of_a_real_spec_stay_plain() -> None:
    scopes = Tokeniser(grammar()).scopes(LIBRARY)
    plain = "".join(char if not of else " " for char, of in zip(LIBRARY, scopes, strict=True))
    words = set(re.findall(r"[^\s(){}\[\],;?]+", plain))
    assert words and all(re.fullmatch(r"[a-z][a-z0-9_]*|[A-Z][A-Za-z]+", word) for word in words), words
    assert not words & {"select", "from", "where", "and", "text", "date", "key", "let", "require", "returns"}


EDITORS = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")


def test_the_files_of_the_extension_are_json_and_name_the_grammar() -> None:
    package, configuration = (json.loads(text) for text in re.findall(r"^```json\n(.*?)^```$", EDITORS, re.M | re.S))
    (declared,) = package["contributes"]["grammars"]
    assert declared["scopeName"] == grammar()["scopeName"]
    assert declared["path"] == f"./{COMMITTED.name}"
    assert configuration["comments"]["lineComment"] == "--"


def test_every_scope_that_is_explained_exists() -> None:
    explained = {
        scope.removesuffix(".*")
        for row in re.findall(r"^\| (`[a-z.`, *]+) \|", EDITORS, re.M)
        for scope in re.findall(r"`([^`]+)`", row)
    }
    made = {name.removesuffix(".afs") for name in re.findall(r'"name": "([a-z.-]+\.afs)"', render())}
    assert len(explained) > 8
    assert {scope for scope in explained if not any(name.startswith(scope) for name in made)} == set()
