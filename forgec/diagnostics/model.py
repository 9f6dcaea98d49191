"""What the compiler has to say to the author of a spec: one model, several renderers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Literal

from forgec.source import Span

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Label:
    """A place in a source and what is to be seen there."""

    span: Span
    text: str = ""


@dataclass(frozen=True)
class Diagnostic:
    """One finding.

    `code` is stable and documented in `codes.py`; `message` is one lower-case line that stands alone;
    `primary` is why, `related` are the other places that matter; `path` names the file when there is no
    place inside it (missing, unreadable).
    """

    code: str
    message: str
    primary: Label | None = None
    related: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str | None = None
    severity: Severity = "error"
    path: str | None = None

    @property
    def file(self) -> str:
        if self.primary is not None:
            return self.primary.span.source.name
        return self.path or ""


@dataclass
class Report:
    """The findings of one run, in file order once sorted."""

    diagnostics: list[Diagnostic] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    """Names whose declarations were reported: that they are unknown elsewhere is no news."""
    _places: set[tuple[str, str, int, int]] = field(default_factory=set, repr=False)

    def error(
        self,
        code: str,
        message: str,
        span: Span,
        label: str = "",
        *,
        related: Iterable[Label] = (),
        notes: Iterable[str] = (),
        help: str | None = None,
        about: str | None = None,
    ) -> None:
        """Add an error at `span`; a second error of the same code at the same place is dropped.

        `about` is the name that the error calls unknown; nothing is said about names that are broken.
        """
        if about in self.broken:
            return
        found = Diagnostic(code, message, Label(span, label), tuple(related), tuple(notes), help)
        place = code, span.source.name, span.start, span.end
        if place not in self._places:
            self._places.add(place)
            self.diagnostics.append(found)

    def give_up(self, *names: str) -> None:
        """Say no more about these names: their declarations were reported."""
        self.broken.update(names)

    def extend(self, other: Report) -> None:
        self.diagnostics.extend(other.diagnostics)

    @property
    def failed(self) -> bool:
        return any(d.severity == "error" for d in self.diagnostics)

    def __iter__(self) -> Iterator[Diagnostic]:
        """All findings, in the order of their files and places."""
        return iter(sorted(self.diagnostics, key=_place))

    def __len__(self) -> int:
        return len(self.diagnostics)


def _place(diagnostic: Diagnostic) -> tuple[str, int, int, str]:
    span = diagnostic.primary.span if diagnostic.primary else None
    return diagnostic.file, span.start if span else -1, span.end if span else -1, diagnostic.code


def did_you_mean(name: str, names: Iterable[str]) -> str | None:
    """A hint naming the closest of `names`, which must be names valid in that place."""
    known = sorted(names)
    close = [one for one in known if one.lower() == name.lower()] or get_close_matches(name, known, n=1, cutoff=0.6)
    return f"did you mean `{close[0]}`?" if close else None


def counted(number: int, what: str) -> str:
    """`1 value`, `2 values`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
