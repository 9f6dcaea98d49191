"""Tables: columns, keys, references; then the SQL in their defaults and checks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from forgec.diagnostics import Label, Report
from forgec.model.alternatives import alternative
from forgec.model.domains import claimed, condition_text
from forgec.model.names import Names
from forgec.model.nested import check_nested, inherited_key, position
from forgec.model.spec import Check, Column, Table
from forgec.model.ties import add_ties
from forgec.model.types import TypeResolver
from forgec.source import Span
from forgec.sql.check import SqlChecker
from forgec.sql.query import Sql
from forgec.sql.scope import Cell, Scope
from forgec.syntax import nodes
from forgec_runtime.types import Double, Integer, List, Map, Record, Text

COUNTED = "{}"
"""The pattern of integer keys that the engine makes: 1, 2, 3."""
_NO_KEYS = (Record, List, Map, Double)
"""Types whose values are no keys, and not unique."""
MAX_KEYS = 1_000
"""Keys that a serial lists: each is looked for when one is made."""
_SERIAL = re.compile(r"[^{}]*\{0{1,12}\}[^{}]*")


def build_tables(items: list[nodes.Table], types: TypeResolver, report: Report) -> dict[str, Table]:
    """The tables without the SQL of their columns, which needs all tables to be known."""
    names = Names("table", report)
    sound = [item for item in items if names.add(item.name)]
    tables: dict[str, Table] = {}
    types.tables = tables
    for item in _in_order_of_references(sound):
        columns = _columns(item, types, report)
        if item.single or not any(column.key for column in columns):
            if columns and not item.single:
                hint = "mark a column with `key`"
                report.error("AFS214", f"the table `{item.name}` has no key", item.name.span, help=hint)
            if not columns:
                report.give_up(item.name.text)
                continue
        _check_serial(columns, report)
        doc = item.doc.value if item.doc else ""
        name = item.name.text
        if name in tables:
            related = [Label(tables[name].span, f"`{tables[name].title}` is called `{name}`")]
            report.error("AFS208", f"`{name}` would be called like another table", item.name.span, related=related)
            continue
        tables[name] = Table(
            name=name,
            title=name,
            doc=doc,
            span=item.name.span,
            columns=columns,
            missing=_missing(item.missing, columns, report) if item.missing else (),
            single=item.single,
            side=item.side,
            parts=_parts(item),
        )
        _build_nested(item, tables[name], tables, types, report)
    declared = {name: table for item in sound for name, table in _family(item.name.text, tables)}
    tables.clear()
    tables.update(declared)
    for item in sound:
        add_ties(item, item.name.text, tables, report)
    return tables


def _missing(message: nodes.Message, columns: Sequence[Column], report: Report) -> tuple[str, ...]:
    """The text split where the key stands in it."""
    keys = [column.name for column in columns if column.key]
    parts = [""]
    for part in message.parts:
        if isinstance(part, str):
            parts[-1] += part
            continue
        if [part.sql.span.text.strip()] != keys or part.format is not None:
            hint = f"such as `{{{keys[0]}}}`" if len(keys) == 1 else None
            report.error("AFS506", "only the key stands in this text", part.span, help=hint)
        parts.append("")
    return tuple(parts)


def _family(name: str, tables: dict[str, Table]) -> Iterator[tuple[str, Table]]:
    """A table, if it was sound, and all that are nested in it."""
    if name in tables:
        yield name, tables[name]
        for other in list(tables.values()):
            if other.parent == name:
                yield from _family(other.name, tables)


def _in_order_of_references(items: list[nodes.Table]) -> list[nodes.Table]:
    """Referenced tables first, as a reference takes the type of the key; a circle of keys has no type."""
    by_name = {item.name.text: item for item in items}
    done: dict[str, nodes.Table] = {}
    for item in items:
        path = [item]
        while path:
            last, open_ = path[-1], {node.name.text for node in path}
            heads = _heads(last)
            target = next((name for name in heads if name in by_name and name not in done and name not in open_), None)
            if target is not None:
                path.append(by_name[target])
            else:
                done[last.name.text] = path.pop()
    return list(done.values())


def _heads(item: nodes.Table | nodes.Nested) -> Iterator[str]:
    """The tables whose columns are types of a table's columns, or of those nested in it."""
    for column in item.columns:
        named = column.type if isinstance(column.type, nodes.Reference) else column.type.base
        if isinstance(named, nodes.Reference) or (isinstance(named, nodes.NamedType) and len(named.path) > 1):
            yield named.path[0].text
    for nested in item.nested:
        yield from _heads(nested)


def _parts(item: nodes.Table | nodes.Nested) -> tuple[str, ...]:
    return tuple(entry.name.text for entry in item.entries)


