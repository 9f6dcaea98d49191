"""What the tasks made so far exercise: tools, guards on both sides, edges of the graph."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

from forgec.tasking.ground import Ground
from forgec.tasking.guards import Guard
from forgec.tasking.tool_graph import links

Edge = tuple[str, str, str]
"""Two tools and the table that leads from one to the other."""

Kind = Literal["tool", "refusal", "edge"]
KINDS: tuple[Kind, ...] = ("tool", "refusal", "edge")


@dataclass
class Coverage:
    """How often each was exercised."""

    ground: Ground
    tools: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    edges: Counter[Edge] = field(default_factory=Counter)
    tried: Counter[str] = field(default_factory=Counter)
    """How often a refusal by a guard, or a tool, was looked for."""

    def times(self, kind: Kind, what: Any) -> int:
        """How often a tool was called, a guard refused, or an edge was used."""
        return self._counter(kind)[what]

    def count(self, kind: Kind, what: Any) -> None:
        """Once more."""
        self._counter(kind)[what] += 1

    def _counter(self, kind: Kind) -> Counter[Any]:
        counters: dict[Kind, Counter[Any]] = {"tool": self.tools, "refusal": self.refused, "edge": self.edges}
        return counters[kind]

    def report(self) -> dict[str, Any]:
        """How much of what there is was exercised, and what was not."""
        guards = [guard for found in self.ground.guards.values() for guard in found]
        edges = self.all_edges()
        satisfied = {guard.name for guard in guards if self.tools[guard.tool]}
        mine = [one for one in guards if one.tool in self.ground.refusable]
        return {
            "tools": _share(list(self.ground.spec.tools), self.tools),
            "guards satisfied": _share([guard.name for guard in guards], satisfied),
            "guards violated": _share([guard.name for guard in mine], self.refused),
            "edges": _share([" -> ".join(edge[:2]) + f" ({edge[2]})" for edge in edges],
                            {" -> ".join(edge[:2]) + f" ({edge[2]})" for edge in self.edges}),
        }  # fmt: skip

    def all_edges(self) -> list[Edge]:
        """The edges by which what is looked up gives what a call takes."""
        readers = self.ground.readers
        found = [(a, b, link.table) for a, b, link in links(self.ground.graph, "gives") if a in readers]
        return list(dict.fromkeys(found))

    def weight(self, tool: str) -> float:
        """How much a tool is wanted: the less often it was called, the more."""
        return 1.0 / (1 + self.tools[tool] + self.tried[tool] / 4)

    def guard_weight(self, guard: Guard) -> float:
        return float((1 + self.refused[guard.name] + self.tried[guard.name] / 2) ** -1.5)


def _share(names: list[str], found: Any) -> dict[str, Any]:
    missing = [name for name in names if name not in found]
    return {"of": len(names), "covered": len(names) - len(missing), "missing": missing}
