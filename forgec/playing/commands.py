"""The commands that begin with a dot."""

from __future__ import annotations

from collections.abc import Mapping

from forgec.playing import calling, describe, looking, moving, tasking
from forgec.playing.answers import Answer, Command, chosen
from forgec.playing.session import Session
from forgec.playing.show import Line, pairs_lines


def _help(session: Session, rest: str) -> Answer:
    if rest:
        name = chosen(rest.removeprefix("."), COMMANDS, "command")
        command = COMMANDS[name]
        return Answer([Line(f".{name} {command.arguments}".rstrip(), "strong"), Line(f"  {command.doc}")], command.doc)
    lines = [Line("A line is a call of a tool, or a dot and a command.", "strong"), Line("")]
    tool = next((tool for tool in session.environment.tools.values() if tool.parameters), None)
    if tool is not None:
        names = [one.name for one in tool.parameters]
        lines.append(Line("  " + " ".join([tool.name, *(f"{name}=..." for name in names)])))
        lines.append(Line(f"  {tool.name}({', '.join(f'{name}: ...' for name in names)})"))
        lines += [Line("  Values are JSON or bare words; quotes hold texts with spaces: 'two words'"), Line("")]
    lines += pairs_lines((f".{name} {one.arguments}".rstrip(), one.doc) for name, one in COMMANDS.items())
    return Answer(lines, {name: one.doc for name, one in COMMANDS.items()})


def _quit(session: Session, rest: str) -> Answer:
    return Answer(leave=True)


def _tool_choices(session: Session) -> Mapping[str, str]:
    return {name: tool.doc for name, tool in looking.every_tool(session.environment).items()}


def _table_choices(session: Session) -> Mapping[str, str]:
    return {table.title: describe.table_text(table) for table in session.environment.tables}


COMMANDS: dict[str, Command] = {
    "help": Command(
        "[COMMAND]", "Say how to play.", _help, lambda session: {name: one.doc for name, one in COMMANDS.items()}
    ),
    "tools": Command("", "List the tools with their signatures.", looking.tools),
    "tool": Command("NAME", "Describe a tool and its parameters.", looking.tool, _tool_choices),
    "tables": Command("", "List the tables with their columns.", looking.tables),
    "table": Command(
        "NAME [WORD...]", "Show rows as they are now; words filter, as in `status=lent`.", looking.table, _table_choices
    ),
    "state": Command("", "Show what has changed since the start.", looking.state),
    "undo": Command("[N]", "Take back the last call that changed something, or the last N.", moving.undo),
    "redo": Command("[N]", "Bring back what was undone.", moving.redo),
    "history": Command("", "Print the lines that led here; `forgec play --script` replays them.", looking.history),
    "reset": Command("", "Start again in this world, or with this task.", moving.reset),
    "world": Command(
        "[NAME]", "Start in a world, or list them.", moving.world,
        lambda session: dict.fromkeys(session.environment.worlds, ""),
    ),
    "task": Command(
        "[NAME]", "Start a task in its world, or list them.", moving.task,
        lambda session: {task.name: task.doc for task in session.environment.tasks.values()},
    ),
    "facts": Command("", "Show what the user of the task knows.", tasking.facts),
    "policy": Command("", "Show the policy that the agent is given.", looking.policy),
    "gold": Command(
        "[all]", "Play the next step of the task's gold plan, or all that are left.", tasking.gold,
        lambda session: {"all": "all steps that are left"},
    ),
    "user": Command("CALL", "Call a tool of the user, as the user would.", calling.user),
    "say": Command("TEXT", "Tell the user something, as the agent would.", tasking.say),
    "reward": Command("", "Show the reward of the task as things stand, with reasons.", tasking.reward),
    "quit": Command("", "Leave.", _quit),
}  # fmt: skip
"""The commands by name, without their dots, in the order of the help."""
