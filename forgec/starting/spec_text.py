"""A draft as the text of a spec, in whatever layout: `forgec new` formats what it writes."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field

from forgec.starting.drafted import Draft, DraftColumn, DraftInvariant, DraftTable
from forgec.starting.probes import task, tests, tools
from forgec.starting.values import documentation, without_controls
from forgec_runtime.types import Enum

WIDTH = 110
_BARE = re.compile(r"[a-z][a-z0-9_]*")
_WORDS = {"case", "else", "end", "enforced", "audited", "insert", "update", "delete"}
CLOCK = "2025-01-01 09:00:00"


@dataclass
class SpecText:
    """The lines of a spec, and which of them say what: a column of a table, or an invariant."""

    lines: list[str] = field(default_factory=list)
    columns: dict[int, DraftColumn] = field(default_factory=dict)
    invariants: dict[int, DraftInvariant] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "\n".join(self.lines).rstrip() + "\n"

    def add(self, *lines: str) -> None:
        self.lines.extend(line.rstrip() for line in lines)

    def comment(self, text: str, indent: str = "") -> None:
        """A comment, over as many lines as it takes."""
        plain = " ".join(without_controls(text).split())
        self.add(*textwrap.wrap(plain, WIDTH, initial_indent=f"{indent}-- ", subsequent_indent=f"{indent}-- "))

    def heading(self, title: str) -> None:
        self.add(f"-- {title} ".ljust(WIDTH, "-"), "")


def write_spec(draft: Draft, name: str, sources: str) -> SpecText:
    """The whole spec; `sources` says what it was drafted from."""
    out = SpecText()
    out.comment(f"A draft: `forgec new` made it from {sources}. Its comments say what had to change on the way.")
    for note in draft.notes:
        out.comment(note)
    out.add("", f"environment {name} {documentation(f'Drafted from {sources}')} {{")
    out.add(f"  clock timestamp '{CLOCK}';    -- the only \"now\" there is: say which day your data are of", "}", "")
    out.comment("Say here whom the agent serves, what it may do and what it may not.")
    out.add('policy """', "  Answer questions about the data. Change nothing.", '  """', "")
    out.heading("What there is")
    for enum in draft.enums:
        add_enum(out, enum)
    for table in draft.tables:
        _table(out, table)
    for invariant in draft.invariants:
        _invariant(out, invariant)
    out.heading("What the agent can do")
    out.comment("These tools only look things up. A tool that writes says what must hold, and then what changes:")
    out.comment('tool rename(id -> t as r, name text) { require $name <> $r.name else "..."; update t set ...; }')
    out.add("", *(line for table in draft.tables for line in tools(table)))
    out.heading("Where it begins")
    _world(out, draft)
    out.heading("Does it work?")
    out.add(*(line for table in draft.tables for line in tests(table)))
    asked = task(draft)
    if asked:
        out.heading("What is asked for")
        out.add(*asked)
    return out


def add_enum(out: SpecText, enum: Enum) -> None:
    """The declaration of an enum; values that are plain words stand bare."""
    plain = all(_BARE.fullmatch(value) and value not in _WORDS for value in enum.values)
    values = [value if plain else "'" + without_controls(value).replace("'", "''") + "'" for value in enum.values]
    line = f"enum {enum.name} {{ {', '.join(values)} }}"
    if len(line) <= WIDTH:
        out.add(line, "")
    else:
        wrapped = textwrap.wrap(", ".join(values), WIDTH, initial_indent="  ", subsequent_indent="  ")
        out.add(f"enum {enum.name} {{", *wrapped, "}", "")


def _table(out: SpecText, table: DraftTable) -> None:
    for note in table.notes:
        out.comment(note)
    out.add(f"table {table.name}{' ' + documentation(table.doc) if table.doc.strip() else ''} {{")
    lines = _columns(table)
    margin = min(max(len(line) for line in lines), 60)
    for column, line in zip(table.columns, lines, strict=True):
        remark = "; ".join(" ".join(without_controls(note).split()) for note in column.notes)
        if remark and len(line.ljust(margin)) + len(remark) + 5 <= WIDTH:
            line, remark = f"{line.ljust(margin)}  -- {remark}", ""
        if remark:
            out.comment(remark, "  ")
        out.add(line)
        out.columns[len(out.lines)] = column
    out.add("}", "")


def _columns(table: DraftTable) -> list[str]:
    """The lines of the columns: names, types and the rest each below each other."""
    names = max(len(column.name) for column in table.columns)
    types = min(max(len(type_of(column)) for column in table.columns), 24)
    lines = []
    for column in table.columns:
        doc = documentation(column.doc) if column.doc.strip() else ""
        rest = "  ".join(part for part in (_modifiers(column), doc) if part)
        lines.append(f"  {column.name.ljust(names)}  {type_of(column).ljust(types)}  {rest}".rstrip() + ",")
    return lines


def type_of(column: DraftColumn) -> str:
    """The type of a column, or its reference, as the spec writes it."""
    written = f"-> {column.references}" if column.references else str(column.type)
    return written + ("?" if column.optional else "")


def _modifiers(column: DraftColumn) -> str:
    parts = ["key" if column.key else "", "serial" if column.serial else "", "unique" if column.unique else ""]
    if column.default is not None:
        parts.append(f"default {column.default}")
    if column.checks:
        parts.append(f"check ({' and '.join(_joined(check, column.checks) for check in column.checks)})")
    return " ".join(part for part in parts if part)


def _joined(check: str, checks: list[str]) -> str:
    return f"({check})" if len(checks) > 1 else check


def _invariant(out: SpecText, invariant: DraftInvariant) -> None:
    out.add(f"invariant {invariant.name} {documentation(invariant.doc)}:")
    out.invariants[len(out.lines)] = invariant
    out.add(f"  {invariant.sql};", "")
    out.invariants[len(out.lines) - 1] = invariant


def _world(out: SpecText, draft: Draft) -> None:
    out.add("world imported {")
    for table in draft.tables:
        for note in table.row_notes:
            out.comment(f"{table.name}: {note}", "  ")
        out.add(*_rows(table))
    out.add("}", "")


def _rows(table: DraftTable) -> Iterator[str]:
    head = f"{table.name} ({', '.join(column.name for column in table.columns)}) values"
    if not table.rows:
        yield f"  -- {head} (...), (...);"
        return
    yield f"  {head}"
    for number, row in enumerate(table.rows, 1):
        cells = ", ".join("null" if value is None else value for value in row)
        yield f"    ({cells}){';' if number == len(table.rows) else ','}"
