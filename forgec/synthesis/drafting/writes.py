"""Tools that change rows: make, update and delete them, move them to another status, add amounts."""

from __future__ import annotations

from forgec.starting.values import quoted
from forgec.synthesis.drafting.entities import Column, flag
from forgec.synthesis.drafting.making import Body, Given, Making, Unknown, inside
from forgec.synthesis.drafting.results import answered, gone
from forgec.synthesis.drafting.rows import ROWS
from forgec.synthesis.drafting.words import TAKES, done, same_stem, spoken


def create(it: Making) -> Body:
    entity = it.thing
    several = next((one for one in it.given if one.field.shape.kind == "list" and one.column is None), None)
    if several is not None and len(it.given) == 1 and inside(several.field.shape) == "record":
        return create_many(it, several)
    into = [one for one in it.given if one.column is not None]
    key = next((one for one in into if one.column is entity.key), None)
    if not into or any(one.column is None and one.field.required for one in it.given):
        lost = [one.field.name for one in it.given if one.column is None]
        raise Unknown(f"no row keeps {', '.join(lost)}" if lost else "it makes nothing of nothing")
    columns, values = [], []
    for one in into:
        assert one.column is not None
        columns.append(one.column.name)
        value = f"${one.name}"
        if one.column is entity.key and one.optional and entity.key.shape.kind == "text":
            one.optional, one.default = False, None  # there is nothing else to call the row by
            it.assumed.append(f"{one.field.name} is required")
        elif one.column is entity.key and one.optional:
            value = f"coalesce(${one.name}, (select coalesce(max({entity.key.name}), 0) + 1 from {entity.table}))"
        elif one.optional and one.default is None and not one.column.optional:
            raise Unknown(f"{one.field.name} may be left out, and rows need it")
        values.append(value)
    if not entity.given and key is None and entity.key.name not in columns:
        pass  # the engine makes the key
    owner = it.draught.owners.get(entity.table)
    if owner is not None and it.session is not None and owner.name not in columns:
        columns.append(owner.name)
        values.append(it.session.signed_in)
    status = entity.column("status")
    if status is not None and status.name not in columns:
        columns.append(status.name)
        values.append(quoted(status.values[0] if status.values else "open"))
        it.assumed.append(f"a new {spoken(entity.noun)} is {values[-1]}")
    for column in entity.columns:
        if column.name not in columns and column.type in ("date", "timestamp") and _made_at(column.name):
            columns.append(column.name)
            values.append("today()" if column.type == "date" else "now()")
    lines = []
    if key is not None and not key.optional:
        lines.append(
            f"require not exists (select 1 from {entity.table} where {entity.key.name} = ${key.name})\n"
            f'    else "There is a {spoken(entity.noun)} {{${key.name}}} already";'
        )
    made = f"insert into {entity.table} ({', '.join(columns)}) values ({', '.join(values)})"
    returns, answer = answered(it, "", made=True)
    lines.append(f"let made = {made} returning *;" if "$made" in answer else f"{made};")
    lines += [answer] if answer else []
    shown = [one for one in into if one.column is not entity.key or not one.optional]
    new = it.value(key, ROWS) if key is not None and not key.optional else it.made_key()
    steps = [f"@({it.arguments(shown, ROWS)});", f"expect (select count(*) from {entity.table}) = {ROWS + 1};"]
    steps += it.compared(new, [(one.column, it.value(one, ROWS)) for one in shown if one.column])
    return Body(lines, returns, steps)


def create_many(it: Making, given: Given) -> Body:
    """Make a row of each element of a list."""
    entity, shape = it.thing, given.field.shape.of
    assert shape is not None
    given.optional = False
    parts = [
        (name, column) for name, part, _, _ in it.draught.records.parts(shape) if (column := entity.column(part.name))
    ]
    if not any(column is entity.key for _, column in parts) and entity.given:
        raise Unknown("it makes rows without their keys")
    into = ", ".join(column.name for _, column in parts)
    values = ", ".join(f"e.part.{name}" for name, _ in parts)
    lines = [f"insert into {entity.table} ({into}) select {values} from unnest(${given.name}) as e(part);"]
    row = ", ".join(f"{quoted(name)}: {it.draught.world.value(entity, column, ROWS)}" for name, column in parts)
    steps = [f"@({given.name}: [{{{row}}}]);", f"expect (select count(*) from {entity.table}) = {ROWS + 1};"]
    steps += it.compared(new_key(it, parts), [(c, it.draught.world.value(entity, c, ROWS)) for _, c in parts])
    return Body(lines, "", steps)


