"""`forgec fmt`."""

from __future__ import annotations

import difflib
import errno
import gc
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import click

from forgec.commands.common import CLEAN, FINDINGS, UNREADABLE, UNREADABLE_CODES, show, specs_argument
from forgec.diagnostics import Report
from forgec.diagnostics.json import as_dict
from forgec.diagnostics.model import Diagnostic
from forgec.files.reading import decoded, read
from forgec.formatting import FormatError, format_source
from forgec.source import Source
from forgec.writing import write_whole

DEFECT = 3
_STDIN = "<stdin>"


@dataclass
class _Result:
    """What came of one spec: its text before, and after if it could be formatted; or what is the matter with it."""

    path: Path | None
    source: Source | None
    text: str | None = None
    report: Report = field(default_factory=Report)
    defect: str | None = None

    @property
    def name(self) -> str:
        return _STDIN if self.path is None else self.path.as_posix()

    @property
    def changed(self) -> bool:
        return self.source is not None and self.text is not None and self.text != self.source.text

    def outcome(self, written: bool) -> Literal["unchanged", "formatted", "would be formatted", "refused", "defect"]:
        if self.text is None:
            return "refused" if self.defect is None else "defect"
        if not self.changed:
            return "unchanged"
        return "formatted" if written else "would be formatted"


@click.command("fmt")
@specs_argument
@click.option("--check", "only_check", is_flag=True, help="Write nothing; name the specs that are not formatted.")
@click.option("--diff", "as_diff", is_flag=True, help="Write nothing; print what formatting would change.")
@click.option("--json", "as_json", is_flag=True, help="Print what happened as JSON to standard output.")
def command(specs: tuple[Path, ...], only_check: bool, as_diff: bool, as_json: bool) -> None:
    """Lay out specs the one way that everybody does, in place; `-` formats standard input to standard output.

    Comments stay with what they are about, blank lines stay, one at most. A list whose last element the author
    followed by a comma has one element a line. Where a line of SQL is too long it is broken, where the author broke
    it as far as possible. Every run proves that syntax, tokens and comments are the same before it writes.

    \b
    Examples:
      forgec fmt specs/*.afs
      forgec fmt specs/*.afs --check          # in CI: exit 1 and the names of the specs that would change
      forgec fmt specs/library.afs --diff     # exit 1 and a unified diff if it would change
      forgec fmt - < specs/library.afs        # for editors

    Exit codes: 0 done, 1 a spec does not parse or cannot be written, or would change under --check or --diff, 2 a
    spec cannot be read.
    """
    from_stdin = Path("-") in specs
    if from_stdin and (len(specs) > 1 or as_json):
        raise click.UsageError("`-` stands alone, and without --json")
    with _without_collection():
        results = [_format(None if from_stdin else path) for path in _unique(specs)]
    writes = not (only_check or as_diff)
    if writes:
        for result in results:
            _write(result)
    if as_json:
        click.echo(json.dumps(_as_json(results, writes, as_diff), indent=2))
    else:
        _print(results, writes, as_diff)
    sys.exit(max(_exit_code(result, writes) for result in results))


def _unique(specs: tuple[Path, ...]) -> list[Path]:
    """Each file once, under the name that it was given first."""
    unique: dict[str, Path] = {}
    for path in specs:
        unique.setdefault(os.path.realpath(path), path)
    return list(unique.values())


@contextmanager
def _without_collection() -> Iterator[None]:
    """Without looking for garbage that holds itself: there is none, and the search takes a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _format(path: Path | None) -> _Result:
    report = Report()
    if path is None:
        source = decoded(_STDIN, sys.stdin.buffer.read(), report)
    else:
        source = read(path, report)
    result = _Result(path, source, report=report)
    if source is not None:
        try:
            result.text = format_source(source, report)
        except FormatError as error:
            result.defect = str(error)
    return result


def _write(result: _Result) -> None:
    """Replace the file in one step, if it changes; standard input goes to standard output."""
    if result.text is None:
        return
    data = result.text.encode("utf-8")
    if result.path is None:
        sys.stdout.buffer.write(data)
    elif result.changed:
        try:
            _replace(Path(os.path.realpath(result.path)), data)
        except OSError as error:
            message = f"cannot be written: {error.strerror or error}"
            result.report.diagnostics.append(Diagnostic("AFS804", message, path=result.name))
            result.text = None


def _replace(path: Path, data: bytes) -> None:
    """Put a new file in the place of an old one, with its permissions, and its owner if that is allowed."""
    if not path.is_file():
        raise OSError("it is no regular file")
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    write_whole(path, data, like=path.stat())


def _print(results: list[_Result], writes: bool, as_diff: bool) -> None:
    show(diagnostic for result in results for diagnostic in result.report)
    for result in results:
        if result.defect is not None:
            click.echo(
                f"INTERNAL ERROR: {result.name} stays as it is, because in what would be written {result.defect}\n"
                "this is a defect of forgec; please report it with the spec",
                err=True,
            )
        elif as_diff:
            click.echo(_diff(result), nl=False)
        elif result.path is not None and result.text is not None and (writes or result.changed):
            click.echo(f"{result.name}: {result.outcome(writes)}")
        elif result.path is None and not writes and result.changed:
            click.echo(f"{result.name}: {result.outcome(writes)}", err=True)


def _diff(result: _Result) -> str:
    if result.source is None or result.text is None:
        return ""
    old, new = (text.splitlines(keepends=True) for text in (result.source.text, result.text))
    lines = difflib.unified_diff(old, new, result.name, f"{result.name} (formatted)")
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


def _as_json(results: list[_Result], writes: bool, as_diff: bool) -> dict[str, object]:
    return {
        "specs": [
            {
                "spec": result.name,
                "outcome": result.outcome(writes),
                **({"diff": _diff(result)} if as_diff else {}),
                **({"defect": result.defect} if result.defect is not None else {}),
            }
            for result in results
        ],
        "diagnostics": [as_dict(diagnostic) for result in results for diagnostic in result.report],
    }


def _exit_code(result: _Result, writes: bool) -> int:
    if result.defect is not None:
        return DEFECT
    if any(diagnostic.code in UNREADABLE_CODES for diagnostic in result.report):
        return UNREADABLE
    return FINDINGS if result.report.failed or (result.changed and not writes) else CLEAN
