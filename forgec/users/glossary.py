"""What an environment says of its own words: of parameters, columns and the values that they may have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from forgec.users.wording import content, meanings, tokens
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
    objects: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By the name of a parameter: the nouns in the names of the tools that take it."""
    uses: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By the name of a parameter: what the tools that take it do, the first words of their names and documentation."""
    things: frozenset[str] = frozenset()
    """The nouns in the names of all tables."""
    subjects: frozenset[str] = frozenset()
    """What the environment is about: the words of its name, and of its tools and tables."""


def glossary(environment: Environment) -> Glossary:
    """The glossary of an environment."""
    words: dict[str, set[str]] = defaultdict(set)
    values: dict[str, set[str]] = defaultdict(set)
    owners: dict[str, set[str]] = defaultdict(set)
    objects: dict[str, set[str]] = defaultdict(set)
    uses: dict[str, set[str]] = defaultdict(set)

    def add(name: str, docs: Iterable[str], allowed: Iterable[Any]) -> None:
        for doc in docs:
            words[name].update(meanings(doc))
        values[name].update(value.casefold() for value in allowed if isinstance(value, str))

    subjects = set(meanings(f"{environment.name.replace('_', ' ')} {environment.doc}"))
    things: set[str] = set()
    for tool in (*environment.tools.values(), *environment.user_tools.values()):
        verb, *rest = tokens(tool.name.replace("_", " "))
        named, does = content(rest), content([verb, *tokens(tool.doc)[:1]])
        subjects.update(named, content([verb]))
        for name, schema in tool.schema["function"]["parameters"].get("properties", {}).items():
            add(name, [schema.get("description", "")], schema.get("enum", ()))
            objects[name].update(named)
            uses[name].update(does)
    for table in environment.tables:
        owner = meanings(table.name.replace("_", " ").replace(".", " "))
        subjects.update(owner)
        things.update(owner)
        for column in table.columns:
            owners[column.name].update(owner)
            add(column.name, [getattr(column.type, "doc", "")], getattr(column.type, "values", ()))
    return Glossary(
        _frozen(words), _frozen(values), _frozen(owners), _frozen(objects), _frozen(uses), frozenset(things),
        frozenset(subjects),
    )  # fmt: skip


def _frozen(found: Mapping[str, set[str]]) -> dict[str, frozenset[str]]:
    return {name: frozenset(some) for name, some in found.items()}
