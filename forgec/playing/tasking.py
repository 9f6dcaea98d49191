"""Commands about the task that is being played: its facts, its gold plan, what is said, what it earns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forgec.diagnostics.cells import clean
from forgec.playing import describe
from forgec.playing import gold as plan
from forgec.playing.answers import Answer, call_answer
from forgec.playing.changes import broken_since, changes
from forgec.playing.line import Mistake, written, written_call
from forgec.playing.session import Called, Session
from forgec.playing.show import Line, pairs_lines, row_text
from forgec_runtime import GoldError, Task


def _current(session: Session) -> Task:
    if session.task is None:
        raise Mistake("no task is being played; `.task NAME` starts one, `.task` lists them")
    return session.task


def facts(session: Session, rest: str) -> Answer:
    """What the user knows."""
    _current(session)
    told = session.episode.briefing
    return Answer(describe.fact_lines(told) or [Line("no facts", "quiet")], describe.facts_data(told))


def say(session: Session, rest: str) -> Answer:
    """Tell the user something."""
    if not rest:
        raise Mistake("say what?")
    session.say(f".say {rest}", rest)
    return Answer([Line(f"said: {clean(rest)}")], rest)


def reward(session: Session, rest: str) -> Answer:
    """What the episode earns as it stands."""
    task = _current(session)
    try:
        earned = session.environment.reward(session.episode, task)
    except GoldError as error:
        return Answer([Line(f"the gold plan fails: {clean(str(error))}", "error")], {"error": str(error)})
    reasons = [{"kind": reason.kind, "text": reason.text} for reason in earned.reasons]
    return Answer(describe.reward_lines(earned), {"value": earned.value, "reasons": reasons})


def gold(session: Session, rest: str) -> Answer:
    """Play the next step of the plan, or all that are left."""
    task = _current(session)
    if rest not in ("", "all"):
        raise Mistake("write `.gold` for the next step of the plan, `.gold all` for all that are left")
    answer, before = Answer(data=[]), session.episode
    while not plan.is_over(task, session.now.gold):
        step, called = session.gold(".gold", task)
        _add_step(session, answer, step, called)
        if step.problem or rest != "all":
            break
    answer.changes = changes(before, session.episode)
    answer.broken = broken_since(before, session.episode)
    if not answer.lines or (rest == "all" and plan.is_over(task, session.now.gold)):
        answer.lines.append(Line("the gold plan is at its end; `.reward` tells what it earns", "quiet"))
    return answer


def _add_step(session: Session, answer: Answer, step: plan.GoldStep, called: Called | None) -> None:
    """Show a step of the plan: what was worked out, the call, what it came to, what was said."""
    reasons = [
        (f"{node.name} = {_reasoned(value)}", f"-- {clean(node.doc)}" if node.doc else "")
        for node, value in step.reasons
    ]
    answer.lines += pairs_lines(reasons, "") if reasons else []
    data: dict[str, Any] = {"reasons": {node.name: value for node, value in step.reasons}, "said": step.sayings}
    if step.call is not None and called is not None:
        user = ".user " if step.call.tool in session.environment.user_tools else ""
        call = user + written_call(step.call.tool, step.call.arguments)
        answer.lines.append(Line(f"{step.call.node} = {clean(call)}", "strong"))
        shown = call_answer(session, called)
        answer.lines += shown.lines
        data |= {"node": step.call.node, "call": call, "kind": called.result.kind, "result": shown.data}
    answer.lines += [Line(f"said: {clean(saying)}") for saying in step.sayings]
    if step.problem:
        answer.lines.append(Line(f"the gold plan fails here: {clean(step.problem)}", "error"))
        data["problem"] = step.problem
    answer.data.append(data)


def _reasoned(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(map(_reasoned, value)) or "no rows"
    return row_text(value) if isinstance(value, Mapping) else clean(written(value))
