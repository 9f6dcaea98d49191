"""A tool in the making: its operation, the table that it is about, its parameters, and values for a test of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from forgec.documents import Field, Operation, Shape
from forgec.documents.api import MISSING
from forgec.starting.names import legal
from forgec.starting.values import documentation, quoted
from forgec.synthesis.drafting.entities import Column, Entity
from forgec.synthesis.drafting.purposes import Purpose
from forgec.synthesis.drafting.records import Records
from forgec.synthesis.drafting.rows import ROWS, World, serial_text
from forgec.synthesis.drafting.sessions import Session

_NOTHING = {"none", "null", "all", "any", "not_given"}
"""Defaults that stand for none."""


class Unknown(Exception):
    """An operation that no rule makes a tool of; the text says why."""


@dataclass
class Given:
    """A parameter of a tool."""

    field: Field
    name: str
    type: str
    doc: str
    optional: bool
    default: str | None = None
    column: Column | None = None

    @property
    def declared(self) -> str:
        default = f" default {self.default}" if self.default is not None else ""
        mark = "?" if self.optional and self.default is None else ""
        doc = f" {documentation(self.doc)}" if self.doc.strip() else ""
        return f"{self.name} {self.type}{mark}{default}{doc}"


@dataclass
class Written:
    """A tool of the draft, and the test of it."""

    operation: Operation
    text: str
    test: str
    assumed: list[str] = field(default_factory=list)


@dataclass
class Body:
    """What a tool does and gives, and what shows it."""

    lines: list[str]
    returns: str = ""
    steps: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Draught:
    """What all tools of a draft are made over: the tables by noun, the rows, and whose they are."""

    entities: Mapping[str, Entity]
    records: Records
    world: World
    session: Session | None
    owners: Mapping[str, Column]


class Making:
    """One tool in the making. `given` are its parameters, `assumed` what no document says, and `shown` the names of
    what it shows of a row, each with its SQL.
    """

    def __init__(self, draught: Draught, purpose: Purpose) -> None:
        self.draught, self.purpose, self.operation = draught, purpose, purpose.operation
        self.entity = draught.entities.get(purpose.noun)
        self.session = draught.session
        self.assumed: list[str] = []
        self.shown: list[tuple[str, str]] = []
        self.given: list[Given] = []

    @property
    def thing(self) -> Entity:
        assert self.entity is not None
        return self.entity

    def parameters(self) -> None:
        taken: list[str] = []
        for i, one in enumerate(self.operation.parameters, 1):
            name = legal(one.name, "parameter", taken, i)
            taken.append(name)
            column = self.thing.column(one.name)
            if self.purpose.member and one.required:
                column = self.thing.key
            scalar = one.shape.kind not in ("list", "map", "record", "anything")
            if column is not None and (column.scalar != scalar or inside(column.shape) != inside(one.shape)):
                column = None
            optional = not one.required
            default = self.default(one, column)
            if column is self.thing.key and self.purpose.kind != "create" and not optional:
                type_ = f"-> {self.thing.table}"
            elif column is not None and not set(one.shape.values) - {*column.values}:
                type_ = column.type
            else:
                type_ = self.draught.records.type_of(one.shape, f"{self.operation.name}_{name}", one.doc)
            self.given.append(Given(one, name, type_, one.doc, optional, default, column))

    def default(self, one: Field, column: Column | None) -> str | None:
        value: Any = one.default
        if value is MISSING or value is None or one.required or self.purpose.kind in ("many", "update"):
            return None
        if isinstance(value, bool):
            return str(value).lower() if one.shape.kind == "boolean" else None
        if isinstance(value, int | float):
            return repr(value) if one.shape.kind in ("integer", "number") else None
        if not isinstance(value, str) or value.lower() in _NOTHING or one.shape.kind != "text":
            return None
        if column is not None and (column.references is not None or (column.values and value not in column.values)):
            return None
        return quoted(value)

    def key(self) -> Given | None:
        """The parameter that names a row."""
        keys = [one for one in self.given if one.column is self.thing.key and not one.optional]
        return keys[-1] if keys else None

    def row(self, i: int) -> dict[str, str]:
        return self.draught.world.rows[self.thing.table][i]

    def value(self, given: Given, i: int) -> str:
        """A value for a parameter in a test: that of the row `i`."""
        if given.column is not None:
            return self.draught.world.value(self.thing, given.column, i)
        made = Column(given.name, given.type, given.field.shape, values=given.field.shape.values)
        return self.draught.world.value(self.thing, made, i)

    def other(self, column: Column, row: Mapping[str, str]) -> str:
        """A value for a column that a row does not have; its own where there is no other."""
        values = [self.draught.world.value(self.thing, column, i) for i in (2, 0, 1, 3)]
        return next((value for value in values if value not in ("null", row[column.name])), row[column.name])

    def arguments(self, given: list[Given], i: int) -> str:
        return ", ".join(f"{one.name}: {self.value(one, i)}" for one in given)

    def type_of(self, column: Column) -> str:
        holder = column.references or (self.thing if column is self.thing.key else None)
        type_ = f"{holder.table}.{holder.key.name}" if holder is not None else column.type
        return type_ + ("?" if column.optional else "")

    def made_key(self) -> str:
        entity = self.thing
        return str(ROWS + 1) if entity.key.shape.kind == "integer" else quoted(serial_text(entity, ROWS + 1))

    def compared(self, key: str, wanted: list[tuple[Column, str]]) -> list[str]:
        """Expectations on the row of a key."""
        row = self.thing.table if self.thing.single else f"{self.thing.table}[{key}]"
        return [
            f"expect {row}.{column.name} = {typed(column, value)};"
            for column, value in wanted
            if column.scalar and value != "null" and (column is not self.thing.key or self.thing.single)
        ]


def tool_text(name: str, given: list[Given], returns: str, doc: str, lines: list[str], *remarks: str) -> str:
    parameters = ",\n  ".join(one.declared for one in given)
    head = f"tool {name}(\n  {parameters}\n)" if given else f"tool {name}()"
    if returns:
        head += f" returns {returns}"
    if doc.strip():
        head += f"\n  {documentation(doc)}"
    comments = "".join(f"-- {' '.join(remark.split())}\n" for remark in remarks)
    return comments + head + " {\n" + "".join(f"  {line}\n" for line in lines) + "}"


def typed(column: Column, value: str) -> str:
    type_ = column.type
    return f"{type_} {value}" if type_ in ("date", "timestamp") and value.startswith("'") else value


def inside(shape: Shape) -> str:
    """What kind of values a list holds."""
    return shape.of.kind if shape.kind == "list" and shape.of is not None else ""
