"""Rows that are made: drawn, looked at, and drawn anew until their tables and the invariants take them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from forgec.diagnostics import counted
from forgec.model.spec import Generate, Invariant, Spec, Table, World
from forgec.reference.executor import ReferenceEpisode
from forgec.worlds import lots
from forgec.worlds.constraints import Constraints
from forgec.worlds.lots import lot
from forgec.worlds.rows import MAX_EFFORT, Columns, Effort, Row, Unmade, reason
from forgec.worlds.suspects import Suspects, suspects
from forgec_runtime.engine import EngineError

MAX_TRIES = 100
"""How often one row is drawn."""
MAX_LOOKS = 5_000
"""How often the invariants are looked at for one block."""
_MOST_OF_A_KIND = 4
"""How many rows of a kind are looked at kind by kind, on average."""
_FIRST = 8
"""Rows that are tried by themselves when all together cannot be placed: if none can, all are drawn anew."""
PATIENCE = 10
"""When no row could be placed in so many tries, an invariant asks for more than the rows of this block."""


class Blocks:
    """Makes the rows of the blocks of one world, in the database of an episode."""

    def __init__(self, spec: Spec, world: World, episode: ReferenceEpisode, effort: Effort) -> None:
        self.spec = spec
        self.world = world
        self.episode = episode
        self.database = episode.database
        self.columns = Columns(self.database, world.name, world.seed, effort)

    def make(self, block: Generate) -> Iterator[tuple[Table, Row]]:
        """Make the rows of a block, those in others after them. Raises `Unmade`."""
        rows = _Block(self, block).make()
        for part in _parts(block):
            yield from ((self.spec.tables[part.table], row) for row in _rows_of(part, block, rows))


class _Block:
    """One block while its rows are made."""

    def __init__(self, blocks: Blocks, block: Generate) -> None:
        self.block = block
        self.spec = blocks.spec
        self.world = blocks.world
        self.episode = blocks.episode
        self.database = blocks.database
        self.columns = blocks.columns
        self.constraints = {
            part.table: Constraints(part, self.spec.tables, self.database, self.columns) for part in _parts(block)
        }
        self.invariants = [one for one in self.spec.invariants if one.sql.reads & self.constraints.keys()]
        self.invariants = [one for one in self.invariants if self._holds(one)]
        self.positions = self._last_positions(self.spec.tables[block.table])
        self.breaking: list[Invariant] = []
        self.looks = 0
        self.placed = 0

    def make(self) -> list[Row]:
        count = self._count(self.block, "", "")
        rows = [self._row(self.block, number, str(number)) for number in range(1, count + 1)]
        waiting, begun = rows, self.columns.effort.spent
        for attempt in range(MAX_TRIES):
            for row in waiting:
                row.tries, row.inner = str(attempt), {}
            self._draw(self.block, waiting)
            self._nest(waiting)
            self._place([row for row in waiting if not row.problem])
            waiting = [row for row in waiting if row.problem]
            if not waiting:
                return rows
            if not self.placed and attempt == PATIENCE:
                self.invariants = [one for one in self.invariants if one not in self.breaking]
            if self.columns.effort.spent > begun + MAX_EFFORT // 4:
                break
        raise self._given_up(waiting, attempt + 1)

    def _given_up(self, waiting: list[Row], tries: int) -> Unmade:
        what = counted(len(waiting), "row")
        message = f"{what} of `{self.spec.tables[self.block.table].title}` cannot be made in {tries} tries"
        problems = Counter(row.problem for row in waiting).most_common(3)
        notes = [f"{problem} ({counted(number, 'row')})" for problem, number in problems]
        return Unmade("AFS621", message, self.block.span, notes=notes)

    # -- drawing -----------------------------------------------------------------------------------------------

    def _count(self, block: Generate, place: str, tries: str) -> int:
        drawn = lot(self.world.seed, self.world.name, block.table, block.number, "count", place, tries)
        return block.least + lots.below(drawn, block.most - block.least + 1)

    def _row(self, block: Generate, number: int, place: str) -> Row:
        """A row with the keys that the engine makes, and no values yet."""
        table = self.spec.tables[block.table]
        row = Row(number, place, values={column.name: None for column in table.columns})
        for column in table.columns:
            if column.serial is not None or column.keys:
                row.values[column.name] = self._next_key(table)
        return row

    def _next_key(self, table: Table) -> str | int:
        if not table.keys:
            return self.episode.next_serial(table)
        taken = self.constraints[table.name].taken[(table.key[0].name,)]
        free = next((key for key in table.keys if (key,) not in taken), None)
        if free is None:
            raise Unmade("AFS621", f"`{table.title}` has only {counted(len(table.keys), 'key')}", self.block.span)
        taken.add((free,))
        return free

    def _draw(self, block: Generate, rows: list[Row]) -> None:
        """Compute the columns of rows, and look at them."""
        table = self.spec.tables[block.table]
        self.columns.compute(block, table, rows)
        position = table.position
        if position is not None and block is self.block:
            for row in rows:
                parent = tuple(row.values[column.name] for column in table.inherited)
                self.positions[parent] += 1
                row.values[position.name] = self.positions[parent]
        constraints = self.constraints[table.name]
        if table.keys:  # they were taken when they were given out
            for row in rows:
                constraints.free(row)
        constraints.look(rows)

    def _last_positions(self, table: Table) -> Counter[tuple[Any, ...]]:
        numbers: Counter[tuple[Any, ...]] = Counter()
        for row in self.database.table(table).values() if table.position is not None else ():
            parent = tuple(row[column.name] for column in table.inherited)
            numbers[parent] = max(numbers[parent], row[table.position.name] if table.position else 0)
        return numbers

    # -- nesting -----------------------------------------------------------------------------------------------

    def _nest(self, rows: list[Row]) -> None:
        """Make what is nested in rows, which can be looked up meanwhile."""
        if not self.block.nested:
            return
        self.database.connection.execute("begin")
        try:
            self._nest_in(self.block, [row for row in rows if not row.problem])
        finally:
            self.database.connection.execute("rollback")
        for row in rows:
            row.problem = row.problem or _first_problem(row)
            if row.problem and row.inner:
                self._free(self.block, row)

    def _nest_in(self, block: Generate, rows: list[Row]) -> None:
        table = self.spec.tables[block.table]
        self._append(table, rows)
        for nested in block.nested:
            child = self.spec.tables[nested.table]
            waiting: list[Row] = []
            for row in rows:
                count = self._count(nested, row.place, row.tries)
                made = [self._row(nested, number, f"{row.place}.{number}") for number in range(1, count + 1)]
                key = [row.values[column.name] for column in table.key]
                for inner in made:
                    inner.values.update(zip((column.name for column in child.inherited), key, strict=True))
                    if child.position is not None:
                        inner.values[child.position.name] = inner.number
                row.inner[nested.table] = made
                waiting.extend(made)
            outer = {id(inner): row for row in rows for inner in row.inner[nested.table]}
            for attempt in range(MAX_TRIES):
                for inner in waiting:
                    inner.tries = f"{outer[id(inner)].tries}.{attempt}"
                self._draw(nested, waiting)
                waiting = [inner for inner in waiting if inner.problem]
                if not waiting:
                    break
            if nested.nested:
                self._nest_in(nested, [i for row in rows for i in row.inner[nested.table] if not i.problem])

    def _free(self, block: Generate, row: Row) -> None:
        """Give back what a row has taken, and what those in it have."""
        if not row.values:
            return
        self.constraints[block.table].free(row)
        for nested in block.nested:
            for inner in row.inner.get(nested.table, ()):
                if not inner.problem:
                    self._free(nested, inner)

    # -- placing -----------------------------------------------------------------------------------------------

    def _place(self, rows: list[Row]) -> None:
        """Put rows into their tables; one that breaks an invariant there is taken out, and has a problem."""
        if not rows:
            return
        connection = self.database.connection
        connection.execute("begin")
        self._append_all(rows)
        broken = self._broken()
        if not broken:
            connection.execute("commit")
            self.placed += len(rows)
            return
        table = self.spec.tables[self.block.table]
        found = suspects(broken.sql.expression, table, self.database) if len(rows) > 1 else None
        connection.execute("rollback")
        sound, parts = _apart(rows, found)
        if len(rows) == 1 or not (self.placed or sound or self._any_fits(rows[:_FIRST])):
            self.breaking.append(broken)
            for row in rows:
                row.problem = f"the invariant `{broken.name}` would not hold"
                self._free(self.block, row)
            return
        for part in (sound, *parts):
            self._place(part)

    def _any_fits(self, rows: list[Row]) -> bool:
        """Whether one of some rows can be placed."""
        for row in rows:
            self.database.connection.execute("begin")
            self._append_all([row])
            broken = self._broken()
            self.database.connection.execute("rollback")
            if broken is None:
                return True
            self.breaking.append(broken)
        return False

    def _broken(self) -> Invariant | None:
        """The first invariant that does not hold."""
        self.looks += len(self.invariants)
        if self.looks > MAX_LOOKS:
            self.database.connection.execute("rollback")
            hint = "choose among rows that keep it, such as `pick(select ...)`"
            message = f"too many rows break the invariant `{self.invariants[0].name}`"
            raise Unmade("AFS621", message, self.block.span, help=hint)
        return next((one for one in self.invariants if not self._holds(one)), None)

    def _holds(self, invariant: Invariant) -> bool:
        try:
            return self.database.holds(invariant.sql.expression, {}) is True
        except EngineError:
            return False

    def _append_all(self, rows: Sequence[Row]) -> None:
        self._append(self.spec.tables[self.block.table], rows)
        level = [(self.block, list(rows))]
        while level:
            block, outer = level.pop()
            for nested in block.nested:
                inner = [one for row in outer for one in row.inner[nested.table]]
                self._append(self.spec.tables[nested.table], inner)
                level.append((nested, inner))

    def _append(self, table: Table, rows: Sequence[Row]) -> None:
        try:
            self.database.append(table, [row.values for row in rows])
        except EngineError as error:
            raise Unmade("AFS304", "DuckDB refuses these rows", self.block.span, help=reason(error)) from None


def _parts(block: Generate) -> Iterator[Generate]:
    yield block
    for nested in block.nested:
        yield from _parts(nested)


def _apart(rows: list[Row], found: Suspects | None) -> tuple[list[Row], list[list[Row]]]:
    """Of rows that cannot be placed together, those that nothing is found against, and the others in parts.

    Those are one of each kind and the rest; or halves, where that takes fewer steps.
    """
    names, kinds = found or ((), set())
    firsts: dict[tuple[Any, ...], Row] = {}
    sound, others = list[Row](), list[Row]()
    for row in rows if found else ():
        kind = tuple(row.values[name] for name in names)
        if kind not in kinds:
            sound.append(row)
        elif firsts.setdefault(kind, row) is not row:
            others.append(row)
    if not firsts or len(firsts) * _MOST_OF_A_KIND < len(firsts) + len(others):
        return [], [rows[: len(rows) // 2], rows[len(rows) // 2 :]]
    return sound, [list(firsts.values()), others] if others else [[row] for row in firsts.values()]


def _rows_of(part: Generate, block: Generate, rows: list[Row]) -> list[Row]:
    """The rows of a part of a block, in the order of those that they are in."""
    if part is block:
        return rows
    outer = next(one for one in _parts(block) if part in one.nested)
    return [inner for row in _rows_of(outer, block, rows) for inner in row.inner[part.table]]


def _first_problem(row: Row) -> str:
    """The first problem of the rows in a row."""
    for rows in row.inner.values():
        for inner in rows:
            if problem := inner.problem or _first_problem(inner):
                return problem
    return ""
