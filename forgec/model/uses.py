"""What the parts of a spec use: tables and functions of SQL, reads and writes of tools, edges of plans."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forgec.model import spec as m
from forgec.model import walk
from forgec.sql.query import Insert, Sql, Update
from forgec.sql.scope import Cell, Shape
from forgec.sql.tree import Apply, Lookup, Value, exp


@dataclass(frozen=True)
class Written:
    """A statement that changes a table, and the columns that it sets; a delete sets none."""

    table: str
    how: str
    columns: tuple[str, ...]


def flat(text: str) -> str:
    """Text in one line."""
    return " ".join(text.split())


def titles_of(tables: Container[str], spec: m.Spec) -> list[str]:
    """Some tables as a spec calls them, in the order of the spec."""
    return [table.title for name, table in spec.tables.items() if name in tables]


# -- SQL ----------------------------------------------------------------------------------------------------------


def trees(sql: Sql) -> Iterator[exp.Expr]:
    """Every expression of a piece of SQL, those of a change too."""
    change = sql.change
    if sql.tree is not None:
        yield sql.tree
    elif isinstance(change, Insert):
        yield from (tree for row in change.rows for tree in row)
        if change.query is not None:
            yield change.query
    elif isinstance(change, Update):
        yield from (tree for _, tree in change.assignments)
        yield change.where
    elif change is not None:
        yield change.where


def tables_in(sql: Sql, tables: Iterable[str]) -> set[str]:
    """The tables that SQL itself looks at, not by way of functions."""
    known = set(tables)
    found = {sql.change.table} if sql.change is not None and not isinstance(sql.change, Insert) else set()
    for tree in trees(sql):
        found |= {node.name for node in tree.find_all(Lookup)}
        found |= {
            node.name for node in tree.find_all(exp.Table) if "rows" not in node.meta and not node.meta.get("cte")
        }
    return found & known


def views_in(sql: Sql) -> set[str]:
    """The views that SQL itself takes rows from, those that they are made of included."""
    return {node.meta["view"] for tree in trees(sql) for node in tree.find_all(exp.Subquery) if "view" in node.meta}


def functions_in(sql: Sql, functions: Mapping[str, m.Function]) -> list[str]:
    """The functions of the spec that SQL calls, those they call included, in the order of the spec."""
    found: set[str] = set()
    waiting = [sql]
    while waiting:
        for tree in trees(waiting.pop()):
            new = {node.name for node in tree.find_all(Apply)} - found
            found |= new
            waiting += [functions[name].sql for name in new]
    return [name for name in functions if name in found]


def needs(sqls: Iterable[Sql]) -> set[str]:
    """The values (`$x`) that SQL refers to, by their first name."""
    found: set[str] = set()
    for sql in sqls:
        for tree in trees(sql):
            for node in tree.find_all(Value, exp.Table):
                if isinstance(node, Value):
                    found.add(node.name.split(".")[0])
                elif "rows" in node.meta:
                    found.add(str(node.meta["rows"]))
    return found


# -- worlds -------------------------------------------------------------------------------------------------------


def sqls_of_world(world: m.World) -> Iterator[Sql]:
    """Every piece of SQL of what happens in a world, the arguments of what is drawn included."""
    blocks: list[m.Generate] = []
    for happening in world.happenings:
        if isinstance(happening, m.Generate):
            blocks.append(happening)
        else:
            yield happening.sql
    while blocks:
        block = blocks.pop()
        blocks.extend(block.nested)
        for made in block.made:
            yield made.drawn.sql
            for draw in made.drawn.draws:
                yield from (Sql(draw.span, tree, None, draw.cell, frozenset()) for tree in draw.arguments)


# -- tools --------------------------------------------------------------------------------------------------------


def sqls_of(routine: m.Routine, rules: Iterable[m.Rule]) -> list[Sql]:
    """Every piece of SQL that runs when a tool is called: its rules, its statements, its messages, its actions."""
    found = [sql for rule in rules if isinstance(routine, m.Tool) and (sql := rule.sqls.get(routine.name)) is not None]
    return found + [sql for statement in walk.statements(routine.body) for sql in walk.sqls_of(statement)]


def reads_of(routine: m.Routine, spec: m.Spec) -> dict[str, list[str]]:
    """The tables that a tool or action reads, in the order of the spec, each with the functions that alone read it.

    A table that it looks at itself has none.
    """
    sqls = sqls_of(routine, spec.rules)
    direct = {p.references for one in (routine, *walk.actions_of(routine)) for p in one.parameters if p.references}
    for sql in sqls:
        direct |= tables_in(sql, spec.tables)
    direct |= _returned_with(routine, spec)
    called = [name for name in spec.functions if any(name in functions_in(sql, spec.functions) for sql in sqls)]
    found: dict[str, list[str]] = {}
    for table in spec.tables:
        through = [name for name in called if table in tables_in(spec.functions[name].sql, spec.tables)]
        if table in direct or through:
            found[table] = [] if table in direct else through
    return found


def _returned_with(routine: m.Routine, spec: m.Spec) -> set[str]:
    """The tables that are nested in the rows which a tool gives back with all that is in them."""
    result = routine.returns if isinstance(routine, m.Tool) else None
    found: set[str] = set()
    for one in result.kinds or (result,) if result is not None else ():
        around = getattr(one.shape, "table", None) if one.nested else None
        for table in spec.tables.values():  # a table comes before those that are nested in it
            if around is not None and table.parent in (around, *found):
                found.add(table.name)
    return found


def writes_of(routine: m.Routine) -> list[Written]:
    """What a tool or action changes, in the order of its body, each change once."""
    found: list[Written] = []
    for sql in sqls_of(routine, ()):
        change = sql.change
        if isinstance(change, Insert):
            written = Written(change.table, "insert", change.columns)
        elif isinstance(change, Update):
            written = Written(change.table, "update", tuple(name for name, _ in change.assignments))
        elif change is not None:
            written = Written(change.table, "delete", ())
        else:
            continue
        if written not in found:
            found.append(written)
    return found


def written_data(written: Written, spec: m.Spec) -> dict[str, Any]:
    """A change of a table, as data."""
    return {"table": spec.tables[written.table].title, "how": written.how, "columns": list(written.columns)}


def keys_in(shape: Shape) -> dict[str, str]:
    """The parts of a result that are keys: name (empty for a single value) -> table."""
    cells = {"": shape} if isinstance(shape, Cell) else shape.columns
    return {name: cell.references for name, cell in cells.items() if cell.references is not None}


# -- plans --------------------------------------------------------------------------------------------------------


def values_of_node(node: m.CallNode | m.ReasonNode) -> list[m.Given]:
    """What a node of a plan is made of, its condition included."""
    own = [node.value] if isinstance(node, m.ReasonNode) else list(node.arguments.values())
    return own if node.when is None else [*own, node.when]


def sqls_in(values: Iterable[m.Given]) -> list[Sql]:
    """Those of some values that are not constants."""
    return [value for value in values if isinstance(value, Sql)]


def task_sqls(task: m.Task) -> Iterator[Sql]:
    """All SQL of a task."""
    yield from (sample.sql for sample in task.samples)
    yield from sqls_in(fact.value for fact in task.facts)
    messages = [*(one.text for one in task.requests), *(fact.told for fact in task.facts)]
    for message in messages if task.intent is None else [task.intent, *messages]:
        yield from (hole.sql for hole in message.holes)
    yield from task.change
    yield from (request.when for request in task.requests if request.when is not None)
    for plan in task.plans:
        for node in plan.nodes:
            yield from sqls_in(values_of_node(node))
    yield from (part.sql for part in task.expect)
    yield from sqls_in(part.value for part in task.says)
    yield from sqls_in(value for never in task.never for value in never.arguments.values())


def edges(plan: m.Plan) -> dict[str, list[str]]:
    """For each node of a plan, the nodes that it needs, in the order of the plan."""
    found: dict[str, list[str]] = {}
    for node in plan.nodes:
        wanted = needs(sqls_in(values_of_node(node))) | set(node.after)
        found[node.name] = [other.name for other in plan.nodes if other.name in wanted]
    return found


def layers(needed: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The nodes of a plan in steps, by its `edges`: each node right after the last of those that it needs."""
    level: dict[str, int] = {}
    for name, before in needed.items():
        level[name] = 1 + max((level[other] for other in before), default=-1)
    return [[name for name, own in level.items() if own == i] for i in range(max(level.values(), default=-1) + 1)]
