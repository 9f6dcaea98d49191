"""The tools, in groups, so that an interface of a hundred operations fits into what a model can read and write."""

from __future__ import annotations

from collections.abc import Sequence

from forgec.model.spec import Spec
from forgec.synthesis.asking.forms import Tools
from forgec.synthesis.judging import Judged
from forgec.synthesis.naming import Named
from forgec.synthesis.work import SHARED, Work


async def write_tools(work: Work) -> None:
    """Ask for the tools of all operations; an operation that has none in the end is reported. Raises `LLMError`."""
    groups = work.groups(work.made.operations)

    async def ask(scope: str, group: Sequence[Named]) -> Tools:
        return await work.ask(
            "tools", scope, Tools, "tools.md.j2", operations=work.outline(group), state=work.within(work.state()),
            shared="", prefix=f"g{scope}_" if len(groups) > 1 else "",
            draft=work.draft_of("tool", names=[one.tool for one in group]),
        )  # fmt: skip

    for group, answer in await work.ask_groups("tools", groups, ask):
        _take(work, group, answer)
    await work.settle("tools", ("tool", *SHARED), lambda: _judge(work))
    _drafted_instead(work)
    await work.settle("tools", ("tool", *SHARED), lambda: _judge(work))
    for one in work.made.operations:
        if f"tool {one.tool}" not in work.made.declarations:
            why = work.declined.get(one.operation.name)
            told = "no answer has a tool for it" if why is None else f"the model leaves it out: {why}"
            if why is not None or not any(left.what == f"tool {one.tool}" for left in work.made.left):
                work.made.leave("tools", f"operation {one.operation.name}", told)


def _take(work: Work, group: Sequence[Named], answer: Tools) -> None:
    work.take("tools", answer.shared, SHARED)
    by_name = {name: one for one in group for name in (one.operation.name, one.tool)}
    for written in answer.tools:
        operation = by_name.get(written.operation.strip())
        known = (operation.operation.name,) if operation is not None else ()
        tools = {one.tool for one in group}
        work.take("tools", written.declaration, ("tool", *SHARED), known, written.assumed, tools)
    for left in answer.left_out:
        if (declined := by_name.get(left.operation.strip())) is not None:
            work.declined[declined.operation.name] = left.why


def _judge(work: Work) -> Judged:
    judged = work.compile()
    if judged.spec is not None:
        for one in work.made.operations:
            for finding in unlike(judged.spec, one):
                judged.soft.setdefault(f"tool {one.tool}", []).append(finding)
    return judged


def unlike(spec: Spec, one: Named) -> list[str]:
    """What the tool of an operation has otherwise than the document."""
    tool = spec.tools.get(one.tool)
    if tool is None:
        return []
    given = {parameter.name for parameter in tool.parameters}
    missing = [name for name in one.parameters.values() if name not in given]
    extra = sorted(given - set(one.parameters.values()))
    found = [f"error: the document has a parameter `{name}`, and this tool has none" for name in missing]
    return found + [f"error: the document has no parameter `{name}`" for name in extra]


def _drafted_instead(work: Work) -> None:
    """Where the model has no tool, the one that rules have drafted is tried, if it compiles on this state."""
    declarations = work.made.declarations
    added = []
    for one in work.made.operations:
        drafted = work.drafted.get(f"tool {one.tool}")
        if drafted is not None and drafted.key not in declarations and one.operation.name not in work.declined:
            declarations.put(drafted)
            added.append(drafted.key)
    while added and (wrong := work.compile().findings):
        for key in [key for key in added if key in wrong] or [added[-1]]:
            added.remove(key)
            declarations.drop(key)
