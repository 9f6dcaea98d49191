"""What is written nowhere: keys, and whatever an address has beside the place that it names."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable
from urllib.parse import parse_qsl, quote, unquote, urlsplit

HIDDEN = "[secret]"
SHORTEST = 6
"""What is shorter is no secret, but a word such as `none` that a server without keys is given."""
_NAMES = re.compile(r"key|token|secret|sig|auth|pass|code", re.IGNORECASE)
"""What a field of an address is called that holds one."""


class Secrets:
    """Texts that are taken out of all that is told or written, in each form in which they may stand there."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._forms: list[str] = []
        self.add(known)

    def add(self, more: Iterable[str]) -> None:
        found = {form for secret in more if len(secret) >= SHORTEST for form in _forms(secret)}
        self._forms = sorted(found.union(self._forms), key=len, reverse=True)  # the longest first: it may hold others

    def hide(self, text: str) -> str:
        for form in self._forms:
            text = text.replace(form, HIDDEN)
        return text


def _forms(secret: str) -> Iterable[str]:
    """A secret as it is, in JSON, in an address, and in the text that Python shows of it."""
    in_json = json.dumps(secret)[1:-1]
    return secret, in_json, in_json.replace("/", "\\/"), quote(secret), quote(secret, safe=""), repr(secret)[1:-1]


def secrets_of(url: str) -> list[str]:
    """What an address has before its @, apart and as it is sent, and the keys in its query."""
    parts = urlsplit(url)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    sent = b64encode(f"{user}:{password}".encode()).decode() if user or password else ""
    return [user, password, sent, *(value for name, value in parse_qsl(parts.query) if _NAMES.search(name))]
