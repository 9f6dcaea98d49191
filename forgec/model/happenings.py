"""What happens in a world once its rows are there: what is generated, written and expected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from forgec.diagnostics import Report, did_you_mean
from forgec.model.calls import known_world
from forgec.model.generating import Generating
from forgec.model.spec import Expect, Generate, Happening, Table, World, Write
from forgec.source import Span
from forgec.sql.check import SqlChecker
from forgec.sql.scope import Scope, table_at, titles
from forgec.syntax import nodes


def build_happenings(
    item: nodes.World, tables: Mapping[str, Table], checker: SqlChecker, scope: Scope
) -> tuple[Happening, ...]:
    """What happens in a world, in order; what is not sound is reported."""
    found: list[Happening | None] = []
    generating = Generating(tables, checker, scope)
    for part in item.happenings:
        if isinstance(part, nodes.Write):
            change = checker.change(part.sql, scope)
            found.append(Write(sql=change, span=part.sql.span) if change is not None else None)
        elif isinstance(part, nodes.Expect):
            condition = checker.condition(part.sql, scope)
            found.append(Expect(sql=condition, span=part.sql.span) if condition is not None else None)
        else:
            found.append(_generate(part, tables, generating))
    return tuple(happening for happening in found if happening is not None)


def _generate(node: nodes.Generate, tables: Mapping[str, Table], generating: Generating) -> Generate | None:
    table = table_at(tables, [name.text for name in node.table])
    if table is None:
        report_unknown(node, tables, generating.checker.report)
        return None
    return generating.block(node, table)


def report_unknown(fill: nodes.FillItem | nodes.Generate, tables: Mapping[str, Table], report: Report) -> None:
    """Report a table that a world fills, and that is none."""
    name = ".".join(part.text for part in fill.table)
    hint = did_you_mean(name, titles(tables))
    message, label = f"unknown table `{name}`", "not a table of this spec"
    span = fill.table[0].span.to(fill.table[-1].span)
    report.error("AFS201", message, span, label, help=hint, about=name)


def report_outside(span: Span, report: Report) -> None:
    """A world whose rows may not be there cannot be gone on with."""
    hint = "generate, write, expect and extend in worlds whose rows are all part of the package"
    report.error("AFS611", "a world with rows from outside is played as it is", span, help=hint)


def check_bases(items: Iterable[nodes.World], worlds: Mapping[str, World], report: Report) -> None:
    """Each world that is extended is there, and extends no world that extends it."""
    seen: set[str] = set()
    for item in items:
        if item.base is None or not known_world(item.base, worlds, report):
            continue
        if worlds[item.base.text].outside:
            report_outside(item.base.span, report)
        way = [item.name.text]
        while way[-1] in worlds and (base := worlds[way[-1]].base) is not None and base not in way:
            way.append(base)
        if way[-1] in worlds and worlds[way[-1]].base == item.name.text and item.name.text not in seen:
            seen.update(way)
            shown = " extends ".join(f"`{name}`" for name in [*way, item.name.text])
            report.error("AFS623", f"a world cannot extend itself: {shown}", item.base.span)
