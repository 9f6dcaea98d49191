"""Tools that show: one row, rows that satisfy conditions, how many there are."""

from __future__ import annotations

import re
from collections.abc import Callable

from forgec.starting.names import legal, snake
from forgec.starting.values import quoted
from forgec.synthesis.drafting.entities import Column
from forgec.synthesis.drafting.making import Body, Given, Making, Unknown, typed
from forgec.synthesis.drafting.parameters import ALL, bound, is_paging, is_whole_text
from forgec.synthesis.drafting.results import answered, answered_rows
from forgec.synthesis.drafting.sessions import speaks_of_own
from forgec.synthesis.drafting.signing import sign_in
from forgec.synthesis.drafting.words import plural, spoken


def show_one(it: Making) -> Body:
    entity, key = it.thing, it.key()
    if entity.single:
        return show_single(it)
    if key is not None:
        where = f"{entity.key.name} = ${key.name}"
        by = [key]
    else:
        by = [one for one in it.given if one.field.required]
        for one in by:
            if one.column is None and snake(one.field.name) in (entity.noun, f"{entity.noun}_name", "name"):
                one.column = entity.naming
                one.type = one.column.type if one.column is not None else one.type
        if not by or any(one.column is None for one in by):
            raise Unknown("nothing says which row it shows")
        where = " and ".join(f"{one.column.name} = ${one.name}" for one in by if one.column is not None)
    it.given = [one for one in it.given if one in by or not one.field.required]
    if key is None:
        where = f"{entity.key.name} = (select min({entity.key.name}) from {entity.table} where {where})"
    returns, answer = answered(it, where)
    if not answer:
        raise Unknown("the document does not say what it gives")
    if key is None:
        answer = answer[:-1] + f'\n    else "There is no such {spoken(entity.noun)}";'
    for one in it.given:
        if one not in by:
            it.assumed.append(f"{one.field.name} changes nothing")
    row = it.row(1)
    steps = [f"found = @({it.arguments(by, 1)});"]
    if returns.startswith("{") or returns == entity.table:
        shown = [(sql, name) for name, sql in it.shown] or [(c.name, c.name) for c in entity.all]
        looked = {one.column.name for one in by if one.column is not None}
        pairs = [(c, out) for c in entity.all for col, out in shown if c.name == col and c.scalar]
        pairs = [p for p in pairs if row[p[0].name] != "null"]
        told = [p for p in pairs if p[0].name not in looked] or pairs
        if not told:
            raise Unknown("nothing that it shows can be compared")
        steps += [f"expect $found.{out} = {typed(column, row[column.name])};" for column, out in told]
    else:
        column = entity.column(it.purpose.attribute) or entity.key
        steps = [f"@({it.arguments(by, 1)}) returns {typed(column, row[column.name])};"]
    return Body([answer], returns, steps)


def show_single(it: Making) -> Body:
    """Show the one row of a table that has no other."""
    entity = it.thing
    if it.given:
        raise Unknown("there is one row, and it asks which")
    returns, answer = answered(it, "")
    if answer and not returns.startswith("{") and returns != entity.table:
        column = next(one for one in entity.columns if f"select {one.name} " in answer)
        return Body([answer], returns, [f"@() returns {typed(column, it.row(0)[column.name])};"])
    steps = ["found = @();"]
    steps += [
        f"expect $found.{name} = {typed(column, it.row(0)[column.name])};"
        for name, sql in it.shown or [(c.name, c.name) for c in entity.all]
        for column in entity.all
        if column.name == sql and column.scalar
    ]
    return Body([answer], returns, steps)


def show_many(it: Making) -> Body:
    conditions, shown = filters(it)
    entity = it.thing
    steps: list[str] = []
    rows = it.draught.world.rows[entity.table]
    if it.session is not None and speaks_of_own(it.purpose, it.session) and entity.table in it.draught.owners:
        owner = it.draught.owners[entity.table]
        conditions.insert(0, f"{owner.name} = {it.session.signed_in}")
        steps += sign_in(it, rows[0][owner.name])
        rows = [row for row in rows if row[owner.name] == rows[0][owner.name]]
    returns, select, count = answered_rows(it, conditions)
    arguments, number = shown(rows)
    steps += [f"found = @({arguments});", f"expect {count} = {number};"]
    return Body([select], returns, steps)


def filters(it: Making) -> tuple[list[str], Callable[[list[dict[str, str]]], tuple[str, int]]]:
    """What rows have to satisfy, and arguments of a test with the number of rows that do."""
    entity = it.thing
    conditions: list[str] = []
    equal: list[tuple[Given, Column]] = []
    rest: list[Given] = []
    fuzzy = it.purpose.verb == "search" or "fuzzy" in it.operation.doc.lower()
    for one in it.given:
        column, value = one.column, f"${one.name}"
        lacking = f"{value} is null or " if one.optional else ""
        limits = bound(one.field.name, entity)
        if column is not None and column.scalar:
            texts = column.textual and column.references is None and column is not entity.key
            part = fuzzy and texts and "exact" not in one.doc.lower()
            test = f"contains(lower({column.name}), lower({value}))" if part else f"{column.name} = {value}"
            if column.values and one.type != column.type:  # it has values more than rows may have
                test = f"cast({column.name} as text) = cast({value} as text)"
                every = [quoted(word) for word in one.field.shape.values if word.lower() in ALL]
                lacking += "".join(f"{value} = {word} or " for word in every)
            if column is entity.key and one.type.startswith("->"):
                one.type = entity.key.type
            conditions.append(f"({lacking}{test})" if lacking else test)
            equal.append((one, column))
        elif limits is not None and one.field.shape.kind != "list":
            day = one.type == "date" and limits[0].type == "timestamp"
            one.type = one.type if day else limits[0].type
            test = f"{f'cast({limits[0].name} as date)' if day else limits[0].name} {limits[1]} {value}"
            conditions.append(f"({lacking}{test})" if lacking else test)
            rest.append(one)
        elif is_whole_text(one.field.name) and one.field.shape.kind in ("text", "list"):
            texts_ = [c.name for c in entity.columns if c.textual and c.references is None] or [entity.key.name]
            word = value if one.field.shape.kind == "text" else "k.word"
            found = " or ".join(f"contains(lower({name}), lower({word}))" for name in texts_)
            if one.field.shape.kind == "list":
                found = f"exists (select 1 from unnest({value}) as k(word) where {found})"
            conditions.append(f"({lacking}{found})" if lacking or " or " in found else found)
            rest.append(one)
        elif one.field.shape.kind == "list":
            several = among(it, one)
            if several is None:
                raise Unknown(f"{one.field.name} names nothing that rows keep")
            conditions.append(f"({lacking}{several})" if lacking else several)
            rest.append(one)
        elif is_paging(one.field.name) or not one.field.required:
            it.assumed.append(f"{one.field.name} changes nothing yet")
        else:
            raise Unknown(f"{one.field.name} names nothing that rows keep")
    return conditions, lambda rows: example(it, rows, equal, rest)


