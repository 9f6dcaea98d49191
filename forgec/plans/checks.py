"""Checks of values to Python."""

from __future__ import annotations

import ast
from collections.abc import Callable

from forgec.model.spec import ELEMENT, Check
from forgec.plans import python as py
from forgec.plans.expression import Lowering
from forgec.sql.scope import Cell
from forgec_runtime.types import List


def check_lines(low: Lowering, check: Check, before: str, refused: Callable[[ast.expr], ast.stmt]) -> list[ast.stmt]:
    """What refuses a value that fails a check, with its text after `before`."""
    if check.over is None:
        text: ast.expr = ast.Constant(before + check.text)
        return [ast.If(low.failure(check.sql.expression), [refused(text)], [])]
    listed = low.value(check.over.expression)
    assert isinstance(listed.type, List)
    rows = ast.BoolOp(ast.Or(), [listed.node, ast.Tuple([], ast.Load())]) if listed.optional else listed.node
    low.elements += 1
    element = "element" if low.elements == 1 else f"element_{low.elements}"  # each has a type of its own
    low.values[ELEMENT], low.rows[ELEMENT] = Cell(listed.type.of), element
    failure = low.failure(check.sql.expression)
    del low.values[ELEMENT], low.rows[ELEMENT]
    text = py.text([f"{before}{check.text}[", py.name("nth"), f"]{check.rest}"])
    target = ast.Tuple([ast.Name("nth", ast.Store()), ast.Name(element, ast.Store())], ast.Store())
    body: list[ast.stmt] = [ast.If(failure, [refused(text)], [])]
    return [ast.For(target, py.call("enumerate", rows, ast.Constant(1)), body, [], lineno=0)]
