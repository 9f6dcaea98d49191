"""Tests that show what the document promises; a tool that none shows is not kept."""

from __future__ import annotations

from collections.abc import Sequence

from forgec.synthesis.asking.forms import Tests
from forgec.synthesis.judging import Judged, run_tests
from forgec.synthesis.naming import Named
from forgec.synthesis.stages.world import SAMPLE
from forgec.synthesis.work import SHARED, Work

KINDS = ("test", "tool", *SHARED)
"""What may be corrected when a test fails."""


async def write_tests(work: Work) -> None:
    """Ask for tests, mend what fails, and leave out the tools whose effect no test shows. Raises `LLMError`."""
    if f"world {SAMPLE}" not in work.made.declarations:
        return
    await _ask_for(work, "", _present(work))
    await work.settle("tests", KINDS, lambda: _judge(work))
    unshown = [one for one in _present(work) if not _shown(work, one)]
    if unshown and len(unshown) < len(work.made.operations):
        await _ask_for(work, "again ", unshown)
        await work.settle("tests", KINDS, lambda: _judge(work))
    _drafted_instead(work)
    await work.settle("tests", KINDS, lambda: _judge(work))
    while unshown := [one for one in _present(work) if not _shown(work, one)]:
        for one in unshown:
            work.made.leave("tests", f"operation {one.operation.name}", "no test that passes shows what it does")
            work.made.declarations.drop(f"tool {one.tool}")
        await work.settle("tests", KINDS, lambda: _judge(work))  # whatever needed it goes, too


async def _ask_for(work: Work, scope: str, operations: Sequence[Named]) -> None:
    declarations = work.made.declarations

    async def ask(number: str, group: Sequence[Named]) -> Tests:
        tools = [declarations.held[f"tool {one.tool}"].text for one in group]
        shared = declarations.text_of("function", "action", "view")
        return await work.ask(
            "tests", f"{scope}{number}", Tests, "tests.md.j2", state=work.within(work.state()),
            world=work.within(declarations.held[f"world {SAMPLE}"].text), tools=work.within(*tools, shared),
            operations=work.outline(group),
        )  # fmt: skip

    for group, answer in await work.ask_groups("tests", work.groups(operations), ask):
        names = {one.tool: one.operation.name for one in group}
        for written in answer.tests:
            name = written.tool.strip()
            if name not in names:
                work.made.leave("tests", f"a test of `{name}`", "this is no tool that was asked about")
                continue
            for one in work.take("tests", written.declaration, ("test",), (names[name],)):
                work.made.errors[one.key] = tuple(written.errors)


def _judge(work: Work) -> Judged:
    judged = work.compile()
    if judged.spec is None:
        return judged
    if judged.laid.text not in work.tested:
        with work.compiled(judged.spec) as environment:
            shown = run_tests(judged, environment)
        work.tested = {judged.laid.text: (judged, shown)}
    judged, work.made.shown = work.tested[judged.laid.text]
    return judged.copy()


def _drafted_instead(work: Work) -> None:
    """Where no test shows a tool, the one that rules have drafted is tried; it stays if it passes."""
    added = []
    for one in _present(work):
        drafted = work.drafted.get(f"test {one.tool}")
        if not _shown(work, one) and drafted is not None and drafted.key not in work.made.declarations:
            work.made.declarations.put(drafted)
            added.append(drafted.key)
    judged = _judge(work) if added else None
    while judged is not None and (failed := [key for key in added if key in judged.findings]):
        for key in failed:
            added.remove(key)
            work.made.declarations.drop(key)
        judged = _judge(work)


def _present(work: Work) -> list[Named]:
    return [one for one in work.made.operations if f"tool {one.tool}" in work.made.declarations]


def _shown(work: Work, one: Named) -> bool:
    return one.tool in work.made.shown and work.made.shown[one.tool].effect
