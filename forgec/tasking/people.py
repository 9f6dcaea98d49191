"""Who asks: the table of the people that a desk serves, and what belongs to each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from forgec.model import spec as m
from forgec.model.uses import writes_of
from forgec.tasking.parameters import Meaning

_PERSONAL = (
    "email", "e_mail", "username", "user_name", "password", "phone", "number", "holder", "first_name", "badge", "role",
    "surname", "last_name", "born", "birthday", "date_of_birth",
)  # fmt: skip


@dataclass(frozen=True)
class People:
    """`table` is that of the people, None where there is none.

    `owned` are the columns of other tables that say whose a row is; `device` is the column of a single on the user's
    side that says who the user is.
    """

    table: str | None = None
    key: str = ""
    owned: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    device: tuple[str, str] | None = None

    def are_owners(self, table: str) -> bool:
        return table in self.owned


def people_of(spec: m.Spec, meanings: Mapping[str, Mapping[str, Meaning]]) -> People:
    """The table of people is the one whose rows have what people have, that others refer to, and that is looked in."""
    scores = {table.name: _score(table, spec, meanings) for table in spec.tables.values()}
    best = max(scores, key=lambda name: scores[name], default=None)
    if best is None or scores[best] <= 0:
        return People()
    table = spec.tables[best]
    owned = {
        other.name: tuple(c.name for c in other.columns if c.references == best and not c.inherited)
        for other in spec.tables.values()
    }
    key = table.key[0].name
    device = next(
        ((one.name, key) for one in spec.tables.values() if one.single and one.side == "user" and one.column(key)), None
    )
    return People(best, key, {name: columns for name, columns in owned.items() if columns}, device)


def _score(table: m.Table, spec: m.Spec, meanings: Mapping[str, Mapping[str, Meaning]]) -> int:
    if table.single or table.parent is not None or len(table.key) != 1 or table.side == "user":
        return 0
    names = {column.name for column in table.columns}
    personal = any(name in names for name in _PERSONAL)
    if not personal and "name" not in names:
        return 0
    taken = [tool for tool in spec.tools.values() if any(p.references == table.name for p in tool.parameters)]
    looked = any(
        place.table == table.name for tool in meanings.values() for one in tool.values() for place in one.looked
    )
    if not taken and not looked:
        return 0
    references = sum(any(c.references == table.name for c in other.columns) for other in spec.tables.values())
    acts = any(writes_of(tool) for tool in taken)
    if not personal and not references and not acts:
        return 0  # a thing with a name, which nothing else is anybody's
    return 3 * personal + ("name" in names) + references + 2 * looked + acts
