"""Files to an `Api`: what kind of document one is, and who reads it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from forgec.documents.api import Api
from forgec.documents.functions import is_function, read_functions, without_shared_opening
from forgec.documents.openapi import read_openapi
from forgec.documents.prose import read_prose

MAX_BYTES = 16 * 2**20
_PROSE = {".md", ".markdown", ".txt", ".rst", ".text"}
_LISTS = ("tools", "functions", "apis", "api_list", "operations")


class DocumentError(ValueError):
    """A document that cannot be read; the text says where and why."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML's data without its dates, which JSON does not have."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_document(paths: Path | Iterable[Path]) -> Api:
    """One or several documents of one interface. Raises `DocumentError`."""
    api = Api()
    for path in [paths] if isinstance(paths, Path) else paths:
        _read(path, api)
    without_shared_opening(api)
    return api


def _read(path: Path, api: Api) -> None:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise DocumentError(f"{path}: {error.strerror or error}") from None
    if len(data) > MAX_BYTES:
        raise DocumentError(f"{path}: larger than {MAX_BYTES >> 20} MiB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentError(f"{path}: byte {error.start} is no UTF-8") from None
    if not text.strip():
        raise DocumentError(f"{path}: it is empty")
    if path.suffix.lower() in _PROSE:
        api.forms.append("prose")
        read_prose(text, api)
    else:
        _structured(_parsed(text, path), api, path)


def _parsed(text: str, path: Path) -> Any:
    """JSON, lines of JSON, or YAML."""
    try:
        return json.loads(text)
    except RecursionError:
        raise DocumentError(f"{path}: it is nested too deeply") from None
    except json.JSONDecodeError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) > 1 and all(line.lstrip().startswith("{") for line in lines):
            try:
                return [json.loads(line) for line in lines]
            except (json.JSONDecodeError, RecursionError):
                pass
        if path.suffix.lower() == ".json" or text.lstrip()[:1] in ("{", "["):
            raise DocumentError(f"{path}:{error.lineno}:{error.colno}: no JSON: {error.msg}") from None
    try:
        return yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f":{mark.line + 1}:{mark.column + 1}" if mark is not None else ""
        raise DocumentError(f"{path}{where}: no YAML: {error.problem}") from None
    except (yaml.YAMLError, RecursionError, ValueError):
        raise DocumentError(f"{path}: neither JSON nor YAML") from None


def _structured(document: Any, api: Api, path: Path) -> None:
    if isinstance(document, Mapping):
        if "swagger" in document and "openapi" not in document:
            raise DocumentError(f"{path}: Swagger {document['swagger']}; convert it to OpenAPI 3 first")
        if "openapi" in document or "paths" in document:
            api.forms.append(f"OpenAPI {document.get('openapi', '')}".strip())
            read_openapi(document, api)
            return
        result = document.get("result")
        holder = result if isinstance(result, Mapping) and "tools" in result else document  # MCP's answer as it came
        for key in _LISTS:
            if isinstance(holder.get(key), list):
                api.title = api.title or str(document.get("title", document.get("name", "")))
                _functions(holder[key], api, document, f"/{key}")
                return
        if is_function(document):
            _functions([document], api, document, "")
            return
        if document and all(isinstance(value, Mapping) for value in document.values()):  # functions by name
            listed = [{"name": str(name), **value} for name, value in document.items()]
            _functions(listed, api, document, "")
            return
    if isinstance(document, list) and any(map(is_function, document)):
        _functions(document, api, document, "")
        return
    if isinstance(document, str):
        api.forms.append("prose")
        read_prose(document, api)
        return
    raise DocumentError(f"{path}: neither a list of functions, nor OpenAPI, nor a list of MCP tools")


def _functions(listed: list[Any], api: Api, document: Any, pointer: str) -> None:
    first: Any = next((one for one in listed if is_function(one)), {})
    inner = first.get("function", first) if isinstance(first, Mapping) else {}
    form = (
        "MCP tools" if "inputSchema" in inner
        else "OpenAI functions" if first.get("type") == "function"
        else "Python functions" if "docstring" in inner
        else "functions"
    )  # fmt: skip
    api.forms.append(form)
    read_functions(listed, api, document, pointer)
