"""Text of a spec is never Python, a template or a path: packages load without effect and say what was written."""

import builtins
import json
import os
from pathlib import Path
from typing import Any

import pytest

from forgec.pipeline import generate_package
from tests.hostile.desk import HEAD, TAIL, judge, packed

CANARY = "FORGEC_CANARY"
EFFECT = f"__import__('os').environ.__setitem__('{CANARY}', '1')"
TEXTS = (
    "plain",
    'a "quoted" word',
    "it's",
    '"""',
    "'''",
    '""" + ' + EFFECT + ' + """',
    "''' + " + EFFECT + " + '''",
    '"); ' + EFFECT + " #",
    "'); " + EFFECT + " #",
    "ends with a backslash \\",
    'ends with a quote "',
    "\\",
    "\\\\n \\x41 \\N{DASH} \\u0041",
    "{" + EFFECT + "}",
    "{{" + EFFECT + "}}",
    "{0.__class__} {x!r} %s %(x)s ${x}",
    "{{ 7 * 7 }} {% for x in y %} {# z #}",
    "{{ cycler.__init__.__globals__.os.system('x') }}",
    "coding: utf-7 +AAo-" + EFFECT,
    "-*- coding: unicode_escape -*- \\n" + EFFECT,
    "one\ntwo\n" + EFFECT,
    "tab\tand  blanks",
    "\n\n# " + EFFECT,
    "line\u2028and paragraph\u2029separators",
    "Ünïcödé 漢字 \U0001f600 e\u0301",
    "no\u00a0break",
    "'); drop table accounts; --",
    "$x $1 $$ ? :x",
    "None",
    "x" * 3_000,
)
CONTROLS = (
    "\0",
    "\x1b[31m",
    "\r",
    "\x07",
    "\x7f",
    "\u0085",
    "\u202e",
    "\u2066",
    "\ufeff",
    "\u200b",
    "\ue000",
    "\ue001",
    "\U000e0041",
)
"""A terminal or a reader would obey them: no text may hold them, written out or as an escape."""


PLACES = ("environment", "doc", "message", "long message", "intent", "rule", "escape", "sql", "enum", "policy")


def quoted(text: str) -> str:
    """A string of the language that says `text`."""
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "{": "\\{", "}": "\\}"}
    return '"' + "".join(escapes.get(char, char) for char in text) + '"'


