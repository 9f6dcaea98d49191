"""What the codes of findings mean: rules explain themselves, mistakes are shown by making them."""

from __future__ import annotations

import re
import textwrap
from functools import cache
from pathlib import Path

from forgec.checks.rules import RULES
from forgec.diagnostics import Diagnostic, Report
from forgec.diagnostics.codes import CODES
from forgec.diagnostics.text import render_text
from forgec.pipeline import check_source
from forgec.resources import resource
from forgec.source import Source

IN_WORDS = {
    "AFS001": "The path of a spec leads to no file, or to one that may not be read. Paths are looked up from where you "
    "are; `forgec check specs/*.afs` takes all specs of a folder.",
    "AFS002": "Commands take files. All specs of a folder are `specs/*.afs`.",
    "AFS003": "The finding names the first byte that is not UTF-8. Save the file in that encoding.",
    "AFS005": "The limits are in docs/language.md. A spec of that size is not read by people any more: let rows lie in "
    "files of their own, and split the rest with `use` and `extend`.",
    "AFS006": "A path in a spec is relative to its file, is written with `/`, and leads to a file in the folder of the "
    "environment's file: not out of it, also not by a link.",
    "AFS007": "`a.afs` uses `b.afs`, and that, perhaps through others, `a.afs`. Put what both need into a third file.",
    "AFS008": "A file that is used holds declarations for all who use it: no `environment`, no part of another one.",
    "AFS009": "A file that begins with `extend library;` is more of the environment `library`, whose own file lies in "
    "the same folder; the lines of `library.tasks.jsonl` are its tasks. There is none, or there are two.",
    "AFS403": "The limits are in docs/language.md. Bind parts of the query with `let`, or make them views.",
    "AFS511": "An action that does another twice, which does a third twice, and so on, is written out very often. The "
    "limits are in docs/language.md.",
    "AFS609": "The ending of a file says what it holds: `.csv`, `.json`, `.jsonl` or `.parquet`. What it holds cannot "
    "be read as that.",
    "AFS610": "A world takes rows from a package or from a path in a variable, as `--allow-source` lets it, "
    "and there is no such file, or it cannot be read.",
    "AFS611": "A world whose rows come from outside is not known when the spec is compiled, so that no other world can "
    "go on from it with writes.",
    "AFS707": "An episode of the task begins with rows that are drawn, and with facts and texts that are computed of "
    "them. One of these cannot be had: there is no row to draw, or a value that DuckDB does not compute.",
    "AFS710": "A line of a file of tasks is an object of JSON of the form that `forgec tasks --schema` prints. This is "
    "none, or a part of it is of another form; the finding names the part.",
    "AFS801": "A file under `generated/` is not as forgec wrote it. Change the spec and compile it again; `--force` "
    "writes over what was changed.",
    "AFS802": "Two specs of one command declare an environment of the same name, and their packages would lie in one "
    "folder. Rename one, or compile them to different folders with `--out`.",
    "AFS803": "Where the package would be written lies something that forgec did not write. Choose another `--out`; "
    "`--force` writes beside it.",
    "AFS804": "The folder may not be written to, or the disk is full.",
    "AFS805": "`forgec new` writes over nothing. Choose another name, or another file with `--out`.",
    "AFS806": "A draft is made from a schema (`.sql`), a SQLite file, CSV or Parquet, and by their endings.",
    "AFS807": "The file is not what its ending says, or is damaged.",
    "AFS808": "The files that a draft is to be made from declare no table.",
    "AFS809": "A column has a type for which specs have none. The draft holds it as text.",
    "AFS901": "A step of a test does not come to what it says, or the compiled package and the reference executor do "
    "not agree on it; the label says what it came to.",
}
"""Mistakes that cannot be shown by a few lines of a spec."""


@cache
def mistakes() -> dict[str, str]:
    """A few lines for each code of a mistake that show it; most are added to `library`."""
    text = resource("templates", "rule", "mistakes.afs").read_text(encoding="utf-8")
    _, *parts = re.split(r"^-- (AFS\d{3})\n", text, flags=re.MULTILINE)
    return {code: example.rstrip() + "\n" for code, example in zip(parts[::2], parts[1::2], strict=True)}


def titles() -> dict[str, str]:
    """Every code, of errors and of warnings, with what it stands for."""
    return {**CODES, **{code: rule.title for code, rule in RULES.items()}}


def title_of(code: str) -> str:
    return titles()[code]


def explanation(code: str) -> str:
    """What a code means, with an example."""
    if code in RULES:
        return RULES[code].explanation
    if code in IN_WORDS:
        return textwrap.fill(IN_WORDS[code], 100)
    example = mistakes().get(code)
    if example is None:
        return ""
    shown = "\n".join(f"    {line}".rstrip() for line in example.rstrip().split("\n"))
    said = [one for one in findings(code) if one.code == code]
    return f"{shown}\n\n{render_text(said[:1])}"


def findings(code: str) -> list[Diagnostic]:
    """All that is said about the example of a mistake."""
    example = mistakes()[code]
    alone = re.search(r"^environment\b", example, re.MULTILINE) or code in ("AFS004", "AFS210")
    rest = "" if alone else "\n" + resource("templates", "rule", "library.afs").read_text(encoding="utf-8")
    report = Report()
    check_source(Path("example.afs"), Source("example.afs", example + rest), report)
    return [one for one in report if one.severity == "error"]
