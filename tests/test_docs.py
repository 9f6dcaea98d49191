"""What docs/ says is what forgec does: every example compiles, every result and output is the one that is shown.

`pytest --regen tests/test_docs.py` rewrites what is generated: the lists of docs/language.md, the outputs in
docs/tutorial.md. Read what it wrote.
"""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from forgec.checks.rules import RULES
from forgec.codegen.manifest import build_manifest, compare, write
from forgec.diagnostics import Report
from forgec.diagnostics.codes import CODES
from forgec.diagnostics.text import render_text
from forgec.formatting import format_source
from forgec.model import messages, nested, types
from forgec.model.bodies import MAX_EACH
from forgec.model.doing import MAX_LEVELS, MAX_STATEMENTS
from forgec.model.generating import MAX_ROWS
from forgec.model.names import MAX_NAME
from forgec.pipeline import Checked, check, check_source, generate_package
from forgec.source import Source
from forgec.sql import allow, growth, size
from forgec.sql.allow import CASTS, FUNCTIONS, NAMED_FUNCTIONS, OPERATORS, STRUCTURE, UNITS
from forgec.sql.draws import FAKES
from forgec.sql.tree import parse_sql
from forgec.syntax import parse, scan
from forgec.syntax.nodes import Node, SqlText
from forgec.testing import run_test
from forgec_runtime import Agent, GoldAgent, NoopAgent, load_environment
from forgec_runtime.call import MAX_PASSES
from forgec_runtime.data import rows
from forgec_runtime.data.documents import MAX_BYTES
from forgec_runtime.limits import MAX_ANSWER, MAX_ARGUMENTS, MAX_HELD, MAX_RESULT
from forgec_runtime.reward import MAX_REASONS
from forgec_runtime.sql.calculated import MAX_BRACKETS, MAX_CALCULATED
from forgec_runtime.sql.lists import MAX_JOINED
from forgec_runtime.sql.texts import MAX_KEPT
from forgec_runtime.types import MAX_ELEMENTS, MAX_INTEGER, MAX_TEXT
from tests.markdown import Block, blocks, merged, prelude, read, replaced, table_rows

DOCS = Path(__file__).parent.parent / "docs"
LANGUAGE = read(DOCS / "language.md")
PRELUDE = prelude(LANGUAGE)
_SPECS = [block for block in blocks(LANGUAGE) if block.language == "afs"]
EXAMPLES = [block for block in _SPECS if "file" not in block.attributes]
FILES = [block for block in _SPECS if "file" in block.attributes]
DATA = [block for block in blocks(LANGUAGE) if "file" in block.attributes and block.language != "afs"]


def _spec(block: Block) -> str:
    """A complete spec: the block itself, or the prelude with the block's declarations."""
    return block.text if re.search(r"^environment\b", block.text, re.MULTILINE) else merged(PRELUDE, block.text)


def test_the_comment_that_allows_a_warning_does() -> None:
    (block,) = [block for block in EXAMPLES if "-- allow" in block.text]
    found = check_source(Path("docs.afs"), Source("docs.afs", _spec(block)), Report()).report
    assert {"AFW102", "AFW901"}.isdisjoint(one.code for one in found)


def _play(text: str, folder: Path) -> list[str]:
    """Check a spec, run its tests both ways and its tasks: the codes of all findings, with their texts."""
    for block in DATA:
        _write(block, folder.parent)
    path = folder.parent / "docs.afs"
    return _findings(check_source(path, Source(path.as_posix(), text), Report()), folder)


def _findings(checked: Checked, folder: Path) -> list[str]:
    if checked.spec is None:
        return [f"{one.code} {render_text([one])}" for one in checked.report]
    files = generate_package(checked.spec)
    manifest = build_manifest(checked.spec, files)
    write(folder, files, manifest, compare(folder, files, manifest))
    environment = load_environment(folder)
    results = [run_test(checked.spec, environment, test) for test in checked.spec.tests]
    findings = [f"{one.code} {render_text([one])}" for result in results for one in result.findings]
    for name, task in environment.tasks.items():
        agents: list[tuple[Agent, float]] = [
            (NoopAgent(), 0.0),
            *((GoldAgent(plan), 1.0) for plan in range(len(task.plans))),
        ]
        for seed in range(3 if task.sampled else 1):
            for agent, paid in agents:
                episode = environment.reset(name, seed)
                agent.play(environment, episode, task)
                reward = environment.reward(episode, task)
                found = f"{name}, seed {seed}: pays {type(agent).__name__} {reward.value}: {reward.reasons}"
                findings += [found] if reward.value != paid else []
    return findings


