"""What is written by hand, to compare with, tells what the tools of the spec tell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.by_hand import step
from benchmarks.orders_by_hand import CALLS, TOOLS, WORLD, Changed, shop
from forgec_runtime import load_environment

RETAIL = Path(__file__).parents[1] / "generated" / "retail"


@pytest.mark.parametrize("tool", CALLS)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"payment_method_id": "gift_card_1"},
        {"payment_method_id": "nothing"},
        {"order_id": "#W2"},
        {"order_id": "#W9"},
        {"item_ids": ["I1", "I7"]},
        {"new_item_ids": ["I1"]},
        {"new_item_ids": ["I3"]},
        {"new_item_ids": ["I7"]},
        {"new_item_ids": []},
    ],
    ids=str,
)
def test_both_tell_the_same(tool: str, changes: dict[str, Any]) -> None:
    env = load_environment(RETAIL)
    arguments = CALLS[tool] | changes
    result = env.call(env.reset(WORLD), tool, **arguments)
    (by_hand,) = step(shop(env), [(Changed(), tool, arguments)], TOOLS)
    if result.ok:
        assert json.loads(by_hand) == json.loads(result.text)
    else:
        assert by_hand == result.text
