"""Calls of one reference episode, each a transaction."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forgec.model import spec as m
from forgec.reference.calculating import Calculator
from forgec.reference.constraints import check_column, failures, violations
from forgec.reference.database import ReferenceDatabase, key_of
from forgec.reference.documents import told, with_nested
from forgec.reference.statements import Statements, in_order
from forgec.sql.query import Delete, Insert, Sql, Update
from forgec.sql.scope import Row, Rows, Shape
from forgec.sql.size import may_grow
from forgec.sql.tree import Calculate, Value, cast, exp
from forgec_runtime import FAULT_TEXT, Fault, Refusal, sql
from forgec_runtime.call import MAX_PASSES, too_many_passes
from forgec_runtime.engine import EngineError
from forgec_runtime.errors import ENDED_TEXT
from forgec_runtime.sql.texts import MAX_KEPT
from forgec_runtime.types import Integer


@dataclass(frozen=True)
class Answer:
    """What a call came to: a value, or the text of an error."""

    ok: bool
    value: Any
    text: str
    told: Any = None
    """The value as an agent reads it."""


class _Done(Exception):
    """A `return` or `reply` was reached; `result` is what is declared of what a `return` gives."""

    def __init__(self, value: Any, result: m.Result | None = None) -> None:
        self.value = value
        self.result = result


class ReferenceEpisode:
    """An episode of `world`, which only `call` changes."""

    def __init__(self, spec: m.Spec, world: str, statements: Statements | None = None) -> None:
        self.spec = spec
        self.world = spec.worlds[world]
        self.database = ReferenceDatabase(spec, self.world, statements)
        self.first = {name: self._last_serial(table) for name, table in spec.tables.items() if table.serial}
        self.counters = dict(self.first)
        self.broken_rules: list[str] = []
        self.ended = False
        self.changed: set[str] = set()
        """The tables that calls wrote to."""

    def restart(self, like: ReferenceEpisode | None = None) -> None:
        """Go back to where the world starts, or to where another episode of it stands: cheaper than a new database."""
        changed = like.changed if like is not None else set()
        for name in self.changed | changed:
            table = self.spec.tables[name]
            other = list(like.database.table(table).values()) if like is not None else self.world.rows[name]
            self.database.fill(table, other)
        self.changed = set(changed)
        self.counters = dict(like.counters if like is not None else self.first)
        self.broken_rules = list(like.broken_rules) if like is not None else []
        self.ended = like is not None and like.ended

    def state(self) -> dict[str, list[dict[str, Any]]]:
        """All rows by table, in the order of their keys."""
        return {name: list(self.database.table(table).values()) for name, table in self.spec.tables.items()}

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Call a tool with decoded arguments, all parameters given. A call that fails changes nothing."""
        if self.ended:
            return Answer(False, None, ENDED_TEXT)
        counters, broken = dict(self.counters), list(self.broken_rules)
        connection = self.database.connection
        connection.execute("begin")
        running = _Call(self, self.spec.tools[tool], arguments)
        try:
            value = running.run()
        except Refusal as refusal:
            answer = Answer(False, None, str(refusal))
        except (Fault, EngineError):
            answer = Answer(False, None, FAULT_TEXT)
        else:
            connection.execute("commit")
            self.changed.update(running.before)
            self.ended = self.spec.tools[tool].ends
            return Answer(True, value, "", told(self.spec, running.result, value))
        connection.execute("rollback")
        self.counters, self.broken_rules = counters, broken
        return answer

    def sync(self, sync: m.Tool) -> None:
        """Run one sync as after a call. Raises `Refusal`, `Fault` and DuckDB's errors."""
        _Call(self, sync, {}).sync(sync)

    def change(self, writes: Sequence[Sql], values: Mapping[str, Any]) -> list[bool]:
        """Change the state as a call would; for each write whether it wrote to any row.

        Raises `Refusal`, `Fault` and DuckDB's errors, and has changed nothing then.
        """
        counters = dict(self.counters)
        connection = self.database.connection
        connection.execute("begin")
        running = _Call(self, None, values)
        try:
            wrote = running.change(writes)
        except BaseException:
            connection.execute("rollback")
            self.counters = counters
            raise
        connection.execute("commit")
        self.changed.update(running.before)
        return wrote

    def text(self, message: m.Message, values: Mapping[str, Any]) -> str:
        """A text with its holes filled in."""
        return _Call(self, None, values).text(message)

    def evaluate(self, sql_: Sql, values: Mapping[str, Any]) -> Any:
        """The value of a checked expression on the state as it is."""
        return self.database.value(sql_.expression, values)

    def next_serial(self, table: m.Table) -> str | int:
        """The next key that is made by counting, which is used up with that."""
        assert table.serial is not None
        self.counters[table.name] += 1
        if isinstance(table.key[0].type, Integer):
            return self.counters[table.name]
        prefix, zeros, suffix = re.split(r"[{}]", table.serial)
        return f"{prefix}{self.counters[table.name]:0{len(zeros)}d}{suffix}"

    def _last_serial(self, table: m.Table) -> int:
        """The highest number among the keys that look as if the engine had made them."""
        assert table.serial is not None
        numbers = [serial_number(table.serial, key[0]) for key in self.database.table(table)]
        return max((number for number in numbers if number is not None), default=0)


