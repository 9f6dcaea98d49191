"""Found tables fitted to the language: names, types, keys, references, defaults and checks."""

from __future__ import annotations

from forgec.diagnostics import Diagnostic, Label
from forgec.sql.tree import exp
from forgec.starting.drafted import Draft, DraftColumn, DraftInvariant, DraftTable
from forgec.starting.expressions import check_text, default_text, values_of
from forgec.starting.found import Found, FoundColumn, FoundReference, FoundTable
from forgec.starting.names import legal, type_name
from forgec.starting.types import DEFAULT_SCALE, Mapped, map_type, written_type
from forgec.starting.values import decimal_for, literal
from forgec_runtime.types import Decimal, Double, Enum, Integer, Text, Type


def make_draft(found: Found) -> Draft:
    """The draft of all found tables, without rows."""
    return _Drafter(found).draft()


class _Drafter:
    def __init__(self, found: Found) -> None:
        self.found = found
        self.made = Draft(notes=list(found.notes), warnings=list(found.warnings))
        self.names: list[str] = []
        for i, table in enumerate(found.tables, 1):
            self.names.append(legal(table.name, "table", self.names, i))
        self.enums: dict[str, Enum] = {}
        for name, values in found.enums.items():
            self.enums[name] = Enum(type_name(name, self._taken()), values)
        self.pairs: list[tuple[FoundTable, DraftTable]] = []

    def _taken(self) -> list[str]:
        """What no further enum may be called; also tables, as both become constants of the generated code."""
        named = [enum.name for enum in (*self.enums.values(), *self.made.enums)]
        return [*named, *(name.replace("_", "") for name in self.names)]

    def draft(self) -> Draft:
        for table, name in zip(self.found.tables, self.names, strict=True):
            self.pairs.append((table, self._table(table, name)))
        self.made.tables = [drafted for _, drafted in self.pairs]
        for table, drafted in self.pairs:
            for reference in table.references:
                self._reference(table, drafted, reference)
        _without_circles(self.made.tables)
        for table, drafted in self.pairs:
            self._finish(table, drafted)
        return self.made

    # -- one table ---------------------------------------------------------------------------------------------

    def _table(self, table: FoundTable, name: str) -> DraftTable:
        drafted = DraftTable(name, table.doc, [], list(table.notes))
        if name != table.name:
            drafted.notes.insert(0, f"called {_shown(table.name)} there")
        taken: list[str] = []
        for i, column in enumerate(table.columns, 1):
            taken.append(legal(column.name, "column", taken, i))
            drafted.columns.append(self._column(table, column, taken[-1], name))
        self._key(table, drafted)
        return drafted

    def _column(self, table: FoundTable, column: FoundColumn, name: str, table_name: str) -> DraftColumn:
        mapped = map_type(column.type, self.found.dialect, self.enums)
        place = table.columns.index(column)
        drafted = DraftColumn(name, mapped.type, place, column.nullable, doc=column.doc)
        if name != column.name:
            drafted.notes.append(f"called {_shown(column.name)} there")
        drafted.notes += [note for note in (mapped.note, *column.notes) if note]
        if mapped.lost:
            self._warn(table, column)
        values = [row[place] for row in table.rows]
        self._fit(drafted, mapped, [value for value in values if value is not None])
        self._enum(table, column, drafted, f"{table_name}_{name}")
        return drafted

    def _fit(self, drafted: DraftColumn, mapped: Mapped, values: list[str]) -> None:
        """Another type where the rows hold what the declared one does not."""
        if mapped.open_scale and values:
            drafted.type = decimal_for(values, DEFAULT_SCALE) or drafted.type
        unfit = next((value for value in values if literal(drafted.type, value) is None), None)
        if unfit is None:
            return
        declared = drafted.type
        wider: Type | None = decimal_for(values, 0) if isinstance(declared, Integer | Decimal) else None
        whole = all(value.strip("-+ ").isdigit() for value in values)
        if wider is None and isinstance(declared, Integer | Decimal) and not whole and _all_fit(Double(), values):
            wider = Double()
        drafted.type = wider or Text()
        drafted.notes.append(f"{str(declared) or 'an enum'} there, but there are values such as {_shown(unfit)}")

    def _enum(self, table: FoundTable, column: FoundColumn, drafted: DraftColumn, words: str) -> None:
        """Make an enum of the column's own values: its type's, or those of a check that lists them."""
        listed = drafted.type.values if isinstance(drafted.type, Enum) and not drafted.type.name else None
        if listed is None and isinstance(drafted.type, Text):
            for check in table.checks:
                found = values_of(check)
                if found is not None and found[0].lower() == column.name.lower():
                    listed = found[1]
        if isinstance(drafted.type, Enum) and drafted.type.name:
            self._declare(drafted.type)
        elif listed:
            held = {row[table.columns.index(column)] for row in table.rows} - {None}
            enum = Enum(
                type_name(words, self._taken()), tuple(dict.fromkeys([*listed, *sorted(str(value) for value in held)]))
            )
            self.made.enums.append(enum)
            drafted.type = enum

    def _declare(self, enum: Enum) -> None:
        if enum not in self.made.enums:
            self.made.enums.append(enum)

    def _key(self, table: FoundTable, drafted: DraftTable) -> None:
        names = {name.lower() for name in table.key}
        if not names:
            names = next(
                (
                    {name.lower() for name in unique}
                    for unique in table.unique
                    if all((column := table.column(name)) is not None and not column.nullable for name in unique)
                ),
                set(),
            )
            if names:
                drafted.notes.append("no primary key there; what is unique serves as the key")
        for column, made in zip(table.columns, drafted.columns, strict=True):
            if column.name.lower() not in names:
                continue
            made.key, made.optional = True, False
            if isinstance(made.type, Double):
                made.type = Text()
                made.notes.append("a double there, which no key can be")
        if not drafted.key:
            name = legal("row_number", "column", [column.name for column in drafted.columns], 0)
            note = "no key there: the rows are numbered"
            drafted.columns.insert(0, DraftColumn(name, Integer(), key=True, serial=True, notes=[note]))

    def _warn(self, table: FoundTable, column: FoundColumn) -> None:
        assert column.type is not None
        kind = written_type(column.type, self.found.dialect)
        message = f"{table.name}.{column.name} is text here: drafts have no type {kind}"
        label = None if column.span is None else Label(column.span, "becomes text")
        path = self.found.path or None
        self.made.warnings.append(Diagnostic("AFS809", message, label, severity="warning", path=path))

    # -- what needs all tables ---------------------------------------------------------------------------------

    def _reference(self, table: FoundTable, drafted: DraftTable, reference: FoundReference) -> None:
        target = next(
            ((t, d) for t, d in self.pairs if t.name.lower() == reference.table.lower()),
            None,
        )
        mine = [column for name in reference.columns if (column := _drafted(table, drafted, name)) is not None]
        if len(mine) != len(reference.columns) or not mine:
            return
        ends = reference.table + (f" ({', '.join(reference.targets)})" if reference.targets else "")
        if target is None:
            mine[0].notes.append(f"refers to {ends} there, which is not in the source")
            return
        key = target[1].key
        wanted = [_drafted(*target, name) for name in reference.targets] or list(key)
        if len(mine) > 1 or len(key) > 1:
            columns = ", ".join(column.name for column in mine)
            drafted.notes.append(f"{columns} refer to {ends} there; a reference is to a key of one column")
        elif wanted[0] is not key[0]:
            mine[0].notes.append(f"refers to {ends} there, which is not its key")
        elif mine[0] is not key[0] and mine[0].references is None:
            mine[0].references = target[1].name
            mine[0].notes += [reference.note] if reference.note else []

    def _finish(self, table: FoundTable, drafted: DraftTable) -> None:
        """Uniqueness, defaults and checks; the key first where the table refers to itself."""
        made = {column.place: column for column in drafted.columns}
        names = {column.name.lower(): made[i].name for i, column in enumerate(table.columns)}
        for unique in table.unique:
            self._unique(table, drafted, unique)
        for i, column in enumerate(table.columns):
            self._default(table, column, made[i])
        for check in table.checks:
            self._check(check, names, drafted)
        if any(column.references == drafted.name for column in drafted.columns):
            drafted.columns.sort(key=lambda column: not column.key)  # what a reference refers to stands before it

    def _default(self, table: FoundTable, column: FoundColumn, made: DraftColumn) -> None:
        if column.numbered and made.key and len(table.key) <= 1 and isinstance(made.type, Integer):
            made.serial = made.references is None
        elif column.numbered:
            made.notes.append("numbered by the database there")
        if made.serial or column.default is None:
            return
        made.default = default_text(column.default, made.type)
        if made.default is None and not isinstance(column.default, exp.Null) and not column.numbered:
            shown = " ".join(column.default.sql(dialect=self.found.dialect, comments=False).split())
            made.notes.append(f"default {shown} there")

    def _unique(self, table: FoundTable, drafted: DraftTable, names: list[str]) -> None:
        columns = [made for name in names if (made := _drafted(table, drafted, name)) is not None]
        if len(columns) != len(names) or all(any(column is part for column in columns) for part in drafted.key):
            return  # with the key in it, it is unique already
        if len(columns) == 1 and not isinstance(columns[0].type, Double):
            columns[0].unique = True
            return
        listed = ", ".join(column.name for column in columns)
        given = " and ".join(f"{column.name} is not null" for column in columns if column.optional)
        where = f" where {given}" if given else ""
        taken = [invariant.name for invariant in self.made.invariants]
        name = legal(f"{drafted.name}_{'_'.join(column.name for column in columns)}_unique", "invariant", taken, 1)
        sql = f"not exists (select 1 from {drafted.name}{where} group by {listed} having count(*) > 1)"
        if name not in taken:
            doc = f"No two rows of {drafted.name} have the same {listed}"
            self.made.invariants.append(DraftInvariant(name, doc, sql))

    def _check(self, check: exp.Expr, names: dict[str, str], drafted: DraftTable) -> None:
        listed = values_of(check)
        enum = next((c for c in drafted.columns if listed and c.name == names.get(listed[0].lower())), None)
        if enum is not None and isinstance(enum.type, Enum):
            return  # said by its type
        text, used = check_text(check, names, self.found.dialect)
        shown = " ".join(check.sql(dialect=self.found.dialect, comments=False).split())
        columns = [column for column in drafted.columns if column.name in used]
        if text is None or not columns:
            drafted.notes.append(f"check {shown} there")
        else:
            columns[-1].checks.append(text)


def _drafted(table: FoundTable, drafted: DraftTable, name: str) -> DraftColumn | None:
    place = table.position(name)
    return next((column for column in drafted.columns if column.place == place is not None), None)


def _all_fit(type_: Type, values: list[str]) -> bool:
    return all(literal(type_, value) is not None for value in values)


def _without_circles(tables: list[DraftTable]) -> None:
    """Drop references that lead back to their table by way of others; give the rest the types of the keys."""
    by_name = {table.name: table for table in tables}
    done: set[str] = set()
    open_: list[str] = []

    def visit(table: DraftTable) -> None:
        open_.append(table.name)
        for column in table.columns:
            target = column.references
            if target is None or target == table.name or target in done:
                continue
            if target in open_:
                column.references = None
                column.notes.append(f"refers to {target} there; here references may not run in a circle")
            else:
                visit(by_name[target])
        for column in table.columns:
            if column.references is not None:
                column.type = by_name[column.references].key[0].type
        open_.pop()
        done.add(table.name)

    for table in tables:
        if table.name not in done:
            visit(table)


def _shown(text: str) -> str:
    short = text if len(text) <= 40 else text[:37] + "..."
    return f'"{short}"'
