"""Parts of a model as data that says what they mean, and not how or where they are written."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
from collections.abc import Mapping, Set
from typing import Any

from forgec.model import spec as m
from forgec.source import Source, Span
from forgec.sql.query import Sql
from forgec.sql.scope import Cell
from forgec.sql.tree import exp

_MARKS = ("rows", "view", "cte")
"""What the meta data of a tree says that its text does not."""
_LEFT_OUT = {m.World: {"places"}, m.Constant: {"text"}, m.Check: {"text", "rest"}, m.Result: {"docs"}, Cell: {"seen"}}
"""Fields that only say how something is written, or what no agent reads."""


def canonical(value: Any) -> Any:
    """`value` as JSON can hold it. Fields that are as they are by default are left out."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, exp.Expr):
        return _tree(value)
    if isinstance(value, Sql):
        return _change(value) if value.tree is None else _tree(value.tree)
    if isinstance(value, m.Do):
        return ["Do", value.action.name, canonical(value.arguments)]
    if dataclasses.is_dataclass(value):
        left_out = _LEFT_OUT.get(type(value), set())
        fields = [field for field in dataclasses.fields(value) if field.name not in left_out]
        return _fields(type(value).__name__, {f.name: (getattr(value, f.name), _default(f)) for f in fields})
    if isinstance(value, Mapping):
        return ["map", *([canonical(key), canonical(part)] for key, part in value.items())]
    if isinstance(value, Set):
        return ["set", *sorted(canonical(part) for part in value)]
    if isinstance(value, tuple | list):
        return [canonical(part) for part in value]
    if isinstance(value, decimal.Decimal):
        return ["decimal", format(value, "f")]
    assert isinstance(value, datetime.date | datetime.datetime), type(value)
    return [type(value).__name__, value.isoformat()]


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


def _fields(kind: str, parts: Mapping[str, tuple[Any, Any]]) -> list[Any]:
    """A value with names: those parts of it that are not places, nor what they are where nobody says otherwise."""
    told = {
        name: canonical(part)
        for name, (part, default) in parts.items()
        if not isinstance(part, Span | Source) and not (type(part) is type(default) and part == default)
    }
    return [kind, told]


def _change(sql: Sql) -> Any:
    return canonical(sql.change)


def _tree(node: exp.Expr) -> Any:
    """A tree: the kind of each node, and its arguments."""
    told: list[Any] = [type(node).__name__]
    for name, part in node.args.items():
        if part is None or part is False or part == []:
            continue
        if isinstance(part, exp.Expr):
            told.append([name, _tree(part)])
        elif isinstance(part, list):
            told.append([name, *(_tree(one) if isinstance(one, exp.Expr) else str(one) for one in part)])
        else:
            told.append([name, str(part)])
    if node.meta and (marks := [[mark, str(node.meta[mark])] for mark in _MARKS if mark in node.meta]):
        told.append(marks)
    return told
