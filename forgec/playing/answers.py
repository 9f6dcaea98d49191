"""What commands have in common: their shape, and the answers they give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from forgec.diagnostics.cells import clean
from forgec.playing.changes import Change
from forgec.playing.line import Mistake, hint
from forgec.playing.session import Called, Session
from forgec.playing.show import Line, change_lines, json_lines


@dataclass
class Answer:
    """What a command has to say: lines for people, data for programs, and the rows it changed.

    `kind` is that of a call's result.
    """

    lines: list[Line] = field(default_factory=list)
    data: Any = None
    changes: list[Change] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    leave: bool = False
    kind: str = ""


@dataclass(frozen=True)
class Command:
    """A command. `choices` are the words that may follow it, each with what it stands for."""

    arguments: str
    doc: str
    run: Callable[[Session, str], Answer]
    choices: Callable[[Session], Mapping[str, str]] = lambda session: {}


def call_answer(session: Session, called: Called) -> Answer:
    """What is shown of a call: its result as the agent reads it, then what it changed."""
    result = called.result
    if result.ok:
        lines = json_lines(called.told, session.width)
    else:
        lines = [Line(f"{result.kind}: {clean(result.text)}", "error")]
        lines += [Line(f"  {clean(result.detail)}", "quiet")] if result.detail else []
    lines += change_lines(called.changes, called.broken)
    data = called.told if result.ok else result.text
    return Answer(lines, data, called.changes, called.broken, kind=result.kind)


def chosen(name: str, names: Mapping[str, object], what: str) -> str:
    """`name`, if it is one of `names`. Raises `Mistake`."""
    if name in names:
        return name
    known = f"there are {', '.join(names)}" if names else f"there are no {what}s"
    raise Mistake(f"there is no {what} `{name}`{hint(name, names, known)}" if name else f"which {what}? {known}")


def place_line(session: Session) -> Line:
    """Where the session plays."""
    task = f", task {session.task.name}" if session.task else ""
    return Line(f"{session.environment.name} in world {session.episode.world}{task}", "strong")


def place_data(session: Session) -> dict[str, Any]:
    """Where the session plays, for programs."""
    task = session.task.name if session.task else None
    return {"environment": session.environment.name, "world": session.episode.world, "task": task}
