"""The records and enums that the columns and parameters of a draft are made of."""

from __future__ import annotations

import re

from forgec.documents import Field, Shape
from forgec.starting.names import legal, type_name
from forgec.synthesis.drafting.words import singular, words

_MONEY = {"amount", "balance", "budget", "cost", "fee", "fine", "income", "limit", "price", "rate", "salary", "total"}
_DAY = re.compile(r"YYYY-MM-DD(?![ T]HH)", re.I)
_MOMENT = re.compile(r"YYYY-MM-DD[ T]HH", re.I)


class Records:
    """The records and enums that columns and parameters are made of, each declared once."""

    def __init__(self) -> None:
        self.records: dict[str, tuple[Field, ...]] = {}
        self._names: dict[str, str] = {}
        self.shapes: list[Shape] = []
        """The shapes of the records, in the order in which they are declared."""
        self.enums: dict[str, tuple[str, ...]] = {}
        self.taken: list[str] = []

    def type_of(self, shape: Shape, words_: str, doc: str = "", *, money: bool = False) -> str:
        """A shape as a spec writes it, without `?`; `words_` name what has to be declared for it."""
        kind = shape.kind
        if kind == "text" and shape.values:
            return self._enum(shape.values, words_)
        if kind == "text":
            return "date" if _DAY.search(doc) else "timestamp" if _MOMENT.search(doc) else "text"
        if kind == "number":
            return "decimal(12, 2)" if money else "double"
        if kind in ("integer", "boolean", "date", "timestamp"):
            return kind
        if kind == "list":
            return f"{self.type_of(flat(shape.of), singular(words_))}[]"
        if kind == "map":
            plain = shape.of is not None and shape.of.kind in ("integer", "boolean")
            return f"map(text, {shape.of.kind if plain and shape.of is not None else 'text'})"
        if kind == "record" and shape.fields:
            return self._record(shape, words_)
        return "text"

    def parts(self, shape: Shape) -> list[tuple[str, Field, str, bool]]:
        """The fields of a record: the name in the spec, the field, its type, and whether it may be null."""
        found: list[tuple[str, Field, str, bool]] = []
        for i, one in enumerate(shape.fields, 1):
            name = legal(one.name, "field", [part[0] for part in found], i)
            type_ = self.type_of(one.shape, f"{shape.name}_{one.name}", one.doc, money=is_money(one.name))
            found.append((name, one, type_, one.shape.optional or not one.required))
        return found

    def _enum(self, values: tuple[str, ...], words_: str) -> str:
        for name, known in self.enums.items():
            if known == values:
                return name
        name = type_name(words_, self.taken)
        self.taken.append(name)
        self.enums[name] = values
        return name

    def _record(self, shape: Shape, words_: str) -> str:
        for name, known in self.records.items():
            if known == shape.fields and self._names[name] == shape.name:
                return name
        name = type_name(shape.name or words_, self.taken)
        self.taken.append(name)
        for one in shape.fields:  # what it is made of is declared above it
            self.type_of(one.shape, f"{words_}_{one.name}", one.doc, money=is_money(one.name))
        self.records[name] = shape.fields
        self._names[name] = shape.name
        self.shapes.append(shape)
        return name

    def named(self, shape: Shape) -> str:
        """The name of the record that a shape became; empty for none."""
        return next((n for n, f in self.records.items() if f == shape.fields and self._names[n] == shape.name), "")


def flat(shape: Shape | None) -> Shape:
    """What a list may hold: no lists, no maps, nothing unknown."""
    return shape if shape is not None and shape.kind not in ("list", "map", "anything", "nothing") else Shape("text")


def is_money(name: str) -> bool:
    return bool(set(words(name)) & _MONEY)
