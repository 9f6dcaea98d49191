"""What is wrong with declarations: the compiler's diagnostics, tests that fail, tasks that are not certified."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from forgec.certifying import Verdict, certify
from forgec.diagnostics import Label, Report
from forgec.diagnostics.text import render_text
from forgec.model.spec import Spec
from forgec.pipeline import check_source
from forgec.source import Source
from forgec.synthesis.declarations import Declarations, Laid
from forgec.testing import run_test
from forgec_runtime import Environment, LoadError

Compiled = Callable[[Spec], AbstractContextManager[Environment]]
"""Compiles a spec, for as long as the context lasts."""

_STUB = "forgec_stub"
_TOOL = f'tool {_STUB}() "Stands for the tools." {{ }}'
_WORLD = f"world {_STUB} {{ }}"
NOTED = {"AFW103", "AFW201", "AFW202", "AFW203", "AFW301", "AFW402"}
"""Warnings that a model is told of: what is never read, never decides, never changes anything, or is left to chance."""
MAX_FINDINGS = 6
"""Findings about one declaration that a model is shown; the rest often follows from them."""


@dataclass
class Judged:
    """What was found: texts by the key of the declaration that they are about, and the spec if it compiles."""

    laid: Laid
    spec: Spec | None = None
    findings: dict[str, list[str]] = field(default_factory=dict)
    soft: dict[str, list[str]] = field(default_factory=dict)
    """What had better be otherwise, and may stay."""
    general: list[str] = field(default_factory=list)
    """About no declaration in particular."""

    def add(self, key: str | None, finding: str) -> None:
        held = self.general if key is None else self.findings.setdefault(key, [])
        if finding not in held and len(held) < MAX_FINDINGS:
            held.append(finding)

    def copy(self) -> Judged:
        """The same, to which more can be added."""
        findings, soft = ({key: [*found] for key, found in held.items()} for held in (self.findings, self.soft))
        return Judged(self.laid, self.spec, findings, soft, [*self.general])

    @property
    def sound(self) -> bool:
        return not self.findings and not self.general


def compile_(declarations: Declarations, name: str) -> Judged:
    """The declarations, compiled; where there is no tool or world yet, one stands in."""
    extra = [text for text, kind in ((_TOOL, "tool"), (_WORLD, "world")) if not declarations.of(kind)]
    laid = declarations.laid(extra)
    source = Source(f"{name}.afs", laid.text)
    report = Report()
    judged = Judged(laid)
    checked = check_source(Path(source.name), source, report)
    stubbed = sum(text.count("\n") + 2 for text in extra)
    last = laid.text.count("\n") + 1 - stubbed
    for one in report:
        if one.severity == "warning" and one.code not in NOTED:
            continue
        lines = [_line(label) for label in (one.primary, *one.related) if label is not None]
        if lines and all(line > last for line in lines):
            continue  # about what stands in
        owner = next((key for line in lines if (key := laid.owner(line)) is not None), None)
        if one.severity == "error":
            judged.add(owner, render_text([one]))
        elif owner is not None:
            judged.soft.setdefault(owner, []).append(render_text([one]))
    judged.spec = checked.spec
    return judged


def _line(label: Label) -> int:
    return label.span.source.position(label.span.start)[0]


@dataclass(frozen=True)
class Shown:
    """What the tests of a tool show of it."""

    effect: bool = False
    """Whether one that passes calls it with success, and looks at what came of it."""
    refusals: int = 0
    """How many calls of it fail as they are said to, in tests that pass."""


def run_tests(judged: Judged, environment: Environment) -> dict[str, Shown]:
    """Run all tests of a spec that compiles. Failures are added to what was found; what others show is told by tool."""
    spec = judged.spec
    assert spec is not None
    shown: dict[str, Shown] = {}
    for test in spec.tests:
        result = run_test(spec, environment, test)
        if result.findings:
            for finding in result.findings:
                judged.add(f"test {test.name}", render_text([finding]))
            continue
        looks = any(getattr(step, "call", None) is None or getattr(step, "returns", None) for step in test.steps)
        for step in test.steps:
            call = getattr(step, "call", None)
            if call is not None:
                known = shown.get(call.tool, Shown())
                fails = getattr(step, "fails", None) is not None
                shown[call.tool] = Shown(known.effect or (looks and not fails), known.refusals + fails)
    return shown


def certify_tasks(judged: Judged, environment: Environment) -> dict[str, Verdict]:
    """The verdicts on all tasks of a spec. Checks that fail are added to what was found."""
    try:
        verdicts = certify(environment, list(environment.tasks.values()))
    except (LoadError, ValueError) as error:
        judged.general.append(f"the tasks cannot be certified: {error}")
        return {}
    for verdict in verdicts:
        for outcome in verdict.failed:
            hint = f"\n  help: {outcome.hint}" if outcome.hint else ""
            judged.add(f"task {verdict.task}", f"not certified: {outcome.check}: {outcome.evidence}{hint}")
    return {verdict.task: verdict for verdict in verdicts}
