"""Answers of models, read leniently: JSON in a fence, among words, with real line ends in its texts; or bare spec."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from pydantic import ValidationError

from forgec.synthesis.asking.forms import F

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*(?P<kind>\w*)[^\n]*\n(?P<text>.*?)(?:^[ \t]*(?:```|~~~)|\Z)", re.M | re.S)
_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)
"""A string, which stays, or a comma too many."""
_OPEN = re.compile(r'\{(?=\s*["}])')
_JSON = json.JSONDecoder(strict=False)
MAX_OPEN = 20
"""Places in an answer at which its JSON may begin."""
_SPEC = re.compile(
    r"^(?:enum|record|type|table|single|view|function|action|tool|invariant|rule|world|test|task)\s", re.M
)
MAX_ANSWER = 1_000_000


class Unread(ValueError):
    """An answer that is not of the form that was asked for."""


def read(text: str, form: type[F]) -> F:
    """An answer. Raises `Unread`, with what a model can act on."""
    text = text[:MAX_ANSWER]
    nothing = problem = "it has no JSON object"
    for candidate in _candidates(text):
        found = _json(candidate)
        if not isinstance(found, dict):
            continue
        if not found.keys() & form.model_fields.keys():
            if problem == nothing:
                problem = f"its JSON object has none of the fields {', '.join(form.model_fields)}"
            continue
        try:
            return form.model_validate(found)
        except ValidationError as error:
            first = error.errors()[0]
            problem = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    bare = _bare(text)
    if bare and (field := next((name for name in ("declarations", "declaration") if name in form.model_fields), None)):
        return form.model_validate({field: bare})
    raise Unread(problem)


def _candidates(text: str) -> Iterator[str]:
    yield text
    for fence in _FENCE.finditer(text):
        yield fence["text"]
    yield from (text[match.start() :] for match in islice(_OPEN.finditer(text), MAX_OPEN))


def _json(text: str) -> Any:
    for candidate in (text, _COMMA.sub(r"\1", text)):
        try:
            return _JSON.raw_decode(candidate.lstrip())[0]
        except (ValueError, RecursionError):
            continue
    return None


def _bare(text: str) -> str:
    """Declarations that stand in the answer without any JSON."""
    fences = [fence["text"] for fence in _FENCE.finditer(text) if fence["kind"] != "json"]
    found = "\n\n".join(fences) if fences else text
    return found if _SPEC.search(found) and not found.lstrip().startswith(("{", "[")) else ""