# -- the reference of the language ----------------------------------------------------------------------------------


@pytest.mark.parametrize("block", EXAMPLES, ids=lambda block: f"line{block.line}")
def test_an_example_of_the_language_does_what_it_says(block: Block, tmp_path: Path) -> None:
    findings = _play(_spec(block), tmp_path / "docs")
    if "error" in block.attributes:
        assert [found.split()[0] for found in findings] == [block.attributes["error"]]
    else:
        assert findings == []


def test_the_example_of_tasks_in_bulk_does_what_it_says(tmp_path: Path) -> None:
    (block,) = [block for block in blocks(LANGUAGE) if '"world"' in block.text and block.language == "json"]
    (tmp_path / "bikes.afs").write_text(PRELUDE, encoding="utf-8")
    (tmp_path / "bikes.tasks.jsonl").write_text(block.text.replace("\n", " ") + "\n", encoding="utf-8")
    checked = check(tmp_path / "bikes.afs")
    assert checked.spec is not None
    assert list(checked.spec.tasks) == ["a_city_bike"]
    assert _findings(checked, tmp_path / "docs") == []


def test_the_example_of_several_files_does_what_it_says(tmp_path: Path) -> None:
    for block in FILES:
        _write(block, tmp_path)
        assert format_source(Source("docs.afs", block.text), Report()) == block.text
    checked = [check(tmp_path / block.attributes["file"]) for block in FILES if block.text.startswith("environment")]
    assert [_findings(one, tmp_path / "docs") for one in checked] == [[]]
    assert [len(one.sources) for one in checked] == [len(FILES)]


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
    shown: set[type] = set()
    for text in texts:
        for sql in _sql_in(parse(Source("docs.afs", text), Report()).items):
            fragment = parse_sql(sql, Report())
            shown |= {type(node) for node in fragment.tree.walk()} if fragment else set()
    allowed: set[type] = {*STRUCTURE, *OPERATORS, *FUNCTIONS}
    assert {kind.__name__ for kind in allowed - shown} == set()


def _listed(words: set[str]) -> str:
    return ", ".join(f"`{word}`" for word in sorted(words)) + "\n"


def _codes() -> str:
    rows = "".join(f"| {code} | {title} |\n" for code, title in CODES.items())
    return "| code | mistake |\n| --- | --- |\n" + rows


def _rules() -> str:
    rows = "".join(f"| {code} | {rule.title} |\n" for code, rule in RULES.items())
    return "| code | finding |\n| --- | --- |\n" + rows


def _limits() -> str:
    limits = {
        "a spec": f"{scan.MAX_FILE:,} characters, {scan.MAX_DECLARATIONS:,} declarations",
        "brackets inside each other": f"{scan.MAX_DEPTH}",
        "a name": f"{MAX_NAME} characters",
        "one piece of SQL, its functions written out": f"{size.MAX_PARTS:,} parts on {size.MAX_DEPTH} levels",
        "a record, those inside it included": f"{allow.MAX_FIELDS:,} fields on {types.MAX_LEVELS} levels",
        "tables inside each other, in one that is not nested": f"{nested.MAX_LEVELS} levels",
        "a list or map in a column or argument": f"{MAX_ELEMENTS:,} elements or entries",
        "a text in a column or argument": f"{MAX_TEXT:,} characters",
        "a text that a `let` or `set` joins of values": f"{MAX_KEPT:,} characters",
        "a text that is calculated": f"{MAX_CALCULATED:,} characters, {MAX_BRACKETS} brackets inside each other",
        "a list that is joined of others": f"{MAX_JOINED:,} elements",
        "texts or lists that one is joined of in a query": f"{growth.MAX_COPIES:,}",
        "the text that `string_agg` and `array_to_string` put between": f"{growth.MAX_SEPARATOR:,} characters",
        "holes in a text": f"{messages.MAX_HOLES:,}",
        "an integer in a column or argument": f"{MAX_INTEGER:,}, in amount",
        "statements of a body, its actions written out": f"{MAX_STATEMENTS:,}, on {MAX_LEVELS} levels",
        "passes of `each` in one call": f"{MAX_PASSES:,}, in bodies at most {MAX_EACH} deep",
        "rows that one `generate` makes, nested ones included": f"{MAX_ROWS:,}",
        "the arguments of a call": f"{MAX_ARGUMENTS:,} characters",
        "what is read of a result": f"{MAX_RESULT:,} characters",
        "rows that a call gets of one query": f"{MAX_ANSWER:,}",
        "what an episode changes, its texts and other values": f"{MAX_HELD:,} characters",
        "a file of data": f"{MAX_BYTES // 2**20} MiB, {rows.MAX_ROWS:,} rows",
        "a decimal": f"{types.MAX_PRECISION} digits",
        "the reasons of a reward that are about the state": f"{MAX_REASONS}",
    }
    return "| what | at most |\n| --- | --- |\n" + "".join(f"| {what} | {most} |\n" for what, most in limits.items())