def _check_serial(columns: Sequence[Column], report: Report) -> None:
    serial = next((column for column in columns if column.made and not column.numbered), None)
    if serial is not None and sum(column.key for column in columns) > 1:
        report.error("AFS307", f"`{serial.name}` is made by the engine and must be the whole key", serial.span)


def _build_nested(
    item: nodes.Table | nodes.Nested, parent: Table, tables: dict[str, Table], types: TypeResolver, report: Report
) -> None:
    """Add the tables that are nested in `parent`."""
    for node in item.nested:
        title = f"{parent.title}.{node.name}"
        name = title.replace(".", "_")
        columns = _columns(node, types, report)
        if not columns or not check_nested(node, columns, parent, report):
            report.give_up(title)
            continue
        if name in tables:
            related = [Label(tables[name].span, f"`{tables[name].title}` is called `{name}`")]
            report.error("AFS208", f"`{title}` would be called like another table", node.name.span, related=related)
            continue
        own = ([] if node.kind == "map" else [position(node)]) + list(columns)
        inherited = inherited_key(parent, next(column.name for column in own if column.key))
        if not _check_inherited(node, inherited, parent, report):
            report.give_up(title)
            continue
        whole = (*inherited, *own)
        _check_serial(whole, report)
        tables[name] = Table(
            name=name,
            title=title,
            doc=node.doc.value if node.doc else "",
            span=node.name.span,
            columns=whole,
            side=parent.side,
            parent=parent.name,
            kind=node.kind,
            parts=_parts(node),
        )
        _build_nested(node, tables[name], tables, types, report)


def _check_inherited(node: nodes.Nested, inherited: Sequence[Column], parent: Table, report: Report) -> bool:
    """Whether the columns that a nested table inherits have names of their own."""
    before, title = len(report), f"{parent.title}.{node.name}"
    names = {column.name for column in inherited}
    for entry in node.entries:
        if entry.name.text in names:
            hint = f"its rows have the key of their row of `{parent.title}` by themselves"
            message = f"`{entry.name}` is part of the key of `{parent.title}`, which `{title}` inherits"
            report.error("AFS218", message, entry.name.span, help=hint)
    if len(names) < len(inherited):
        message = f"`{title}` would inherit two columns of one name from `{parent.title}`"
        report.error("AFS218", message, node.name.span, help="rename a key of the tables around it")
    return len(report) == before


def _columns(item: nodes.Table | nodes.Nested, types: TypeResolver, report: Report) -> tuple[Column, ...]:
    names = Names("column", report)
    columns: list[Column] = []
    for node in item.entries:
        if not names.add(node.name) or isinstance(node, nodes.Nested):
            continue
        column = _column(node, item, columns, types, report)
        if column is not None:
            columns.append(column)
        else:
            report.give_up(node.name.text)
    return tuple(columns)


def _column(
    node: nodes.Column, item: nodes.Table | nodes.Nested, before: list[Column], types: TypeResolver, report: Report
) -> Column | None:
    kinds = [modifier.kind for modifier in node.modifiers]
    for modifier in node.modifiers:
        if kinds.count(modifier.kind) > 1:
            report.error("AFS208", f"`{modifier.kind}` stands twice", modifier.span)
            return None
        if isinstance(item, nodes.Table) and item.single and modifier.kind in ("key", "unique", "serial"):
            message = f"`{item.name}` has one row, and nothing in it is `{modifier.kind}`"
            report.error("AFS307", message, modifier.span)
            return None
    if isinstance(node.type, nodes.Reference):
        own_key = next((c for c in before if c.key), None)
        itself = isinstance(item, nodes.Table) and [part.text for part in node.type.path] == [item.name.text]
        if itself and own_key is not None:
            cell = Cell(own_key.type, node.type.optional, item.name.text)
        else:
            found = types.reference(node.type)
            if found is None:
                return None
            cell = found
    else:
        typed = types.cell(node.type)
        if typed is None:
            return None
        cell = typed
    serial = next((modifier for modifier in node.modifiers if modifier.kind == "serial"), None)
    if not _check_kind(node, kinds, cell.type, cell.optional, serial, report):
        return None
    return Column(
        name=node.name.text,
        doc=node.doc.value if node.doc else types.doc(node.type),
        span=node.span,
        type=cell.type,
        optional=cell.optional or "when" in kinds,
        given="always" if "when" not in kinds else "at most" if cell.optional else "exactly",
        key="key" in kinds,
        unique="unique" in kinds,
        scored="unscored" not in kinds,
        ordered="unordered" not in kinds,
        hidden="hidden" in kinds,
        serial=(serial.pattern or COUNTED) if serial and not serial.keys else None,
        keys=tuple(key.value for key in serial.keys) if serial else (),
        references=cell.references if isinstance(node.type, nodes.Reference) else None,
        domain=cell.domain,
        claims=cell.claims,
    )


