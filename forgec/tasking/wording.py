"""What the user is told: who they are, what they want in which order, and what they want to hear.

The words are templates over the author's own. Another wording, such as a language model's, is `checked`: it must keep
every fact and add nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from forgec.model import spec as m
from forgec.tasking.words import Words, first_sentence, joined, lower_first, value_text

_NAMES = ("name", "holder", "full_name")
_SERVES = re.compile(
    r"\b(?:desk|line|service|office|support|centre|center|clinic|shop|store|bank|hotel|agency|counter|team|helpdesk|"
    r"school|station|hospital|library|reception|department|company|assistant|operator)\b", re.IGNORECASE,
)  # fmt: skip
"""What people turn to."""


def opening(spec: m.Spec, person: Mapping[str, Any] | None) -> str:
    """Who the user is, and where."""
    where = lower_first(first_sentence(spec.doc))
    name = next((person[n] for n in _NAMES if isinstance(person.get(n), str)), "") if person is not None else ""
    if not name and person is not None and isinstance(person.get("name"), Mapping):
        name = " ".join(str(part) for part in person["name"].values())
    turn = "need help" if not where else f"turn to {where}" if _SERVES.search(where) else f"need help with {where}"
    return f"You are {name} and {turn}." if name else f"You {turn}."


def wish(words: Words, tool: m.Tool, phrases: Mapping[str, str], writes: bool = True) -> str:
    """Somebody wants a tool's work done."""
    return words.asks(tool, words.does(tool, phrases), writes)


def in_vain(wished: str) -> str:
    """Somebody wishes what will not be done, and leaves it at that."""
    return f"{wished} If that is not possible, you leave it at that."


def unfound(values: Iterable[str]) -> str:
    """Somebody is not found by what they say first."""
    return (
        f"To be found you first give {joined(values)}, which is not what they know you by. "
        "When that does not help, you give what is right."
    )


def hearing(parts: Iterable[str]) -> str:
    """What the user wants to be told."""
    found = list(parts)
    return f"You want to hear {' and '.join(found)}." if found else ""


def checked(text: str, said: Iterable[Any], hidden: Iterable[Any], demands: str) -> list[str]:
    """What is wrong with another wording of `demands`: what of the `said` it lacks, what of the `hidden` it has, and
    the numbers and quoted names that are new.
    """
    problems = [f"it does not say {value_text(one)}" for one in said if not _has(text, one)]
    problems += [f"it gives away {value_text(one)}" for one in hidden if _has(text, one) and not _has(demands, one)]
    old = set(_particulars(demands))
    problems += [f"it adds {one}" for one in dict.fromkeys(_particulars(text)) if one not in old]
    if len(re.findall(r"[.!?](?:\s|$)", text)) > 2 * len(re.findall(r"[.!?](?:\s|$)", demands)) + 2:
        problems.append("it is much longer")
    return problems


def _has(text: str, value: Any) -> bool:
    return re.search(rf"(?<!\w){re.escape(value_text(value))}(?!\w)", text, re.IGNORECASE) is not None


def _particulars(text: str) -> list[str]:
    """Numbers, and names in quotes."""
    quotes = text.replace("\u2018", "'").replace("\u2019", "'").replace("\u201c", '"').replace("\u201d", '"')
    numbers: list[str] = re.findall(r"\d+(?:[.,:-]\d+)*", text)
    return numbers + [one.strip() for one in re.findall(r"[\"']([A-Z][^\"']{2,60})[\"']", quotes)]
