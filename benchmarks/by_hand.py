"""The tools of `desk.afs` as a careful person would write them for this one purpose: the yardstick.

They do what an agent and a trainer see of the compiled ones: arguments are checked, a call that fails tells why and
changes nothing, rows stay what their table demands, every episode sees its own changes over rows that all share, and
results are JSON. Other than those they know nothing but accounts. `BARE` leaves all of that out but the lookups, the
guards, the writes and the JSON: one dictionary that every call changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import orjson

from forgec_runtime.types import MAX_INTEGER, MAX_TEXT

Row = dict[str, Any]
Rows = dict[str, Row]


class Refused(Exception):
    """A call fails; the text is what the agent reads."""


class Bank:
    """The accounts that all episodes begin with."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = {row["account_id"]: row for row in rows}
        self.of_owner: dict[str, list[Row]] = {}
        for row in self.rows.values():
            self.of_owner.setdefault(row["owner"], []).append(row)


def text(name: str, value: object) -> None:
    if type(value) is not str or len(value) > MAX_TEXT or "\0" in value:
        raise Refused(f"{name} must be a string")


def integer(name: str, value: object) -> None:
    if type(value) is not int or not -MAX_INTEGER <= value <= MAX_INTEGER:
        raise Refused(f"{name} must be an integer")


def found(bank: Bank, changed: Rows, name: str, key: str) -> Row:
    row = changed.get(key) or bank.rows.get(key)
    if row is None:
        raise Refused(f"Unknown {name}: {key}")
    return row


def moved(row: Row, amount: int) -> Row:
    balance = row["balance"] + amount
    if balance < 0:
        raise Refused("accounts: balance must satisfy balance >= 0")
    if balance > MAX_INTEGER:
        raise Refused("accounts.balance is out of range")
    return {**row, "balance": balance}


def get_account(bank: Bank, changed: Rows, account_id: str) -> Any:
    text("account_id", account_id)
    return found(bank, changed, "account_id", account_id)


def transfer(bank: Bank, changed: Rows, source: str, target: str, amount: int) -> Any:
    text("source", source)
    text("target", target)
    integer("amount", amount)
    a = found(bank, changed, "source", source)
    b = found(bank, changed, "target", target)
    if amount <= 0:
        raise Refused("The amount must be positive")
    if a["balance"] < amount:
        raise Refused(f"{a['owner']} has only {a['balance']}")
    left = moved(a, -amount)
    right = moved(left if source == target else b, amount)
    changed[source] = left
    changed[target] = right
    return changed[source]


def find_accounts(bank: Bank, changed: Rows, owner: str) -> Any:
    text("owner", owner)
    rows = bank.of_owner.get(owner, [])
    if changed:
        kept = [row for row in rows if row["account_id"] not in changed]
        rows = kept + [row for row in changed.values() if row["owner"] == owner]
    return sorted(rows, key=lambda row: str(row["account_id"]))


TOOLS: dict[str, Callable[..., Any]] = {
    "get_account": get_account,
    "transfer": transfer,
    "find_accounts": find_accounts,
}


def step(
    world: Any, calls: Iterable[tuple[Any, str, Mapping[str, Any]]], tools: Mapping[str, Callable[..., Any]] = TOOLS
) -> list[str]:
    """Make calls of tools over what all episodes begin with, each in an episode, which is what it has changed."""
    results = []
    for changed, name, arguments in calls:
        tool = tools.get(name)
        if tool is None:
            results.append(f"There is no tool {name!r}")
            continue
        try:
            results.append(orjson.dumps(tool(world, changed, **arguments)).decode())
        except Refused as refused:
            results.append(str(refused))
        except TypeError as error:  # names that are missing, or that nobody knows
            results.append(str(error))
    return results


def bare_transfer(rows: Rows, source: str, target: str, amount: int) -> str:
    a, b = rows.get(source), rows.get(target)
    if a is None or b is None:
        return "Unknown account"
    if amount <= 0 or a["balance"] < amount:
        return "Refused"
    rows[source] = {**a, "balance": a["balance"] - amount}
    rows[target] = {**b, "balance": b["balance"] + amount}
    return orjson.dumps(rows[source]).decode()


def bare_get_account(rows: Rows, account_id: str) -> str:
    row = rows.get(account_id)
    return orjson.dumps(row).decode() if row is not None else "Unknown account"


BARE: dict[str, Callable[..., str]] = {"get_account": bare_get_account, "transfer": bare_transfer}
