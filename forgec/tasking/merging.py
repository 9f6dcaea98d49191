"""The calls of a draft joined to one plan: how an agent comes by each argument, and nothing twice.

From each call backwards: a key is found in a result that is there already, or by a tool that gives it, whose own
arguments are found in the same way, down to what the user can say. So what one lookup establishes serves all calls.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from forgec.model import spec as m
from forgec.sql.scope import Cell, Row, Rows
from forgec.tasking import proposing
from forgec.tasking.coverage import Coverage, Edge
from forgec.tasking.drafts import Draft, Move, Origin
from forgec.tasking.ground import Ground
from forgec.tasking.parameters import Meaning, Place, value_at
from forgec.tasking.plans import Found, Node, Plan, Source
from forgec.tasking.reasoning import Criterion, criteria
from forgec.tasking.words import Words, label_of, quoted
from forgec_runtime import types as t
from forgec_runtime.episode import Episode
from forgec_runtime.results import Result, json_able
from forgec_runtime.task_file import encoded

DEPTH = 4
"""How many lookups may lead to one."""
MAX_KEPT = 20_000
"""How many answers in worlds as they begin are kept."""
ANY = Criterion()
_TITLES = ("title", "name", "subject", "what", "message")


class Unreachable(Exception):
    """An agent cannot come by an argument."""


class Waits(Exception):
    """A lookup has to be made first: those of many drafts are made in one step, and then the drafts begin again."""


Place_ = tuple[Episode | str, str, str]


class Looks:
    """What lookups answer, each asked once: in worlds as they begin, or in the episode of a draft."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self._kept: dict[Place_, Result] = {}
        self._fresh: dict[Place_, Result] = {}
        self._waiting: dict[Place_, tuple[Episode, str, dict[str, Any]]] = {}

    def look(self, episode: Episode, tool: str, arguments: Mapping[str, Any], fresh: bool) -> Result:
        """What a lookup answers. Raises `Waits` where that is not known yet."""
        given = {name: json_able(value) for name, value in arguments.items()}
        place: Place_ = (episode if fresh else episode.world, tool, repr(sorted(given.items())))
        found = (self._fresh if fresh else self._kept).get(place)
        if found is None:
            self._waiting[place] = (episode, tool, given)
            raise Waits
        return found

    def make(self) -> None:
        """Make the lookups that are waited for."""
        if len(self._kept) > MAX_KEPT:
            self._kept.clear()
        results = self.ground.env.step(list(self._waiting.values()))
        for place, result in zip(self._waiting, results, strict=True):
            (self._kept if isinstance(place[0], str) else self._fresh)[place] = result
        self._waiting.clear()

    def forget(self) -> None:
        """The drafts of these episodes are done."""
        self._fresh.clear()


