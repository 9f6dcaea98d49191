"""Any character of a source is shown safely, and carets stand under what they mark."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgec.diagnostics import Diagnostic, Label
from forgec.diagnostics.cells import ELLIPSIS, WIDTH, clean, columns
from forgec.diagnostics.text import render_text
from forgec.source import Source, Span


def at(text: str, start: int, end: int, said: str = "here") -> str:
    """The excerpt for one label on `text`, without the two lines above and the indentation of the gutter."""
    primary = Label(Span(Source("x.afs", text), start, end), said)
    return render_text([Diagnostic("AFS100", "wrong", primary)]).split("\n", 3)[3]


@pytest.mark.parametrize("said", ["", "never closed"])
def test_a_span_of_several_lines_is_marked_to_the_end_of_its_first(said: str) -> None:
    text = "tool x(\n  a int,\n  b int\n"
    what = f"{said} (lines 1 to 3)" if said else "lines 1 to 3"
    assert at(text, 5, len(text), said) == f"1 | tool x(\n  |      ^^ {what}"


def test_line_ends_do_not_make_a_span_longer() -> None:
    assert at("ab\n\ncd", 0, 4) == "1 | ab\n  | ^^ here"
    assert at("ab\r\n\r\ncd", 0, 6) == "1 | ab\n  | ^^ here"


def test_empty_spans_have_a_caret() -> None:
    assert at("abc", 1, 1) == "1 | abc\n  |  ^ here"


def test_ends() -> None:
    assert at("", 0, 0) == "1 |\n  | ^ here"
    assert at("abc", 3, 3) == "1 | abc\n  |    ^ here"
    assert at("abc\n", 3, 4) == "1 | abc\n  |    ^ here"
    assert at("abc\n", 4, 4) == "2 |\n  | ^ here"
    assert at("abc", 2, 99) == at("abc", 2, 3)
    assert at("abc", 99, 99) == at("abc", 3, 3)


def test_crlf() -> None:
    assert at("one\r\ntwo\r\n", 5, 8) == "2 | two\n  | ^^^ here"
    assert at("one\r\ntwo\r\n", 3, 5) == "1 | one\n  |    ^ here"
    assert at("one\rtwo\r\n", 4, 7) == "1 | one␍two\n  |     ^^^ here"


def test_tabs_go_to_the_next_stop() -> None:
    assert at("\tab\tc", 4, 5) == "1 |     ab  c\n  |         ^ here"
    assert at("\tab\tc", 3, 4) == "1 |     ab  c\n  |       ^^ here"


def test_wide_and_combining_characters() -> None:
    assert at("'日本' x", 5, 6) == "1 | '日本' x\n  |        ^ here"
    assert at("'日本' x", 1, 3) == "1 | '日本' x\n  |  ^^^^ here"
    assert at("e\u0301te\u0301 x", 1, 3) == "1 | e\u0301te\u0301 x\n  | ^^ here"
    assert at("e\u0301te\u0301 x", 6, 7) == "1 | e\u0301te\u0301 x\n  |     ^ here"
    assert at("\u1112\u1161\u11ab x", 4, 5) == "1 | \u1112\u1161\u11ab x\n  |    ^ here"
    assert at("\U0001f600 x", 2, 3) == "1 | \U0001f600 x\n  |    ^ here"
    assert at("\u0301x", 1, 2) == "1 | <U+0301>x\n  |         ^ here"


def test_what_a_terminal_would_obey_reorder_or_hide_is_made_visible() -> None:
    assert at("a\x1b[31mb\x7f", 1, 2) == "1 | a␛[31mb<U+007F>\n  |  ^ here"
    assert at("a\u202eb", 2, 3) == "1 | a<U+202E>b\n  |          ^ here"
    assert at("us\u200bers", 2, 3) == "1 | us<U+200B>ers\n  |   ^^^^^^^^ here"
    assert at("a\u00a0b", 1, 2) == "1 | a<U+00A0>b\n  |  ^^^^^^^^ here"
    assert at("a\u2028\ud800", 2, 3) == "1 | a<U+2028><U+D800>\n  |          ^^^^^^^^ here"


def test_spaces_at_the_end_are_not_shown_but_marked() -> None:
    assert at("ab   \n", 2, 5) == "1 | ab\n  |   ^^^ here"


def test_long_lines_are_trimmed_around_the_primary_label() -> None:
    assert at("a" * 120, 60, 61) == f"1 | {'a' * 120}\n  | {' ' * 60}^ here"
    assert at("a" * 121, 60, 61) == f"1 | {'a' * 120}...\n  | {' ' * 60}^ here"
    assert at("a" * 500, 250, 252) == f"1 | ...{'a' * 120}...\n  | {' ' * 83}^^ here"
    assert at("a" * 500, 500, 500) == f"1 | ...{'a' * 120}\n  | {' ' * 123}^ here"
    assert at("日" * 500, 250, 251) == f"1 | ...{'日' * 60}...\n  | {' ' * 83}^^ here"


def test_a_span_that_is_cut_off_goes_into_the_ellipsis() -> None:
    assert at("a" * 500, 0, 500) == f"1 | {'a' * 120}...\n  | {'^' * 123} here"


def test_any_number_of_combining_characters_is_cut_off_too() -> None:
    assert len(at("a" + "\u0301" * 100_000, 50_000, 50_001)) < 3_000


AWKWARD = "\t\r\n\x00\x1b\x7f\x85\u0301\u200b\u202e\u2028\u3000\u1161日\U0001f600"
texts = st.text(st.one_of(st.characters(), st.sampled_from(AWKWARD + "ab ")), max_size=300)


@st.composite
def labels(draw: st.DrawFn, source: Source) -> Label:
    start = draw(st.integers(0, len(source.text)))
    return Label(Span(source, start, draw(st.integers(start, len(source.text)))), draw(texts))


@st.composite
def diagnostics(draw: st.DrawFn) -> Diagnostic:
    here, there = (Source(name, draw(texts)) for name in ("x.afs", "y.afs"))
    related = draw(st.lists(st.one_of(labels(here), labels(there)), max_size=4))
    primary = draw(st.one_of(st.none(), labels(here)))
    return Diagnostic("AFS1", draw(texts), primary, tuple(related), tuple(draw(st.lists(texts, max_size=2))))


@given(diagnostics())
def test_anything_renders_in_clean_lines(diagnostic: Diagnostic) -> None:
    shown = render_text([diagnostic])
    for line in shown.split("\n"):
        assert line.isprintable()
    assert re.sub(r"\x1b\[[0-9;]*m", "", render_text([diagnostic], color=True)) == shown


def under(row: str, left: int, right: int) -> str:
    """What stands in those columns of `row`."""
    return "".join(char for i, char in enumerate(row) if left < columns(row[: i + 1]) <= right)


@given(texts, st.data())
def test_carets_lie_under_what_they_mark(text: str, data: st.DataObject) -> None:
    span = data.draw(labels(Source("x.afs", text))).span
    row, marks = (line[line.index("|") + 2 :] for line in at(text, span.start, span.end, "").split("\n"))
    carets = marks.split(" lines ")[0]
    assert re.fullmatch(r" *\^+", carets)
    assert len(carets) <= WIDTH + 2 * len(ELLIPSIS)
    marked = clean(span.text.split("\n")[0].rstrip("\r"))
    if ELLIPSIS in row or "\t" in span.text or not columns(marked[:1]):
        return  # cut off, as wide as where it stands says, or drawn on the character before it
    assert carets.count("^") == columns(marked)
    assert under(row, carets.count(" "), len(carets)).startswith(marked.rstrip())
