"""Documents in short: a spec has a limit, and the texts of some documents are longer than that."""

from __future__ import annotations

from dataclasses import replace

from forgec.documents import Api, Field, Operation, Shape

MAX_DOC = 2_000
"""Characters of one text."""


def brief(api: Api) -> Api:
    """The same, with no text longer than a reader takes."""
    return replace(
        api, doc=_short(api.doc), operations=[_operation(one) for one in api.operations],
        schemas={name: _shape(shape) for name, shape in api.schemas.items()},
    )  # fmt: skip


def _operation(one: Operation) -> Operation:
    parameters = tuple(_field(field) for field in one.parameters)
    result = None if one.result is None else _shape(one.result)
    return replace(one, doc=_short(one.doc), parameters=parameters, result=result, result_doc=_short(one.result_doc))


def _field(one: Field) -> Field:
    return replace(one, doc=_short(one.doc), shape=_shape(one.shape))


def _shape(one: Shape) -> Shape:
    of = None if one.of is None else _shape(one.of)
    return replace(one, of=of, fields=tuple(_field(field) for field in one.fields))


def _short(text: str) -> str:
    return text if len(text) <= MAX_DOC else f"{text[: MAX_DOC - 3]}..."
