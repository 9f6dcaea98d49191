"""What may stand in the way of a call: requirements, rules and invariants, told apart by what they answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from forgec.model import spec as m
from forgec.model import walk
from forgec.model.uses import trees
from forgec.sql.query import Sql
from forgec.sql.tree import Value

Kind = Literal["require", "rule", "audited", "invariant"]


@dataclass(frozen=True)
class Guard:
    """One condition of a tool. `name` is unique in the spec; `pattern` matches the text that a refused call gets.

    `columns` are those of the rows that parameters refer to at which it looks: the parameter, and the column.
    """

    tool: str
    name: str
    kind: Kind
    pattern: re.Pattern[str]
    rule: str = ""
    columns: tuple[tuple[str, str], ...] = ()


def guards_of(tool: m.Tool, spec: m.Spec) -> list[Guard]:
    """The guards of a tool: rules, then what its body demands, then the invariants of what it writes."""
    found = [
        Guard(
            tool.name, f"{tool.name}: {rule.name}", _kind(rule), re.compile(re.escape(rule.doc)), rule.name,
            _columns(tool, rule.sqls[tool.name]),
        )
        for rule in spec.rules
        if tool.name in rule.sqls
    ]  # fmt: skip
    for i, (message, sql) in enumerate(_messages(tool)):
        parts = [re.escape(part) if isinstance(part, str) else ".*" for part in message.parts]
        label = "".join(part if isinstance(part, str) else "..." for part in message.parts)
        pattern = re.compile("".join(parts), re.DOTALL)
        columns = _columns(tool, sql) if sql is not None else ()
        found.append(Guard(tool.name, f"{tool.name}: {i + 1} {label}", "require", pattern, columns=columns))
    written = walk.written(tool.body)
    for invariant in spec.invariants:
        if written & invariant.sql.reads:
            text = re.compile(re.escape(invariant.doc or invariant.name))
            found.append(Guard(tool.name, f"{tool.name}: {invariant.name}", "invariant", text))
    return found


def guard_of(text: str, guards: list[Guard]) -> Guard | None:
    """The guard that refused a call with this text."""
    return next((guard for guard in guards if guard.kind != "audited" and guard.pattern.fullmatch(text)), None)


def _kind(rule: m.Rule) -> Kind:
    return "audited" if rule.verdict == "audited" else "rule"


def _messages(tool: m.Tool) -> Iterator[tuple[m.Message, Sql | None]]:
    for statement in walk.statements(tool.body):
        if isinstance(statement, m.Let | m.Require | m.Return | m.Fail) and statement.message is not None:
            yield statement.message, statement.sql if isinstance(statement, m.Require) else None


def _columns(tool: m.Tool, sql: Sql) -> tuple[tuple[str, str], ...]:
    """The columns of bound rows that a condition looks at."""
    bound = {p.row: p.name for p in tool.parameters if p.row is not None}
    paths = [value.name.split(".") for tree in trees(sql) for value in tree.find_all(Value)]
    return tuple(dict.fromkeys((bound[path[0]], path[1]) for path in paths if len(path) == 2 and path[0] in bound))
