"""Judges the cases of one class in a process of its own, under limits: `python -m tests.hostile.judging CLASS`.

A line of JSON for each case when it begins, and one when it is judged: its codes, CPU seconds, and what went wrong
beside them. Cases that are one tool of the small spec are judged together, as many tools of one spec; where that says
other codes than are expected, each is judged alone.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import tempfile
import time
import traceback
from pathlib import Path

from forgec.diagnostics.text import render_text
from forgec.pipeline import check, generate_package
from forgec_runtime import load_environment
from tests.hostile.desk import HEAD, TAIL, judge
from tests.hostile.suite.case import CANARY, Case

MEMORY = 2**30
"""Bytes of address space, all that Python and DuckDB take included."""
TOOL = f"{HEAD}{TAIL}tool t("


def laid_out(case: Case, folder: Path) -> Path:
    """The files of a case in a folder; the one to check."""
    for name, content in case.files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            path.symlink_to(content)
        elif isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content, encoding="utf-8", newline="")
    return folder / next(iter(case.files())).split("/")[0]


def judged(case: Case, folder: Path) -> str:
    """The codes of the errors of a case; what does no harm is generated and loaded as well."""
    checked = check(laid_out(case, folder))
    render_text(checked.report)
    if checked.spec is not None:
        for name, content in generate_package(checked.spec).items():
            path = folder / "package" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        load_environment(folder / "package").reset("w")
    return " ".join(sorted({one.code for one in checked.report if one.severity == "error"}))


def judged_together(cases: tuple[Case, ...]) -> dict[int, str]:
    """The codes of those cases that are one tool, by their numbers."""
    text, starts = HEAD + TAIL, dict[int, int]()
    for number, case in enumerate(cases):
        if case.code and type(case.spec) is str and case.spec.startswith(TOOL) and len(case.spec) < 4_000:
            starts[number] = len(text)
            text += f"tool t{number}({case.spec.removeprefix(TOOL)}"
    places = [(one.primary.span.start, one.code) for one in judge(text).report if one.primary is not None]
    ends = [*starts.values(), len(text)][1:]
    return {
        number: " ".join(sorted({code for place, code in places if start <= place < end}))
        for (number, start), end in zip(starts.items(), ends, strict=True)
    }


def main(name: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    cases: tuple[Case, ...] = importlib.import_module(f"tests.hostile.suite.{name}").CASES
    together = judged_together(cases)
    for number, case in enumerate(cases):
        print(json.dumps({"case": number}), flush=True)
        started, codes, trouble = time.process_time(), together.get(number), ""
        if codes != case.code:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    codes = judged(case, Path(folder))
                except Exception:
                    trouble = traceback.format_exc()
        seconds = time.process_time() - started
        if CANARY in os.environ:
            trouble = "the canary is dead"
        print(json.dumps({"case": number, "codes": codes, "seconds": seconds, "trouble": trouble}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
