"""Small builders of Python syntax trees. Spec text enters generated code only as constants made here."""

from __future__ import annotations

import ast
import builtins
import datetime
import decimal
import keyword
import re
from collections.abc import Sequence
from typing import Any, TypeGuard

_OURS = {
    "call", "sql", "t", "functions", "actions", "date", "datetime", "timedelta", "Decimal", "Refusal", "Any", "Call",
    "I", "O", "l", "nth", "element", "Mapping", "Parameter", "Query", "Sequence", "Tool", "result", "changed",
    "added",
}  # fmt: skip
_BUILTINS = set(dir(builtins))
_ELEMENT = re.compile("element_[0-9]+")


def identifier(name: str) -> str:
    """The Python name of something that the spec calls `name`."""
    taken = keyword.iskeyword(name) or keyword.issoftkeyword(name) or name in _OURS or name in _BUILTINS
    return f"{name}_" if taken or name.endswith("_row") or _ELEMENT.fullmatch(name) else name


def is_plain_name(text: str) -> bool:
    """Whether `text` can be an attribute of a class."""
    return text.isidentifier() and not keyword.iskeyword(text)


def name(text: str) -> ast.Name:
    return ast.Name(text, ast.Load())


def call(function: str, *arguments: ast.expr, **named: ast.expr) -> ast.Call:
    """`function(arguments)`; `function` may have dots."""
    target: ast.expr
    head, *rest = function.split(".")
    target = name(head)
    for part in rest:
        target = ast.Attribute(target, part, ast.Load())
    return ast.Call(target, list(arguments), [ast.keyword(key, value) for key, value in named.items()])


def item(target: ast.expr, key: str) -> ast.Subscript:
    return ast.Subscript(target, ast.Constant(key), ast.Load())


def compare(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> ast.Compare:
    return ast.Compare(left, [operator], [right])


def is_none(value: ast.expr) -> ast.Compare:
    return compare(value, ast.Is(), ast.Constant(None))


def is_not_none(value: ast.expr) -> ast.Compare:
    return compare(value, ast.IsNot(), ast.Constant(None))


_INVERSE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip


def negated(value: ast.expr) -> ast.expr:
    """`not value`, as a person writes it."""
    if isinstance(value, ast.Compare) and len(value.ops) == 1:
        return ast.Compare(value.left, [_INVERSE[type(value.ops[0])]()], value.comparators)
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):
        return value.operand
    return ast.UnaryOp(ast.Not(), value)


def conjunction(parts: Sequence[ast.expr]) -> ast.expr:
    return parts[0] if len(parts) == 1 else ast.BoolOp(ast.And(), list(parts))


class _Written(str):
    """Source text that stands in a tree as it is, where `ast.unparse` would not do."""

    def __repr__(self) -> str:
        return str(self)


def text(parts: Sequence[str | ast.expr]) -> ast.expr:
    """A text with values in it: an f-string, where Python 3.11 can have what the values are made of in one.

    Written by hand, because `ast.unparse` writes f-strings differently on each Python.
    """
    written = [part if isinstance(part, str) else _Written("{" + source(part) + "}") for part in parts]
    holes = "".join(part for part in written if isinstance(part, _Written))
    plain = "".join(part for part in parts if isinstance(part, str))
    quote = next((quote for quote in "\"'" if quote not in holes + plain), '"""')
    if "\\" in holes or quote in holes:
        nodes = [ast.Constant(part) if isinstance(part, str) else part for part in parts]
        return ast.Call(ast.Attribute(ast.Constant(""), "join", ast.Load()), [ast.Tuple(nodes, ast.Load())], [])
    body = "".join(part if isinstance(part, _Written) else _escaped(part) for part in written)
    if len(quote) == 3:
        body = re.sub(r'"{3,}|"+$', lambda match: '\\"' * len(match[0]), body)
    return ast.Constant(_Written(f"f{quote}{body}{quote}"))


def loop(name: str, rows: ast.expr, tests: Sequence[ast.expr] = ()) -> ast.comprehension:
    """`for name in rows if tests`."""
    return ast.comprehension(ast.Name(name, ast.Store()), rows, [conjunction(tests)] if tests else [], 0)


def over(function: str, generator: ast.GeneratorExp) -> ast.expr:
    """`function(value for row in rows)`, without the second brackets that `ast.unparse` writes."""
    return ast.Constant(_Written(f"{function}{source(generator)}"))


def is_written(node: ast.expr) -> bool:
    """Whether this is a text with values in it, or a function over a generator: their types are known."""
    return isinstance(node, ast.Constant) and isinstance(node.value, _Written)


def _escaped(text: str) -> str:
    """The inside of an f-string that says `text`, but for its quotes."""
    return "".join(repr(character)[1:-1] for character in text).replace("{", "{{").replace("}", "}}")


def truth(value: ast.expr) -> ast.expr:
    """`value` where only its truth counts: `rows` for `bool(rows)`."""
    called = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "bool"
    return value.args[0] if called and isinstance(value, ast.Call) else value


def is_or_none(value: ast.expr) -> TypeGuard[ast.BoolOp]:
    """Whether this is `one or None`."""
    if not isinstance(value, ast.BoolOp) or not isinstance(value.op, ast.Or) or len(value.values) != 2:
        return False
    last = value.values[1]
    return isinstance(last, ast.Constant) and last.value is None


def is_empty(value: ast.expr) -> bool:
    """Whether this is `[]`."""
    return isinstance(value, ast.List) and not value.elts


def ends(lines: Sequence[ast.stmt]) -> bool:
    """Whether nothing that follows these lines is ever reached."""
    last = lines[-1] if lines else None
    if isinstance(last, ast.If):
        return ends(last.body) and ends(last.orelse)
    return isinstance(last, ast.Return | ast.Raise)


def assign(target: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(target, ast.Store())], value, lineno=0)


def annotated(target: str, annotation: str, value: ast.expr) -> ast.AnnAssign:
    return ast.AnnAssign(ast.Name(target, ast.Store()), ast.parse(annotation, mode="eval").body, value, 1)


def dictionary(entries: Sequence[tuple[str, ast.expr]]) -> ast.Dict:
    return ast.Dict([ast.Constant(key) for key, _ in entries], [value for _, value in entries])


def literal(value: Any) -> ast.expr:
    """A constant of any type that a column holds."""
    if value is None or isinstance(value, bool | int | str | float):
        return ast.Constant(value)
    if isinstance(value, decimal.Decimal):
        return call("Decimal", ast.Constant(format(value, "f")))
    if isinstance(value, datetime.datetime):
        parts = [value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond]
        while len(parts) > 3 and parts[-1] == 0:
            parts.pop()
        return call("datetime", *(ast.Constant(part) for part in parts))
    if isinstance(value, datetime.date):
        return call("date", *(ast.Constant(part) for part in (value.year, value.month, value.day)))
    if isinstance(value, dict):
        return dictionary([(key, literal(part)) for key, part in value.items()])
    if isinstance(value, list):
        return ast.List([literal(part) for part in value], ast.Load())
    if isinstance(value, tuple):
        return ast.Tuple([literal(part) for part in value], ast.Load())
    raise TypeError(f"no literal for {type(value).__name__}")


def source(node: ast.AST) -> str:
    """The text of a tree."""
    return ast.unparse(ast.fix_missing_locations(node))


def source_literal(value: Any) -> str:
    """The text of a constant."""
    return source(literal(value))
