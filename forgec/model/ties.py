"""References of several columns at once, to tables whose key has several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from forgec.diagnostics import Report, did_you_mean
from forgec.model.spec import Column, Table, Tie
from forgec.syntax import nodes


def add_ties(item: nodes.Table | nodes.Nested, name: str, tables: dict[str, Table], report: Report) -> None:
    """Add the references of a table and of those that are nested in it; what is wrong with one is reported."""
    if name not in tables:
        return
    found = (_tie(node, tables[name], tables, report) for node in item.ties)
    tables[name] = replace(tables[name], ties=tuple(tie for tie in found if tie is not None))
    for nested in item.nested:
        add_ties(nested, f"{name}_{nested.name}", tables, report)


def _tie(node: nodes.Tie, table: Table, tables: Mapping[str, Table], report: Report) -> Tie | None:
    written = ".".join(part.text for part in node.path)
    by_title = {other.title: other for other in tables.values()}
    target = by_title.get(written)
    if target is None:
        hint = did_you_mean(written, by_title)
        report.error("AFS201", f"unknown table `{written}`", node.path[0].span, help=hint, about=node.path[0].text)
        return None
    columns: list[Column] = []
    for name in node.columns:
        column = table.column(name.text)
        if column is None:
            hint = did_you_mean(name.text, [column.name for column in table.columns])
            message = f"unknown column `{name}` of `{table.title}`"
            report.error("AFS202", message, name.span, help=hint, about=name.text)
            return None
        if column in columns:
            report.error("AFS208", f"column `{name}` stands twice", name.span)
            return None
        columns.append(column)
    if len(columns) == len(target.key) == 1:
        hint = f"write `{columns[0].name} -> {target.title}` in place of the type of the column"
        report.error("AFS316", f"the key of `{target.title}` has one column", node.span, help=hint)
        return None
    if [column.type for column in columns] != [column.type for column in target.key]:
        wanted = ", ".join(f"{column.name} {column.type}" for column in target.key)
        report.error("AFS316", f"the key of `{target.title}` is ({wanted})", node.span, "other columns than these")
        return None
    doc = node.doc.value if node.doc else ""
    return Tie(columns=tuple(column.name for column in columns), table=target.name, doc=doc, span=node.span)
