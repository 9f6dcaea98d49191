"""What there is: enums, records, tables, singles."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from forgec.synthesis.asking.forms import State
from forgec.synthesis.naming import Named
from forgec.synthesis.work import STATE, Work

GROUP = 60
"""Operations that are looked at together: more than of tools, since they are about the same things."""


async def write_state(work: Work) -> None:
    """Ask for the state, group after group; each sees what the ones before it have left. Raises `LLMError`."""
    for number, group in enumerate(work.groups(work.made.operations, GROUP), 1):
        for some, answer in await work.ask_groups("state", [group], partial(_ask, work, number)):
            work.take("state", answer.declarations, STATE, (one.operation.name for one in some), answer.assumed)
    await work.settle("state", STATE)
    if not work.made.declarations.of("table", "single"):
        work.made.leave("state", "the answers", "nothing of them can be used: the state is that of the draft by rule")
        for one in work.drafted.values():
            if one.kind in STATE:
                work.made.declarations.put(one)
        await work.settle("state", STATE)


async def _ask(work: Work, number: int, scope: str, operations: Sequence[Named]) -> State:
    return await work.ask(
        "state", f"{number}.{scope}", State, "state.md.j2", operations=work.outline(operations), prose=work.prose,
        so_far=work.within(work.state()), draft=work.draft_of(*STATE),
    )  # fmt: skip
