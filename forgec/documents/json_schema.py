"""JSON schemas, and what passes for them in documents of tools, as shapes.

Besides the standard's types this knows those of Python and of BFCL (`dict`, `float`, `str`, `python_type`). References
within the document are followed; a schema that contains itself ends at its second visit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forgec.documents.api import MISSING, Api, Field, Kind, Shape
from forgec.documents.python_types import parse_type

MAX_DEPTH = 16
"""How deep schemas may lie in each other; deeper ones may be anything."""
MAX_SHAPES = 100_000
"""How many schemas of a document are read, each as often as it is referred to; later ones may be anything."""

_KINDS: Mapping[str, Kind] = {
    "string": "text", "str": "text", "text": "text", "char": "text", "file": "text",
    "integer": "integer", "int": "integer", "long": "integer",
    "number": "number", "float": "number", "double": "number", "decimal": "number",
    "boolean": "boolean", "bool": "boolean", "date": "date", "datetime": "timestamp", "timestamp": "timestamp",
    "array": "list", "list": "list", "tuple": "list", "set": "list",
    "object": "record", "dict": "record", "hashmap": "record", "map": "record",
    "any": "anything", "null": "nothing", "none": "nothing",
}  # fmt: skip
_FORMATS: Mapping[str, Kind] = {"date": "date", "date-time": "timestamp", "datetime": "timestamp"}


class Schemas:
    """Reads the schemas of one document."""

    def __init__(self, document: Any, api: Api) -> None:
        self.document, self.api = document, api
        self._read = 0

    def shape(self, schema: Any, place: str, name: str = "", seen: tuple[str, ...] = ()) -> Shape:
        """The shape of a schema; what makes no sense is noted, and may be anything."""
        self._read += 1
        if self._read > MAX_SHAPES:
            if self._read == MAX_SHAPES + 1:
                self.api.note(place, f"the document has more than {MAX_SHAPES:,} schemas: the rest may be anything")
            return Shape("anything")
        if len(seen) > MAX_DEPTH:
            return self._unknown(place, "schemas lie too deep in each other here")
        if isinstance(schema, str):
            return self._named(schema, place)
        if schema is True or schema is None:
            return Shape("anything", name=name)
        if not isinstance(schema, Mapping):
            return self._unknown(place, "this is no schema")
        if isinstance(schema.get("$ref"), str):
            return self._referred(schema["$ref"], place, seen)
        if isinstance(schema.get("python_type"), str):
            return parse_type(schema["python_type"]) or self._unknown(place, f"unknown type {schema['python_type']!r}")
        for key in ("anyOf", "oneOf", "allOf"):
            if isinstance(schema.get(key), list):
                return self._combined(key, schema, place, name, seen)
        if "enum" in schema or "const" in schema:
            return self._listed(schema, place)
        return self._typed(schema, place, name, seen)

    def fields(self, schema: Mapping[str, Any], place: str, seen: tuple[str, ...] = ()) -> tuple[Field, ...]:
        """The properties of an object's schema. `required` may be a list there, or true at a property."""
        properties = schema.get("properties")
        if not isinstance(properties, Mapping):
            if properties is not None:
                self.api.note(f"{place}/properties", "no object of properties")
            return ()
        required = schema.get("required")
        listed = {str(one) for one in required} if isinstance(required, list) else set()
        for one in sorted(listed - {str(key) for key in properties}):
            self.api.note(f"{place}/required", f"{one!r} is required, but not described")
        return tuple(
            self._field(str(key), value, f"{place}/properties/{key}", str(key) in listed, seen)
            for key, value in properties.items()
        )

    def _field(self, name: str, schema: Any, place: str, required: bool, seen: tuple[str, ...]) -> Field:
        about: Mapping[str, Any] = schema if isinstance(schema, Mapping) else {}
        shape = self.shape(schema, place, seen=(*seen, ""))
        default = about.get("default", MISSING)
        if default == "None" and shape.kind != "text":
            default = None
        return Field(name, shape, required or about.get("required") is True, _text(about.get("description")), default)

    def _typed(self, schema: Mapping[str, Any], place: str, name: str, seen: tuple[str, ...]) -> Shape:
        kind: Any = schema.get("type")
        optional = schema.get("nullable") is True
        if isinstance(kind, list):
            optional = optional or "null" in kind
            rest = [one for one in kind if one != "null"]
            if len(rest) > 1:
                self.api.note(place, f"one of several types: taken as {rest[0]}")
            kind = rest[0] if rest else "null"
        if kind is None:
            kind = "object" if "properties" in schema else "array" if "items" in schema else "any"
        known = _KINDS.get(str(kind).lower())
        if known is None:
            return parse_type(str(kind)) or self._unknown(place, f"unknown type {kind!r}")
        if known == "text":
            known = _FORMATS.get(str(schema.get("format")), known)
        if known == "list":
            items = schema.get("items")
            of = self.shape(items, f"{place}/items", seen=(*seen, "")) if items is not None else Shape("anything")
            return Shape("list", of=of, name=name, optional=optional)
        if known == "record":
            fields = self.fields(schema, place, seen)
            values = schema.get("additionalProperties")
            if not fields and isinstance(values, Mapping):
                of = self.shape(values, f"{place}/additionalProperties", seen=(*seen, ""))
                return Shape("map", of=of, name=name, optional=optional)
            return Shape("record" if fields else "map", of=None, fields=fields, name=name, optional=optional)
        return Shape(known, name=name, optional=optional)

    def _listed(self, schema: Mapping[str, Any], place: str) -> Shape:
        values = schema["enum"] if "enum" in schema else [schema["const"]]
        if not isinstance(values, list):
            return self._unknown(f"{place}/enum", "no list of values")
        given = [value for value in values if value is not None]
        optional = len(given) < len(values) or schema.get("nullable") is True
        if not all(is_plain(value) for value in given if isinstance(value, str)):
            self.api.note(f"{place}/enum", "values that are not plain words: it is any text")
            return Shape("text", optional=optional)
        if given and all(isinstance(value, str) and value for value in given):
            return Shape("text", tuple(dict.fromkeys(given)), optional=optional)
        kinds: dict[type, Kind] = {bool: "boolean", int: "integer", float: "number", str: "text"}
        found = {kinds.get(type(value), "anything") for value in given}
        return Shape(found.pop() if len(found) == 1 else "anything", optional=optional)

    def _combined(self, key: str, schema: Mapping[str, Any], place: str, name: str, seen: tuple[str, ...]) -> Shape:
        """One of several schemas, or all of them at once."""
        shapes = [self.shape(one, f"{place}/{key}/{i}", name, (*seen, "")) for i, one in enumerate(schema[key])]
        if key == "allOf":
            fields = {field.name: field for shape in shapes for field in shape.fields}
            fields.update({field.name: field for field in self.fields(schema, place, seen)})
            if fields:
                return Shape("record", fields=tuple(fields.values()), name=name or shapes[0].name)
            return shapes[0] if shapes else Shape("anything", name=name)
        some = [shape for shape in shapes if shape.kind != "nothing"]
        optional = len(some) < len(shapes) or schema.get("nullable") is True
        if not some:
            return Shape("nothing")
        if len({shape.kind for shape in some}) > 1:
            self.api.note(place, f"one of several types: taken as the first, {some[0].kind}")
        return Shape(**{**vars(some[0]), "optional": optional or some[0].optional})

    def _referred(self, reference: str, place: str, seen: tuple[str, ...]) -> Shape:
        name = reference.rpartition("/")[2]
        if reference in seen:
            self.api.note(place, f"{name} contains itself: it ends here")
            return Shape("anything", name=name)
        target = self.target(reference)
        if target is None:
            return self._unknown(place, f"nothing stands at {reference!r} of this document")
        return self.shape(target, reference, name, (*seen, reference))

    def target(self, reference: str) -> Any:
        """What `#/a/b` refers to in this document; None for nothing."""
        found = self.document
        if not reference.startswith("#/"):
            return None
        for part in reference[2:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, Mapping) or key not in found:
                return None
            found = found[key]
        return found

    def followed(self, value: Any) -> Any:
        """What a reference refers to, by however many others; anything else as it is."""
        for _ in range(MAX_DEPTH):
            if not (isinstance(value, Mapping) and isinstance(value.get("$ref"), str)):
                break
            value = self.target(value["$ref"])
        return value

    def _named(self, kind: str, place: str) -> Shape:
        known = _KINDS.get(kind.lower())
        return Shape(known) if known else parse_type(kind) or self._unknown(place, f"unknown type {kind!r}")

    def _unknown(self, place: str, text: str) -> Shape:
        self.api.note(place, text)
        return Shape("anything")


def is_plain(value: str) -> bool:
    """Whether a value is one line that no comment or quote of a spec could be part of."""
    return value.isprintable() and "/*" not in value and '"""' not in value


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
