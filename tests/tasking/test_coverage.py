"""What made tasks exercise: tools that take lists of what is nested, and guards that no row of the person's breaks."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from forgec.commands.tasks_command import command

SPECS = Path(__file__).parents[2] / "specs"
VARIANTS = {"I1", "I2", "I3"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The report of sixty tasks of retail, and the tasks."""
    spec = tmp_path_factory.mktemp("made") / "retail.afs"
    shutil.copy(SPECS / spec.name, spec)
    result = CliRunner().invoke(command, [str(spec), "--count", "60", "--seed", "11", "--json"])
    assert result.exit_code == 0, result.output
    lines = (spec.parent / "retail.tasks.jsonl").read_text().splitlines()
    return json.loads(result.stdout), [json.loads(line) for line in lines]


def texts_with(lines: list[dict[str, Any]], words: str) -> list[str]:
    return [request["text"] for line in lines for request in line["requests"] if words in request["text"]]


def test_every_tool_is_called_that_takes_what_rows_have(made: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
    report, _ = made
    of_texts = {"list_all_product_types", "calculate", "transfer_to_human_agents"}
    assert set(report["coverage"]["tools"]["missing"]) == of_texts


def test_what_is_exchanged_is_another_variant_of_the_same_product(
    made: tuple[dict[str, Any], list[dict[str, Any]]],
) -> None:
    exchanges = texts_with(made[1], "exchange items") + texts_with(made[1], "replace items")
    assert exchanges
    for text in exchanges:
        assert "instead: the only item" not in text and " of the product '" in text


def test_of_several_rows_with_one_key_it_is_said_how_many(made: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
    """The order #W1 has two mugs that are one item."""
    returned = texts_with(made[1], "the only kind of item")
    assert returned and all("the only kind of item, once" in t or "item, 2 times" in t for t in returned)


def test_somebody_may_ask_for_what_only_others_have(made: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
    assert texts_with(made[1], "source 'paypal'")
