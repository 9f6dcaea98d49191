"""Whatever a file holds, forgec answers with a model or with findings, never with anything else."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.lark import from_lark
from lark import Lark

from forgec.diagnostics import Report
from forgec.diagnostics.json import render_json
from forgec.diagnostics.text import render_text
from forgec.pipeline import Checked, check_source
from forgec.resources import resource
from forgec.source import Source, Span
from forgec.syntax import nodes, parse
from forgec.syntax.scan import KEYWORDS

ROOT = Path(__file__).parent.parent.parent
GRAMMAR = resource("grammar", "afs.lark").read_text(encoding="utf-8")
SPECS = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests" / "cases").glob("*/spec.afs"))]
TOKEN = re.compile(r'"""[\s\S]*?"""|"[^"\n]*"|\'[^\']*\'|--[^\n]*|\$?\w+|\s+|.', re.DOTALL)

EXAMPLES = int(os.environ.get("FORGEC_EXAMPLES", "60"))
"""Examples a test; many more are tried by hand."""

bounded = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))


def _checked(text: str) -> Checked:
    """Check a text, and that what is said of it makes sense."""
    source = Source("spec.afs", text)
    checked = check_source(Path("spec.afs"), source, Report())
    findings = list(checked.report)
    assert (checked.spec is None) == any(found.severity == "error" for found in findings)
    for found in findings:
        for label in (found.primary, *found.related):
            if label is not None:
                assert 0 <= label.span.start <= label.span.end <= len(text)
    starts = [found.primary.span.start for found in findings if found.primary is not None]
    assert starts == sorted(starts)
    assert render_text(findings) or not findings
    assert render_json(findings)
    return checked


def test_the_grammar_has_no_ambiguity_and_no_two_tokens_that_collide() -> None:
    Lark(GRAMMAR, parser="lalr", lexer="contextual", start="file", strict=True)


@bounded
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    _checked(text)


def _sentences() -> st.SearchStrategy[str]:
    """Sentences of the grammar: right in syntax, mostly nonsense."""
    words = [*KEYWORDS, "key", "else", "case", "end", "let", "select", "from", "where", "null"]
    names = st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True).filter(lambda name: name not in words)
    padded = names.map(lambda name: f" {name} ")
    explicit = {
        "NAME": padded,
        "COMMENT": st.just(" -- remark\n"),
        "WS": st.just(" "),
        "SQLSTRING": names.map(lambda name: f" '{name}' "),
        "STRING": names.map(lambda name: f' "{name}" '),
        "TEXT": names.map(lambda name: f' """{name}""" '),
        "PARAM": names.map(lambda name: f" ${name} "),
        "OP": st.sampled_from([" + ", " = ", " < ", "."]),
        "CASE": st.just(" case "),
        "_ELSE": st.just(" else "),
        "END": st.just(" end "),
        "WRITE": st.sampled_from([" insert ", " update ", " delete "]),
        "VERDICT": st.sampled_from([" enforced ", " audited "]),
    }
    grammar = Lark(GRAMMAR, parser="lalr", start="file")
    # the words of the grammar need blanks around them to be words
    keywords = {
        terminal.name: st.just(f" {terminal.pattern.value} ")
        for terminal in grammar.terminals
        if terminal.pattern.type == "str" and terminal.pattern.value.isalpha()
    }
    return from_lark(grammar, start="file", explicit={**keywords, **explicit})


@bounded
@given(_sentences())
def test_any_sentence_of_the_grammar(text: str) -> None:
    report = Report()
    parse(Source("spec.afs", text), report)
    assert {found.code for found in report} <= {"AFS103", "AFS105", "AFS106", "AFS107", "AFS108"}
    _checked(text)


@bounded
@given(st.sampled_from(SPECS), st.data())
def test_specs_with_tokens_lost_doubled_and_swapped(text: str, data: st.DataObject) -> None:
    tokens = TOKEN.findall(text)
    for _ in range(data.draw(st.integers(1, 3))):
        i, j = (data.draw(st.integers(0, len(tokens) - 1)) for _ in range(2))
        change = data.draw(st.sampled_from(["lose", "double", "swap"]))
        if change == "lose":
            tokens[i] = ""
        elif change == "double":
            tokens[i] *= 2
        else:
            tokens[i], tokens[j] = tokens[j], tokens[i]
    _checked("".join(tokens))


@bounded
@given(st.sampled_from(SPECS), st.data())
def test_specs_with_a_character_changed(text: str, data: st.DataObject) -> None:
    i = data.draw(st.integers(0, len(text) - 1))
    _checked(text[:i] + data.draw(st.characters()) + text[i + data.draw(st.integers(0, 1)) :])


@bounded
@given(st.sampled_from(SPECS), st.sampled_from(KEYWORDS), st.data())
def test_a_broken_declaration_leaves_the_others_as_they_are(text: str, keyword: str, data: st.DataObject) -> None:
    whole = parse(Source("spec.afs", text), Report())
    if not whole.items:
        return
    item = data.draw(st.sampled_from(whole.items))
    start = text.rfind("\n", 0, item.span.start) + 1
    broken = f"{text[:start]}{keyword} ? !\n{text[start:]}"
    report = Report()
    kept = parse(Source("spec.afs", broken), report)
    assert [_kind(one) for one in kept.items] == [_kind(one) for one in whole.items]
    assert report.failed


def _kind(item: nodes.Item) -> tuple[str, str]:
    return type(item).__name__, " ".join(item.span.text.split())


@pytest.mark.parametrize("text", SPECS[:40])
def test_every_span_of_the_tree_is_the_text_it_stands_for(text: str) -> None:
    for item in parse(Source("spec.afs", text), Report()).items:
        _check_spans(item, item.span)


def _check_spans(node: object, outer: Span) -> None:
    if isinstance(node, nodes.Node):
        assert outer.start <= node.span.start <= node.span.end <= outer.end
        if isinstance(node, nodes.Name):
            assert node.span.text.removeprefix("$") == node.text
        for child in vars(node).values():
            _check_spans(child, node.span)
    elif isinstance(node, tuple):
        for child in node:
            _check_spans(child, outer)
