"""The shape of a task in bulk, as pydantic knows it; what it says is looked at as that of a block is."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, arbitrary_types_allowed=True)


Given = Any
"""A constant, `{"$": "acct.fines"}` for a value that is known, or `{"sql": "..."}`."""


class RequestShape(Shape):
    """What the user asks for, after others, if the condition `when` holds."""

    name: str
    text: str
    after: list[str] = []
    when: str | None = None


class SampleShape(Shape):
    """What is drawn: one of `rows`, which are `from TABLE where ...` or a select."""

    name: str
    rows: str
    doc: str = ""


class FactShape(Shape):
    """Something the user knows."""

    name: str
    value: Given
    doc: str = ""


class NodeShape(Shape):
    """A call of a `tool`, or a `reason`: what is worked out, rows with `many`."""

    name: str
    tool: str | None = None
    arguments: dict[str, Given] = {}
    reason: Given = None
    many: bool = False
    doc: str = ""
    when: str | None = None
    after: list[str] = []

    @model_validator(mode="after")
    def _is_one_of_both(self) -> NodeShape:
        reasons = "reason" in self.model_fields_set
        if (self.tool is None) != reasons or (reasons and self.arguments) or (self.tool and (self.many or self.doc)):
            raise ValueError("a node has either `tool` and `arguments`, or `reason`, `many` and `doc`")
        return self


class PlanShape(Shape):
    """A way to do the task; the first is gold, and the others have names."""

    nodes: list[NodeShape]
    name: str | None = None
    doc: str = ""


class SayingShape(Shape):
    """Something that the agent has to tell the user."""

    value: Given
    doc: str = ""


class NeverShape(Shape):
    """A call that may not succeed."""

    tool: str
    arguments: dict[str, Given] = {}


class TaskShape(Shape):
    """A task: what the parts of a `task` block say, by their names."""

    name: str
    world: str
    doc: str = ""
    intent: str | None = None
    tags: list[str] = []
    requests: list[RequestShape] = []
    samples: list[SampleShape] = []
    facts: list[FactShape] = []
    change: list[str] = Field(default=[], description="Statements of SQL: insert, update, delete.")
    plan: list[NodeShape] | None = Field(default=None, description="The nodes of the plan, where there is one.")
    plans: list[PlanShape] = []
    expect: list[str] = []
    says: list[SayingShape] = []
    never: list[NeverShape] = []
