"""A small world: a few rows of each entity, with values that its columns' names suggest."""

from __future__ import annotations

from collections.abc import Mapping

from forgec.documents import Shape
from forgec.starting.values import quoted
from forgec.synthesis.drafting.entities import Column, Entity
from forgec.synthesis.drafting.records import Records, flat, is_money
from forgec.synthesis.drafting.words import words

ROWS = 4
_PEOPLE = ("Ada Marsh", "Ben Okoro", "Chloe Lind", "Dev Patel", "Ema Novak")
_SAMPLES: Mapping[str, tuple[str, ...]] = {
    "username": ("ada.marsh", "ben.okoro", "chloe.lind", "dev.patel", "ema.novak"),
    "password": ("amber-fig-21", "tin6roof", "kestrel9", "two-pound-ten", "cedar-ash"),
    "email": tuple(f"{name.split()[0].lower()}@example.org" for name in _PEOPLE),
    "phone": ("555-0101", "555-0102", "555-0103", "555-0104", "555-0105"),
    "first": tuple(name.split()[0] for name in _PEOPLE),
    "last": tuple(name.split()[1] for name in _PEOPLE),
    "city": ("Bergen", "Lyon", "Porto", "Graz", "Turku"),
    "country": ("Norway", "France", "Portugal", "Austria", "Finland"),
    "state": ("North", "South", "East", "West", "Centre"),
    "zip": ("5003", "69001", "4000", "8010", "20100"),
    "address": ("3 Mill Row", "14 Quay Street", "8 Orchard Lane", "21 Station Road", "5 Castle Hill"),
    "street": ("3 Mill Row", "14 Quay Street", "8 Orchard Lane", "21 Station Road", "5 Castle Hill"),
    "url": tuple(f"https://example.org/{n}" for n in range(1, 6)),
    "currency": ("EUR", "NOK", "USD", "GBP", "SEK"),
    "color": ("red", "green", "blue", "white", "black"),
    "category": ("tools", "garden", "kitchen", "books", "music"),
    "type": ("standard", "express", "standard", "economy", "express"),
    "symbol": ("ALDR", "BRCH", "CEDR", "DATE", "ELMX"),
    "status": ("open", "open", "pending", "open", "pending"),
}
_PERSONS = {
    "user",
    "customer",
    "contact",
    "member",
    "person",
    "employee",
    "patient",
    "student",
    "guest",
    "author",
    "owner",
}


class World:
    """The rows of every entity, as literals by column; NULL where a column has no value."""

    def __init__(self, entities: list[Entity], records: Records) -> None:
        self.records = records
        self.entities = _ordered(entities)
        self.rows: dict[str, list[dict[str, str]]] = {}
        for entity in self.entities:
            self.rows[entity.table] = [
                {column.name: self.value(entity, column, i) for column in entity.all}
                for i in range(1 if entity.single else ROWS)
            ]

    def value(self, entity: Entity, column: Column, i: int) -> str:
        """The literal of a column in the row `i`, from 0; beyond the rows, one for a row that is not there yet."""
        if column.references is not None:
            others = self.rows.get(column.references.table)
            # nothing refers to the last row, so that it can be deleted
            same = [one for one in entity.columns if one.references is not None]
            if same.index(column) > 0:  # so that no two rows are about the same things
                i += i // (ROWS - 1)
            return others[i % (ROWS - 1)][column.references.key.name] if others else "null"
        if column is entity.key:
            return self._key(entity, i)
        return self._plain(column.shape, column.name, entity, i, column.type)

    def _key(self, entity: Entity, i: int) -> str:
        if entity.key.shape.kind == "integer":
            return str(i + 1)
        found = next((_SAMPLES[word] for word in words(entity.key.name) if word in _SAMPLES), None)
        if found is not None and entity.given:
            return quoted(found[i])
        return quoted(serial_text(entity, i + 1))

    def _plain(self, shape: Shape, name: str, entity: Entity, i: int, type_: str) -> str:
        kind = shape.kind
        if shape.values:
            return quoted(shape.values[i % len(shape.values)])
        if type_ == "date" or kind == "date":
            return f"'2025-03-{i + 3:02}'"
        if type_ == "timestamp" or kind == "timestamp":
            return f"'2025-03-{i + 3:02} 1{i}:30:00'"
        if kind == "integer":
            return str(i + 1 if "id" in words(name) else (i + 1) * 2)
        if kind == "number":
            return f"{(i + 1) * 12.5:.2f}" if is_money(name) else str((i + 1) * 1.5)
        if kind == "boolean":
            return "true" if i == 1 else "false"
        if kind == "list":
            return f"[{self._plain(flat(shape.of), name, entity, i, '')}]"
        if kind == "map":
            return "map {}"
        if kind == "record" and shape.fields:
            inside = (f"{quoted(f)}: {v}" for f, v in self._fields(shape, entity, i))
            return "{" + ", ".join(inside) + "}"
        return quoted(self._text(name, entity, i))

    def _fields(self, shape: Shape, entity: Entity, i: int) -> list[tuple[str, str]]:
        return [
            (name, self._plain(field.shape, name, entity, i, type_) if not optional or i % 2 == 0 else "null")
            for name, field, type_, optional in self.records.parts(shape)
        ]

    def _text(self, name: str, entity: Entity, i: int) -> str:
        found = words(name)
        for word in reversed(found):
            if word in _SAMPLES:
                return _SAMPLES[word][i % 5]
        if "name" in found and (entity.noun in _PERSONS or _PERSONS & set(found) or len(found) > 2):
            return _PEOPLE[i % 5]
        thing = " ".join(entity.noun.split("_")).capitalize()
        if found[-1:] == ["name"] or found[-1:] == ["title"]:
            return f"{thing} {'ABCDE'[i % 5]}"
        return f"{' '.join(found).capitalize() or thing} {'ABCDE'[i % 5]}"


def serial_text(entity: Entity, number: int) -> str:
    """The key of a new row, as the engine makes it."""
    return f"{prefix(entity)}{number:03}"


def prefix(entity: Entity) -> str:
    return entity.noun[0].upper()


def _ordered(entities: list[Entity]) -> list[Entity]:
    """Those that are referred to first."""
    done: list[Entity] = []

    def visit(entity: Entity) -> None:
        for column in entity.columns:
            if column.references is not None and column.references not in done:
                visit(column.references)
        if entity not in done:
            done.append(entity)

    for entity in entities:
        visit(entity)
    return done
