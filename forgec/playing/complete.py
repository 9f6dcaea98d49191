"""What may be typed next: commands, tools, parameters, and values that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from forgec.diagnostics.cells import clean
from forgec.playing.changes import rows_of
from forgec.playing.commands import COMMANDS
from forgec.playing.describe import type_text
from forgec.playing.line import Mistake, Scan, first_word, written
from forgec.playing.session import Session
from forgec.playing.show import cut, value_text
from forgec_runtime import Episode, Parameter, Table, Tool
from forgec_runtime import types as t
from forgec_runtime.results import json_able
from forgec_runtime.tool import REQUIRED

MAX_SUGGESTIONS = 200
"""How many values of a parameter are offered at a time."""
META = 70
"""The columns that the remark beside a suggestion may take."""

_USER = re.compile(r"\.user\s+")
_NUMBERS = (t.Integer, t.Decimal, t.Double)


class Suggestion(NamedTuple):
    """What may stand in place of the text from `start` to the cursor, and a remark to stand beside it."""

    text: str
    start: int
    remark: str = ""


class _Value(NamedTuple):
    value: Any
    remark: str


class Suggestions:
    """Suggests how to go on; remembers the values of the episode it last looked at."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._episode: Episode | None = None
        self._values: dict[str, list[_Value]] = {}

    def after(self, text: str) -> list[Suggestion]:
        """All suggestions for a line that goes on after `text`, the likeliest first."""
        begin = len(text) - len(text.lstrip())
        line = text[begin:]
        if spoken := _USER.match(line):
            return list(self._call(text, begin + spoken.end(), self.session.environment.user_tools))
        if line.startswith("."):
            return list(self._command(line, begin))
        return list(self._call(text, begin, self.session.environment.tools))

    def _call(self, text: str, begin: int, tools: Mapping[str, Tool]) -> list[Suggestion]:
        line = text[begin:]
        name = first_word(line)
        if len(name) == len(line):
            return [
                Suggestion(one.name + " " * bool(one.parameters), begin, _remark(one.doc))
                for one in tools.values()
                if _begins(one.name, line)
            ]
        return list(self._arguments(tools[name], text, begin)) if name in tools else []

    def _command(self, line: str, begin: int) -> Iterator[Suggestion]:
        name, space, rest = line[1:].partition(" ")
        if not space:
            for known, command in COMMANDS.items():
                if _begins(known, name):
                    yield Suggestion(f".{known}" + " " * bool(command.arguments), begin, command.doc)
        elif name in COMMANDS and " " not in rest.lstrip():
            start = begin + len(line) - len(rest.lstrip())
            for choice, doc in COMMANDS[name].choices(self.session).items():
                if _begins(choice, rest.strip()):
                    yield Suggestion(choice, start, _remark(doc))

    def _arguments(self, tool: Tool, text: str, begin: int) -> Iterator[Suggestion]:
        scan = Scan(text, begin + len(tool.name))
        with suppress(Mistake):  # a line that is not finished is one
            scan.arguments()
        if scan.open is None:
            return
        name, start = scan.open
        if name is None:
            sign = ": " if scan.enclosed else "="
            for one in tool.parameters:
                if one.name not in scan.given and _begins(one.name, text[start:]):
                    yield Suggestion(one.name + sign, start, _remark(f"{type_text(one)} {one.doc}".strip()))
            return
        parameter = next((one for one in tool.parameters if one.name == name), None)
        if parameter is not None:
            yield from self._matching(self._known(parameter), text[start:], start)

    def _matching(self, values: list[_Value], typed: str, start: int) -> Iterator[Suggestion]:
        """Values that begin with what was typed; if none does, those that have it inside them or their remark."""
        plain = typed.lstrip("'\"").replace("''", "'").casefold()
        fitting = [one for one in values if _plain(one.value).startswith(plain)]
        if not fitting:
            fitting = [one for one in values if plain in f"{_plain(one.value)} {one.remark.casefold()}"]
        found: dict[str, Suggestion] = {}
        for one in fitting:
            text = written(one.value)
            if text != typed:
                found.setdefault(text, Suggestion(text, start, _remark(one.remark)))
            if len(found) == MAX_SUGGESTIONS:
                break
        yield from found.values()

    # -- values ------------------------------------------------------------------------------------------------

    def _known(self, parameter: Parameter) -> list[_Value]:
        """Values of the parameter that make sense now; kept until the state is another one."""
        if self._episode is not self.session.episode:
            self._episode, self._values = self.session.episode, {}
        known = f"{parameter.name} {type_text(parameter)}"
        if known not in self._values:
            self._values[known] = [one for one in self._candidates(parameter) if _fits(parameter, one.value)]
        return self._values[known]

    def _candidates(self, parameter: Parameter) -> Iterator[_Value]:
        """The fact of the parameter's name, values that exist, then the other facts."""
        named, others = self._facts(parameter.name)
        values = list(self._existing(parameter))
        if parameter.references:
            keys = {one.value for one in values}
            named, others = ([one for one in facts if one.value in keys] for facts in (named, others))
        yield from (*named, *values, *others)
        if parameter.optional:
            yield _Value(None, "nothing")

    def _existing(self, parameter: Parameter) -> Iterator[_Value]:
        default = parameter.default
        if isinstance(parameter.type, t.Enum):
            yield from (_Value(one, "default" if one == default else "") for one in parameter.type.values)
        elif isinstance(parameter.type, t.Boolean):
            yield from (_Value(one, "default" if one is default else "") for one in (True, False))
        elif parameter.references:
            yield from self._keys(parameter.references)
        else:
            if default is not REQUIRED and default is not None:
                yield _Value(json_able(default), "default")
            yield from self._cells(parameter.name)

    def _facts(self, name: str) -> tuple[list[_Value], list[_Value]]:
        """What the user knows: the fact of this name, and all others."""
        facts = self.session.episode.briefing.facts
        values = [(fact.name == name, _Value(json_able(fact.value), f"{fact.name}: {fact.doc}")) for fact in facts]
        return [one for same, one in values if same], [one for same, one in values if not same]

    def _keys(self, table: str) -> Iterator[_Value]:
        for key, row in rows_of(self.session.episode, table).items():
            others = list(row.values())[1:] if next(iter(row.values())) == key else row.values()
            yield _Value(json_able(key), ", ".join(map(value_text, others)))

    def _cells(self, column: str) -> Iterator[_Value]:
        """The values of columns that are named like the parameter."""
        for table in self.session.environment.tables:
            if column in table.names:
                for row in rows_of(self.session.episode, table.name).values():
                    yield _Value(json_able(row[column]), _owner(table, row))


def _owner(table: Table[Any], row: Mapping[str, Any]) -> str:
    return f"{table.title} {value_text(row[table.key[0]])}" if table.key else table.title


def _fits(parameter: Parameter, value: Any) -> bool:
    if value is None:
        return parameter.optional
    if isinstance(value, str) and isinstance(parameter.type, _NUMBERS):
        return False
    try:
        parameter.type.decode(value)
    except t.Mismatch:
        return False
    return True


def _plain(value: Any) -> str:
    """A value without quotes and case."""
    return (value if isinstance(value, str) else written(value)).casefold()


def _begins(name: str, typed: str) -> bool:
    return name.startswith(typed.casefold()) and name != typed


def _remark(text: str) -> str:
    return cut(clean(re.sub(r"\s+", " ", text)), META)
