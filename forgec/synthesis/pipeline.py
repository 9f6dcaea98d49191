"""From documentation to a spec, stage by stage, with a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from forgec.documents import Api
from forgec.starting.spec_text import CLOCK
from forgec.starting.values import documentation
from forgec.synthesis.asking.asker import Asker
from forgec.synthesis.declarations import Declaration, cut
from forgec.synthesis.drafting import Drafted
from forgec.synthesis.judging import Compiled
from forgec.synthesis.made import Made
from forgec.synthesis.naming import named
from forgec.synthesis.stages.graph import write_graph
from forgec.synthesis.stages.policy import policy, write_policy
from forgec.synthesis.stages.state import write_state
from forgec.synthesis.stages.tasks import write_tasks
from forgec.synthesis.stages.testing import write_tests
from forgec.synthesis.stages.tools import write_tools
from forgec.synthesis.stages.world import write_world
from forgec.synthesis.work import HEAD, Hopeless, Options, Work

STAGES = (
    ("state", write_state), ("tools", write_tools), ("policy", write_policy), ("world", write_world),
    ("tests", write_tests), ("graph", write_graph), ("tasks", write_tasks),
)  # fmt: skip
"""In order; each sees what the ones before it have made, compiled."""


async def synthesize(
    api: Api, name: str, asker: Asker, compiled: Compiled, drafted: Drafted, options: Options,
    tell: Callable[[str], None] = lambda text: None,
) -> Made:  # fmt: skip
    """The environment called `name` that a model makes of what was read. What it cannot make right is reported.

    Raises `LLMError` where the model cannot be asked at all: what was answered by then is kept, and not asked again.
    """
    made = Made(name, named(api), spent=asker.spent)
    draft = [one for one in cut(drafted.text, "draft") if one.key not in _open(drafted, made)]
    work = Work(api, made, asker, compiled, options, [replace(one, by="rule") for one in draft], tell)
    doc = documentation((api.doc or api.title or name).split("\n")[0][:200])
    text = f"environment {name} {doc} {{\n  clock timestamp '{CLOCK}';\n}}"
    made.declarations.put(Declaration(f"environment {name}", text, HEAD, by="rule"))
    made.declarations.put(policy("Do what you are asked for, with the tools that there are, and nothing else."))
    for stage, write in STAGES:
        tell(stage)
        try:
            await write(work)
        except Hopeless as error:
            made.leave(stage, "the stage", str(error))
            break
    if work.compile().findings:
        made.leave("end", "the spec", "it does not compile")
    return made


def _open(drafted: Drafted, made: Made) -> set[str]:
    """The tools of a draft that only refuse."""
    open_ = {one.operation for one in drafted.outcomes if one.state == "open"}
    return {f"tool {one.tool}" for one in made.operations if one.operation.name in open_}
