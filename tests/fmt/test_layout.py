"""What `forgec fmt` makes of specs: files that hold the text before, a line `-- output --`, and the text after.

To add a case, write the text before, run `pytest tests/fmt --regen`, and read what that wrote.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from forgec.diagnostics import Report
from forgec.formatting import format_source
from forgec.source import Source

FOLDER = Path(__file__).parent
MARK = "-- output --\n"


def formatted(text: str) -> str:
    report = Report()
    made = format_source(Source("spec.afs", text), report)
    assert made is not None, [diagnostic.message for diagnostic in report]
    return made


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.afs")), ids=lambda path: path.stem)
def test_layout(path: Path, regen: bool) -> None:
    before, _, after = path.read_bytes().decode("utf-8").partition(MARK)
    made = formatted(before)
    if regen:
        path.write_bytes((before + MARK + made).encode("utf-8"))
        after = made
    assert made == after
    assert formatted(after) == after


@pytest.mark.parametrize("text", ["", "\n", " \n\t\n"])
def test_nothing_stays_nothing(text: str) -> None:
    assert formatted(text) == ""


def test_a_file_of_comments() -> None:
    assert formatted("\n\n-- a\n\n\n  /* b */ -- c\n\n") == "-- a\n\n/* b */\n-- c\n"


def test_line_ends_become_newlines_except_in_sql_strings() -> None:
    text = "enum A {\r\n  a } -- c\r\nfunction f() returns text = 'a\r\nb';\r\n"
    assert formatted(text) == "enum A { a }  -- c\n\nfunction f() returns text =\n  'a\r\nb';\n"
