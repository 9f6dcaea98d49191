"""What an environment says of its own words: of parameters, columns and the values that they may have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from forgec.users.wording import content, tokens
from forgec_runtime import Environment


@dataclass(frozen=True)
class Glossary:
    """By the name of a parameter or column: the words of what is said of it, and the values it may have.

    It holds nothing of a task: it is the same for all of them.
    """

    words: Mapping[str, frozenset[str]] = field(default_factory=dict)
    values: Mapping[str, frozenset[str]] = field(default_factory=dict)
    owners: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By the name of a column: the words of the tables that have it."""
    subjects: frozenset[str] = frozenset()
    """What the environment is about: the words of its name, and of its tools and tables."""


def glossary(environment: Environment) -> Glossary:
    """The glossary of an environment."""
    words: dict[str, set[str]] = defaultdict(set)
    values: dict[str, set[str]] = defaultdict(set)
    owners: dict[str, set[str]] = defaultdict(set)

    def add(name: str, docs: Iterable[str], allowed: Iterable[Any]) -> None:
        for doc in docs:
            words[name].update(content(tokens(doc)))
        values[name].update(value.casefold() for value in allowed if isinstance(value, str))

    subjects = set(content(tokens(f"{environment.name.replace('_', ' ')} {environment.doc}")))
    for tool in (*environment.tools.values(), *environment.user_tools.values()):
        subjects.update(content(tokens(tool.name.replace("_", " "))))
        for name, schema in tool.schema["function"]["parameters"].get("properties", {}).items():
            add(name, [schema.get("description", "")], schema.get("enum", ()))
    for table in environment.tables:
        named = content(tokens(table.name.replace("_", " ").replace(".", " ")))
        subjects.update(named)
        for column in table.columns:
            owners[column.name].update(named)
            add(column.name, [getattr(column.type, "doc", "")], getattr(column.type, "values", ()))
    return Glossary(
        {name: frozenset(some) for name, some in words.items()},
        {name: frozenset(some) for name, some in values.items()},
        {name: frozenset(some) for name, some in owners.items()}, frozenset(subjects),
    )  # fmt: skip
