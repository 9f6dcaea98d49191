"""The text of spec files, or what is the matter with it."""

from __future__ import annotations

import os
from pathlib import Path

from forgec.diagnostics import Diagnostic, Report
from forgec.source import Source
from forgec.syntax.scan import MAX_FILE

MAX_BYTES = 4 * MAX_FILE
"""A spec that is larger has too many characters, whichever they are."""


def read(path: Path, report: Report, most: int = MAX_BYTES) -> Source | None:
    """The text of a file of at most so many bytes; None when it was reported."""
    name = path.as_posix()
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except IsADirectoryError:
        report.diagnostics.append(
            Diagnostic(
                "AFS002", "this is a directory, not a spec", path=name, help=f"name files: {name.rstrip('/')}/*.afs"
            )
        )
        return None
    except FileNotFoundError:
        near = [path for path in (f"{name}.afs", f"specs/{name}", f"specs/{name}.afs") if os.path.isfile(path)]
        hint = f"did you mean `{near[0]}`?" if near else None
        report.diagnostics.append(Diagnostic("AFS001", "there is no such file", path=name, help=hint))
        return None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        report.diagnostics.append(Diagnostic("AFS001", f"this file cannot be read: {reason}", path=name))
        return None
    if len(data) > most:
        report.diagnostics.append(Diagnostic("AFS005", f"this file has more than {most:,} bytes", path=name))
        return None
    return decoded(name, data, report)


def decoded(name: str, data: bytes, report: Report) -> Source | None:
    """The spec that some bytes hold; None when it was reported that they hold none."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"this file is not UTF-8: byte {error.start} on line {line} is 0x{data[error.start]:02x}"
        report.diagnostics.append(Diagnostic("AFS003", message, path=name, help="save it as UTF-8"))
        return None
    return Source(name, text)
