"""Whether rows that were not there when a spec was compiled hold to what it declares."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..call import MAX_RUNS, AtOnce, Call
from ..constraints import Constraints
from ..engine import EngineError, fetch
from ..episode import Episode
from ..errors import Fault, LoadError, Refusal
from ..schema import Table
from ..sql import text
from ..tool import Tool

if TYPE_CHECKING:
    from ..base import Base


def hold(base: Base, constraints: Constraints, at_once: AtOnce) -> None:
    """Raise `LoadError` for the first thing that the rows of a world break."""
    broken = _broken_keys(base)
    if broken is not None:
        raise LoadError(f"the world {base.origin.world} does not hold: {broken}")
    look = Tool("", lambda call: _check_rows(call, base, constraints))
    call = Call(0, Episode(base.origin.world, base), look, ())
    call.runs = MAX_RUNS  # nobody else waits: it gets what it wants at once
    try:
        call.run(constraints, at_once)
    except (Refusal, Fault, EngineError) as error:
        raise LoadError(f"the world {base.origin.world} does not hold: {error}") from None


def _broken_keys(base: Base) -> str | None:
    """What is wrong with unique values and references: the first that stands twice, or leads to no row."""
    for table in base.tables.values():
        for column in table.columns:
            if column.unique:
                name = f'"{column.name}"'
                twice = f'select {name} from "{table.name}" where {name} is not null group by 1 having count(*) > 1'
                for (value,) in fetch(base.connection, f"{twice} order by 1 limit 1"):
                    return f"{table.title}: {column.name} {text(value)} stands twice"
        for names, target in _references(base, table):
            columns = ", ".join(f't."{name}"' for name in names)
            same = " and ".join(f't."{a}" = k."{b}"' for a, b in zip(names, base.tables[target].key, strict=True))
            there = " and ".join(f't."{name}" is not null' for name in names)
            dangling = (
                f'select {columns} from "{table.name}" t where {there}'
                f' and not exists (select 1 from "{target}" k where {same}) order by all limit 1'
            )
            for values in fetch(base.connection, dangling):
                where = ", ".join(f"{name} {text(value)}" for name, value in zip(names, values, strict=True))
                return f"{table.title}: {where} is no row of {base.tables[target].title}"
    return None


def _references(base: Base, table: Table[Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """The columns of a table that together hold the key of another, and which."""
    for column in table.columns:
        if column.references is not None:
            yield (column.name,), column.references
    for tie in table.ties:
        yield tie.columns, tie.table
    if table.parent is not None and len(base.tables[table.parent].key) > 1:
        yield table.inherited, table.parent


def _check_rows(call: Call, base: Base, constraints: Constraints) -> None:
    for table in base.tables.values():
        if (check := table.check) is None:
            continue
        for key, row in base.all_rows(table).items():
            try:
                check(call, row)
            except Refusal as refusal:
                raise Refusal(f"{table.title} {text(key)}: {refusal}".replace(" ()", "")) from None
    for invariant in constraints.invariants:
        if call.value(invariant.query) is not True:
            raise Refusal(f"it breaks the invariant {invariant.name}")
    for sync in constraints.syncs:
        sync(call)
    for name, rows in call.staged.items():
        for key, row in rows.items():
            if row != call.before(base.tables[name], key):
                raise Refusal(f"a sync would change {base.tables[name].title} {text(key)}".removesuffix(" ()"))
