"""What files without a schema suggest: which column is the key, and which ones hold the keys of another file."""

from __future__ import annotations

from itertools import combinations

from forgec.starting.found import FoundColumn, FoundReference, FoundTable
from forgec.starting.names import legal, singulars
from forgec.starting.types import map_type
from forgec_runtime.engine import Connection, fetch

_NO_KEYS = {"DOUBLE", "FLOAT", "BOOLEAN", "STRUCT", "LIST", "ARRAY", "MAP", "VARBINARY", "JSON"}
_GENERIC = {"id", "key", "code", "no", "nr", "number", "name", "uuid"}
"""Names of keys that say nothing about the table."""
_ENDINGS = ("id", "uuid", "key", "code", "number", "no", "nr", "sku", "isbn", "email")
_MAX_PAIRED = 10


class Guesser:
    """Looks at whole files: the i-th table is held by `connection` as `t<i>`."""

    def __init__(self, connection: Connection, tables: list[FoundTable]) -> None:
        self.connection = connection
        self.tables = tables
        taken: list[str] = []
        for i, table in enumerate(tables, 1):
            taken.append(legal(table.name, "table", taken, i))
        self.names = taken

    # -- keys --------------------------------------------------------------------------------------------------

    def keys(self) -> None:
        """Give each table a key, if one column or two tell its rows apart."""
        for i, table in enumerate(self.tables):
            able = [c for c in table.columns if not c.nullable and c.type is not None and _kind(c) not in _NO_KEYS]
            unique = self._unique(i, table, able)
            if unique:
                best = min(unique, key=lambda column: self._rank(column, self.names[i]))
                table.key = [best.name]
                why = "no two rows have the same" if table.count else "there are no rows to tell by"
                best.notes.append(f"guessed to be the key: {why}")
                continue
            for pair in combinations(able[:_MAX_PAIRED], 2):
                if table.count and self._distinct(i, list(pair)) == table.count:
                    table.key = [column.name for column in pair]
                    names = " and ".join(table.key)
                    table.notes.append(f"{names} were guessed to be the key: no two rows have the same pair")
                    break

    def _unique(self, i: int, table: FoundTable, able: list[FoundColumn]) -> list[FoundColumn]:
        return [column for column in able if self._distinct(i, [column]) == table.count]

    def _distinct(self, i: int, columns: list[FoundColumn]) -> int:
        names = ", ".join(quoted_name(column.name) for column in columns)
        (count,) = fetch(self.connection, f"select count(*) from (select distinct {names} from t{i})")[0]
        return int(count)

    def _rank(self, column: FoundColumn, table: str) -> int:
        """Smaller is likelier; where two are alike the one further left is."""
        name = legal(column.name, "column", (), 1)
        if name in ("id", *(f"{one}_id" for one in singulars(table))):
            return 0
        if name.startswith(tuple(singulars(table))) and name.endswith(_ENDINGS):
            return 1
        return 2 if name.split("_")[-1] in _ENDINGS else 3

    # -- references --------------------------------------------------------------------------------------------

    def references(self) -> None:
        """Add the references that names suggest and all rows bear out."""
        for i, table in enumerate(self.tables):
            for column in table.columns:
                for j, target in enumerate(self.tables):
                    if self._refers(i, column, j):
                        guess = f"guessed: its name, and every value is the {target.key[0]} of a row of {target.name}"
                        table.references.append(FoundReference([column.name], target.name, list(target.key), guess))
                        break

    def _refers(self, i: int, column: FoundColumn, j: int) -> bool:
        table, target = self.tables[i], self.tables[j]
        if len(target.key) != 1 or (i == j and column.name == target.key[0]):
            return False
        key = target.column(target.key[0])
        assert key is not None
        if not self._alike(i, column, j) or _type(column) != _type(key):
            return False
        inner = f"select {quoted_name(key.name)} from t{j}"
        name = quoted_name(column.name)
        held, loose = fetch(
            self.connection, f"select count({name}), count({name}) filter ({name} not in ({inner})) from t{i}"
        )[0]
        return bool(table.count) and held > 0 and loose == 0

    def _alike(self, i: int, column: FoundColumn, j: int) -> bool:
        """Whether a column is called after the key of another table."""
        name = legal(column.name, "column", (), 1)
        key = legal(self.tables[j].key[0], "column", (), 1)
        ones = singulars(self.names[j])
        if name in {f"{one}_{ending}" for one in ones for ending in ("id", "key", "code", key)}:
            return i != j
        if key in _GENERIC:
            return name in ones and i != j
        owns = key.startswith(tuple(ones))
        if name == key:
            own_key = self.tables[i].key == [column.name]
            return i != j and (owns or not own_key) and (owns or self._owner(key) is None)
        return name.endswith(f"_{key}")

    def _owner(self, key: str) -> str | None:
        """The table that a key is called after."""
        return next((name for name in self.names if key.startswith(tuple(singulars(name)))), None)


def _kind(column: FoundColumn) -> str:
    return "" if column.type is None else str(column.type.this.name)


def _type(column: FoundColumn) -> str:
    return map_type(column.type, "duckdb", {}).type.sql


def quoted_name(name: str) -> str:
    """A name for DuckDB, whatever it holds."""
    return '"' + name.replace('"', '""') + '"'