def new_key(it: Making, parts: list[tuple[str, Column]]) -> str:
    given = next((column for _, column in parts if column is it.thing.key), None)
    return it.made_key() if given is None else it.draught.world.value(it.thing, given, ROWS)


def update(it: Making) -> Body:
    entity, key = it.thing, it.key()
    if key is None and not entity.single:
        keyed = [one for one in it.given if one.column is entity.key]
        if not keyed:
            raise Unknown("nothing says which row it changes")
        key = keyed[0]  # the document forgets to say that it is required
        key.type, key.optional, key.default = f"-> {entity.table}", False, None
    row = it.row(0 if entity.single else 1)
    sets: list[str] = []
    shown: list[tuple[str, Column, str]] = []
    inside: list[str] = []
    for one in it.given:
        if one is key:
            continue
        if one.field.shape.kind == "record" and one.column is None:
            parts = it.draught.records.parts(one.field.shape)
            for name, part, _, _ in parts:
                column = entity.column(part.name)
                if column is None or column is entity.key:
                    continue
                sets.append(f"{column.name} = coalesce(${one.name}.{name}, {column.name})")
                value = it.other(column, row)
                if column.scalar and value != row[column.name] and not shown:
                    shown.append((one.name, column, value))
                    inside.append(f"{one.name}: {{{quoted(name)}: {value}}}")
            continue
        if one.column is None:
            if one.field.required:
                raise Unknown(f"no row keeps {one.field.name}")
            it.assumed.append(f"{one.field.name} changes nothing")
            continue
        column = one.column
        value = f"${one.name}" if not one.optional else f"coalesce(${one.name}, {column.name})"
        sets.append(f"{column.name} = {value}")
        shown.append((one.name, column, it.other(column, row)))
    if not sets:
        raise Unknown("it changes nothing that rows keep")
    where = f"{entity.key.name} = ${key.name}" if key is not None else ""
    returns, answer = answered(it, where)
    target = row[entity.key.name] if key is not None else ""
    arguments = [f"{key.name}: {target}", *inside] if key is not None else inside
    arguments += [
        f"{name}: {value}"
        for name, _, value in shown
        if value != "null" and not any(name == i.partition(":")[0] for i in inside)
    ]
    lines = [f"update {entity.table} set {', '.join(sets)}{' where ' if where else ''}{where};"]
    steps = [f"@({', '.join(arguments)});", *it.compared(target, [(c, v) for _, c, v in shown])]
    if not any(c.scalar and v != row[c.name] for _, c, v in shown):
        raise Unknown("nothing that it changes can be compared")
    return Body([*lines, answer] if answer else lines, returns, steps)


def delete(it: Making) -> Body:
    entity, key = it.thing, it.key()
    last = it.row(ROWS - 1)
    if key is not None:
        where, target, arguments = f"{entity.key.name} = ${key.name}", last[entity.key.name], [key]
        keyed, test = where, ""
    else:
        by = [one for one in it.given if one.field.required and one.column is not None]
        if not it.purpose.late or not by or entity.given:
            raise Unknown("nothing says which row it deletes")
        test = " and ".join(f"{one.column.name} = ${one.name}" for one in by if one.column is not None)
        keyed = f"{entity.key.name} = (select max({entity.key.name}) from {entity.table} where {test})"
        target, arguments = last[entity.key.name], by
    missing = f'else "There is no such {spoken(entity.noun)}";'
    returns, answer = gone(it, keyed)
    lines = [f"delete from {entity.table} where {keyed};"]
    if test:
        lines.insert(0, f"require exists (select 1 from {entity.table} where {test})\n    {missing}")
    steps = [
        f"@({it.arguments(arguments, ROWS - 1)});",
        f"expect not exists (select 1 from {entity.table} where {entity.key.name} = {target});",
        f"expect (select count(*) from {entity.table}) = {ROWS - 1};",
    ]
    return Body([*lines, answer] if answer else lines, returns, steps)


