"""The plan of a draft: its nodes, the facts they need, and what is asked, before they become a line of a file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from forgec.sql.scope import Cell

_NAME = re.compile(r"\$(\w+)")


@dataclass(eq=False)
class Node:
    """A call of a `tool`, or a reason (`sql`). `given` are its arguments as a line of bulk has them.

    `at` counts the writes that were made before it. `context` is what the user said so that it could be called.
    """

    name: str
    tool: str = ""
    given: dict[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    sql: str = ""
    doc: str = ""
    when: str = ""
    after: list[str] = field(default_factory=list)
    value: Any = None
    at: int = 0
    context: tuple[tuple[str, Any], ...] = ()
    """What a lookup is given that is no key: labels and values."""
    about: str = ""
    """Of which row it is, if not of the person's: ` of the order 'O1'`."""
    needs: tuple[str, ...] = ()
    """The nodes that it reads."""

    def reads(self) -> set[str]:
        """The names in what it is given, goes by and waits for: those of nodes and facts."""
        given = [str(one["$"]) for one in self.given.values() if isinstance(one, Mapping) and "$" in one]
        texts = [one["sql"] for one in self.given.values() if isinstance(one, Mapping) and "sql" in one]
        names = {name.partition(".")[0] for name in given} | set(self.after)
        return names.union(*(_NAME.findall(text) for text in (*texts, self.sql, self.when)))


@dataclass(frozen=True)
class RowOf:
    """A row of a table, by its key."""

    table: str
    key: str


@dataclass(frozen=True)
class Drawn:
    """A row of a table that is drawn when an episode begins: its name, and those that it may be."""

    name: str
    rows: str
    table: str


@dataclass(frozen=True)
class Fact:
    """Something that the user knows. `kind` is its documentation without what tells it from others of the kind.

    `row` is the row that has it, at a `path`; `read` says that only a result tells which value it has to be. `given`
    is the value as a line of bulk has it, where it is none that is known now.
    """

    name: str
    doc: str
    value: Any
    kind: str = ""
    row: RowOf | None = None
    path: tuple[str, ...] = ()
    read: bool = False
    given: Any = None


@dataclass(frozen=True)
class Found:
    """A value that an agent can come by: how the plan says it, what the user calls it, the nodes that lead there."""

    given: Any
    phrase: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """Rows in the result of a node: the SQL that they come from, what stands before a column, and the columns."""

    node: str
    sql: str
    prefix: str
    rows: Sequence[Mapping[str, Any]]
    columns: Mapping[str, Cell]
    context: tuple[tuple[str, Any], ...] = ()
    about: str = ""
    docs: Mapping[str, str] = field(default_factory=dict)
    table: str | None = None
    """Where they are rows of one table, as they are."""


@dataclass
class Request:
    """What the user asks for; `node` is the call that does it, if one does, and `vain` what is asked if none does."""

    text: str
    node: str = ""
    after: list[str] = field(default_factory=list)
    when: str = ""
    vain: str = ""


@dataclass
class Plan:
    nodes: list[Node] = field(default_factory=list)
    facts: dict[str, Fact] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    says: list[tuple[str, Any]] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    """Of the reasons: count, sum, arg-max, ..."""
    drawn: list[Drawn] = field(default_factory=list)
    distractors: int = 0
    """Rows that an agent had to tell from those that were meant."""

    def node(self, name: str) -> Node:
        return next(node for node in self.nodes if node.name == name)

    @property
    def depth(self) -> int:
        """How many nodes the longest chain has, each of which reads the one before, or comes after it."""
        depths: dict[str, int] = {}
        for node in self.nodes:
            depths[node.name] = 1 + max((depths.get(name, 0) for name in node.reads()), default=0)
        return max(depths.values(), default=0)

    def name(self, wanted: str) -> str:
        """A name that is free."""
        taken = {node.name for node in self.nodes} | set(self.facts)
        wanted = wanted[:50]
        if wanted not in taken and wanted not in ("call", "row", "q"):
            return wanted
        return next(f"{wanted}_{i}" for i in range(2, 1000) if f"{wanted}_{i}" not in taken)

    def fact(
        self, name: str, doc: str, value: Any, row: RowOf | None = None, path: tuple[str, ...] = (), read: bool = False
    ) -> str:
        """The name of a fact with this value, new if need be."""
        for fact in self.facts.values():
            if type(fact.value) is type(value) and fact.value == value and (fact.kind == doc or _is_name(value)):
                return fact.name
        name = self.name(name)
        self.facts = numbered([*self.facts.values(), Fact(name, doc, value, doc, row, path, read)])
        return name


def numbered(facts: Iterable[Fact]) -> dict[str, Fact]:
    """Facts by their names, those of one kind told apart."""
    kinds: Counter[str] = Counter()
    found: dict[str, Fact] = {}
    for fact in facts:
        found[fact.name] = replace(fact, doc=_numbered(fact.kind, kinds[fact.kind]))
        kinds[fact.kind] += 1
    return found


_ORDINALS = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def _numbered(doc: str, others: int) -> str:
    """What a fact is, told from others of its kind: `the title of the second book`."""
    if not others:
        return doc
    if not re.match(r"(the|your) ", doc):
        return f"{doc}, the {_ORDINALS[min(others, len(_ORDINALS)) - 1]} time"
    if re.match(r"your ", doc) and others == 1:
        return f"your other {doc[5:]}"
    ordinal = _ORDINALS[min(others, len(_ORDINALS)) - 1]
    of = re.match(r"(the .* of the) (.*)$", doc)
    if of is not None:
        return f"{of[1]} {ordinal} {of[2]}"
    head, _, rest = doc.partition(" ")
    return f"{head} {ordinal} {rest}"


def _is_name(value: Any) -> bool:
    """Whether a value says what it is, wherever it is given, as an address does."""
    return isinstance(value, str) and "@" in value
