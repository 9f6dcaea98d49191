"""What a typed line means."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgec.playing.line import Mistake, read_call, words, written_call
from forgec.playing.script import script_lines
from forgec_runtime import Parameter, Tool
from forgec_runtime import types as t

SIZE = t.Record("Size", (t.Field("height", t.Integer()), t.Field("label", t.Text())))
TOOLS = {
    tool.name: tool
    for tool in (
        Tool("ping", print),
        Tool(
            "order",
            print,
            parameters=(
                Parameter("name", t.Text()),
                Parameter("amount", t.Decimal(8, 2)),
                Parameter("gift", t.Boolean()),
                Parameter("day", t.Date()),
                Parameter("size", SIZE),
                Parameter("notes", t.List(t.Text())),
                Parameter("counts", t.List(t.Integer())),
            ),
        ),
    )
}


def arguments(text: str) -> dict[str, Any]:
    return read_call(f"order{text}", TOOLS).arguments


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("", {}),
        ("()", {}),
        (" ( ) ;", {}),
        (" name=Ada amount=5", {"name": "Ada", "amount": 5}),
        (" name: Ada amount: 5.5", {"name": "Ada", "amount": 5.5}),
        ("(name: 'Ada', amount: 5,)", {"name": "Ada", "amount": 5}),
        ("(name = Ada, amount=5);", {"name": "Ada", "amount": 5}),
        (' {"name": "Ada", "amount": 5}', {"name": "Ada", "amount": 5}),
        # the type decides what a bare word is
        (" name=04101", {"name": "04101"}),
        (" name=true", {"name": "true"}),
        (" name=null", {"name": None}),
        (" gift=true", {"gift": True}),
        (" gift=yes", {"gift": "yes"}),
        (" amount=-2.50", {"amount": -2.5}),
        (" amount=NaN", {"amount": "NaN"}),
        (" day=2025-03-14", {"day": "2025-03-14"}),
        ("(day: date '2025-03-14')", {"day": "2025-03-14"}),
        # quotes
        (" name='Joan Moreno'", {"name": "Joan Moreno"}),
        (" name='Bo O''Hara'", {"name": "Bo O'Hara"}),
        (" name=O'Hara", {"name": "O'Hara"}),
        (" name=''", {"name": ""}),
        (" name='null'", {"name": "null"}),
        (r' name="tab\t \"x\" \u00e9"', {"name": 'tab\t "x" é'}),
        (" name=a=b:c,d", {"name": "a=b:c,d"}),
        # nested values, in JSON and as SQL writes them
        (" size={height: 5, label: 5}", {"size": {"height": 5, "label": "5"}}),
        ("(size: {'height': 5, \"label\": 'a b'})", {"size": {"height": 5, "label": "a b"}}),
        (" notes=[a, 1, 'c d'] counts=[1, 2,]", {"notes": ["a", "1", "c d"], "counts": [1, 2]}),
        (" notes=[] size={}", {"notes": [], "size": {}}),
        (" notes=[{a: 1}]", {"notes": [{"a": 1}]}),
    ],
)
def test_a_line_means_these_arguments(text: str, meaning: dict[str, Any]) -> None:
    assert arguments(text) == meaning


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("orde name=x", "there is no tool `orde`; did you mean `order`?"),
        ("zzz", "there is no tool `zzz`; `.tools` lists them"),
        ("(", "there is no tool `(`; `.tools` lists them"),
        ("order nam=x", "`order` has no argument `nam`; did you mean `name`?"),
        ("ping name=x", "`ping` has no argument `name`; it takes none"),
        ("order name=x name=y", "`name` is given twice"),
        ("order name=", "`name` lacks its value; an empty text is ''"),
        ("order name= amount=5", "`name` lacks its value; an empty text is ''"),
        ("order name=Joan Moreno", "`Moreno` is no argument; write name=value, and quote texts that have spaces"),
        ("order Joan", "`Joan` is no argument; write name=value, and quote texts that have spaces"),
        ("order(name: Joan Moreno)", "expected `,` or `)` before `Moreno)`; quote a text that has spaces or commas"),
        ("order(name: 'Joan'", "the call lacks its `)`"),
        ("order(", "the call lacks its `)`"),
        ("order() fails 'x'", "`fails 'x'` stands after the end of the call"),
        ("order name='Joan", "the quote is not closed: `'Joan`"),
        ("order name='Joan'x", "a space is missing before `x`"),
        (r'order name="\q"', r'the text in double quotes is not valid JSON: `"\q"`'),
        ("order(name: )", "a value is missing before `)`"),
        ("order notes=[a b]", "expected `,` or `]` in the list before `b]`"),
        ("order notes=[a", "the list lacks its `]`"),
        ("order size={height 5}", "expected `name: value` in the record before `5}`"),
        ("order size={height: 5", "the record lacks its `}`"),
        ("order notes=" + "[" * 60, "values are nested at most 50 deep"),
    ],
)
def test_a_line_that_cannot_be_understood_says_why(line: str, message: str) -> None:
    with pytest.raises(Mistake) as mistake:
        read_call(line, TOOLS)
    assert str(mistake.value) == message


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abc d'\"é\n", min_size=1), inner),
    max_leaves=8,
)


@given(st.text(st.characters(exclude_categories=["Cs"])), JSON_VALUES)
def test_what_is_written_is_read_again(name: str, size: Any) -> None:
    call = {"name": name, "size": size if not isinstance(size, str) else {"text": size}}
    assert read_call(written_call("order", call), TOOLS).arguments == call


@given(st.text())
def test_no_line_is_worse_than_a_mistake(text: str) -> None:
    with suppress(Mistake):
        read_call(f"order {text}", TOOLS)


@given(JSON_VALUES.filter(lambda value: isinstance(value, dict)))
def test_a_json_object_is_its_arguments(value: dict[str, Any]) -> None:
    text = f"order {json.dumps({'size': value})}"
    assert read_call(text, TOOLS).arguments == {"size": value}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("loans M001  lent", ["loans", "M001", "lent"]),
        ("books 'The Hobbit'", ["books", "The Hobbit"]),
        ("books title='The Hobbit' x", ["books", "title=The Hobbit", "x"]),
        ("books O'Brien 'open", ["books", "O'Brien", "'open"]),
        ("", []),
    ],
)
def test_words_of_a_filter(text: str, found: list[str]) -> None:
    assert words(text) == found


def test_a_script_has_comments_and_blank_lines() -> None:
    assert list(script_lines(["-- a session", "", "ping\r\n", "  ", "  order name=x"])) == [
        (3, "ping"),
        (5, "  order name=x"),
    ]


def test_a_transcript_is_a_script() -> None:
    assert list(script_lines(["> ping\n", "1\n", "> \n", "ping\n", "> .state"])) == [(1, "ping"), (5, ".state")]
