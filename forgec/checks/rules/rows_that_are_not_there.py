"""Keys in tasks that no row of their world has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from forgec.checks.subject import Finding, Subject, word
from forgec.diagnostics import did_you_mean
from forgec.model import spec as m
from forgec.model import walk
from forgec.source import Span
from forgec.sql.query import Insert, Sql
from forgec.sql.tree import Value


def rows_that_are_not_there(subject: Subject) -> Iterator[Finding]:
    """A task gives a call the key of a row that its world does not have, and that none of its calls makes.

    Such a call of a plan is refused, so that nobody is ever paid; a `never` that names such a row forbids nothing.
    Facts are followed, and the `change` of the task counts.

    Bad:

        task pay_up on monday "Pay what is owed" {
          intent "You want to pay what you owe.";
          fact member "your number" = 'M7';
          plan { paid = settle(member_id: $member); }
          says "what was paid": $paid;
        }

    Good:

        task pay_up on monday "Pay what is owed" {
          intent "You want to pay what you owe.";
          fact member "your number" = 'M1';
          plan { paid = settle(member_id: $member); }
          says "what was paid": $paid;
        }
    """
    spec = subject.spec
    made_by = {tool.name: _filled(_sqls(tool)) for tool in spec.tools.values()}
    by_syncs = _filled(sql for sync in spec.syncs.values() for sql in _sqls(sync))
    keys: dict[tuple[str, str], set[object]] = {}
    for task in spec.tasks.values():
        if not spec.worlds[task.world].known:
            continue
        facts = {fact.name: fact for fact in task.facts}
        made = by_syncs | _filled(task.change)
        calls = [(node, node.span) for plan in task.plans for node in plan.nodes if isinstance(node, m.CallNode)]
        by_plans = made.union(*(made_by[node.tool] for node, _ in calls))
        yield from _missing(spec, task, calls, facts, by_plans, keys)
        by_any = made.union(*made_by.values())
        yield from _missing(spec, task, [(one, one.span) for one in task.never], facts, by_any, keys)


def _missing(
    spec: m.Spec,
    task: m.Task,
    calls: Iterable[tuple[m.CallNode | m.Never, Span]],
    facts: Mapping[str, m.Fact],
    made: set[str],
    keys: dict[tuple[str, str], set[object]],
) -> Iterator[Finding]:
    """The arguments, and facts that they read, that name no row.

    `keys` are those of a table in a world, collected when they are asked for.
    """
    for call, span in calls:
        for parameter in spec.tools[call.tool].parameters:
            table = spec.tables[parameter.references] if parameter.references is not None else None
            given = call.arguments.get(parameter.name)
            if table is None or table.parent is not None or table.name in made or given is None:
                continue
            fact = facts.get(given.tree.name) if isinstance(given, Sql) and isinstance(given.tree, Value) else None
            known = given if fact is None else fact.value
            if not isinstance(known, m.Constant) or known.value is None:
                continue
            place = (task.world, table.name)
            if place not in keys:
                keys[place] = {row[table.key[0].name] for row in spec.worlds[task.world].rows.get(table.name, ())}
            if known.value not in keys[place]:
                message = f"`{table.name}` of the world `{task.world}` has no row {known.text}"
                shown = word(span if fact is None else fact.span, known.text)
                yield Finding(message, shown, help=did_you_mean(str(known.value), map(str, keys[place])))


def _sqls(routine: m.Routine) -> Iterator[Sql]:
    return (sql for statement in walk.statements(routine.body) for sql in walk.sqls_of(statement))


def _filled(sqls: Iterable[Sql]) -> set[str]:
    """The tables that get rows."""
    return {sql.change.table for sql in sqls if isinstance(sql.change, Insert)}
