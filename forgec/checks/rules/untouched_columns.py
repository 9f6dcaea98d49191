"""Tables and columns that nothing has to do with."""

from __future__ import annotations

from collections.abc import Iterator

from forgec.checks.subject import Finding, Subject, word
from forgec.model.uses import trees
from forgec.sql.query import Insert, Update
from forgec.sql.tree import Lookup, Value, exp


def untouched_columns(subject: Subject) -> Iterator[Finding]:
    """A table or column that nothing reads, writes or shows: it is filled by worlds alone.

    No agent learns of it and no task can be about it. Most often a tool was to show it, or to set it. Looked for in
    specs that have tests and tasks: the others are not finished.

    Bad:

        table shelves "Where books stand" { shelf_id text key, floor integer }

    Good:

        table shelves "Where books stand" { shelf_id text key, floor integer }

        tool shelves_on(floor integer "From 0 to 3") returns shelves[] "The shelves of a floor." {
          return select * from shelves s where s.floor = $floor order by shelf_id;
        }
    """
    spec = subject.spec
    tables, names = _touched_tables(subject), _names(subject)
    for table in spec.tables.values() if subject.is_finished else ():
        if table.name not in tables:
            yield Finding(f"nothing reads or writes the table `{table.title}`", table.span)
            continue
        for column in table.own:
            tied = any(column.name in tie.columns for tie in table.ties)
            if not (column.key or tied or table.name in subject.shown or column.name in names):
                message = f"nothing reads or writes the column `{column.name}`"
                yield Finding(message, word(column.span, column.name))


def _touched_tables(subject: Subject) -> set[str]:
    """The tables that SQL looks at or changes, that results show, and that others belong to."""
    spec, found = subject.spec, set(subject.shown)
    for sql in subject.sqls:
        found |= sql.reads
        if sql.change is not None:
            found.add(sql.change.table)
    found |= {p.references for routine in subject.routines for p in routine.parameters if p.references is not None}
    for table in spec.tables.values():
        found |= {column.references for column in table.columns if column.references is not None}
        found |= {tie.table for tie in table.ties}
    for table in reversed(spec.tables.values()):
        if table.parent is not None and table.name in found:
            found.add(table.parent)
    return found


def _names(subject: Subject) -> set[str]:
    """The names of all columns that SQL reads or sets, whatever their tables."""
    own = {id(column.check) for table in subject.spec.tables.values() for column in table.columns if column.check}
    found: set[str] = set()
    for sql in subject.sqls:
        if isinstance(sql.change, Insert):
            found |= set(sql.change.columns)
        elif isinstance(sql.change, Update):
            found |= {name for name, _ in sql.change.assignments}
        for tree in trees(sql):
            for node in tree.find_all(exp.Column, Lookup, Value):
                if isinstance(node, Lookup):
                    found.add(str(node.args.get("field")))
                elif isinstance(node, Value):
                    found |= set(node.name.split(".")[1:]) if id(sql) not in own else set()
                else:
                    found.add(node.name)
    for table in subject.spec.tables.values():  # a check of one column may be about another
        for column in table.columns:
            for node in column.check.expression.find_all(Value) if column.check is not None else ():
                found |= set(node.name.split(".")[1:]) - {column.name}
    return found
