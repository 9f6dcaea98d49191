"""Queries over the state that calls see, executed once for all calls that wait for them.

The text of a query has a slot for each table, `{loans}`, filled with the rows that each call sees: the table itself
while no waiting call has changed it, else its rows without the changed ones, and the changed ones of that very call.
The values of the calls are the columns of a relation `call`, and the query runs beside each of its rows (`lateral`),
which DuckDB turns into joins: ten microseconds a call at a thousand calls. Names of a spec hold no two underscores
in a row, so those added here hide none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .binding import bound, values_of
from .engine import EngineError, fetch
from .limits import MAX_ANSWER, MAX_ANSWERS
from .schema import Key, Table

if TYPE_CHECKING:
    from .engine import Connection

Changes = Mapping[Key, Mapping[str, Any] | None]
"""Changed rows of one table as one call sees them; None for a deleted one."""


@dataclass(frozen=True, eq=False)
class Query:
    """A select. `values` are the names and DuckDB types of what the call gives, `columns` the answer's columns.

    The select may give further columns after those, by which `order` (terms over `q`) sorts the answer.
    """

    text: str
    tables: tuple[str, ...]
    values: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]
    order: str

    @cached_property
    def _texts(self) -> dict[tuple[str, ...], str]:
        return {}

    def statement(self, changed: Mapping[str, Table[Any]]) -> str:
        """The SQL for a batch in which some call has `changed` rows in these tables."""
        names = tuple(sorted(changed))
        text = self._texts.get(names)
        if text is None:
            text = self._texts[names] = self._build(changed)
        return text

    def _build(self, changed: Mapping[str, Table[Any]]) -> str:
        values = "".join(f', {values_of(f"v{i}", sql)} as "{name}"' for i, (name, sql) in enumerate(self.values))
        relations = [f"call as materialized (select unnest($cid::integer[]) as __cid{values})"]
        slots = {name: f'"{name}"' for name in self.tables}
        for name, table in sorted(changed.items()):
            columns = "".join(
                f', {values_of(f"{name}__{i}", column.type.sql)} as "{column.name}"'
                for i, column in enumerate(table.columns)
            )
            relations.append(
                f'"{name}__changed" as materialized (select unnest(${name}__cid::integer[]) as __cid, '
                f"unnest(${name}__gone::boolean[]) as __gone{columns})"
            )
            slots[name] = _visible(table)
        order = f", {self.order}" if self.order else ""
        body = self.text.format(**slots)
        select = f"select call.__cid, q.* from call, lateral ({body}) as q order by call.__cid{order}"
        return f"with {', '.join(relations)} {select}"


def _visible(table: Table[Any]) -> str:
    """The rows of a table that one call sees."""
    changed, columns = f'"{table.name}__changed"', table.select_list
    same = " and ".join(f'o."{name}" = b."{name}"' for name in table.key) or "true"
    return (
        f'(select {columns} from "{table.name}" as b'
        f" where not exists (select 1 from {changed} as o where o.__cid = call.__cid and {same})"
        f" union all select {columns} from {changed} as o where o.__cid = call.__cid and not o.__gone)"
    )


def execute(
    connection: Connection,
    query: Query,
    tables: Mapping[str, Table[Any]],
    asks: Sequence[tuple[Sequence[Any], Mapping[str, Changes]]],
) -> list[list[dict[str, Any]]]:
    """The answer to each ask, in one execution. An ask is the values of a call and the changed rows that it sees.

    Raises `EngineError`.
    """
    parameters: dict[str, Any] = {"cid": list(range(len(asks)))}
    for i in range(len(query.values)):
        parameters[f"v{i}"] = bound(query.values[i][1], [values[i] for values, _ in asks])
    changed = {name: tables[name] for name in query.tables if any(seen.get(name) for _, seen in asks)}
    for name, table in changed.items():
        _bind_changes(parameters, table, [seen.get(name, {}) for _, seen in asks])
    columns = query.columns
    width = len(columns) + 1
    answers: list[list[dict[str, Any]]] = [[] for _ in asks]
    for row in fetch(connection, query.statement(changed), parameters, MAX_ANSWER if len(asks) == 1 else MAX_ANSWERS):
        answers[row[0]].append(dict(zip(columns, row[1:width], strict=True)))
    if len(asks) > 1 and max(map(len, answers)) > MAX_ANSWER:
        raise EngineError("too many rows")
    return answers


def _bind_changes(parameters: dict[str, Any], table: Table[Any], seen: Iterable[Changes]) -> None:
    calls: list[int] = []
    gone: list[bool] = []
    rows: list[Mapping[str, Any]] = []
    for cid, changes in enumerate(seen):
        for key, row in changes.items():
            calls.append(cid)
            gone.append(row is None)
            rows.append(row if row is not None else _tombstone(table, key))
    parameters[f"{table.name}__cid"] = calls
    parameters[f"{table.name}__gone"] = gone
    for i, column in enumerate(table.columns):
        parameters[f"{table.name}__{i}"] = bound(column.type.sql, [row.get(column.name) for row in rows])


def _tombstone(table: Table[Any], key: Key) -> Mapping[str, Any]:
    return dict(zip(table.key, key if len(table.key) != 1 else (key,), strict=True))
