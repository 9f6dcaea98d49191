"""One line of a session, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from forgec.diagnostics.cells import clean
from forgec.playing import calling
from forgec.playing.answers import Answer
from forgec.playing.changes import Change
from forgec.playing.commands import COMMANDS
from forgec.playing.line import Mistake, first_word, hint
from forgec.playing.session import Session
from forgec.playing.show import Line
from forgec_runtime.results import to_json


@dataclass(frozen=True)
class Outcome:
    """What a line came to. `kind`: that of the call's result, the command's name, or "error" for a mistake."""

    input: str
    kind: str
    answer: Answer

    @property
    def failed(self) -> bool:
        """Whether the line was not understood; a call that is refused was."""
        return self.kind == "error"

    def json(self) -> str:
        """The outcome on one line, for programs; decimals keep all their digits."""
        answer = self.answer
        return to_json(
            {
                "input": _encodable(self.input),
                "kind": self.kind,
                "result": answer.data,
                "changes": [_change(one) for one in answer.changes],
                "rules_broken": answer.broken,
            }
        )


def is_blank(line: str) -> bool:
    """Whether a line says nothing: white space, or a comment."""
    return not line.strip() or line.lstrip().startswith("--")


def play(session: Session, line: str) -> Outcome:
    """Play a line that is not blank. A mistake is an outcome, too, and changes nothing. Raises `LoadError`."""
    text = line.strip()
    try:
        return _command(session, text) if text.startswith(".") else _call(session, text)
    except Mistake as mistake:
        return Outcome(
            line, "error", Answer([Line(f"error: {clean(str(mistake))}", "error")], _encodable(str(mistake)))
        )


def _command(session: Session, text: str) -> Outcome:
    name, _, rest = text[1:].partition(" ")
    if name not in COMMANDS:
        raise Mistake(
            f"there is no command `.{name}`"
            + hint(f".{name}", {f".{known}": known for known in COMMANDS}, "`.help` lists them")
        )
    command, rest = COMMANDS[name], rest.strip()
    if rest and not command.arguments:
        raise Mistake(f"`.{name}` takes nothing after it")
    answer = command.run(session, rest)
    return Outcome(text, answer.kind or name, answer)


def _call(session: Session, text: str) -> Outcome:
    name = first_word(text)
    if name not in session.environment.tools and name in COMMANDS:
        raise Mistake(f"there is no tool `{name}`; did you mean `.{name}`?")
    answer = calling.agent(session, text)
    return Outcome(text, answer.kind, answer)


def _change(change: Change) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": change.kind, "table": change.table, "key": change.key}
    if change.kind == "changed":
        return told | {"columns": {name: {"old": old, "new": new} for name, old, new in change.columns}}
    return told | {"row": change.row}


def _encodable(text: str) -> str:
    """Text without what UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode()
