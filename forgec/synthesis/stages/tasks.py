"""What is asked for: tasks whose words are looked at again when their plan was played, and that are certified."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from forgec.synthesis.asking.asker import Unanswered
from forgec.synthesis.asking.forms import Refined, Tasks
from forgec.synthesis.declarations import cut
from forgec.synthesis.judging import Judged, certify_tasks
from forgec.synthesis.stages.world import SAMPLE, heads
from forgec.synthesis.work import Work
from forgec_runtime import Environment
from forgec_runtime.plan import GoldError, gold_run
from forgec_runtime.results import json_able
from forgec_runtime.tasks import TaskError

AT_ONCE = 3
"""Tasks that are asked for in one question."""
MAX_SHOWN = 4_000
"""Characters of what a plan did, and of what it changed."""


async def write_tasks(work: Work) -> None:
    """Ask for tasks, play them, have their words refined, and keep what is certified. Raises `LLMError`."""
    if f"world {SAMPLE}" not in work.made.declarations or not work.made.declarations.of("tool"):
        return
    declarations, wanted = work.made.declarations, work.options.tasks
    for number in range(1, -(-wanted // AT_ONCE) + 1):
        names = [one.name for one in declarations.of("task")]
        count = min(AT_ONCE, wanted - AT_ONCE * (number - 1))
        try:
            answer = await work.ask(
                "tasks", str(number), Tasks, "tasks.md.j2", count=count, known=", ".join(names),
                graph="\n".join([*work.made.edges, *work.made.reasoning]) or "(nothing is known)",
                spec=work.within(work.state(), declarations.held[f"world {SAMPLE}"].text, declarations.text_of("tool")),
            )  # fmt: skip
        except Unanswered as error:
            work.made.leave("tasks", "an answer", str(error))
            continue
        work.take("tasks", answer.declarations, ("task",))
        work.tell(f"tasks: {len(declarations.of('task'))} of {wanted}")
    judged = await work.settle("tasks", ("task",), work.compile)
    await _refine(work, judged)
    await work.settle("tasks", ("task",), lambda: _judge(work))


def _judge(work: Work) -> Judged:
    judged = work.compile()
    if judged.spec is not None:
        with work.compiled(judged.spec) as environment:
            work.made.verdicts = certify_tasks(judged, environment)
    return judged


async def _refine(work: Work, judged: Judged) -> None:
    """Have the words of each task looked at, with what its plan did, and both states, in view."""
    if judged.spec is None or not judged.spec.tasks:
        return
    with work.compiled(judged.spec) as environment:
        played = {name: _played(environment, name) for name in judged.spec.tasks}
    for name, run in played.items():
        if run is None:
            continue  # certification will say what is wrong with it
        calls, changes = run
        held = work.made.declarations.held[f"task {name}"]
        try:
            answer = await work.ask(
                "tasks", f"refine {name}", Refined, "refine.md.j2", task=held.text, calls=calls, changes=changes,
                tools=heads(work),
            )  # fmt: skip
        except Unanswered as error:
            work.made.leave("tasks", f"other words for {held.key}", str(error))
            continue
        refined = next((one for one in cut(answer.declaration, "tasks") if one.key == held.key), None)
        if refined is None:
            continue
        work.made.declarations.put(refined)
        if work.compile().findings:  # words that do not compile are not taken
            work.made.declarations.put(held)


def _played(environment: Environment, name: str) -> tuple[str, str] | None:
    """What a task's plan did, call by call, and what it changed: rows as they were and as they are."""
    task = environment.tasks[name]
    try:
        run = gold_run(environment, task)
        before = environment.reset(task, 0).state()
    except (GoldError, TaskError):
        return None
    calls = "\n".join(f"{one.tool}({json.dumps(one.arguments)}) gave {one.result.text[:600]}" for one in run.calls)
    said = "".join(f"\nsays {answer}" for answer in run.answers)
    return (calls + said)[:MAX_SHOWN], _changes(before, run.episode.state())[:MAX_SHOWN]


def _changes(before: Mapping[str, list[dict[str, Any]]], after: Mapping[str, list[dict[str, Any]]]) -> str:
    lines = []
    for table, rows in after.items():
        old, new = map(_lines, (before.get(table, []), rows))
        lines += [f"{table}: was {one}" for one in old if one not in new]
        lines += [f"{table}: is {one}" for one in new if one not in old]
    return "\n".join(lines) or "nothing"


def _lines(rows: list[dict[str, Any]]) -> list[str]:
    return [json.dumps(json_able(row), ensure_ascii=False, default=str) for row in rows]
