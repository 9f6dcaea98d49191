"""What a person types: a call of a tool, or a dot and a command.

Arguments are written `name=value` or `name: value`, with or without parentheses and commas around them, or as one
JSON object. A value is JSON, a text in single quotes as SQL writes it, or a bare word, whose meaning follows from the
type of its parameter: `zip=04101` is a text, `amount=5` a number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from forgec.diagnostics import did_you_mean
from forgec_runtime import Tool
from forgec_runtime import types as t
from forgec_runtime.results import from_json, to_json

MAX_DEPTH = 50
"""How deep lists and records may be nested in a value."""

_FIRST = re.compile(r"[^\s({=]+")
_NAME = re.compile(r"[A-Za-z_]\w*")
_LONE_WORD = re.compile(r"\S+")
_INNER_WORD = re.compile(r"""[^\s,()\[\]{}"':]+""")
_SAFE_WORD = re.compile(r"[\w@.+/%-]+")
_FILTER = re.compile(r"""(?P<column>\w+=)?(?P<quoted>'(?:[^']|'')*'|"[^"]*")(?=\s|$)|\S+""")
_TEXTS = (t.Text, t.Enum, t.Date, t.Timestamp)


class Mistake(Exception):
    """A line that cannot be understood, or that makes no sense now; the text says why, and a way out."""


@dataclass(frozen=True)
class Request:
    """A call as it was typed; `arguments` are what an agent would send."""

    tool: Tool
    arguments: dict[str, Any]


class Word(str):
    """A bare word: its meaning depends on the type that is wanted."""


def read_call(text: str, tools: Mapping[str, Tool]) -> Request:
    """The call that a line makes. Raises `Mistake` for unknown tools and arguments, and for what cannot be read."""
    name = first_word(text)
    if name not in tools:
        raise Mistake(f"there is no tool `{name}`" + hint(name, tools, "`.tools` lists them"))
    tool = tools[name]
    scan = Scan(text, len(text) - len(text.lstrip()) + len(name))
    scan.arguments()
    types = {parameter.name: parameter.type for parameter in tool.parameters}
    for given in scan.given:
        if given not in types:
            takes = f"it takes {', '.join(types)}" if types else "it takes none"
            raise Mistake(f"`{name}` has no argument `{given}`" + hint(given, types, takes))
    return Request(tool, {given: settled(value, types[given]) for given, value in scan.given.items()})


def first_word(text: str) -> str:
    """The name that a line begins with."""
    found = _FIRST.match(text.lstrip())
    return found[0] if found else text.strip()[:1]


def hint(name: str, names: Mapping[str, object], otherwise: str) -> str:
    """What to say after an unknown name: the closest of `names`, or where to find them."""
    return f"; {did_you_mean(name, names) or otherwise}"


def words(text: str) -> list[str]:
    """The words of a text; `'two words'` and `title='two words'` are one each, without the quotes."""
    return [
        found[0] if found["quoted"] is None else (found["column"] or "") + found["quoted"][1:-1].replace("''", "'")
        for found in _FILTER.finditer(text)
    ]


def settled(value: Any, type_: t.Type | None) -> Any:
    """A scanned value with the bare words in it read as `type_` wants them."""
    if isinstance(value, Word):
        if value == "null":
            return None
        if isinstance(type_, _TEXTS):
            return str(value)
        try:
            return from_json(str(value))
        except ValueError:
            return str(value)
    if isinstance(value, dict):
        record = type_ if isinstance(type_, t.Record) else None
        fields = {name: record.field(name) if record else None for name in value}
        of = type_.of if isinstance(type_, t.Map) else None
        return {name: settled(part, field.type if (field := fields[name]) else of) for name, part in value.items()}
    if isinstance(value, list):
        of = type_.of if isinstance(type_, t.List) else None
        return [settled(part, of) for part in value]
    return value


def written(value: Any) -> str:
    """A value as it can be typed: JSON, and texts with as few quotes as they need."""
    if not isinstance(value, str):
        return to_json(value)
    if _SAFE_WORD.fullmatch(value) and value != "null":
        return value
    return "'" + value.replace("'", "''") + "'" if value.isprintable() else json.dumps(value)


def written_call(tool: str, arguments: Mapping[str, Any]) -> str:
    """A call as it can be typed."""
    return " ".join([tool, *(f"{name}={written(value)}" for name, value in arguments.items())])


