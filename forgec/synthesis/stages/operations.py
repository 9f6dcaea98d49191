"""Operations of a document in plain words, where no rule finds any."""

from __future__ import annotations

import re

from forgec.documents import Api, Field, Operation
from forgec.documents.api import Failure, Shape
from forgec.documents.python_types import parse_type
from forgec.synthesis.asking.asker import Asker, Unanswered
from forgec.synthesis.asking.forms import Operations, OperationText
from forgec.synthesis.asking.prompts import question

MAX_OPERATIONS = 200
SHARE = 0.4
"""The part of a question that the text of the document may take."""


async def read_operations(api: Api, asker: Asker, limit: int) -> None:
    """Add the operations that a model finds in the prose of a document, page by page; those that do not stand there by
    name are noted, and no part of it. Raises `LLMError`.
    """
    size = int(limit * SHARE)
    pages = [api.prose[start : start + size] for start in range(0, len(api.prose), size)]
    for number, page in enumerate(pages, 1):
        messages = question("operations.md.j2", "operations", limit, prose=page)
        try:
            answer = await asker.ask("operations", f"operations {number}", Operations, messages)
        except Unanswered as error:
            api.note(f"page {number}", f"no operations: {error}")
            continue
        for found in answer.operations:
            name = found.name.strip()
            if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", page) or not name:
                api.note(f"page {number}", f"the model names {name[:80]!r}, and the document does not")
            elif len(api.operations) < MAX_OPERATIONS and all(name != one.name for one in api.operations):
                api.add(_operation(found, number))


def _operation(found: OperationText, page: int) -> Operation:
    parameters = tuple(
        Field(one.name.strip(), parse_type(one.type.strip()) or Shape("text"), one.required, one.doc)
        for one in {one.name.strip(): one for one in found.parameters}.values()
        if one.name.strip()
    )
    failures = tuple(Failure(text.strip()[:60], text) for text in found.errors if text.strip())
    result = parse_type(found.returns.strip()) if found.returns.strip() else None
    return Operation(found.name.strip(), found.doc, parameters, result, found.returns, failures, place=f"page {page}")
