"""A session without a person: lines of a file or a pipe, each echoed with what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from forgec.diagnostics.cells import clean
from forgec.playing.play import Outcome, is_blank, play
from forgec.playing.session import Session
from forgec.playing.show import painted

PROMPT = "> "


def script_lines(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The lines to play, with their numbers.

    A text whose first line begins with `> ` is the transcript of a session: only such lines are input, the others are
    what was answered then.
    """
    transcript: bool | None = None
    for number, line in enumerate(lines, 1):
        text = line.rstrip("\r\n")
        if is_blank(text):
            continue
        if transcript is None:
            transcript = text.startswith(PROMPT)
        played = text.removeprefix(PROMPT) if transcript else text
        if (not transcript or text.startswith(PROMPT)) and not is_blank(played):
            yield number, played


def play_script(
    session: Session, lines: Iterable[tuple[int, str]], write: Callable[[str], None], *, as_json: bool = False
) -> int | None:
    """Play numbered lines until they end, `.quit` comes, or one is not understood: its number is the result."""
    for number, line in lines:
        outcome = play(session, line)
        write(transcript(outcome, as_json=as_json))
        if outcome.failed:
            return number
        if outcome.answer.leave:
            break
    return None


def transcript(outcome: Outcome, *, as_json: bool = False, color: bool = False, echo: bool = True) -> str:
    """A line as it was typed, and what came of it."""
    if as_json:
        return outcome.json()
    typed = [f"{PROMPT}{clean(outcome.input)}"] if echo else []
    return "\n".join([*typed, *(painted(one, color=color) for one in outcome.answer.lines)])
