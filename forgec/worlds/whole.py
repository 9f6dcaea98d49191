"""One world made whole: the rows of its base, its own, then what happens in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from forgec.diagnostics import Report
from forgec.model import spec as m
from forgec.model.drafts import Draft
from forgec.model.world_keys import check_keys, check_unique
from forgec.reference.database import key_of
from forgec.reference.executor import ReferenceEpisode
from forgec.source import Span
from forgec.worlds.blocks import Blocks
from forgec.worlds.rows import Effort, Unmade, reason
from forgec_runtime import Fault, Refusal
from forgec_runtime.engine import EngineError

Rows = dict[str, list[Draft]]


def whole_world(spec: m.Spec, world: m.World, base: m.World | None, effort: Effort, report: Report) -> m.World | None:
    """The world with all its rows; None when it was reported."""
    before = len(report)
    rows = _written(spec, world, base)
    for table in spec.tables.values():
        check_unique(table, rows[table.name], report)
    if len(report) == before and world.happenings:
        rows = _Happening(spec, _with(world, rows), effort, report).rows()
    if len(report) == before:
        check_keys(rows, spec.tables, report)
    return _with(world, rows) if len(report) == before else None


def _with(world: m.World, rows: Rows) -> m.World:
    held = {name: tuple(row.values for row in filled) for name, filled in rows.items()}
    places = {name: tuple(row.span for row in filled) for name, filled in rows.items()}
    return replace(world, rows=held, places=places)


def _written(spec: m.Spec, world: m.World, base: m.World | None) -> Rows:
    """The rows of its base, and those that a world writes out itself, which are numbered after them."""
    rows: Rows = {}
    for table in spec.tables.values():
        own, old = _drafts(table, world), _drafts(table, base) if base is not None else []
        if table.position is not None:
            last: dict[tuple[Any, ...], int] = {}
            for row in old:
                parent = _parent(table, row.values)
                last[parent] = max(last.get(parent, 0), row.values[table.position.name])
            for row in own:
                shift = last.get(_parent(table, row.values), 0)
                row.values = {**row.values, table.position.name: row.values[table.position.name] + shift}
        rows[table.name] = own if table.single and own else [*old, *own]
    return rows


def _drafts(table: m.Table, world: m.World) -> list[Draft]:
    found = zip(world.rows[table.name], world.places[table.name], strict=True)
    return [Draft(table, place, values=row) for row, place in found]


def _parent(table: m.Table, row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[column.name] for column in table.inherited)


class _Happening:
    """A world while things happen in it."""

    def __init__(self, spec: m.Spec, world: m.World, effort: Effort, report: Report) -> None:
        self.spec = spec
        self.world = world
        self.effort = effort
        self.report = report
        self.episode = ReferenceEpisode(replace(spec, worlds={world.name: world}), world.name)
        self.found = {
            table.name: {key_of(table, row.values): row for row in _drafts(table, world)}
            for table in spec.tables.values()
        }

    def rows(self) -> Rows:
        """All rows after what happens, as far as nothing was reported."""
        blocks = Blocks(self.spec, self.world, self.episode, self.effort)
        changed = False
        for happening in self.world.happenings:
            try:
                if isinstance(happening, m.Generate):
                    for table, row in blocks.make(happening):
                        self.found[table.name][key_of(table, row.values)] = Draft(
                            table, happening.span, values=row.values
                        )
                elif isinstance(happening, m.Write):
                    self._write(happening)
                    self._keep(happening.span)
                else:
                    continue
            except Unmade as why:
                self.report.error(why.code, str(why), why.span, help=why.help, notes=why.notes)
                return {}
            changed = True
        if changed:
            self._sync()
        for happening in self.world.happenings:
            if isinstance(happening, m.Expect):
                self._expect(happening)
        return {name: list(rows.values()) for name, rows in self.found.items()}

    def _write(self, write: m.Write) -> None:
        routine = m.Tool(name=self.world.name, span=write.span, parameters=(), body=(write,), returns=None)
        try:
            self.episode.sync(routine)
        except (Refusal, Fault, EngineError) as error:
            message = f"this fails in the world `{self.world.name}`: {_first_line(error)}"
            raise Unmade("AFS624", message, write.span) from None

    def _sync(self) -> None:
        """Bring in step what follows from the state, as after a call."""
        for sync in self.spec.syncs.values():
            try:
                self.episode.sync(sync)
            except (Refusal, Fault, EngineError) as error:
                message = f"the sync `{sync.name}` fails in the world `{self.world.name}`: {_first_line(error)}"
                self.report.error("AFS608", message, self.world.span)
                return
        if self.spec.syncs:
            self._keep(self.world.span)

    def _expect(self, expect: m.Expect) -> None:
        message = f"this does not hold in the world `{self.world.name}`"
        try:
            holds = self.episode.database.holds(expect.sql.expression, {})
        except EngineError as error:
            holds, message = None, f"this cannot be computed in the world `{self.world.name}`: {reason(error)}"
        if holds is not True:
            self.report.error("AFS606", message, expect.span)

    def _keep(self, span: Span) -> None:
        """Take over the rows as they are now; those that are new came about at `span`."""
        for table in self.spec.tables.values():
            now = self.episode.database.table(table)
            known = self.found[table.name]
            kept = {key: Draft(table, row.span, values=dict(now[key])) for key, row in known.items() if key in now}
            new = {key: Draft(table, span, values=dict(row)) for key, row in now.items() if key not in known}
            self.found[table.name] = {**kept, **new}


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def whole_worlds(spec: m.Spec, report: Report) -> m.Spec:
    """The spec with all worlds whole; those that are not were reported."""
    whole: dict[str, m.World] = {}
    effort = Effort()
    for name in _bases_first(spec.worlds):
        world = spec.worlds[name]
        base = whole.get(world.base) if world.base else None
        if world.base and base is None:
            continue
        made = whole_world(spec, world, base, effort, report) if world.is_made else world
        if made is not None:
            whole[name] = made
    return replace(spec, worlds={name: whole[name] for name in spec.worlds if name in whole})


def _bases_first(worlds: Mapping[str, m.World]) -> Iterable[str]:
    """The names of worlds, each after the one that it extends."""
    ordered: dict[str, None] = {}
    for name in worlds:
        way = [name]
        while (base := worlds[way[-1]].base) is not None:
            way.append(base)
        ordered.update(dict.fromkeys(reversed(way)))
    return ordered
