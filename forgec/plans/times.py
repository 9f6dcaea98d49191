"""Twins of functions of dates and times."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forgec.plans import python as py
from forgec.plans.conversions import converted
from forgec.plans.lowered import Handler, Lowered, NoTwin, strict
from forgec.sql.tree import exp
from forgec_runtime.types import Date, Integer, Text, Timestamp, Type

if TYPE_CHECKING:
    from forgec.plans.expression import Lowering

_BETWEEN: dict[str, tuple[str, Type]] = {
    "YEAR": ("sql.years_between", Date()),
    "MONTH": ("sql.months_between", Date()),
    "WEEK": ("sql.weeks_between", Date()),
    "DAY": ("sql.days_between", Date()),
    "HOUR": ("sql.hours_between", Timestamp()),
    "MINUTE": ("sql.minutes_between", Timestamp()),
    "SECOND": ("sql.seconds_between", Timestamp()),
}
"""What counts a unit between two times, and the type it counts them of."""


def _time(low: Lowering, tree: exp.Expr) -> Lowered:
    """A date or a time. Raises `NoTwin`."""
    part = low.value(tree)
    if not isinstance(part.type, Date | Timestamp):
        raise NoTwin("what is no date is read by DuckDB")
    return part


def _date_part(name: str) -> Handler:
    def lower(low: Lowering, node: exp.Expr) -> Lowered:
        part = _time(low, node.this)
        if part.optional:
            return strict(f"sql.{name}", Integer(), part)
        return Lowered(ast.Attribute(part.node, name, ast.Load()), Integer(), False)

    return lower


def _date_diff(low: Lowering, node: exp.Expr) -> Lowered:
    end, start = _time(low, node.this), _time(low, node.expression)
    twin, type_ = _BETWEEN.get(node.args["unit"].name.upper(), ("", Date()))
    if not twin:
        raise NoTwin(f"`date_diff` in {node.args['unit'].name.lower()}s is computed by DuckDB")
    return strict(twin, Integer(), converted(end, type_), converted(start, type_))


def _last_day(low: Lowering, node: exp.Expr) -> Lowered:
    return strict("sql.last_day", Date(), _time(low, node.this))


def _date_trunc(low: Lowering, node: exp.Expr) -> Lowered:
    unit = Lowered(ast.Constant(node.args["unit"].name.lower()), Text(), False)
    return strict("sql.date_trunc", Timestamp(), unit, converted(_time(low, node.this), Timestamp()))


def shifted(low: Lowering, node: exp.Expr) -> Lowered:
    """A time and an interval, before or after it. Raises `NoTwin`."""
    time = converted(_time(low, node.this), Timestamp())
    interval = node.expression
    unit = interval.args["unit"].name.lower()
    count = _count(low, interval.this)
    if unit == "year":
        unit, count = "month", Lowered(_twelve_times(count), Integer(), count.optional)
    twin = "sql.minus" if isinstance(node, exp.Sub) else "sql.plus"
    called = py.call(twin, time.node, **{f"{unit}s": count.node})
    return Lowered(called, Timestamp(), time.optional or count.optional)


def _count(low: Lowering, tree: exp.Expr) -> Lowered:
    """How many units an interval has. Raises `NoTwin`."""
    if isinstance(tree, exp.Literal) and tree.name.lstrip("-").isdecimal():
        return Lowered(ast.Constant(int(tree.name)), Integer(), False)
    count = low.value(tree)
    if not isinstance(count.type, Integer):
        raise NoTwin("a part of a unit is added by DuckDB")
    return count


def _twelve_times(count: Lowered) -> ast.expr:
    if isinstance(count.node, ast.Constant) and isinstance(count.node.value, int):
        return ast.Constant(12 * count.node.value)
    if count.optional:
        return py.call("sql.mul", ast.Constant(12), count.node)
    return ast.BinOp(ast.Constant(12), ast.Mult(), count.node)


TWINS: dict[type[exp.Expr], Handler] = {
    exp.Year: _date_part("year"),
    exp.Month: _date_part("month"),
    exp.Day: _date_part("day"),
    exp.DateDiff: _date_diff,
    exp.LastDay: _last_day,
    exp.TimestampTrunc: _date_trunc,
    exp.DateTrunc: _date_trunc,
}
