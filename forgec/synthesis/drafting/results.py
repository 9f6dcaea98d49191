"""What a tool gives back: the parts of rows that a document's result speaks of."""

from __future__ import annotations

import re

from forgec.documents import Field, Shape
from forgec.starting.names import legal, snake
from forgec.starting.values import quoted
from forgec.synthesis.drafting.entities import Column
from forgec.synthesis.drafting.making import Making, Unknown
from forgec.synthesis.drafting.words import done, same_stem, spoken

_TOLD = re.compile(r"\b(operation|attempt|request|update|result|describ|confirm|outcome|success)", re.I)
"""What texts about parts say that tell how it went."""


def part_of(it: Making, part: Field) -> tuple[str, str] | None:
    """The type and the SQL of a part of a result; None for one that no row keeps."""
    name, writes = snake(part.name), it.purpose.kind not in ("one", "many", "count")
    told = bool(_TOLD.search(part.doc))
    if part.shape.kind == "boolean" and writes and (told or name in ("ok", "success") or name.endswith("_status")):
        return "boolean", "true"
    if part.shape.kind == "boolean" and it.purpose.kind == "status" and it.thing.column(name) is None:
        if same_stem(it.purpose.verb, name):
            return "boolean", "true"
    if part.shape.kind == "text" and writes and (told or it.thing.column(name) is None):
        if name == "status" or name.endswith("_status"):
            return "text", quoted(done(it.purpose.verb))
        if name in ("message", "result", "detail", "msg"):
            return "text", quoted(f"{spoken(it.thing.noun).capitalize()} {done(it.purpose.verb)}")
    column = it.thing.column(part.name)
    if column is None and it.purpose.attribute and name.endswith(it.purpose.attribute):
        column = it.thing.column(it.purpose.attribute)
    if column is None and name.startswith(("new_", "current_", "updated_")):
        column = it.thing.column(name.partition("_")[2])
    if column is None and part.shape.kind == "list" and it.purpose.member:
        key = it.thing.key
        return (
            f"{it.type_of(key)}[]",
            f"coalesce((select list({key.name} order by {key.name}) from {it.thing.table}), [])",
        )
    return (it.type_of(column), column.name) if column is not None else None


def answered(it: Making, where: str, alive: bool = True, made: bool = False) -> tuple[str, str]:
    """The `returns` of a tool about one row, and its `return`; `where` finds the row, if it is still `alive`, and is
    not at hand as `$made`.
    """
    shape, entity = it.operation.result, it.thing
    table = f" from {entity.table}" + (f" where {where}" if where else "")
    whole = entity.table, "return $made;" if made else f"return select *{table};"
    if shape is None or shape.kind in ("anything", "map", "list"):
        return whole if alive else ("", "")
    if shape.kind == "record":
        items = parts_of(it, shape.fields)
        it.shown = [(name, sql) for name, _, sql in items]
        rows = any(sql in {c.name for c in entity.all} for _, _, sql in items)
        if rows and not alive:
            key = it.key()
            items = [(n, t, f"${key.name}" if key and sql == entity.key.name else sql) for n, t, sql in items]
            if any(sql in {c.name for c in entity.all} for _, _, sql in items):
                raise Unknown("it shows a row that it has deleted")
            rows = False
        if [(name, sql) for name, _, sql in items] == [(c.name, c.name) for c in entity.all] and alive:
            return whole
        if made:
            own = {c.name for c in entity.all}
            items = [(n, t, f"$made.{sql}" if sql in own else sql) for n, t, sql in items]
            rows = False
        return record_of(items), f"return select {selected(items)}{table if rows else ''};"
    if shape.kind == "nothing":
        return "", ""
    if shape.kind == "boolean" and it.purpose.kind != "one":
        return "boolean", "return true;"
    if not alive:
        return "text", f"return {quoted(f'{spoken(entity.noun).capitalize()} {done(it.purpose.verb)}')};"
    column = entity.column(it.purpose.attribute) if it.purpose.attribute else None
    column = column or (entity.key if it.purpose.kind == "create" else None)
    if column is None and entity.single:
        column = next((one for one in entity.columns if one.shape.kind == shape.kind), None)
    if column is None or (column.shape.kind == "text") != (shape.kind == "text"):
        if shape.kind == "text" and it.purpose.kind != "one":
            return "text", f"return {quoted(f'{spoken(entity.noun).capitalize()} {done(it.purpose.verb)}')};"
        raise Unknown(f"it gives one {shape.kind}, and nothing says which")
    if made:
        return it.type_of(column), f"return $made.{column.name};"
    return it.type_of(column), f"return select {column.name}{table};"


