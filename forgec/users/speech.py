"""Texts that are written to the user, said by it: "You want your book" becomes "I want my book"."""

from __future__ import annotations

import re

_BEFORE_OBJECT = (
    "to|for|with|by|of|at|from|about|on|tell|tells|told|lend|lends|let|lets|give|gives|gave|asked|asks|cost|costs|made|"
    "make|makes|show|shows|help|helps|bring|brings|send|sends|call|calls|charge|charges|sign|signs|pay|pays"
)
_FORMS = (
    (re.compile(rf"\b({_BEFORE_OBJECT}) you\b(?! (?:are|were|have|want|need|can|may|owe|do|would|will|know|had)\b)",
                re.IGNORECASE), r"\1 me"),
    (re.compile(r"\byou(?:'re| are)\b", re.IGNORECASE), "I am"),
    (re.compile(r"\byou were\b", re.IGNORECASE), "I was"),
    (re.compile(r"\bare you\b", re.IGNORECASE), "am I"),
    (re.compile(r"\bwere you\b", re.IGNORECASE), "was I"),
    (re.compile(r"\byourself\b"), "myself"),
    (re.compile(r"\bYourself\b"), "Myself"),
    (re.compile(r"\byours\b"), "mine"),
    (re.compile(r"\bYours\b"), "Mine"),
    (re.compile(r"\byour\b"), "my"),
    (re.compile(r"\bYour\b"), "My"),
    (re.compile(r"\byou(?=[,.;:!?]|$)"), "me"),
    (re.compile(r"\byou\b", re.IGNORECASE), "I"),
)  # fmt: skip


def first_person(text: str) -> str:
    """What the user says where it was told `text`; whatever stands in quotes stays as it is."""
    pieces = re.split(r'("[^"]*")', text)
    for i in range(0, len(pieces), 2):
        for pattern, instead in _FORMS:
            pieces[i] = pattern.sub(instead, pieces[i])
    return "".join(pieces)
