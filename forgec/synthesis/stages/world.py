"""Where episodes begin: a few hand-picked rows, and many that are drawn by lot."""

from __future__ import annotations

from forgec.synthesis.asking.asker import Unanswered
from forgec.synthesis.asking.forms import World
from forgec.synthesis.work import Work

SAMPLE = "sample"
"""The world of hand-picked rows, in which tests play."""


async def write_world(work: Work) -> None:
    """Ask for worlds. Where none can be used, the rows that rules have drafted are tried. Raises `LLMError`."""
    declarations = work.made.declarations
    try:
        answer = await work.ask(
            "world", "1", World, "world.md.j2", state=work.within(work.state()), tools=heads(work),
            rules=work.within(declarations.text_of("invariant")), draft=work.draft_of("world"),
        )  # fmt: skip
        work.take("world", answer.declarations, ("world",))
    except Unanswered as error:
        work.made.leave("world", "an answer", str(error))
    await work.settle("world", ("world",))
    drafted = work.drafted.get(f"world {SAMPLE}")
    if f"world {SAMPLE}" not in declarations and drafted is not None:
        declarations.put(drafted)
        await work.settle("world", ("world",))
    if f"world {SAMPLE}" not in declarations:
        work.made.leave("world", f"world {SAMPLE}", "no rows can be used: there are no tests, and no tasks")


def heads(work: Work) -> str:
    """The tools without their bodies, as far as there is room."""
    return work.within(*(head(one.text) for one in work.made.declarations.of("tool")))


def head(text: str) -> str:
    """A tool up to its body."""
    lines = [line for line in text.split("\n") if not line.startswith("--")]
    for number, line in enumerate(lines):
        if line.rstrip().endswith("{") and "returns {" not in line[-12:]:
            return "\n".join([*lines[: number + 1], "  ...", "}"])
    return "\n".join(lines)
