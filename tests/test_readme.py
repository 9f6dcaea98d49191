"""What README.md shows is what forgec does."""

from __future__ import annotations

import re
from pathlib import Path

from forgec.diagnostics import Report
from forgec.pipeline import check_source, generate_package
from forgec.source import Source

README = Path(__file__).parent.parent.joinpath("README.md").read_text(encoding="utf-8")


def _spec() -> str:
    match = re.search(r"^```\n(environment .*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert match
    return match[1]


def test_the_spec_in_the_readme_compiles_to_the_tool_in_the_readme() -> None:
    checked = check_source(Path("kiosk.afs"), Source("kiosk.afs", _spec()), Report())
    assert [diagnostic.message for diagnostic in checked.report] == []
    assert checked.spec is not None
    shown = re.search(r"^```python\n(def rent.*?)```$", README, re.MULTILINE | re.DOTALL)
    assert shown
    assert shown[1] in generate_package(checked.spec)["tools/rent.py"]


def test_the_spec_in_the_readme_is_no_longer_than_a_reader_bears() -> None:
    assert len([line for line in _spec().splitlines() if line.strip()]) <= 30


def test_the_program_in_the_readme_runs() -> None:
    program = re.search(
        r"^```python\n(from forgec_runtime import load_environment.*?)```$", README, re.MULTILINE | re.DOTALL
    )
    assert program
    root = Path(__file__).parent.parent
    code = program[1].replace('"generated/library"', repr(str(root / "generated" / "library")))
    namespace: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), namespace)
    results = namespace["results"]
    assert isinstance(results, list)
    assert len(results) == 1000
    assert all(result.ok for result in results)
