"""A spec that was edited by hand and is made again: merged declaration by declaration, never overwritten."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from forgec.synthesis.declarations import RANK, Chunk, chunks, tidy

Verb = Literal["add", "change", "remove", "keep", "conflict"]


@dataclass(frozen=True)
class Change:
    """What a merge does about one declaration. `keep` and `conflict` leave that of the file; both are told."""

    verb: Verb
    key: str
    text: str = ""
    """The declaration as it was made; empty where it was made no more."""


@dataclass(frozen=True)
class Merged:
    """The text that a merge comes to, and what it does on the way, in the order of the file."""

    text: str
    changes: tuple[Change, ...]

    @property
    def conflicts(self) -> list[Change]:
        return [one for one in self.changes if one.verb == "conflict"]


def merge(base: Mapping[str, str], ours: str, theirs: Mapping[str, str]) -> Merged:
    """Three ways: `base` is what was made the last time, `ours` the file as it is, `theirs` what is made now.

    What was edited by hand stays; where it was also made otherwise, that is a conflict, and what was edited stays.
    Whatever stands between the declarations of the file stays where it is.
    """
    held = chunks(ours)
    by_key = {one.key: one for one in held}
    changes = [change for one in held if (change := _about(one, base, theirs)) is not None]
    added = [Change("add", key, text) for key, text in theirs.items() if key not in by_key and key not in base]
    for key, text in theirs.items():
        if key not in by_key and key in base and not _same(base[key], text):
            changes.append(Change("conflict", key, text))  # it was removed by hand, and is made otherwise
    return Merged(_applied(ours, held, changes, added), (*changes, *added))


def _about(one: Chunk, base: Mapping[str, str], theirs: Mapping[str, str]) -> Change | None:
    before, now = base.get(one.key), theirs.get(one.key)
    if now is not None and _same(one.text, now):
        return None
    edited = before is None or not _same(one.text, before)
    if not edited:
        return Change("remove", one.key) if now is None else Change("change", one.key, now)
    if before is None and now is None:
        return None  # written by hand, and no business of ours
    if now is None or (before is not None and _same(before, now)):
        return Change("keep", one.key, now or "")
    return Change("conflict", one.key, now)


def _same(one: str, other: str) -> bool:
    return one.strip() == other.strip() or tidy(one) == tidy(other)


def _applied(ours: str, held: list[Chunk], changes: list[Change], added: list[Change]) -> str:
    """The file with what is changed, removed and added in place."""
    edits: list[tuple[int, int, str]] = []
    by_key = {one.key: one for one in changes}
    for one in held:
        change = by_key.get(one.key)
        if change is not None and change.verb == "change":
            edits.append((one.start, one.end, change.text))
        elif change is not None and change.verb == "remove":
            end = one.end + len(ours[one.end :]) - len(ours[one.end :].lstrip("\n"))
            edits.append((one.start, end, ""))
    places: dict[int, list[str]] = {}
    for change in added:
        rank = RANK.get(change.key.split(" ", 1)[0], len(RANK))
        before = [one for one in held if RANK.get(one.key.split(" ", 1)[0], len(RANK)) <= rank]
        places.setdefault(before[-1].end if before else 0, []).append(change.text)
    for place, texts in places.items():
        edits.append((place, place, "".join(f"\n\n{one}" if place else f"{one}\n\n" for one in texts)))
    text = ours
    for start, end, new in sorted(edits, key=lambda edit: edit[:2], reverse=True):
        text = text[:start] + new + text[end:]
    return text
