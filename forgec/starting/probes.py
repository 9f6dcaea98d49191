"""The tools, tests and task of a draft: enough to call it, to test it and to play it."""

from __future__ import annotations

from forgec.starting.drafted import Draft, DraftColumn, DraftTable
from forgec.starting.values import typed
from forgec_runtime.types import Double

LISTED = 100
"""Rows that a list tool gives at most."""
_FILTERS = 4


def tools(table: DraftTable) -> list[str]:
    """A tool that gets a row by its key, and one that lists rows by what they refer to."""
    return [*_get(table), "", *_list(table), ""]


def _get(table: DraftTable) -> list[str]:
    key = table.key
    found = _free("found", [column.name for column in key])
    signature = f'returns {table.name} "One row of {table.name}." {{'
    if len(key) == 1:
        return [
            f"tool get_{table.name}({key[0].name} -> {table.name} as {found}) {signature}",
            f"return ${found};",
            "}",
        ]
    parameters = ", ".join(f"{column.name} {_type(column)}" for column in key)
    where = " and ".join(f"{column.name} = ${column.name}" for column in key)
    return [
        f"tool get_{table.name}({parameters}) {signature}",
        f'  let {found} = select * from {table.name} where {where} else "There is no such row of {table.name}";',
        f"  return ${found};",
        "}",
    ]


def _list(table: DraftTable) -> list[str]:
    filters = [column for column in table.columns if column.references][:_FILTERS]
    parameters = ", ".join(f"{column.name} -> {column.references}?" for column in filters)
    tests = [f"(${column.name} is null or {column.name} = ${column.name})" for column in filters]
    doc = f"The first {LISTED} rows of {table.name}" + (", all or those that refer to something." if filters else ".")
    where = f" where {' and '.join(tests)}" if tests else ""
    order = ", ".join(column.name for column in table.key)
    return [
        f'tool list_{table.name}({parameters}) returns {table.name}[] "{doc}" {{',
        f"  return select * from {table.name}{where} order by {order} limit {LISTED};",
        "}",
    ]


def _type(column: DraftColumn) -> str:
    return f"-> {column.references}" if column.references else str(column.type)


def _free(name: str, taken: list[str]) -> str:
    while name in taken:
        name += "_row"
    return name


def tests(table: DraftTable) -> list[str]:
    """A test that looks up the first row of the world, and counts them all."""
    lines = [f'test "{table.name} can be looked up" on imported {{']
    if table.rows:
        values = {column.name: value for column, value in zip(table.columns, table.rows[0], strict=True)}
        keys = [(column, typed(column.type, str(values[column.name]))) for column in table.key]
        arguments = ", ".join(f"{column.name}: {value}" for column, value in keys)
        lines.append(f"  one = get_{table.name}({arguments});")
        lines.append(f"  expect {' and '.join(f'$one.{column.name} = {value}' for column, value in keys)};")
    lines.append(f"  some = list_{table.name}();")
    lines.append(f"  expect (select count(*) from $some) = {min(len(table.rows), LISTED)};")
    return [*lines, "}", ""]


def task(draft: Draft) -> list[str]:
    """A task about one column of one row; none where the world holds nothing to ask for."""
    for table in draft.tables:
        key = table.key
        for row in table.rows[:1] if len(key) == 1 else ():
            values = dict(zip((column.name for column in table.columns), row, strict=True))
            asked = next((column for column in table.columns if _is_askable(column, values[column.name])), None)
            if asked is not None:
                return _task(table, key[0], asked, str(values[key[0].name]))
    return []


def _is_askable(column: DraftColumn, value: str | None) -> bool:
    plain = value is not None and 2 < len(value.strip("' ")) + 2 <= 60 and "\n" not in value
    return plain and not column.key and column.references is None and not isinstance(column.type, Double)


def _task(table: DraftTable, key: DraftColumn, asked: DraftColumn, value: str) -> list[str]:
    node = _free("answer", [key.name])
    return [
        "-- A task to begin with: what a user wants, what the user knows, how it is done, and what must be said.",
        f"task look_up_{table.name} on imported {{",
        f'  intent "You want to know the {asked.name} of one of the {table.name}. You know its {key.name}.";',
        f'  fact {key.name} "which one it is" = {typed(key.type, value)};',
        "  plan {",
        f"    {node} = get_{table.name}({key.name}: ${key.name});",
        "  }",
        f'  says "its {asked.name}": ${node}.{asked.name};',
        "}",
    ]
