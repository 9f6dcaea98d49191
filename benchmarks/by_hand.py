"""The tools of `desk.afs` as a person would write them for one mutable dictionary an episode: the yardstick."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

Rows = dict[str, dict[str, Any]]


def get_account(rows: Rows, account_id: str) -> bytes:
    row = rows.get(account_id)
    return orjson.dumps(row) if row is not None else b"Unknown account"


def transfer(rows: Rows, source: str, target: str, amount: int) -> bytes:
    a, b = rows.get(source), rows.get(target)
    if a is None or b is None:
        return b"Unknown account"
    if amount <= 0 or a["balance"] < amount:
        return b"Refused"
    rows[source] = {**a, "balance": a["balance"] - amount}
    rows[target] = {**b, "balance": b["balance"] + amount}
    return orjson.dumps(rows[source])


def find_accounts(rows: Rows, owner: str) -> bytes:
    found = [row for row in rows.values() if row["owner"] == owner]
    return orjson.dumps(sorted(found, key=lambda row: str(row["account_id"])))


HAND: dict[str, Callable[..., bytes]] = {
    "get_account": get_account,
    "transfer": transfer,
    "find_accounts": find_accounts,
}
