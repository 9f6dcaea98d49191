"""Operations as a prompt tells of them: as fully as there is room, each with the names that it has in the spec."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forgec.documents import Shape
from forgec.documents.api import MISSING
from forgec.synthesis.naming import Named


@dataclass(frozen=True)
class Detail:
    """How much is told: characters of texts, and levels of results."""

    text: int
    depth: int


FULL = Detail(600, 4)
DETAILS = (FULL, Detail(240, 3), Detail(90, 2), Detail(40, 1), Detail(0, 1))
"""From much to little."""
MAX_VALUES = 40
MAX_FIELDS = 60


def outline(operations: Sequence[Named], limit: int) -> str:
    """All of the operations, as fully as fits into `limit` characters; at least their signatures."""
    text = ""
    for detail in DETAILS:
        text = "\n\n".join(_told(one, detail) for one in operations)
        if len(text) <= limit:
            break
    return text


def groups(operations: Sequence[Named], limit: int, most: int) -> list[list[Named]]:
    """The operations in runs of at most `most` that fit into `limit` characters, told in full if they can be."""
    found: list[list[Named]] = []
    room = 0
    for one in operations:
        size = min(len(_told(one, FULL)), limit)
        if not found or len(found[-1]) >= most or room + size > limit:
            found.append([])
            room = 0
        found[-1].append(one)
        room += size + 2
    return found


def _told(one: Named, detail: Detail) -> str:
    return "\n".join(_lines(one, detail))


def _lines(one: Named, detail: Detail) -> Iterator[str]:
    operation = one.operation
    route = f"  ({operation.method.upper()} {operation.path})" if operation.path else ""
    called = f"  [tool {one.tool}]" if one.tool != operation.name else ""
    yield f"{_short(operation.name, 200)}{called}{route}"
    if operation.doc and detail.text:
        yield f"  {_short(operation.doc, detail.text)}"
    for parameter in operation.parameters[:MAX_FIELDS]:
        name = one.parameters[parameter.name]
        known = f" (in the document `{_short(parameter.name, 80)}`)" if name != parameter.name else ""
        default = "" if parameter.default is MISSING else f" = {_short(str(parameter.default), 60)}"
        mark = "" if parameter.required else "?"
        yield f"  - {name}{mark}: {_shape(parameter.shape, detail)}{default}{known}{_doc(parameter.doc, detail)}"
    if operation.result is not None:
        yield f"  returns {_shape(operation.result, detail)}{_doc(operation.result_doc, detail)}"
    elif operation.result_doc and detail.text:
        yield f"  returns{_doc(operation.result_doc, detail)}"
    for failure in operation.failures[:MAX_FIELDS]:
        yield f"  error {_short(failure.code, 60)}{_doc(failure.text, detail)}"


def _shape(shape: Shape, detail: Detail, level: int = 0) -> str:
    kind: str = shape.kind
    mark = "?" if shape.optional else ""
    if shape.values:
        more = ", ..." if len(shape.values) > MAX_VALUES else ""
        return f"one of {', '.join(repr(_short(one, 60)) for one in shape.values[:MAX_VALUES])}{more}{mark}"
    if shape.kind in ("list", "map") and shape.of is not None:
        return f"{kind} of {_shape(shape.of, detail, level)}{mark}"
    if shape.kind == "record" and shape.fields:
        if level >= detail.depth:
            return f"{_short(shape.name, 60) or 'object'}{mark}"
        inside = ", ".join(
            f"{_short(one.name, 80)}{'' if one.required else '?'}: {_shape(one.shape, detail, level + 1)}"
            f"{_doc(one.doc, Detail(detail.text // 4, 0))}"
            for one in shape.fields[:MAX_FIELDS]
        )
        name = f"{_short(shape.name, 60)} " if shape.name else ""
        return f"{name}{{{inside}}}{mark}"
    return f"{kind}{mark}"


def _doc(text: str, detail: Detail) -> str:
    return f" -- {_short(text, detail.text)}" if text and detail.text else ""


def _short(text: str, limit: int) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= limit else f"{plain[: max(limit - 3, 0)]}..."
