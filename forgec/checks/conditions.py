"""All conditions of a spec that could be superfluous, each with what is known where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from forgec.checks.deciding import Fact, Undecided, outcomes, terms_of
from forgec.model import spec as m
from forgec.model import walk
from forgec.model.uses import trees
from forgec.source import Span
from forgec.sql.query import Delete, Sql, Update, cell_of
from forgec.sql.scope import Row, Rows
from forgec.sql.tree import Lookup, Value, exp

Kind = Literal["guard", "branch", "rule", "check", "invariant", "rows", "expect"]
MAX_EARLIER = 8
"""So many of the conditions before one are looked at, the last that have to do with it."""
_HOLDS = frozenset({True})
_PASSES = frozenset({True, None})
_FAILS = frozenset({False, None})


@dataclass(frozen=True)
class Condition:
    """A condition, what it is for, and what is known there: of the rows that it looks at, and because of others."""

    kind: Kind
    tree: exp.Expr
    span: Span
    rows: Mapping[str, str]
    """The tables of bound rows (`$r`), and of columns by the name of their source."""
    typed: tuple[Fact, ...] = ()
    earlier: tuple[Fact, ...] = ()
    owner: str = ""


@dataclass(frozen=True)
class Decided:
    """A condition that comes out in one way; `because` is what decides it, if that is said elsewhere in the body."""

    condition: Condition
    holds: bool
    because: tuple[Span, ...] | None = None


def decided(spec: m.Spec) -> Iterator[Decided]:
    """Every condition that is always or never true."""
    reader = _Reader(spec)
    for condition in reader.conditions():
        try:
            found = _decide(condition, reader)
        except Undecided:
            continue
        if found is not None:
            yield found


def _decide(condition: Condition, reader: _Reader) -> Decided | None:
    base = [*condition.typed, *reader.facts_of_rows(condition.tree, condition)]
    alone = _holds(condition, base)
    if alone is not None:
        return Decided(condition, alone)
    about = frozenset(map(hash, terms_of(condition.tree)))
    earlier = [fact for fact in condition.earlier if not about.isdisjoint(fact.about)][-MAX_EARLIER:]
    if not earlier:
        return None
    facts = [*base, *(one for fact in earlier for one in reader.facts_of_rows(fact.tree, condition))]
    whole = _holds(condition, [*earlier, *facts])
    if whole is None:
        return None
    single = next((fact for fact in earlier if _holds(condition, [fact, *facts]) is whole), None)
    found = (single,) if single is not None else earlier
    return Decided(condition, whole, tuple(fact.span for fact in found if fact.span is not None))


def _holds(condition: Condition, facts: Iterable[Fact]) -> bool | None:
    """Whether a condition is always, or never, what it is to be; None when it can be either."""
    found = outcomes(condition.tree, facts)
    if not found:
        return None
    if condition.kind == "check":
        return True if False not in found else False if found == {False} else None
    return True if found == {True} else False if True not in found else None


class _Reader:
    """Goes through a spec."""

    def __init__(self, spec: m.Spec) -> None:
        self.spec = spec
        self.checks = {name: _checks_of(table) for name, table in spec.tables.items()}

    def conditions(self) -> Iterator[Condition]:
        spec = self.spec
        for table in spec.tables.values():
            for column in table.columns:
                if column.check is not None:
                    typed = [one.sql.expression for one in column.checks if one.over is None][:-1]
                    facts = tuple(Fact(tree, _PASSES) for tree in typed)
                    yield Condition("check", column.check.expression, column.check.span, {}, facts)
        for domain in spec.domains.values():
            if domain.check is not None:
                yield Condition("check", domain.check.expression, domain.check.span, {})
        for invariant in spec.invariants:
            yield Condition("invariant", invariant.sql.expression, invariant.sql.span, {})
            yield from self._searches(invariant.sql, {}, ())
        for view in spec.views.values():
            yield from self._searches(view.sql, {}, ())
        for routine in (*spec.actions.values(), *spec.tools.values(), *spec.syncs.values()):
            yield from self._routine(routine)
        for test in spec.tests:
            for step in test.steps:
                if isinstance(step, m.Expect):
                    yield Condition("expect", step.sql.expression, step.span, {})
        for task in spec.tasks.values():
            for expected in task.expect:
                yield Condition("expect", expected.sql.expression, expected.span, {})

    # -- bodies ------------------------------------------------------------------------------------------------

    def _routine(self, routine: m.Routine) -> Iterator[Condition]:
        rows = {p.row: p.references for p in routine.parameters if p.row is not None and p.references is not None}
        typed = tuple(
            Fact(check.sql.expression, _PASSES) for p in routine.parameters for check in p.checks if check.over is None
        )
        earlier: list[Fact] = []
        for rule in self.spec.rules:
            if isinstance(routine, m.Tool) and routine.name in rule.sqls:
                sql = rule.sqls[routine.name]
                yield Condition("rule", sql.expression, sql.span, rows, typed, tuple(earlier), routine.name)
                yield from self._searches(sql, rows, typed)
                if rule.verdict == "enforced":
                    earlier.append(Fact(sql.expression, _HOLDS, sql.span, bool(sql.reads)))
        yield from _Body(self, rows, typed).block(routine.body, earlier)

    def _searches(self, sql: Sql, rows: Mapping[str, str], typed: tuple[Fact, ...]) -> Iterator[Condition]:
        """The conditions of queries on the rows that they take."""
        for tree in trees(sql):
            for select in tree.find_all(exp.Select):
                where = select.args.get("where")
                if where is not None and not isinstance(where.this, exp.Boolean):
                    yield Condition("rows", where.this, sql.span, {**rows, **_sources(select)}, typed)
        if isinstance(sql.change, Update | Delete) and not isinstance(sql.change.where, exp.Boolean):
            inside = {**rows, sql.change.alias: sql.change.table}
            yield Condition("rows", sql.change.where, sql.span, inside, typed)

    # -- rows --------------------------------------------------------------------------------------------------

    def facts_of_rows(self, tree: exp.Expr, condition: Condition) -> list[Fact]:
        """What the checks of tables say of the columns that a condition looks at."""
        found: dict[exp.Expr, Fact] = {}
        for term in terms_of(tree):
            place = _place(term, condition.rows)
            for columns, check in self.checks[place.table] if place is not None else ():
                if place is not None and place.column in columns:
                    about = place.of(check)
                    found[about] = Fact(about, _PASSES)
        return list(found.values())


class _Body:
    """Goes through a body, and knows what was made sure of."""

    def __init__(self, reader: _Reader, rows: Mapping[str, str], typed: tuple[Fact, ...]) -> None:
        self.reader = reader
        self.rows = dict(rows)
        self.typed = typed
        self.ended = False

    def block(self, body: Iterable[m.Statement], facts: list[Fact]) -> Iterator[Condition]:
        """The conditions of a block; `facts` is then what is known behind it, and `ended` whether anything is."""
        self.ended = False
        for statement in body:
            for sql in walk.sqls_of(statement):
                yield from self.reader._searches(sql, self.rows, self.typed)
            if isinstance(statement, m.Require):
                yield self._condition("guard", statement.sql, facts)
                facts.append(Fact(statement.sql.expression, _HOLDS, statement.sql.span, bool(statement.sql.reads)))
            elif isinstance(statement, m.If):
                yield from self._if(statement, facts)
            elif isinstance(statement, m.Each):
                self._bind(statement.name, statement.item)
                _forget(facts, statement.body)
                yield from self.block(statement.body, list(facts))
                self.ended = False
            elif isinstance(statement, m.Return | m.Reply | m.Fail):
                self.ended = True
            else:
                _forget(facts, (statement,))
                if isinstance(statement, m.Let):
                    self._bind(statement.name, statement.shape)

    def _if(self, statement: m.If, facts: list[Fact]) -> Iterator[Condition]:
        inside, behind, open_ = list(facts), list[Fact](), False
        for branch in statement.branches:
            here = list(inside)
            if branch.condition is not None:
                yield self._condition("branch", branch.condition, inside)
                tree, span, state = branch.condition.expression, branch.condition.span, bool(branch.condition.reads)
                here.append(Fact(tree, _HOLDS, span, state))
                inside.append(Fact(tree, _FAILS, span, state))
            yield from self.block(branch.body, here)
            open_ = open_ or not self.ended
            if not open_ and branch.condition is not None:
                behind.append(inside[-1])
        facts.extend(behind)
        _forget(facts, (statement,))
        self.ended = not open_ and statement.branches[-1].condition is None

    def _condition(self, kind: Kind, sql: Sql, facts: list[Fact]) -> Condition:
        return Condition(kind, sql.expression, sql.span, dict(self.rows), self.typed, tuple(facts))

    def _bind(self, name: str, shape: object) -> None:
        if isinstance(shape, Row | Rows) and shape.table is not None:
            self.rows[name] = shape.table
        else:
            self.rows.pop(name, None)


def _forget(facts: list[Fact], body: Iterable[m.Statement]) -> None:
    """Take out what statements may change."""
    statements = list(walk.statements(body))
    writes = any(sql.change is not None for one in statements for sql in walk.sqls_of(one))
    renewed = {one.name for one in statements if isinstance(one, m.Set | m.Let | m.Each)}
    facts[:] = [
        fact
        for fact in facts
        if not (writes and fact.state) and renewed.isdisjoint(node.name.split(".")[0] for node in _values(fact.tree))
    ]


def _values(tree: exp.Expr) -> Iterator[Value]:
    return tree.find_all(Value)


def _checks_of(table: m.Table) -> list[tuple[frozenset[str], exp.Expr]]:
    """The checks of a table, each with the columns that it looks at."""
    found = [check.sql.expression for column in table.columns for check in column.checks if check.over is None]
    return [(frozenset(node.name.split(".")[1] for node in _values(tree) if "." in node.name), tree) for tree in found]


def _sources(select: exp.Select) -> dict[str, str]:
    """The tables of a select by the names that it gives them."""
    from_ = select.args.get("from_")
    sources = [*([from_.this] if from_ is not None else []), *(join.this for join in select.args.get("joins") or ())]
    return {
        source.alias_or_name: source.name
        for source in sources
        if isinstance(source, exp.Table) and "rows" not in source.meta and not source.meta.get("cte")
    }


@dataclass(frozen=True)
class _Place:
    """A column of a row, as a condition writes it."""

    table: str
    column: str
    term: exp.Expr

    def of(self, check: exp.Expr) -> exp.Expr:
        """A check of the table as one on that row."""
        tree = check.copy()
        for value in list(_values(tree)):
            _, _, path = value.name.partition(".")
            node = self._column(path)
            cell = cell_of(value)
            node.meta["cell"] = replace(cell, optional=cell.optional or cell_of(self.term).optional)
            if value is tree:
                return node
            value.replace(node)
        return tree

    def _column(self, path: str) -> exp.Expr:
        if isinstance(self.term, Value):
            return Value(this=f"{self.term.name.split('.')[0]}.{path}")
        if isinstance(self.term, Lookup):
            lookup = self.term.copy()
            lookup.set("field", path)
            return lookup
        return exp.column(path, table=self.term.text("table"))


def _place(term: exp.Expr, rows: Mapping[str, str]) -> _Place | None:
    """Which column of which table a term is."""
    if "cell" not in term.meta:
        return None
    if isinstance(term, Value) and "." in term.name:
        head, column = term.name.split(".")[:2]
        return _Place(rows[head], column, term) if head in rows else None
    if isinstance(term, Lookup) and term.args.get("field"):
        return _Place(term.name, str(term.args["field"]), term)
    if isinstance(term, exp.Column) and term.table in rows:
        return _Place(rows[term.table], term.name, term)
    return None
