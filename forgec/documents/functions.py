"""Lists of functions: OpenAI's, MCP's tool lists, BFCL's dialect, and Python functions with docstrings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import docstring_parser

from forgec.documents.api import MISSING, Api, Failure, Field, Operation, Shape
from forgec.documents.json_schema import Schemas
from forgec.documents.python_types import parse_type

_PREFIX = re.compile(r"^This tool belongs to .*? Tool description: ", re.DOTALL)
_GIVEN = ("parameters", "inputSchema", "input_schema", "args_schema")
_RESULTS = ("response", "outputSchema", "output_schema", "returns", "result")


def is_function(value: Any) -> bool:
    """Whether this describes a function, in any of the forms."""
    if not isinstance(value, Mapping):
        return False
    inner = value.get("function", value)
    return isinstance(inner, Mapping) and isinstance(inner.get("name"), str) and bool(inner["name"].strip())


def read_functions(listed: list[Any], api: Api, document: Any, pointer: str = "") -> None:
    """Add each function of a list; what is none is noted."""
    schemas = Schemas(document, api)
    for i, value in enumerate(listed):
        place = f"{pointer}/{i}"
        if not is_function(value):
            api.note(place, "this is no function: it has no name")
            continue
        inner = value["function"] if isinstance(value.get("function"), Mapping) else value
        api.add(_Function(inner, schemas, place).operation())


class _Function:
    def __init__(self, function: Mapping[str, Any], schemas: Schemas, place: str) -> None:
        self.function, self.schemas, self.place = function, schemas, place
        self.api = schemas.api
        written = next((function[key] for key in ("description", "docstring", "doc") if _is_text(function, key)), "")
        self.told = docstring_parser.parse(written) if "docstring" in function else None
        short = written if self.told is None else _description(self.told)
        self.doc = _PREFIX.sub("", short).strip()

    def operation(self) -> Operation:
        result, result_doc = self._result()
        return Operation(
            self.function["name"].strip(), self.doc, tuple(self._parameters()), result, result_doc,
            tuple(self._failures()), place=self.place,
        )  # fmt: skip

    def _parameters(self) -> Iterator[Field]:
        given = next((self.function[key] for key in _GIVEN if self.function.get(key) is not None), None)
        place = f"{self.place}/parameters"
        if isinstance(given, list):
            yield from (self._listed(one, f"{place}/{i}") for i, one in enumerate(given) if _named(one))
            for i, one in enumerate(given):
                if not _named(one):
                    self.api.note(f"{place}/{i}", "a parameter without a name")
        elif isinstance(given, Mapping):
            if "properties" not in given and given and all(isinstance(one, Mapping) for one in given.values()):
                given = {"properties": given}  # the properties alone
            schema = self.schemas.followed(given)
            yield from self.schemas.fields(schema if isinstance(schema, Mapping) else {}, place)
        elif given is not None:
            self.api.note(place, "neither an object nor a list")

    def _listed(self, one: Mapping[str, Any], place: str) -> Field:
        """A parameter of a list: a name, a type of Python or JSON, and whether it is required."""
        name = str(one["name"])
        annotation = one.get("python_type", one.get("annotation"))
        if isinstance(annotation, str):
            shape = parse_type(annotation)
            if shape is None:
                self.api.note(place, f"unknown type {annotation!r}")
                shape = Shape("anything")
        else:
            shape = self.schemas.shape(one.get("schema", one), place)
        default = one.get("default", MISSING)
        if isinstance(annotation, str):
            default = python_default(default)
        required = one.get("required")
        doc = one.get("description") or self._told_of(name)
        return Field(name, shape, default is MISSING if required is None else required is True, doc, default)

    def _told_of(self, name: str) -> str:
        if self.told is None:
            return ""
        return next((p.description or "" for p in self.told.params if p.arg_name == name), "").strip()

    def _result(self) -> tuple[Shape | None, str]:
        told = self.told.returns.description if self.told is not None and self.told.returns is not None else None
        given = next((self.function[key] for key in _RESULTS if self.function.get(key) is not None), None)
        if given is None:
            return None, (told or "").strip()
        if isinstance(given, str):
            shape = parse_type(given) if re.fullmatch(r"[\w\[\], .'\"|]+", given) and " in " not in given else None
            plain = shape is not None and (" " not in given or "[" in given)
            return (shape, (told or "").strip()) if plain else (None, given.strip())
        return self.schemas.shape(given, f"{self.place}/response"), (told or "").strip()

    def _failures(self) -> Iterator[Failure]:
        for one in self.told.raises if self.told is not None else ():
            yield Failure(one.type_name or "", " ".join((one.description or "").split()))
        for key in ("errors", "raises"):
            for one in self.function.get(key) or () if isinstance(self.function.get(key), list) else ():
                if isinstance(one, Mapping):
                    code = str(one.get("code", one.get("type", one.get("name", ""))))
                    yield Failure(code, str(one.get("description", one.get("message", ""))))
                else:
                    yield Failure("", str(one))


def without_shared_opening(api: Api) -> None:
    """Drop the sentence with which all descriptions begin, which tells of the whole; it becomes the document's."""
    docs = [operation.doc for operation in api.operations]
    opening = re.match(r"[^.]{20,}?\. ", docs[0]) if len(docs) > 2 else None
    if opening and all(doc.startswith(opening[0]) and len(doc) > len(opening[0]) for doc in docs):
        api.doc = api.doc or opening[0].strip()
        api.operations = [replace(one, doc=one.doc[len(opening[0]) :].strip()) for one in api.operations]


def python_default(default: Any) -> Any:
    """A default written as Python: `None` and `'unpaid'` are what they say, `NOT_GIVEN` is none."""
    if not isinstance(default, str):
        return MISSING if default is None else default
    if default == "None":
        return None
    if default in ("True", "False"):
        return default == "True"
    if re.fullmatch(r"'[^'\\]*'|\"[^\"\\]*\"", default):
        return default[1:-1]
    if re.fullmatch(r"-?\d+", default):
        return int(default)
    if re.fullmatch(r"-?\d+\.\d+", default):
        return float(default)
    return MISSING


def _description(told: docstring_parser.Docstring) -> str:
    return "\n".join(part for part in (told.short_description, told.long_description) if part)


def _named(one: Any) -> bool:
    return isinstance(one, Mapping) and isinstance(one.get("name"), str) and bool(one["name"])


def _is_text(value: Mapping[str, Any], key: str) -> bool:
    return isinstance(value.get(key), str)