def sql(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def spec_that_says(text: str) -> str:
    """A spec with `text` in every place where a text may stand."""
    said, value, single = quoted(text), sql(text), text.replace('"', "'")
    return f"""environment talker {said} {{ }}
policy \"\"\"{single}\"\"\"
enum Mood {said} {{ calm, {value} }}
record Box {said} {{ wide integer {said} }}
table things {said} {{
  id text key {said}, mood Mood default {value}, word text default {value} check (word <> {value} || 'no'), box Box?,
}}
table made {{ id text key serial {sql(text.replace("{", "(").replace("}", ")") + "{00}")}, word text }}
invariant words {said}: not exists (select 1 from things where word = 'broken');
function word() returns text {said} = {value};
tool guard(a text {said}) returns text {said} {{ require $a = {value} else {said}; reply {said}; }}
tool answer() returns text {{ return {value}; }}
tool call_word() returns text {{ return word() || lower({value}); }}
tool find(a text default {value}) returns {{ id text, word text }}[] {{
  return select id, word || {value} as word from things where word = $a or word like {value} or contains(word, {value});
}}
tool row() returns things? {{ return things['T1']; }}
tool add(id text, mood Mood, word text) returns things {{
  let t = insert into things (id, mood, word) values ($id, $mood, $word) returning *;
  return $t;
}}
tool make() returns made {{ let m = insert into made (word) values ({value}) returning *; return $m; }}
tool lost(box Box) {{ fail "{{$box.wide}}{said[1:-1]}{{$box.wide:d}}"; }}
tool hole(a text?) {{ fail \"\"\"<{{coalesce($a, {sql(single)})}}>\"\"\"; }}
tool ruled() {{ }}
rule stern enforced on ruled {said}: 1 > 2;
world full {said} {{ things (id, mood, word) values ('T1', {value}, {value}); }}
test {said} on full {{ expect things['T1'].word = {value}; }}
task act on full {said} {{
  intent {said}
  fact f {said} = {value};
  plan {{
    reason r {said} = {value};
    s = guard(a: $f);
    t = guard(a: {value});
  }}
  expect things['T1'].word = {value};
  says {said}: {value};
}}
"""


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_texts_arrive_as_they_were_written_and_do_nothing(text: str, tmp_path: Path) -> None:
    before = sorted(os.environ), sorted(vars(builtins)), sorted(os.listdir())
    env = packed(spec_that_says(text), tmp_path)
    episode = env.reset("full")

    def call(tool: str, **arguments: Any) -> Any:
        return env.call(episode, tool, **arguments)

    assert env.doc == text
    assert text.replace('"', "'").strip() in env.policy
    assert env.tools["guard"].doc == text
    assert env.tools["guard"].parameters[0].doc == text
    assert env.tools["guard"].schema["function"]["description"] == text
    assert (
        json.loads((tmp_path / "package" / "tools.json").read_text(encoding="utf-8"))[0]["function"]["description"]
        == text
    )
    assert call("guard", a=text).value == text
    assert call("guard", a="other").text == text
    assert call("answer").value == text
    assert call("call_word").value == text + text.lower()
    assert call("find").value == [{"id": "T1", "word": text + text}]
    assert call("row").value["mood"] == text
    assert call("row").value["word"] == text
    assert call("add", id="T2", mood=text, word="w").value["mood"] == text
    assert call("add", id="T3", mood="calm", word="broken").text == text
    assert call("add", id="T4", mood="calm", word=text + "no").kind == "refused"
    assert call("make").value["word"] == text
    assert call("lost", box={"wide": 7}).text == f"7{text}7"
    assert call("hole").text == "<" + text.replace('"', "'") + ">"
    assert call("ruled").text == text
    task = env.tasks["act"]
    assert (task.doc, task.intent, task.facts[0].doc, task.facts[0].value) == (text, text, text, text)
    assert env.reward(env.reset("act"), task).value == 0
    assert (sorted(os.environ), sorted(vars(builtins)), sorted(os.listdir())) == before


@pytest.mark.parametrize("char", CONTROLS, ids=ascii)
@pytest.mark.parametrize("place", PLACES)
def test_no_text_holds_what_a_terminal_obeys(char: str, place: str) -> None:
    if place == "escape" and len(char) == 1 and ord(char) > 0xFFFF:
        pytest.skip("escapes have four digits")
    escape = "".join(f"\\u{ord(one):04x}" for one in char if not one.isprintable())
    text = {
        "environment": HEAD.replace('"A desk"', f'"A {char} desk"') + TAIL,
        "doc": HEAD + TAIL + f'tool t(a text "x{char}") {{ }}',
        "message": HEAD + TAIL + f'tool t() {{ fail "x{char}y"; }}',
        "long message": HEAD + TAIL + f'tool t(a text) {{ fail """x{char}y {{$a}} z"""; }}',
        "intent": HEAD + TAIL + f"task x on w {{ intent \"x{char}\" plan {{ s = fine(a: 'x'); }} }}",
        "rule": HEAD + TAIL + f'rule r enforced on fine "x{char}": 1 = 1;',
        "escape": HEAD + TAIL + f'tool t() "x{escape}" {{ }}',
        "sql": HEAD + TAIL + f"tool t() returns text {{ return 'x{char}'; }}",
        "enum": HEAD + TAIL + f"enum E {{ a, 'x{char}' }}\ntool t(e E) {{ }}",
        "policy": HEAD + TAIL + f'policy """x{char}y"""',
    }[place]
    assert judge(text).failed


@pytest.mark.parametrize(
    "escape", ["\\ud800", "\\udfff", "\\ud83d\\ude00", "\\x41", "\\N{DASH}", "\\u12", "\\'", "\\0"]
)
def test_escapes_that_are_none(escape: str) -> None:
    assert judge(HEAD + TAIL + f'tool t() "x{escape}" {{ }}').failed


@pytest.mark.parametrize(
    "name",
    [
        "x coding: utf-7.afs",
        "x coding=utf-7 .afs",
        f"a\n{EFFECT}\n.afs",
        f"a\r{EFFECT}.afs",
        'a""".afs',
        "a\u2028b.afs",
        "{{ 7 * 7 }}.afs",
    ],
    ids=ascii,
)
def test_the_name_of_the_file_is_no_code(name: str) -> None:
    verdict = judge(HEAD + TAIL, name)
    assert verdict.checked.spec is not None
    for path, content in generate_package(verdict.checked.spec).items():
        if path.endswith(".py"):
            assert content.splitlines()[0] == "# Generated by forgec from desk.afs. DO NOT EDIT."
            compile(content.encode(), path, "exec")
