"""Calls of the retail tools, drawn at random: of the right types, most with arguments that belong together."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

Arguments = dict[str, Any]
State = Mapping[str, Mapping[str, Any]]
"""The documents of tau2's database: collection -> key -> document."""

_TEXTS = ("", "x", "#W0000000", "gift_card_0", "0", "ä", "no longer needed ", "' or 1=1")
_REASONS = ("no longer needed", "ordered by mistake")
_ODDS_OF_A_STRANGER = 0.08
_EXPRESSIONS = (
    "1", " 12 ", "2 + 2", "-3", "--3", "+4", "2*3+4", "2+3*4", "(2+3)*4", "7/2", "7//2", "-7//2", "1/3", "2/3*100",
    "1.5*1.5", "0.125", "0.375", "2.675", "1e5", "10-3-2", "100/(5-5)", "1//0", "()", "(1", "1)", "1 +", "* 2", "",
    " ", "1..2", ".5", "5.", "1.2.3", "007", "0.1+0.2", "(((1)))", "2**3", "2**-1", "12345678.9*3", "x", "1,000",
    "1 2", "3 - -3", "99999999999999999999", "0*-1", "-0", "1/7*7",
)  # fmt: skip


class Calls:
    """Draws calls from what there is in a state: the same seed, the same calls."""

    def __init__(self, state: State, seed: object) -> None:
        self.chance = random.Random(f"{seed}")
        self.orders = state["orders"]
        self.users = state["users"]
        self.products = state["products"]
        self._by_status: dict[str, list[str]] = {}
        for key, order in self.orders.items():
            self._by_status.setdefault(order["status"], []).append(key)
        self.tools: dict[str, Callable[[], Arguments]] = {
            "calculate": lambda: {"expression": self._expression()},
            "cancel_pending_order": self._cancel,
            "exchange_delivered_order_items": lambda: self._swap("delivered"),
            "find_user_id_by_email": self._email,
            "find_user_id_by_name_zip": self._name_and_zip,
            "get_item_details": lambda: {"item_id": self._text() if self._stranger() else self._variant("", "")},
            "get_order_details": lambda: {"order_id": self._order("pending")},
            "get_product_details": lambda: {"product_id": self._key(self.products)},
            "get_user_details": lambda: {"user_id": self._key(self.users)},
            "list_all_product_types": dict,
            "modify_pending_order_address": lambda: {"order_id": self._order("pending"), **self._address()},
            "modify_pending_order_items": lambda: self._swap("pending"),
            "modify_pending_order_payment": self._payment,
            "modify_user_address": lambda: {"user_id": self._key(self.users), **self._address()},
            "return_delivered_order_items": self._return,
            "transfer_to_human_agents": lambda: {"summary": self._text()},
        }

    def arguments(self, tool: str) -> Arguments:
        """The arguments of one call."""
        return self.tools[tool]()

    def _stranger(self) -> bool:
        return self.chance.random() < _ODDS_OF_A_STRANGER

    def _text(self) -> str:
        return self.chance.choice(_TEXTS)

    def _key(self, documents: Mapping[str, Any]) -> str:
        return self._text() if self._stranger() else self.chance.choice(list(documents))

    def _order(self, status: str) -> str:
        if self._stranger():
            return self._key(self.orders)
        return self.chance.choice(self._by_status[status])

    def _method(self, order_id: str) -> str:
        """A payment method: of the customer, mostly."""
        order = self.orders.get(order_id)
        owner = self.chance.choice(list(self.users)) if order is None or self._stranger() else order["user_id"]
        methods = list(self.users[owner]["payment_methods"])
        return self.chance.choice(methods) if methods else self._text()

    def _items(self, order_id: str) -> list[str]:
        """Items of an order: some of them, now and then one twice, or one of another order."""
        order = self.orders.get(order_id) or self.chance.choice(list(self.orders.values()))
        held = [item["item_id"] for item in order["items"]]
        taken = self.chance.sample(held, self.chance.randint(0 if self._stranger() else 1, len(held)))
        if taken and self._stranger():
            taken.append(taken[0])
        if self._stranger():
            other = self.chance.choice(list(self.orders.values()))
            taken.insert(0, other["items"][0]["item_id"])
        return taken

    def _variant(self, order_id: str, item_id: str) -> str:
        """What an item could be replaced by."""
        for item in (self.orders.get(order_id) or {"items": []})["items"]:
            if item["item_id"] == item_id and not self._stranger():
                variants: dict[str, Any] = self.products[item["product_id"]]["variants"]
                there = [key for key, variant in variants.items() if variant["available"] or self._stranger()]
                return self.chance.choice(there or list(variants))
        product: Mapping[str, Any] = self.chance.choice(list(self.products.values()))
        return str(self.chance.choice(list(product["variants"])))

    def _swap(self, status: str) -> Arguments:
        order_id = self._order(status)
        old = self._items(order_id)
        new = [self._variant(order_id, item_id) for item_id in old]
        if self._stranger():
            new = new[:-1]
        method = self._method(order_id)
        return {"order_id": order_id, "item_ids": old, "new_item_ids": new, "payment_method_id": method}

    def _return(self) -> Arguments:
        order_id = self._order("delivered")
        order = self.orders.get(order_id)
        method = self._method(order_id)
        if order is not None and self.chance.random() < 0.5:
            method = order["payment_history"][0]["payment_method_id"]
        return {"order_id": order_id, "item_ids": self._items(order_id), "payment_method_id": method}

    def _payment(self) -> Arguments:
        order_id = self._order("pending")
        return {"order_id": order_id, "payment_method_id": self._method(order_id)}

    def _cancel(self) -> Arguments:
        reason = self._text() if self._stranger() else self.chance.choice(_REASONS)
        return {"order_id": self._order("pending"), "reason": reason}

    def _email(self) -> Arguments:
        user = self.users[self.chance.choice(list(self.users))]
        return {"email": self._text() if self._stranger() else self._cased(user["email"])}

    def _name_and_zip(self) -> Arguments:
        user = self.users[self.chance.choice(list(self.users))]
        name = user["name"]
        return {
            "first_name": self._text() if self._stranger() else self._cased(name["first_name"]),
            "last_name": self._cased(name["last_name"]),
            "zip": self._text() if self._stranger() else user["address"]["zip"],
        }

    def _cased(self, text: str) -> str:
        return self.chance.choice((text, text.upper(), text.lower(), text.swapcase()))

    def _address(self) -> Arguments:
        user = self.users[self.chance.choice(list(self.users))]
        address = dict(user["address"])
        if self._stranger():
            address["address2"] = self._text()
        return {name: address[name] for name in ("address1", "address2", "city", "state", "country", "zip")}

    def _expression(self) -> str:
        if self.chance.random() < 0.3:
            return self.chance.choice(_EXPRESSIONS)
        parts = []
        for _ in range(self.chance.randint(1, 5)):
            number = f"{self.chance.randint(0, 5000) / self.chance.choice((1, 10, 100)):g}"
            parts.append(f"({number})" if self._stranger() else number)
            parts.append(self.chance.choice((" + ", " - ", "*", " / ", "+", "-")))
        return "".join(parts[:-1])
