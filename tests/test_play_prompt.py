"""`forgec play` for a person: what is completed, and the prompt in a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from forgec.commands.environments import compiled
from forgec.pipeline import check
from forgec.playing.play import play
from forgec.playing.session import Session
from forgec.playing.terminal import PlayCompleter, history_file, play_terminal
from forgec_runtime import Environment
from tests.play_fixture import write_shop


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    spec = check(write_shop(tmp_path_factory.mktemp("shop"))).spec
    assert spec is not None
    with compiled(spec) as environment:
        yield environment


@pytest.fixture
def session(shop: Environment) -> Session:
    return Session(shop, "monday")


# -- completion ------------------------------------------------------------------------------------------------------


def completed(session: Session, text: str) -> list[tuple[str, str]]:
    """The line after each completion of `text`, and the remark beside it."""
    found = PlayCompleter(session).get_completions(Document(text), CompleteEvent(completion_requested=True))
    return [(text[: len(text) + one.start_position] + one.text, one.display_meta_text) for one in found]


def lines(session: Session, text: str) -> list[str]:
    return [line for line, _ in completed(session, text)]


def test_an_empty_line_is_completed_with_the_tools(session: Session) -> None:
    assert completed(session, "")[:2] == [
        ("find_customer ", "Find a customer."),
        ("find_lamps ", "List lamps, the cheapest first."),
    ]
    assert lines(session, "find") == ["find_customer ", "find_lamps "]
    assert lines(session, "  p") == ["  ping"]  # takes no arguments: no space after it


def test_commands_and_what_follows_them(session: Session) -> None:
    assert lines(session, ".t") == [".tools", ".tool ", ".tables", ".table ", ".task "]
    assert completed(session, ".table l") == [(".table lamps", "lamp_id, title, finish, size, price, stock")]
    assert lines(session, ".tool se") == [".tool send_back"]
    assert lines(session, ".world ") == [".world monday", ".world sunday"]
    assert completed(session, ".task l") == [(".task light_up", "Buy the cheapest lamp")]
    assert lines(session, ".gold ") == [".gold all"]
    assert lines(session, ".help un") == [".help undo"]
    assert lines(session, ".table lamps ") == lines(session, ".nonsense ") == lines(session, ".say x") == []


def test_parameters_that_are_not_given_yet(session: Session) -> None:
    assert completed(session, "find_lamps ") == [
        ("find_lamps finish=", "Finish? Only lamps that are painted so"),
        ("find_lamps at_most=", "integer default 10"),
    ]
    assert lines(session, "find_lamps f") == ["find_lamps finish="]
    assert lines(session, "find_lamps finish=brass ") == ["find_lamps finish=brass at_most="]
    assert lines(session, "find_lamps(") == ["find_lamps(finish: ", "find_lamps(at_most: "]
    assert lines(session, "find_lamps(finish: brass, a") == ["find_lamps(finish: brass, at_most: "]
    assert lines(session, "nonsense ") == lines(session, "find_lamps finish=brass x=1 y") == []


def test_keys_with_the_text_of_their_rows(session: Session) -> None:
    assert completed(session, "buy customer_id=") == [
        ("buy customer_id=C1", "Ada Byron, 20.00"),
        ("buy customer_id=C2", "Bo O'Hara, 2.50"),
    ]
    assert lines(session, "buy customer_id=C2 lamp_id=b") == ["buy customer_id=C2 lamp_id=B7"]
    # where nothing begins so, it may stand inside
    assert lines(session, "buy customer_id=C2 lamp_id=lamp") == ["buy customer_id=C2 lamp_id=A1"]
    assert lines(session, "buy customer_id=ohara") == []
    assert lines(session, "buy customer_id=o'h") == ["buy customer_id=C2"]
    assert lines(session, "buy(customer_id: ada") == ["buy(customer_id: C1"]


def test_keys_are_those_of_the_present_state(session: Session) -> None:
    completer = PlayCompleter(session)

    def keys() -> list[str]:
        found = completer.get_completions(Document("send_back order_id="), CompleteEvent())
        return [one.text for one in found]

    assert keys() == []
    play(session, "buy customer_id=C1 lamp_id=B7")
    assert keys() == ["O001"]
    play(session, ".undo")
    assert keys() == []


def test_values_of_enums_booleans_and_columns(session: Session) -> None:
    assert completed(session, "find_lamps finish=") == [
        ("find_lamps finish=brass", ""),
        ("find_lamps finish=white", ""),
        ("find_lamps finish=null", "nothing"),
    ]
    assert lines(session, "find_lamps finish=nu") == ["find_lamps finish=null"]
    assert completed(session, "buy gift=") == [("buy gift=true", ""), ("buy gift=false", "default")]
    assert completed(session, "find_lamps at_most=") == [("find_lamps at_most=10", "default")]
    assert completed(session, "find_customer name=") == [
        ("find_customer name='Ada Byron'", "customers C1"),
        ("find_customer name='Bo O''Hara'", "customers C2"),
    ]
    assert lines(session, "find_customer name='bo o''h") == ["find_customer name='Bo O''Hara'"]
    assert lines(session, "find_customer name='Ada Byron'") == []  # is complete


def test_facts_come_first_where_they_fit(session: Session) -> None:
    play(session, ".task light_up")
    assert completed(session, "find_customer name=")[0] == ("find_customer name='Ada Byron'", "name: your name")
    assert completed(session, "rename zip=") == [
        ("rename zip='Ada Byron'", "name: your name"),
        ("rename zip=null", "nothing"),
    ]
    assert lines(session, "buy customer_id=") == ["buy customer_id=C1", "buy customer_id=C2"]  # no key, no suggestion
    assert lines(session, "find_lamps at_most=") == ["find_lamps at_most=10"]


def test_suggestions_are_safe_to_show(session: Session) -> None:
    play(session, 'rename customer_id=C1 name="\\u001b[31m x"')
    completer = PlayCompleter(session)
    first, second = completer.get_completions(Document("find_customer name="), CompleteEvent())
    assert (first.text, second.text) == (r'"\u001b[31m x"', "'Bo O''Hara'")
    keys = list(completer.get_completions(Document("buy customer_id="), CompleteEvent()))
    assert keys[0].display_meta_text == "\u241b[31m x, 20.00"


def test_completion_bears_whatever_was_typed(session: Session) -> None:
    line = "rename customer_id=C1 name='a b' {\"x\": [1, (2)]};"
    for end in range(len(line) + 1):
        completed(session, line[:end])


# -- the prompt ------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return folder


def typed(session: Session, keys: str) -> str:
    """What is written while somebody types `keys`, Ctrl-D at last."""
    written: list[str] = []
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        pipe.send_text(f"{keys}\x04")
        play_terminal(session, written.append, color=False)
    return "\n".join(written)


def test_lines_are_played_until_ctrl_d(session: Session) -> None:
    assert typed(session, "ping\r\r-- a comment\rnonsense\rping\r") == (
        "1\nerror: there is no tool `nonsense`; `.tools` lists them\n1"
    )


def test_ctrl_c_clears_the_line(session: Session) -> None:
    assert typed(session, "buy custo\x03ping\r") == "1"


def test_a_pasted_session_is_played_line_by_line(session: Session) -> None:
    assert typed(session, "\x1b[200~ping\n.nonsense\nping\x1b[201~\r") == (
        "> ping\n1\n> .nonsense\nerror: there is no command `.nonsense`; `.help` lists them"
    )


def test_lines_are_kept_across_sessions(session: Session, state: Path) -> None:
    typed(session, "ping\r.state\r")
    assert history_file() == state / "forgec" / "play_history"
    up = "\x1b[A"
    assert typed(session, f"{up}{up}\r") == "1"


def test_a_history_that_cannot_be_written_is_done_without(session: Session, state: Path) -> None:
    state.write_text("not a folder", encoding="utf-8")
    assert typed(session, "ping\r") == "1"


def test_where_the_history_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "relative/is/ignored")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert history_file() == tmp_path / ".local" / "state" / "forgec" / "play_history"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert history_file() == tmp_path / "Library" / "Application Support" / "forgec" / "play_history"


# -- a terminal ------------------------------------------------------------------------------------------------------


class Terminal:
    """A process in a pseudo-terminal of 30 lines and 100 columns."""

    def __init__(self, *command: str) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        environment = {**os.environ, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"}
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True
        )
        os.close(slave)
        self.seen = ""

    def until(self, pattern: str, seconds: float = 60) -> str:
        """What was printed up to a match of `pattern`, which is then forgotten."""
        end = time.monotonic() + seconds
        while not (found := re.search(pattern, self.seen)):
            ready, _, _ = select.select([self.master], [], [], max(0, end - time.monotonic()))
            assert ready, f"no {pattern!r} in {self.seen!r}"
            try:
                self.seen += os.read(self.master, 65536).decode("utf-8", "replace")
            except OSError:  # the other end was closed
                raise AssertionError(f"no {pattern!r} before the end of {self.seen!r}") from None
        before, self.seen = self.seen[: found.end()], self.seen[found.end() :]
        return before

    def type(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def leave(self) -> int:
        """Press Ctrl-D until it is heard: a key that comes while the prompt is being drawn is lost."""
        for _ in range(60):
            self.type("\x04")
            try:
                return self.process.wait(1)
            except subprocess.TimeoutExpired:
                continue
        raise AssertionError("it does not end")

    def close(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.master)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    spec = write_shop(tmp_path)
    one = Terminal(sys.executable, "-m", "forgec", "play", str(spec), "--task", "light_up")
    yield one
    one.close()


def test_a_session_in_a_terminal(terminal: Terminal) -> None:
    prompt = r"\x1b\[\?2004h"  # it is there, and takes what is pasted as one piece
    terminal.until("task light_up in world monday")
    terminal.until(prompt)
    terminal.type("bu")
    terminal.until("Sell")  # the menu
    terminal.type("\t")
    terminal.until("lamp_id=")
    terminal.type("customer_id=")
    terminal.until("Ada Byron")
    terminal.type("C1 lamp_id=B7\r")
    terminal.until(re.escape("+ orders O001: customer_id C1, lamp_id B7, gift false"))
    terminal.until(prompt)
    terminal.type(".und\x03")
    terminal.until(prompt)
    terminal.type(".undo\r")
    terminal.until("undone: buy customer_id=C1 lamp_id=B7")
    terminal.until(prompt)
    assert terminal.leave() == 0