class Scan:
    """Reads the arguments of a call, and remembers where it is: completion asks that of lines that break off.

    `given` are the arguments read so far; `open` is the token under way when the text ends: the parameter that it is a
    value of, or None for a name, and where it starts.
    """

    def __init__(self, text: str, position: int) -> None:
        self.text, self.position = text, position
        self.given: dict[str, Any] = {}
        self.open: tuple[str | None, int] | None = None
        self.enclosed = False

    def arguments(self) -> None:
        """Read all arguments. Raises `Mistake`."""
        self.more()
        if self._peek() == "{":
            self._whole_object()
        elif self._takes("("):
            self.enclosed = True
            self._list()
        else:
            while self._begins():
                self._argument(_LONE_WORD)
        if self.more() and not (self._takes(";") and not self.more()):
            raise Mistake(f"`{self._rest()}` stands after the end of the call")

    def more(self) -> bool:
        """Skip white space; whether anything follows."""
        while self._peek().isspace():
            self.position += 1
        return self.position < len(self.text)

    def value(self, word: re.Pattern[str], depth: int = 0) -> Any:
        """The value that starts here. Raises `Mistake`."""
        char = self._peek()
        if depth > MAX_DEPTH:
            raise Mistake(f"values are nested at most {MAX_DEPTH} deep")
        if char == "'":
            return self._quoted()
        if char == '"':
            return self._json_text()
        if char in ("[", "{"):
            self.position += 1
            return self._elements(depth) if char == "[" else self._fields(depth)
        found = word.match(self.text, self.position)
        if found is None:
            raise Mistake(f"a value is missing before `{self._rest()}`" if self._rest() else "a value is missing")
        self.position = found.end()
        if found[0].lower() in ("date", "timestamp") and self.more() and self._peek() == "'":
            return self._quoted()  # as SQL writes a constant of these types
        self.position = found.end()
        return Word(found[0])

    # -- arguments ---------------------------------------------------------------------------------------------

    def _list(self) -> None:
        """What stands between parentheses."""
        while self._begins():
            if self._takes(")"):
                return
            self._argument(_INNER_WORD)
            self.more()
            if not self._takes(",") and self._peek() not in ("", ")"):
                raise Mistake(f"expected `,` or `)` {self._where()}; quote a text that has spaces or commas")
        raise Mistake("the call lacks its `)`")

    def _begins(self) -> bool:
        """Skip to the next argument; whether there is one."""
        if self.more():
            return True
        last = self.text[self.position - 1]
        if last in "(," or last.isspace():
            self.open = (None, self.position)
        return False

    def _argument(self, word: re.Pattern[str]) -> None:
        start = self.position
        self.open = (None, start)
        found = _NAME.match(self.text, start)
        sign = self._sign(found.end()) if found else ""
        if found is None or not sign:
            raise Mistake(f"`{self._token()}` is no argument; write name=value, and quote texts that have spaces")
        if found[0] in self.given:
            raise Mistake(f"`{found[0]}` is given twice")
        if sign == ":" or self.enclosed:
            self.more()
        self.open = (found[0], self.position)
        if self.position == len(self.text) or self._peek().isspace():
            raise Mistake(f"`{found[0]}` lacks its value; an empty text is ''")
        self.given[found[0]] = self.value(word)
        if self.position < len(self.text):
            self.open = None
            if word is _LONE_WORD and not self._peek().isspace():
                raise Mistake(f"a space is missing {self._where()}")

    def _sign(self, position: int) -> str:
        """The sign between name and value, skipped; empty if there is none."""
        spaced = len(self.text[position:]) - len(self.text[position:].lstrip()) if self.enclosed else 0
        sign = self.text[position + spaced : position + spaced + 1]
        if sign not in ("=", ":"):
            return ""
        self.position = position + spaced + 1
        return sign

    def _whole_object(self) -> None:
        self.position += 1
        self.given = self._fields(0)

    # -- values ------------------------------------------------------------------------------------------------

    def _quoted(self) -> str:
        end = self.position + 1
        while (end := self.text.find("'", end)) >= 0 and self.text.startswith("''", end):
            end += 2
        if end < 0:
            raise Mistake(f"the quote is not closed: `{self._rest()}`")
        text = self.text[self.position + 1 : end].replace("''", "'")
        self.position = end + 1
        return text

    def _json_text(self) -> str:
        try:
            text, self.position = json.JSONDecoder().raw_decode(self.text, self.position)
        except ValueError as error:
            raise Mistake(f"the text in double quotes is not valid JSON: `{self._rest()}`") from error
        assert isinstance(text, str)
        return text

    def _elements(self, depth: int) -> list[Any]:
        found: list[Any] = []
        while self._inside("]", "list"):
            found.append(self.value(_INNER_WORD, depth + 1))
            self._ends("]", "list")
        return found

    def _fields(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self._inside("}", "record"):
            name = self.value(_INNER_WORD, depth + 1)
            self.more()
            if not isinstance(name, str) or not self._takes(":"):
                raise Mistake(f"expected `name: value` in the record {self._where()}")
            self.more()
            found[str(name)] = self.value(_INNER_WORD, depth + 1)
            self._ends("}", "record")
        return found

    def _inside(self, close: str, what: str) -> bool:
        """Whether another part follows; the closing bracket is skipped."""
        if not self.more():
            raise Mistake(f"the {what} lacks its `{close}`")
        return not self._takes(close)

    def _ends(self, close: str, what: str) -> None:
        """Skip the comma after a part."""
        if self.more() and not self._takes(",") and self._peek() != close:
            raise Mistake(f"expected `,` or `{close}` in the {what} {self._where()}")

    # -- characters --------------------------------------------------------------------------------------------

    def _peek(self) -> str:
        return self.text[self.position : self.position + 1]

    def _takes(self, char: str) -> bool:
        taken = self._peek() == char
        self.position += taken
        return taken

    def _token(self) -> str:
        found = _LONE_WORD.match(self.text, self.position)
        return found[0][:40] if found else ""

    def _rest(self) -> str:
        return self.text[self.position :].strip()[:40]

    def _where(self) -> str:
        return f"before `{self._rest()}`" if self._rest() else "at the end"
