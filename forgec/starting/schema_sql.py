"""Scripts of SQL in the dialects of PostgreSQL, MySQL, SQLite and DuckDB to found tables."""

from __future__ import annotations

import re
from collections.abc import Iterable

from forgec.diagnostics import Diagnostic, Label
from forgec.source import Source, Span
from forgec.sql.tree import Statement, exp, parse_script
from forgec.starting.constraints import Constraints, name_of, named
from forgec.starting.found import MAX_POOL, Found, FoundColumn, FoundTable, Row, SourceError
from forgec.starting.types import parse_type, written_type
from forgec.starting.values import shortened

DIALECTS = ("postgres", "mysql", "sqlite", "duckdb")
_SIGNS = (
    ("mysql", r"`|\bAUTO_INCREMENT\b|\bENGINE\s*="),
    ("sqlite", r"\bAUTOINCREMENT\b|\bWITHOUT\s+ROWID\b|^\s*PRAGMA\b"),
    ("postgres", r""),
)
_ASIDE = re.compile(r"^\\[^\n]*|^COPY\s[^;]*\bFROM\s+stdin[^;]*;\n[\s\S]*?^\\\.$", re.MULTILINE | re.IGNORECASE)
"""What psql obeys and SQL does not know: commands with a backslash, and rows after COPY."""
_DOMAIN = re.compile(
    r"CREATE\s+DOMAIN\s+(?:\w+\.)?(\w+|\"[^\"]+\")\s+(?:AS\s+)?([\w ]+?(?:\([\d, ]+\))?)\s*(?:$|CONS|CHECK|NOT|DEF)",
    re.I,
)
_ROUTINE = re.compile(
    r"CREATE\s+(?:OR\s+REPLACE\s+)?(?:DEFINER\s*=\s*\S+\s+)?(?:TEMP(?:ORARY)?\s+)?(?:TRIGGER|PROCEDURE|FUNCTION|EVENT)\b"
    r"[\s\S]*\bBEGIN\b",
    re.IGNORECASE,
)

_PARTITION = re.compile(r'ALTER\s+TABLE\s+(?:ONLY\s+)?([\w."]+)\s+ATTACH\s+PARTITION\s+([\w."]+)', re.IGNORECASE)


def read_schema(source: Source) -> Found:
    """The tables of a script. Raises `SourceError`."""
    text = _ASIDE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source.text)
    dialect, statements = _best(text, source)
    reader = SchemaReader(source, dialect)
    for statement in _without_routines(statements, text):
        reader.read(statement)
    reader.join_partitions()
    if any(match[0][:4].lower() == "copy" for match in _ASIDE.finditer(source.text)):
        reader.found.notes.append("the rows that the script copies from stdin were left out")
    return reader.found


def _best(text: str, source: Source) -> tuple[str, list[Statement]]:
    """The dialect that reads most of the script, the one that it looks like first."""
    likely = next(dialect for dialect, sign in _SIGNS if re.search(sign, text, re.IGNORECASE | re.MULTILINE))
    readings: list[tuple[int, str, list[Statement]]] = []
    reason = ""
    for dialect in dict.fromkeys((likely, *DIALECTS)):
        try:
            statements = parse_script(text, dialect)
        except ValueError as error:
            reason = reason or str(error)
            continue
        unread = sum(_is_unread(statement, text) for statement in statements)
        readings.append((unread, dialect, statements))
        if not unread:
            break
    if not readings:
        raise SourceError(Diagnostic("AFS807", f"this is no SQL script: {reason}", path=source.name))
    _, dialect, statements = min(readings, key=lambda reading: reading[0])
    return dialect, statements


def _is_unread(statement: Statement, text: str) -> bool:
    """Whether a statement that creates a table or type could not be read."""
    words = text[statement.start : statement.end][:80].split()
    wanted = re.match(
        r"CREATE (?:(?:GLOBAL |LOCAL )?TEMP(?:ORARY)? |UNLOGGED )?(?:TABLE|TYPE)\b", " ".join(words), re.IGNORECASE
    )
    return wanted is not None and not isinstance(statement.tree, exp.Create)


