"""The names of constants in generated modules: each its own, whatever the spec calls alike."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from itertools import count

from forgec.model.spec import Spec
from forgec.plans import python as py

OURS = ("ENVIRONMENT",)


@dataclass(frozen=True)
class Constants:
    """What tables, types (enums and records), tools and actions are called in Python, by their names there."""

    tables: dict[str, str]
    types: dict[str, str]
    tools: dict[str, str]
    actions: dict[str, str]
    """Functions of one module, none called as a parameter of any of them."""

    @classmethod
    def of(cls, spec: Spec) -> Constants:
        """Tables come first and keep their names."""
        tables = {name: name.upper() for name in spec.tables}
        types = _named([*spec.enums, *spec.records], tables.values())
        tools = _named(spec.tools, [*OURS, *tables.values(), *types.values()])
        return cls(tables, types, tools, _actions(spec))


def _actions(spec: Spec) -> dict[str, str]:
    parameters = (parameter for action in spec.actions.values() for parameter in action.parameters)
    taken = {py.identifier(name) for parameter in parameters for name in (parameter.name, parameter.row) if name}
    found = dict[str, str]()
    for name in spec.actions:
        function = py.identifier(name)
        while function in taken:
            function += "_"
        found[name] = function
    return found


def constant_name(name: str) -> str:
    """`MemberStatus` as the name of a constant: `MEMBER_STATUS`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()


def free(name: str, taken: Container[str]) -> str:
    """`name`, else the first of `name_2`, `name_3`, ... that is not taken."""
    return name if name not in taken else next(n for i in count(2) if (n := f"{name}_{i}") not in taken)


def _named(names: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    known, found = set(taken), dict[str, str]()
    for name in names:
        found[name] = free(constant_name(name), known)
        known.add(found[name])
    return found
