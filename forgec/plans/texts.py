"""Twins of functions of texts."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forgec.plans import lists
from forgec.plans import python as py
from forgec.plans.conversions import converted
from forgec.plans.lowered import Handler, Lowered, NoTwin, sql_name, strict
from forgec.sql.infer import infer
from forgec.sql.tree import exp
from forgec_runtime import sql
from forgec_runtime.types import Boolean, Integer, List, Text, Type

if TYPE_CHECKING:
    from forgec.plans.expression import Lowering


def _text(low: Lowering, node: exp.Expr, tree: exp.Expr) -> Lowered:
    """An operand of `node` that is a text. Raises `NoTwin`."""
    part = low.value(tree)
    if part.type.sql != "VARCHAR":
        raise NoTwin(f"`{sql_name(node)}` of what is no text is computed by DuckDB")
    return part


def _function(twin: str, result: Type) -> Handler:
    return lambda low, node: strict(twin, result, _text(low, node, node.this))


def _concat(low: Lowering, node: exp.Expr) -> Lowered:
    left, right = low.value(node.this), low.value(node.expression)
    if isinstance(left.type, List) or isinstance(right.type, List):
        return lists.concatenated(left, right)
    left, right = converted(left, Text()), converted(right, Text())
    if left.optional or right.optional:
        return strict("sql.add", Text(), left, right)
    return Lowered(ast.BinOp(left.node, ast.Add(), right.node), Text(), False)


def _length(low: Lowering, node: exp.Expr) -> Lowered:
    if isinstance(infer(node.this), List):
        return lists.length(low, node.this)
    return strict("sql.length", Integer(), _text(low, node, node.this))


# -- parts ---------------------------------------------------------------------------------------------------------


def _part(twin: str) -> Handler:
    """`left`, `right` and `substring`: a text and numbers of characters."""

    def lower(low: Lowering, node: exp.Expr) -> Lowered:
        trees = [node.args[name] for name in ("expression", "start", "length") if node.args.get(name) is not None]
        counts = [low.value(tree) for tree in trees]
        if not all(isinstance(count.type, Integer) for count in counts):
            raise NoTwin(f"`{sql_name(node)}` by what is no integer is computed by DuckDB")
        return strict(twin, Text(), _text(low, node, node.this), *counts)

    return lower


def _replace(low: Lowering, node: exp.Expr) -> Lowered:
    text, old, new = _text(low, node, node.this), node.expression.name, node.args["replacement"].name
    if not old:  # DuckDB replaces nothing by nothing
        return text
    if text.optional:
        constants = [Lowered(ast.Constant(part), Text(), False) for part in (old, new)]
        return strict("sql.replace", Text(), text, *constants)
    method = ast.Attribute(text.node, "replace", ast.Load())
    return Lowered(ast.Call(method, [ast.Constant(old), ast.Constant(new)], []), Text(), False)


# -- search --------------------------------------------------------------------------------------------------------


def _contains(low: Lowering, node: exp.Expr) -> Lowered:
    return _containing(_text(low, node, node.this), _text(low, node, node.expression))


def _starts_with(low: Lowering, node: exp.Expr) -> Lowered:
    return _at_an_end("starts_with", _text(low, node, node.this), _text(low, node, node.expression))


def _ends_with(low: Lowering, node: exp.Expr) -> Lowered:
    return _at_an_end("ends_with", _text(low, node, node.this), _text(low, node, node.expression))


def _containing(text: Lowered, part: Lowered) -> Lowered:
    if text.optional or part.optional:
        return strict("sql.contains", Boolean(), text, part)
    return Lowered(py.compare(part.node, ast.In(), text.node), Boolean(), False)


def _at_an_end(function: str, text: Lowered, part: Lowered) -> Lowered:
    if text.optional or part.optional:
        return strict(f"sql.{function}", Boolean(), text, part)
    method = ast.Attribute(text.node, function.replace("_", ""), ast.Load())
    return Lowered(ast.Call(method, [part.node], []), Boolean(), False)


def _like(low: Lowering, node: exp.Expr) -> Lowered:
    text, pattern = _text(low, node, node.this), _text(low, node, node.expression)
    if isinstance(node, exp.ILike):
        text, pattern = strict("sql.lower", Text(), text), _lower(pattern)
    matched = _matching(text, pattern)
    if not node.args.get("negate"):
        return matched
    if matched.optional:
        return strict("sql.not_", Boolean(), matched)
    return Lowered(py.negated(matched.node), Boolean(), False)


def _lower(pattern: Lowered) -> Lowered:
    if isinstance(pattern.node, ast.Constant) and isinstance(pattern.node.value, str):
        return Lowered(ast.Constant(sql.lower(pattern.node.value)), Text(), pattern.optional)
    return strict("sql.lower", Text(), pattern)


def _matching(text: Lowered, pattern: Lowered) -> Lowered:
    """`text like pattern`; a pattern of the spec that only says where a text begins, ends or what it has, is that."""
    given = pattern.node.value if isinstance(pattern.node, ast.Constant) else None
    if not isinstance(given, str) or "_" in given:
        return strict("sql.like", Boolean(), text, pattern)
    part = Lowered(ast.Constant(given.strip("%")), Text(), False)
    before, after = given.startswith("%"), given.endswith("%")
    if "%" in given.strip("%") or not given.strip("%"):
        return strict("sql.like", Boolean(), text, pattern)
    if before and after:
        return _containing(text, part)
    if before or after:
        return _at_an_end("ends_with" if before else "starts_with", text, part)
    if text.optional:
        return strict("sql.eq", Boolean(), text, part)
    return Lowered(py.compare(text.node, ast.Eq(), part.node), Boolean(), False)


TWINS: dict[type[exp.Expr], Handler] = {
    exp.DPipe: _concat,
    exp.Lower: _function("sql.lower", Text()),
    exp.Upper: _function("sql.upper", Text()),
    exp.Length: _length,
    exp.Trim: _function("sql.trim", Text()),
    exp.Left: _part("sql.left"),
    exp.Right: _part("sql.right"),
    exp.Substring: _part("sql.substring"),
    exp.Replace: _replace,
    exp.SHA2: _function("sql.sha256", Text()),
    exp.Contains: _contains,
    exp.StartsWith: _starts_with,
    exp.EndsWith: _ends_with,
    exp.Like: _like,
    exp.ILike: _like,
}
