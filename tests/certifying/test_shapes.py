"""Queries that differ in names and constants alone are one, and answer as each of them does."""

from __future__ import annotations

from pathlib import Path

import pytest

from forgec.certifying.shapes import shaped
from forgec_runtime import Computed, Query, load_environment
from forgec_runtime.plan import gold_run

GENERATED = Path(__file__).parent.parent.parent / "generated"
ROWS = 'STRUCT("title" VARCHAR, "due" DATE, "price" DECIMAL(6, 2), "size" DOUBLE)[]'


def over(values: str, text: str) -> Query:
    rows = f"(SELECT _row.title AS title, _row.due AS due FROM (SELECT UNNEST(call.{values}) AS _row) AS _rows)"
    return Query(text.replace("ROWS", rows), (), ((values, ROWS), ("wanted", "VARCHAR")), ("title",), "")


def test_names_and_constants_do_not_count() -> None:
    text = "SELECT {0}.title AS title FROM ROWS AS {0} WHERE {0}.title IN ('{1}', 'b') AND {0}.price > {2}"
    one = shaped(over("have", text.format("have", "it''s", 5)))
    other = shaped(over("loans", text.format("loans", "due", 12)))
    assert one.query is other.query
    assert (one.constants, other.constants) == (("it's", "b", 5), ("due", "b", 12))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT have.title AS title FROM ROWS AS have", "SELECT have.due AS title FROM ROWS AS have"),
        ("SELECT ', ' || have.title AS title FROM ROWS AS have", "SELECT ' ' || have.title AS title FROM ROWS AS have"),
        ("SELECT 1 AS title FROM ROWS AS b WHERE b.size > 1", "SELECT 1 AS title FROM ROWS AS b WHERE b.size > 2"),
        ("SELECT have.title[1] AS title FROM ROWS AS have", "SELECT have.title[2] AS title FROM ROWS AS have"),
    ],
)  # fmt: skip
def test_whatever_else_differs_counts(one: str, other: str) -> None:
    assert shaped(over("have", one)).query is not shaped(over("have", other)).query


def test_a_name_that_is_a_column_too_stays() -> None:
    found = shaped(over("title", "SELECT title.title AS title FROM ROWS AS title WHERE title.title = call.wanted"))
    assert "title.title" in found.query.text and "call._v1" in found.query.text


@pytest.mark.parametrize("name", ["library", "retail"])
def test_instances_answer_as_their_queries_do(name: str) -> None:
    env = load_environment(GENERATED / name)
    texts, shapes = set(), set()
    for task in env.tasks.values():
        run = gold_run(env, task)
        values = [value for node in task.plan.nodes for value in (getattr(node, "value", None), node.when)]
        for asked in (value for value in (*values, *(one.value for one in task.says)) if isinstance(value, Computed)):
            if asked.query.tables or any(ref.name not in run.values for ref in asked.inputs):
                continue
            inputs = [ref.read(run.values) for ref in asked.inputs]
            one = shaped(asked.query)
            plain = env.evaluate(run.episode, asked.query, inputs, asked.kind)
            assert repr(env.evaluate(run.episode, one.query, [*inputs, *one.constants], asked.kind)) == repr(plain)
            texts.add(asked.query.text)
            shapes.add(one.query.text)
    assert 5 < len(shapes) < len(texts)
