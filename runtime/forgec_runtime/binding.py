"""Values of calls as parameters of statements, a list of them for each parameter."""

from __future__ import annotations

from typing import Any

from .results import to_exact


def values_of(parameter: str, sql: str) -> str:
    """The SQL that gives the values of a parameter, one a row; `sql` is their type."""
    if not _is_ambiguous(sql):
        return f"unnest(${parameter}::{sql}[])"
    structure = sql.replace('"', '\\"')
    return f"unnest(from_json_strict(${parameter}, '[\"{structure}\"]'))"


def bound(sql: str, values: list[Any]) -> Any:
    """Values of a type as `values_of` wants them."""
    return to_exact(values) if _is_ambiguous(sql) else values


def _is_ambiguous(sql: str) -> bool:
    """Whether a dictionary in a value could be a record or a map: DuckDB would guess, so it is told in JSON."""
    return "MAP(" in sql or '"key"' in sql
