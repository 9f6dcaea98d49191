"""Syncs follow each other in order, and every world is one that they would leave as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from forgec.diagnostics import Label, Report
from forgec.model import spec as m
from forgec.model.walk import sqls_of, statements
from forgec.reference.executor import ReferenceEpisode
from forgec.source import Span
from forgec.sql.check import trees_of
from forgec.sql.query import Delete, Insert, Sql, Update
from forgec.sql.tree import Apply, Lookup, exp
from forgec_runtime import Fault, Refusal, sql
from forgec_runtime.engine import EngineError

Cell = tuple[str, str]
"""A column of a table, or, without a column, which rows the table has."""


def syncs_in_order(spec: m.Spec, report: Report) -> None:
    """Report each sync that reads what one below it writes: it would come too late."""
    written = {name: _writes(sync, spec) for name, sync in spec.syncs.items()}
    names = list(spec.syncs)
    for i, name in enumerate(names):
        for part in _sqls(spec.syncs[name]):
            read = _reads(part, spec)
            late = [(other, cell) for other in names[i + 1 :] for cell in sorted(read & written[other])]
            if late:
                other, cell = late[0]
                related = [Label(spec.syncs[other].span, "this one")]
                message = f"`{name}` reads {_shown(cell, spec)}, which `{other}` writes after it"
                report.error("AFS512", message, part.span, related=related, help=f"declare `{other}` above `{name}`")
                break


def _sqls(sync: m.Tool) -> Iterator[Sql]:
    return (part for statement in statements(sync.body) for part in sqls_of(statement))


def _shown(cell: Cell, spec: m.Spec) -> str:
    table, column = spec.tables[cell[0]].title, cell[1]
    return f"`{table}.{column}`" if column else f"the rows of `{table}`"


def _reads(part: Sql, spec: m.Spec) -> set[Cell]:
    """What a piece of SQL looks at, also through functions."""
    change = part.change
    trees = [*([part.tree] if part.tree is not None else []), *(trees_of(change) if change is not None else [])]
    if not isinstance(change, Update | Delete):
        return {cell for tree in trees for cell in _cells(tree, spec, {})}
    found = {cell for tree in trees for cell in _cells(tree, spec, {change.alias: change.table})}
    return {(change.table, ""), *found}


def _cells(tree: exp.Expr, spec: m.Spec, outer: Mapping[str, str]) -> Iterator[Cell]:
    sources = [node for node in tree.find_all(exp.Table) if "rows" not in node.meta and not node.meta.get("cte")]
    aliases = [*outer.items(), *((source.alias_or_name, source.name) for source in sources)]
    yield from ((source.name, "") for source in sources)
    for column in tree.find_all(exp.Column):
        yield from ((table, column.name) for alias, table in aliases if alias == column.table)
    for lookup in tree.find_all(Lookup):
        yield lookup.name, ""
        yield lookup.name, str(lookup.args.get("field"))
    for apply in tree.find_all(Apply):
        yield from _cells(spec.functions[apply.name].sql.expression, spec, {})


def _writes(sync: m.Tool, spec: m.Spec) -> set[Cell]:
    written: set[Cell] = set()
    for part in _sqls(sync):
        if isinstance(part.change, Update):
            written.update((part.change.table, column) for column, _ in part.change.assignments)
        elif isinstance(part.change, Insert):
            written.add((part.change.table, ""))
        elif isinstance(part.change, Delete):
            written.update((name, "") for name in _within(part.change.table, spec))
    return written


def _within(table: str, spec: m.Spec) -> Iterator[str]:
    """A table and those that are nested in it, whose rows go with it."""
    yield table
    for other in spec.tables.values():
        if other.parent == table:
            yield from _within(other.name, spec)


def worlds_in_step(spec: m.Spec, report: Report) -> None:
    """Report the first row of each world that a sync would change: what is written there is what is played."""
    for world in spec.worlds.values() if spec.syncs else ():
        if not world.known:
            continue
        episode = ReferenceEpisode(spec, world.name)
        before = _rows(spec, episode)
        for sync in spec.syncs.values():
            try:
                episode.sync(sync)
            except (Refusal, Fault, EngineError) as error:
                message = f"the sync `{sync.name}` fails in the world `{world.name}`: {error}".split("\n")[0]
                report.error("AFS608", message, world.span, related=[Label(sync.span, "this sync")])
                break
            after = _rows(spec, episode)
            if after != before:
                message, span = _difference(spec, world, before, after)
                related = [Label(sync.span, f"`{sync.name}` does that")]
                report.error("AFS608", message, span, related=related, help="write what the syncs make of it")
                break


_Rows = Mapping[str, Mapping[tuple[Any, ...], Mapping[str, Any]]]


def _rows(spec: m.Spec, episode: ReferenceEpisode) -> _Rows:
    return {name: episode.database.table(table) for name, table in spec.tables.items()}


def _difference(spec: m.Spec, world: m.World, before: _Rows, after: _Rows) -> tuple[str, Span]:
    """The first row that is otherwise, in words, and its place."""
    table = next(name for name in before if before[name] != after[name])
    old, new = before[table], after[table]
    key = next(key for key in [*old, *new] if old.get(key) != new.get(key))
    row = f"{spec.tables[table].title} {sql.text(key)}".rstrip()
    if key not in old:
        return f"a sync adds {row}", world.span
    places = zip(world.rows[table], world.places[table], strict=True)
    span = next((place for found, place in places if found == old[key]), world.span)
    if key not in new:
        return f"a sync deletes {row}", span
    column = next(name for name, value in old[key].items() if new[key][name] != value)
    return f"{row}: {column} is {sql.text(old[key][column])}, and a sync makes it {sql.text(new[key][column])}", span
