"""From sources to a spec that checks: read, draft, write, and take out what the compiler refuses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from forgec.diagnostics import Diagnostic, Report
from forgec.files.reading import read
from forgec.pipeline import check_source
from forgec.source import Source
from forgec.starting.data_files import READERS, read_files
from forgec.starting.draft import make_draft
from forgec.starting.drafted import Draft, DraftColumn
from forgec.starting.found import Found, SourceError
from forgec.starting.rows import MAX_ROWS, choose_rows
from forgec.starting.schema_sql import read_schema
from forgec.starting.spec_text import SpecText, write_spec
from forgec.starting.sqlite_file import MAGIC, read_sqlite

MAX_SCHEMA = 64_000_000
"""Bytes of a schema."""
MAX_TEXT = 400_000
"""Characters of a draft; beyond it the world gets fewer rows."""
_ROUNDS = 20


@dataclass(frozen=True)
class Drafted:
    """A spec as text; `findings` are what the compiler has to say about it, none unless forgec is at fault.

    `warnings` tell what could not be taken over from the sources.
    """

    text: str
    tables: int
    rows: int
    warnings: tuple[Diagnostic, ...]
    findings: tuple[Diagnostic, ...]


def draft_spec(name: str, sources: Sequence[Path], out: Path) -> Drafted:
    """The draft of a spec called `name`, to be written to `out`, from what `sources` hold. Raises `SourceError`."""
    found = _read_all(sources)
    if not found.tables:
        where = ", ".join(path.as_posix() for path in sources)
        hint = "a script needs `create table`, a SQLite file a table of its own"
        raise SourceError(Diagnostic("AFS808", "there is no table to draft from", path=where, help=hint))
    draft = make_draft(found)
    described = ", ".join(path.name for path in sources)
    for most in (MAX_ROWS, 10, 3, 0):
        choose_rows(draft, found, most)
        written = write_spec(draft, name, described)
        if len(written.text) <= MAX_TEXT:
            break
    findings: list[Diagnostic] = []
    for _ in range(_ROUNDS):
        report = Report()
        check_source(out, Source(out.as_posix(), written.text), report)
        findings = [found for found in report if found.severity == "error"]
        if not findings or not _withdraw(draft, written, findings):
            break
        written = write_spec(draft, name, described)
    rows = sum(len(table.rows) for table in draft.tables)
    return Drafted(written.text, len(draft.tables), rows, tuple(Report(list(draft.warnings))), tuple(findings))


def _read_all(sources: Sequence[Path]) -> Found:
    """What all sources hold together; data files are read together, as they refer to each other."""
    data: list[Path] = []
    found: list[Found] = []
    for path in sources:
        kind = _kind(path)
        if kind == "data":
            data.append(path)
        elif kind == "sqlite":
            found.append(read_sqlite(path))
        else:
            report = Report()
            source = read(path, report, MAX_SCHEMA)
            if source is None:
                raise SourceError(next(iter(report)))
            found.append(read_schema(source))
    if data:
        found.append(read_files(data))
    if len({one.dialect for one in found}) > 1:
        hint = "draft from one of them, then copy what you need from the other draft"
        message = "these sources are of different kinds"
        raise SourceError(Diagnostic("AFS806", message, path=sources[0].as_posix(), help=hint))
    whole = found[0]
    for other in found[1:]:
        whole.tables += other.tables
        whole.enums.update(other.enums)
        whole.notes += other.notes
        whole.warnings += other.warnings
    return whole


def _kind(path: Path) -> str:
    """`sql`, `sqlite` or `data`. Raises `SourceError` for a file that is none of them, or not there."""
    if path.is_dir():
        hint = f"name its files: {path.as_posix().rstrip('/')}/*.csv"
        raise SourceError(Diagnostic("AFS002", "this is a directory", path=path.as_posix(), help=hint))
    try:
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
    except FileNotFoundError:
        raise SourceError(Diagnostic("AFS001", "there is no such file", path=path.as_posix())) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        message = f"this file cannot be read: {reason}"
        raise SourceError(Diagnostic("AFS001", message, path=path.as_posix())) from None
    suffix = path.suffix.lower()
    if start == MAGIC:
        return "sqlite"
    if suffix in READERS:
        return "data"
    if suffix == ".sql":
        return "sql"
    if suffix in (".sqlite", ".sqlite3", ".db"):
        raise SourceError(Diagnostic("AFS807", "this is no SQLite file", path=path.as_posix()))
    hint = "known are scripts (.sql), SQLite files (.sqlite, .db), .csv, .tsv and .parquet"
    raise SourceError(Diagnostic("AFS806", "no draft can be made from such a file", path=path.as_posix(), help=hint))


def _withdraw(draft: Draft, written: SpecText, findings: Iterable[Diagnostic]) -> bool:
    """Turn the defaults, checks and invariants that were refused into comments; False when there are none."""
    changed = False
    for finding in findings:
        why = "there are rows that break it" if finding.code == "AFS606" else finding.message
        for label in (finding.primary, *finding.related):
            if label is None:
                continue
            line, place = label.span.source.position(label.span.start)
            column, invariant = written.columns.get(line), written.invariants.get(line)
            if column is not None:
                in_check = place > written.lines[line - 1].find(" check (") >= 0
                changed = _withdraw_from(column, in_check, why) or changed
            elif invariant in draft.invariants:
                draft.invariants.remove(invariant)
                draft.notes.append(f"left out: {invariant.doc}; {why}")
                changed = True
    return changed


def _withdraw_from(column: DraftColumn, in_check: bool, why: str) -> bool:
    if in_check and column.checks:
        column.notes.append(f"check {' and '.join(column.checks)} there: {why}")
        column.checks = []
        return True
    if not in_check and column.default is not None:
        column.notes.append(f"default {column.default} there: {why}")
        column.default = None
        return True
    return False
