"""Which of two is meant, by what has to be compared: `whichever of the books 'A' and 'B' has the lower price`."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from forgec.sql.scope import Cell, Rows
from forgec.tasking.growing import Growing, Unreachable
from forgec.tasking.lookups import Lookups
from forgec.tasking.phrases import TITLES
from forgec.tasking.plans import Found, Node
from forgec.tasking.reasoning import comparable
from forgec.tasking.words import quoted

SHARE = 0.15
"""How often a row is meant so that could be meant otherwise."""
TRIES = 4


@dataclass(frozen=True)
class _Placed:
    """A row in the result of a node, and the field of its key."""

    node: Node
    field: str
    row: Mapping[str, Any]
    columns: Mapping[str, Cell]


class Comparing:
    """Compares rows of one plan."""

    def __init__(self, growing: Growing, lookups: Lookups) -> None:
        self.growing, self.lookups = growing, lookups
        self.plan, self.chance, self.words = growing.plan, growing.chance, growing.words

    def instead(self, table: str, value: Any, taker: str, found: Found) -> Found:
        """A row that was found, now and then said by what it has more or less of than another one."""
        ground = self.growing.ground
        if table == ground.people.table or self.chance.random() >= SHARE:
            return found
        mine = self._placed(table, value, found)
        pool = self.growing.rows.of(self.growing.draft.world, table)
        key = ground.spec.tables[table].key[0].name
        for _ in range(TRIES if mine is not None and len(pool) > 1 else 0):
            plan = self.plan
            before = (list(plan.nodes), dict(plan.facts), plan.distractors, len(plan.kinds), len(self.growing.edges))
            other = self.chance.choice(pool)[key]
            try:
                second = self.lookups.key(table, other, taker)
                made = self._compared(table, mine, found, self._placed(table, other, second), second)
                if made is not None:
                    plan.kinds.append("compare")
                    plan.distractors += 1
                    return made
            except Unreachable:
                pass
            plan.nodes, plan.facts, plan.distractors = before[:3]
            del plan.kinds[before[3] :], self.growing.edges[before[4] :]
        return found

    def _placed(self, table: str, value: Any, found: Found) -> _Placed | None:
        """Where the row stands, in rows that are as they were."""
        growing, spec = self.growing, self.growing.ground.spec
        above = {need for name in found.needs for need in (name, *self.plan.node(name).needs)}
        for node in self.plan.nodes:
            result = spec.tools[node.tool].returns if node.tool else None
            shape = result.shape if result is not None else None
            if node.name not in above or not isinstance(shape, Rows) or not isinstance(node.value, list | tuple):
                continue
            if node.at != growing.written and growing.ground.reads[node.tool] & growing.changed:
                continue
            for name, field in growing.ground.gives.get(table, ()):
                if name == node.tool and field in shape.columns:
                    row = next((row for row in node.value if row.get(field) == value), None)
                    if row is not None:
                        return _Placed(node, field, row, shape.columns)
        return None

    def _compared(
        self, table: str, mine: _Placed | None, first: Found, other: _Placed | None, second: Found
    ) -> Found | None:
        if mine is None or other is None or first.given == second.given:
            return None
        title = next((name for name in TITLES if mine.row.get(name) and other.row.get(name)), None)
        known = {fact.value for fact in self.plan.facts.values() if isinstance(fact.value, str)}
        if title is None or not {mine.row[title], other.row[title]} <= known or mine.row[title] == other.row[title]:
            return None  # what the user calls them, they know
        names = [
            name for name, cell in mine.columns.items()
            if name in other.columns and comparable(name, cell) and _differ(mine.row[name], other.row[name])
        ]  # fmt: skip
        if not names:
            return None
        name = self.chance.choice(names)
        least = mine.row[name] < other.row[name]
        value_of = "(select {} from ${} where {} = ${})"
        keys = (first.given["$"], second.given["$"])
        left, right = (
            value_of.format(name, one.node.name, one.field, key)
            for one, key in zip((mine, other), keys, strict=True)
        )  # fmt: skip
        sql = f"case when {left} {'<' if least else '>'} {right} then ${keys[0]} else ${keys[1]} end"
        pair = [quoted(mine.row[title]), quoted(other.row[title])]
        self.chance.shuffle(pair)
        plural = self.words.plural(self.words.noun(table))
        both = all(self.growing.mine(table, one.row[one.field]) for one in (mine, other))
        whose = "your" if both else "the"
        extreme = self.words.comparative(name, mine.columns, not least)
        phrase = f"whichever of {whose} {plural} {pair[0]} and {pair[1]} has the {extreme}"
        key = mine.row[mine.field]
        needs = (*first.needs, *second.needs, mine.node.name, other.node.name)
        node = Node(
            self.plan.name("whichever"), sql=sql, doc=phrase, value=key, needs=tuple(dict.fromkeys(needs)),
            at=self.growing.written,
        )  # fmt: skip
        self.plan.nodes.append(node)
        return Found({"$": node.name}, phrase, (node.name,))


def _differ(one: Any, other: Any) -> bool:
    kinds = (int, Decimal, float, datetime.date)
    return isinstance(one, kinds) and isinstance(other, kinds) and not isinstance(one, bool) and one != other
