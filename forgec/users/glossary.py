"""What an environment is about, and the values that its parameters and columns may have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from forgec.users.topics import kind
from forgec.users.wording import content, meanings, tokens
from forgec_runtime import Environment


@dataclass(frozen=True)
class Glossary:
    """It holds nothing of a task: it is the same for all of them."""

    values: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By the name of a parameter or column, the values that it may have."""
    subjects: frozenset[str] = frozenset()
    """What the environment is about: the words of its name, and of its tools and tables."""

    def choices(self, fact: str) -> frozenset[str]:
        """The values that the parameter or column may have that a fact is named after."""
        return self.values.get(kind(fact), frozenset())


def glossary(environment: Environment) -> Glossary:
    """The glossary of an environment."""
    values: dict[str, set[str]] = defaultdict(set)

    def add(name: str, allowed: Iterable[Any]) -> None:
        values[name].update(value.casefold() for value in allowed if isinstance(value, str))

    subjects = set(meanings(f"{environment.name.replace('_', ' ')} {environment.doc}"))
    for tool in (*environment.tools.values(), *environment.user_tools.values()):
        subjects.update(content(tokens(tool.name.replace("_", " "))))
        for name, schema in tool.schema["function"]["parameters"].get("properties", {}).items():
            add(name, schema.get("enum", ()))
    for table in environment.tables:
        subjects.update(meanings(table.name.replace("_", " ").replace(".", " ")))
        for column in table.columns:
            add(column.name, getattr(column.type, "values", ()))
    return Glossary({name: frozenset(some) for name, some in values.items()}, frozenset(subjects))
