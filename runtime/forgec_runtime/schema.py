"""Tables as the runtime knows them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from .types import Integer, Type

if TYPE_CHECKING:
    from .call import Call

Row = TypeVar("Row", bound=Mapping[str, Any])
Key = Any
"""The key of a row: its value, or a tuple of values where the key has several columns."""


@dataclass(frozen=True)
class Column:
    """One column. `references` names the table whose key it holds.

    An unscored one is left out of comparisons; of a list that is not ordered they see what it holds and how often.
    That of an `alternative` holds NULL where another alternative applies; rows are told without it then.
    """

    name: str
    type: Type
    optional: bool = False
    unique: bool = False
    scored: bool = True
    ordered: bool = True
    references: str | None = None
    alternative: bool = False


@dataclass(frozen=True)
class Tie:
    """Columns that together hold a key of `table`, or a NULL."""

    columns: tuple[str, ...]
    table: str

    @cached_property
    def key_in(self) -> Callable[[Mapping[str, Any]], Key]:
        """The key that a row holds."""
        return itemgetter(*self.columns)


@dataclass(frozen=True)
class Index:
    """What rows are searched by that is no column: an expression over a row, for DuckDB and in Python; or several."""

    sql: str | tuple[str, ...]
    type: Type | tuple[Type, ...] = field(compare=False)
    of: Callable[[Any], Any] = field(compare=False)


def _no_key(row: Mapping[str, Any]) -> Key:
    return ()


@dataclass(frozen=True, eq=False)
class Table(Generic[Row]):
    """One table. `serial` is the pattern of keys that the engine makes, or `keys` are those that it gives out.

    `check` refuses rows that must not be.

    A table without a key has always one row, whose key is the empty tuple.

    A table that is nested in another has a `path`, such as `orders.items`, and a `kind`; its key begins with that of
    its `parent`. A list or bag numbers the rows of one parent in its last key column. `parts` are, of a table that has
    others nested in it or is nested itself, its own columns and the nested tables, in the order of their documents.
    """

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    serial: str | None = None
    keys: tuple[str, ...] = ()
    ties: tuple[Tie, ...] = ()
    check: Callable[[Call, Row], None] | None = None
    path: str = ""
    parent: str | None = None
    kind: Literal["list", "map", "bag"] | None = None
    parts: tuple[str | Table[Any], ...] = ()

    @cached_property
    def title(self) -> str:
        """What it is called where people read it."""
        return self.path or self.name

    @cached_property
    def last(self) -> str:
        """What it is called in the table that it is nested in."""
        return self.title.rpartition(".")[2]

    @cached_property
    def nested(self) -> tuple[Table[Any], ...]:
        """The tables that are nested in this one."""
        return tuple(part for part in self.parts if isinstance(part, Table))

    @cached_property
    def below(self) -> frozenset[str]:
        """The names of all tables that are nested in this one, and in these."""
        return frozenset(name for table in self.nested for name in (table.name, *table.below))

    @cached_property
    def document(self) -> frozenset[str]:
        """What a row has with those nested in it."""
        return frozenset({*self.names, *(table.last for table in self.nested)})

    @cached_property
    def inherited(self) -> tuple[str, ...]:
        """The columns that name the parent of a row."""
        return self.key[:-1] if self.parent is not None else ()

    @cached_property
    def numbered(self) -> str | None:
        """The column that numbers the rows of one parent."""
        return self.key[-1] if self.kind in ("list", "bag") else None

    @cached_property
    def alternatives(self) -> frozenset[str]:
        return frozenset(column.name for column in self.columns if column.alternative)

    def told(self, value: Any) -> Any:
        """A row, or several, with those nested in them as an agent reads them: no NULL where no alternative applies."""
        if value is None:
            return None
        if not isinstance(value, Mapping):
            return [self.told(row) for row in value]
        return {
            name: self._told_part(name, part)
            for name, part in value.items()
            if part is not None or name not in self.alternatives
        }

    def _told_part(self, name: str, value: Any) -> Any:
        nested = self._nested_by_name.get(name)
        if nested is None:
            return value
        if nested.kind == "map":
            return {key: nested.told(row) for key, row in value.items()}
        return nested.told(value)

    @cached_property
    def _nested_by_name(self) -> Mapping[str, Table[Any]]:
        return {table.last: table for table in self.nested}

    @cached_property
    def makes_keys(self) -> bool:
        return self.serial is not None or bool(self.keys)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @cached_property
    def select_list(self) -> str:
        return ", ".join(f'"{name}"' for name in self.names)

    @cached_property
    def key_list(self) -> str:
        return ", ".join(f'"{name}"' for name in self.key)

    @cached_property
    def types(self) -> Mapping[str, Type]:
        return {column.name: column.type for column in self.columns}

    @cached_property
    def key_types(self) -> tuple[str, ...]:
        return tuple(self.types[name].sql for name in self.key)

    @cached_property
    def guarded(self) -> tuple[Column, ...]:
        """The columns whose values other rows must agree to: unique ones and references."""
        return tuple(column for column in self.columns if column.unique or column.references)

    @cached_property
    def key_of(self) -> Callable[[Mapping[str, Any]], Key]:
        """The key of a row."""
        return itemgetter(*self.key) if self.key else _no_key

    @cached_property
    def _serial_parts(self) -> tuple[str, int, str]:
        assert self.serial is not None
        prefix, zeros, suffix = re.split(r"[{}]", self.serial)
        return prefix, len(zeros), suffix

    @cached_property
    def _counted(self) -> bool:
        return any(column.name == self.key[-1] and isinstance(column.type, Integer) for column in self.columns)

    def serial_key(self, number: int) -> str | int:
        """The key that the engine makes for `number`."""
        if self._counted:
            return number
        prefix, width, suffix = self._serial_parts
        return prefix + str(number).zfill(width) + suffix

    def serial_number(self, key: Key) -> int | None:
        """The number in a key that looks as if the engine had made it."""
        if self._counted:
            return int(key)
        prefix, width, suffix = self._serial_parts
        digits = key.removeprefix(prefix).removesuffix(suffix) if len(key) >= len(prefix) + len(suffix) else ""
        plain = digits.isascii() and digits.isdigit() and max(width, 1) <= len(digits) <= 18
        return int(digits) if plain and key == f"{prefix}{digits}{suffix}" else None
