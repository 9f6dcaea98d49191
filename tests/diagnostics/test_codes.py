"""The table of codes is what the compiler emits, and every code is shown by a golden case or a test of a command."""

from __future__ import annotations

import re
from pathlib import Path

from forgec.diagnostics.codes import CODES

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "forgec" / "diagnostics" / "codes.py"
EXPLAINED = ROOT / "forgec" / "explaining.py"


def codes_in(pattern: str, *paths: Path) -> set[str]:
    return {code for path in paths for code in re.findall(pattern, path.read_text(encoding="utf-8"))}


def test_the_table_is_sorted_and_has_a_title_for_every_code() -> None:
    assert list(CODES) == sorted(CODES)
    assert all(re.fullmatch(r"(?:[a-z`]|SQL\b).{8,68}[^.]", title) for title in CODES.values())
    assert len(set(CODES.values())) == len(CODES)


def test_the_table_holds_what_is_emitted_and_nothing_else() -> None:
    emitting = [path for path in (ROOT / "forgec").rglob("*.py") if path not in (TABLE, EXPLAINED)]
    emitted = codes_in(r'"(AFS\d+)"', *emitting)
    assert emitted == set(CODES)


def test_every_code_is_shown_by_a_case_or_by_a_test_of_a_command() -> None:
    shown = codes_in(r"\[(AFS\d+)\]", *(ROOT / "tests" / "cases").glob("*/stderr.txt"))
    of_commands = ("test_commands.py", "test_new.py", "test_sources.py")
    tested = codes_in(r"AFS\d+", *(ROOT / "tests" / name for name in of_commands))
    assert shown | tested == set(CODES)
