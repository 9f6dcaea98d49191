"""Requests and answers on file: to look at, to go on from, and to run again without an endpoint.

A line is one answered request: who asked (`scope`), the body that was sent, and the body that came. Headers are never
written, and of the bodies no secret that we know of.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict, deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forgec.alone import InUseError, Lines
from forgec.dialogue import readable
from forgec.llm.errors import NotRecorded, NotWritten
from forgec.llm.secrets import Secrets

_BEGINNING = b'{"answer": "'
"""How each line of a file begins."""


class TrafficError(ValueError):
    """A file of traffic that cannot be read or written."""


class Traffic:
    """Answers to requests, from a file and into it. Equal requests of one scope are told apart by their order.

    What the file has is not asked for again. With `only` nothing else is asked for either. `loose` is for those whose
    scopes are unlike each other: a request whose words have changed since gets the answer of its scope, and is counted.
    """

    def __init__(self, path: Path, *, only: bool = False, loose: bool = False) -> None:
        """Raises `TrafficError`."""
        self.path, self.only, self.loose = path, only, loose
        self.changed = 0
        """Requests that were answered though they are not what they were when that was recorded."""
        self.secrets = Secrets()
        self._known: dict[str, deque[bytes]] = defaultdict(deque)
        self._by_scope: dict[str, bytes] = {}
        self._lines: Lines | None = None
        if only and not path.is_file():
            raise TrafficError(f"there is no file {path}")
        try:
            if not only:
                self._lines = Lines(path)
                if not self._lines.cut_off(_BEGINNING):
                    raise TrafficError(f"{path} holds no recorded requests")
            self._read()
        except InUseError:
            raise TrafficError(f"another run is writing {path}") from None
        except OSError as error:
            raise TrafficError(f"{path}: {error.strerror or error}") from None
        except TrafficError:
            self.close()
            raise

    def recorded(self, scope: str, body: Mapping[str, Any]) -> bytes | None:
        """The answer on file. Raises `NotRecorded` when there is none and nothing else may be asked."""
        answers = self._known.get(_key(scope, self._shown(body)))
        if answers:
            return answers.popleft()
        if self.only and self.loose and scope in self._by_scope:
            self.changed += 1
            return self._by_scope[scope]
        if self.only:
            raise NotRecorded(f"{self.path} has no answer to this request of {scope or 'nobody in particular'}")
        return None

    def record(self, scope: str, body: Mapping[str, Any], answer: bytes) -> None:
        """Write a request with the answer to it. Raises `NotWritten`."""
        if self._lines is None:
            return
        text = self.secrets.hide(readable(answer.decode("utf-8", "replace")))
        line = json.dumps({"scope": scope, "request": json.loads(self._shown(body)), "answer": text}, sort_keys=True)
        try:
            self._lines.add(line.encode() + b"\n")
        except OSError as error:
            raise NotWritten(f"an answer cannot be written to {self.path}: {error.strerror or error}") from None

    def close(self) -> None:
        if self._lines is not None:
            self._lines.close()
            self._lines = None

    def _shown(self, body: Mapping[str, Any]) -> str:
        """A body as it is written and compared: in one order, without secrets."""
        return self.secrets.hide(json.dumps(body, sort_keys=True))

    def _read(self) -> None:
        """Read what is there, but for a last line that was cut off in the writing."""
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    break
                try:
                    entry = json.loads(line)
                    scope, request, answer = entry["scope"], entry["request"], entry["answer"]
                    self._known[_key(scope, json.dumps(request, sort_keys=True))].append(answer.encode())
                    self._by_scope[scope] = answer.encode()
                except (ValueError, KeyError, TypeError, AttributeError):
                    raise TrafficError(f"{self.path}:{number}: this line is no recorded request") from None


def _key(scope: str, body: str) -> str:
    return hashlib.sha256(f"{scope}\n{body}".encode("utf-8", "replace")).hexdigest()
