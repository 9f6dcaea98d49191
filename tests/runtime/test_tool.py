"""Arguments as agents send them: decoded, or refused with a text that helps."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from forgec_runtime import Call, Parameter, Tool
from forgec_runtime import types as t
from forgec_runtime.arguments import decode_arguments, unknown_tool


def _echo(call: Call, *values: Any) -> Any:
    return values


ADDRESS = t.Record("Address", (t.Field("city", t.Text()), t.Field("zip", t.Text(), optional=True)))
CHANGES = t.Record("Changes", (t.Field("title", t.Text(), optional=True), t.Field("home", ADDRESS, optional=True)))
TOOL = Tool(
    "echo",
    function=_echo,
    doc="Says it again.",
    parameters=(
        Parameter("amount", t.Decimal(8, 2), doc="How much"),
        Parameter("on", t.Date(), optional=True),
        Parameter("count", t.Integer(), default=1),
        Parameter("size", t.Enum("Size", ("small", "large")), default="small", optional=True),
    ),
)


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ({"amount": 4.5}, [Decimal("4.50"), None, 1, "small"]),
        ({"amount": "4.5", "count": 2, "on": "2025-03-01"}, [Decimal("4.50"), date(2025, 3, 1), 2, "small"]),
        ({"amount": 4, "size": None, "on": None}, [Decimal("4.00"), None, 1, None]),
        ('{"amount": 0.10, "count": 3.0}', [Decimal("0.10"), None, 3, "small"]),
        (b'{"amount": -1}', [Decimal("-1.00"), None, 1, "small"]),
    ],
)
def test_values_in_the_order_of_the_parameters(given: Any, values: list[Any]) -> None:
    assert decode_arguments(TOOL, given) == values


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "amount is missing"),
        ({"amount": None}, "amount must not be null"),
        ({"amount": 4.555}, "amount must be a number with at most 2 decimals"),
        ({"amount": "much"}, "amount must be a number with at most 2 decimals"),
        ({"amount": True}, "amount must be a number with at most 2 decimals"),
        ({"amount": 1, "count": None}, "count must not be null"),
        ({"amount": 1, "count": 1.5}, "count must be an integer"),
        ({"amount": 1, "count": "1"}, "count must be an integer"),
        ({"amount": 1, "on": "1 March"}, "on must be a date such as 2025-03-01"),
        ({"amount": 1, "size": "huge"}, "size must be one of small, large"),
        ({"amount": 1, "cuont": 2}, "there is no argument 'cuont' (did you mean count?)"),
        ({"amount": 1, "zzz": 2}, "there is no argument 'zzz'"),
        (
            {"count": [], "on": 3, "x": 1},
            "amount is missing; on must be a date such as 2025-03-01; count must be an integer; "
            "there is no argument 'x'",
        ),
        ([], "The arguments must be a JSON object"),
        (None, "The arguments must be a JSON object"),
        ("[1]", "The arguments must be a JSON object"),
        ("null", "The arguments must be a JSON object"),
    ],
)
def test_what_does_not_fit_is_told(given: Any, text: str) -> None:
    assert decode_arguments(TOOL, given) == text


@pytest.mark.parametrize("given", ["{", "", '{"amount": NaN}', '{"amount": 1e999}', b"\xff", "[" * 5000, '{"a": 1} x'])
def test_text_that_is_no_json_is_told(given: Any) -> None:
    told = decode_arguments(TOOL, given)
    assert isinstance(told, str)
    assert told.startswith("The arguments are not valid JSON: ")


@pytest.mark.parametrize(
    ("type_", "given", "value"),
    [
        (t.Timestamp(), "2025-03-01T09:00", datetime(2025, 3, 1, 9)),
        (t.Double(), 3, 3.0),
        (t.Boolean(), False, False),
        (t.List(t.Text()), ["a", "b"], ["a", "b"]),
        (ADDRESS, {"city": "X"}, {"city": "X", "zip": None}),
        (t.List(ADDRESS), [], []),
        (t.Map(t.Text(), t.Decimal(4, 2)), {"b": 1, "a": "2.5"}, {"a": Decimal("2.50"), "b": Decimal("1.00")}),
    ],
)
def test_values_of_every_type(type_: t.Type, given: Any, value: Any) -> None:
    tool = Tool("one", function=_echo, parameters=(Parameter("x", type_),))
    assert decode_arguments(tool, {"x": given}) == [value]


@pytest.mark.parametrize("given", [float("nan"), float("inf"), object(), {1: 2}, "\ud800", 10**400, [[]], b"x"])
@pytest.mark.parametrize(
    "type_",
    [
        t.Text(),
        t.Integer(),
        t.Decimal(8, 2),
        t.Double(),
        t.Boolean(),
        t.Date(),
        t.Timestamp(),
        t.Enum("E", ("a",)),
        t.List(t.Text()),
        t.Map(t.Text(), t.Text()),
        ADDRESS,
    ],
)
def test_nothing_that_is_sent_raises(type_: t.Type, given: Any) -> None:
    tool = Tool("one", function=_echo, parameters=(Parameter("x", type_),))
    told = decode_arguments(tool, {"x": given})
    assert isinstance(told, str)
    assert told.startswith(("x must be ", "x.city is missing", "x[1] must be ", "x has a key "))


@pytest.mark.parametrize(
    ("type_", "given", "text"),
    [
        (ADDRESS, [], "x must be an object with city, and optionally zip"),
        (CHANGES, '{"title": "T"}', "x must be an object with any of title, home"),
        (ADDRESS, {}, "x.city is missing"),
        (t.List(ADDRESS), {}, "x must be an array"),
        (t.List(ADDRESS), [{"city": "A"}, {}, None], "x[2].city is missing; x[3] must not be null"),
        (
            t.List(t.Integer()),
            ["a"] * 7,
            "".join(f"x[{i}] must be an integer; " for i in range(1, 6)) + "x has 2 more that do not fit",
        ),
        (t.List(t.Integer()), [1] * 1001, "x must have at most 1000 elements"),
        (t.Map(t.Text(), t.Integer()), [], "x must be an object"),
        (t.Map(t.Text(), t.Integer()), {"b": None, "a": "1"}, "x['a'] must be an integer; x['b'] must not be null"),
        (t.Map(t.Enum("E", ("a",)), t.Integer()), {"b": 1}, "x has a key 'b', which must be one of a"),
        (t.Map(t.Text(), t.Integer()), dict.fromkeys(map(str, range(1001)), 1), "x must have at most 1000 entries"),
        (ADDRESS, {"city": None}, "x.city must not be null"),
        (ADDRESS, {"city": 3, "zpi": 1}, "x.city must be a string; x has no field 'zpi' (did you mean zip?)"),
        (CHANGES, {"title": 3, "zzz": 1}, "x.title must be a string; x has no field 'zzz'"),
        (CHANGES, {"home": {"zip": 3, "ciyt": "X"}}, (
            "x.home.city is missing; x.home.zip must be a string; x.home has no field 'ciyt' (did you mean city?)"
        )),
        (CHANGES, {"title": 1, "home": []}, (
            "x.title must be a string; x.home must be an object with city, and optionally zip"
        )),
        (CHANGES, {f"{i}": i for i in range(9)}, (
            "; ".join(f"x has no field '{i}'" for i in range(5)) + "; x has none of 4 others"
        )),
    ],
)  # fmt: skip
def test_all_mistakes_in_a_record_are_told(type_: t.Type, given: Any, text: str) -> None:
    tool = Tool("one", function=_echo, parameters=(Parameter("x", type_), Parameter("y", t.Integer())))
    assert decode_arguments(tool, {"x": given}) == f"{text}; y is missing"


def test_an_unknown_tool_is_told_with_those_that_there_are() -> None:
    assert unknown_tool("ehco", {"echo": TOOL, "other": TOOL}) == (
        "There is no tool 'ehco'. Did you mean echo? Tools: echo, other"
    )
    assert unknown_tool(None, {"echo": TOOL}) == "There is no tool 'None'. Tools: echo"


def test_a_tool_as_an_openai_function() -> None:
    assert TOOL.schema == {
        "type": "function",
        "function": {
            "name": "echo",
            "description": "Says it again.",
            "parameters": {
                "type": "object",
                "properties": {
                    "amount": {"type": "number", "description": "How much"},
                    "on": {"type": ["string", "null"], "format": "date"},
                    "count": {"type": "integer", "default": 1},
                    "size": {"type": ["string", "null"], "enum": ["small", "large", None], "default": "small"},
                },
                "required": ["amount"],
                "additionalProperties": False,
            },
        },
    }


def test_what_is_said_of_types_and_fields_is_in_the_schema() -> None:
    size = t.Enum("Size", ("small", "large"), doc="How big it is")
    box = t.Record(
        "Box", (t.Field("size", size), t.Field("label", t.Text(), optional=True, doc="What it says")), doc="A box"
    )
    tool = Tool("pack", _echo, parameters=(Parameter("box", box), Parameter("size", size, doc="Of the lorry")))
    parameters = tool.schema["function"]["parameters"]
    assert parameters["required"] == ["box", "size"]
    assert parameters["properties"] == {
        "box": {
            "type": "object",
            "properties": {
                "size": {"type": "string", "enum": ["small", "large"], "description": "How big it is"},
                "label": {"type": ["string", "null"], "description": "What it says"},
            },
            "required": ["size"],
            "additionalProperties": False,
            "description": "A box",
        },
        "size": {"type": "string", "enum": ["small", "large"], "description": "Of the lorry"},
    }


@pytest.mark.parametrize(
    ("type_", "default", "json"),
    [
        (t.Decimal(8, 2), Decimal("2.50"), 2.5),
        (t.Decimal(18, 2), Decimal("1234567890123456.78"), "1234567890123456.78"),
        (t.Date(), date(2025, 3, 1), "2025-03-01"),
        (ADDRESS, {"city": "X", "zip": None}, {"city": "X", "zip": None}),
    ],
)
def test_a_default_stands_in_the_schema_as_it_could_be_sent(type_: t.Type, default: Any, json: Any) -> None:
    tool = Tool("one", _echo, parameters=(Parameter("x", type_, default=default),))
    assert tool.schema["function"]["parameters"]["properties"]["x"]["default"] == json
    assert decode_arguments(tool, {"x": json}) == [default] == decode_arguments(tool, {})
