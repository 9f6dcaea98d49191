"""A retail episode of tau2-bench beside one of ours."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from forgec_runtime import Environment
from tests.conformance.referee import Tau2, Verdict, judged, state_of

READERS = {"orders": ("get_order_details", "order_id"), "users": ("get_user_details", "user_id")}
"""What gives a document that calls may change; products stay as they are."""
PYTHON_ONLY = re.compile(r"//|\*\*")
"""Operators that no documentation of `calculate` names, and that Python's own evaluator computes."""


class Retail:
    """Both environments, and the state in which their episodes begin."""

    def __init__(self, tau2: Tau2) -> None:
        self.referee = tau2.domain("retail")
        self.ours: Environment = tau2.ours("retail")
        first = self.referee.get_environment()
        self.state: dict[str, Any] = state_of(first)
        self.tools = [tool.name for tool in first.get_tools()]
        """Those of the referee: the package has one less than the sources."""

    @cached_property
    def variants(self) -> dict[str, dict[str, Any]]:
        """What can be bought, by item."""
        products = self.state["products"].values()
        return {key: variant for product in products for key, variant in product["variants"].items()}

    def game(self, *, mixed_up_items: bool) -> Game:
        """Two fresh episodes. `mixed_up_items` takes what tau2 makes of several modified items for right."""
        return Game(self, mixed_up_items)


class Game:
    """Two episodes that get the same calls.

    In tau2, all items that one call of `modify_pending_order_items` modifies get price and options of the last one.
    """

    def __init__(self, retail: Retail, mixed_up_items: bool) -> None:
        self.retail = retail
        self.theirs = retail.referee.get_environment()
        self.episode = retail.ours.reset("tau2")
        self.mixed_up_items = mixed_up_items
        self.items: dict[str, list[dict[str, Any]]] = {}
        """The items of orders of ours in which several were modified, as tau2 has them."""

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Verdict:
        """One call in both."""
        several = tool == "modify_pending_order_items" and len(arguments["item_ids"]) > 1
        before = self._document("orders", arguments["order_id"]) if several and self.mixed_up_items else None
        verdict = judged(self.theirs, self.retail.ours, self.episode, tool, arguments)
        if before is not None and verdict.ours[0] == "ok":
            self._mix_up(before, arguments)
        return Verdict(tool, arguments, verdict.theirs, (verdict.ours[0], self._seen(verdict.ours[1])))

    def states(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The documents of both as they are now."""
        start = self.retail.state
        ours = {name: dict(documents) for name, documents in start.items()}
        for table in READERS:
            for key in self._changed(table):
                ours[table][key] = self._seen(self._document(table, key))
        assert not self._changed("products")
        return state_of(self.theirs), ours

    def _mix_up(self, order: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
        items = copy.deepcopy(order["items"])
        last = self.retail.variants[arguments["new_item_ids"][-1]]
        for old, new in zip(arguments["item_ids"], arguments["new_item_ids"], strict=True):
            item = next(item for item in items if item["item_id"] == old)
            item.update(item_id=new, price=last["price"], options=last["options"])
        self.items[order["order_id"]] = items

    def _seen(self, answer: Any) -> Any:
        """An answer of ours as tau2 would give it."""
        if isinstance(answer, dict) and answer.get("order_id") in self.items:
            return {**answer, "items": self.items[answer["order_id"]]}
        return answer

    def _document(self, table: str, key: str) -> Any:
        """What our episode has under a key; None where nothing is."""
        tool, parameter = READERS[table]
        result = self.retail.ours.call(self.episode, tool, **{parameter: key})
        return json.loads(result.text) if result.ok else None

    def _changed(self, table: str) -> list[str]:
        """The documents of which our episode changed a row, of their own or nested in them."""
        rows = {name: keys for name, keys in (self.episode.overlay or {}).items() if f"{name}_".startswith(f"{table}_")}
        return sorted({key[0] if isinstance(key, tuple) else key for keys in rows.values() for key in keys})


def is_excused(verdict: Verdict) -> bool:
    """Arguments that tau2 hands to Python's evaluator unchecked: it computes what it can, and else tells of Python."""
    if verdict.tool != "calculate":
        return False
    kinds = verdict.theirs[0], verdict.ours[0]
    if kinds == ("ok", "error"):
        return PYTHON_ONLY.search(verdict.arguments["expression"]) is not None
    return kinds == ("error", "error") or (kinds == ("error", "ok") and "(<string>, line 1)" in verdict.theirs[1])
