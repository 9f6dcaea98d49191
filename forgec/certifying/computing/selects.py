"""Selects as Python functions: rows of sources, one inside the other, by what they are tested for.

A table whose column must equal something that is known by then is looked up by that column. Whether a select over
tables finds anything is looked at only where rows were changed, once it is known that the world has nothing for it:
so invariants cost what a call has written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from sqlglot import exp

from forgec.certifying.computing.expressions import Expressions, Frame, Made, Of, Scope
from forgec.certifying.computing.kinds import BOOLEAN, ORDERED, PARTED, Kind, NoTwin, Unsure, compared, kind_of
from forgec.certifying.computing.seen import Seen
from forgec.certifying.computing.touched import common, conjuncts
from forgec_runtime.base import Base
from forgec_runtime.schema import Table

Found = Callable[[Frame], Iterator[Any]]
"""Sets the rows of sources in the frame, one combination after the other."""
_KNOWN = frozenset({"expressions", "from_", "joins", "where", "group", "having", "order", "limit", "distinct"})
_TOUCHED = "__touched"
MAX_KEPT = 2048
"""For so many values it is remembered which rows of a world are found."""


@dataclass(frozen=True)
class Source:
    """What stands in a `from` or a `join`: its place in the frame, its columns, its table or what gives its rows."""

    slot: int
    columns: Mapping[str, Kind]
    table: str = ""
    rows: Callable[[Frame], list[dict[str, Any]]] | None = None


@dataclass(frozen=True)
class Select:
    """What a select gives: its columns, and its rows."""

    columns: Mapping[str, Kind]
    rows: Callable[[Frame], list[dict[str, Any]]]


class Selects:
    """Makes functions of the selects of one query."""

    def __init__(self, tables: Mapping[str, Table[Any]]) -> None:
        self.tables = tables
        self.expressions = Expressions(self)
        self.slots = 2
        """How many places a frame has: the values of the call, what it sees, and one for each source or group."""

    def _slot(self) -> int:
        self.slots += 1
        return self.slots - 1

    # -- selects in expressions ----------------------------------------------------------------------------------

    def value(self, tree: exp.Expr, scope: Scope) -> Made:
        """The only value of a select."""
        select = self.select(tree, scope)
        if len(select.columns) != 1:
            raise NoTwin("a row as a value")
        ((name, kind),) = select.columns.items()

        def only(frame: Frame) -> Any:
            rows = select.rows(frame)
            if len(rows) > 1:
                raise Unsure
            return rows[0][name] if rows else None

        return Made(kind, only)

    def exists(self, tree: exp.Expr, scope: Scope) -> Of:
        """Whether a select has a row."""
        rows = self.select(tree, scope).rows

        def any_(frame: Frame) -> bool:
            return bool(rows(frame))

        if isinstance(tree, exp.Select) and not scope.sources and (equal := common(tree, self.tables)):
            return self._where_touched(tree, scope, any_, equal)
        return any_

    def _where_touched(self, tree: exp.Select, scope: Scope, any_: Of, equal: Sequence[exp.Column]) -> Of:
        """`any_` for a select whose sources have one value in common, each in one of these columns."""
        narrow, place = tree.copy(), len(scope.values)
        for column in equal:
            narrow.where(exp.EQ(this=column.copy(), expression=exp.column(_TOUCHED, table="call")), copy=False)
        places = {one.alias_or_name: one.name for one in tree.find_all(exp.Table)}
        columns = [(places[column.table], column.name) for column in equal]
        kind = self.expressions.made(equal[0], self._sources(tree, scope)[2]).kind
        rows = self.select(narrow, Scope({**scope.values, _TOUCHED: (place, kind)})).rows
        at_first: WeakKeyDictionary[Base, bool] = WeakKeyDictionary()

        def found(frame: Frame) -> bool:
            values, seen = frame[:2]
            if seen.base not in at_first:
                at_first[seen.base] = any_([values, Seen(seen.base, {}), *frame[2:]])
            if at_first[seen.base]:
                return bool(any_(frame))
            touched = dict.fromkeys(value for name, column in columns for value in seen.touched(name, column))
            try:
                for value in touched:
                    frame[0] = (*values, value)
                    if rows(frame):
                        return True
            finally:
                frame[0] = values
            return False

        return found

    # -- selects -------------------------------------------------------------------------------------------------

    def select(self, tree: exp.Expr, scope: Scope) -> Select:
        """The function of a select. Raises `NoTwin`."""
        tree = tree.unnest()
        if not isinstance(tree, exp.Select) or {name for name, one in tree.args.items() if one} - _KNOWN:
            raise NoTwin("more than a plain select")
        if len({one.alias_or_name for one in tree.selects}) < len(tree.selects):
            raise NoTwin("columns of one name")
        if tree.args.get("from_") is None:
            return self._alone(tree, scope)
        sources, conditions, inner = self._sources(tree, scope)
        found = self._found(sources, conditions, inner)
        if not scope.sources:
            found = self._remembered(found, sources, conditions, scope)
        aggregates = (made for one in tree.selects for made in one.find_all(exp.AggFunc))
        if tree.args.get("group") or tree.args.get("having") or any(made.parent_select is tree for made in aggregates):
            found, inner = self._grouped(tree, inner, found, tuple(source.slot for source in sources))
        items = self._items(tree, inner)
        return Select({name: one.kind for name, one in items.items()}, self._listed(tree, inner, found, items))

    def _items(self, tree: exp.Select, scope: Scope) -> dict[str, Made]:
        return {one.alias_or_name: self.expressions.made(one.unalias(), scope) for one in tree.selects}

    def _alone(self, tree: exp.Select, scope: Scope) -> Select:
        """A select without sources: one row, or, of `unnest(...)`, one for each element."""
        if {name for name, one in tree.args.items() if one} != {"expressions"}:
            raise NoTwin("a condition on nothing")
        first = tree.selects[0].unalias()
        if len(tree.selects) == 1 and isinstance(first, exp.Explode) and not first.expressions:
            name, of = tree.selects[0].alias_or_name, self.expressions.made(first.this, scope)
            if of.kind.name != "list":
                raise NoTwin("elements of what is no list")
            return Select({name: of.kind.parts[0][1]}, lambda frame: [{name: one} for one in of.of(frame) or ()])
        items = self._items(tree, scope)
        values = {name: one.of for name, one in items.items()}
        return Select(
            {name: one.kind for name, one in items.items()},
            lambda frame: [{name: value(frame) for name, value in values.items()}],
        )

    def _sources(self, tree: exp.Select, scope: Scope) -> tuple[list[Source], list[exp.Expr], Scope]:
        """The sources of a select, the conditions on them, and what names mean among them."""
        named, conditions = [tree.args["from_"].this], []
        for join in tree.args.get("joins") or ():
            if {name for name, one in join.args.items() if one} != {"this", "on"}:
                raise NoTwin("another join")
            named.append(join.this)
            conditions += conjuncts(join.args["on"])
        where = tree.args.get("where")
        conditions += conjuncts(where and where.this)
        sources = {one.alias_or_name: self._source(one, scope) for one in named}
        if len(sources) < len(named):
            raise NoTwin("sources of one name")
        places = {name: (source.slot, source.columns) for name, source in sources.items()}
        return list(sources.values()), conditions, Scope(scope.values, {**scope.sources, **places})

    def _source(self, tree: exp.Expr, scope: Scope) -> Source:
        if isinstance(tree, exp.Table) and tree.name in self.tables:
            return Source(self._slot(), _columns(self.tables[tree.name]), tree.name)
        if isinstance(tree, exp.Subquery):
            select = self.select(tree.this, scope)
            return Source(self._slot(), select.columns, rows=select.rows)
        raise NoTwin("another source")

    def _found(self, sources: Sequence[Source], conditions: list[exp.Expr], scope: Scope) -> Found:
        """The combinations of rows that meet the conditions, each looked at as soon as it can be."""
        known: set[int] = set()
        later = {source.slot for source in sources}
        ways: list[tuple[int, Callable[[Frame], Any], list[Of]]] = []
        for source in sources:
            rows, used = self._looked_up(source, conditions, later, scope)
            known.add(source.slot)
            later.discard(source.slot)
            conditions = [one for one in conditions if one is not used]
            tests = [one for one in conditions if not _slots(one, scope) & later]
            conditions = [one for one in conditions if one not in tests]
            ways.append((source.slot, rows, [self._test(one, scope) for one in tests]))

        def found(frame: Frame, place: int = 0) -> Iterator[Any]:
            slot, rows, tests = ways[place]
            last = place + 1 == len(ways)
            for row in rows(frame):
                frame[slot] = row
                for test in tests:
                    if test(frame) is not True:
                        break
                else:
                    if last:
                        yield None
                    else:
                        yield from found(frame, place + 1)

        return found

    def _remembered(
        self, found: Found, sources: Sequence[Source], conditions: Sequence[exp.Expr], scope: Scope
    ) -> Found:
        """`found` for rows of tables: with the same values, it is the same as long as none of these was changed."""
        if not all(source.table for source in sources) or any(kind.name in PARTED for _, kind in scope.values.values()):
            return found
        names = {source.table for source in sources}
        names |= {one.name for condition in conditions for one in condition.find_all(exp.Table)}
        slots = tuple(source.slot for source in sources)
        kept: WeakKeyDictionary[Base, dict[Any, list[tuple[Any, ...]]]] = WeakKeyDictionary()

        def remembered(frame: Frame) -> Iterator[Any]:
            values, seen = frame[:2]
            if not names.isdisjoint(seen.changes):
                yield from found(frame)
                return
            of_base = kept.setdefault(seen.base, {})
            rows = of_base.get(values)
            if rows is None:
                if len(of_base) >= MAX_KEPT:
                    of_base.clear()
                rows = of_base[values] = [tuple([frame[slot] for slot in slots]) for _ in found(frame)]
            for row in rows:
                for slot, one in zip(slots, row, strict=True):
                    frame[slot] = one
                yield None

        return remembered

    def _test(self, tree: exp.Expr, scope: Scope) -> Of:
        made = self.expressions.made(tree, scope)
        if made.kind != BOOLEAN:
            raise NoTwin("no condition")
        return made.of

    def _looked_up(
        self, source: Source, conditions: Sequence[exp.Expr], later: set[int], scope: Scope
    ) -> tuple[Callable[[Frame], Any], exp.Expr | None]:
        """What gives the rows of a source, and the condition that they meet by that."""
        name = source.table
        if source.rows is not None:
            return source.rows, None
        for condition in conditions if not scope.group else ():
            if not isinstance(condition, exp.EQ):
                continue
            for column, other in ((condition.this, condition.expression), (condition.expression, condition.this)):
                is_own = isinstance(column, exp.Column) and scope.sources.get(column.table, ("",))[0] == source.slot
                if is_own and len(column.parts) == 2 and not _slots(other, scope) & later:
                    made, wanted = self.expressions.all([column, other], scope)
                    compared(made.kind, wanted.kind)
                    return _by(name, column.name, wanted.of), condition
        return (lambda frame: frame[1].rows(name)), None

    def _grouped(self, tree: exp.Select, scope: Scope, found: Found, slots: tuple[int, ...]) -> tuple[Found, Scope]:
        """The groups of what was found that `having` lets pass."""
        group, having = tree.args.get("group"), tree.args.get("having")
        if group is not None and {name for name, one in group.args.items() if one} != {"expressions"}:
            raise NoTwin("other groups")
        keys = self.expressions.all(group.expressions, scope) if group is not None else []
        if any(one.kind.name not in ORDERED for one in keys):
            raise NoTwin("groups by what only DuckDB compares")
        place = self._slot()
        inner = Scope(scope.values, scope.sources, (place, slots))
        test = self._test(having.this, inner) if having is not None else None

        def groups(frame: Frame) -> Iterator[Any]:
            made: dict[Any, list[tuple[Any, ...]]] = {} if keys else {(): []}
            for _ in found(frame):
                made.setdefault(tuple([key.of(frame) for key in keys]), []).append(tuple([frame[s] for s in slots]))
            for rows in made.values():
                frame[place] = rows
                for slot, row in zip(slots, rows[0] if rows else (), strict=bool(rows)):
                    frame[slot] = row
                if test is None or test(frame) is True:
                    yield None

        return groups, inner

    def _listed(
        self, tree: exp.Select, scope: Scope, found: Found, items: Mapping[str, Made]
    ) -> Callable[[Frame], list[dict[str, Any]]]:
        """The rows of a select, in its order, as many as it is limited to."""
        values = [(name, one.of) for name, one in items.items()]
        order, limit, distinct = tree.args.get("order"), tree.args.get("limit"), tree.args.get("distinct")
        terms = [self._term(one, scope, items) for one in order.expressions] if order is not None else []
        if distinct and (distinct.args.get("on") or not all(isinstance(by, str) for by, _ in terms)):
            raise NoTwin("distinct rows in another order")
        if distinct and any(one.kind.name not in ORDERED for one in items.values()):
            raise NoTwin("distinct rows of what only DuckDB compares")
        if limit is not None and not (isinstance(limit.expression, exp.Literal) and limit.expression.is_int):
            raise NoTwin("a limit that is worked out")
        most = int(limit.expression.this) if limit is not None else None
        sorting = [(_key(place), descends) for place, (_, descends) in enumerate(terms)]

        def listed(frame: Frame) -> list[dict[str, Any]]:
            rows = []
            for _ in found(frame):
                row = {name: value(frame) for name, value in values}
                rows.append((row, [row[by] if isinstance(by, str) else by(frame) for by, _ in terms]))
            if distinct:
                rows = list({tuple(one[0].values()): one for one in rows}.values())
            if len(rows) > 1:
                rows = in_order(rows, sorting)
            return [row for row, _ in rows[:most]]

        return listed

    def _term(self, term: exp.Expr, scope: Scope, items: Mapping[str, Made]) -> tuple[str | Of, bool]:
        """What rows are ordered by, a column of the result or something else, and whether it descends."""
        descends = bool(term.args.get("desc"))
        if not isinstance(term, exp.Ordered) or term.args.get("nulls_first") or term.args.get("with_fill"):
            raise NoTwin("another order")
        name = term.this.name if isinstance(term.this, exp.Column) and not term.this.table else ""
        made = items[name] if name in items else self.expressions.made(term.this, scope)
        if made.kind.name not in ORDERED:
            raise NoTwin("an order that only DuckDB knows")
        return (name if name in items else made.of), descends


def in_order(rows: Sequence[Any], terms: Sequence[tuple[Callable[[Any], Any], bool]]) -> list[Any]:
    """Rows by terms, each of which may descend; NULLs come last either way."""
    found = list(rows)
    for of, descends in reversed(terms):
        found.sort(key=lambda row: ((of(row) is None) is not descends, of(row)), reverse=descends)
    return found


def _key(place: int) -> Callable[[Any], Any]:
    return lambda row: row[1][place]


def _by(table: str, column: str, value: Of) -> Callable[[Frame], Any]:
    return lambda frame: frame[1].where(table, column, value(frame))


def _columns(table: Table[Any]) -> dict[str, Kind]:
    """The columns of a table whose kinds are known here."""
    found = {}
    for column in table.columns:
        try:
            found[column.name] = kind_of(column.type.sql)
        except NoTwin:
            continue
    return found


def _slots(tree: exp.Expr, scope: Scope) -> set[int]:
    """The places of the sources that an expression looks at."""
    found = set()
    for column in tree.find_all(exp.Column):
        first = column.parts[0].name
        if first in scope.sources:
            found.add(scope.sources[first][0])
        else:
            found |= {slot for slot, columns in scope.sources.values() if first in columns}
    return found
