"""Markdown and plain text. Operations are found where a text names them as calls: a heading or a bullet that is a
signature (`get_user(user_id: str) -> User`) or a method with a path (`GET /users/{id}`). All else is for a reader.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import cast

from forgec.documents.api import MISSING, Api, Field, Method, Operation, Shape
from forgec.documents.functions import python_default
from forgec.documents.python_types import parse_type, result_type

_SIGNATURE = re.compile(
    r"(?:def\s+|async\s+def\s+)?([A-Za-z_][\w.]*)\s*\((.*)\)\s*(?:(?:->|:|=>)\s*([\w\[\], .|]+))?:?"
)
_ROUTE = re.compile(r"(GET|POST|PUT|PATCH|DELETE)\s+(/\S*)", re.IGNORECASE)
_LEAD = re.compile(r"^\s*(?:#{1,6}|[-*+]|\d+[.)]|>)\s+")
_PARAMETER = re.compile(r"^\s*[-*+]\s+[`*]*([A-Za-z_]\w*)[`*]*\s*(?:\(([^)]*)\))?\s*[:\u2013\u2014-]\s*(.*)$")


def read_prose(text: str, api: Api) -> None:
    """Add what operations a text names; keep the text itself."""
    api.prose = f"{api.prose}\n\n{text}".strip()
    lines = text.splitlines()
    heads = [(number, found) for number, line in enumerate(lines) if (found := _head(line, number + 1)) is not None]
    for i, (number, operation) in enumerate(heads):
        end = heads[i + 1][0] if i + 1 < len(heads) else len(lines)
        api.add(_with_body(operation, lines[number + 1 : end]))
    title = next((line.lstrip("# ").strip() for line in lines if line.startswith("# ")), "")
    api.title = api.title or title
    if not heads:
        api.note("", "a text in which no call is written as `name(parameter: type)` or `GET /path`: only for a model")


def _head(line: str, number: int) -> Operation | None:
    """The operation that a line announces."""
    lead = _LEAD.match(line)
    bare = _LEAD.sub("", line).strip()
    marked = re.fullmatch(r"\**`([^`]+)`\**\s*(?:[:\u2013\u2014-]\s*(.*))?", bare)
    code, doc = (marked[1].strip(), marked[2] or "") if marked else (bare, "")
    if lead is None and not code.startswith("def ") and not marked:
        return None
    route = _ROUTE.fullmatch(code) or (_ROUTE.match(code) if lead and lead[0].strip().startswith("#") else None)
    if route:
        method, path = cast(Method, route[1].lower()), route[2]
        words = re.sub(r"[^A-Za-z0-9]+", "_", re.sub(r"[{:]([A-Za-z_]\w*)\}?", r"by_\1", path)).strip("_")
        holes = re.findall(r"[{:]([A-Za-z_]\w*)", path)
        fields = tuple(Field(hole, Shape("text"), place="path") for hole in holes)
        rest = code[route.end() :].strip(" -:\u2013\u2014")
        return Operation(f"{method}_{words}", doc or rest, fields, method=method, path=path, place=f"line {number}")
    call = _SIGNATURE.fullmatch(code)
    if call is None:
        return None
    parameters = _parameters(call[2])
    if parameters is None:
        return None
    result = result_type(call[3].strip()) if call[3] else None
    return Operation(call[1].rpartition(".")[2], doc.strip(), parameters, result, place=f"line {number}")


def _parameters(text: str) -> tuple[Field, ...] | None:
    """The parameters of a signature; None where it is none."""
    try:
        parsed = ast.parse(f"def f({text}): pass").body[0]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    assert isinstance(parsed, ast.FunctionDef)
    arguments = [*parsed.args.args, *parsed.args.kwonlyargs]
    missing: list[ast.expr | None] = [None] * (len(parsed.args.args) - len(parsed.args.defaults))
    defaults = [*missing, *parsed.args.defaults, *parsed.args.kw_defaults]
    return tuple(_field(one, default) for one, default in zip(arguments, defaults, strict=True) if one.arg != "self")


def _field(argument: ast.arg, default: ast.expr | None) -> Field:
    shape = parse_type(ast.unparse(argument.annotation)) if argument.annotation is not None else None
    given = MISSING if default is None else python_default(ast.unparse(default))
    return Field(argument.arg, shape or Shape("text"), default is None, "", given)


def _with_body(operation: Operation, lines: list[str]) -> Operation:
    """The operation with what the lines below it say of it, and of its parameters."""
    told = {name: (kind, text) for name, kind, text in _told(lines)}
    fields = []
    for field in operation.parameters:
        kind, text = told.pop(field.name, ("", ""))
        shape = (parse_type(kind.split(",")[0].strip()) if kind else None) or field.shape
        fields.append(Field(field.name, shape, field.required, text or field.doc, field.default, field.place))
    if operation.method:  # a route names its holes alone; the rest of its parameters are listed below
        for name, (kind, text) in told.items():
            shape = (parse_type(kind.split(",")[0].strip()) if kind else None) or Shape("text")
            fields.append(Field(name, shape, "optional" not in kind.lower() + text.lower(), text))
    said = next(
        (line.strip() for line in lines if line.strip() and not _PARAMETER.match(line) and line[0] not in "`#|"), ""
    )
    return Operation(**{**vars(operation), "parameters": tuple(fields), "doc": operation.doc or said.strip("\"' ")})


def _told(lines: list[str]) -> Iterator[tuple[str, str, str]]:
    """Parameters in bullets and tables: the name, the type, and the text."""
    for line in lines:
        bullet = _PARAMETER.match(line)
        if bullet:
            yield bullet[1], bullet[2] or "", bullet[3].strip()
        elif line.lstrip().startswith("|"):
            cells = [cell.strip(" `*") for cell in line.strip().strip("|").split("|")]
            if (
                len(cells) >= 2
                and re.fullmatch(r"[A-Za-z_]\w*", cells[0])
                and cells[0].lower() not in ("name", "parameter")
            ):
                yield cells[0], cells[1] if len(cells) > 2 else "", cells[-1]
