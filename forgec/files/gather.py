"""All declarations of a spec, from all of its files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from forgec.diagnostics import Diagnostic, Label, Report
from forgec.files.folder import Folder, NoFile
from forgec.files.reading import read
from forgec.source import Source, Span
from forgec.syntax import nodes, parse
from forgec.syntax.scan import MAX_FILE

MAX_FILES = 100
"""Files of one spec."""
MAX_TASKS = 64_000_000
"""Bytes of the tasks of a spec that stand in a file of their own."""


@dataclass(frozen=True)
class Gathered:
    """A spec: the declarations of all files, and the files, that of the environment first.

    `tasks` holds its tasks in bulk, and is one of the files.
    """

    file: nodes.File
    sources: tuple[Source, ...]
    tasks: Source | None = None


def gather(base: Source, report: Report, parts: Sequence[Path] = (), tasks: Path | Source | None = None) -> Gathered:
    """Read the files of a spec; what is wrong with them is reported.

    A file is read once. What it uses stands before its own declarations; parts come last, in the order given.
    """
    gatherer = _Gatherer(base, report)
    for path in parts:
        gatherer.part(path)
    bulk = read(tasks, report, MAX_TASKS) if isinstance(tasks, Path) else tasks
    file = nodes.File(Span(base, 0, len(base.text)), tuple(gatherer.items))
    return Gathered(file, (*gatherer.sources.values(), *([bulk] if bulk else [])), bulk)


class _Gatherer:
    def __init__(self, base: Source, report: Report) -> None:
        self.report = report
        self.folder = Folder(Path(base.name).parent)
        self.base = os.path.realpath(base.name)
        self.sources: dict[str, Source] = {}
        self.items: list[nodes.Item] = []
        self.chain: dict[str, nodes.Use | None] = {}
        """The files that are being read, each because of a `use` in the one before it."""
        file = self._parsed(base, self.base)
        environments = [item for item in file.items if isinstance(item, nodes.Environment)]
        self.name = environments[0].name.text if environments else None
        self._add(file, base, self.base, None)

    def part(self, path: Path) -> None:
        """Add a file of the folder that extends the environment."""
        try:
            self.folder.find(path.name)
        except NoFile as refused:
            self.report.diagnostics.append(Diagnostic("AFS006", refused.message, path=path.as_posix()))
            return
        place = os.path.realpath(path)
        source = None if place in self.sources else read(path, self.report)
        if source is not None and self._has_room(Span(source, 0, 0), source):
            self._add(self._parsed(source, place), source, place, None)

    def _parsed(self, source: Source, place: str) -> nodes.File:
        self.sources[place] = source
        return parse(source, self.report)

    def _add(self, file: nodes.File, source: Source, place: str, use: nodes.Use | None) -> None:
        """Add what a file declares, after what it uses."""
        self._check_order(file)
        self.chain[place] = use
        for item in file.items:
            if isinstance(item, nodes.Use):
                self._use(item, source)
        del self.chain[place]
        self.items.extend(item for item in file.items if not isinstance(item, nodes.Use | nodes.Extend))

    def _use(self, use: nodes.Use, user: Source) -> None:
        written, span = use.path.value, use.path.span
        try:
            name = self.folder.find(written, os.path.relpath(user.name, self.folder.path))
        except NoFile as refused:
            self.report.error("AFS006", refused.message, span, help=refused.help)
            return
        path = self.folder.path / name
        place = os.path.realpath(path)
        if place in self.chain:
            self._report_circle(use, place)
        elif place == self.base:
            self.report.error("AFS008", f"`{written}` declares the environment itself", span, "it is part of this spec")
        elif place not in self.sources and self._is_spec(path, span):
            source = read(path, self.report)
            if source is not None and self._has_room(span, source):
                file = self._parsed(source, place)
                if self._is_free(file, written, span):
                    self._add(file, source, place, use)

    def _is_spec(self, path: Path, span: Span) -> bool:
        if path.suffix != ".afs":
            self.report.error("AFS008", f"`{path.name}` is no spec", span, help="what is used ends in .afs")
        return path.suffix == ".afs"

    def _is_free(self, file: nodes.File, written: str, span: Span) -> bool:
        """Whether a file that is used belongs to no other environment."""
        for item in file.items:
            if isinstance(item, nodes.Environment):
                hint = "move what both need into a file without an environment, and use that"
                message = f"`{written}` declares an environment of its own"
                related = [Label(item.name.span, "declared here")]
            elif isinstance(item, nodes.Extend) and item.name.text != self.name:
                hint = "move what both need into a file without `extend`, and use that"
                message = f"`{written}` is a part of another environment"
                related = [Label(item.name.span, "extended here")]
            else:
                continue
            self.report.error("AFS008", message, span, related=related, help=hint)
            return False
        return True

    def _has_room(self, span: Span, source: Source) -> bool:
        """Whether a spec may have this file, too."""
        size = sum(len(known.text) for known in self.sources.values()) + len(source.text)
        if size > MAX_FILE:
            message = f"a spec has at most {MAX_FILE:,} characters in all of its files"
        elif len(self.sources) >= MAX_FILES:
            message = f"a spec has at most {MAX_FILES} files"
        else:
            return True
        self.report.error("AFS005", message, span)
        return False

    def _report_circle(self, use: nodes.Use, place: str) -> None:
        """Files use each other: name all of them, beginning with the one that is used again."""
        places = list(self.chain)[list(self.chain).index(place) :]
        names = [os.path.relpath(self.sources[one].name, self.folder.path) for one in places]
        uses = [link for one in places[1:] if (link := self.chain[one]) is not None]
        related = [Label(link.path.span, f"uses `{name}`") for link, name in zip(uses, names[1:], strict=True)]
        message = f"files use each other in a circle: {' -> '.join([*names, names[0]])}"
        self.report.error("AFS007", message, use.path.span, f"uses `{names[0]}` again", related=related)

    def _check_order(self, file: nodes.File) -> None:
        """The head of a file stands first, and what it uses before everything that it declares."""
        others = [item for item in file.items if not isinstance(item, nodes.Use | nodes.Extend | nodes.Environment)]
        environment = next((item for item in file.items if isinstance(item, nodes.Environment)), None)
        for i, item in enumerate(file.items):
            if isinstance(item, nodes.Extend) and environment is not None:
                related = [Label(environment.name.span, "declared here")]
                message = "a file that declares an environment extends no other"
                self.report.error("AFS109", message, item.span, related=related)
            elif isinstance(item, nodes.Extend) and i > 0:
                self.report.error("AFS109", "`extend` stands once, before everything else in its file", item.span)
            elif isinstance(item, nodes.Use) and others and others[0].span.start < item.span.start:
                related = [Label(_first_word(others[0].span), "declared above it")]
                message = "`use` stands before the declarations of its file"
                self.report.error("AFS109", message, item.span, related=related)


def _first_word(span: Span) -> Span:
    return Span(span.source, span.start, span.start + len(span.text.split()[0]))
