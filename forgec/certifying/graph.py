"""A plan as a graph: what each node reads, and the orders in which it may be played."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property

from forgec_runtime import Plan, Reason, Step
from forgec_runtime.tasks import Computed, Node

Order = tuple[str, ...]
"""The names of all nodes, in an order that respects every edge."""
Choice = Callable[[list[str]], str]


class Graph:
    """One plan, with what is asked of it again and again worked out once."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.nodes: tuple[Node, ...] = plan.order()
        self.steps = tuple(node for node in self.nodes if isinstance(node, Step))
        self.reads: Mapping[str, frozenset[str]] = {
            node.name: frozenset(ref.name for ref in node.reads()) for node in self.nodes
        }

    @cached_property
    def parents(self) -> Mapping[str, frozenset[str]]:
        """The nodes that come before each."""
        return {node.name: frozenset(self.plan.parents(node)) for node in self.nodes}

    @cached_property
    def looking(self) -> frozenset[str]:
        """The nodes that see the state: calls, and what is computed from tables."""
        return frozenset(node.name for node in self.nodes if isinstance(node, Step) or _looks(node))

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Where each node comes in the usual order."""
        return {node.name: place for place, node in enumerate(self.nodes)}

    def after(self, name: str) -> tuple[Node, ...]:
        """The nodes that are played after one, in the usual order."""
        return self.nodes[self.places[name] + 1 :]

    def orders(self) -> Iterator[Order]:
        """All orders, one after the other; there may be very many."""
        parents = [sum(1 << self.places[name] for name in self.parents[node.name]) for node in self.nodes]
        return self._orders((), 0, parents)

    def _orders(self, done: Order, made: int, parents: Sequence[int]) -> Iterator[Order]:
        """Those that begin so; sets of nodes are the bits of a number."""
        if len(done) == len(self.nodes):
            yield done
            return
        for place, node in enumerate(self.nodes):
            if not made >> place & 1 and not parents[place] & ~made:
                yield from self._orders((*done, node.name), made | 1 << place, parents)

    def drawn(self, chance: random.Random) -> Order:
        """An order by lot."""
        return self._chosen(lambda ready: chance.choice(ready))

    def leaning(self, names: Collection[str], *, late: bool) -> Order:
        """The order in which some nodes come as late, or as early, as they can."""
        return self._chosen(lambda ready: next((n for n in ready if (n in names) is not late), ready[0]))

    def _chosen(self, choose: Choice) -> Order:
        done: list[str] = []
        while len(done) < len(self.nodes):
            ready = [n.name for n in self.nodes if n.name not in done and self.parents[n.name].issubset(done)]
            done.append(choose(ready))
        return tuple(done)


def _looks(node: Node) -> bool:
    values = [node.value, node.when] if isinstance(node, Reason) else [node.when]
    return any(isinstance(value, Computed) and value.query.tables for value in values)
