"""Every world satisfies the checks and invariants of its environment from the start."""

from __future__ import annotations

from forgec.diagnostics import Label, Report
from forgec.model.spec import Spec, World
from forgec.reference.database import ReferenceDatabase
from forgec_runtime import sql


def worlds_hold(spec: Spec, report: Report) -> None:
    """Report the first row of each world that breaks a `check`, and each invariant that does not hold."""
    for world in spec.worlds.values():
        _check(spec, world, report)


def _check(spec: Spec, world: World, report: Report) -> None:
    database = ReferenceDatabase(spec, world)
    for table in spec.tables.values():
        for column in table.columns:
            if column.check is None:
                continue
            for row, place in zip(world.rows[table.name], world.places[table.name], strict=True):
                if database.holds(column.check.expression, {"row": row}) is False:
                    key = ", ".join(sql.text(row[part.name]) for part in table.key)
                    related = [Label(column.check.span, "the check")]
                    message = f"{table.name} {key}: {column.name} {sql.text(row[column.name])} breaks its check"
                    report.error("AFS606", message, place, related=related)
    for invariant in spec.invariants:
        if database.holds(invariant.sql.expression, {}) is not True:
            related = [Label(invariant.sql.span, "the invariant")]
            message = f"the world `{world.name}` breaks the invariant `{invariant.name}`"
            report.error("AFS606", message, world.span, related=related)
