"""The parser of the grammar: built once, then read from the cache folder.

To build it takes longer than to check a small spec. What is kept is plain JSON under a hash of everything that it
follows from, and of itself; a file that is missing, damaged or not ours only costs time.
"""

from __future__ import annotations

import hashlib
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import lark
from lark import Lark
from lark.grammar import Rule
from lark.lexer import TerminalDef

from forgec.cache import cache_folder
from forgec.resources import resource
from forgec.syntax import terminals
from forgec.writing import write_whole

MAX_FILES = 8
"""Tables in the folder; beyond it the oldest go."""


def parser(**options: Any) -> Lark:
    """A parser of whole files: `options` are Lark's, of how its trees are built."""
    grammar = resource("grammar", "afs.lark").read_text(encoding="utf-8")
    place = cache_folder() / "grammar" / f"{_key(grammar, options)}.table"
    found = _kept(place)
    if found is None:
        found = _build(grammar, options)
        _keep(found, place)
    return found


def _build(grammar: str, options: dict[str, Any]) -> Lark:
    return Lark(
        grammar, parser="lalr", lexer="contextual", start="file", edit_terminals=terminals.whole_word, **options
    )


def _key(grammar: str, options: dict[str, Any]) -> str:
    code = b"".join(Path(file).read_bytes() for file in (__file__, terminals.__file__))
    of = [grammar, sorted(options.items()), lark.__version__, sys.version, hashlib.sha256(code).hexdigest()]
    return hashlib.sha256(json.dumps(of).encode("utf-8")).hexdigest()


def _kept(place: Path) -> Lark | None:
    """The parser that a file holds, if it holds one."""
    try:
        digest, text = place.read_bytes().split(b"\n", 1)
        if digest.decode("ascii") != hashlib.sha256(text).hexdigest():
            return None
        table = json.loads(text, object_pairs_hook=_with_numbers)
        options = table["data"]["options"]
        options["edit_terminals"] = terminals.whole_word
        return Lark.load(table)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def _keep(built: Lark, place: Path) -> None:
    """Write a parser down; without a place for it, it is not."""
    data, memo = built.memo_serialize([TerminalDef, Rule])
    data["options"]["edit_terminals"] = None  # a function; the terminals are edited already
    text = json.dumps({"data": data, "memo": memo}, separators=(",", ":")).encode("utf-8")
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, hashlib.sha256(text).hexdigest().encode("ascii") + b"\n" + text)
        tables = sorted(place.parent.glob("*.table"), key=lambda path: path.stat().st_mtime)
        for old in tables[:-MAX_FILES]:
            old.unlink(missing_ok=True)


def _with_numbers(pairs: list[tuple[str, Any]]) -> dict[str | int, Any]:
    """An object whose keys are numbers again, as the states and tokens of a table are."""
    return {int(key) if key.isdecimal() else key: value for key, value in pairs}
