"""Rows of worlds that lie in files: `books from "data/books.csv";`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from pathlib import PurePosixPath
from typing import Any

from forgec.diagnostics import Report, counted
from forgec.files.data import DataFiles
from forgec.files.folder import NoFile
from forgec.files.parquet import parquet_documents
from forgec.files.places import Places
from forgec.model.drafts import Draft
from forgec.model.spec import Outside, Table
from forgec.source import Source, Span
from forgec.syntax import nodes
from forgec_runtime import LoadError, PackageFile, VariableFile, schema
from forgec_runtime.data.documents import KINDS, Document, Kind, Unreadable, documents_in, kind_of, text_of
from forgec_runtime.data.outside import OutsideFile
from forgec_runtime.data.rows import Defaults, Problem, Reader, Row, What

_CODES: Mapping[What, str] = {
    "form": "AFS314", "unknown": "AFS202", "missing": "AFS409", "value": "AFS601", "size": "AFS609"
}  # fmt: skip
_MOST = 20
"""Mistakes that are told of one file."""
_PARQUET = ".parquet"
_DISTRIBUTION = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")


class DataRows:
    """Reads the files of one spec as rows of its tables; what is wrong with them is reported."""

    def __init__(self, tables: Mapping[str, Table], files: DataFiles, report: Report) -> None:
        self.tables = tables
        self.files = files
        self.report = report

    @cached_property
    def _plain(self) -> dict[str, schema.Table[Any]]:
        return _plain_tables(self.tables)

    def rows(self, fill: nodes.Sourced, table: Table) -> Iterator[Draft]:
        """The rows of a file in the folder of the spec."""
        assert isinstance(fill.origin, nodes.FileOrigin)
        written, span, at = fill.origin.path.value, fill.origin.span, fill.member
        try:
            name, data = self.files.read(written, span.source)
        except NoFile as error:
            self.report.error("AFS006", error.message, span, help=error.help)
            return
        kind = kind_of(written)
        if kind is not None:
            yield from self._of_text(data, name, kind, at, table, span)
        elif PurePosixPath(written).suffix.lower() == _PARQUET:
            yield from self._of_parquet(data, name, at, table, span)
        else:
            self.report.error("AFS609", f"rows are read from {', '.join(KINDS)} and {_PARQUET}", span)

    def outside(self, fill: nodes.Sourced, table: Table) -> Outside | None:
        """A file outside of the folder, which may be read or not; None when it cannot be one."""
        file = self._file_of(fill, table)
        if file is None:
            return None
        try:
            content = self.files.outside(file)
        except LoadError as error:
            self.report.error("AFS610", str(error), fill.origin.span)
            return None
        return Outside(file=file, content=content, span=fill.origin.span)

    def rows_outside(self, found: Outside, fill: nodes.Sourced, table: Table) -> Iterator[Draft]:
        """The rows of a file outside of the folder that could be read."""
        if found.content is not None:
            content = found.content
            yield from self._of_text(content.data, content.name, content.kind, fill.member, table, found.span)

    def _file_of(self, fill: nodes.Sourced, table: Table) -> OutsideFile | None:
        at = fill.member.value if fill.member else ""
        origin = fill.origin
        if isinstance(origin, nodes.VariableOrigin):
            if _VARIABLE.fullmatch(origin.variable.value):
                return VariableFile(table.name, origin.variable.value, at)
            message, span = "an environment variable is named like `BOOKS_DB`", origin.variable.span
        else:
            assert isinstance(origin, nodes.PackageOrigin)
            path, span = PurePosixPath(origin.path.value), origin.path.span
            if not _DISTRIBUTION.fullmatch(origin.distribution.value):
                message, span = "this is no name of a package", origin.distribution.span
            elif path.is_absolute() or ".." in path.parts or not origin.path.value.isprintable():
                message = "this is no path of a file in a package"
            elif kind_of(path.name) is None:
                message = f"rows of a package are read from {', '.join(KINDS)}"
            else:
                return PackageFile(table.name, origin.distribution.value, at, path.as_posix())
        self.report.error("AFS609", message, span)
        return None

    # -- drafts ------------------------------------------------------------------------------------------------

    def _of_text(
        self, data: bytes, name: str, kind: Kind, at: nodes.Text | None, table: Table, span: Span
    ) -> Iterator[Draft]:
        member = at.value if at is not None else ""
        try:
            text = text_of(data)
        except Unreadable as error:
            self.report.error("AFS609", f"{name}: {error}", span)
            return
        places = Places(Source(name, text), kind, member)
        try:
            documents = documents_in(text, kind, member, single=table.single)
        except Unreadable as error:
            place = places.character(error.start) if error.start is not None else at.span if at is not None else span
            self.report.error("AFS609", str(error), place)
            return
        yield from self._drafts(documents, table, places, span, name)

    def _of_parquet(self, data: bytes, name: str, at: nodes.Text | None, table: Table, span: Span) -> Iterator[Draft]:
        try:
            if at is not None:
                raise Unreadable("only a JSON file has members to read")
            documents = parquet_documents(data)
        except Unreadable as error:
            self.report.error("AFS609", f"{name}: {error}", span)
            return
        yield from self._drafts(documents, table, None, span, name)

    def _drafts(
        self, documents: list[Document], table: Table, places: Places | None, span: Span, name: str
    ) -> Iterator[Draft]:
        reader = Reader(self._plain, _defaults(self.tables))
        made: dict[Row, Draft] = {}
        for row in reader.rows(self._plain[table.name], documents):
            parent = made[row.parent] if row.parent is not None else None
            draft = made[row] = Draft(self.tables[row.table.name], span, parent=parent, given=row.values)
            if places is not None:
                draft.span = places.document(row.document)
                draft.find = partial(_column_place, places, row)
            yield draft
        for problem in reader.problems[:_MOST]:
            self._tell(problem, places, span, name, len(reader.problems) - _MOST)

    def _tell(self, problem: Problem, places: Places | None, span: Span, name: str, more: int) -> None:
        """Report what is wrong with a document; of a file without lines, where the spec names it."""
        code, text, notes = _CODES[problem.what], problem.text, []
        if places is None:
            text = f"{name}, row {int(problem.document.step or 0) + 1}: {text}"
        elif problem.what in ("unknown", "missing"):
            span = places.name(problem.document, problem.path)
        else:
            span = places.value(problem.document, problem.path)
        if more > 0:
            notes.append(f"{name} has {counted(more, 'other mistake')}")
        self.report.error(code, text, span, help=problem.help, notes=notes)


def _column_place(places: Places, row: Row, column: str) -> Span:
    return places.value(row.document, (*row.path, column))


def _defaults(tables: Mapping[str, Table]) -> Defaults:
    """The columns that need not be there; what they are is worked out with all others."""
    return {t.name: dict.fromkeys(c.name for c in t.columns if c.default is not None) for t in tables.values()}


def _plain_tables(tables: Mapping[str, Table]) -> dict[str, schema.Table[Any]]:
    """The tables as the runtime knows them."""
    made: dict[str, schema.Table[Any]] = {}
    for table in reversed(list(tables.values())):  # what is nested in a table comes after it
        columns = tuple(schema.Column(c.name, c.type, c.optional, references=c.references) for c in table.columns)
        found = (part if table.column(part) else made.get(f"{table.name}_{part}") for part in table.parts)
        parts = tuple(part for part in found if part is not None)  # without those that are not sound
        key = tuple(column.name for column in table.key)
        made[table.name] = schema.Table(
            table.name, columns, key, path=table.title, parent=table.parent, kind=table.kind, parts=parts
        )
    return made
