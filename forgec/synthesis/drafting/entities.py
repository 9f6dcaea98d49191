"""What there is: the things that operations are about, as tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from forgec.documents import Api, Field, Shape
from forgec.documents.api import MISSING
from forgec.starting.names import legal, snake, type_name
from forgec.synthesis.drafting.purposes import Purpose, is_plain_list
from forgec.synthesis.drafting.words import plural, singular, spoken, words

_KEYS = ("id", "uuid", "number", "code", "key", "sku", "slug", "symbol", "username", "isbn", "iban")
"""The last words of names that identify something, the likeliest first."""
_MONEY = {"amount", "balance", "budget", "cost", "fee", "fine", "income", "limit", "price", "rate", "salary", "total"}
_NAMES = ("name", "username", "title", "email", "label", "subject")
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
_FILTERS = re.compile(
    r"^(min|max|start|end|from|to|since|until|before|after|lower|upper)_|_(min|max|from|to|gte?|lte?|lower_?bound|upper_?bound|before|after)$"
)
_PAGING = {
    "limit",
    "offset",
    "page",
    "page_size",
    "per_page",
    "cursor",
    "sort",
    "sort_by",
    "order_by",
    "sort_order",
    "order",
}
_WHOLE = {"keyword", "keywords", "query", "q", "search", "search_term", "term", "text", "filter", "criteria"}
"""Parameters that are looked for in all texts."""
_DAY = re.compile(r"YYYY-MM-DD(?![ T]HH)", re.I)
_MOMENT = re.compile(r"YYYY-MM-DD[ T]HH", re.I)
MAX_COLUMNS = 60


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
        return self.shape.kind == "text" and not self.values


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
    members: bool = False
    """Whether it is a collection of plain values, its keys."""

    def column(self, name: str) -> Column | None:
        """The key or another column by the name that a document gives it, also `ticket_id` for the `id` of tickets."""
        wanted = snake(name)
        found = next((one for one in self.all if wanted in (one.name, one.called)), None)
        if found is None and self.is_key(wanted):
            return self.key
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
        nouns = {self.noun, self.noun.rpartition("_")[2]}
        ends = {f"{noun}_{end}" for noun in nouns for end in ("id", "number", "code", "uuid", "key")}
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


def is_paging(name: str) -> bool:
    return snake(name) in _PAGING


def is_whole_text(name: str) -> bool:
    return snake(name) in _WHOLE


def bound(name: str, entity: Entity) -> tuple[Column, str] | None:
    """The column that a parameter such as `max_price` bounds, and `>=` or `<=`."""
    mine = snake(name)
    if not _FILTERS.search(mine):
        return None
    rest = _FILTERS.sub("", mine)
    low = bool(re.search(r"^(min|start|from|since|after|lower)_|_(min|from|gte?|lower_?bound|after)$", mine))
    kinds = ("integer", "number", "date", "timestamp")
    ordered = [c for c in entity.columns if c.shape.kind in kinds or c.type in kinds]
    found = next((c for c in ordered if c.name == rest), None) or next((c for c in ordered if rest in c.name), None)
    if found is None and rest in ("date", "time", "timestamp", "datetime", "at"):
        found = next((c for c in ordered if c.type in ("date", "timestamp")), None)
    return (found, ">=" if low else "<=") if found else None


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
            entity.single = self._is_single(some)
            entity.numbered = key[3]
            entities[noun] = entity
        for noun, entity in entities.items():
            self._columns(noun, entity)
        for noun, entity in entities.items():
            self._assumed(noun, entity)
            if entity.single:
                for column in entity.columns:
                    column.optional = False
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
            own = name in ("id", f"{noun}_id")
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
        for end in ("id", "uuid", "number", "code", "key"):
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
            shown = {snake(part.name) for part in self._result_fields(purpose)}
            for one in purpose.operation.parameters if purpose.kind == "many" else ():
                rest = _FILTERS.sub("", snake(one.name))
                if rest != snake(one.name) and rest in shown and one.shape.kind in ("integer", "number"):
                    self._add(entity, Field(rest, one.shape), False)

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
            if purpose.kind == "status" and entity.column("status") is None and flag(entity, purpose.verb) is None:
                self._add(
                    entity, Field("status", Shape("text"), doc=f"Where the {noun.replace('_', ' ')} stands"), False
                )

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
                kept.append((parameter, creates and parameter.required))
            elif purpose.kind == "many" and not (
                name in _PAGING or name in _WHOLE or _FILTERS.search(name) or parameter.shape.kind == "list"
            ):
                kept.append((parameter, False))
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
        known = entity.column(name)
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
    return next((c for c in entity.columns if c.shape.kind == "boolean" and verb[:4] in c.name), None)


def _refers(column: Column, other: Entity) -> bool:
    if column.values or column.shape.kind not in ("text", "integer", "number"):
        return False
    if column.name in (f"{other.noun}_{other.key.name}", f"{other.noun}_id"):
        return True
    if column.name == other.key.name and column.name != "id":
        return True
    says = re.compile(rf"\b{re.escape(other.noun.replace('_', ' '))}s? ?_?id\b", re.I)
    return column.name.endswith("_id") and bool(says.search(column.doc))


def _reaches(start: Entity, goal: Entity) -> bool:
    return start is goal or any(
        column.references is not None and _reaches(column.references, goal) for column in start.columns
    )


def told(column: Column, entity: Entity) -> str:
    """What a column is, for documentation."""
    return column.doc or f"The {spoken(column.name)} of the {entity.noun.replace('_', ' ')}"
