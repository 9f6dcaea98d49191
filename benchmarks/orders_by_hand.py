"""The two heaviest tools of `specs/retail.afs` as a careful person would write them for orders alone: a yardstick.

Orders and customers are documents, and a call that fails changes nothing: what it changes is copied, and put into the
episode, which is the documents that differ from those that all share, when every guard has held. Texts of errors are
those of the spec.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

from benchmarks.by_hand import Refused, text
from forgec_runtime import Environment

Document = dict[str, Any]


@dataclass(frozen=True)
class Shop:
    """The documents that all episodes begin with, by their keys."""

    products: dict[str, Document]
    users: dict[str, Document]
    orders: dict[str, Document]


@dataclass(slots=True)
class Changed:
    """What one episode has changed."""

    users: dict[str, Document] = field(default_factory=dict)
    orders: dict[str, Document] = field(default_factory=dict)


@dataclass(frozen=True)
class Texts:
    """How one tool says what it refuses."""

    gone: str
    number: str
    poor: str
    same: str | None = None
    """Where an item must not be replaced by itself."""


MODIFY = Texts(
    "{} not found",
    "The number of items to be exchanged should match",
    "Insufficient gift card balance to pay for the new item",
    "The new item id should be different from the old item id",
)
EXCHANGE = Texts(
    "Number of {} not found.",
    "The number of items to be exchanged should match.",
    "Insufficient gift card balance to pay for the price difference",
)


def texts(name: str, values: object) -> None:
    if type(values) is not list:
        raise Refused(f"{name} must be a list")
    for value in values:
        text(name, value)


def order_of(shop: Shop, changed: Changed, order_id: str) -> Document:
    order = changed.orders.get(order_id) or shop.orders.get(order_id)
    if order is None:
        raise Refused("Order not found")
    return order


def swaps_of(shop: Shop, order: Document, old: list[str], new: list[str], says: Texts) -> tuple[list[Any], float]:
    """For each item the place where it stands and what replaces it, and what all of it costs more."""
    left = [item["item_id"] for item in order["items"]]
    for one in old:
        if one not in left:
            raise Refused(says.gone.format(one))
        left.remove(one)
    if len(old) != len(new):
        raise Refused(says.number)
    swaps, difference = [], 0.0
    for one, other in zip(old, new, strict=True):
        if one == other and says.same is not None:
            raise Refused(says.same)
        place, item = next((i, item) for i, item in enumerate(order["items"]) if item["item_id"] == one)
        variant = shop.products[item["product_id"]]["variants"].get(other)
        if variant is None:
            raise Refused("Variant not found")
        if not variant["available"]:
            raise Refused(f"New item {other} not found or available")
        difference += variant["price"] - item["price"]
        swaps.append((place, other, variant))
    return swaps, difference


def payer(
    shop: Shop, changed: Changed, order: Document, method_id: str, difference: float, says: Texts
) -> tuple[Document, Document]:
    """The customer, and the method that pays."""
    user = changed.users.get(order["user_id"]) or shop.users[order["user_id"]]
    method = user["payment_methods"].get(method_id)
    if method is None:
        raise Refused("Payment method not found")
    if method["source"] == "gift_card" and method["balance"] < difference:
        raise Refused(says.poor)
    return user, method


def modify_pending_order_items(
    shop: Shop, changed: Changed, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
) -> Document:
    text("order_id", order_id)
    texts("item_ids", item_ids)
    texts("new_item_ids", new_item_ids)
    text("payment_method_id", payment_method_id)
    order = order_of(shop, changed, order_id)
    if order["status"] != "pending":
        raise Refused("Non-pending order cannot be modified")
    swaps, difference = swaps_of(shop, order, item_ids, new_item_ids, MODIFY)
    user, method = payer(shop, changed, order, payment_method_id, difference, MODIFY)
    paid = {
        "transaction_type": "payment" if difference > 0 else "refund", "amount": abs(difference),
        "payment_method_id": payment_method_id,
    }  # fmt: skip
    items = list(order["items"])
    for place, item_id, variant in swaps:
        items[place] = {**items[place], "item_id": item_id, "price": variant["price"], "options": variant["options"]}
    order = {
        **order, "status": "pending (item modified)", "items": items,
        "payment_history": [*order["payment_history"], paid],
    }  # fmt: skip
    if method["source"] == "gift_card":
        less = {**method, "balance": round(method["balance"] - difference, 2)}
        user = {**user, "payment_methods": {**user["payment_methods"], payment_method_id: less}}
        changed.users[user["user_id"]] = user
    changed.orders[order_id] = order
    return order


def exchange_delivered_order_items(
    shop: Shop, changed: Changed, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
) -> Document:
    text("order_id", order_id)
    texts("item_ids", item_ids)
    texts("new_item_ids", new_item_ids)
    text("payment_method_id", payment_method_id)
    order = order_of(shop, changed, order_id)
    if order["status"] != "delivered":
        raise Refused("Non-delivered order cannot be exchanged")
    _, difference = swaps_of(shop, order, item_ids, new_item_ids, EXCHANGE)
    difference = round(difference, 2)
    payer(shop, changed, order, payment_method_id, difference, EXCHANGE)
    order = {
        **order, "status": "exchange requested", "exchange_items": sorted(item_ids),
        "exchange_new_items": sorted(new_item_ids), "exchange_payment_method_id": payment_method_id,
        "exchange_price_difference": difference,
    }  # fmt: skip
    changed.orders[order_id] = order
    return order


WORLD = "corner_shop"


def shop(environment: Environment) -> Shop:
    """The small world of the spec, as its own tools tell of it."""
    episode = environment.reset(WORLD)

    def told(tool: str, **arguments: str) -> Document:
        found: Document = orjson.loads(environment.call(episode, tool, **arguments).text)
        return found

    user = told("get_user_details", user_id="ann_lee_1")
    return Shop(
        {one: told("get_product_details", product_id=one) for one in ("P1", "P2")},
        {user["user_id"]: user},
        {one: told("get_order_details", order_id=one) for one in user["orders"]},
    )


TOOLS: dict[str, Callable[..., Document]] = {
    "modify_pending_order_items": modify_pending_order_items,
    "exchange_delivered_order_items": exchange_delivered_order_items,
}
CALLS: dict[str, dict[str, Any]] = {
    "modify_pending_order_items": {
        "order_id": "#W3", "item_ids": ["I1"], "new_item_ids": ["I2"], "payment_method_id": "credit_card_1",
    },
    "exchange_delivered_order_items": {
        "order_id": "#W1", "item_ids": ["I1"], "new_item_ids": ["I2"], "payment_method_id": "credit_card_1",
    },
}  # fmt: skip
"""A call of each that the small world of the spec pays for."""
