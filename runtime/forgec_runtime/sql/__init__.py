"""Twins: Python functions that compute what DuckDB computes.

Generated tools use Python's own operators where no operand can be NULL, and these functions elsewhere. NULL is None;
each function says nothing more than the SQL operator it is named after. What has no exact twin is a query. Whether a
result can be None depends on the operands, which the caller knows: hence `Any`.
"""

from __future__ import annotations

from forgec_runtime.sql.columns import field, integer, one_of, required, short
from forgec_runtime.sql.logic import and_, between, coalesce, eq, ge, greatest, gt, in_, le, least, lt, ne, not_, or_
from forgec_runtime.sql.messages import formatted, text
from forgec_runtime.sql.numbers import add, bigint, decimal_, mul, neg, sub
from forgec_runtime.sql.rows import only, ordered
from forgec_runtime.sql.texts import length, lower, upper
from forgec_runtime.sql.times import add_days, date_, days_between, timestamp

__all__ = [
    "add",
    "add_days",
    "and_",
    "between",
    "bigint",
    "coalesce",
    "date_",
    "days_between",
    "decimal_",
    "eq",
    "field",
    "formatted",
    "ge",
    "greatest",
    "gt",
    "in_",
    "integer",
    "le",
    "least",
    "length",
    "lower",
    "lt",
    "mul",
    "ne",
    "neg",
    "not_",
    "one_of",
    "only",
    "or_",
    "ordered",
    "required",
    "short",
    "sub",
    "text",
    "timestamp",
    "upper",
]
