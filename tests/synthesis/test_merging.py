"""Specs as declarations, and the merge of one that was edited by hand with one that is made again."""

from __future__ import annotations

from forgec.synthesis.declarations import chunks, cut
from forgec.synthesis.merging import merge

BASE = """-- A head.

environment e {}

-- What there is ---

table a { id text key }

-- about b
table b {
  id text key,
}

tool t() { }

world w {}
"""


def texts(spec: str) -> dict[str, str]:
    return {one.key: one.text for one in chunks(spec)}


def verbs(found: object) -> list[tuple[str, str]]:
    return [(one.verb, one.key) for one in found.changes]  # type: ignore[attr-defined]


def test_a_spec_is_cut_with_the_comments_right_above_each_declaration() -> None:
    found = texts(BASE)
    assert list(found) == ["environment e", "table a", "table b", "tool t", "world w"]
    assert found["table b"].startswith("-- about b\ntable b {")
    assert found["table a"] == "table a { id text key }"


def test_what_stands_in_strings_and_texts_begins_no_declaration() -> None:
    spec = 'policy """\ntool x\n"""\n\ntool y() "a\n" { }\n-- tool z\ntest "one: t" on w { }\n'
    assert list(texts(spec)) == ["policy", "tool y", "test one: t"]


def test_texts_that_are_indented_or_broken_are_cut_all_the_same() -> None:
    found = cut("    table a {\n      id text key\n    }\n\n    tool b( {\n", "state")
    assert [(one.key, one.kind, one.name) for one in found] == [("table a", "table", "a"), ("tool b", "tool", "b")]
    assert cut("no declaration at all", "state") == []


def test_nothing_is_done_when_nothing_has_changed() -> None:
    found = merge(texts(BASE), BASE, texts(BASE))
    assert found.text == BASE and found.changes == ()


def test_what_was_not_edited_is_as_it_is_made_now() -> None:
    theirs = texts(BASE.replace("tool t() { }", "tool t() returns text { return 'x'; }"))
    del theirs["world w"]
    theirs["tool u"], theirs["tool v"] = "tool u() { }", "tool v() { }"
    found = merge(texts(BASE), BASE, theirs)
    assert verbs(found) == [("change", "tool t"), ("remove", "world w"), ("add", "tool u"), ("add", "tool v")]
    assert list(texts(found.text)) == ["environment e", "table a", "table b", "tool t", "tool u", "tool v"]
    assert "return 'x'" in found.text and found.text.startswith("-- A head.\n") and "-- What there is" in found.text


def test_what_was_edited_stays_and_what_is_both_is_a_conflict() -> None:
    ours = BASE.replace("table a { id text key }", "table a { id text key, more text? }").replace("id text key,\n", "")
    theirs = texts(BASE.replace("table a { id text key }", "table a { id integer key }"))
    found = merge(texts(BASE), ours, theirs)
    assert verbs(found) == [("conflict", "table a"), ("keep", "table b")]
    assert found.text == ours
    assert found.conflicts[0].text == "table a { id integer key }"


def test_what_was_written_or_removed_by_hand_is_left_alone() -> None:
    ours = BASE.replace("tool t() { }\n", "tool mine() { }\n")
    found = merge(texts(BASE), ours, texts(BASE))
    assert (found.text, verbs(found)) == (ours, [])
    changed = texts(BASE.replace("tool t() { }", "tool t() ends { }"))
    assert verbs(merge(texts(BASE), ours, changed)) == [("conflict", "tool t")]


def test_layout_and_comments_inside_are_no_edit_unless_they_say_more() -> None:
    ours = BASE.replace("table a { id text key }", "table a {\n  id   text   key,\n}")
    assert merge(texts(BASE), ours, texts(BASE)).changes == ()


def test_without_a_base_everything_that_differs_is_a_conflict() -> None:
    found = merge({}, BASE, texts(BASE.replace("id text key }", "id integer key }")))
    assert verbs(found) == [("conflict", "table a")]
