"""Compared columns that take rounding errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from forgec.checks.subject import Finding, Subject
from forgec.model import spec as m
from forgec.model import walk
from forgec.sql.infer import infer
from forgec.sql.query import Change, Insert, Update
from forgec.sql.tree import Value, exp
from forgec_runtime.types import Decimal, Double, Integer

_ROUNDED = (exp.Round, exp.Floor, exp.Ceil)
_INEXACT = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Sum, exp.Avg)


def floating_columns(subject: Subject) -> Iterator[Finding]:
    """A column of type `double` is compared between states, and a tool computes its value without rounding it.

    0.1 + 0.2 is not 0.3: who does the same in another order leaves another value behind, and loses the reward. A
    decimal is exact; a rounded double is the same for all; an `unscored` column is not compared.

    Bad:

        table scales "Where parcels are weighed" { scale_id text key, total double default 0 }

        tool weigh(scale_id -> scales, grams double "Of the parcel") "Add a parcel." {
          update scales set total = total + $grams where scale_id = $scale_id;
        }

    Bad:

        table scales "Where parcels are weighed" { scale_id text key, last double default 0, total double default 0 }

        tool add_up(scale_id -> scales) "Write down what all scales have weighed." {
          let all = select sum(last) as grams from scales;
          update scales set total = coalesce($all.grams, 0) where scale_id = $scale_id;
        }

    Good:

        table scales "Where parcels are weighed" { scale_id text key, total decimal(9, 1) default 0 }

        tool weigh(scale_id -> scales, grams decimal(6, 1) "Of the parcel") "Add a parcel." {
          update scales set total = total + $grams where scale_id = $scale_id;
        }

    Good:

        table scales "Where parcels are weighed" { scale_id text key, last double default 0, total double default 0 }

        tool add_up(scale_id -> scales) "Write down what all scales have weighed." {
          update scales set total = (select round(sum(last), 3) from scales) where scale_id = $scale_id;
        }
    """
    for routine in subject.routines:
        named: dict[str, exp.Expr] = {}  # what is computed under a name, by the last that stands above
        for statement in walk.own(routine.body):
            for sql in walk.sqls_of(statement):
                for name, tree in _written(sql.change):
                    table = subject.spec.tables[sql.change.table] if sql.change is not None else None
                    column = table.column(name) if table is not None else None
                    if column is not None and _is_compared(column) and _is_inexact(tree, named):
                        message = f"`{name}` is a double that is compared, and what is written to it is not rounded"
                        yield Finding(message, sql.span, help="make it a decimal, round it, or mark it `unscored`")
            if isinstance(statement, m.Let | m.Set) and statement.sql.tree is not None:
                named[statement.name] = statement.sql.tree


def _written(change: Change | None) -> Iterable[tuple[str, exp.Expr]]:
    """The columns that a change sets, each with every expression that it takes."""
    if isinstance(change, Update):
        return change.assignments
    if not isinstance(change, Insert):
        return ()
    rows = [*change.rows, *([[item.this for item in change.query.selects]] if change.query is not None else [])]
    return [(name, tree) for row in rows for name, tree in zip(change.columns, row, strict=True)]


def _is_compared(column: m.Column) -> bool:
    return isinstance(column.type, Double) and column.scored


def _is_inexact(tree: exp.Expr, named: Mapping[str, exp.Expr]) -> bool:
    """Whether a value is computed, and not rounded after that; `named` are those that it may be made of."""
    if isinstance(tree, _ROUNDED) or (isinstance(tree, exp.Anonymous) and tree.name.lower() == "round_even"):
        return False
    if isinstance(tree, _INEXACT):
        of = tree.this if isinstance(tree, exp.Sum) else tree
        return not isinstance(infer(of), Integer | Decimal)
    if isinstance(tree, exp.Select):  # its conditions choose rows, and compute nothing
        return any(_is_inexact(item, named) for item in tree.expressions)
    if isinstance(tree, Value):
        name, _, column = tree.name.partition(".")
        others = {other: one for other, one in named.items() if other != name}
        return name in named and any(_is_inexact(part, others) for part in _column(named[name], column))
    return any(_is_inexact(part, named) for part in tree.iter_expressions())


def _column(tree: exp.Expr, name: str) -> list[exp.Expr]:
    """The part of a query that is the column `name`; all of it without one."""
    items = tree.expressions if isinstance(tree, exp.Select) and name else []
    return [item for item in items if item.alias_or_name == name] or [tree]
