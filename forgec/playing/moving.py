"""Commands that lead elsewhere: back, forth, to the start, to another world or task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forgec.diagnostics.cells import clean
from forgec.playing import describe
from forgec.playing.answers import Answer, chosen, place_data, place_line
from forgec.playing.changes import changes
from forgec.playing.line import Mistake
from forgec.playing.session import Moment, Session
from forgec.playing.show import Line, change_lines, pairs_lines


def undo(session: Session, rest: str) -> Answer:
    """Go back."""
    return _moved(session, "undone", session.undo, rest)


def redo(session: Session, rest: str) -> Answer:
    """Go forth again."""
    return _moved(session, "redone", session.redo, rest)


def _moved(session: Session, what: str, move: Callable[[int], list[Moment]], rest: str) -> Answer:
    if rest and not (rest.isascii() and rest.isdigit() and len(rest) < 10 and int(rest) > 0):
        raise Mistake(f"`{rest}` is no number of lines")
    before = session.episode
    moments = [moment for moment in move(int(rest or 1)) if moment.lasting]
    if not moments:
        return Answer([Line(f"nothing to be {what}", "quiet")], [])
    after, lines = session.episode, [Line(f"{what}: {clean(moment.line)}") for moment in moments]
    found = changes(before, after) if before.base is after.base else []
    if (before.world, before.task) != (after.world, after.task):
        lines.append(place_line(session))
    return Answer([*lines, *change_lines(found)], [moment.line for moment in moments], found)


def reset(session: Session, rest: str) -> Answer:
    """Start again."""
    session.start(".reset", session.episode.world, session.task, session.episode.seed)
    return Answer([place_line(session)], place_data(session))


def world(session: Session, rest: str) -> Answer:
    """Start in a world, or list them."""
    worlds = session.environment.worlds
    if not rest:
        return Answer([Line(name) for name in worlds], list(worlds))
    name = chosen(rest, worlds, "world")
    _check_allowed(session, name)
    session.start(f".world {name}", name)
    return Answer([place_line(session)], place_data(session))


def task(session: Session, rest: str) -> Answer:
    """Start a task, or list them."""
    tasks = session.environment.tasks
    if not rest:
        pairs = [(task.name, clean(task.doc)) for task in tasks.values()]
        return Answer(pairs_lines(pairs, "") if pairs else [Line("there are no tasks", "quiet")], list(tasks))
    name, _, seed = rest.partition(" ")
    task = tasks[chosen(name, tasks, "task")]
    if seed and not (seed.isascii() and seed.isdigit() and len(seed) < 10):
        raise Mistake(f"`{clean(seed)}` is no seed; write a number")
    _check_allowed(session, task.world)
    session.start(f".task {rest}", task.world, task, int(seed or 0))
    idle = [Line("the seed changes nothing: this task samples nothing", "quiet")] if seed and not task.sampled else []
    return Answer([*idle, *describe.task_lines(task, session.episode.briefing)], task_data(session))


def task_data(session: Session) -> dict[str, Any]:
    """The task that is played, for programs."""
    told = session.episode.briefing
    requests = {"requests": describe.requests_data(told)} if told.requests else {}
    return {**place_data(session), "intent": told.intent, **requests, "facts": describe.facts_data(told)}


def _check_allowed(session: Session, world: str) -> None:
    """Raise `Mistake` for a world whose rows nobody allowed to read."""
    denied = session.environment.denied(world)
    if denied:
        flags = " ".join(f"--allow-source {name}" for name in denied)
        raise Mistake(f"rows of the world {world} lie outside of its package: play with {flags}")
