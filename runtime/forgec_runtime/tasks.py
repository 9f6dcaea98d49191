"""Tasks as data: what a user wants, the plan that gets it, and what must hold afterwards.

A plan is a graph. Its nodes are calls of tools (`Step`) and queries over earlier results (`Reason`); its edges
follow from the references between them, and from `after` where only the order matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias
from typing import Literal as OneOf

if TYPE_CHECKING:
    from .query import Query

Kind: TypeAlias = OneOf["value", "row", "rows"]


class TaskError(ValueError):
    """A task that makes no sense: an unknown name, a cycle, a saying that nobody can say."""


@dataclass(frozen=True, init=False)
class Ref:
    """The value of a fact or of a plan's node; `path` leads into a record: `Ref("acct", "fines")`."""

    name: str
    path: tuple[str, ...]

    def __init__(self, name: str, *path: str) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "path", path)

    def read(self, values: Mapping[str, Any]) -> Any:
        """What this refers to among `values`. Raises `TaskError` where the path leads nowhere."""
        value = values[self.name]
        for depth, part in enumerate(self.path):
            if not isinstance(value, Mapping) or part not in value:
                raise TaskError(f"{'.'.join((self.name, *self.path[:depth]))} has no {part!r}")
            value = value[part]
        return value

    def __str__(self) -> str:
        return "$" + ".".join((self.name, *self.path))


@dataclass(frozen=True)
class Literal:
    """A value written in the spec."""

    value: Any


@dataclass(frozen=True)
class Computed:
    """A query's answer: one value, one row or all `rows`. The values of `inputs`, in order, are the query's values."""

    query: Query
    inputs: tuple[Ref, ...] = ()
    kind: Kind = "value"


Expression: TypeAlias = Ref | Literal | Computed


def references(expression: Expression) -> tuple[Ref, ...]:
    """The facts and nodes that an expression reads."""
    if isinstance(expression, Ref):
        return (expression,)
    return expression.inputs if isinstance(expression, Computed) else ()


@dataclass(frozen=True)
class Fact:
    """Something the user knows and the agent has to ask for; `doc` says it in the user's words."""

    name: str
    value: Any
    doc: str = ""


@dataclass(frozen=True)
class Step:
    """A node of the plan that calls a tool."""

    name: str
    tool: str
    arguments: Mapping[str, Expression] = field(default_factory=dict)
    after: tuple[str, ...] = ()

    def reads(self) -> tuple[Ref, ...]:
        return tuple(ref for argument in self.arguments.values() for ref in references(argument))


@dataclass(frozen=True)
class Reason:
    """A node of the plan that the agent has to work out from earlier results."""

    name: str
    value: Expression
    doc: str = ""
    after: tuple[str, ...] = ()

    def reads(self) -> tuple[Ref, ...]:
        return references(self.value)


Node: TypeAlias = Step | Reason


@dataclass(frozen=True)
class Expectation:
    """A condition on the final state of the episode under judgement; `text` is how the spec wrote it."""

    text: str
    condition: Computed


@dataclass(frozen=True)
class Saying:
    """Something that the agent has to tell the user: one value, or each of a list."""

    doc: str
    value: Expression

    def __post_init__(self) -> None:
        value = self.value
        if isinstance(value, Computed):
            one_column = len(value.query.columns) == 1
            if value.kind == "row" or (value.kind == "rows" and not one_column):
                raise TaskError(f"{self.doc}: a row cannot be said; name the value that matters")
        if isinstance(value, Literal):
            for part in value.value if isinstance(value.value, list | tuple) else (value.value,):
                if part is None or isinstance(part, Mapping):
                    raise TaskError(f"{self.doc}: only values can be said")


@dataclass(frozen=True)
class Task:
    """One certified piece of work in one world. Compared and hashed by identity of its definition, like a function."""

    name: str
    world: str
    intent: str
    doc: str = ""
    facts: tuple[Fact, ...] = ()
    plan: tuple[Node, ...] = ()
    expect: tuple[Expectation, ...] = ()
    says: tuple[Saying, ...] = ()

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __post_init__(self) -> None:
        names = [fact.name for fact in self.facts] + [node.name for node in self.plan]
        for name in names:
            if names.count(name) > 1:
                raise TaskError(f"{self.name}: two facts or nodes are named {name!r}")
        for where, refs in self._reads():
            for ref in refs:
                if ref.name not in names:
                    raise TaskError(f"{self.name}: {where} reads {ref}, which is neither a fact nor a node")
        for node in self.plan:
            for name in node.after:
                if name not in self.nodes:
                    raise TaskError(f"{self.name}: {node.name} comes after {name!r}, which is no node")
        self.order()

    def _reads(self) -> Iterable[tuple[str, tuple[Ref, ...]]]:
        yield from ((node.name, node.reads()) for node in self.plan)
        yield from ((f"expect {one.text}", one.condition.inputs) for one in self.expect)
        yield from ((f"says {one.doc}", references(one.value)) for one in self.says)

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        """The plan's nodes by name, as declared."""
        return {node.name: node for node in self.plan}

    def parents(self, node: Node) -> tuple[str, ...]:
        """The nodes that must come before `node`, each once: those it reads, then those it only comes after."""
        names = [ref.name for ref in node.reads() if ref.name in self.nodes]
        return tuple(dict.fromkeys([*names, *node.after]))

    def order(self) -> tuple[Node, ...]:
        """The plan in an order that respects every edge, and follows the declaration where it is free."""
        done: dict[str, Node] = {}
        while len(done) < len(self.plan):
            ready = (n for n in self.plan if n.name not in done and all(p in done for p in self.parents(n)))
            node = next(ready, None)
            if node is None:
                stuck = ", ".join(n.name for n in self.plan if n.name not in done)
                raise TaskError(f"{self.name}: the plan has a cycle among {stuck}")
            done[node.name] = node
        return tuple(done.values())

    def in_order(self, names: Sequence[str]) -> tuple[Node, ...]:
        """The plan in the order of `names`. Raises `TaskError` unless that order respects every edge."""
        seen: set[str] = set()
        for name in names:
            if name not in self.nodes or not seen.issuperset(self.parents(self.nodes[name])):
                raise TaskError(f"{self.name}: {name!r} cannot come at this place of the plan")
            seen.add(name)
        if len(names) != len(self.plan) or len(seen) != len(self.plan):
            raise TaskError(f"{self.name}: an order names each node once")
        return tuple(self.nodes[name] for name in names)
