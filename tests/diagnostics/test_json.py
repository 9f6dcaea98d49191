"""What programs see of a diagnostic."""

from __future__ import annotations

import json
from textwrap import dedent

from hypothesis import given
from hypothesis import strategies as st

from forgec.diagnostics import Diagnostic, Label
from forgec.diagnostics.json import render_json
from forgec.source import Source, Span


def test_all_fields() -> None:
    here, there = Source("b.afs", "\ntable usérs\n"), Source("a.afs", "table\nusérs")
    found = Diagnostic(
        "AFS110",
        "`usérs` is declared twice",
        Label(Span(here, 7, 12), "again"),
        (Label(Span(there, 0, 11)),),
        notes=("a name is declared once",),
        help="rename one",
    )
    expected = r"""
    [
      {
        "code": "AFS110",
        "severity": "error",
        "message": "`us\u00e9rs` is declared twice",
        "file": "b.afs",
        "line": 2,
        "column": 7,
        "end_line": 2,
        "end_column": 12,
        "offset": 7,
        "end_offset": 12,
        "label": "again",
        "related": [
          {
            "file": "a.afs",
            "line": 1,
            "column": 1,
            "end_line": 2,
            "end_column": 6,
            "offset": 0,
            "end_offset": 11,
            "label": ""
          }
        ],
        "notes": [
          "a name is declared once"
        ],
        "help": "rename one"
      }
    ]
    """
    assert render_json([found]) == dedent(expected).strip()


def test_without_a_place() -> None:
    [found] = json.loads(render_json([Diagnostic("AFS001", "no such file", path="x.afs", severity="warning")]))
    assert found == {
        "code": "AFS001",
        "severity": "warning",
        "message": "no such file",
        "file": "x.afs",
        **dict.fromkeys(["line", "column", "end_line", "end_column", "offset", "end_offset", "label"]),
        "related": [],
        "notes": [],
        "help": None,
    }


def test_keys_have_one_order() -> None:
    placed = Diagnostic("AFS1", "a", Label(Span(Source("x.afs", ""), 0, 0)))
    first, second = json.loads(render_json([placed, Diagnostic("AFS2", "b")]))
    assert list(first) == list(second)


def test_nothing_found() -> None:
    assert render_json([]) == "[]"


@given(st.text(st.characters()), st.data())
def test_any_text_survives_and_no_terminal_is_touched(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    span = Span(Source("x.afs", text), start, data.draw(st.integers(start, len(text))))
    shown = render_json([Diagnostic("AFS1", text, Label(span, text), help=text)])
    assert shown.replace("\n", "").isprintable() and shown.isascii()
    [found] = json.loads(shown)
    assert (found["message"], found["label"], found["help"]) == (text, text, text)
    assert text[found["offset"] : found["end_offset"]] == span.text
