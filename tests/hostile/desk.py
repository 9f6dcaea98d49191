"""A small spec to put hostile things into."""

from dataclasses import dataclass
from pathlib import Path

from forgec.diagnostics import Report
from forgec.diagnostics.text import render_text
from forgec.pipeline import Checked, check_source, generate_package
from forgec.source import Source
from forgec_runtime import Environment, load_environment

HEAD = """environment desk "A desk" { clock timestamp '2025-01-01 09:00:00'; }
enum Kind { small, big }
record Box { wide integer, high integer? }
table accounts {
  id text key, owner text, balance decimal(8, 2) default 0 check (balance >= 0), kind Kind default 'small', box Box?,
  since date?,
}
table notes { id text key serial 'N{00}', account -> accounts, body text? }
"""
TAIL = """tool fine(a text?) returns text { reply "{$a}"; }
world w { accounts (id, owner, box) values ('A1', 'Ann', {'wide': 1, 'high': 2}), ('A2', 'Bo', null); }
"""


@dataclass(frozen=True)
class Verdict:
    """A spec that was checked, and the errors that were told, which can be shown; nobody minds warnings here."""

    checked: Checked
    report: Report
    shown: str

    @property
    def failed(self) -> bool:
        return self.report.failed

    def says_something_within(self, start: int, end: int) -> bool:
        places = [diagnostic.primary.span.start for diagnostic in self.report if diagnostic.primary is not None]
        return any(start <= place < end for place in places)


def judge(text: str, name: str = "desk.afs") -> Verdict:
    """What the compiler says to a spec. Raises whatever it raises: that would be a bug."""
    report = Report()
    checked = check_source(Path(name), Source(name, text), report)
    report = Report([diagnostic for diagnostic in report.diagnostics if diagnostic.severity == "error"])
    return Verdict(checked, report, render_text(report))


def packed(text: str, folder: Path) -> Environment:
    """The environment of a spec that has no errors, generated into `folder` and loaded."""
    verdict = judge(text)
    assert verdict.checked.spec is not None, verdict.shown
    for name, content in generate_package(verdict.checked.spec).items():
        path = folder / "package" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return load_environment(folder / "package")
