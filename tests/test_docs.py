"""What docs/ says is what forgec does: every example compiles, every result and output is the one that is shown.

`pytest --regen tests/test_docs.py` rewrites what is generated: the lists of docs/language.md, the outputs in
docs/tutorial.md. Read what it wrote.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from forgec.codegen.manifest import build_manifest, compare, write
from forgec.commands import forgec
from forgec.diagnostics import Report
from forgec.diagnostics.codes import CODES
from forgec.diagnostics.text import render_text
from forgec.pipeline import check_source, generate_package
from forgec.source import Source
from forgec.sql.allow import CASTS, FUNCTIONS, NAMED_FUNCTIONS, OPERATORS, STRUCTURE, UNITS
from forgec.sql.tree import parse_sql
from forgec.syntax import parse
from forgec.syntax.nodes import Node, SqlText
from forgec.testing import run_test
from forgec_runtime import AGENTS, load_environment
from tests.markdown import Block, blocks, merged, prelude, read, replaced, table_rows

DOCS = Path(__file__).parent.parent / "docs"
LANGUAGE = read(DOCS / "language.md")
PRELUDE = prelude(LANGUAGE)
EXAMPLES = [block for block in blocks(LANGUAGE) if block.language == "afs"]


def _spec(block: Block) -> str:
    """A complete spec: the block itself, or the prelude with the block's declarations."""
    return block.text if re.search(r"^environment\b", block.text, re.MULTILINE) else merged(PRELUDE, block.text)


def _play(text: str, folder: Path) -> list[str]:
    """Check a spec, run its tests both ways and its tasks: the codes of all findings, with their texts."""
    checked = check_source(Path("docs.afs"), Source("docs.afs", text), Report())
    if checked.spec is None:
        return [f"{one.code} {render_text([one])}" for one in checked.report]
    files = generate_package(checked.spec)
    manifest = build_manifest(checked.spec, files)
    write(folder, files, manifest, compare(folder, files, manifest))
    environment = load_environment(folder)
    results = [run_test(checked.spec, environment, test) for test in checked.spec.tests]
    findings = [f"{one.code} {render_text([one])}" for result in results for one in result.findings]
    for name, task in environment.tasks.items():
        for agent, paid in (("gold", 1.0), ("noop", 0.0)):
            episode = environment.reset(name)
            AGENTS[agent]().play(environment, episode, task)
            reward = environment.reward(episode, task)
            findings += [f"{name} pays {agent} {reward.value}: {reward.reasons}"] if reward.value != paid else []
    return findings


# -- the reference of the language ----------------------------------------------------------------------------------


@pytest.mark.parametrize("block", EXAMPLES, ids=lambda block: f"line{block.line}")
def test_an_example_of_the_language_does_what_it_says(block: Block, tmp_path: Path) -> None:
    findings = _play(_spec(block), tmp_path / "docs")
    if "error" in block.attributes:
        assert [found.split()[0] for found in findings] == [block.attributes["error"]]
    else:
        assert findings == []


def _expressions() -> list[tuple[str, str]]:
    """The expressions of all tables that say what each gives."""
    rows = table_rows(LANGUAGE, "expression")
    return [(row[0].strip("`"), row[1].strip("`")) for row in rows]


def test_every_expression_gives_what_its_table_says(tmp_path: Path) -> None:
    found = _expressions()
    assert len(found) > 70
    tools = ""
    for i, (expression, gives) in enumerate(found):
        tools += f'tool e{i}() returns text {{\n  reply "{{ {expression} }}";\n}}\n'
        tools += f"test \"{i}\" on monday {{ e{i}() returns '{gives.replace(chr(39), chr(39) * 2)}'; }}\n"
    assert _play(merged(PRELUDE, tools), tmp_path / "docs") == []


def _sql_in(node: object) -> Iterator[SqlText]:
    if isinstance(node, SqlText):
        yield node
    elif isinstance(node, tuple):
        for part in node:
            yield from _sql_in(part)
    elif isinstance(node, Node):
        for field in dataclasses.fields(node):
            yield from _sql_in(getattr(node, field.name))


def test_all_sql_that_is_allowed_is_shown() -> None:
    expressions = "".join(f"invariant i{i}: {one};\n" for i, (one, _) in enumerate(_expressions()))
    texts = [expressions, *(block.text for block in EXAMPLES if "error" not in block.attributes)]
    shown = set()
    for text in texts:
        for sql in _sql_in(parse(Source("docs.afs", text), Report()).items):
            fragment = parse_sql(sql, Report())
            shown |= {type(node) for node in fragment.tree.walk()} if fragment else set()
    assert {kind.__name__ for kind in {*STRUCTURE, *OPERATORS, *FUNCTIONS} - shown} == set()


def _listed(words: set[str]) -> str:
    return ", ".join(f"`{word}`" for word in sorted(words)) + "\n"


def _codes() -> str:
    rows = "".join(f"| {code} | {title} |\n" for code, title in CODES.items())
    return "| code | mistake |\n| --- | --- |\n" + rows


GENERATED = {
    "functions": _listed({*FUNCTIONS.values(), *NAMED_FUNCTIONS}),
    "casts": _listed(CASTS),
    "units": _listed({unit.lower() for unit in UNITS}),
    "codes": _codes(),
}


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_list_is_fresh(name: str, regen: bool) -> None:
    document = read(DOCS / "language.md")
    found = re.search(rf"(<!-- generated: {name} -->\n\n)(.*?)(\n<!-- end -->)", document, re.DOTALL)
    assert found, f"no place for the list of {name}"
    if regen:
        document = document[: found.start(2)] + GENERATED[name] + document[found.end(2) :]
        (DOCS / "language.md").write_text(document, encoding="utf-8")
    else:
        assert found[2] == GENERATED[name]
