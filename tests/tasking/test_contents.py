"""What made tasks contain: drawn values, rows that almost do, refusals of all kinds, facts for what is chosen."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from forgec.certifying import certify
from forgec.commands.environments import compiled
from forgec.commands.tasks_command import command
from forgec.pipeline import check
from forgec_runtime import Environment

SPECS = Path(__file__).parents[2] / "specs"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Environment, list[dict[str, Any]]]]:
    """Sixty tasks of the library."""
    folder = tmp_path_factory.mktemp("made")
    for spec in SPECS.glob("library*.afs"):
        shutil.copy(spec, folder)
    result = CliRunner().invoke(command, [str(folder / "library.afs"), "--count", "60", "--seed", "6"])
    assert result.exit_code == 0, result.output
    lines = [json.loads(line) for line in (folder / "library.tasks.jsonl").read_text().splitlines()]
    checked = check(folder / "library.afs")
    assert checked.spec is not None, checked.report.diagnostics[:2]
    with compiled(checked.spec) as env:
        yield env, lines


def test_values_are_drawn_anew_and_every_draw_is_sound(made: tuple[Environment, list[dict[str, Any]]]) -> None:
    env, lines = made
    sampled = [line for line in lines if "samples" in line]
    assert sampled
    told = 0
    for line in sampled:
        task = env.tasks[line["name"]]
        seeds = range(40)
        briefings = {
            json.dumps([[f.doc, str(f.value)] for f in env.reset(task, seed).briefing.facts]) for seed in seeds
        }
        told += len(briefings) > 2
    assert told == len(sampled)
    assert all(verdict.certified for verdict in certify(env, [env.tasks[line["name"]] for line in sampled]))


def test_no_text_of_a_sampled_task_has_the_values_of_one_seed(made: tuple[Environment, list[dict[str, Any]]]) -> None:
    env, lines = made
    for line in (line for line in lines if "samples" in line):
        plain = " ".join([line["intent"], *(request["text"] for request in line["requests"])])
        for seed in range(10):
            facts = env.reset(env.tasks[line["name"]], seed).briefing.facts
            given = {fact["name"] for fact in line["facts"] if isinstance(fact["value"], dict)}
            for fact in facts:
                assert fact.name not in given or str(fact.value) not in plain


def test_the_world_gets_rows_that_almost_do(made: tuple[Environment, list[dict[str, Any]]]) -> None:
    _, lines = made
    grown = [line for line in lines if any(sql.startswith("insert into loans") for sql in line.get("change", []))]
    assert grown
    assert any("order by" in json.dumps(line["plan"]) or "where" in json.dumps(line["plan"]) for line in grown)


def test_what_users_choose_is_a_fact(made: tuple[Environment, list[dict[str, Any]]]) -> None:
    _, lines = made
    payments = [node for line in lines for node in line["plan"] if node.get("tool") == "pay_fines"]
    assert payments
    for node in payments:
        assert set(node["arguments"]["method"]) == {"$"}


def test_lookups_are_refused_too_and_users_give_what_is_right(made: tuple[Environment, list[dict[str, Any]]]) -> None:
    _, lines = made
    texts = [request["text"] for line in lines for request in line["requests"]]
    assert any("not what they know you by" in text for text in texts)
    assert any("If that is not possible, you leave it at that" in text for text in texts)


def test_arguments_follow_from_comparisons(made: tuple[Environment, list[dict[str, Any]]]) -> None:
    _, lines = made
    compared = [line for line in lines if any(node["name"].startswith("whichever") for node in line["plan"])]
    assert compared
    for line in compared:
        (node,) = [node for node in line["plan"] if node["name"].startswith("whichever")]
        assert any({"$": node["name"]} in one.get("arguments", {}).values() for one in line["plan"])
        assert any("whichever of the" in request["text"] for request in line["requests"])
