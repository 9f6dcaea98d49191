"""Diagnostics in SARIF 2.1.0, the format of static analyses that code hosts and editors read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from importlib.metadata import version
from urllib.parse import quote

from forgec.diagnostics.model import Diagnostic, Label

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render_sarif(diagnostics: Iterable[Diagnostic], title_of: Callable[[str], str]) -> str:
    """All `diagnostics` in their order, as one run; `title_of` says what a code stands for.

    Columns count characters, as everywhere in forgec. The text is ASCII.
    """
    found = list(diagnostics)
    codes = sorted({one.code for one in found})
    driver = {
        "name": "forgec",
        "version": version("forgec"),
        "rules": [{"id": code, "shortDescription": {"text": title_of(code)}} for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(one, codes.index(one.code)) for one in found],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _result(diagnostic: Diagnostic, rule: int) -> dict[str, object]:
    label = diagnostic.primary.text if diagnostic.primary else ""
    message = ": ".join(part for part in (diagnostic.message, label) if part)
    rest = [*diagnostic.notes, *([f"help: {diagnostic.help}"] if diagnostic.help else [])]
    result: dict[str, object] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": diagnostic.severity,
        "message": {"text": "\n".join([message, *rest])},
        "locations": [_location(diagnostic.primary) if diagnostic.primary else _file(diagnostic.file)],
    }
    if diagnostic.related:
        related = [{"id": i, **_location(label)} for i, label in enumerate(diagnostic.related)]
        result["relatedLocations"] = related
    return result


def _location(label: Label) -> dict[str, object]:
    span = label.span
    line, column = span.source.position(span.start)
    last, end = span.source.position(span.end)
    region = {"startLine": line, "startColumn": column, "endLine": last, "endColumn": end}
    physical = {"artifactLocation": {"uri": quote(span.source.name)}, "region": region}
    message = {"message": {"text": label.text}} if label.text else {}
    return {"physicalLocation": physical, **message}


def _file(name: str) -> dict[str, object]:
    return {"physicalLocation": {"artifactLocation": {"uri": quote(name)}}}
