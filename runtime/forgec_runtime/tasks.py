"""Tasks as data: how an episode begins, what a user wants, the plans that get it, and what must hold afterwards.

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
    """The value of a sample, fact or plan's node; `path` leads into a record: `Ref("acct", "fines")`."""

    name: str
    path: tuple[str, ...]

    def __init__(self, name: str, *path: str) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "path", path)

    def read(self, values: Mapping[str, Any]) -> Any:
        """What this refers to among `values`. Raises `TaskError` where the path leads nowhere."""
        value = values[self.name]
        for depth, part in enumerate(self.path):
            if value is None:  # no row, a node that was skipped, or a record that is not there
                return None
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
    """The samples, facts and nodes that an expression reads."""
    if isinstance(expression, Ref):
        return (expression,)
    return expression.inputs if isinstance(expression, Computed) else ()


@dataclass(frozen=True)
class Hole:
    """A value in a text, as `format` shows it."""

    value: Expression
    format: str = ""


@dataclass(frozen=True)
class Template:
    """A text with holes for values of samples and facts."""

    parts: tuple[str | Hole, ...]

    def reads(self) -> tuple[Ref, ...]:
        return tuple(ref for part in self.parts if isinstance(part, Hole) for ref in references(part.value))


Message: TypeAlias = str | Template


@dataclass(frozen=True)
class Sample:
    """A row, or the value of its only column, that is drawn of `rows` when an episode begins."""

    name: str
    rows: Computed
    doc: str = ""


@dataclass(frozen=True)
class Fact:
    """Something the user knows and the agent has to ask for; `doc` says it in the user's words.

    The value is a constant, or an expression over samples.
    """

    name: str
    value: Any
    doc: Message = ""


@dataclass(frozen=True)
class Change:
    """Rows that an episode begins with otherwise than its world has them.

    For an insert, `rows` gives all columns but a key that the engine makes; for an update the key and what is new; for
    a delete the key.
    """

    kind: OneOf["insert", "update", "delete"]
    table: str
    rows: Computed


@dataclass(frozen=True)
class Request:
    """Something that the user asks for, after others and, where there is a condition, only if it holds."""

    name: str
    text: Message
    after: tuple[str, ...] = ()
    when: Expression | None = None


@dataclass(frozen=True)
class Step:
    """A node of a plan that calls a tool; only if the condition `when` holds, where there is one."""

    name: str
    tool: str
    arguments: Mapping[str, Expression] = field(default_factory=dict)
    after: tuple[str, ...] = ()
    when: Expression | None = None

    def reads(self) -> tuple[Ref, ...]:
        own = () if self.when is None else references(self.when)
        return (*(ref for argument in self.arguments.values() for ref in references(argument)), *own)


@dataclass(frozen=True)
class Reason:
    """A node of a plan that the agent has to work out from earlier results."""

    name: str
    value: Expression
    doc: str = ""
    after: tuple[str, ...] = ()
    when: Expression | None = None

    def reads(self) -> tuple[Ref, ...]:
        return (*references(self.value), *(() if self.when is None else references(self.when)))


Node: TypeAlias = Step | Reason


