"""What lies beside a spec that was made: where each declaration is from, and how it was, to merge a later one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forgec.synthesis.made import Made

VERSION = 1


class SidecarError(ValueError):
    """A sidecar that cannot be read."""


@dataclass(frozen=True)
class Base:
    """What was made the last time: the hash of the file, and the text of each declaration."""

    file: str
    declarations: Mapping[str, str]


def sidecar_path(spec: Path) -> Path:
    """`specs/shop.synth.json` for `specs/shop.afs`."""
    return spec.with_name(f"{spec.stem}.synth.json")


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read(path: Path) -> Base | None:
    """What lies beside a spec; None where nothing does. Raises `SidecarError`."""
    try:
        content = json.loads(path.read_bytes())
        texts = {str(key): str(one["text"]) for key, one in content["declarations"].items()}
        return Base(str(content["file"]), texts)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SidecarError(f"{path.as_posix()} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise SidecarError(f"{path.as_posix()} is no record of a synthesis; delete it to begin anew") from None


def text(
    made: Made,
    spec_text: str,
    texts: Mapping[str, str],
    model: str,
    documents: Sequence[Path],
    covered: Mapping[str, Any],
) -> str:
    """The sidecar of a spec; `texts` are its declarations as they stand in it. The same for the same, to the byte."""
    places = {one.operation.name: one.operation.place for one in made.operations}
    declarations = {
        one.key: {
            "stage": one.stage, "by": one.by, "text": texts.get(one.key, one.text),
            "operations": [{"name": name, "place": places.get(name, "")} for name in one.operations],
            "assumed": list(one.assumed),
        }
        for one in made.declarations
    }  # fmt: skip
    content = {
        "version": VERSION,
        "about": "Where the declarations of the spec beside this are from. Written by forgec synth; not to be edited.",
        "model": model,
        "documents": [{"name": path.name, "sha256": digest(path.read_bytes())} for path in documents],
        "file": digest(spec_text.encode("utf-8")),
        "declarations": declarations,
        "left_out": [vars(one) for one in made.left],
        "edges": made.edges,
        "reasoning": made.reasoning,
        "coverage": covered,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
