"""Tables as the runtime knows them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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


class Tie:
    """Columns that together hold a key of `table`, or a NULL."""

    def __init__(self, columns: tuple[str, ...], table: str) -> None:
        self.columns = columns
        self.table = table
        self.key_in: Callable[[Mapping[str, Any]], Key] = itemgetter(*columns)
        """The key that a row holds."""


@dataclass(frozen=True)
class Index:
    """What rows are searched by that is no column: an expression over a row, for DuckDB and in Python; or several."""

    sql: str | tuple[str, ...]
    type: Type | tuple[Type, ...] = field(compare=False)
    of: Callable[[Any], Any] = field(compare=False)


def _no_key(row: Mapping[str, Any]) -> Key:
    return ()


class Table(Generic[Row]):
    """One table. `serial` is the pattern of keys that the engine makes, or `keys` are those that it gives out.

    `check` refuses rows that must not be.

    A table without a key has always one row, whose key is the empty tuple.

    A table that is nested in another has a `path`, such as `orders.items`, and a `kind`; its key begins with that of
    its `parent`. A list or bag numbers the rows of one parent in its last key column. `parts` are, of a table that has
    others nested in it or is nested itself, its own columns and the nested tables, in the order of their documents.
    """

    def __init__(
        self,
        name: str,
        columns: tuple[Column, ...],
        key: tuple[str, ...],
        serial: str | None = None,
        keys: tuple[str, ...] = (),
        ties: tuple[Tie, ...] = (),
        check: Callable[[Call, Row], None] | None = None,
        path: str = "",
        parent: str | None = None,
        kind: Literal["list", "map", "bag"] | None = None,
        parts: tuple[str | Table[Any], ...] = (),
    ) -> None:
        self.name = name
        self.columns = columns
        self.key = key
        self.serial = serial
        self.keys = keys
        self.ties = ties
        self.check = check
        self.path = path
        self.parent = parent
        self.kind = kind
        self.parts = parts
        # what follows from these is asked for in every call
        self.title = path or name
        """What it is called where people read it."""
        self.last = self.title.rpartition(".")[2]
        """What it is called in the table that it is nested in."""
        self.names = tuple(column.name for column in columns)
        self.types: Mapping[str, Type] = {column.name: column.type for column in columns}
        self.key_of: Callable[[Mapping[str, Any]], Key] = itemgetter(*key) if key else _no_key
        """The key of a row."""
        self.makes_keys = serial is not None or bool(keys)
        self._serial_parts = re.split(r"[{}]", serial) if serial is not None else []
        """What stands before the number of such a key, as many zeros as it has digits at least, and what follows."""
        self._counted = bool(key) and isinstance(self.types[key[-1]], Integer)
        self.inherited = key[:-1] if parent is not None else ()
        """The columns that name the parent of a row."""
        self.numbered = key[-1] if kind in ("list", "bag") else None
        """The column that numbers the rows of one parent."""
        self.nested: tuple[Table[Any], ...] = tuple(part for part in parts if isinstance(part, Table))
        """The tables that are nested in this one."""
        self._nested_by_name = {table.last: table for table in self.nested}
        self.below: frozenset[str] = frozenset(name for table in self.nested for name in (table.name, *table.below))
        """The names of all tables that are nested in this one, and in these."""
        self.document = frozenset({*self.names, *(table.last for table in self.nested)})
        """What a row has with those nested in it."""
        self.alternatives = frozenset(column.name for column in columns if column.alternative)
        self.guarded = tuple(column for column in columns if column.unique or column.references)
        """The columns whose values other rows must agree to: unique ones and references."""
        self.bound = frozenset([*(one.name for one in self.guarded), *(name for tie in ties for name in tie.columns)])
        """Those, and what ties hold: a row of which only others change agrees as it did before."""

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

    @property
    def select_list(self) -> str:
        return ", ".join(f'"{name}"' for name in self.names)

    @property
    def key_list(self) -> str:
        return ", ".join(f'"{name}"' for name in self.key)

    @property
    def key_types(self) -> tuple[str, ...]:
        return tuple(self.types[name].sql for name in self.key)

    def serial_key(self, number: int) -> str | int:
        """The key that the engine makes for `number`."""
        if self._counted:
            return number
        prefix, zeros, suffix = self._serial_parts
        return prefix + str(number).zfill(len(zeros)) + suffix

    def serial_number(self, key: Key) -> int | None:
        """The number in a key that looks as if the engine had made it."""
        if self._counted:
            return int(key)
        prefix, zeros, suffix = self._serial_parts
        digits = key.removeprefix(prefix).removesuffix(suffix) if len(key) >= len(prefix) + len(suffix) else ""
        plain = digits.isascii() and digits.isdigit() and max(len(zeros), 1) <= len(digits) <= 18
        return int(digits) if plain and key == f"{prefix}{digits}{suffix}" else None