@dataclass(frozen=True)
class Plan:
    """One way to do a task; `name` and `doc` tell it from other ways."""

    nodes: tuple[Node, ...] = ()
    name: str = ""
    doc: str = ""

    @cached_property
    def by_name(self) -> Mapping[str, Node]:
        """The nodes by name, as declared."""
        return {node.name: node for node in self.nodes}

    def parents(self, node: Node) -> tuple[str, ...]:
        """The nodes that must come before `node`, each once: those it reads, then those it only comes after."""
        names = [ref.name for ref in node.reads() if ref.name in self.by_name]
        return tuple(dict.fromkeys([*names, *node.after]))

    def order(self) -> tuple[Node, ...]:
        """The plan in an order that respects every edge, and follows the declaration where it is free."""
        done: dict[str, Node] = {}
        left = [(node, self.parents(node)) for node in self.nodes]
        while left:
            ready = (i for i, (_, parents) in enumerate(left) if all(name in done for name in parents))
            place = next(ready, None)
            if place is None:
                stuck = ", ".join(node.name for node, _ in left)
                raise TaskError(f"the plan has a cycle among {stuck}")
            node, _ = left.pop(place)
            done[node.name] = node
        return tuple(done.values())

    def in_order(self, names: Sequence[str]) -> tuple[Node, ...]:
        """The plan in the order of `names`. Raises `TaskError` unless that order respects every edge."""
        seen: set[str] = set()
        for name in names:
            if name not in self.by_name or not seen.issuperset(self.parents(self.by_name[name])):
                raise TaskError(f"{name!r} cannot come at this place of the plan")
            seen.add(name)
        if len(names) != len(self.nodes) or len(seen) != len(self.nodes):
            raise TaskError("an order names each node once")
        return tuple(self.by_name[name] for name in names)


@dataclass(frozen=True)
class Expectation:
    """A condition on the final state of the episode under judgement; `text` is how the spec wrote it."""

    text: str
    condition: Computed


@dataclass(frozen=True)
class Saying:
    """Something that the agent has to tell the user: one value, or each of a list. What is NULL need not be said."""

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
class Never:
    """A call that nobody may make in the episode, if it succeeds: of this tool, with these arguments among others."""

    tool: str
    text: str
    arguments: Mapping[str, Expression] = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """One certified piece of work in one world. Compared and hashed by identity of its definition, like a function.

    The first of its plans is gold; who does it as any of them does is paid. `features` are counts of what it is made
    of, for choosing among tasks.
    """

    name: str
    world: str
    intent: Message = ""
    doc: str = ""
    tags: tuple[str, ...] = ()
    requests: tuple[Request, ...] = ()
    samples: tuple[Sample, ...] = ()
    facts: tuple[Fact, ...] = ()
    change: tuple[Change, ...] = ()
    plans: tuple[Plan, ...] = (Plan(),)
    expect: tuple[Expectation, ...] = ()
    says: tuple[Saying, ...] = ()
    never: tuple[Never, ...] = ()
    features: Mapping[str, Any] = field(default_factory=dict)

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __post_init__(self) -> None:
        known = [*(sample.name for sample in self.samples), *(fact.name for fact in self.facts)]
        for plan in self.plans:
            names = [*known, *(node.name for node in plan.nodes)]
            for name in names:
                if names.count(name) > 1:
                    raise TaskError(f"{self.name}: two facts or nodes are named {name!r}")
            for where, refs in self._reads(plan):
                for ref in refs:
                    if ref.name not in names:
                        raise TaskError(f"{self.name}: {where} reads {ref}, which is neither a fact nor a node")
            for node in plan.nodes:
                for name in node.after:
                    if name not in plan.by_name:
                        raise TaskError(f"{self.name}: {node.name} comes after {name!r}, which is no node")
            try:
                plan.order()
            except TaskError as error:
                raise TaskError(f"{self.name}: {error}") from None

    def _reads(self, plan: Plan) -> Iterable[tuple[str, tuple[Ref, ...]]]:
        yield from ((node.name, node.reads()) for node in plan.nodes)
        yield from ((f"expect {one.text}", one.condition.inputs) for one in self.expect)
        yield from ((f"says {one.doc}", references(one.value)) for one in self.says)
        for never in self.never:
            yield from ((f"never {never.text}", references(value)) for value in never.arguments.values())

    @property
    def plan(self) -> Plan:
        """The one that is gold."""
        return self.plans[0]

    @property
    def sampled(self) -> bool:
        """Whether its episodes begin differently with another seed."""
        return bool(self.samples)

    @property
    def prepared(self) -> bool:
        """Whether its episodes begin otherwise than those of its world."""
        return bool(self.samples or self.change)

    @cached_property
    def watched(self) -> frozenset[str]:
        """The tools whose calls are noted in its episodes."""
        return frozenset(never.tool for never in self.never)