def _without_routines(statements: Iterable[Statement], text: str) -> Iterable[Statement]:
    """The statements that are not parts of the body of a trigger or procedure."""
    inside = False
    for statement in statements:
        written = text[statement.start : statement.end]
        if inside:
            inside = not re.match(r"END\b", written, re.IGNORECASE)
        elif _ROUTINE.match(written) and "$$" not in re.sub(r"\$\w+\$", "$$", written):
            inside = not re.search(r"\bEND\s*\w*$", written, re.IGNORECASE)
        else:
            yield statement


class SchemaReader:
    """Collects tables, statement by statement."""

    def __init__(self, source: Source, dialect: str) -> None:
        self.source = source
        self.found = Found(dialect=dialect)
        self.by_name: dict[str, FoundTable] = {}
        self.domains: dict[str, str] = {}

    def read(self, statement: Statement) -> None:
        """Take in one statement; one that creates a table and cannot be read is left out with a warning."""
        tree = statement.tree
        if isinstance(tree, exp.Create):
            self._create(tree)
        elif isinstance(tree, exp.Alter):
            self._alter(tree)
        elif isinstance(tree, exp.Comment):
            self._comment(tree)
        elif isinstance(tree, exp.Insert):
            self._insert(tree)
        elif (domain := _DOMAIN.match(self.source.text, statement.start, statement.end)) is not None:
            self.domains[domain[1].strip('"').lower()] = domain[2]
        elif _is_unread(statement, self.source.text):
            self._leave_out(Span(self.source, statement.start, statement.end))

    def _leave_out(self, span: Span) -> None:
        first = span.text.split("\n")[0].rstrip()
        self.found.notes.append(f"left out, as it cannot be read: {first}")
        label = Label(Span(span.source, span.start, span.start + len(first)), "left out")
        hint = "tried: PostgreSQL, MySQL, SQLite, DuckDB"
        message = "this statement cannot be read"
        self.found.warnings.append(Diagnostic("AFS807", message, label, help=hint, severity="warning"))

    def join_partitions(self) -> None:
        """Leave out tables that hold a part of another one, which refers to whatever they refer to."""
        for parent, part in _PARTITION.findall(self.source.text):
            whole, piece = (self.by_name.get(name.replace('"', "").lower()) for name in (parent, part))
            if whole is not None and piece is not None and piece in self.found.tables:
                self.found.tables.remove(piece)
                whole.references += [one for one in piece.references if one not in whole.references]

    def table(self, tree: exp.Expr | None) -> FoundTable | None:
        """The table that a statement names, with its schema or without."""
        node = tree.find(exp.Table) if tree is not None else None
        return None if node is None else self.by_name.get(_path(node)) or self.by_name.get(name_of(node).lower())

    # -- statements --------------------------------------------------------------------------------------------

    def _create(self, tree: exp.Create) -> None:
        kind = str(tree.args.get("kind") or "").upper()
        if kind == "TYPE" and isinstance(tree.expression, exp.DataType):
            values = tuple(dict.fromkeys(value.name for value in tree.expression.expressions))
            if values:
                self.found.enums[name_of(tree.this).lower()] = values
        elif kind == "INDEX" and tree.args.get("unique"):
            self._unique_index(tree)
        elif kind == "TABLE" and isinstance(tree.this, exp.Schema):
            self._create_table(tree, tree.this)
        elif kind == "TABLE" and not tree.find(exp.VirtualProperty):
            self.found.notes.append(f"the table {name_of(tree.this)} was left out: its columns are not listed")

    def _create_table(self, tree: exp.Create, schema: exp.Schema) -> None:
        node = schema.this
        if _path(node) in self.by_name:
            return  # IF NOT EXISTS, or a table that was dropped in between
        table = FoundTable(name_of(node))
        constraints = Constraints(table, self.found.dialect, self.source)
        for part in schema.expressions:
            constraints.add(part)
        for column in table.columns:
            self._of_domain(column)
        comment = tree.find(exp.SchemaCommentProperty)
        if comment is not None:
            table.doc = comment.this.name
        if not table.columns:
            return
        self.found.tables.append(table)
        self.by_name[_path(node)] = table
        self.by_name.setdefault(name_of(node).lower(), table)

    def _of_domain(self, column: FoundColumn) -> None:
        """Give a column the type that its domain stands for."""
        name = (
            "" if column.type is None else written_type(column.type, self.found.dialect).rpartition(".")[2].strip('"')
        )
        under = self.domains.get(name.lower())
        if under is not None:
            column.type = parse_type(under, self.found.dialect)
            column.notes.append(f"of the domain {name} there")

    def _unique_index(self, tree: exp.Create) -> None:
        params = tree.this.args.get("params")
        table = self.table(tree.this.args.get("table"))
        if table is None or params is None or params.args.get("where") is not None:
            return
        columns = [part.this for part in params.args.get("columns") or ()]
        if columns and all(isinstance(column, exp.Column) for column in columns):
            table.unique.append(named(columns))

    def _alter(self, tree: exp.Alter) -> None:
        table = self.table(tree.this)
        if table is None:
            return
        constraints = Constraints(table, self.found.dialect, self.source)
        for action in tree.args.get("actions") or ():
            if isinstance(action, exp.AddConstraint):
                for part in action.expressions:
                    constraints.add(part)
            elif isinstance(action, exp.AlterColumn):
                self._alter_column(table, action)
            else:
                constraints.add(action)

    def _alter_column(self, table: FoundTable, action: exp.AlterColumn) -> None:
        column = table.column(action.name)
        default = action.args.get("default")
        if column is not None and default is not None:
            column.default = default
            column.numbered = column.numbered or (isinstance(default, exp.Anonymous) and default.name == "nextval")
        if column is not None and action.args.get("allow_null") is False:
            column.nullable = False

    def _comment(self, tree: exp.Comment) -> None:
        text = tree.expression.name if tree.expression is not None else ""
        if isinstance(tree.this, exp.Table):
            table = self.table(tree.this)
            if table is not None:
                table.doc = text
        elif isinstance(tree.this, exp.Column):
            table = self.by_name.get(tree.this.table.lower())
            column = table.column(tree.this.name) if table is not None else None
            if column is not None:
                column.doc = text

    def _insert(self, tree: exp.Insert) -> None:
        table = self.table(tree.this)
        values = tree.expression
        if table is None or not isinstance(values, exp.Values):
            return
        names = named(tree.this.expressions) if isinstance(tree.this, exp.Schema) else []
        places = [table.position(name) for name in names] or list(range(len(table.columns)))
        for row in values.expressions:
            table.count += 1
            found = _row(row, places, len(table.columns))
            if found is not None and len(table.rows) < MAX_POOL:
                table.rows.append(_numbered(found, table))


