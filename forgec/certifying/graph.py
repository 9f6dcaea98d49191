"""A plan as a graph: what each node reads, and the orders in which it may be played."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping
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

    def orders(self, most: int) -> list[Order]:
        """All orders, or the first of them where there are more than that."""
        names = [node.name for node in self.nodes]
        parents = [sum(1 << self.places[parent] for parent in self.parents[name]) for name in names]
        found: list[Order] = []

        def go_on(done: Order, made: int) -> None:
            """Those that begin so; sets of nodes are the bits of a number."""
            if len(done) == len(names):
                found.append(done)
            for place, name in enumerate(names):
                if len(found) < most and not made >> place & 1 and not parents[place] & ~made:
                    go_on((*done, name), made | 1 << place)

        go_on((), 0)
        return found

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
