"""What there is: the things that operations are about, as tables."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from forgec.documents import Shape
from forgec.starting.names import snake
from forgec.synthesis.drafting.words import spoken, undone

_ROLES = re.compile(
    r"^(from|to|source|target|src|dst|sender|receiver|recipient|origin|destination|previous|current|paying)_"
)
"""What stands before the name of a thing where several of it are named."""
NEW = re.compile(r"^(new|updated)_")
"""What stands before the name of what something is set to."""
_NAMES = ("name", "username", "title", "email", "label", "subject")


@dataclass(eq=False)
class Column:
    """A column of an entity. `type` is as a spec writes it, without `?`."""

    name: str
    type: str
    shape: Shape
    optional: bool = True
    default: str | None = None
    doc: str = ""
    references: Entity | None = None
    values: tuple[str, ...] = ()
    called: str = ""
    """What the document calls it, where that is no name of a spec."""

    @property
    def scalar(self) -> bool:
        return self.shape.kind not in ("list", "map", "record", "anything", "nothing")

    @property
    def textual(self) -> bool:
        return self.type == "text" and not self.values


@dataclass(eq=False)
class Entity:
    """A thing, and the table that it becomes. `given` is set where operations name the key of a new row."""

    noun: str
    table: str
    key: Column
    columns: list[Column] = field(default_factory=list)
    given: bool = False
    """Whether the key of a new row is given by who makes it."""
    single: bool = False
    """Whether there is one row, which operations name by nothing."""
    numbered: bool = False
    """Whether no document names a key: the rows are numbered."""
    joins: bool = False
    """Whether its rows say which things belong together, by their keys."""
    members: bool = False
    """Whether it is a collection of plain values, its keys."""

    def column(self, name: str, *, new: bool = True) -> Column | None:
        """The key or another column by the name that a document gives it, also `ticket_id` for the `id` of tickets, and
        `new_price` for the price, unless `new` is false.
        """
        wanted = snake(name)
        found = next((one for one in self.all if wanted in (one.name, one.called)), None)
        if found is None and self.is_key(wanted):
            return self.key
        if found is None and new and NEW.match(wanted):
            return self.column(NEW.sub("", wanted))
        if found is None and wanted.startswith(f"{self.noun}_"):
            return next((one for one in self.columns if one.name == wanted[len(self.noun) + 1 :]), None)
        return found

    @property
    def all(self) -> list[Column]:
        """The columns, the key first, if there is one."""
        return self.columns if self.single and self.numbered else [self.key, *self.columns]

    def is_key(self, name: str) -> bool:
        """Whether a name is one that the key goes by."""
        mine = snake(name)
        if self.joins:
            return mine == self.key.name
        nouns = {self.noun, self.noun.rpartition("_")[2]}
        ends = {f"{noun}_{end}" for noun in nouns for end in ("id", "number", "no", "code", "uuid", "key")}
        return mine == self.key.name or mine in ends or (mine == "id" and self.key.name.endswith("id"))

    @property
    def naming(self) -> Column | None:
        """The column that people know a row by."""
        texts = [one for one in self.all if one.textual]
        for name in _NAMES:
            for one in texts:
                if one.name == name or one.name in (f"{self.noun}_{name}", f"user_{name}"):
                    return one
        return None


def refer(entities: list[Entity]) -> None:
    """Make columns that name the key of another entity references to it, without circles."""
    for entity in entities:
        for column in entity.columns:
            target = next(
                (o for o in entities if o is not entity and _refers(column, o) and not _reaches(o, entity)), None
            )
            if target is not None and column.references is None:
                point(column, target)


def point(column: Column, target: Entity) -> None:
    """Make a column a reference."""
    column.references, column.shape, column.type, column.values = target, target.key.shape, f"-> {target.table}", ()


def flag(entity: Entity, verb: str) -> Column | None:
    """The column of truth values that a verb sets: `complete` for `complete_order`."""
    stem = (undone(verb) or verb)[:4]
    return next((c for c in entity.columns if c.shape.kind == "boolean" and stem in c.name), None)


def _refers(column: Column, other: Entity) -> bool:
    if column.values or column.shape.kind not in ("text", "integer", "number"):
        return False
    name = _ROLES.sub("", column.name)
    if name in (f"{other.noun}_{other.key.name}", f"{other.noun}_id") or (name != column.name and name == other.noun):
        return True
    if name == other.key.name and name != "id":
        return True
    says = re.compile(rf"\b{re.escape(other.noun.replace('_', ' '))}s? ?_?id\b", re.I)
    return column.name.endswith("_id") and bool(says.search(column.doc))


def standing(entity: Entity) -> Column | None:
    """The column that says where a row stands: `status`, `state`, `device_state`."""
    placed = any(one.name in ("city", "country", "zip") for one in entity.columns)  # then a state is a place
    for name in ("status",) if placed else ("status", "state"):
        for column in entity.columns:
            if column.name in (name, f"{entity.noun}_{name}") and column.shape.kind == "text":
                return column
    return None


def _reaches(start: Entity, goal: Entity) -> bool:
    return start is goal or any(
        column.references is not None and _reaches(column.references, goal) for column in start.columns
    )


def told(column: Column, entity: Entity) -> str:
    """What a column is, for documentation."""
    return column.doc or f"The {spoken(column.name)} of the {entity.noun.replace('_', ' ')}"
