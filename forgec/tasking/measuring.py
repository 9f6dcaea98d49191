"""How hard a task is, and which tasks are alike: what is counted, and the shapes of plans and texts."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Level = Literal["easy", "medium", "hard"]
LEVELS: tuple[Level, ...] = ("easy", "medium", "hard")
BOUNDS = (9.0, 16.0)
"""Below the first a task is easy, from the second on it is hard."""


@dataclass(frozen=True)
class Measured:
    """What makes a task hard, counted."""

    calls: int
    depth: int
    reasoning: int
    distractors: int
    branching: int
    facts: int
    rules: int
    refusals: int

    @property
    def score(self) -> float:
        """One number for all of it: roughly the steps that an agent has to get right."""
        return (
            self.calls + self.reasoning + self.depth / 2 + self.facts / 2 + 2 * self.branching + 2 * self.refusals
            + self.rules / 2 + math.log2(1 + self.distractors)
        )  # fmt: skip

    @property
    def level(self) -> Level:
        return LEVELS[sum(self.score >= bound for bound in BOUNDS)]


def shape_of(line: Mapping[str, Any]) -> str:
    """What a task's plan is, whatever its values: tools, how results lead to arguments, what is worked out."""
    plans = [line["plan"]] if line.get("plan") else [plan["nodes"] for plan in line.get("plans", [])]
    parts = []
    for nodes in plans:
        names = {node["name"]: f"n{i}" for i, node in enumerate(nodes)}
        facts = {fact["name"]: "f" for fact in line.get("facts", [])}
        parts.append([_node(node, names | facts) for node in nodes])
    says = [_given(one["value"], {}) for one in line.get("says", [])]
    return _hash([parts, len(says), len(line.get("change", []))])


def text_of(line: Mapping[str, Any]) -> str:
    """What the user is told, without the names, numbers and values in it."""
    texts = [line.get("intent") or "", *(request["text"] for request in line.get("requests", []))]
    text = " ".join(texts).lower()
    for fact in sorted((str(fact["value"]) for fact in line.get("facts", [])), key=len, reverse=True):
        text = text.replace(fact.lower(), "_") if len(fact) > 2 else text
    text = re.sub(r"you are [^.]*? and turn", "you are _ and turn", text)
    text = re.sub(r"'[^']*'|\"[^\"]*\"|\S*\d\S*|\S+@\S+", "_", text)
    return _hash(re.sub(r"\W+", " ", text).split())


def alike(line: Mapping[str, Any]) -> str:
    """The same for tasks that differ in nothing but values."""
    return f"{shape_of(line)}/{text_of(line)}"


def _node(node: Mapping[str, Any], names: Mapping[str, str]) -> list[Any]:
    if "tool" in node:
        arguments = {name: _given(value, names) for name, value in sorted(node.get("arguments", {}).items())}
        return [node["tool"], arguments, "when" in node]
    return [_given(node["reason"], names), "when" in node]


def _given(value: Any, names: Mapping[str, str]) -> str:
    if isinstance(value, Mapping) and "$" in value:
        head, dot, rest = str(value["$"]).partition(".")
        return f"{names.get(head, 'n')}{dot}{rest}"
    if isinstance(value, Mapping) and "sql" in value:
        text = re.sub(r"'[^']*'|\b\d+(?:\.\d+)?\b", "_", str(value["sql"]))
        return re.sub(r"\$(\w+)", lambda found: "$" + names.get(found[1], "n"), text)
    return "_"


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