def _check_kind(
    node: nodes.Column,
    kinds: Sequence[str],
    type_: object,
    optional: bool,
    serial: nodes.Modifier | None,
    report: Report,
) -> bool:
    if "key" in kinds and (optional or isinstance(type_, _NO_KEYS)):
        message = f"`{node.name}` cannot be a key: a key is never null, and no list, map, record or double"
        report.error("AFS307", message, node.span)
        return False
    if "key" in kinds and "unscored" in kinds:
        report.error("AFS307", f"`{node.name}` is a key and always compared", node.span)
        return False
    if "unordered" in kinds and not isinstance(type_, List):
        report.error("AFS307", f"`{node.name}` cannot be unordered: it is no list", node.span)
        return False
    if "when" in kinds and ("key" in kinds or "default" in kinds):
        message = f"`{node.name}` has no value for some rows, so that it is no key and has no default"
        report.error("AFS225", message, node.span)
        return False
    if "unique" in kinds and isinstance(type_, _NO_KEYS):
        report.error("AFS307", f"`{node.name}` cannot be unique: it is a {type_}", node.span)
        return False
    if serial is None:
        return True
    if serial.keys:
        return _check_keys(node, kinds, type_, serial, report)
    patterned = isinstance(type_, Text) and serial.pattern is not None and _SERIAL.fullmatch(serial.pattern)
    counted = isinstance(type_, Integer) and serial.pattern is None
    if "key" not in kinds or not (patterned or counted):
        hint = "such as `loan_id text key serial 'L{0000}'` or `ticket_id integer key serial`"
        message = "a serial is a text key with a pattern of zeros in braces, or an integer key without one"
        report.error("AFS307", message, serial.span, help=hint)
        return False
    return True


def _check_keys(
    node: nodes.Column, kinds: Sequence[str], type_: object, serial: nodes.Modifier, report: Report
) -> bool:
    """Whether the keys that a serial lists are good ones."""
    if "key" not in kinds or not isinstance(type_, Text):
        hint = "such as `order_id text key serial ('A1', 'B2')`"
        report.error("AFS307", "a list of keys is for a text key", serial.span, help=hint)
        return False
    if len(serial.keys) > MAX_KEYS:
        message = f"a serial lists at most {MAX_KEYS:,} keys, not {len(serial.keys):,}"
        report.error("AFS307", message, node.name.span, help="use a pattern, such as `serial 'L{0000}'`")
        return False
    seen: dict[str, Span] = {}
    for key in serial.keys:
        first = seen.setdefault(key.value, key.span)
        if first is not key.span:
            related = [Label(first, "first here")]
            report.error("AFS208", f"the key '{key.value}' stands twice", key.span, related=related)
            return False
    return True


def check_columns(items: list[nodes.Table], tables: dict[str, Table], checker: SqlChecker, scope: Scope) -> None:
    """Add defaults and checks to the columns of `tables`."""
    for name, item in _with_names(items):
        table = tables.get(name)
        if table is None or table.span != item.name.span:
            continue  # not sound, or declared before
        by_name = {node.name.text: node for node in item.columns}
        columns = tuple(
            _with_sql(column, by_name[column.name], table, checker, scope) if column in table.own else column
            for column in table.columns
        )
        tables[name] = replace(table, columns=columns)


def _with_names(
    items: Iterable[nodes.Table | nodes.Nested], before: str = ""
) -> Iterator[tuple[str, nodes.Table | nodes.Nested]]:
    """All tables, the nested ones too, each with its name in the model."""
    for item in items:
        yield before + item.name.text, item
        yield from _with_names(item.nested, f"{before}{item.name}_")


def _with_sql(column: Column, node: nodes.Column, table: Table, checker: SqlChecker, scope: Scope) -> Column:
    found: dict[str, Sql] = {}
    for modifier in node.modifiers:
        if modifier.sql is None:
            continue
        if modifier.kind == "default":
            sql = checker.expression(modifier.sql, scope, column.type, data=True)
        else:
            sql = checker.condition(modifier.sql, scope, row=dict(table.row.columns))
        if sql is not None and sql.reads:
            checker.report.error(
                "AFS308", f"a {modifier.kind} looks at its own row only", modifier.sql.span, help="use an invariant"
            )
        elif sql is not None:
            found[modifier.kind] = sql
    checks = claimed(column.cell, "row", column.name)
    if "when" in found:
        checks = (alternative(column, found["when"]), *checks)
    if "check" in found:
        text = f"{column.name} must satisfy {condition_text(found['check'].span)}"
        checks = (*checks, Check(sql=found["check"], text=text))
    return replace(
        column, default=found.get("default"), check=found.get("check"), when=found.get("when"), checks=checks
    )
