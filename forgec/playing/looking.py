"""Commands that look: at tools, tables, the state, the way here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forgec.diagnostics import counted
from forgec.diagnostics.cells import clean
from forgec.playing import describe
from forgec.playing.answers import Answer, chosen
from forgec.playing.changes import changes, rows_of
from forgec.playing.line import words
from forgec.playing.session import Session
from forgec.playing.show import Line, change_lines, pairs_lines, table_lines, text_lines, value_text
from forgec_runtime import Environment, Tool

MAX_ROWS = 100
"""How many rows of a table are shown."""


def tools(session: Session, rest: str) -> Answer:
    """The tools with their signatures."""
    own, user = list(session.environment.tools.values()), list(session.environment.user_tools.values())
    lines = [Line(describe.signature(tool)) for tool in own]
    lines += [Line(f".user {describe.signature(tool)}") for tool in user]
    return Answer(lines, describe.tools_data([*own, *user]))


def tool(session: Session, rest: str) -> Answer:
    """All about one tool."""
    tool = session.environment.tool(chosen(rest, every_tool(session.environment), "tool"))
    return Answer(describe.tool_lines(tool), tool.schema)


def every_tool(environment: Environment) -> dict[str, Tool]:
    """The tools of both sides."""
    return {**environment.tools, **environment.user_tools}


def tables(session: Session, rest: str) -> Answer:
    """The tables with their columns, and how many rows they have now."""
    counts = {table.title: len(rows_of(session.episode, table.name)) for table in session.environment.tables}
    pairs = [
        (one.title, counted(counts[one.title], "row"), describe.table_text(one)) for one in session.environment.tables
    ]
    return Answer(pairs_lines(pairs, ""), counts)


def table(session: Session, rest: str) -> Answer:
    """The rows of a table that have all of the words."""
    tables = {table.title: table for table in session.environment.tables}
    name, *wanted = words(rest) or [""]
    table = tables[chosen(name, tables, "table")]
    all_rows = rows_of(session.episode, table.name)
    rows = {key: row for key, row in all_rows.items() if all(_matches(row, word) for word in wanted)}
    if len(rows) == 1:
        pairs = [(column, value_text(value)) for column, value in next(iter(rows.values())).items()]
        lines = pairs_lines(pairs, "")
    else:
        cells = [[value_text(value) for value in row.values()] for row in list(rows.values())[:MAX_ROWS]]
        lines = table_lines(table.names, cells, session.width)
    of = f" of {len(all_rows):,}" if wanted else ""
    cut = f", the first {MAX_ROWS} are shown" if len(rows) > MAX_ROWS else ""
    lines.append(Line(f"{counted(len(rows), 'row')}{of}{cut}", "quiet"))
    return Answer(lines, list(rows.values()))


def _matches(row: Mapping[str, Any], word: str) -> bool:
    """Whether a row has a word in any column, or in the one that it names: `status=lent`."""
    column, sign, wanted = word.partition("=")
    if sign and column in row:
        return value_text(row[column]).casefold() == clean(wanted).casefold()
    return any(clean(word).casefold() in value_text(value).casefold() for value in row.values())


def state(session: Session, rest: str) -> Answer:
    """What is otherwise than at the start."""
    found = changes(session.fresh(), session.episode)
    broken, said = session.episode.broken_rules, session.episode.messages
    lines = [*change_lines(found, broken), *(Line(f"said: {clean(message)}") for message in said)]
    return Answer(lines or [Line("nothing has changed since the start", "quiet")], {"said": list(said)}, found, broken)


def history(session: Session, rest: str) -> Answer:
    """The lines that led here, as a script that leads here again."""
    lines: list[Line] = []
    for moment in session.history:
        lines.append(Line(clean(moment.line)))
        lines += [Line(f"-- {clean(moment.error)}", "quiet")] if moment.error else []
    return Answer(lines, [{"line": one.line, "error": one.error or None} for one in session.history])


def policy(session: Session, rest: str) -> Answer:
    """The policy."""
    policy = session.environment.policy
    return Answer(text_lines(policy, "  ") if policy else [Line("there is no policy", "quiet")], policy)
