from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgec.dialogue import AssistantMessage, Message, ToolCall
from forgec.training import tokenizer
from forgec.training.template import Template, UnknownTool
from forgec.training.tokenizer import CALL, END, SET

TOOLS = [
    {"function": {"name": "pay", "parameters": {"properties": {
        "member_id": {"type": "string"}, "amount": {"type": "number"}, "note": {"type": ["string", "null"]},
        "now": {"type": "boolean"}, "parts": {"type": "array"},
    }}}},
]  # fmt: skip
MADE = tokenizer.train(["some text about a member"] * 3, ["pay", "member_id", "amount", "note", "now", "parts"], 300)
TEMPLATE = Template(MADE)


def pay(**arguments: Any) -> AssistantMessage:
    return AssistantMessage(calls=(ToolCall.of("pay", arguments, "call_0_0"),))


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"member_id": "M001", "amount": 12.5, "now": True},
        {"member_id": "12.50", "amount": 7},
        {"member_id": "<|set|>amount", "note": None},
        {"note": "null and void", "parts": [1, {"a": 2.5}]},
    ],
)
def test_a_call_that_is_written_is_read_as_it_was(arguments: dict[str, Any]) -> None:
    read = TEMPLATE.read(TEMPLATE.written(pay(**arguments), TOOLS), TOOLS)
    assert (read.text, [call.name for call in read.calls]) == ("", ["pay"])
    assert json.loads(read.calls[0].arguments) == arguments


def test_a_call_and_the_row_it_is_copied_from_have_the_same_tokens() -> None:
    row = TEMPLATE.observed(Message(role="tool", content='{"member_id":"M001","amount":12.50,"z":{"now":true}}'))
    call = TEMPLATE.written(pay(member_id="M001", amount=12.5), TOOLS)
    start = row.index(SET)
    assert row[start : start + len(call) - 3] == call[2:-1]


def test_text_and_several_calls_stand_in_one_message() -> None:
    said = AssistantMessage(text="One moment.", calls=(*pay(amount=1).calls, *pay(amount=2).calls))
    read = TEMPLATE.read(TEMPLATE.written(said, TOOLS), TOOLS, 4)
    assert read.text == "One moment." and [call.arguments for call in read.calls] == ['{"amount":1}', '{"amount":2}']
    assert [call.id for call in read.calls] == ["call_4_0", "call_4_1"]


@given(st.lists(st.integers(0, MADE.size - 1), max_size=30))
def test_whatever_a_policy_writes_is_a_message_with_json_arguments(ids: list[int]) -> None:
    read = TEMPLATE.read(ids, TOOLS)
    assert len(read.calls) == ids.count(CALL)
    assert all(isinstance(json.loads(call.arguments), dict) for call in read.calls)


@given(st.text(max_size=60))
def test_every_result_can_be_read(text: str) -> None:
    assert TEMPLATE.observed(Message(role="tool", content=text))[-1] == END


@pytest.mark.parametrize("text", ["[" * 5000, '{"a":' * 30 + "1" + "}" * 30, "1e999999999", "9" * 6000, "NaN"])
def test_results_that_are_hard_to_parse_are_read_as_text(text: str) -> None:
    ids = TEMPLATE.observed(Message(role="tool", content=text))
    assert len(ids) < 2 * len(text) + 20


def test_a_tool_whose_name_is_not_whole_is_refused() -> None:
    assert len(TEMPLATE.beginning(TOOLS)) == 3
    with pytest.raises(UnknownTool, match="fly"):
        TEMPLATE.beginning([{"function": {"name": "fly"}}])
