"""What docs/tasks.md says of certification is so."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from forgec.certifying import CHECKS
from tests.markdown import blocks, read

ROOT = Path(__file__).parent.parent.parent
PAGE = read(ROOT / "docs" / "tasks.md").partition("## Certification")[2]


def test_every_check_is_explained() -> None:
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", PAGE, re.MULTILINE)
    assert [name for row in rows for name in re.findall(r"`(\w+)`", row)] == list(CHECKS)


def test_the_example_runs() -> None:
    (example,) = [block.text for block in blocks(PAGE) if block.language == "python"]
    command = [sys.executable, "-c", example]
    found = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, encoding="utf-8")
    assert re.fullmatch(r"\d+ tasks; certified\n", found.stdout)