def parts_of(it: Making, parts: tuple[Field, ...]) -> list[tuple[str, str, str]]:
    """Name, type and SQL of each part of a record. Raises `Unknown` where no row keeps most of them."""
    items: list[tuple[str, str, str]] = []
    lost: list[str] = []
    for i, part in enumerate(parts, 1):
        name = legal(part.name, "field", [one[0] for one in items], i)
        found = part_of(it, part)
        if found is None:
            lost.append(part.name)
            type_ = {"integer": "integer", "number": "double", "boolean": "boolean"}.get(part.shape.kind, "text")
            found = f"{type_}?", f"cast(null as {type_})"
        items.append((name, *found))
    if len(lost) * 2 >= len(parts):
        raise Unknown(f"nothing is known of {', '.join(lost)} in its result")
    if lost:
        it.assumed.append(f"{', '.join(lost)}: nothing in the document says where it comes from")
    return items


def answered_rows(it: Making, conditions: list[str]) -> tuple[str, str, str]:
    """The `returns` of a tool about several rows, its `return`, and how a test counts them."""
    entity, shape = it.thing, it.operation.result
    where = f" where {' and '.join(conditions)}" if conditions else ""
    order = f" order by {entity.key.name}"
    whole = f"{entity.table}[]", f"return select * from {entity.table}{where}{order};", "(select count(*) from $found)"
    if shape is None or shape.kind in ("anything", "text"):
        return whole
    parts = shape.fields
    inner = shape.of if shape.kind == "list" else None
    lists = [one for one in parts if one.shape.kind == "list"]
    if inner is None and len(lists) == 1:
        listed = lists[0].shape.of or Shape("text")
        if listed.kind == "record":
            it.assumed.append(f"an array, where the document has it in {lists[0].name!r}")
            inner = listed
        elif len(parts) == 1:
            column = listed_column(it, lists[0].name, listed)
            name = legal(lists[0].name, "field", [], 1)
            rows = f"(select list({column.name}{order}) from {entity.table}{where})"
            return (
                f"{{ {name} {it.type_of(column).rstrip('?')}[] }}",
                f"return select coalesce({rows}, []) as {name};",
                f"len($found.{name})",
            )
    if inner is not None and inner.kind in ("text", "integer", "number"):
        column = listed_column(it, it.operation.name, inner)
        return (
            f"{{ {column.name} {it.type_of(column)} }}[]",
            f"return select {column.name} from {entity.table}{where}{order};",
            whole[2],
        )
    if inner is None and shape.kind == "record" and not lists:
        if all(part.shape.kind == "map" for part in parts):
            it.assumed.append("an array of rows, where the document has a map of them")
            return whole
        inner = shape
        it.assumed.append("an array, where the document shows one row")
    if inner is None or inner.kind != "record":
        return whole
    if inner.kind == "record" and not inner.fields:
        return whole
    items = parts_of(it, inner.fields)
    if [(name, sql) for name, _, sql in items] == [(c.name, c.name) for c in entity.all]:
        return whole
    return f"{record_of(items)}[]", f"return select {selected(items)} from {entity.table}{where}{order};", whole[2]


def listed_column(it: Making, name: str, shape: Shape) -> Column:
    """The column that a list of plain values shows."""
    entity = it.thing
    if entity.members:
        return entity.key
    said = snake(name).split("_")
    for column in entity.all:
        if column.name in said and not column.optional:
            return column
    if (entity.key.shape.kind == "text") == (shape.kind == "text"):
        return (
            entity.naming
            if entity.naming is not None and entity.key.shape.kind == "integer" and not entity.naming.optional
            else entity.key
        )
    if entity.naming is not None and shape.kind == "text" and not entity.naming.optional:
        return entity.naming
    raise Unknown("it lists plain values, and nothing says which")


def gone(it: Making, where: str) -> tuple[str, str]:
    """What a tool gives of a row that is gone: what its parameters say, and how it went."""
    shape = it.operation.result
    if shape is None or shape.kind in ("anything", "map", "list", "nothing"):
        return "", ""
    if shape.kind != "record":
        return answered(it, where, alive=False)
    items: list[tuple[str, str, str]] = []
    for i, part in enumerate(shape.fields, 1):
        name = legal(part.name, "field", [one[0] for one in items], i)
        mine = next((one for one in it.given if snake(one.field.name) == snake(part.name)), None)
        if mine is not None:
            type_ = mine.column.references.key.type if mine.column is not None and mine.column.references else mine.type
            type_ = it.thing.key.type if type_.startswith("->") else type_
            items.append((name, type_, f"${mine.name}"))
            continue
        found = part_of(it, Field(part.name, part.shape, doc=f"{part.doc} result"))
        if found is None or found[1] in {c.name for c in it.thing.all}:
            raise Unknown("it shows a row that it has deleted")
        items.append((name, *found))
    return record_of(items), f"return select {selected(items)};"


def record_of(items: list[tuple[str, str, str]]) -> str:
    return "{ " + ", ".join(f"{name} {type_}" for name, type_, _ in items) + " }"


def selected(items: list[tuple[str, str, str]]) -> str:
    """What a query selects for the parts of a record."""
    return ", ".join(sql if sql == name else f"{sql} as {name}" for name, _, sql in items)
