"""Type expressions of the syntax to types, cells and shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from forgec.diagnostics import Report, did_you_mean
from forgec.model.documents import document, part_docs
from forgec.model.names import Names
from forgec.model.spec import Domain, Result, Table
from forgec.sql.allow import MAX_DIGITS, MAX_FIELDS
from forgec.sql.scope import EACH, Cell, Claim, Row, Rows, Shape, table_at, titles
from forgec.syntax import nodes
from forgec_runtime.types import (
    Boolean,
    Date,
    Decimal,
    Double,
    Enum,
    Field,
    Integer,
    List,
    Map,
    Record,
    Text,
    Timestamp,
    Type,
)

_SIMPLE: dict[str, Type] = {
    "text": Text(), "integer": Integer(), "double": Double(), "boolean": Boolean(), "date": Date(),
    "timestamp": Timestamp(),
}  # fmt: skip
_ELSEWHERE = {
    "string": "text", "str": "text", "varchar": "text", "char": "text", "int": "integer", "bigint": "integer",
    "bool": "boolean", "float": "double", "real": "double", "datetime": "timestamp", "numeric": "decimal(8, 2)",
    "list": "text[]", "array": "text[]", "dict": "map(text, text)",
}  # fmt: skip
"""What other languages call the types of this one."""
MAX_PRECISION = MAX_DIGITS
MAX_LEVELS = 20


class TypeResolver:
    """Knows the enums, records and, once they are built, the tables of a spec."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.enums: dict[str, Enum] = {}
        self.records: dict[str, Record] = {}
        self.domains: dict[str, Domain] = {}
        self.tables: Mapping[str, Table] = {}
        self.declared: frozenset[str] = frozenset()
        """All names of types, those further down included."""
        self._extents: dict[str, tuple[int, int]] = {}
        self._claims: dict[str, tuple[Claim, ...]] = {}
        """What the fields of records satisfy, by the names of the records."""

    def cell(self, node: nodes.TypeExpression) -> Cell | None:
        """The type of a column, parameter or function: one value."""
        shape = self._base(node.base)
        if shape is None:
            return None
        if isinstance(shape, Row):
            self.report.error(
                "AFS305", "a row cannot be held here", node.span, help="a reference is written `-> table`"
            )
            return None
        return self._suffixed(shape, node)

    def doc(self, node: nodes.TypeExpression | nodes.Reference) -> str:
        """The documentation of a domain type, for what is declared to be of it."""
        base = node.base if isinstance(node, nodes.TypeExpression) else None
        domain = self.domains.get(base.path[0].text) if isinstance(base, nodes.NamedType) else None
        return domain.doc if domain is not None else ""

    def _field_doc(self, field: nodes.Field) -> str:
        """What a field of a result is: its own documentation, or that of the type or column it is declared with."""
        base = field.type.base
        if field.doc is None and isinstance(base, nodes.NamedType) and len(base.path) > 1:
            table = table_at(self.tables, [part.text for part in base.path[:-1]])
            column = table.column(base.path[-1].text) if table is not None else None
            return column.doc if column is not None else ""
        return field.doc.value if field.doc else self.doc(field.type)

    def _suffixed(self, cell: Cell, node: nodes.TypeExpression) -> Cell | None:
        """What `?` and `[]` make of a single value."""
        optional = node.suffixes[-1:] == ("?",)
        suffixes = node.suffixes[:-1] if optional else node.suffixes
        if not suffixes:
            return replace(cell, optional=optional)
        if suffixes != ("[]",) or isinstance(cell.type, List):
            message, hint = "the elements of a list are never null, and no lists", f"such as {cell.type}[] or a table"
            self.report.error("AFS305", message, node.span, help=None if isinstance(cell.type, List) else hint)
            return None
        if any(EACH in claim.path for claim in cell.claims) and not self._unclaimed(cell, node):
            return None
        claims = tuple(replace(claim, path=(EACH, *claim.path)) for claim in cell.claims)
        return Cell(List(cell.type), optional, claims=claims)

    def _unclaimed(self, cell: Cell, node: nodes.TypeExpression | nodes.NamedType) -> bool:
        """Whether nothing is demanded of what a map, or a list inside of another, holds: nobody would look at it."""
        if cell.claims:
            message = "what is in a map, or in a list inside of another, cannot be of a type with a check"
            self.report.error("AFS305", message, node.span, help="use a table")
        return not cell.claims

    def result(self, node: nodes.TypeExpression) -> Result | None:
        """What a tool returns."""
        base: Cell | Row | None
        docs: Mapping[str, str] = {}
        if isinstance(node.base, nodes.RecordType):
            cells = self._cells(node.base.fields)
            base = None if cells is None else Row(cells)
            docs = {field.name.text: self._field_doc(field) for field in node.base.fields}
        else:
            base = self._base(node.base)
        if base is None:
            return None
        if isinstance(base, Cell):
            cell = self._suffixed(base, node)
            if cell is None:
                return None
            single = replace(cell, optional=False)
            return Result(shape=single, type=cell.type, body=single, optional=cell.optional)
        table = self.tables.get(base.table or "")
        nested = table is not None and any(other.parent == table.name for other in self.tables.values())
        whole = document(table, self.tables) if table is not None and nested else base
        docs = part_docs(table, self.tables) if table is not None else docs
        if "[]" not in node.suffixes:
            optional = bool(node.suffixes)
            return Result(shape=whole, type=type_of(whole), body=base, nested=nested, optional=optional, docs=docs)
        if node.suffixes != ("[]",):
            hint = "such as `loans[]` or `{ title text }[]`: no row at all is an empty array"
            self.report.error("AFS305", "rows are never null, and no lists", node.span, help=hint)
            return None
        assert isinstance(whole, Row)
        rows = Rows(whole.columns, whole.table)
        return Result(shape=rows, type=type_of(rows), body=Rows(base.columns, base.table), nested=nested, docs=docs)

    def results(self, kinds: tuple[nodes.TypeExpression, ...]) -> Result | None:
        """What a tool returns: of several kinds one, which has a part of what the result can have."""
        found = [self.result(kind) for kind in kinds]
        if len(found) == 1:
            return found[0]
        columns: dict[str, Cell] = {}
        docs: dict[str, str] = {}
        unlike: set[str] = set()
        for node, result in zip(kinds, found, strict=True):
            if result is None:
                return None
            if not isinstance(result.shape, Row) or result.optional:
                hint = "such as `lines | bills`"
                self.report.error("AFS305", "of several kinds of results each is one row", node.span, help=hint)
                return None
            for name, cell in result.shape.columns.items():
                known = columns.setdefault(name, replace(cell, optional=True))
                unlike.update([name] if known.type.sql != cell.type.sql else [])
            docs = {name: doc for name, doc in result.docs.items() if doc} | docs
        shape = Row({name: cell for name, cell in columns.items() if name not in unlike})
        return Result(shape=shape, type=type_of(shape), body=shape, docs=docs, kinds=tuple(one for one in found if one))

    def reference(self, node: nodes.Reference) -> Cell | None:
        """`-> members`: the key of that table."""
        table = self._table(node.path)
        if table is None:
            return None
        if len(table.key) != 1:
            hint = f"read it with `{table.name}.{table.columns[0].name}`" if table.single else None
            self.report.error("AFS306", "a reference names a table with a key of one column", node.span, help=hint)
            return None
        return Cell(table.key[0].type, node.optional, table.name)

    def _table(self, path: tuple[nodes.Name, ...]) -> Table | None:
        """The table of a name or a path; None when it was reported that there is none."""
        table = table_at(self.tables, [part.text for part in path])
        if table is None:
            name = ".".join(part.text for part in path)
            hint = did_you_mean(name, titles(self.tables))
            message, label = f"unknown table `{name}`", "not a table of this spec"
            self.report.error("AFS201", message, path[0].span.to(path[-1].span), label, help=hint, about=name)
        return table

    def _base(self, node: nodes.NamedType | nodes.RecordType) -> Cell | Row | None:
        if isinstance(node, nodes.RecordType):
            return self.record("", node.fields)
        name = node.path[0].text
        if len(node.path) > 1:
            nested = table_at(self.tables, [part.text for part in node.path])
            return nested.row if nested is not None else self._column(node)
        if name == "decimal":
            return self._decimal(node)
        if name == "map":
            return self._map(node)
        known = self._known(name)
        if known is None and name not in self.tables:
            names = [*_SIMPLE, "decimal", "map", *self.enums, *self.records, *self.domains, *self.tables]
            hint = f"`{_ELSEWHERE[name.lower()]}` is" if name.lower() in _ELSEWHERE else did_you_mean(name, names)
            if name in self.declared:
                hint = "it is declared further down, and types are made of those above them"
            self.report.error("AFS204", f"`{name}` is not a type", node.path[0].span, help=hint, about=name)
            return None
        if node.arguments:
            self.report.error("AFS204", f"`{name}` takes no arguments", node.span)
            return None
        return known if known is not None else self.tables[name].row

    def _known(self, name: str) -> Cell | None:
        """The type that has a name, if there is one."""
        if name in self.domains:
            return replace(self.domains[name].cell, domain=name)
        known = _SIMPLE.get(name) or self.enums.get(name) or self.records.get(name)
        return None if known is None else Cell(known, claims=self._claims.get(name, ()))

    def _column(self, node: nodes.NamedType) -> Cell | None:
        table, column = self._table(node.path[:-1]), node.path[-1].text
        if table is None:
            return None
        found = table.column(column)
        if found is None:
            hint = did_you_mean(column, [*(c.name for c in table.columns), *table.parts])
            message = f"unknown column `{column}` of `{table.title}`"
            self.report.error("AFS202", message, node.path[-1].span, help=hint, about=column)
            return None
        return replace(found.cell, references=table.row.columns[column].references)

    def _decimal(self, node: nodes.NamedType) -> Cell | None:
        digits = [part for part in node.arguments if isinstance(part, int)]
        if len(digits) == len(node.arguments) == 2:
            precision, scale = digits
            if 1 <= precision <= MAX_PRECISION and scale <= precision:
                return Cell(Decimal(precision, scale))
        hint = f"such as decimal(8, 2): at most {MAX_PRECISION} digits in all, 2 of them after the point"
        self.report.error("AFS204", "a decimal has digits in all and digits after the point", node.span, help=hint)
        return None

    def _map(self, node: nodes.NamedType) -> Cell | None:
        hint = "such as map(text, integer): a text or enum, and a type"
        if len(node.arguments) != 2 or any(isinstance(part, int) for part in node.arguments):
            self.report.error("AFS204", "a map has a type of its keys and one of its values", node.span, help=hint)
            return None
        cells = [self.cell(part) for part in node.arguments if isinstance(part, nodes.TypeExpression)]
        key, of = cells
        if key is None or of is None:
            return None
        if not isinstance(key.type, Text | Enum) or key.optional or of.optional:
            message = "the keys of a map are texts or values of an enum, and its values are never null"
            self.report.error("AFS305", message, node.span, help=hint)
            return None
        if not (self._unclaimed(key, node) and self._unclaimed(of, node)):
            return None
        return Cell(Map(key.type, of.type))

    def record(self, name: str, fields: tuple[nodes.Field, ...], doc: str = "") -> Cell | None:
        """The record of some fields, and what they satisfy; None when one was reported."""
        cells = self._cells(fields)
        if cells is None:
            return None
        docs = {field.name.text: field.doc.value if field.doc else self.doc(field.type) for field in fields}
        parts = tuple(Field(part, cell.type, cell.optional, docs[part]) for part, cell in cells.items())
        claims = tuple(replace(one, path=(part, *one.path)) for part, cell in cells.items() for one in cell.claims)
        return Cell(Record(name, parts, doc), claims=claims)

    def add_record(self, name: str, fields: tuple[nodes.Field, ...], doc: str) -> bool:
        """Whether a record of this name could be declared."""
        cell = self.record(name, fields, doc)
        if cell is None:
            return False
        assert isinstance(cell.type, Record)
        self.records[name], self._claims[name] = cell.type, cell.claims
        return True

    def _cells(self, fields: tuple[nodes.Field, ...]) -> dict[str, Cell] | None:
        names = Names("field", self.report)
        cells: dict[str, Cell] = {}
        for field in fields:
            cell = self.cell(field.type)
            if not names.add(field.name) or cell is None:
                return None
            cells[field.name.text] = cell
        extents = [self._extent(cell.type) for cell in cells.values()]
        if sum(held for held, _ in extents) > MAX_FIELDS or max(deep for _, deep in extents) > MAX_LEVELS:
            message = (
                f"a record holds at most {MAX_FIELDS:,} fields, those of its records included, on {MAX_LEVELS} levels"
            )
            self.report.error("AFS305", message, fields[0].span.to(fields[-1].span))
            return None
        return cells

    def _extent(self, type_: Type) -> tuple[int, int]:
        """How many fields a type holds, itself included, and on how many levels."""
        if isinstance(type_, List | Map):
            return self._extent(type_.of)
        if not isinstance(type_, Record):
            return 1, 0
        if type_.name not in self._extents:
            inner = [self._extent(field.type) for field in type_.fields]
            extent = 1 + sum(held for held, _ in inner), 1 + max(deep for _, deep in inner)
            if not type_.name:
                return extent
            self._extents[type_.name] = extent
        return self._extents[type_.name]


def type_of(shape: Shape) -> Type:
    """The type of a result: a row is a record, rows are a list of records."""
    if isinstance(shape, Cell):
        return shape.type
    record = Record("", tuple(Field(name, cell.type, cell.optional) for name, cell in shape.columns.items()))
    return List(record) if isinstance(shape, Rows) else record
