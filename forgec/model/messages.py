"""Texts with holes: each holds one value, in a format that its type has."""

from __future__ import annotations

import decimal

from forgec.diagnostics import Report
from forgec.model import spec as m
from forgec.sql.check import SqlChecker
from forgec.sql.scope import Cell, Scope
from forgec.syntax import nodes
from forgec_runtime.sql import formatted
from forgec_runtime.types import Decimal, Double, Enum, Integer, List, Map, Record, Text, Type

MAX_HOLES = 200
"""Of one text."""


def build_message(node: nodes.Message, checker: SqlChecker, scope: Scope) -> m.Message | None:
    """The text with its holes checked; None when something was reported."""
    if sum(isinstance(part, nodes.Hole) for part in node.parts) > MAX_HOLES:
        checker.report.error("AFS005", f"a text has at most {MAX_HOLES} holes", node.span)
        return None
    parts: list[str | m.Hole] = []
    for part in node.parts:
        if isinstance(part, str):
            parts.append(part)
            continue
        sql = checker.expression(part.sql, scope)
        if sql is None:
            return None
        assert isinstance(sql.shape, Cell)
        if not _check_hole(part, sql.shape.type, checker.report):
            return None
        parts.append(m.Hole(sql=sql, format=part.format))
    return m.Message(parts=tuple(parts))


def _check_hole(node: nodes.Hole, type_: Type, report: Report) -> bool:
    if isinstance(type_, Record | List | Map):
        what, hint = _UNSHOWN[type(type_)]
        report.error("AFS506", f"a {what} cannot stand in a text", node.span, help=hint)
        return False
    if node.format is not None and not _formats(type_, node.format):
        hint = "`d` is for integers, `f` for numbers, `s` for texts, and nothing for dates and truth values"
        report.error("AFS506", f"`:{node.format}` is no format of {type_}", node.span, help=hint)
        return False
    return True


def _formats(type_: Type, form: str) -> bool:
    """Whether values of a type can be shown in this format, as one of them can."""
    one = _ONE.get(type(type_))
    try:
        return one is not None and bool(formatted(one, form))
    except ValueError:
        return False


_ONE: dict[type[Type], object] = {Text: "1", Enum: "1", Integer: 1, Decimal: decimal.Decimal(1), Double: 1.0}
"""One value of each type that takes formats."""
_UNSHOWN: dict[type[Type], tuple[str, str]] = {
    Record: ("record", "take one of its fields"),
    List: ("list", "take one of its elements"),
    Map: ("map", "take what it has at a key"),
}
"""Types whose values are no texts, and what to write in place of one."""
