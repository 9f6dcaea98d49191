"""What a document says about an interface, in one form for all kinds of documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal[
    "text", "integer", "number", "boolean", "date", "timestamp", "list", "record", "map", "anything", "nothing"
]  # fmt: skip
Method: TypeAlias = Literal["get", "post", "put", "patch", "delete", ""]

MISSING: Any = object()
"""The default of a field that has none; None is a default, too."""


@dataclass(frozen=True)
class Shape:
    """The type of a value. A list and a map are `of` something; a record has fields, and a name if the document gives
    it one.
    """

    kind: Kind
    values: tuple[str, ...] = ()
    """The only values of a text."""
    of: Shape | None = None
    fields: tuple[Field, ...] = ()
    name: str = ""
    optional: bool = False
    """Whether the value may be null."""

    def field(self, name: str) -> Field | None:
        return next((field for field in self.fields if field.name == name), None)


@dataclass(frozen=True)
class Field:
    """A parameter, or a part of a record. `name` is as the document writes it."""

    name: str
    shape: Shape
    required: bool = True
    doc: str = ""
    default: Any = MISSING
    place: Literal["", "path", "query", "header", "body"] = ""


@dataclass(frozen=True)
class Failure:
    """A way in which an operation fails: a status code or the name of an error, and what the document says of it."""

    code: str
    text: str


@dataclass(frozen=True)
class Operation:
    """Something that can be called."""

    name: str
    doc: str = ""
    parameters: tuple[Field, ...] = ()
    result: Shape | None = None
    """None where the document says nothing about it."""
    result_doc: str = ""
    failures: tuple[Failure, ...] = ()
    method: Method = ""
    path: str = ""
    """The path of a web interface, with `{holes}`."""
    place: str = ""
    """Where the document has it: a pointer into JSON, or a line."""


@dataclass(frozen=True)
class Note:
    """Something that was not understood, or taken otherwise than it stands there."""

    place: str
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text}" if self.place else self.text


@dataclass
class Api:
    """One or several documents, read. `schemas` are the records that the document names."""

    title: str = ""
    doc: str = ""
    operations: list[Operation] = field(default_factory=list)
    schemas: dict[str, Shape] = field(default_factory=dict)
    prose: str = ""
    """The text of a document that is no list of operations."""
    notes: list[Note] = field(default_factory=list)
    forms: list[str] = field(default_factory=list)
    """What kinds of documents it was read from."""
    _noted: set[Note] = field(default_factory=set, repr=False)

    def note(self, place: str, text: str) -> None:
        note = Note(place, text)
        if note not in self._noted:
            self._noted.add(note)
            self.notes.append(note)

    def add(self, operation: Operation) -> None:
        """An operation; one whose name is taken gets a number, which is noted."""
        taken = {other.name for other in self.operations}
        name, number = operation.name, 1
        while name in taken:
            number += 1
            name = f"{operation.name}_{number}"
        if name != operation.name:
            self.note(operation.place, f"there are several operations named {operation.name!r}: this one is {name!r}")
            operation = Operation(**{**vars(operation), "name": name})
        self.operations.append(operation)


def as_json(api: Api) -> dict[str, Any]:
    """An `Api` as plain data, for `--json` and for prompts; what is not said is left out."""
    return {
        "title": api.title, "doc": api.doc, "forms": api.forms,
        "operations": [dict(_operation(operation)) for operation in api.operations],
        "schemas": {name: _shape(shape) for name, shape in api.schemas.items()},
        "notes": [{"place": note.place, "text": note.text} for note in api.notes],
    }  # fmt: skip


def _operation(operation: Operation) -> Iterator[tuple[str, Any]]:
    yield "name", operation.name
    for key in ("doc", "method", "path", "place", "result_doc"):
        if value := getattr(operation, key):
            yield key, value
    yield "parameters", [_field(parameter) for parameter in operation.parameters]
    if operation.result is not None:
        yield "result", _shape(operation.result)
    if operation.failures:
        yield "failures", [{"code": failure.code, "text": failure.text} for failure in operation.failures]


def _field(field: Field) -> dict[str, Any]:
    found: dict[str, Any] = {"name": field.name, "shape": _shape(field.shape), "required": field.required}
    if field.doc:
        found["doc"] = field.doc
    if field.default is not MISSING:
        found["default"] = field.default
    if field.place:
        found["place"] = field.place
    return found


def _shape(shape: Shape) -> Mapping[str, Any]:
    found: dict[str, Any] = {"kind": shape.kind}
    if shape.name:
        found["name"] = shape.name
    if shape.values:
        found["values"] = list(shape.values)
    if shape.of is not None:
        found["of"] = _shape(shape.of)
    if shape.fields:
        found["fields"] = [_field(field) for field in shape.fields]
    if shape.optional:
        found["optional"] = True
    return found
