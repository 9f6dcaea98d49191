"""Keys that an agent cannot come by."""

from __future__ import annotations

from collections.abc import Iterator

from forgec.checks.subject import Finding, Subject
from forgec.model import spec as m
from forgec.sql.scope import Cell


def unknowable_keys(subject: Subject) -> Iterator[Finding]:
    """A parameter of a tool refers to rows whose keys the engine makes, and no tool ever tells one.

    An agent can only guess them, unless a fact of a task has one. A result that names the key, or is the row, lets it
    find out.

    Bad:

        table notes "What the desk should know" { note_id text key serial 'N{000}', words text }

        tool note(words text "What to keep") "Keep a note." { insert into notes (words) values ($words); }

        tool drop_note(note_id -> notes) "Throw a note away." { delete from notes where note_id = $note_id; }

    Good:

        table notes "What the desk should know" { note_id text key serial 'N{000}', words text }

        tool note(words text "What to keep") returns notes "Keep a note." {
          let note = insert into notes (words) values ($words) returning *;
          return $note;
        }

        tool drop_note(note_id -> notes) "Throw a note away." { delete from notes where note_id = $note_id; }
    """
    spec = subject.spec
    told = {table for tool in spec.tools.values() for table in _told(tool)} | {*subject.shown}
    for tool in spec.tools.values():
        for parameter in tool.parameters:
            table = spec.tables[parameter.references] if parameter.references is not None else None
            if table is None or table.name in told or not any(column.made for column in table.key):
                continue
            if not any(_is_known(task, table, spec) for task in spec.tasks.values()):
                message = f"no tool tells the keys of `{table.title}`, and no task has one as a fact"
                yield Finding(message, parameter.span)


def _told(tool: m.Tool) -> Iterator[str]:
    """The tables whose keys a result has."""
    for kind in (tool.returns.kinds or (tool.returns,)) if tool.returns is not None else ():
        cells = [kind.shape] if isinstance(kind.shape, Cell) else kind.shape.columns.values()
        yield from (cell.references for cell in cells if cell.references is not None)


def _is_known(task: m.Task, table: m.Table, spec: m.Spec) -> bool:
    """Whether a fact of a task is the key of a row of its world."""
    keys = {row[table.key[0].name] for row in spec.worlds[task.world].rows.get(table.name, ())}
    return any(isinstance(fact.value, m.Constant) and fact.value.value in keys for fact in task.facts)
