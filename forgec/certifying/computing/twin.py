"""Queries of the runtime as Python functions, which give what DuckDB would, or leave it to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot.errors import SqlglotError

from forgec.certifying.computing.expressions import Scope
from forgec.certifying.computing.kinds import ORDERED, PARTED, NoTwin, Unsure, checked, kind_of
from forgec.certifying.computing.seen import Seen
from forgec.certifying.computing.selects import Selects, in_order
from forgec.certifying.sql_text import tree_of
from forgec_runtime import Fault, Query
from forgec_runtime.answers import Rows, Twin
from forgec_runtime.base import Base
from forgec_runtime.limits import MAX_ANSWER
from forgec_runtime.query import Changes
from forgec_runtime.schema import Table


def twin_of(query: Query, tables: Mapping[str, Table[Any]]) -> Twin | None:
    """What answers a query in Python; None where DuckDB has to be asked."""
    try:
        return _twin(query, tables)
    except (NoTwin, SqlglotError):
        return None


def _twin(query: Query, tables: Mapping[str, Table[Any]]) -> Twin:
    checks = [checked(kind_of(sql)) if _is_plain(sql) else None for _, sql in query.values]
    values = {name: (place, kind_of(sql)) for place, (name, sql) in enumerate(query.values)}
    selects = Selects({name: tables[name] for name in query.tables})
    select = selects.select(tree_of(query.text), Scope(values))
    finish = [(name, checked(kind)) for name, kind in select.columns.items()]
    order = tree_of(f"select 1 from q order by {query.order}").args["order"].expressions if query.order else []
    for one in order:
        of = select.columns.get(one.this.name)
        if of is None or of.name not in ORDERED or one.args.get("nulls_first"):
            raise NoTwin("an order that only DuckDB knows")
    terms = [(_column(one.this.name), bool(one.args.get("desc"))) for one in order]
    columns = query.columns

    def answer(base: Base, given: Sequence[Any], seen: Mapping[str, Changes]) -> Rows | None:
        if not all(base.rows_of[name].whole for name in query.tables):
            return None
        try:
            held = tuple([one if check is None else check(one) for one, check in zip(given, checks, strict=True)])
            frame: list[Any] = [None] * selects.slots
            frame[0], frame[1] = held, Seen(base, seen)
            rows = [{name: of(row[name]) for name, of in finish} for row in select.rows(frame)]
        except (Unsure, Fault, ArithmeticError):
            return None
        if len(rows) > MAX_ANSWER:
            return None
        rows = in_order(rows, terms) if terms else rows
        return rows if len(columns) == len(finish) else [{name: row[name] for name in columns} for row in rows]

    return answer


def _is_plain(sql: str) -> bool:
    """Whether a value is no list, nor anything else with parts, which are looked at when they are needed."""
    return kind_of(sql).name not in PARTED


def _column(name: str) -> Any:
    return lambda row: row[name]
