"""A hostile spec, and what is said to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.desk import HEAD, TAIL

CANARY = "FORGEC_CANARY"
"""A variable of the process that no spec can set."""

Files = Mapping[str, "str | bytes | Path"]
"""Files beside each other by name: texts, bytes, or where a symbolic link leads. The first is checked."""


@dataclass(frozen=True)
class Case:
    """`code` has the codes of all errors, in order; it is empty for what does no harm, and `harmless` says why."""

    what: str
    code: str
    spec: str | bytes | Files | Callable[[], str | Files]
    harmless: str = ""

    def files(self) -> Files:
        spec = self.spec() if callable(self.spec) else self.spec
        return spec if isinstance(spec, Mapping) else {"desk.afs": spec}


def said(declarations: str) -> str:
    """A small sound spec, and these declarations below it."""
    return f"{HEAD}{TAIL}{declarations}\n"


def body(statements: str) -> str:
    """A tool with these statements."""
    return said(f"tool t(n integer, word text, xs integer[], id -> accounts) {{ {statements} }}")


def value(expression: str) -> str:
    """A tool that computes something."""
    return body(f"let v = {expression};")


def query(select: str) -> str:
    """A tool that asks for rows."""
    return body(f"let v[] = {select};")
