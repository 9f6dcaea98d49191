"""The forms of answers: JSON around texts of declarations, so that the parser of specs is the judge of them."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

MAX_TEXT = 200_000
"""Characters of one text of an answer."""


def _texts(given: Any) -> Any:
    """A list of texts, of what models write instead: one text, nothing, objects with a text."""
    if given is None or given == "":
        return []
    if isinstance(given, str):
        return [given]
    if isinstance(given, list):
        return [" ".join(map(str, one.values())) if isinstance(one, dict) else str(one) for one in given]
    return given


def _text(given: Any) -> Any:
    """A text, of what models write instead: lines of it, nothing."""
    if given is None:
        return ""
    if isinstance(given, list):
        return "\n".join(map(str, given))
    return given


def _list(given: Any) -> Any:
    return [] if given is None else [given] if isinstance(given, dict) else given


Text = Annotated[str, BeforeValidator(_text), Field(max_length=MAX_TEXT)]
Texts = Annotated[list[str], BeforeValidator(_texts)]


class Form(BaseModel):
    """What all answers have in common: fields that are not known are passed over, those that are missing are empty."""

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=False)

    @classmethod
    def schema_of(cls) -> dict[str, Any]:
        """The JSON schema that a server is given: all fields required, no others allowed."""
        schema: dict[str, Any] = _strict(cls.model_json_schema())
        return schema


class LeftOut(Form):
    """An operation that is not realised, and why."""

    operation: Text = ""
    why: Text = ""


class ParameterText(Form):
    """A parameter of an operation, as a document in plain words has it."""

    name: Text = ""
    type: Text = Field(default="", description="str, int, float, bool, date, list[str], dict, ...")
    required: bool = True
    doc: Text = ""


class OperationText(Form):
    """An operation, as a document in plain words has it."""

    name: Text = Field(default="", description="as the document writes it")
    doc: Text = ""
    parameters: Annotated[list[ParameterText], BeforeValidator(_list)] = []
    returns: Text = Field(default="", description="str, int, float, list[dict], dict, ...; empty if nothing is said")
    errors: Texts = Field(default=[], description="ways in which it fails")


class Operations(Form):
    """The operations of a document."""

    operations: Annotated[list[OperationText], BeforeValidator(_list)] = []


class State(Form):
    """What there is."""

    declarations: Text = Field(default="", description="enum, record, type, table and single declarations")
    assumed: Texts = Field(default=[], description="what the documents do not say")


class ToolText(Form):
    """One tool."""

    operation: Text = Field(default="", description="the operation of the document")
    declaration: Text = Field(default="", description="one `tool` declaration")
    assumed: Texts = Field(default=[], description="what the documents do not say")


class Tools(Form):
    """Tools, and what several of them share."""

    shared: Text = Field(default="", description="function, action and view declarations; may be empty")
    tools: Annotated[list[ToolText], BeforeValidator(_list)] = []
    left_out: Annotated[list[LeftOut], BeforeValidator(_list)] = []


class Policy(Form):
    """What holds, and what the agent is told."""

    policy: Text = Field(default="", description="the text of the policy, for the agent")
    declarations: Text = Field(default="", description="function, invariant and rule declarations; may be empty")
    assumed: Texts = Field(default=[], description="what the documents do not say")


class World(Form):
    """Where it begins."""

    declarations: Text = Field(default="", description="one or two `world` declarations")


class TestText(Form):
    """One test."""

    __test__ = False  # not a test of pytest's

    tool: Text = Field(default="", description="the tool whose effect it shows")
    declaration: Text = Field(default="", description="one `test` declaration")
    errors: Texts = Field(default=[], description="the codes of documented errors that it shows")


class Tests(Form):
    """Tests of tools."""

    __test__ = False

    tests: Annotated[list[TestText], BeforeValidator(_list)] = []


class Edge(Form):
    """A result that another tool takes."""

    source: Text = ""
    field: Text = Field(default="", description="the column of the result; empty for a value")
    target: Text = ""
    parameter: Text = ""


class Reasoning(Form):
    """Something to work out from what a tool gives."""

    name: Text = ""
    source: Text = Field(default="", description="the tool whose result it reads")
    sql: Text = Field(default="", description="a select from $result")
    meaning: Text = Field(default="", description="what it is, in words")


class Graph(Form):
    """What leads from tool to tool."""

    edges: Annotated[list[Edge], BeforeValidator(_list)] = []
    reasoning: Annotated[list[Reasoning], BeforeValidator(_list)] = []


class Tasks(Form):
    """Tasks."""

    declarations: Text = Field(default="", description="`task` declarations")


class Refined(Form):
    """A task whose words were looked at again, with both states in view."""

    declaration: Text = Field(default="", description="the whole `task` declaration")


class Repair(Form):
    """Declarations in the place of those that are wrong."""

    declarations: Text = Field(default="", description="the corrected declarations, whole")
    given_up: Texts = Field(default=[], description="the names of those that cannot be made right")


F = TypeVar("F", bound=Form)


def _strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {
        key: {name: _strict(part) for name, part in value.items()} if key in ("properties", "$defs") else _strict(value)
        for key, value in schema.items()
        if key not in ("default", "title", "maxLength")
    }
    if made.get("type") == "object":
        made["required"] = list(made.get("properties", {}))
        made["additionalProperties"] = False
    return made
