"""Tools that change rows: make, update and delete them, move them to another status, add amounts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from forgec.starting.names import snake
from forgec.starting.values import quoted
from forgec.synthesis.drafting.entities import Column, Entity, flag, standing
from forgec.synthesis.drafting.making import Body, Given, Making, Unknown, inside
from forgec.synthesis.drafting.results import answered, gone
from forgec.synthesis.drafting.rows import ROWS
from forgec.synthesis.drafting.sessions import SECRETS
from forgec.synthesis.drafting.words import TAKES, done, same_stem, spoken, undone


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
            one.optional = False
            it.assumed.append(f"{one.field.name} is required")
        values.append(value)
    if not entity.given and key is None and entity.key.name not in columns:
        pass  # the engine makes the key
    owner = it.draught.owners.get(entity.table)
    if owner is not None and it.session is not None and owner.name not in columns:
        columns.append(owner.name)
        values.append(it.session.signed_in)
    status = standing(entity)
    if status is not None and status.name not in columns:
        columns.append(status.name)
        values.append(quoted(status.values[0] if status.values else "completed" if it.purpose.moves else "open"))
        it.assumed.append(f"a new {spoken(entity.noun)} is {values[-1]}")
    for column in entity.columns:
        if column.name not in columns and column.type in ("date", "timestamp") and _made_at(column.name):
            columns.append(column.name)
            values.append("today()" if column.type == "date" else "now()")
        if column.name not in columns and column.type == "boolean" and not column.optional:
            columns.append(column.name)
            values.append("false")
    lines = []
    if key is not None and not key.optional:
        lines.append(
            f"require not exists (select 1 from {entity.table} where {entity.key.name} = ${key.name})\n"
            f'    else "There is a {spoken(entity.noun)} {{${key.name}}} already";'
        )
    moved = Moved.between(it) if it.purpose.moves else None
    lines += moved.lines if moved is not None else []
    made = f"insert into {entity.table} ({', '.join(columns)}) values ({', '.join(values)})"
    returns, answer = answered(it, "", made=True)
    lines.append(f"let made = {made} returning *;" if "$made" in answer else f"{made};")
    lines += [answer] if answer else []
    shown = [one for one in into if one.column is not entity.key or not one.optional]
    new = it.value(key, ROWS) if key is not None and not key.optional else it.made_key()
    steps = [f"@({it.arguments(shown, ROWS)});", f"expect (select count(*) from {entity.table}) = {ROWS + 1};"]
    steps += it.compared(new, [(one.column, it.value(one, ROWS)) for one in shown if one.column])
    if moved is not None:
        steps = moved.steps(it, shown)
    return Body(lines, returns, steps)


@dataclass
class Moved:
    """What a transfer does besides being noted: it takes an amount from one row and puts it to another."""

    source: Given
    target: Given
    amount: Given
    table: Entity
    held: Column

    @classmethod
    def between(cls, it: Making) -> Moved:
        """Raises `Unknown` where nothing says what holds the amount."""
        sides = [one for one in it.given if one.column is not None and one.column.references is not None]
        amounts = [one for one in it.given if one.field.shape.kind in ("number", "integer") and one not in sides]
        tables = {id(one.column.references): one.column.references for one in sides if one.column is not None}
        table = next(iter(tables.values()), None)
        held = holding(table) if table is not None else None
        if len(sides) != 2 or len(tables) != 1 or len(amounts) != 1 or table is None or held is None:
            raise Unknown("nothing says what it moves, or between what")
        if not re.match(r"from|source|src|sender|origin", snake(sides[0].field.name)):
            sides.reverse()
        return cls(sides[0], sides[1], amounts[0], table, held)

    @property
    def lines(self) -> list[str]:
        source, target, amount, held = self.source.name, self.target.name, self.amount.name, self.held.name
        table, key = self.table.table, self.table.key.name
        return [
            f'require ${source} <> ${target} else "There is nothing to move";',
            f'require ${amount} > 0 else "The {spoken(self.amount.field.name)} must be more than nothing";',
            f'require {table}[${source}].{held} >= ${amount} else "There is not as much as {{${amount}}}";',
            f"update {table} set {held} = {held} - ${amount} where {key} = ${source};",
            f"update {table} set {held} = {held} + ${amount} where {key} = ${target};",
        ]

    def steps(self, it: Making, shown: list[Given]) -> list[str]:
        rows = it.draught.world.rows[self.table.table]
        key, held = self.table.key.name, self.held.name
        values = {id(self.source): rows[1][key], id(self.target): rows[0][key], id(self.amount): "2"}
        arguments = ", ".join(f"{one.name}: {values.get(id(one), it.value(one, ROWS))}" for one in shown)
        return [
            f"@({arguments});",
            f"expect {self.table.table}[{rows[1][key]}].{held} = {rows[1][held]} - 2;",
            f"expect {self.table.table}[{rows[0][key]}].{held} = {rows[0][held]} + 2;",
            f"expect (select count(*) from {it.thing.table}) = {ROWS + 1};",
        ]


def holding(entity: Entity) -> Column | None:
    """The column that says how much there is of what is put in and taken out."""
    names = ("balance", "funds", "credit", "points", "stock")
    return next((c for c in entity.columns if c.name.rpartition("_")[2] in names), None)


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
        if not (it.purpose.late or it.purpose.joins) or not by or entity.given:
            raise Unknown("nothing says which row it deletes")
        test = " and ".join(f"{one.column.name} = ${one.name}" for one in by if one.column is not None)
        latest = f"{entity.key.name} = (select max({entity.key.name}) from {entity.table} where {test})"
        keyed = test if it.purpose.joins else latest
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
    verb, into = it.purpose.verb, it.purpose.into
    status, truth = standing(entity), flag(entity, into or verb)
    sets: list[str] = []
    wanted: list[tuple[Column, str]] = []
    if truth is not None:
        mark = "false" if undone(verb) and undone(verb)[:4] in truth.name else "true"
        sets.append(f"{truth.name} = {mark}")
        wanted.append((truth, mark))
    elif undone(verb) == "assign":
        return unassign(it, key)
    elif status is not None:
        leads = (into, *it.purpose.qualifiers)
        fitting = [v for v in status.values if v in leads or (not into and same_stem(verb, v))]
        value = next(iter(fitting), None if status.values else into or done(verb))
        if value is None:
            raise Unknown(f"no status is what to {verb} leads to")
        sets.append(f"{status.name} = {quoted(value)}")
        wanted.append((status, quoted(value)))
    moved = [column.name for column, _ in wanted]
    before = [
        row for row in it.draught.world.rows[entity.table] if [row[name] for name in moved] != [v for _, v in wanted]
    ]
    target = before[0][entity.key.name]
    checks, arguments = [], [f"{key.name}: {target}"]
    shown = [key]
    for one in it.given:
        if one is key or one.column is None or one.column in (status, truth):
            continue
        if one.column.name in SECRETS and not one.optional:
            checks.append(
                f"require {entity.table}[${key.name}].{one.column.name} = ${one.name} "
                f'else "The {spoken(one.column.name)} is wrong";'
            )
            arguments.append(f"{one.name}: {before[0][one.column.name]}")
            continue
        sets.append(
            f"{one.column.name} = "
            + (f"${one.name}" if not one.optional else f"coalesce(${one.name}, {one.column.name})")
        )
        wanted.append((one.column, it.value(one, 2)))
        shown.append(one)
    returns, answer = answered(it, f"{entity.key.name} = ${key.name}")
    lines = [*checks, f"update {entity.table} set {', '.join(sets)} where {entity.key.name} = ${key.name};"]
    arguments += [f"{one.name}: {it.value(one, 2)}" for one in shown if one is not key]
    return Body(
        [*lines, answer] if answer else lines, returns,
        [f"@({', '.join(arguments)});", *it.compared(target, wanted)],
    )  # fmt: skip


def unassign(it: Making, key: Given) -> Body:
    """Take away who something is assigned to."""
    entity = it.thing
    held = next((c for c in entity.columns if c.name.startswith("assign") and c.optional and c.scalar), None)
    if held is None or len(it.given) != 1:
        raise Unknown("nothing says what it takes away")
    where = f"{entity.key.name} = ${key.name}"
    target = it.row(1)[entity.key.name]
    returns, answer = answered(it, where)
    lines = [f"update {entity.table} set {held.name} = null where {where};", *([answer] if answer else [])]
    row = f"{entity.table}[{target}].{held.name}"
    return Body(lines, returns, [f"expect {row} is not null;", f"@({key.name}: {target});", f"expect {row} is null;"])


def add_amount(it: Making) -> Body:
    """Put an amount to what a row holds, or take it from there."""
    entity, key = it.thing, it.key()
    amounts = [one for one in it.given if one.field.shape.kind in ("number", "integer") and one is not key]
    held = holding(entity)
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
