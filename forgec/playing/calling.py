"""Calls of either side: a bare line is the agent's, `.user` makes it the user's."""

from __future__ import annotations

from forgec.playing.answers import Answer, call_answer
from forgec.playing.line import Mistake, first_word, hint, read_call
from forgec.playing.session import Session


def agent(session: Session, line: str) -> Answer:
    """Call a tool as the agent would. Raises `Mistake`."""
    name = first_word(line)
    if name in session.environment.user_tools:
        raise Mistake(f"`{name}` is a tool of the user: write `.user {name}`")
    request = read_call(line, session.environment.tools)
    return call_answer(session, session.call(line, request.tool.name, request.arguments))


def user(session: Session, rest: str) -> Answer:
    """Call a tool as the user would. Raises `Mistake`."""
    tools = session.environment.user_tools
    if not tools:
        raise Mistake("the user has no tools here")
    name = first_word(rest)
    if name not in tools:
        raise Mistake(f"the user has no tool `{name}`" + hint(name, tools, "`.tools` lists them"))
    request = read_call(rest, tools)
    return call_answer(session, session.call(f".user {rest}", request.tool.name, request.arguments, by="user"))