def _path(node: exp.Expr) -> str:
    return ".".join(part for part in (node.text("db").lower(), name_of(node).lower()) if part)


def _row(row: exp.Expr, places: list[int | None], width: int) -> Row | None:
    """The constants of a row; None when it has something else in it."""
    given = row.expressions if isinstance(row, exp.Tuple) else [row]
    if len(given) != len(places):
        return None
    cells: list[str | None] = [None] * width
    for place, value in zip(places, given, strict=True):
        try:
            text = _constant(value)
        except ValueError:
            return None
        if place is not None:
            cells[place] = text
    return tuple(cells)


def _numbered(row: Row, table: FoundTable) -> Row:
    """A row with the numbers that the database would have made."""
    made = str(table.count)
    return tuple(
        made if value is None and column.numbered else value for value, column in zip(row, table.columns, strict=True)
    )


def _constant(value: exp.Expr) -> str | None:
    """The text of a constant. Raises `ValueError` for anything else."""
    if isinstance(value, exp.Null):
        return None
    if isinstance(value, exp.Boolean):
        return "true" if value.this else "false"
    if isinstance(value, exp.Neg) and isinstance(value.this, exp.Literal):
        return f"-{value.this.name}"
    if isinstance(value, exp.Cast | exp.Paren | exp.Introducer):
        return _constant(value.expression if isinstance(value, exp.Introducer) else value.this)
    if isinstance(value, exp.HexString):
        return shortened(value.name.lower())
    if isinstance(value, exp.Literal | exp.National):
        return value.name
    raise ValueError(value.key)
