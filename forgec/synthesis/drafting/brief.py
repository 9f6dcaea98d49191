"""Documents in short: a spec has a limit, and the texts of some documents are longer than that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from forgec.documents import Api, Field, Operation, Shape

LENGTHS = (2_000, 300, 60, 0)
"""Characters of one text, from much to little."""
MAX_ALL = 200_000
"""Characters of all texts; each may stand in a spec several times."""


def brief(api: Api) -> Api:
    """The same, with no text longer than a reader takes, and with shorter ones where there are very many."""
    found = api
    for most in LENGTHS:
        found = _Brief(most).of(api)
        if sum(map(len, _texts(found))) <= MAX_ALL:
            break
    return found


def _texts(api: Api) -> Iterator[str]:
    for operation in api.operations:
        yield operation.doc
        yield operation.result_doc
        yield from (field.doc for field in operation.parameters)


class _Brief:
    def __init__(self, most: int) -> None:
        self.most = most

    def of(self, api: Api) -> Api:
        return replace(
            api, doc=self._short(api.doc), operations=[self._operation(one) for one in api.operations],
            schemas={name: self._shape(shape) for name, shape in api.schemas.items()},
        )  # fmt: skip

    def _operation(self, one: Operation) -> Operation:
        parameters = tuple(self._field(field) for field in one.parameters)
        result = None if one.result is None else self._shape(one.result)
        doc, result_doc = self._short(one.doc), self._short(one.result_doc)
        return replace(one, doc=doc, parameters=parameters, result=result, result_doc=result_doc)

    def _field(self, one: Field) -> Field:
        return replace(one, doc=self._short(one.doc), shape=self._shape(one.shape))

    def _shape(self, one: Shape) -> Shape:
        of = None if one.of is None else self._shape(one.of)
        return replace(one, of=of, fields=tuple(self._field(field) for field in one.fields))

    def _short(self, text: str) -> str:
        return text if len(text) <= self.most else f"{text[: self.most - 3]}..." if self.most else ""
