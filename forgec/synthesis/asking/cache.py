"""Answers that were paid for: by what was asked, whom, and in which form, so that nobody is asked twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forgec.writing import write_whole

VERSION = 1


@dataclass(frozen=True)
class Kept:
    """An answer: what the model said, and why it stopped."""

    text: str
    finish: str
    prompt_tokens: int
    completion_tokens: int


class Cache:
    """A folder with a file for each answer; None keeps nothing."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def get(self, key: str) -> Kept | None:
        """What is known; a damaged file is nothing."""
        if self.folder is None:
            return None
        try:
            found = json.loads((self.folder / f"{key}.json").read_bytes())
            return Kept(str(found["text"]), str(found["finish"]), int(found["prompt"]), int(found["completion"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, kept: Kept) -> None:
        """Keep an answer. A folder that cannot be written costs the next run money, and nothing else."""
        if self.folder is None:
            return
        content = {
            "text": kept.text, "finish": kept.finish,
            "prompt": kept.prompt_tokens, "completion": kept.completion_tokens,
        }  # fmt: skip
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self.folder / f"{key}.json", json.dumps(content, ensure_ascii=False).encode("utf-8", "replace"))


def key_of(
    model: str, settings: Mapping[str, Any], schema: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]
) -> str:
    """The name of an answer: a hash of everything that it depends on."""
    asked = [VERSION, model, settings, schema, messages]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode("utf-8", "replace")).hexdigest()
