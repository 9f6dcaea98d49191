"""Types as Python annotates them (`Optional[List[str]]`, `Union[str, NotGiven]`), as shapes. Nothing is evaluated."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from forgec.documents.api import Field, Kind, Shape

MAX_LENGTH = 1_000

_PLAIN: Mapping[str, Kind] = {
    "str": "text", "int": "integer", "float": "number", "decimal": "number", "bool": "boolean", "none": "nothing",
    "date": "date", "datetime": "timestamp", "any": "anything", "object": "anything", "dict": "map", "list": "list",
    "tuple": "list", "set": "list", "mapping": "map", "sequence": "list",
}  # fmt: skip
_ABSENT = {"NotGiven", "NotGivenType", "Unset", "UnsetType"}
"""What stands for an argument that was left out."""


def parse_type(text: str) -> Shape | None:
    """The shape of an annotation; None for one that cannot be read."""
    if len(text) > MAX_LENGTH:
        return None
    try:
        return _shape(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def result_type(text: str) -> Shape | None:
    """The shape of what a function gives: as `parse_type`, but a class that nothing is known of may be anything."""
    shape = parse_type(text)
    if shape is not None and shape.kind == "list" and shape.of is not None:
        return replace(shape, of=_unknown(shape.of))
    return None if shape is None else _unknown(shape)


def _unknown(shape: Shape) -> Shape:
    return Shape("anything", optional=shape.optional) if shape.kind == "text" and shape.name else shape


def _shape(node: ast.expr) -> Shape | None:
    if isinstance(node, ast.Constant):
        if node.value is None:
            return Shape("nothing")
        return parse_type(node.value) if isinstance(node.value, str) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _either([node.left, node.right])
    name = _name(node)
    if name is not None:
        kind = _PLAIN.get(name.lower())
        return Shape(kind) if kind else Shape("text", name=name)  # a class of the document: as a rule an enum
    if not isinstance(node, ast.Subscript):
        return None
    return _generic((_name(node.value) or "").lower(), node.slice)


def _generic(name: str, inner: ast.expr) -> Shape | None:
    parts = list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]
    if name == "optional":
        return _either([*parts, ast.Constant(None)])
    if name == "union":
        return _either(parts)
    if name in ("list", "sequence", "set", "iterable", "tuple"):
        return Shape("list", of=_shape(parts[0]))
    if name in ("dict", "mapping"):
        keys = _listed(parts[0])
        if keys:
            of = _shape(parts[1]) if len(parts) > 1 else None
            return Shape("record", fields=tuple(Field(key, of or Shape("anything")) for key in keys))
        return Shape("map", of=_shape(parts[1]) if len(parts) > 1 else None)
    if name == "literal":
        return Shape("text", tuple(_literals(parts)))
    return _shape(parts[0]) if name in ("annotated", "required", "notrequired", "final") else None


def _listed(node: ast.expr) -> list[str]:
    """The values of a literal type."""
    if isinstance(node, ast.Subscript) and (_name(node.value) or "") == "Literal":
        return _literals(list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice])
    return []


def _literals(parts: list[ast.expr]) -> list[str]:
    values = [part.value for part in parts if isinstance(part, ast.Constant)]
    return [value for value in values if isinstance(value, str) and value.isprintable()]


def _either(parts: list[ast.expr]) -> Shape | None:
    """The first of several types that is one; whether it may be null."""
    some = [part for part in parts if (_name(part) or "") not in _ABSENT]
    shapes = [shape for shape in map(_shape, some) if shape is not None]
    real = [shape for shape in shapes if shape.kind != "nothing"]
    if not real:
        return shapes[0] if shapes else None
    optional = any(shape.kind == "nothing" or shape.optional for shape in shapes)
    return Shape(**{**vars(real[0]), "optional": optional})


def _name(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else None
