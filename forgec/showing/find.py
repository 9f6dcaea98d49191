"""What a spec declares under a name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from forgec.model import spec as m
from forgec.plans.package import plan_package
from forgec.showing.parts import (
    domain_data,
    function_data,
    invariant_data,
    rule_data,
    sync_data,
    table_data,
    task_data,
    type_data,
    view_data,
    world_data,
)
from forgec.showing.tool import action_data, tool_data
from forgec.sql.scope import table_at, titles


def declared(spec: m.Spec) -> list[str]:
    """Every name that can be asked for, each once."""
    named = [part.name for part in (*spec.rules, *spec.invariants)]
    behaviour = (spec.tools, spec.actions, spec.functions)
    types = (spec.enums, spec.records, spec.domains)
    kinds = (titles(spec.tables), spec.views, *behaviour, spec.syncs, spec.worlds, spec.tasks, *types)
    return list(dict.fromkeys([*(name for kind in kinds for name in kind), *named]))


def find(spec: m.Spec, name: str) -> list[dict[str, Any]]:
    """All that is declared as `name`, as data: a table and a tool may share it."""
    return list(_find(spec, name))


def _find(spec: m.Spec, name: str) -> Iterator[dict[str, Any]]:
    table = table_at(spec.tables, name.split("."))
    if table is not None:
        yield table_data(table, spec)
    if name in spec.views:
        yield view_data(spec.views[name], spec)
    if name in spec.tools:
        yield tool_data(spec.tools[name], plan_package(spec))
    if name in spec.syncs:
        yield sync_data(spec.syncs[name], spec)
    if name in spec.actions:
        yield action_data(spec.actions[name], spec)
    if name in spec.functions:
        yield function_data(spec.functions[name], spec)
    for rule in spec.rules:
        if rule.name == name:
            yield rule_data(rule)
    for invariant in spec.invariants:
        if invariant.name == name:
            yield invariant_data(invariant, spec)
    if name in spec.worlds:
        yield world_data(spec.worlds[name], spec)
    if name in spec.tasks:
        yield task_data(spec.tasks[name], spec)
    for types in (spec.enums, spec.records):
        if name in types:
            yield type_data(types[name], spec)
    if name in spec.domains:
        yield domain_data(spec.domains[name], spec)
