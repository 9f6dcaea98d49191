"""Values that the author of a spec gives parameters: in tests that pass, and in tasks that were not made."""

from __future__ import annotations

import decimal
from collections.abc import Iterator
from typing import Any

from forgec.model import spec as m
from forgec.sql.query import Sql
from forgec.sql.tree import Value, exp
from forgec_runtime.results import json_able

_UNKNOWN = object()

Examples = dict[tuple[str, str], list[dict[str, Any]]]


def examples_of(spec: m.Spec) -> dict[str, list[dict[str, Any]]]:
    """By tool, the constant arguments of each of its calls that succeeds, as JSON has them."""
    found: dict[str, list[dict[str, Any]]] = {}
    for tool, arguments in _calls(spec):
        known = {name: value for name, value in arguments.items() if value is not _UNKNOWN}
        if known and known not in found.setdefault(tool, []):
            found[tool].append(known)
    return found


def refused_of(spec: m.Spec) -> dict[str, list[dict[str, Any]]]:
    """By tool, the constant arguments of each call that the spec's tests see refused."""
    found: dict[str, list[dict[str, Any]]] = {}
    for test in spec.tests:
        for step in test.steps:
            if isinstance(step, m.Run) and step.fails is not None:
                given = {name: _constant(sql.tree) for name, sql in step.call.arguments.items()}
                found.setdefault(step.call.tool, []).append({n: v for n, v in given.items() if v is not _UNKNOWN})
    return found


def _calls(spec: m.Spec) -> Iterator[tuple[str, dict[str, Any]]]:
    for test in spec.tests:
        for step in test.steps:
            if isinstance(step, m.Run) and step.fails is None:
                yield step.call.tool, {name: _constant(sql.tree) for name, sql in step.call.arguments.items()}
    for task in (task for task in spec.tasks.values() if "made" not in task.tags):
        facts = {fact.name: _given(fact.value, {}) for fact in task.facts}
        for plan in task.plans:
            for node in plan.nodes:
                if isinstance(node, m.CallNode):
                    yield node.tool, {name: _given(value, facts) for name, value in node.arguments.items()}


def _given(value: m.Given, facts: dict[str, Any]) -> Any:
    if isinstance(value, m.Constant):
        return json_able(value.value)
    return _of(value, facts)


def _of(sql: Sql, facts: dict[str, Any]) -> Any:
    if isinstance(sql.tree, Value):
        return facts.get(sql.tree.name, _UNKNOWN)
    return _constant(sql.tree)


def _constant(tree: exp.Expr | None) -> Any:
    """What a literal says, as JSON has it."""
    if isinstance(tree, exp.Literal):
        if tree.is_string:
            return tree.this
        number = decimal.Decimal(tree.this)
        return int(number) if number == number.to_integral_value() and "." not in tree.this else json_able(number)
    if isinstance(tree, exp.Boolean):
        return bool(tree.this)
    if isinstance(tree, exp.Paren | exp.Cast):
        return _constant(tree.this)
    if isinstance(tree, exp.Struct):
        parts = {p.this.name: _constant(p.expression) for p in tree.expressions if isinstance(p, exp.PropertyEQ)}
        return _UNKNOWN if any(part is _UNKNOWN for part in parts.values()) else parts
    if isinstance(tree, exp.Array):
        parts_ = [_constant(part) for part in tree.expressions]
        return _UNKNOWN if any(part is _UNKNOWN for part in parts_) else parts_
    return _UNKNOWN
