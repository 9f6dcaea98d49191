"""Which things there are: the nouns of operations, what says which one is meant, and what is known of each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from forgec.documents import Api, Field, Shape
from forgec.documents.api import MISSING
from forgec.starting.names import legal, snake
from forgec.synthesis.drafting.entities import NEW, Column, Entity, flag, standing
from forgec.synthesis.drafting.parameters import ALL, FILTERS, PAGING, WHOLE
from forgec.synthesis.drafting.purposes import Purpose, is_plain_list
from forgec.synthesis.drafting.records import Records, is_money
from forgec.synthesis.drafting.words import FLAGS, done, plural, undone, words

_KEYS = ("id", "uuid", "number", "no", "code", "key", "sku", "slug", "symbol", "username", "isbn", "iban")
"""The last words of names that identify something, the likeliest first."""
_GROUPS = {
    "updates",
    "changes",
    "fields",
    "data",
    "patch",
    "details",
    "attributes",
    "values",
    "input",
    "payload",
    "body",
}
"""Parameters that hold what is to change, or what is made."""
_OUTCOMES = {"success", "ok", "message", "error", "errors", "detail", "msg", "result"}
"""Parts of results that tell how it went, and nothing that is kept."""
MAX_COLUMNS = 60


def entities(api: Api, found: list[Purpose], records: Records) -> dict[str, Entity]:
    """The entities by every noun that means them."""
    return _Finder(api, found, records).find()


class _Finder:
    def __init__(self, api: Api, found: list[Purpose], records: Records) -> None:
        self.api, self.records = api, records
        self.by_noun: dict[str, list[Purpose]] = {}
        for one in found:
            if one.noun and one.kind not in ("unknown", "login", "logout", "session"):
                self.by_noun.setdefault(one.noun, []).append(one)
        self.schemas = {snake(name): shape for name, shape in api.schemas.items()}

    def find(self) -> dict[str, Entity]:
        keys = {noun: key for noun, some in self.by_noun.items() if (key := self._key(noun, some)) is not None}
        self._join(keys)
        entities: dict[str, Entity] = {}
        tables: list[str] = []
        for noun, key in keys.items():
            stem = re.sub(r"_(id|uuid)$", "", key[0])
            owner = next((other for other in keys if other == stem and other != noun), None)
            if owner is not None and owner in entities and noun not in self.schemas:
                entities[noun] = entities[owner]
                continue
            table = legal(plural(noun), "table", tables, len(tables) + 1)
            tables.append(table)
            entity = Entity(noun, table, self._key_column(noun, key))
            entity.given = key[2]
            some = self.by_noun[noun]
            entity.members = any(one.member for one in some) or self._lists_values(some)
            entity.joins = any(one.joins for one in some)
            entity.single = self._is_single(some)
            entity.numbered = key[3]
            entities[noun] = entity
        for noun, entity in entities.items():
            self._columns(noun, entity)
        for noun, entity in entities.items():
            self._assumed(noun, entity)
            if entity.single:
                for column in entity.columns:
                    column.optional = not column.scalar  # there is no default for lists and the like
        return entities

    def _is_single(self, some: list[Purpose]) -> bool:
        """Whether operations show one thing, and never say which."""
        if any(one.kind not in ("one", "update", "status", "add") for one in some):
            return False
        shown = [one for one in some if one.kind == "one" and not one.operation.parameters and one.operation.result]
        sets = [one for one in some if one.kind == "update"]
        if shown and not sets:
            return not any(list(self._identifying(one)) for one in some)
        return bool(sets) and not any(self._names_a_row(one) for one in some)

    def _names_a_row(self, purpose: Purpose) -> bool:
        """Whether a parameter reads as if it said which row is meant."""
        names = [snake(one.name) for one in purpose.operation.parameters]
        if purpose.noun in self.schemas or (purpose.noun in names and len(names) > 1):
            return True
        return any((words(name)[-1:] and words(name)[-1] in _KEYS) or name.endswith("name") for name in names)

    def _is_setter(self, purpose: Purpose) -> bool:
        """Whether an operation sets the one state of something: `set_wifi_status(on)`."""
        return purpose.kind == "update" and self._is_single(self.by_noun[purpose.noun])

    def _join(self, keys: dict[str, tuple[str, Shape, bool, bool]]) -> None:
        """Nouns whose key is that of another noun come after it."""
        order = sorted(keys, key=lambda noun: re.sub(r"_(id|uuid)$", "", keys[noun][0]) not in (noun, "id"))
        for noun in order:
            keys[noun] = keys.pop(noun)

    def _key(self, noun: str, some: list[Purpose]) -> tuple[str, Shape, bool, bool] | None:
        """The name and the shape of a noun's key, whether a new row's is given, and whether the rows are numbered."""
        member = next((one for one in some if one.member and one.kind == "create"), None)
        if member is not None:
            part = member.operation.parameters[0]
            return snake(part.name), part.shape, True, False
        if self._lists_values(some):
            return "name", Shape("text"), True, False
        if any(one.joins for one in some):
            return (f"{noun}_id", Shape("integer"), False, True) if some[0].kind == "create" else None
        votes: Counter[str] = Counter()
        shapes: dict[str, Shape] = {}
        telling = [one for one in some if one.kind in ("create", "one", "many")]
        parts = [field for purpose in telling for field in self._result_fields(purpose)]
        schema = self.schemas.get(noun)
        parts += list(schema.fields) if schema is not None else []
        plain_id = any(snake(part.name) == "id" for part in parts)
        for purpose in some:
            for parameter in self._identifying(purpose):
                name = snake(parameter.name)
                if plain_id and name in (f"{noun}_id", f"{noun.rpartition('_')[2]}_id"):
                    name = "id"
                votes[name] += 2 if parameter.place == "path" or purpose.kind in ("delete", "status", "update") else 1
                shapes.setdefault(name, parameter.shape)
        for part in parts:
            name = snake(part.name)
            own = name in ("id", f"{noun}_id", f"{noun}_number", f"{noun}_code")
            if own or (name.endswith("_id") and not votes and noun not in self.schemas):
                votes[name] += 1 if noun in self.schemas else 3 if own else 1
                shapes.setdefault(name, part.shape)
        for purpose in some:
            if purpose.attribute in ("id", "uuid", "number", "code"):
                votes[f"{noun}_{purpose.attribute}"] += 1
                shapes.setdefault(f"{noun}_{purpose.attribute}", Shape("text"))
        if not votes:
            made = any(one.kind in ("create", "many") for one in some) or self._is_single(some)
            if not made or not self._any_columns(noun, some):
                return None
            return f"{noun}_id", Shape("integer"), False, True
        name = max(votes, key=lambda one: (votes[one], -list(votes).index(one)))
        creates = [one for one in some if one.kind == "create"]
        shape = shapes[name]
        offered = [p for one in creates for p in one.operation.parameters if snake(p.name) == name]
        return name, shape, any(p.required or shape.kind == "text" for p in offered), False

    def _lists_values(self, some: list[Purpose]) -> bool:
        """Whether all that operations do with a thing is to list plain values of it."""
        return all(one.kind == "many" and not one.operation.parameters and is_plain_list(one) for one in some)

    def _any_columns(self, noun: str, some: list[Purpose]) -> bool:
        return any(self._kept(noun, purpose) for purpose in some)

    def _identifying(self, purpose: Purpose) -> Iterator[Field]:
        """The parameter that says which row is meant."""
        if purpose.kind not in ("one", "update", "delete", "status", "add"):
            return
        noun = purpose.noun
        required = [
            p for p in purpose.operation.parameters if p.required and p.shape.kind in ("text", "integer", "number")
        ]
        routed = [p for p in required if p.place == "path"]
        if routed:
            yield routed[-1]
            return
        tail = noun.rpartition("_")[2]
        for end in ("id", "uuid", "number", "no", "code", "key"):
            for p in required:
                if snake(p.name) in (f"{noun}_{end}", f"{tail}_{end}", end):
                    yield p
                    return
        named = [p for p in required if words(p.name) and words(p.name)[-1] in _KEYS]
        if named and not purpose.late:
            yield named[0]
        elif purpose.kind not in ("one", "add") and required and not purpose.late:
            if not self._is_setter(purpose):
                yield required[0]

    def _key_column(self, noun: str, key: tuple[str, Shape, bool, bool]) -> Column:
        name, shape, _, _ = key
        kind = shape if shape.kind in ("text", "integer") else Shape("text" if shape.kind != "number" else "integer")
        return Column(legal(name, "column", [], 1), kind.kind, Shape(kind.kind), optional=False)

    def _columns(self, noun: str, entity: Entity) -> None:
        if entity.members:
            return
        schema = self.schemas.get(noun)
        for part in schema.fields if schema is not None else ():
            self._add(entity, part, required=part.required)
        self._bounded(noun, entity)
        for kind in ("create", "one", "many", "update", "status"):
            for purpose in self.by_noun[noun]:
                if purpose.kind == kind:
                    for part, required in self._kept(noun, purpose):
                        self._add(entity, part, required)

    def _bounded(self, noun: str, entity: Entity) -> None:
        """What parameters such as `created_after` bound has their type, whatever a loose text about results says."""
        for purpose in self.by_noun[noun]:
            shown = {snake(part.name): part for part in self._result_fields(purpose)}
            for one in purpose.operation.parameters if purpose.kind == "many" else ():
                rest, kind = FILTERS.sub("", snake(one.name)), self.records.type_of(one.shape, one.name, one.doc)
                if rest != snake(one.name) and rest in shown and kind in ("integer", "double", "date", "timestamp"):
                    shape = Shape(kind) if kind in ("date", "timestamp") else one.shape  # type: ignore[arg-type]
                    self._add(entity, Field(rest, shape, doc=shown[rest].doc), False)

    def _assumed(self, noun: str, entity: Entity) -> None:
        """Columns that no document names, and operations need."""
        for purpose in self.by_noun[noun]:
            if purpose.kind == "create":  # what nobody gives when it is made cannot always be there
                given = {entity.column(part.name) for part, _ in self._kept(noun, purpose, results=False)}
                for column in entity.columns:
                    column.optional = column.optional or column not in given
        if not entity.columns and not entity.members:
            self._add(entity, Field("name", Shape("text"), doc="Assumed: the document shows nothing of it"), True)
        for purpose in self.by_noun[noun]:
            if purpose.kind == "status" and flag(entity, purpose.into or purpose.verb) is None:
                thing, base = noun.replace("_", " "), undone(purpose.verb) or purpose.verb
                stands = standing(entity)
                if (
                    purpose.verb == "mark"
                    and stands is not None
                    and stands.values
                    and purpose.into not in stands.values
                ):
                    self._add(entity, Field(purpose.into, Shape("boolean"), doc=f"Whether the {thing} is so"), True)
                elif base in FLAGS:
                    doc = f"Whether the {thing} is {done(base)}"
                    self._add(entity, Field(done(base), Shape("boolean"), doc=doc), True)
                elif stands is None:
                    self._add(entity, Field("status", Shape("text"), doc=f"Where the {thing} stands"), False)

    def _kept(self, noun: str, purpose: Purpose, results: bool = True) -> list[tuple[Field, bool]]:
        """The parts of parameters, and of `results`, that rows keep, and whether each is always there."""
        kept: list[tuple[Field, bool]] = []
        creates = purpose.kind == "create"
        for parameter in purpose.operation.parameters:
            name = snake(parameter.name)
            if name in _GROUPS | {noun, plural(noun)} and parameter.shape.kind in ("record", "list"):
                inner = parameter.shape.of if parameter.shape.kind == "list" else parameter.shape
                kept += [(part, False) for part in (inner.fields if inner is not None else ())]
            elif creates or purpose.kind in ("update", "status"):
                known = {snake(one.name) for one in purpose.operation.parameters}
                plain = NEW.sub("", name)
                part = parameter if plain in known else replace(parameter, name=plain)
                kept.append((part, creates and parameter.required))
            elif purpose.kind == "many" and not (
                name in PAGING or name in WHOLE or FILTERS.search(name) or parameter.shape.kind == "list"
            ):
                kept.append((_without_all(parameter), False))
        if purpose.kind == "one":
            kept += [
                (p, True)
                for p in purpose.operation.parameters
                if p.required and p.shape.kind == "text" and not self._named(p, noun)
            ]
            if purpose.attribute and purpose.attribute not in _KEYS:
                kept.append((Field(purpose.attribute, self._attribute(purpose)), True))
        reads = results and (purpose.kind in ("one", "many", "create") or self._is_setter(purpose))
        for part in self._result_fields(purpose) if reads else ():
            told = snake(part.name) in _OUTCOMES or (part.shape.kind == "boolean" and "status" in snake(part.name))
            if not told:
                kept.append((part, False))
        return kept

    def _named(self, parameter: Field, noun: str) -> bool:
        """Whether a parameter says which row, by its key or by what people call it."""
        return snake(parameter.name) in (noun, f"{noun}_id", "id")

    def _attribute(self, purpose: Purpose) -> Shape:
        shape = purpose.operation.result
        if shape is not None and shape.kind in ("text", "integer", "number", "boolean"):
            return shape
        return Shape("number" if is_money(purpose.attribute) else "text")

    def _result_fields(self, purpose: Purpose) -> tuple[Field, ...]:
        """The parts of a row that an operation shows."""
        shape = purpose.operation.result
        if purpose.attribute or shape is None or purpose.kind == "count":
            return ()
        if shape.kind == "list":
            return shape.of.fields if shape.of is not None else ()
        lists = [one.shape.of for one in shape.fields if one.shape.kind == "list" and one.shape.of is not None]
        if purpose.many and len(lists) == 1 and lists[0].fields:
            return lists[0].fields
        if purpose.many and all(one.shape.kind in ("list", "map") for one in shape.fields):
            return ()
        return shape.fields

    def _add(self, entity: Entity, part: Field, required: bool) -> None:
        name = snake(part.name)
        if not name or len(entity.columns) >= MAX_COLUMNS or part.shape.kind == "nothing":
            return
        known = entity.column(name, new=False)
        if known is not None:
            if part.shape.values and known.textual and known is not entity.key:
                known.values, known.shape = part.shape.values, part.shape
                known.type = self.records.type_of(part.shape, f"{entity.noun}_{known.name}")
            known.doc = known.doc or part.doc
            if known is not entity.key:
                known.optional = known.optional and not required
            return
        column = legal(name, "column", [one.name for one in entity.all], len(entity.columns) + 2)
        written = self.records.type_of(part.shape, f"{entity.noun}_{column}", part.doc, money=is_money(column))
        made = Column(column, written, part.shape, not required, doc=part.doc, values=part.shape.values, called=name)
        if required and part.default is not MISSING and part.default is not None:
            made.optional = True
        entity.columns.append(made)


def _without_all(parameter: Field) -> Field:
    """A parameter that limits rows to some value, without the value that stands for all."""
    values = tuple(value for value in parameter.shape.values if value.lower() not in ALL)
    return replace(parameter, shape=replace(parameter.shape, values=values))
