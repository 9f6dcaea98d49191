"""Arguments that may do for a tool: rows of the state that are the person's, values that its author knows."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from forgec.model import spec as m
from forgec.tasking.drafts import Draft, Origin, Proposal
from forgec.tasking.ground import Ground
from forgec.tasking.parameters import Meaning, Place, value_at
from forgec.tasking.words import is_another
from forgec_runtime import types as t
from forgec_runtime.episode import Episode

Row = Mapping[str, Any]


class Rows:
    """The rows of worlds, as lists in the order of their keys."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self._kept: dict[tuple[str, str], list[Row]] = {}
        self._linked: dict[tuple[str, str, str], dict[Any, list[Row]]] = {}
        self._elsewhere: dict[tuple[str, str], list[Row]] = {}

    def of(self, world: str, table: str) -> list[Row]:
        found = self._kept.get((world, table))
        if found is None:
            base = self.ground.env.base(world)
            rows = base.all_rows(base.tables[table])
            found = self._kept[world, table] = [rows[key] for key in sorted(rows)]
        return found

    def elsewhere(self, world: str, table: str) -> list[Row]:
        """Rows of a table in the other worlds, some of each."""
        found = self._elsewhere.get((world, table))
        if found is None:
            known = self.ground.spec.worlds
            others = [name for name in sorted(self.ground.env.worlds) if name != world and known[name].known]
            found = self._elsewhere[world, table] = [row for name in others for row in self.of(name, table)[:50]]
        return found

    def where(self, world: str, table: str, column: str, value: Any) -> list[Row]:
        """The rows of a world whose column holds a value."""
        place = (world, table, column)
        index = self._linked.get(place)
        if index is None:
            index = self._linked[place] = {}
            for row in self.of(world, table):
                index.setdefault(row[column], []).append(row)
        return index.get(value, [])

    def owned(self, world: str, table: str, person: Any) -> list[Row]:
        """The rows of a table that are a person's."""
        found: list[Row] = []
        for column in self.ground.people.owned.get(table, ()):
            found += [row for row in self.where(world, table, column, person) if row not in found]
        return found

    def anybody(self, world: str, chance: random.Random) -> Row | None:
        """One of the people: who holds the device, where there is one."""
        people = self.ground.people
        if people.table is None:
            return None
        found: Sequence[Row] = self.of(world, people.table)
        if people.device is not None:
            single, column = people.device
            held = self.of(world, single)
            found = [row for row in found if held and row[people.key] == held[0][column]] or found
        return chance.choice(found) if found else None

    def now(self, episode: Episode, table: str, row: Row) -> Row:
        """A row of the world as it is in an episode."""
        changed = (episode.overlay or {}).get(table)
        if not changed:
            return row
        return changed.get(episode.base.tables[table].key_of(row)) or row


def propose(ground: Ground, rows: Rows, draft: Draft, tool: m.Tool) -> Proposal | None:
    """Some arguments, if any can be thought of."""
    return _Making(ground, rows, draft, tool).proposal()