class Merging:
    """One draft on its way to a plan. Raises `Unreachable` where an argument cannot be come by."""

    def __init__(
        self, ground: Ground, rows: proposing.Rows, looks: Looks, words: Words, draft: Draft, coverage: Coverage
    ) -> None:
        self.ground, self.rows, self.looks, self.words = ground, rows, looks, words
        self.draft, self.coverage, self.chance = draft, coverage, draft.chance
        self.plan = Plan()
        self.edges: list[Edge] = []
        self.changed: frozenset[str] = draft.altered
        self.written = 0
        self.state = draft.start
        self.move: Move | None = None
        self.picked: dict[tuple[str, str, str], Found] = {}
        """What was picked of the rows of a node."""

    def before(self, move: Move) -> None:
        """Go to the state in which a call was made."""
        self.state, self.move = move.before, move

    def identify(self) -> str:
        """Find out who asks, as a desk does first; the node that tells, or nothing where nobody looks that up."""
        people, person = self.ground.people, self.draft.person
        if people.table is None or person is None or people.table not in self.ground.gives:
            return ""
        found = self.key(people.table, person[people.key], "")
        return found.needs[0] if found.needs else ""

    def made(self, node: Node) -> None:
        """A call was made: what it writes may be otherwise from here on."""
        self.changed |= self.ground.writes[node.tool]
        self.written += bool(self.ground.writes[node.tool])

    # -- arguments ---------------------------------------------------------------------------------------------

    def arguments(self, move: Move, constants: bool = False) -> dict[str, Found]:
        """How the plan says each argument of a call; new values as facts, or as `constants`."""
        tool = self.ground.spec.tools[move.tool]
        found = {}
        for parameter in tool.parameters:
            if parameter.name in move.proposal.arguments:
                value, origin = move.proposal.arguments[parameter.name], move.proposal.origins[parameter.name]
                found[parameter.name] = self._argument(tool, parameter, value, origin, constants)
        return found

    def _argument(self, tool: m.Tool, parameter: m.Parameter, value: Any, origin: Origin, constants: bool) -> Found:
        if parameter.references is not None:
            return self.key(parameter.references, value, tool.name)
        if isinstance(parameter.type, t.List):
            return self._list(tool, parameter, value, origin)
        if origin.table and not origin.new and origin.row is not None:
            if self.ground.spec.tables[origin.table].parent is not None:
                return self._nested(tool, origin.table, origin.path[0], value)
            found = self._same(origin, value)
            found = found or self._renewed(origin, value) or self._revealed(origin, value)
            if found is not None:
                return found
        if isinstance(value, Mapping | bool) or value == "" or constants or isinstance(parameter.type, t.Enum):
            return Found(_given(value), self.words.parameter(parameter, value))
        if origin.table == self.ground.people.table and not origin.new and isinstance(value, str):
            doc = f"your {label_of(origin.path[-1])}"
        else:
            doc = self.words.of_parameter(parameter)
            doc = doc if doc.split()[0] in ("the", "a", "an", "what", "how", "whether", "your") else f"the {doc}"
        name = self.plan.fact(parameter.name if not origin.new else _new_name(parameter.name), doc, value)
        return Found({"$": name}, self.words.parameter(parameter, value))

    def _list(self, tool: m.Tool, parameter: m.Parameter, value: list[Any], origin: Origin) -> Found:
        if not origin.table:
            return Found(_given(value), self.words.parameter(parameter, value))
        parts = [self._nested(tool, origin.table, origin.path[0], one) for one in value]
        names = [part.given["$"] for part in parts]
        needs = tuple(need for part in parts for need in part.needs)
        sql = {"sql": f"[{', '.join(f'${name}' for name in names)}]"}
        phrases = dict.fromkeys(part.phrase for part in parts)
        phrase = " and ".join(phrases) if len(phrases) == len(parts) else f"{' and '.join(phrases)}, {len(parts)} times"
        return Found(sql, phrase, needs)

    def _same(self, origin: Origin, value: Any) -> Found | None:
        """A value that a result has under its own name."""
        field = origin.path[-1]
        if isinstance(value, str | bool) or value is None:
            return None
        for node in reversed(self.plan.nodes):
            if node.tool and isinstance(node.value, Mapping) and node.value.get(field) == value:
                if node.at == self.written or not (self.ground.reads[node.tool] & self.changed):
                    column = self.ground.spec.tables[origin.table].column(field)
                    doc = column.doc if column is not None else ""
                    return Found({"$": f"{node.name}.{field}"}, self.words.amount(field, doc), (node.name,))
        return None

    def _renewed(self, origin: Origin, value: Any) -> Found | None:
        """The same after a lookup that was made before is made again."""
        if isinstance(value, str | bool) or value is None:
            return None
        for node in list(self.plan.nodes):
            if node.tool in self.ground.readers and isinstance(node.value, Mapping) and origin.path[-1] in node.value:
                tool = self.ground.spec.tools[node.tool]
                if getattr(getattr(tool.returns, "shape", None), "table", None) == origin.table:
                    self.call(tool, node.given, node.arguments, node.context, node.needs)
                    return self._same(origin, value)
        return None

    def _revealed(self, origin: Origin, value: Any) -> Found | None:
        """What nobody can see is told by another tool. Raises `Unreachable` if none does."""
        column = self.ground.spec.tables[origin.table].column(origin.path[0])
        people, person = self.ground.people, self.draft.person
        if column is None or not column.hidden or origin.table == people.table or person is None:
            return None
        me = person[people.key]
        for name in self.ground.readers:
            tool = self.ground.spec.tools[name]
            if [p.references for p in tool.parameters] == [people.table]:
                result = self.looks.look(self.state, name, {tool.parameters[0].name: me}, self._stale(tool))
                if result.ok and result.value == value:
                    found = self.key(str(people.table), me, name)
                    parameter = tool.parameters[0].name
                    node = self.call(tool, {parameter: found.given}, {parameter: me}, (), found.needs)
                    return Found({"$": node.name}, "which you do not know", (node.name,))
        raise Unreachable(origin.path[0])

    def _stale(self, tool: m.Tool) -> bool:
        """Whether a tool may answer otherwise than in the beginning."""
        return bool(self.ground.reads[tool.name] & self.changed)

    # -- keys --------------------------------------------------------------------------------------------------

    def key(self, table: str, value: Any, taker: str, depth: int = 0) -> Found:
        """The key of a row: out of what is known, by a lookup, or because the user holds it."""
        known = self._known(table, value, taker)
        if known is not None:
            return known
        ways = list(self.ground.gives.get(table, ()))
        self.chance.shuffle(ways)
        ways.sort(key=lambda way: self.coverage.edges[way[0], taker, table] > self.coverage.edges.total() / 200)
        row = self._row(table, value)
        for tool, _ in ways if depth < DEPTH and row is not None else ():
            before = (list(self.plan.nodes), dict(self.plan.facts), self.plan.distractors, len(self.plan.kinds))
            try:
                if row is not None and self._look(self.ground.spec.tools[tool], table, row, depth):
                    known = self._known(table, value, taker)
                    if known is not None:
                        return known
            except Unreachable:
                pass
            self.plan.nodes, self.plan.facts, self.plan.distractors = before[:3]
            del self.plan.kinds[before[3] :]
        if table == self.ground.people.table and ways:
            raise Unreachable(table)
        noun = self.words.noun(table)
        column = self.ground.spec.tables[table].key[0]
        label = label_of(column.name)
        label = label if label.startswith(noun) else f"{noun} {label}" if label != noun else noun
        if isinstance(column.type, t.Enum):
            return Found(_given(value), f"the {noun} {quoted(value)}")
        whose = "your" if table == self.ground.people.table else "the"
        name = self.plan.fact(
            column.name if column.name != "id" else f"{noun.replace(' ', '_')}_id", f"{whose} {label}", value
        )
        return Found({"$": name}, f"{'your' if self._mine(table, row) else 'the'} {noun} {value}")

    def _row(self, table: str, value: Any) -> Mapping[str, Any] | None:
        key = self.ground.spec.tables[table].key[0].name
        for row in self.rows.where(self.draft.world, table, key, value):
            return self.rows.now(self.state, table, row)
        return None

    def _mine(self, table: str, row: Mapping[str, Any] | None) -> bool:
        """Whether a row is the person's."""
        owners, person = self.ground.people.owned.get(table, ()), self.draft.person
        return bool(row and person and owners and row[owners[0]] == person[self.ground.people.key])

    def _known(self, table: str, value: Any, taker: str) -> Found | None:
        """A key in a result that is there."""
        nodes = [node for node in reversed(self.plan.nodes) if node.tool]
        for node in sorted(nodes, key=lambda node: isinstance(node.value, list | tuple)):
            for field in self._fields(node.tool, table):
                found = self._in(node, field, table, value)
                if found is not None:
                    self.edges.append((node.tool, taker, table))
                    return found
        return None

    def _fields(self, tool: str, table: str) -> list[str]:
        """Where the result of a tool has keys of a table."""
        if tool in self.ground.readers:
            return [field for name, field in self.ground.gives.get(table, ()) if name == tool]
        return []

    def _in(self, node: Node, field: str, table: str, value: Any) -> Found | None:
        result = self.ground.spec.tools[node.tool].returns
        assert result is not None
        if field == "" and isinstance(result.shape, Cell):
            return (
                Found({"$": node.name}, self._phrase(table, node.context), (node.name,))
                if node.value == value
                else None
            )
        if isinstance(result.shape, Rows) or "." in field:
            source = self.source(node, field)
            column = field.rpartition(".")[2]
            if source is None:
                return None
            return self._picked(source, column, table, value)
        if isinstance(node.value, Mapping) and node.value.get(field) == value:
            return Found({"$": f"{node.name}.{field}"}, self._phrase(table, node.context), (node.name,))
        return None

    def source(self, node: Node, field: str = "") -> Source | None:
        """The rows in a result: its own, or those nested in it at the path of a field."""
        result = self.ground.spec.tools[node.tool].returns
        assert result is not None
        path = field.rpartition(".")[0]
        if path and isinstance(node.value, Mapping):
            return self._inner(node, path)
        if path or not isinstance(result.shape, Rows) or not isinstance(node.value, list | tuple):
            return None
        return Source(node.name, f"${node.name}", "", node.value, result.shape.columns, node.context)

    def _inner(self, node: Node, path: str) -> Source | None:
        """Rows that are nested in a result that is a document."""
        result = self.ground.spec.tools[node.tool].returns
        around = getattr(result.shape, "table", None) if result is not None else None
        table = self.ground.spec.tables.get(f"{around}_{path}")
        value = node.value.get(path) if isinstance(node.value, Mapping) else None
        if table is None or value is None:
            return None
        cells = {c.name: c.cell for c in table.columns if not c.inherited and not c.numbered}
        rows = list(value.values()) if isinstance(value, Mapping) else list(value)
        cells, rows = _flat(cells, rows)
        inner = f"map_values(${node.name}.{path})" if isinstance(value, Mapping) else f"${node.name}.{path}"
        return Source(node.name, f"unnest({inner}) as i(x)", "i.x.", rows, cells)

    # -- which row ---------------------------------------------------------------------------------------------

    def _picked(self, source: Source, field: str, table: str, value: Any) -> Found | None:
        """The reason that picks the row with a key, out of several."""
        place = (source.sql, field, repr(value))
        known = self.picked.get(place)
        if known is not None and all(any(node.name == need for node in self.plan.nodes) for need in known.needs):
            return known
        distinct = list({repr(row.get(field)): row for row in reversed(source.rows)}.values())
        wanted = next((row for row in distinct if row.get(field) == value), None)
        if wanted is None:
            return None
        several = len(distinct) < len(source.rows)
        one = self._criterion(source, distinct, wanted, table, plain=several)
        if one is None or any(row.get(field) != value for row in one.picks(source.rows)):
            return None
        facts = {}
        for name, held in one.equals:
            if isinstance(held, str) and not isinstance(source.columns[name].type, t.Enum):
                facts[name] = self._told(source, table, name, held)
        sql = one.sql(field, source, facts)
        if several:
            sql = sql.replace("select ", "select distinct ", 1)
        doc = "the only one" if one == ANY else self._phrase(table, (), one, source.columns)
        name = self._reason(f"{field.removesuffix('_id')}", sql, doc, value, (source.node,))
        self.plan.distractors += len(distinct) - 1
        found = Found({"$": name}, self._phrase(table, source.context, one, source.columns), (name,))
        self.picked[place] = found
        return found

    def _criterion(
        self, source: Source, rows: list[Any], wanted: Mapping[str, Any], table: str, plain: bool
    ) -> Criterion | None:
        """One of the ways to tell a row from the others; a `plain` one goes by values alone."""
        known = {repr(fact.value) for fact in self.plan.facts.values()}
        found = criteria(rows, wanted, source.columns)
        if plain or table == self.ground.people.table:
            found = [one for one in found if one.order is None]
        if not found:
            return None
        told = [
            one for one in found if one.equals and one.order is None and all(repr(v) in known for _, v in one.equals)
        ]
        if told:
            return told[0]
        valued = [one for one in found if one.order is None]
        extreme = [one for one in found if one.order is not None]
        pool = extreme if extreme and (not valued or self.chance.random() < 0.45) else valued
        one = self.chance.choice(pool[:6])
        fresh = self._again(source)
        return one if fresh is None or [r for r in one.picks(fresh) if r == wanted] or not one.order else None

    def _again(self, source: Source) -> list[Any] | None:
        """The rows as they are now, where that may be otherwise."""
        node = self.plan.node(source.node)
        if node.at == self.written or source.prefix or not (self.ground.reads[node.tool] & self.changed):
            return None
        result = self.looks.look(self.state, node.tool, node.arguments, fresh=True)
        return list(result.value) if result.ok else []

    def _told(self, source: Source, table: str, column: str, value: str) -> str:
        for fact in self.plan.facts.values():
            if fact.value == value:
                return fact.name
        if table == self.ground.people.table:
            return self.plan.fact(_identifier(column), f"your {label_of(column)}", value)
        return self.plan.fact(_identifier(column), f"the {label_of(column)} of the {self.words.noun(table)}", value)

    def _reason(self, name: str, sql: str, doc: str, value: Any, needs: tuple[str, ...]) -> str:
        for node in self.plan.nodes:
            if node.sql == sql:
                return node.name
        name = self.plan.name(name)
        self.plan.nodes.append(Node(name, sql=sql, doc=doc, value=value, needs=needs, at=self.written))
        return name

    # -- lookups -----------------------------------------------------------------------------------------------

    def _look(self, tool: m.Tool, table: str, row: Mapping[str, Any], depth: int) -> bool:
        """Call a tool that may give the key of a row; whether it does."""
        given: dict[str, Any] = {}
        arguments: dict[str, Any] = {}
        context: list[tuple[str, Any]] = []
        needs: list[str] = []
        for parameter in sorted(tool.parameters, key=lambda p: p.optional or p.default is not None):
            made = self._looked(tool, parameter, table, row, depth, bool(arguments))
            if made is None:
                continue
            value, found, said = made
            arguments[parameter.name], given[parameter.name] = value, found.given
            needs += found.needs
            context += said
        if not arguments and any(True for _ in tool.parameters):
            return False
        self.call(tool, given, arguments, tuple(context), tuple(needs))
        return True

    def call(
        self,
        tool: m.Tool,
        given: dict[str, Any],
        arguments: Mapping[str, Any],
        context: tuple[tuple[str, Any], ...] = (),
        needs: tuple[str, ...] = (),
    ) -> Node:
        """A lookup, made unless the same one was made before and would answer the same."""
        stale = self._stale(tool)
        for node in self.plan.nodes:
            if node.tool == tool.name and dict(node.arguments) == dict(arguments):
                if node.at == self.written or not stale:
                    return node
        result = self.looks.look(self.state, tool.name, arguments, fresh=stale)
        if not result.ok or result.value is None:
            raise Unreachable(tool.name)
        node = Node(
            self.plan.name(tool.name), tool.name, dict(given), arguments, value=result.value, at=self.written,
            context=context, needs=needs,
        )  # fmt: skip
        self.plan.nodes.append(node)
        return node

    def _looked(
        self, tool: m.Tool, parameter: m.Parameter, table: str, row: Mapping[str, Any], depth: int, have: bool
    ) -> tuple[Any, Found, list[tuple[str, Any]]] | None:
        """What a lookup is given so that it finds a row; None where it is left out."""
        needed = not parameter.optional and parameter.default is None
        if parameter.references is not None:
            value = self._related(parameter.references, table, row)
            if value is None:
                if needed:
                    raise Unreachable(parameter.name)
                return None
            return value, self.key(parameter.references, value, tool.name, depth + 1), []
        meaning = self.ground.meanings[tool.name].get(parameter.name, Meaning())
        places = [place for place in meaning.looked if place.table == table]
        value = None
        place = Place(table, (parameter.name,))
        places = self.chance.sample(places, len(places))
        if self.chance.random() < 0.7:
            places.sort(key=lambda place: place.path[-1] not in _TITLES)
        for place in places:
            value = value_at(row, place.path)
            if value not in (None, ""):
                break
        if value in (None, "") or (not needed and have):
            if needed:
                raise Unreachable(parameter.name)
            return None
        label = label_of(place.path[-1])
        if isinstance(parameter.type, t.Enum):
            return value, Found(_given(value), ""), [(label, value)]
        if table == self.ground.people.table:
            name = self.plan.fact(place.path[-1], f"your {label}", value)
            return value, Found({"$": name}, ""), []
        name = self.plan.fact(place.path[-1], f"the {label} of the {self.words.noun(table)}", value)
        return value, Found({"$": name}, ""), [(label, value)]

    def _related(self, wanted: str, table: str, row: Mapping[str, Any]) -> Any:
        """The key of a row of one table that a row of another refers to, or the person's."""
        person = self.draft.person
        for column in self.ground.spec.tables[table].columns:
            if column.references == wanted and row.get(column.name) is not None:
                if wanted != self.ground.people.table or person is None:
                    return row[column.name]
                if row[column.name] == person[self.ground.people.key]:
                    return row[column.name]
        if wanted == self.ground.people.table and person is not None and table != wanted:
            return person[self.ground.people.key]
        return self._holding(wanted, table, row)

    def _holding(self, wanted: str, table: str, row: Mapping[str, Any]) -> Any:
        """The key of a row of the person's with one nested in it that refers to a row."""
        key = self.ground.spec.tables[table].key[0].name
        for nested in self.ground.spec.tables.values():
            if nested.parent != wanted:
                continue
            for column in nested.columns:
                if column.references == table and not column.inherited:
                    for inner in self.rows.where(self.draft.world, nested.name, column.name, row[key]):
                        for node in self.plan.nodes:
                            if inner[nested.inherited[0].name] in node.arguments.values():
                                return inner[nested.inherited[0].name]
        return None

    # -- what is nested ----------------------------------------------------------------------------------------

    def _nested(self, tool: m.Tool, table: str, column: str, value: Any) -> Found:
        """A value of a nested table: in the document of a row around it."""
        inner = self.ground.spec.tables[table]
        assert inner.parent is not None
        keys = self._around(tool, inner, column, value)
        for _ in range(2):
            for node in reversed(self.plan.nodes):
                if node.tool in self.ground.readers and self._is_of(node, inner.parent, keys):
                    source = self._inner(node, inner.title.rpartition(".")[2])
                    found = self._picked(source, column, table, value) if source is not None else None
                    if found is not None:
                        return found
            if not self._document(inner.parent, keys):
                break
        raise Unreachable(table)

    def _around(self, tool: m.Tool, inner: m.Table, column: str, value: Any) -> list[Any]:
        """The keys of the rows that a nested one may be in: of those that the call names, else of all that have it."""
        move = self.move
        if inner.parent == self.ground.people.table and self.draft.person is not None:
            return [self.draft.person[self.ground.people.key]]
        for parameter in tool.parameters:
            if parameter.references == inner.parent and move is not None and parameter.name in move.proposal.arguments:
                return [move.proposal.arguments[parameter.name]]
        name = inner.inherited[0].name
        return list(dict.fromkeys(r[name] for r in self.rows.where(self.draft.world, inner.name, column, value)))

    def _is_of(self, node: Node, table: str, keys: list[Any]) -> bool:
        """Whether the result of a node is the document of one of these rows."""
        result = self.ground.spec.tools[node.tool].returns
        key = self.ground.spec.tables[table].key[0].name
        if result is None or getattr(result.shape, "table", None) != table or not isinstance(node.value, Mapping):
            return False
        return node.value.get(key) in keys

    def _document(self, table: str, keys: list[Any]) -> bool:
        """Look up a row with all that is nested in it."""
        for name in self.ground.readers:
            tool = self.ground.spec.tools[name]
            shape = tool.returns.shape if tool.returns is not None else None
            takes = [p for p in tool.parameters if p.references == table]
            if isinstance(shape, Row) and shape.table == table and len(takes) == 1 == len(tool.parameters):
                for key in keys[:1]:
                    found = self.key(table, key, name)
                    self.call(tool, {takes[0].name: found.given}, {takes[0].name: key}, (), found.needs)
                    return True
        return False

    # -- words -------------------------------------------------------------------------------------------------

    def _phrase(
        self,
        table: str,
        context: tuple[tuple[str, Any], ...],
        one: Criterion = ANY,
        columns: Mapping[str, Cell] | None = None,
    ) -> str:
        """What a user calls the row that is meant."""
        noun, cells = self.words.noun(table), columns or {}
        mine = table in self.ground.people.owned
        whose = "your" if mine else "the"
        own = {column.name for column in self.ground.spec.tables[table].columns}
        equals = {label_of(name): (name, value) for name, value in one.equals}
        said = [(label, value) for label, value in context if label not in equals]
        if one.order is None:
            for name, value in one.equals:
                if name in _TITLES and len(one.equals) == 1:
                    return f"{whose} {noun} {quoted(value)}" if name in own else f"{whose} {noun} of {quoted(value)}"
            for label, value in said:
                if label in _TITLES and not equals:
                    return f"{whose} {noun} {quoted(value)}" if label in own else f"{whose} {noun} of {quoted(value)}"
            tests = [(self.words.label(name, cells), value) for name, value in one.equals] or said
            if not tests:
                return f"{whose} only {noun}" if mine else f"the {noun}"
            inner = self._inner_noun(table, [name for name, _ in one.equals], own)
            return f"{whose} {noun}{inner} with {self._tests(tests)}"
        inner = self._inner_noun(table, [one.order], own)
        extreme = f"{whose} {noun}{inner} with the {self.words.extreme(one.order, cells, one.most)}"
        tests = [(self.words.label(name, cells), value) for name, value in one.equals] + said
        return f"{extreme} among those with {self._tests(tests)}" if tests else extreme

    def _inner_noun(self, table: str, names: list[str], own: set[str]) -> str:
        """What another row is called that a row refers to and that has these columns instead."""
        if not names or any(name in own for name in names):
            return ""
        for column in self.ground.spec.tables[table].columns:
            other = self.ground.spec.tables.get(column.references or "")
            if other is not None and other.name != self.ground.people.table:
                if all(other.column(name) is not None for name in names):
                    return f" of the {self.words.noun(other.name)}"
        return ""

    @staticmethod
    def _tests(tests: list[tuple[str, Any]]) -> str:
        return " and ".join(f"the {label} {quoted(value)}" for label, value in tests)


def _given(value: Any) -> Any:
    """A constant as a line of bulk has it."""
    return encoded(value)


def _flat(cells: dict[str, Cell], rows: list[Any]) -> tuple[dict[str, Cell], list[Any]]:
    """Rows with what their maps have at each key as columns of their own."""
    found: list[Any] = [dict(row) for row in rows]
    for name, cell in list(cells.items()):
        if isinstance(cell.type, t.Map) and isinstance(cell.type.of, t.Text):
            for key in dict.fromkeys(key for row in rows for key in row[name] or ()):
                path = f"{name}['{key}']"
                cells[path] = Cell(cell.type.of, True)
                for row, flat in zip(rows, found, strict=True):
                    flat[path] = (row[name] or {}).get(key)
    return cells, found


def _identifier(column: str) -> str:
    """A name for a fact about a column, or about what its map has at a key."""
    found = re.sub(r"\W+", "_", label_of(column)).strip("_").lower() if "[" in column else column
    return found if re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", found) else "value"


def _new_name(parameter: str) -> str:
    return parameter if parameter.startswith("new_") else f"new_{parameter}"
