"""The SQL of a spec as text for DuckDB. Calls run the same few pieces over and over, so each is written once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from forgec.model.spec import Spec
from forgec.model.types import type_of
from forgec.sql.emit import Emitter
from forgec.sql.query import cell_of
from forgec.sql.scope import Rows
from forgec.sql.tree import Value, cast, exp
from forgec_runtime.types import List, Map, Record, Type

Values = Mapping[str, Any]
"""The values of a call by name: scalars, rows (dicts) and row sets (lists of dicts)."""


@dataclass(frozen=True)
class Statement:
    """A select: its text, the names of its columns, and the paths and types of the values it takes, as `$v0` and on."""

    text: str
    columns: tuple[str, ...]
    paths: tuple[tuple[str, Type], ...]

    def bound(self, values: Values) -> dict[str, Any]:
        return {f"v{i}": bound(type_, _at(path, values)) for i, (path, type_) in enumerate(self.paths)}


def bound(type_: Type, value: Any) -> Any:
    """A value as a parameter: a map by its keys and its values, and a record that looks like one as none."""
    if value is None:
        return None
    if isinstance(type_, Map):
        return {"key": list(value), "value": [bound(type_.of, part) for part in value.values()]}
    if isinstance(type_, List):
        return value if _is_plain(type_) else [bound(type_.of, part) for part in value]
    if not isinstance(type_, Record) or _is_plain(type_):
        return value
    fields = {field.name: bound(field.type, value[field.name]) for field in type_.fields}
    return {**fields, "-": None} if fields.keys() == {"key", "value"} else fields  # what no field is called is dropped


def _is_plain(type_: Type) -> bool:
    """Whether values of a type need no looking into."""
    return "MAP(" not in type_.sql and '"key"' not in type_.sql


def _at(path: str, values: Values) -> Any:
    head, *rest = path.split(".")
    found = values[head]
    for part in rest:
        found = None if found is None else found.get(part)
    return found


class Statements:
    """The statements of one spec, kept by the object that each was made of."""

    def __init__(self, spec: Spec) -> None:
        self.emitter = Emitter(spec.tables, spec.functions, spec.clock)
        self._made: dict[tuple[int, str], tuple[object, Statement]] = {}

    def of(self, owner: object, form: str, build: Callable[[], exp.Query]) -> Statement:
        """The statement that `build` gives, which depends on `owner` and `form` alone."""
        kept = self._made.get((id(owner), form))
        if kept is None:  # the owner is kept, too: no other object can come to its id
            kept = self._made[id(owner), form] = (owner, self._written(build()))
        return kept[1]

    def _written(self, query: exp.Query) -> Statement:
        paths: list[tuple[str, Type]] = []

        def parameter(path: str, type_: Type) -> exp.Expr:
            paths.append((path, type_))
            return cast(exp.Placeholder(this=f"v{len(paths) - 1}"), type_.sql)

        def value(node: Value) -> exp.Expr:
            return parameter(node.name, cell_of(node).type)

        def row_set(name: str, shape: Rows) -> exp.Expr:
            unnest = exp.alias_(exp.Unnest(expressions=[parameter(name, type_of(shape))]), "_row")
            inner = exp.Subquery(
                this=exp.Select(expressions=[unnest]), alias=exp.TableAlias(this=exp.to_identifier("_r"))
            )
            fields = [
                exp.alias_(exp.Dot(this=exp.column("_row"), expression=exp.to_identifier(n)), n) for n in shape.columns
            ]
            return exp.Select(expressions=fields, from_=exp.From(this=inner))

        text = self.emitter.text(query, value, rows=row_set)
        return Statement(text, tuple(query.named_selects), tuple(paths))


def in_order(query: exp.Query) -> exp.Query:
    """A query with ties in its order broken by its columns from left to right."""
    ordered = query.copy()
    order = ordered.args.get("order")
    terms = [term.copy() for term in order.expressions] if order is not None else []
    terms.extend(exp.Ordered(this=exp.column(name), nulls_first=False) for name in ordered.named_selects)
    ordered.set("order", exp.Order(expressions=terms))
    return ordered
