"""Whatever the layout of a spec: formatting it keeps its syntax and comments, is stable, and never fails.

`format_source` proves that by itself and raises when it does not hold; here it is proved without its help.
"""

from __future__ import annotations

import os
import re
import textwrap
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
import sqlglot
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from forgec.diagnostics import Report
from forgec.formatting import format_source
from forgec.formatting.keywords import KEYWORDS
from forgec.pipeline import check_source, generate_package
from forgec.source import Source
from forgec.sql.tree import MARK
from forgec.syntax import parse
from forgec.syntax.concrete import concrete
from forgec.syntax.nodes import Let, Tool
from tests.fmt.rewriting import rewritten, sql_soup, widened, words
from tests.property.test_parser import _sentences
from tests.shipped import ENVIRONMENTS

ROOT = Path(__file__).parent.parent
LARGE = [*ENVIRONMENTS, ROOT / "differential" / "kitchen_sink.afs"]
CASES = sorted(ROOT.glob("cases/*/spec.afs"))
SOUND = [path for path in CASES if (path.parent / "generated").is_dir()]
RATES = (0.0, 0.05, 0.3, 0.6)

_COMMENT = re.compile(r"--[^\n]*|/\*[\s\S]*?\*/")
_QUICK = settings(
    max_examples=int(os.environ.get("FORGEC_EXAMPLES", "60")), deadline=None, suppress_health_check=list(HealthCheck)
)


def text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8", errors="replace")


def formatted(text: str) -> str | None:
    return format_source(Source("spec.afs", text), Report())


def tokens(text: str) -> list[str]:
    """The tokens, keywords in lower case, without commas that end a list and without the indentation of texts."""
    phrase = concrete(Source("spec.afs", text))
    assert phrase is not None
    found = [_plain(word.text) for word, _ in words(phrase)]
    return [a for a, b in pairwise([*found, ""]) if not (a == "," and b in (")", "}", ";"))]


def _plain(token: str) -> str:
    if token.startswith('"""'):
        return textwrap.dedent(token[3:-3].replace("\r\n", "\n")).strip()
    return "[]" if re.fullmatch(r"\[\s*\]", token) else token.lower() if token.lower() in KEYWORDS else token


def comments(text: str) -> list[str]:
    """The comments in their order, without white space at the ends of their lines."""
    phrase = concrete(Source("spec.afs", text))
    assert phrase is not None
    gaps, end = [], 0
    for word, _ in words(phrase):
        gaps.append(text[end : word.start])
        end = word.end
    found = [comment for gap in [*gaps, text[end:]] for comment in _COMMENT.findall(gap)]
    return [re.sub(r"[ \t\r]+$", "", comment, flags=re.MULTILINE) for comment in found]


def is_proper(before: str) -> bool:
    """Whether a spec parses; if it does, its formatting says the same, and is stable."""
    after = formatted(before)
    if after is None:
        return False
    assert tokens(after) == tokens(before)
    assert comments(after) == comments(before)
    assert formatted(after) == after
    return True


@pytest.mark.parametrize("path", [*LARGE, *CASES], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_specs(path: Path) -> None:
    text = text_of(path)
    report = Report()
    parse(Source("spec.afs", text), report)
    assert is_proper(text) == (not report.failed)


@pytest.mark.parametrize("path", [*LARGE, *SOUND], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_a_spec_compiles_to_does_not_depend_on_its_layout(path: Path) -> None:
    text = text_of(path)
    after = formatted(text)
    assert after is not None
    assert package(after, path) == package(text, path)


def package(text: str, path: Path) -> dict[str, str]:
    """The files of the package; without white space, because what a task expects is quoted in them."""
    spec = check_source(path, Source(path.as_posix(), text), Report()).spec
    assert spec is not None
    return {name: "".join(content.split()) for name, content in generate_package(spec).items()}


@given(st.sampled_from(CASES), st.randoms(), st.sampled_from(RATES), st.sampled_from(RATES))
@_QUICK
def test_any_layout(path: Path, random: Random, comment: float, newline: float) -> None:
    text = text_of(path)
    assume(concrete(Source("spec.afs", text)) is not None)
    assume(is_proper(rewritten(text, random, comments=comment, breaks=newline)))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("path", LARGE, ids=lambda path: path.name)
def test_any_layout_of_a_large_spec(path: Path, seed: int) -> None:
    assert is_proper(rewritten(text_of(path), Random(seed), comments=0.05, breaks=0.2))


@given(st.sampled_from(CASES), st.randoms())
@_QUICK
def test_blanks_inside_lines_make_no_difference(path: Path, random: Random) -> None:
    text = text_of(path)
    after = formatted(text)
    assume(after is not None)
    assert formatted(widened(text, random)) == after


@given(_sentences(), st.randoms())
@_QUICK
def test_any_sentence_of_the_grammar(text: str, random: Random) -> None:
    assume(is_proper(text))
    assume(is_proper(rewritten(text, random, comments=0.1, breaks=0.1)))


@given(st.randoms(), st.integers(5, 120), st.sampled_from(RATES), st.sampled_from(RATES), st.sampled_from(RATES))
@_QUICK
def test_any_tokens_of_sql(random: Random, size: int, comment: float, newline: float, nothing: float) -> None:
    """Not even what sqlglot makes of them changes, however they are run together."""
    soup = sql_soup(random, size, comments=comment, breaks=newline, joints=nothing)
    before = f"tool f() {{\n  let x = {soup};\n}}\n"
    after = formatted(before)
    assume(after is not None)
    assert after is not None
    assert is_proper(before)
    assert sqlglot_tokens(after) == sqlglot_tokens(before)


def sqlglot_tokens(text: str) -> list[tuple[str, str]] | None:
    """The tokens of the SQL in the only statement of the only tool; None when sqlglot finds none."""
    (tool,) = parse(Source("spec.afs", text), Report()).items
    assert isinstance(tool, Tool)
    (statement,) = tool.body
    assert isinstance(statement, Let)
    sql = statement.sql.span.text.replace("$", MARK)
    try:
        return [(token.token_type.name, token.text.lower()) for token in sqlglot.tokenize(sql, read="duckdb")]
    except sqlglot.errors.TokenError:
        return None
