"""Tools about who is signed in."""

from __future__ import annotations

from forgec.starting.names import legal
from forgec.starting.values import quoted
from forgec.synthesis.drafting.making import Body, Given, Making, Unknown
from forgec.synthesis.drafting.results import record_of, selected
from forgec.synthesis.drafting.words import spoken


def sign_in(it: Making, who: str) -> list[str]:
    session = it.session
    if session is None or session.login is None or session.who is None:
        raise Unknown("it is about who is signed in, and nobody can sign in")
    row = next(r for r in it.draught.world.rows[session.users.table] if r[session.column] == who)
    column = session.users.column(session.who.name)
    assert column is not None
    arguments = f"{legal(session.who.name, 'parameter', [], 1)}: {row[column.name]}"
    if session.secret is not None and session.secret_field is not None:
        arguments += f", {legal(session.secret_field.name, 'parameter', [], 2)}: {row[session.secret.name]}"
    return [f"{legal(session.login.operation.name, 'tool', [], 1)}({arguments});"]


def told(it: Making, value: str, failing: str = "") -> tuple[str, str, str]:
    """The `returns` of a tool about the session, its `return`, and the name of the field that says so."""
    shape = it.operation.result
    if shape is None or shape.kind in ("nothing", "anything", "map"):
        return "", "", ""
    if shape.kind == "boolean":
        return "boolean", f"return {value};", ""
    if shape.kind == "text":
        return "text", f"return {quoted(failing)};", ""
    items: list[tuple[str, str, str]] = []
    for i, part in enumerate(shape.fields, 1):
        name = legal(part.name, "field", [one[0] for one in items], i)
        if part.shape.kind == "boolean":
            items.append((name, "boolean", value))
        elif part.shape.kind == "text":
            items.append((name, "text", quoted(failing)))
        else:
            it.assumed.append(f"{part.name}: nothing in the document says where it comes from")
            items.append((name, "integer?", "cast(null as integer)"))
    if not items:
        return "", "", ""
    truths = [name for name, type_, _ in items if type_ == "boolean"]
    return record_of(items), f"return select {selected(items)};", truths[0] if truths else ""


def login(it: Making) -> Body:
    session = it.session
    if session is None or session.login is not it.purpose or session.who is None:
        raise Unknown("nothing says who signs in")
    users, fields = session.users, it.operation.parameters
    if len(fields) > (2 if session.secret is not None else 1):
        raise Unknown("it asks for more than a name and a password")
    names = [legal(one.name, "parameter", [], i) for i, one in enumerate(fields, 1)]
    column = users.column(session.who.name)
    assert column is not None
    it.given = [
        Given(one, name, "text" if one is session.secret_field else column.type, one.doc, False)
        for one, name in zip(fields, names, strict=True)
    ]
    who = names[fields.index(session.who)]
    tests = [f"{column.name} = ${who}"]
    wrong = f"There is no {spoken(users.noun)} {{${who}}}"
    if session.secret is not None and session.secret_field is not None:
        tests.append(f"{session.secret.name} = ${names[fields.index(session.secret_field)]}")
        wrong = "The name or the password is wrong"
    where = " and ".join(tests)
    returns, answer, _ = told(it, "true", "Signed in")
    lines = [
        f'require exists (select 1 from {users.table} where {where}) else "{wrong}";',
        f"update session set {session.column} = "
        + (f"${who};" if column is users.key else f"(select min({users.key.name}) from {users.table} where {where});"),
    ]
    row = it.draught.world.rows[users.table][1]
    wrong_row = it.draught.world.rows[users.table][2]
    steps = []
    right = [f"{who}: {row[column.name]}"]
    if session.secret is not None and session.secret_field is not None:
        name = names[fields.index(session.secret_field)]
        steps.append(f'@({who}: {row[column.name]}, {name}: {wrong_row[session.secret.name]}) fails "{wrong}";')
        right.append(f"{name}: {row[session.secret.name]}")
    steps += [f"expect {session.signed_in} is null;"]
    steps += [f"@({', '.join(right)});", f"expect {session.signed_in} = {row[users.key.name]};"]
    return Body([*lines, answer] if answer else lines, returns, steps)


def logout(it: Making) -> Body:
    session = it.session
    if session is None or any(one.required for one in it.operation.parameters):
        raise Unknown("nothing says who signs out")
    returns, answer, _ = told(it, "true", "Signed out")
    lines = [
        f'require {session.signed_in} is not null else "Nobody is signed in";',
        f"update session set {session.column} = null;",
    ]
    steps = ['@() fails "Nobody is signed in";']
    if session.login is not None:
        steps += [*sign_in(it, it.draught.world.rows[session.users.table][0][session.column]), "@();"]
    return Body([*lines, answer] if answer else lines, returns, [*steps, f"expect {session.signed_in} is null;"])


def tell_session(it: Making) -> Body:
    session = it.session
    if session is None or it.operation.parameters:
        raise Unknown("nothing says whose session it is about")
    returns, answer, name = told(it, f"{session.signed_in} is not null")
    if not name and returns != "boolean":
        raise Unknown("the document does not say how it tells")
    steps = ["before = @();", f"expect not $before.{name};"] if name else ["@() returns false;"]
    if session.login is not None:
        steps += sign_in(it, it.draught.world.rows[session.users.table][0][session.column])
        steps += ["after = @();", f"expect $after.{name};"] if name else ["@() returns true;"]
    return Body([answer], returns, steps)
