"""The commented spec that a newcomer begins with."""

from __future__ import annotations

import re
from pathlib import Path

from forgec.resources import resource


def starter_spec(name: str, out: Path) -> str:
    """The text of the starter, called `name` and written as if it lay at `out`."""
    text = resource("templates", "new", "starter.afs").read_text(encoding="utf-8")
    path = out.as_posix() if out.as_posix().isprintable() else f"specs/{name}.afs"
    words = {"specs/starter.afs": path, "starter": name}
    return re.sub(r"specs/starter\.afs|\bstarter\b", lambda match: words[match[0]], text)
