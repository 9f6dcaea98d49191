"""A session with a person: a prompt with completion and a history. The only door to prompt_toolkit."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import completion_is_selected
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from forgec.diagnostics.cells import clean
from forgec.playing.complete import Suggestions
from forgec.playing.play import play
from forgec.playing.script import PROMPT, script_lines, transcript
from forgec.playing.session import Session


class PlayCompleter(Completer):
    """Completion of calls and commands."""

    def __init__(self, session: Session) -> None:
        self._suggestions = Suggestions(session)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        text = document.text_before_cursor
        for one in self._suggestions.after(text):
            yield Completion(one.text, one.start - len(text), display=clean(one.text), display_meta=one.remark)


class _History(FileHistory):
    """Lines of earlier sessions; a file that cannot be read or written is done without."""

    def load_history_strings(self) -> Iterable[str]:
        try:
            return list(super().load_history_strings())
        except OSError:
            return []

    def store_string(self, string: str) -> None:
        try:
            Path(os.fsdecode(self.filename)).parent.mkdir(parents=True, exist_ok=True)
            super().store_string(string)
        except (OSError, UnicodeError):
            pass


def history_file() -> Path:
    """Where lines are kept across sessions, by the custom of the system: `$XDG_STATE_HOME/forgec/play_history`."""
    state = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):  # the standard wants others to be ignored
        home = Path(os.path.expanduser("~"))
        if sys.platform == "win32":
            state = os.environ.get("LOCALAPPDATA") or str(home / "AppData" / "Local")
        else:
            state = str(home / ("Library/Application Support" if sys.platform == "darwin" else ".local/state"))
    return Path(state) / "forgec" / "play_history"


def _keys() -> KeyBindings:
    """Tab takes the only suggestion at once and goes on to the next; Enter takes the one that is selected."""
    keys = KeyBindings()

    @keys.add("tab")
    def _tab(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        state = buffer.complete_state
        if state is None:
            buffer.start_completion(insert_common_part=True)
        elif len(state.completions) == 1:
            buffer.apply_completion(state.completions[0])
        else:
            buffer.complete_next()

    @keys.add("enter", filter=completion_is_selected)
    def _enter(event: KeyPressEvent) -> None:
        event.current_buffer.complete_state = None
        event.current_buffer.start_completion()

    return keys


def play_terminal(session: Session, write: Callable[[str], None], *, color: bool = True) -> None:
    """Play what a person types until `.quit` or Ctrl-D; Ctrl-C clears the line, or gives up a call that runs."""
    prompt: PromptSession[str] = PromptSession(
        PROMPT,
        completer=PlayCompleter(session),
        complete_while_typing=True,
        auto_suggest=AutoSuggestFromHistory(),
        key_bindings=_keys(),
        history=_History(history_file()),
        bottom_toolbar=lambda: _place(session),
    )
    while True:
        try:
            line = prompt.prompt()
            session.width = shutil.get_terminal_size().columns
            if not _played(session, line, write, color=color):
                return
        except KeyboardInterrupt:
            continue
        except EOFError:
            return


def _played(session: Session, line: str, write: Callable[[str], None], *, color: bool) -> bool:
    """Play what was typed, or the lines of what was pasted; whether to ask for more."""
    lines = [text for _, text in script_lines(line.split("\n"))]
    for text in lines:
        outcome = play(session, text)
        write(transcript(outcome, color=color, echo=len(lines) > 1))
        if outcome.failed or outcome.answer.leave:
            return not outcome.answer.leave
    return True


def _place(session: Session) -> str:
    task = f"  task {session.task.name}" if session.task else ""
    return clean(f" {session.environment.name}  world {session.episode.world}{task}  .help  Tab completes")