def serial_number(pattern: str, key: str | int) -> int | None:
    """The number in a key made after `pattern`; None when the key does not follow it."""
    if isinstance(key, int):
        return key
    prefix, zeros, suffix = re.split(r"[{}]", pattern)
    match = re.fullmatch(re.escape(prefix) + f"([0-9]{{{max(len(zeros), 1)},18}})" + re.escape(suffix), key)
    return int(match[1]) if match else None


class _Call:
    """One call while it runs: its values, and the database inside its transaction."""

    def __init__(self, episode: ReferenceEpisode, tool: m.Tool | None, arguments: Mapping[str, Any]) -> None:
        self.episode = episode
        self.result: m.Result | None = None
        self.spec = episode.spec
        self.database = episode.database
        self.tool = tool
        self.values: dict[str, Any] = dict(arguments)
        self.before: dict[str, dict[tuple[Any, ...], dict[str, Any]]] = {}
        self.passes = 0
        self.wrote = False
        """Whether any row was written, even if it is as it was."""

    def run(self) -> Any:
        """The result of the tool. Raises `Refusal`, `Fault` and DuckDB's errors."""
        assert self.tool is not None
        self._arguments(self.tool)
        self._references(self.tool)
        self._rules(self.tool)
        value: Any = None
        try:
            self._block(self.tool.body)
        except _Done as done:
            value, self.result = done.value, done.result
        self._settle()
        return value

    def change(self, writes: Sequence[Sql]) -> list[bool]:
        """Make some writes; for each whether it wrote to any row. Raises as `run` does."""
        wrote = []
        for write in writes:
            self.wrote = False
            self._change(write)
            wrote.append(self.wrote)
        self.wrote = any(wrote)
        self._settle()
        return wrote

    def _settle(self) -> None:
        """Bring in step what was written, and see that all holds."""
        if self.wrote:
            for sync in self.spec.syncs.values():
                self.sync(sync)
        for text in violations(self.spec, self.database, self.before):
            raise Refusal(text)

    def sync(self, sync: m.Tool) -> None:
        """Write what follows from the state as it is."""
        self.values = {}
        self._block(sync.body)

    def _arguments(self, routine: m.Routine) -> None:
        before = f"{routine.name}." if isinstance(routine, m.Action) else ""
        for parameter in routine.parameters:
            for check in parameter.checks:
                for text in failures(check, self.database, self.values):
                    raise Refusal(before + text)

    def _references(self, routine: m.Routine) -> None:
        for parameter in routine.parameters:
            if parameter.references is None:
                continue
            given = self.values[parameter.name]
            table = self.spec.tables[parameter.references]
            row = None if given is None else self.database.find(table, (given,))
            if row is None and not (given is None and parameter.optional):
                missing = table.missing or (f"Unknown {parameter.name}: ", "")
                raise Refusal(sql.text(given).join(missing))
            if parameter.row is not None:
                self.values[parameter.row] = row

    def _rules(self, tool: m.Tool) -> None:
        for rule in self.spec.rules:
            condition = rule.sqls.get(tool.name)
            if condition is None or self._holds(condition):
                continue
            if rule.verdict == "enforced":
                raise Refusal(rule.doc)
            self.episode.broken_rules.append(rule.name)

    # -- statements --------------------------------------------------------------------------------------------

    def _block(self, statements: tuple[m.Statement, ...]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, statement: m.Statement) -> None:
        if isinstance(statement, m.Let):
            value = self._change(statement.sql) if statement.sql.change else self._read(statement.sql, statement.shape)
            self._require_some(value, statement.shape, statement.message)
            self.values[statement.name] = self._kept(statement.sql, value)
        elif isinstance(statement, m.Set):
            self.values[statement.name] = self._kept(statement.sql, self._read(statement.sql, statement.cell))
        elif isinstance(statement, m.Require):
            if not self._holds(statement.sql):
                raise Refusal(self.text(statement.message))
        elif isinstance(statement, m.If):
            self._if(statement)
        elif isinstance(statement, m.Each):
            self._each(statement)
        elif isinstance(statement, m.Do):
            self._do(statement)
        elif isinstance(statement, m.Return):
            shape = statement.result.body
            value = self._read(statement.sql, shape)
            self._require_some(value, shape, statement.message)
            if statement.result.nested:
                assert isinstance(shape, Row | Rows) and shape.table is not None
                value = with_nested(self.spec, self.database, self.spec.tables[shape.table], value)
            raise _Done(value, statement.result)
        elif isinstance(statement, m.Reply):
            raise _Done(self.text(statement.message))
        elif isinstance(statement, m.Fail):
            raise Refusal(self.text(statement.message))
        else:
            self._change(statement.sql)

    def _kept(self, sql_: Sql, value: Any) -> Any:
        """A value that is kept for later. Raises `Fault` for a text that grew and grew."""
        if isinstance(value, str) and len(value) > MAX_KEPT and may_grow(sql_.expression, self.spec.functions):
            raise Fault("text too long")
        return value

    def _inner(self, body: tuple[m.Statement, ...], values: Mapping[str, Any] | None = None) -> None:
        """Run a body inside another: its values end with it."""
        outer = list(self.values)
        self.values.update(values or {})
        self._block(body)
        self.values = {name: self.values[name] for name in outer}

    def _if(self, statement: m.If) -> None:
        for branch in statement.branches:
            if branch.condition is None or self._holds(branch.condition):
                self._inner(branch.body)
                return

    def _each(self, statement: m.Each) -> None:
        for item in self._read(statement.sql, statement.sql.shape) or ():
            self.passes += 1
            if self.passes > MAX_PASSES:
                raise too_many_passes()
            self._inner(statement.body, {statement.name: item})

    def _do(self, statement: m.Do) -> None:
        action, given = statement.action, {}
        for parameter, argument in zip(action.parameters, statement.arguments, strict=True):
            value = self.database.value(argument.expression, self.values, parameter.type.sql)
            given[parameter.name] = check_column(action, parameter, value)
        outer, self.values = self.values, given
        self._arguments(action)
        self._references(action)
        self._block(action.body)
        self.values = outer

    def _require_some(self, value: Any, shape: Shape, message: m.Message | None) -> None:
        if message is not None and (not value if isinstance(shape, Rows) else value is None):
            raise Refusal(self.text(message))

    def _holds(self, condition: Sql) -> bool:
        return self.database.holds(condition.expression, self.values) is True

    def _read(self, read: Sql, shape: Shape) -> Any:
        """The value of `read` as `shape`. Raises `Fault` when there are more rows than it can hold."""
        tree = read.expression
        if isinstance(tree, Value) and "cell" not in tree.meta:
            return self.values[tree.name]
        if isinstance(tree, Calculate):
            return Calculator(self.database.connection).value(self.database.value(tree.this, self.values))
        if not read.is_query:
            return self.database.value(tree, self.values)
        assert isinstance(tree, exp.Query)
        rows = self.database.rows(tree, self.values)
        if isinstance(shape, Rows):
            return rows
        if len(rows) > 1:
            raise Fault("more than one row")
        if not rows:
            return None
        return rows[0] if isinstance(shape, Row) else next(iter(rows[0].values()))

    def text(self, message: m.Message) -> str:
        """A text with its holes filled in."""
        holes = [part for part in message.parts if not isinstance(part, str)]
        shown = iter(self._shown(message, holes) if holes else ())
        return "".join(part if isinstance(part, str) else next(shown) for part in message.parts)

    def _shown(self, message: m.Message, holes: list[m.Hole]) -> Iterator[str]:
        """The texts of all holes, which one query computes: as text, unless a format wants the number itself."""

        def build() -> exp.Query:
            trees = [hole.sql.expression.copy() for hole in holes]
            items = [tree if hole.format else cast(tree, "VARCHAR") for hole, tree in zip(holes, trees, strict=True)]
            return exp.Select(expressions=[exp.alias_(item, f"h{i}") for i, item in enumerate(items)])

        (found,) = self.database.answer(self.database.statements.of(message, "holes", build), self.values)
        for hole, value in zip(holes, found.values(), strict=True):
            yield sql.formatted(value, hole.format) if hole.format else "NULL" if value is None else value

    # -- writes ------------------------------------------------------------------------------------------------

    def _change(self, write: Sql) -> Any:
        change = write.change
        assert change is not None
        table = self.spec.tables[change.table]
        self._remember(table)
        if isinstance(change, Insert):
            return self._insert(table, change)
        if isinstance(change, Update):
            return self._update(table, change)
        assert isinstance(change, Delete)
        for row in self._rows_where(table, change, []):
            self.wrote = True
            self._delete(table, key_of(table, row))
        return None

    def _remember(self, table: m.Table) -> None:
        if table.name not in self.before:
            self.before[table.name] = self.database.table(table)

    def _delete(self, table: m.Table, key: tuple[Any, ...]) -> None:
        """Delete a row and all that is nested in it."""
        self.database.delete(table, key)
        for nested in self.spec.tables.values():
            if nested.parent == table.name:
                self._remember(nested)
                for row in self.database.under(nested, key):
                    self._delete(nested, key_of(nested, row))

    def _insert(self, table: m.Table, change: Insert) -> Any:
        columns = [column for name in change.columns if (column := table.column(name))]
        if change.query is None:
            made = [self._computed(table, columns, row) for row in change.rows]
        else:
            statement = self.database.statements.of(change, "insert", lambda: _inserted(change, columns))
            found = self.database.answer(statement, self.values)
            made = [dict(zip(change.columns, row.values(), strict=True)) for row in found]
        inserted: dict[str, Any] = {}
        for values in made:
            inserted = self._add(table, columns if change.query is not None else [], values)
        return inserted

    def _computed(self, table: m.Table, columns: list[m.Column], row: tuple[exp.Expr, ...]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for column, tree in zip(columns, row, strict=True):
            held = self.database.value(tree, self.values, column.type.sql)
            values[column.name] = check_column(table, column, held)
        return values

    def _add(self, table: m.Table, unchecked: list[m.Column], given: dict[str, Any]) -> dict[str, Any]:
        for column in unchecked:
            check_column(table, column, given[column.name])
        row: dict[str, Any] = {}
        for column in table.columns:
            if column.made:
                row[column.name] = None  # it has its place, and is made when all else is there
            elif column.name in given:
                row[column.name] = given[column.name]
            elif column.default is not None:
                held = self.database.value(column.default.expression, {}, column.type.sql)
                row[column.name] = check_column(table, column, held)
            else:
                row[column.name] = None
        for column in table.columns:
            if column.numbered:
                parent = tuple(row[inherited.name] for inherited in table.inherited)
                row[column.name] = max((n[column.name] for n in self.database.under(table, parent)), default=0) + 1
            elif column.made:
                row[column.name] = self._next_key(table)
        key = key_of(table, row)
        if self.database.find(table, key) is not None:
            raise Refusal(f"{table.title}: {sql.text(key)} already exists")
        self._check_row(table, row)
        self.wrote = True
        self.database.insert(table, row)
        return row

    def _next_key(self, table: m.Table) -> str | int:
        for key in table.keys:
            if self.database.find(table, (key,)) is None:
                return key
        if table.keys:
            raise Refusal(f"{table.name}: no key is left")
        return self.episode.next_serial(table)

    def _update(self, table: m.Table, change: Update) -> None:
        columns = [column for name, _ in change.assignments if (column := table.column(name))]
        for found in self._rows_where(table, change, columns):
            key = key_of(table, found)
            changes = {c.name: check_column(table, c, found[f"new_{c.name}"]) for c in columns}
            row = self.database.find(table, key)
            assert row is not None
            self._check_row(table, {**row, **changes})
            self.wrote = True
            self.database.update(table, key, changes)

    def _rows_where(self, table: m.Table, change: Update | Delete, columns: list[m.Column]) -> list[dict[str, Any]]:
        """The keys of the rows to change, in their order, with the new values of `columns`."""
        statement = self.database.statements.of(change, "search", lambda: _search(table, change, columns))
        return self.database.answer(statement, self.values)

    def _check_row(self, table: m.Table, row: dict[str, Any]) -> None:
        for column in table.columns:
            for check in column.checks:
                for text in failures(check, self.database, {"row": row}):
                    raise Refusal(f"{table.title}: {text}")


def _inserted(change: Insert, columns: list[m.Column]) -> exp.Query:
    """The rows that an insert adds, each value as its column holds it."""
    assert change.query is not None
    query = change.query.copy()
    for item, column in zip(query.selects, columns, strict=True):
        item.set("this", cast(item.this.copy(), column.type.sql))
    return in_order(query)


def _search(table: m.Table, change: Update | Delete, columns: list[m.Column]) -> exp.Query:
    selects = [exp.alias_(exp.column(column.name, table=change.alias), column.name) for column in table.key]
    if isinstance(change, Update):
        for column, (_, tree) in zip(columns, change.assignments, strict=True):
            selects.append(exp.alias_(cast(tree.copy(), column.type.sql), f"new_{column.name}"))
    source = exp.Table(this=exp.to_identifier(table.name), alias=exp.TableAlias(this=exp.to_identifier(change.alias)))
    where = exp.Where(this=change.where.copy())
    return in_order(exp.Select(expressions=selects, from_=exp.From(this=source), where=where))