class _Making:
    """One proposal."""

    def __init__(self, ground: Ground, rows: Rows, draft: Draft, tool: m.Tool) -> None:
        self.ground, self.rows, self.draft, self.tool = ground, rows, draft, tool
        self.chance: random.Random = draft.chance
        self.person = draft.person if draft.moves else rows.anybody(draft.world, draft.chance)
        self.meanings = ground.meanings[tool.name]
        self.bound: dict[str, Row] = {}
        """The rows that were chosen so far, by table."""
        self.donors: dict[tuple[str, bool], Row | None] = {}
        self.vain = bool(draft.wish) and draft.wish[-1][1] is not None and draft.chance.random() < 0.6
        """Whether the values are to be such as are refused."""
        self.example = self._example()
        self.by_example = draft.chance.random() < 0.7
        self.arguments: dict[str, Any] = {}
        self.origins: dict[str, Origin] = {}
        self.listed: list[Row] = []
        """The rows of the list that was chosen last."""

    def proposal(self) -> Proposal | None:
        people = self.ground.people
        if people.table is not None and self.person is not None:
            self.bound[people.table] = self.rows.now(self.draft.episode, people.table, self.person)
        references = [p for p in self.tool.parameters if p.references is not None]
        rest = [p for p in self.tool.parameters if p.references is None]
        for parameter in [*references, *rest]:
            made = self._value(parameter)
            if made is None:
                if not parameter.optional and parameter.default is None:
                    return None
                continue
            self.arguments[parameter.name], self.origins[parameter.name] = made
        names = [p.name for p in self.tool.parameters if p.name in self.arguments]
        arguments, origins = {n: self.arguments[n] for n in names}, {n: self.origins[n] for n in names}
        return Proposal(self.tool.name, arguments, origins, self.person)

    def _example(self) -> Mapping[str, Any]:
        known = (self.ground.refused if self.vain else self.ground.examples).get(self.tool.name, [])
        return self.chance.choice(known) if known else {}

    def _value(self, parameter: m.Parameter) -> tuple[Any, Origin] | None:
        if parameter.references is not None:
            return self._key(parameter)
        if isinstance(parameter.type, t.Record):
            return self._record(parameter, parameter.type)
        if parameter.name == "summary" and not self.example:
            return None
        meaning = self.meanings.get(parameter.name, Meaning())
        left = parameter.optional or parameter.default is not None
        told = isinstance(parameter.type, t.Enum) and meaning.put  # nobody can guess what is to be chosen
        if left and not told and self.chance.random() < 0.4:
            return None
        if isinstance(parameter.type, t.List):
            return self._list(parameter.type, meaning)
        return self._plain(parameter.name, parameter.type, meaning)

    # -- references --------------------------------------------------------------------------------------------

    def _key(self, parameter: m.Parameter) -> tuple[Any, Origin] | None:
        table = parameter.references
        assert table is not None
        key = self.ground.spec.tables[table].key[0].name
        row = self._row(parameter, table)
        if row is None:
            return None
        row = self.rows.now(self.draft.episode, table, row)
        if not is_another(self.tool, parameter, self.ground.people.table):
            self.bound[table] = row
        return row[key], Origin(table, (key,), row)

    def _row(self, parameter: m.Parameter, table: str) -> Row | None:
        people, person = self.ground.people, self.person
        if table == people.table:
            others = [row for row in self.rows.of(self.draft.world, table) if row is not person]
            another = is_another(self.tool, parameter, table) and not (self.vain and self.chance.random() < 0.3)
            return self.chance.choice(others) if another and others else person
        pool: Sequence[Row] = self.rows.of(self.draft.world, table)
        if person is not None and people.are_owners(table) and not self.ground.judged(self.tool, parameter):
            pool = self.rows.owned(self.draft.world, table, person[people.key])
        elif person is not None and self.chance.random() < 0.5:
            pool = self._near(table) or pool
        return self.chance.choice(pool) if pool else None

    def _near(self, table: str) -> list[Row]:
        """The rows that rows of the person's refer to, and the person's own."""
        people, person = self.ground.people, self.person
        assert person is not None
        me, key = person[people.key], self.ground.spec.tables[table].key[0].name
        found: list[Row] = [
            r for c in people.owned.get(table, ()) for r in self.rows.where(self.draft.world, table, c, me)
        ]
        if found:
            return found
        sources = [(name, cs) for name, cs in people.owned.items() if name in self.ground.reads[self.tool.name]]
        if not sources:
            return []
        name, columns = self.chance.choice(sources)
        for column in self.ground.spec.tables[name].columns:
            if column.references == table:
                for owner in columns:
                    for row in self.rows.where(self.draft.world, name, owner, me):
                        found += self.rows.where(self.draft.world, table, key, row[column.name])
        return found

    # -- values ------------------------------------------------------------------------------------------------

    def _record(self, parameter: m.Parameter, type_: t.Record) -> tuple[Any, Origin] | None:
        optional = [field.name for field in type_.fields if field.optional]
        chosen = set(self.chance.sample(optional, min(len(optional), self.chance.choice((1, 1, 2)))))
        value = {}
        for field in type_.fields:
            if field.optional and field.name not in chosen:
                continue
            path = f"{parameter.name}.{field.name}"
            example = self.example.get(parameter.name)
            known = example.get(field.name) if isinstance(example, Mapping) else None
            made = self._plain(path, field.type, self.meanings.get(path, Meaning()), known)
            if made is None:
                return None
            value[field.name] = made[0]
        return value, Origin(new=True)

    def _list(self, type_: t.List, meaning: Meaning) -> tuple[Any, Origin] | None:
        places = sorted(meaning.looked, key=lambda one: self.ground.spec.tables[one.table].parent not in self.bound)
        for place in places:
            pool = self._nested(place)
            if pool:
                self.listed = chosen = self._instead(place, pool) or self._some(pool)
                return [value_at(row, place.path) for row in chosen], Origin(place.table, place.path, chosen[0])
        return None

    def _some(self, pool: Sequence[Row]) -> list[Row]:
        return self.chance.sample(pool, min(len(pool), self.chance.choice((1, 1, 1, 2))))

    def _instead(self, place: Place, pool: Sequence[Row]) -> list[Row]:
        """For each row of the list that was chosen before another one of the same kind, position by position; if there
        is one for each.
        """
        names = [column.name for column in self.ground.spec.tables[place.table].inherited]
        if not all(name in row for row in self.listed for name in names) or (self.vain and self.chance.random() < 0.4):
            return []
        found = []
        for given in self.listed:
            kind = [row for row in pool if all(row[name] == given[name] for name in names)]
            if not self.vain:
                kind = [row for row in kind if value_at(row, place.path) != value_at(given, place.path)]
            if not kind:
                return []
            found.append(self.chance.choice(kind))
        return found

    def _nested(self, place: Place) -> list[Row]:
        """The rows of a nested table inside of one that was chosen; of all where none was, or where it is in vain."""
        table = self.ground.spec.tables[place.table]
        pool: list[Row] = self.rows.of(self.draft.world, place.table)
        if table.parent in self.bound and not (self.vain and self.chance.random() < 0.3):
            around, names = self.bound[table.parent], [c.name for c in table.inherited]
            pool = [row for row in pool if all(row[name] == around[name] for name in names)]
        return pool

    def _plain(self, name: str, type_: t.Type, meaning: Meaning, known: Any = None) -> tuple[Any, Origin] | None:
        chance = self.chance
        if isinstance(type_, t.Enum):
            return chance.choice(type_.values), Origin(new=True)
        if isinstance(type_, t.Boolean):
            return chance.random() < 0.5, Origin(new=True)
        if self.vain and (refused := self._refused(name, type_, meaning, known)) is not None:
            return refused
        places = meaning.looked or meaning.bounds
        for place in chance.sample(places, len(places)):
            found = self._looked(place, type_, meaning)
            sure = place.table == self.ground.people.table or self.ground.spec.tables[place.table].parent is not None
            if found is not None and (sure or chance.random() < 0.8):
                return found
        example = known if known is not None else self.example.get(name)
        if isinstance(example, str) and "@" in example and meaning.put:
            return self._address(example), Origin(new=True)
        if example is not None and (self.by_example or not meaning.put):
            return _decoded(type_, example)
        for place in meaning.put:
            made = self._put(place, type_)
            if made is not None:
                return made
        if isinstance(type_, t.Integer):
            return chance.randint(1, 5), Origin(new=True)
        if isinstance(type_, t.Date):
            return self.ground.spec.clock.date() + datetime.timedelta(days=chance.randint(1, 30)), Origin(new=True)
        return _decoded(type_, example) if example is not None else None

    def _refused(self, name: str, type_: t.Type, meaning: Meaning, known: Any) -> tuple[Any, Origin] | None:
        """A value of a test in which the call is refused, or a number that is more than there is."""
        example = known if known is not None else self.example.get(name)
        made = _decoded(type_, example) if example is not None and self.chance.random() < 0.7 else None
        nothing = made is not None and (
            made[0] <= 0 if isinstance(made[0], int | Decimal) else isinstance(made[0], str) and not made[0].strip()
        )
        if made is not None and not nothing:  # nobody asks for nothing
            return made
        if isinstance(type_, t.Text) and self.tool.name in self.ground.finders:
            return self._mistyped(meaning)
        if isinstance(type_, t.Integer | t.Decimal) and self.chance.random() < 0.5:
            places = [place for place in (*meaning.looked, *meaning.bounds) if place.table in self.bound]
            held = (value_at(self.bound[place.table], place.path) for place in places)
            most = next((int(value) for value in held if isinstance(value, int | Decimal)), 0)
            return _decoded(type_, most + self.chance.choice((5, 10, 100)))
        return None

    def _mistyped(self, meaning: Meaning) -> tuple[Any, Origin] | None:
        """What the person is found by, with two letters in each other's place."""
        held = (
            value_at(self.person or {}, one.path) for one in meaning.looked if one.table == self.ground.people.table
        )
        text = next((value for value in held if isinstance(value, str)), "")
        pairs = [i for i in range(1, len(text) - 1) if text[i : i + 2].isalnum() and text[i] != text[i + 1]]
        if not pairs:
            return None
        i = self.chance.choice(pairs)
        return text[:i] + text[i + 1] + text[i] + text[i + 2 :], Origin(new=True)

    def _looked(self, place: Place, type_: t.Type, meaning: Meaning) -> tuple[Any, Origin] | None:
        """What is looked for is what a row has: the person's, that of a row which was chosen, any."""
        table = self.ground.spec.tables[place.table]
        if isinstance(type_, t.Text) and place in meaning.put:
            return None  # compared with what there is, so that it be new
        if table.single:
            rows: Sequence[Row] = self.rows.of(self.draft.world, place.table)
        elif table.parent is not None:
            rows = self._nested(place)
        elif place.table in self.bound:
            rows = [self.bound[place.table]]
        else:
            rows = self._one((place.table, False), self.rows.of(self.draft.world, place.table))
        if not rows:
            return None
        row = self.chance.choice(rows)
        value = value_at(row, place.path)
        if value is None or not _fits(type_, value) or (isinstance(value, Decimal) and value <= 0):
            return None
        return value, Origin(place.table, place.path, row)

    def _put(self, place: Place, type_: t.Type) -> tuple[Any, Origin] | None:
        """What is new is like what others have: rows of other worlds, where there are any."""
        rows = self.rows.elsewhere(self.draft.world, place.table)
        donor = self._one((place.table, True), rows or self.rows.of(self.draft.world, place.table))
        value = value_at(donor[0], place.path) if donor else None
        if value is None or not _fits(type_, value):
            return None
        if isinstance(value, str) and "@" in value:
            return self._address(value), Origin(new=True)
        return value, Origin(place.table, place.path, new=True)

    def _one(self, kind: tuple[str, bool], rows: Sequence[Row]) -> list[Row]:
        if kind not in self.donors:
            self.donors[kind] = self.chance.choice(rows) if rows else None
        donor = self.donors[kind]
        return [] if donor is None else [donor]

    def _address(self, like: str) -> str:
        """An e-mail address of the person's at another place."""
        name = str((self.person or {}).get("name", like.partition("@")[0]))
        words = [word for word in "".join(c if c.isalpha() else " " for c in name.lower()).split() if word.isascii()]
        local = self.chance.choice([".".join(words), words[-1] if words else "me", "".join(words)]) or "me"
        return f"{local}@{self.chance.choice(('example.net', 'mail.example', 'post.example'))}"


def _decoded(type_: t.Type, value: Any) -> tuple[Any, Origin] | None:
    try:
        return type_.decode(value), Origin(new=True)
    except t.Mismatch:
        return None


def _fits(type_: t.Type, value: Any) -> bool:
    kinds: dict[type[t.Type], type | tuple[type, ...]] = {
        t.Text: str, t.Integer: int, t.Decimal: (Decimal, int), t.Double: (float, int), t.Date: datetime.date
    }  # fmt: skip
    wanted = kinds.get(type(type_))
    return wanted is not None and isinstance(value, wanted)


def distinct(values: Iterable[Any]) -> list[Any]:
    """Values, each once, in order."""
    return list(dict.fromkeys(values))
