"""Every rule finds what its bad example shows, and nothing in its good one; comments allow findings, one at a time."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from forgec.checks.rules import RULES
from forgec.diagnostics import Report
from forgec.diagnostics.text import render_text
from forgec.formatting import format_source
from forgec.pipeline import check_source
from forgec.source import Source
from tests.markdown import merged, read
from tests.shipped import ENVIRONMENTS

DESK = read(Path(__file__).parent / "desk.afs")


def findings(text: str) -> list[str]:
    """What is said about a spec: codes with the lines that they are about."""
    report = Report()
    check_source(Path("desk.afs"), Source("desk.afs", text), report)
    return [f"{one.code} {one.primary.span.text if one.primary else ''}" for one in report]


def codes(text: str) -> set[str]:
    return {found.split()[0] for found in findings(text)}


def examples(code: str, kind: str) -> list[str]:
    """The examples of a rule, `Bad` or `Good`."""
    found = re.findall(rf"^{kind}:\n\n((?:    .*\n|\n)+)", RULES[code].explanation + "\n", re.MULTILINE)
    return [textwrap.dedent(text) for text in found]


def test_codes_are_in_order_and_titles_alike() -> None:
    assert list(RULES) == sorted(RULES)
    assert all(re.fullmatch(r"AFW\d{3}", code) for code in RULES)
    assert all(re.fullmatch(r"(?:[a-z`]|SQL\b).{8,78}[^.]", rule.title) for rule in RULES.values())
    assert len({rule.title for rule in RULES.values()}) == len(RULES)


def test_the_desk_of_the_examples_is_clean() -> None:
    assert findings(DESK) == []


@pytest.mark.parametrize("code", RULES)
def test_examples_are_what_they_are_called(code: str) -> None:
    bad, good = examples(code, "Bad"), examples(code, "Good")
    assert bad and good
    assert [codes(merged(DESK, text)) >= {code} for text in bad] == [True] * len(bad)
    assert [code in codes(merged(DESK, text)) for text in good] == [False] * len(good)
    assert [found for text in (*bad, *good) for found in codes(merged(DESK, text)) if "AFS" in found] == []


@pytest.mark.parametrize("path", ENVIRONMENTS, ids=lambda path: path.stem)
def test_shipped_specs_are_clean(path: Path) -> None:
    report = Report()
    check_source(path, Source(path.name, read(path)), report)
    assert render_text(report) == ""


# -- comments that allow findings -------------------------------------------------------------------------------------

LET = """
tool greet(name text "Of whom") returns text "Greet somebody." {
  let hello = 'Hello ' || $name;
  reply "Hello {$name}";
}
"""


def greeted(before: str = "", behind: str = "", elsewhere: str = "") -> list[str]:
    """The findings in a tool with comments above, at the end of, and away from its line that breaks AFW102."""
    text = LET.replace("  let", f"{before}  let").replace("|| $name;", f"|| $name;{behind}")
    used = "\ntest \"greetings\" on monday { greet(name: 'Ada') returns 'Hello Ada'; }\n"
    return findings(merged(DESK, text.replace("{\n", "{" + elsewhere + "\n", 1) + used))


def test_a_comment_allows_a_finding_at_the_end_of_its_line_or_on_the_line_above() -> None:
    assert greeted() == ["AFW102 hello"]
    assert greeted(behind="  -- allow AFW102: for the next version") == []
    assert greeted(before="  -- allow AFW102: for the next version\n") == []
    assert greeted(before="  -- allow AFW102: for the next version\n  -- and more\n\n") == []


def test_a_comment_allows_nothing_elsewhere_or_of_another_kind() -> None:
    away = greeted(elsewhere="  -- allow AFW102: not here")
    assert away == ["AFW901 -- allow AFW102: not here", "AFW102 hello"]
    other = greeted(behind="  -- allow AFW101: not this")
    assert other == ["AFW102 hello", "AFW901 -- allow AFW101: not this"]


@pytest.mark.parametrize("comment", ["-- allow AFW102", "-- allow AFW102:  ", "-- allow AFW102 as I like it"])
def test_a_comment_without_a_reason_allows_nothing(comment: str) -> None:
    assert greeted(behind=f"  {comment}") == ["AFW102 hello", f"AFW901 {comment.rstrip()}"]


@pytest.mark.parametrize("code", ["AFW999", "AFS201", "AFW10"])
def test_a_comment_names_a_rule(code: str) -> None:
    assert greeted(behind=f"  -- allow {code}: why not") == ["AFW102 hello", f"AFW901 -- allow {code}: why not"]


def test_what_only_looks_like_a_comment_allows_nothing() -> None:
    assert greeted(behind="  -- allow me to say: AFW102") == ["AFW102 hello"]
    text = LET.replace("'Hello '", "'-- allow AFW102: in a string'")
    assert "AFW901" not in codes(merged(DESK, text))


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("  let hello", "  -- allow AFW102: why\n      let   hello"),
        ("$name;", " $name  ; -- allow AFW102: why"),
        ("'Hello ' || $name;", "-- allow AFW102: why\n  'Hello '\n || $name;"),
    ],
)
def test_fmt_leaves_comments_where_they_allow_something(line: str, written: str) -> None:
    spec = merged(DESK, LET.replace(line, written, 1))
    laid_out = format_source(Source("desk.afs", spec), Report())
    assert laid_out is not None and laid_out != spec
    assert {"AFW102", "AFW901"}.isdisjoint(codes(spec) | codes(laid_out))