GENERATED = {
    "limits": _limits(),
    "functions": _listed({*FUNCTIONS.values(), *NAMED_FUNCTIONS}),
    "casts": _listed(CASTS),
    "units": _listed({unit.lower() for unit in UNITS}),
    "fakes": _listed(set(FAKES)),
    "codes": _codes(),
    "rules": _rules(),
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


@pytest.mark.parametrize(
    "block",
    [block for block in EXAMPLES if _spec(block) == block.text and "error" not in block.attributes]
    + [block for block in EXAMPLES if "long_rentals" in block.text]
    + [block for block in blocks(read(DOCS / "tutorial.md")) if block.language == "afs"],
    ids=lambda block: f"line{block.line}",
)
def test_whole_specs_and_those_of_the_tutorial_are_formatted(block: Block) -> None:
    assert format_source(Source("docs.afs", block.text), Report()) == block.text


# -- the tutorial and the loop ----------------------------------------------------------------------------------------


class _Shell:
    """A shell in which the commands of a document run one after the other, as a reader types them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.status = 0

    def run(self, command: str) -> str:
        """What a command prints, errors included."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        end = "__end__"
        script = f"(exit {self.status})\n{command}\necho {end} $? $PWD"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder,
            env={**os.environ, "PATH": path, "PYTHONHASHSEED": "random"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=True,
            timeout=60,
        )
        output, _, rest = done.stdout.rpartition(end)
        status, folder = rest.split(maxsplit=1)
        self.status, self.folder = int(status), Path(folder.strip())
        return output


def _session(block: Block, shell: _Shell) -> str:
    """A console block as it must be: its commands, each with what it prints."""
    commands = [line[2:] for line in block.text.splitlines() if line.startswith("$ ")]
    return "".join(f"$ {command}\n{shell.run(command)}" for command in commands)


def _write(block: Block, folder: Path) -> None:
    """A new file, or declarations that go into one."""
    if "file" in block.attributes:
        path = folder / block.attributes["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
    elif "in" in block.attributes:
        path = folder / block.attributes["in"]
        path.write_text(merged(read(path), block.text), encoding="utf-8")


def test_the_tutorial_leads_to_what_it_shows(regen: bool, tmp_path: Path) -> None:
    document = read(DOCS / "tutorial.md")
    shell = _Shell(tmp_path)
    sessions: list[tuple[Block, str]] = []
    for block in blocks(document):
        _write(block, shell.folder)
        if block.language == "console":
            sessions.append((block, _session(block, shell)))
    assert len(sessions) > 10
    if regen:
        (DOCS / "tutorial.md").write_text(replaced(document, sessions), encoding="utf-8")
    else:
        assert [block.text for block, _ in sessions] == [text for _, text in sessions]


def test_the_tutorial_is_laid_out_as_fmt_does() -> None:
    for block in blocks(read(DOCS / "tutorial.md")):
        if block.language == "afs":
            assert format_source(Source("vet.afs", block.text), Report()) == block.text


def test_the_tutorial_hides_no_failure() -> None:
    """Every mistake that the tutorial shows on the way is made on purpose: the last block of commands is clean."""
    last = [block.text for block in blocks(read(DOCS / "tutorial.md")) if block.language == "console"][-1]
    assert "error" not in last and ", 0 failed" in last and "is up to date" in last


def test_the_programs_of_the_loop_print_what_is_shown(regen: bool, capsys: pytest.CaptureFixture[str]) -> None:
    document = read(DOCS / "loop.md")
    programs, outputs = ([b for b in blocks(document) if b.language == name] for name in ("python", "output"))
    assert len([line for line in programs[0].text.splitlines() if line.strip()]) <= 25
    printed = []
    for program in programs:
        text = program.text.replace('"generated/', f'"{DOCS.parent.as_posix()}/generated/')
        exec(compile(text, "docs/loop.md", "exec"), {})
        printed.append(capsys.readouterr().out)
    if regen:
        (DOCS / "loop.md").write_text(replaced(document, list(zip(outputs, printed, strict=True))), encoding="utf-8")
    else:
        assert [output.text for output in outputs] == printed