def among(it: Making, one: Given) -> str | None:
    """The condition that a row is among what a list names."""
    column = it.thing.column(one.field.name)
    if column is not None and column.shape.kind == "list":
        inner = column.shape.of
        if inner is not None and inner.kind == "text":
            return f"list_has_any({column.name}, ${one.name})"
        named = inner.field("name") if inner is not None else None
        if named is not None:
            return (
                f"exists (select 1 from unnest({column.name}) as e(part) where list_contains(${one.name}, e.part.name))"
            )
        return None
    stem = snake(one.field.name).removesuffix("s")
    scalar = it.thing.column(stem) or it.thing.column(f"{stem}_id")
    if scalar is None and it.thing.table == plural(stem):
        scalar = it.thing.key
    return f"list_contains(${one.name}, {scalar.name})" if scalar is not None and scalar.scalar else None


def example(
    it: Making, rows: list[dict[str, str]], equal: list[tuple[Given, Column]], rest: list[Given]
) -> tuple[str, int]:
    """Arguments that some rows of the world satisfy, and how many do: by equal values as far as there are any."""
    chosen = [(one, column) for one, column in equal if one.field.required] or equal[:1]
    row = rows[0] if rows else {}
    arguments = [f"{one.name}: {row[column.name]}" for one, column in chosen if row[column.name] != "null"]
    kept = [
        r for r in rows if all(r[column.name] == row[column.name] for one, column in chosen)
    ]  # fmt: skip
    for one in rest:
        limits = bound(one.field.name, it.thing)
        if limits is not None and one.field.shape.kind != "list":
            column, sign = limits
            low = sign == ">="
            edge = rows[1 if low else -2][column.name] if len(rows) > 2 else row[column.name]
            day = one.type == "date" and column.type == "timestamp"
            arguments.append(f"{one.name}: " + (f"date {edge[:11]}'" if day else typed(column, edge)))
            kept = [r for r in kept if (rows.index(r) >= 1 if low else rows.index(r) <= len(rows) - 2)]
        elif is_whole_text(one.field.name):
            texts = [c.name for c in it.thing.columns if c.textual and c.references is None] or [it.thing.key.name]
            word = row[texts[0]]
            arguments.append(f"{one.name}: {word if one.field.shape.kind == 'text' else f'[{word}]'}")
            kept = [r for r in kept if any(word.strip("'").lower() in r[name].strip("'").lower() for name in texts)]
        elif one.field.required or not chosen:
            column_ = it.thing.column(one.field.name)
            if column_ is not None and column_.shape.kind == "list":
                inner = column_.shape.of
                name = inner.field("name") if inner is not None and inner.kind == "record" else None
                value = row[column_.name]
                if name is not None:
                    found = re.search(r"'name': ('(?:[^']|'')*')", value)
                    value = f"[{found[1]}]" if found else "[]"
                arguments.append(f"{one.name}: {value}")
                wanted = value.strip("[]")
                kept = [r for r in kept if wanted in r[column_.name]]
            else:
                stem = snake(one.field.name).removesuffix("s")
                scalar = it.thing.column(stem) or it.thing.column(f"{stem}_id") or it.thing.key
                arguments.append(f"{one.name}: [{row[scalar.name]}]")
                kept = [r for r in kept if r[scalar.name] == row[scalar.name]]
    return ", ".join(arguments), len(kept)


def count_rows(it: Making) -> Body:
    entity, shape = it.thing, it.operation.result
    fields = [one for one in shape.fields if one.shape.kind == "integer"] if shape is not None else []
    if (shape is None or shape.kind in ("integer", "anything", "number")) and (shape is not None or it.given):
        conditions, shown = filters(it)
        where = f" where {' and '.join(conditions)}" if conditions else ""
        arguments, number = shown(it.draught.world.rows[entity.table])
        return Body(
            [f"return select count(*) from {entity.table}{where};"], "integer", [f"@({arguments}) returns {number};"]
        )
    if shape is None or len(shape.fields) != 1 or not fields:
        raise Unknown("nothing says what it counts")
    conditions, shown = filters(it)
    where = f" where {' and '.join(conditions)}" if conditions else ""
    arguments, number = shown(it.draught.world.rows[entity.table])
    name = legal(fields[0].name, "field", [], 1)
    lines = [f"return select count(*) as {name} from {entity.table}{where};"]
    return Body(lines, f"{{ {name} integer }}", [f"found = @({arguments});", f"expect $found.{name} = {number};"])
