"""OpenAPI 3.x: each method of each path is an operation; a body that is an object gives its parts as parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from forgec.documents.api import MISSING, Api, Failure, Field, Method, Operation, Shape
from forgec.documents.json_schema import Schemas

_METHODS = tuple(method for method in get_args(Method) if method)
_OTHER_METHODS = {"head", "options", "trace"}
_UNUSED = {"parameters", "summary", "description", "servers", "$ref"}


def read_openapi(document: Mapping[str, Any], api: Api) -> None:
    """Add the operations and the named schemas of a document."""
    info = document.get("info")
    if isinstance(info, Mapping):
        api.title = api.title or str(info.get("title", "")).strip()
        api.doc = api.doc or str(info.get("description", "")).strip()
    schemas = Schemas(document, api)
    components = document.get("components")
    named = components.get("schemas") if isinstance(components, Mapping) else None
    for name in named if isinstance(named, Mapping) else ():
        reference = f"#/components/schemas/{str(name).replace('~', '~0').replace('/', '~1')}"
        api.schemas[str(name)] = schemas.shape({"$ref": reference}, reference)
    paths = document.get("paths")
    if not isinstance(paths, Mapping):
        api.note("/paths", "there are no paths")
        return
    for path, item in paths.items():
        place = f"/paths/{str(path).replace('~', '~0').replace('/', '~1')}"
        item = schemas.followed(item)
        if not isinstance(item, Mapping):
            api.note(place, "this is no path")
            continue
        for method, operation in item.items():
            if method in _METHODS and isinstance(operation, Mapping):
                api.add(_Operation(schemas, str(path), method, item, operation, f"{place}/{method}").read())
            elif method in _OTHER_METHODS:
                api.note(f"{place}/{method}", "left out: it does nothing that a tool would")
            elif method not in _UNUSED and not str(method).startswith("x-"):
                api.note(f"{place}/{method}", "neither a method nor anything else that is known")


class _Operation:
    def __init__(
        self, schemas: Schemas, path: str, method: Method, item: Mapping[str, Any], operation: Mapping[str, Any],
        place: str,
    ) -> None:  # fmt: skip
        self.schemas, self.path, self.method, self.place = schemas, path, method, place
        self.item, self.operation = item, operation

    def read(self) -> Operation:
        name = self.operation.get("operationId")
        docs = [str(self.operation.get(key, "")).strip() for key in ("summary", "description")]
        same = docs[1].startswith(docs[0].rstrip("."))
        doc = docs[1] if same else f"{docs[0].rstrip('.')}. {docs[1]}" if docs[1] else docs[0]
        result, result_doc = self._result()
        return Operation(
            name.strip() if isinstance(name, str) and name.strip() else self._named(), doc,
            tuple(self._parameters()), result, result_doc, tuple(self._failures()), self.method, self.path, self.place,
        )  # fmt: skip

    def _named(self) -> str:
        """A name for an operation without one: `get /pets/{id}` is `get_pets_by_id`."""
        words = re.sub(r"\{([^}]*)\}", r"by_\1", self.path)
        return re.sub(r"[^A-Za-z0-9]+", "_", f"{self.method}_{words}").strip("_")

    def _parameters(self) -> Iterator[Field]:
        found: dict[str, Field] = {}
        for source in (self.item, self.operation):
            listed = source.get("parameters")
            for i, one in enumerate(listed if isinstance(listed, list) else ()):
                field = self._parameter(self.schemas.followed(one), f"{self.place}/parameters/{i}")
                if field is not None:
                    found[field.name] = field  # an operation's own comes after its path's
        for name in re.findall(r"\{([^}]+)\}", self.path):
            if name not in found:
                self.schemas.api.note(self.place, f"the path's {name!r} is not described: taken as text")
                found[name] = Field(name, Shape("text"), place="path")
        for field in self._body():
            name = field.name
            if name in found and found[name].shape.kind == field.shape.kind:
                self.schemas.api.note(self.place, f"{name!r} stands in the path and in the body: one parameter")
                continue
            if name in found:
                name = f"{name}_in_body" if f"{name}_in_body" not in found else f"{name}_in_the_body"
                self.schemas.api.note(self.place, f"the body's {field.name!r} is {name!r}: a parameter has that name")
            found[name] = Field(**{**vars(field), "name": name})
        yield from found.values()

    def _parameter(self, one: Any, place: str) -> Field | None:
        if not isinstance(one, Mapping) or not isinstance(one.get("name"), str):
            self.schemas.api.note(place, "a parameter without a name")
            return None
        where = one.get("in")
        if where in ("header", "cookie"):
            self.schemas.api.note(place, f"the {where} {one['name']!r} is left out: no agent sends it")
            return None
        content = one.get("content")
        schema = one.get("schema", _first_schema(content) if isinstance(content, Mapping) else None)
        default = schema.get("default", MISSING) if isinstance(schema, Mapping) else MISSING
        shape = self.schemas.shape({"type": "string"} if schema is None else schema, f"{place}/schema")
        doc = str(one.get("description", "")).strip()
        return Field(
            one["name"], shape, one.get("required") is True, doc, default, "path" if where == "path" else "query"
        )

    def _body(self) -> Iterator[Field]:
        body = self.schemas.followed(self.operation.get("requestBody"))
        if body is None:
            return
        place = f"{self.place}/requestBody"
        schema = _first_schema(body.get("content")) if isinstance(body, Mapping) else None
        if schema is None:
            self.schemas.api.note(place, "a body without a schema")
            return
        shape = self.schemas.shape(schema, place)
        required = isinstance(body, Mapping) and body.get("required") is not False  # left out, it is no statement
        doc = str(body.get("description", "")).strip()
        if shape.kind == "record":
            for field in shape.fields:
                yield Field(**{**vars(field), "place": "body", "required": field.required and (required or bool(doc))})
        elif shape.kind == "text" and isinstance(schema, Mapping) and schema.get("format") == "binary":
            self.schemas.api.note(place, "a file is sent: left out")
        else:
            yield Field("body", shape, required, doc, place="body")

    def _answers(self) -> Iterator[tuple[str, Any]]:
        answers = self.operation.get("responses")
        for code, answer in answers.items() if isinstance(answers, Mapping) else ():
            yield str(code), self.schemas.followed(answer)

    def _result(self) -> tuple[Shape | None, str]:
        """The shape of the first answer that is a success."""
        answers = sorted(
            (code, answer) for code, answer in self._answers() if code.startswith("2") or code == "default"
        )
        for code, answer in answers:
            if not isinstance(answer, Mapping):
                continue
            doc = str(answer.get("description", "")).strip()
            schema = _first_schema(answer.get("content"))
            if schema is not None:
                return self.schemas.shape(schema, f"{self.place}/responses/{code}"), doc
            if code.startswith("2"):
                return Shape("nothing"), doc
        return None, ""

    def _failures(self) -> Iterator[Failure]:
        for code, answer in self._answers():
            if code[:1] in ("4", "5"):
                text = answer.get("description", "") if isinstance(answer, Mapping) else ""
                yield Failure(code, " ".join(str(text).split()))


def _first_schema(content: Any) -> Any:
    """The schema of a body's JSON, else of its first form; None for none."""
    if not isinstance(content, Mapping) or not content:
        return None
    form = content.get("application/json", next(iter(content.values())))
    return form.get("schema") if isinstance(form, Mapping) else None
