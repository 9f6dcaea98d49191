"""Types of other databases to types of the language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from forgec.model.types import MAX_PRECISION
from forgec.sql.tree import DIALECT, Dialect, exp
from forgec_runtime.types import Boolean, Date, Decimal, Double, Enum, Integer, Text, Timestamp, Type

_INTEGERS = {
    "TINYINT", "UTINYINT", "SMALLINT", "USMALLINT", "MEDIUMINT", "UMEDIUMINT", "INT", "UINT", "BIGINT", "UBIGINT",
    "INT128", "UINT128", "INT256", "UINT256", "SMALLSERIAL", "SERIAL", "BIGSERIAL", "YEAR",
}  # fmt: skip
_TEXTS = {
    "CHAR", "NCHAR", "VARCHAR", "NVARCHAR", "BPCHAR", "NAME", "TEXT", "TINYTEXT", "MEDIUMTEXT", "LONGTEXT", "UUID",
}  # fmt: skip
_TIMES = {
    "TIMESTAMP", "TIMESTAMPNTZ", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "DATETIME", "DATETIME2", "DATETIME64",
    "SMALLDATETIME",
}  # fmt: skip
_ZONED = {"TIMESTAMPTZ", "TIMESTAMPLTZ"}
SERIALS = {"SMALLSERIAL", "SERIAL", "BIGSERIAL"}
"""Types whose values the database makes."""
DEFAULT_SCALE = 2
_AFFINITIES = (("INT", Integer()), ("CHAR", Text()), ("CLOB", Text()), ("TEXT", Text()), ("STRING", Text()))


@dataclass(frozen=True)
class Mapped:
    """A type, what is to be said about it, and whether the source has a type that the language lacks.

    `open_scale` when nothing says how many digits after the point there are.
    """

    type: Type
    note: str = ""
    lost: bool = False
    open_scale: bool = False


def map_type(data: exp.DataType | None, dialect: str, enums: Mapping[str, Enum]) -> Mapped:
    """The type for columns declared as `data`; `enums` are the named ones of the source, in lower case."""
    if data is None:
        return Mapped(Text(), "no type there")
    kind = data.this.name if isinstance(data.this, exp.DataType.Type) else str(data.this)
    named = written_type(data, dialect).rpartition(".")[2].strip('"`').lower()
    if kind == "USERDEFINED" and named in enums:
        return Mapped(enums[named])
    if kind == "ENUM":
        values = tuple(dict.fromkeys(value.name for value in data.expressions if isinstance(value, exp.Literal)))
        return Mapped(Enum("", values)) if values else _lost(data, dialect)
    if kind == "TINYINT" and dialect == "mysql" and _sizes(data) == [1]:
        return Mapped(Boolean(), "tinyint(1) there")
    if kind == "BIT" and _sizes(data) in ([], [1]):
        return Mapped(Boolean(), "a bit there")
    simple = _simple(kind)
    if simple is not None:
        return simple
    if kind in ("DECIMAL", "BIGDECIMAL", "MONEY", "SMALLMONEY", "DECIMAL32", "DECIMAL64", "DECIMAL128"):
        return _decimal(kind, _sizes(data), dialect)
    if kind == "USERDEFINED" and dialect == "sqlite":
        return next((Mapped(type_) for part, type_ in _AFFINITIES if part in named.upper()), _lost(data, dialect))
    return _lost(data, dialect)


def _simple(kind: str) -> Mapped | None:
    if kind in _INTEGERS:
        return Mapped(Integer())
    if kind in _TEXTS:
        return Mapped(Text(), "a UUID there" if kind == "UUID" else "")
    if kind in ("FLOAT", "DOUBLE"):
        return Mapped(Double())
    if kind == "BOOLEAN":
        return Mapped(Boolean())
    if kind in ("DATE", "DATE32"):
        return Mapped(Date())
    if kind in _TIMES:
        return Mapped(Timestamp())
    return Mapped(Timestamp(), "with a time zone there; in UTC here") if kind in _ZONED else None


def _decimal(kind: str, sizes: list[int], dialect: str) -> Mapped:
    if kind in ("MONEY", "SMALLMONEY"):
        return Mapped(Decimal(MAX_PRECISION, 2))
    if not sizes and dialect == "mysql":
        sizes = [10]
    if not sizes:
        return Mapped(Decimal(MAX_PRECISION, DEFAULT_SCALE), "no number of digits there", open_scale=True)
    precision, scale = sizes[0], sizes[1] if len(sizes) > 1 else 0
    if precision > MAX_PRECISION or scale > MAX_PRECISION:
        note = f"up to {precision} digits there, {MAX_PRECISION} here"
        return Mapped(Decimal(MAX_PRECISION, min(scale, MAX_PRECISION)), note)
    return Mapped(Decimal(precision, scale) if scale <= precision else Decimal(scale, scale))


def _lost(data: exp.DataType, dialect: str) -> Mapped:
    return Mapped(Text(), f"{written_type(data, dialect)} there, a type that drafts do not have", lost=True)


def _sizes(data: exp.DataType) -> list[int]:
    sizes = [part.this.name if isinstance(part, exp.DataTypeParam) else part.name for part in data.expressions]
    return [int(size) for size in sizes if size.isdigit()]


def written_type(data: exp.DataType, dialect: str) -> str:
    """A type as its database writes it."""
    return data.sql(dialect=dialect)


def parse_type(text: str, dialect: str | Dialect = DIALECT) -> exp.DataType | None:
    """The type that a database calls `text`; None when it is unheard of."""
    try:
        return exp.DataType.build(text, dialect=dialect, udt=True)
    except ValueError:
        return None
