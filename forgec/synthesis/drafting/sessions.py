"""Who is signed in: the people who can sign in, the one row that says who has, and the rows that are somebody's own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from forgec.documents import Field, Shape
from forgec.starting.names import legal, snake
from forgec.synthesis.drafting.entities import Column, Entity, point
from forgec.synthesis.drafting.purposes import Purpose
from forgec.synthesis.drafting.words import plural

_OWNERS = (
    "created_by",
    "owner",
    "owner_id",
    "sender",
    "sender_id",
    "author",
    "author_id",
    "user_id",
    "username",
    "user",
)
_OWN = re.compile(r"\b(current(ly)? (\w+ )?user|logged[- ]in user|authenticated user|your|my)\b", re.I)
SECRETS = ("password", "pin", "secret", "passcode", "token")


@dataclass
class Session:
    """The single row `session`: its column holds the key of who is signed in."""

    users: Entity
    login: Purpose | None
    who: Field | None
    """The parameter that says who signs in."""
    secret: Column | None
    secret_field: Field | None

    @property
    def column(self) -> str:
        return self.users.key.name

    @property
    def signed_in(self) -> str:
        """The key of who is signed in, as SQL."""
        return f"session.{self.column}"


def session(found: list[Purpose], entities: dict[str, Entity]) -> Session | None:
    """The session that the operations speak of; None where nobody signs in. Adds the people, where they are missing."""
    login = next((one for one in found if one.kind == "login"), None)
    if login is None and not any(one.kind in ("logout", "session") for one in found):
        return None
    fields = list(login.operation.parameters) if login is not None else []
    secret_field = next((one for one in fields if any(word in snake(one.name) for word in SECRETS)), None)
    who = next((one for one in fields if one is not secret_field and one.shape.kind in ("text", "integer")), None)
    name = snake(who.name) if who is not None else "username"
    users = next((e for e in entities.values() if e.key.name == name or e.noun in ("user", "account", "member")), None)
    if users is None or users.column(name) is None:
        users = Entity("user" if "user" not in entities else "login", "", Column(name, "text", Shape("text"), False))
        users.table = legal(plural(users.noun), "table", [one.table for one in entities.values()], 1)
        users.given = True
        entities[users.noun] = users
    secret = None
    if secret_field is not None:
        secret = users.column(secret_field.name)
        if secret is None:
            secret = Column(legal(secret_field.name, "column", [], 1), "text", Shape("text"), False)
            users.columns.append(secret)
    return Session(users, login, who, secret, secret_field)


def own(found: list[Purpose], entities: dict[str, Entity], session: Session) -> Mapping[str, Column]:
    """The columns that say whose a row is, by table; one is added where operations speak of somebody's own rows."""
    owners: dict[str, Column] = {}
    for entity in {id(one): one for one in entities.values()}.values():
        if entity is session.users:
            continue
        about = [one for one in found if entities.get(one.noun) is entity]
        given = {snake(p.name) for one in about if one.kind == "create" for p in one.operation.parameters}
        column = next((c for name in _OWNERS for c in entity.columns if c.name == name and name not in given), None)
        if column is None and any(speaks_of_own(one, session) for one in about) and not given & set(_OWNERS):
            column = Column("created_by", "text", Shape("text"), True, doc="Whose it is")
            entity.columns.append(column)
        if column is not None and column.shape.kind in ("text", "integer"):
            point(column, session.users)
            column.optional = True
            owners[entity.table] = column
    return owners


def speaks_of_own(purpose: Purpose, session: Session) -> bool:
    """Whether an operation is about the rows of who is signed in."""
    if purpose.kind not in ("many", "count"):
        return False
    return (
        session.users.noun in purpose.qualifiers
        or "my" in purpose.qualifiers
        or bool(_OWN.search(purpose.operation.doc))
    )
