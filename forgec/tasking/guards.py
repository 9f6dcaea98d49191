"""What may stand in the way of a call: requirements, rules and invariants, told apart by what they answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from forgec.model import spec as m
from forgec.model import walk

Kind = Literal["require", "rule", "audited", "invariant"]


@dataclass(frozen=True)
class Guard:
    """One condition of a tool. `name` is unique in the spec; `pattern` matches the text that a refused call gets."""

    tool: str
    name: str
    kind: Kind
    pattern: re.Pattern[str]
    rule: str = ""


def guards_of(tool: m.Tool, spec: m.Spec) -> list[Guard]:
    """The guards of a tool: rules, then what its body demands, then the invariants of what it writes."""
    found = [
        Guard(tool.name, f"{tool.name}: {rule.name}", _kind(rule), re.compile(re.escape(rule.doc)), rule.name)
        for rule in spec.rules
        if tool.name in rule.sqls
    ]
    for i, message in enumerate(_messages(tool)):
        parts = [re.escape(part) if isinstance(part, str) else ".*" for part in message.parts]
        label = "".join(part if isinstance(part, str) else "..." for part in message.parts)
        pattern = re.compile("".join(parts), re.DOTALL)
        found.append(Guard(tool.name, f"{tool.name}: {i + 1} {label}", "require", pattern))
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


def _messages(tool: m.Tool) -> Iterator[m.Message]:
    for statement in walk.statements(tool.body):
        if isinstance(statement, m.Let | m.Require | m.Return | m.Fail) and statement.message is not None:
            yield statement.message
