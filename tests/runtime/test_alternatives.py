"""What an agent reads of rows with alternatives: no column that does not apply to them."""

import json
from pathlib import Path
from typing import Any

import pytest

from forgec_runtime import Environment, load_environment

SHOP = Path(__file__).parents[1] / "cases" / "alternatives" / "generated" / "shop"


@pytest.fixture(scope="module")
def shop() -> Environment:
    return load_environment(SHOP)


def told(shop: Environment, tool: str, **arguments: Any) -> Any:
    return json.loads(shop.call(shop.reset("town"), tool, **arguments).text)


def test_rows_of_a_table(shop: Environment) -> None:
    assert told(shop, "all_of") == [
        {"method_id": "C1", "source": "card", "owner": None},
        {"method_id": "G1", "source": "gift_card", "owner": None, "balance": 20.0},
    ]


def test_rows_that_are_nested(shop: Environment) -> None:
    assert told(shop, "put", cart_id=1, item="tea") == {
        "cart_id": 1, "paid": False, "lines": [{"item": "tea", "gift": False}],
    }  # fmt: skip
    assert told(shop, "put", cart_id=1, item="tea", words="Hi")["lines"] == [
        {"item": "tea", "gift": True, "words": "Hi"}
    ]


def test_results_of_several_kinds(shop: Environment) -> None:
    assert told(shop, "find", method_id="G1") == {
        "method_id": "G1", "source": "gift_card", "owner": None, "balance": 20.0,
    }  # fmt: skip
    assert told(shop, "find", cart_id=1) == {"cart_id": 1, "paid": False, "lines": []}
    assert told(shop, "find") == {"found": False}