def status(it: Making) -> Body:
    entity, key = it.thing, it.key()
    if key is None:
        raise Unknown("nothing says which row it is about")
    verb = it.purpose.verb
    status, truth = entity.column("status"), flag(entity, verb)
    sets: list[str] = []
    wanted: list[tuple[Column, str]] = []
    if truth is not None:
        sets.append(f"{truth.name} = true")
        wanted.append((truth, "true"))
    elif status is not None:
        value = next((v for v in status.values if same_stem(verb, v)), None if status.values else done(verb))
        if value is None:
            raise Unknown(f"no status is what to {verb} leads to")
        sets.append(f"{status.name} = {quoted(value)}")
        wanted.append((status, quoted(value)))
    moved = [column.name for column, _ in wanted]
    before = [
        row for row in it.draught.world.rows[entity.table] if [row[name] for name in moved] != [v for _, v in wanted]
    ]
    target = before[0][entity.key.name]
    shown = [key]
    for one in it.given:
        if one is key or one.column is None or one.column in (status, truth):
            continue
        sets.append(
            f"{one.column.name} = "
            + (f"${one.name}" if not one.optional else f"coalesce(${one.name}, {one.column.name})")
        )
        wanted.append((one.column, it.value(one, 2)))
        shown.append(one)
    returns, answer = answered(it, f"{entity.key.name} = ${key.name}")
    lines = [f"update {entity.table} set {', '.join(sets)} where {entity.key.name} = ${key.name};"]
    arguments = [f"{key.name}: {target}"] + [f"{one.name}: {it.value(one, 2)}" for one in shown if one is not key]
    return Body(
        [*lines, answer] if answer else lines, returns,
        [f"@({', '.join(arguments)});", *it.compared(target, wanted)],
    )  # fmt: skip


def add_amount(it: Making) -> Body:
    """Put an amount to what a row holds, or take it from there."""
    entity, key = it.thing, it.key()
    amounts = [one for one in it.given if one.field.shape.kind in ("number", "integer") and one is not key]
    held = next((c for c in entity.columns if c.name in ("balance", "funds", "credit", "points", "stock")), None)
    if held is None or len(amounts) != 1 or len(it.given) != 1 + (key is not None):
        raise Unknown("nothing says what it adds to what")
    amount = amounts[0]
    amount.type = held.type
    sign = "-" if it.purpose.verb in TAKES else "+"
    where, row = "", entity.table
    if not entity.single:
        if key is None:
            raise Unknown(f"nothing says to which {spoken(entity.noun)}")
        where, row = f" where {entity.key.name} = ${key.name}", f"{entity.table}[${key.name}]"
    lines = [f'require ${amount.name} > 0 else "The {spoken(amount.field.name)} must be more than nothing";']
    if sign == "-":
        lines.append(f'require {row}.{held.name} >= ${amount.name} else "There is not as much as {{${amount.name}}}";')
    lines.append(f"update {entity.table} set {held.name} = {held.name} {sign} ${amount.name}{where};")
    returns, answer = answered(it, where.removeprefix(" where "))
    before = it.row(1 if not entity.single else 0)
    target = f"{entity.table}[{before[entity.key.name]}]" if not entity.single else entity.table
    given = ([f"{key.name}: {before[entity.key.name]}"] if key is not None else []) + [f"{amount.name}: 2"]
    steps = [f"@({', '.join(given)});", f"expect {target}.{held.name} = {before[held.name]} {sign} 2;"]
    return Body([*lines, answer] if answer else lines, returns, steps)


def _made_at(name: str) -> bool:
    return any(word in name for word in ("created", "creation", "placed", "opened", "sent", "posted", "order_time"))
