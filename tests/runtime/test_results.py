"""Results as JSON text."""

import json
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from forgec_runtime import Result
from forgec_runtime.results import to_json


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        ('M\u00fcller "x"\n', '"M\u00fcller \\"x\\"\\n"'),
        (Decimal("4.50"), "4.50"),
        (Decimal("0.00"), "0.00"),
        (Decimal("1E+3"), "1000"),
        (Decimal("0.0000000001"), "0.0000000001"),
        (Decimal("12345678901234567890.12"), "12345678901234567890.12"),
        (25.0, "25.0"),
        (2**53, "9007199254740992"),
        (date(2025, 3, 1), '"2025-03-01"'),
        (datetime(2025, 3, 1, 9), '"2025-03-01T09:00:00"'),
        (datetime(2025, 3, 1, 9, 0, 0, 500_000), '"2025-03-01T09:00:00.500000"'),
        ([{"a": [Decimal("0.10"), None]}], '[{"a":[0.10,null]}]'),
    ],
)
def test_values_as_json(value: Any, text: str) -> None:
    assert to_json(value) == text
    json.loads(text)


def test_a_result_shows_what_the_agent_reads() -> None:
    result = Result("refused", "Unknown isbn: X")
    assert repr(result) == "Result('refused', 'Unknown isbn: X')"
    assert not result.ok
    assert result.value is None
    assert result.detail == ""
