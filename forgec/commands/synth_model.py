"""`forgec synth` with a model: asks it, writes or proposes what comes of it, and says what that is."""

from __future__ import annotations

import asyncio
import difflib
import json
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from forgec.cache import cache_folder
from forgec.certifying.lock import HashesAtHand, entry_of, lock_path
from forgec.certifying.lock import write as write_lock
from forgec.codegen.hashes import hashes_of
from forgec.commands.common import CLEAN, FINDINGS, UNREADABLE
from forgec.commands.environments import compiled
from forgec.commands.model_options import ModelOptions
from forgec.commands.synth_command import notes_of
from forgec.diagnostics import Report, counted
from forgec.documents import Api
from forgec.formatting import format_source
from forgec.llm.client import Client, SetupError
from forgec.llm.errors import LLMError
from forgec.llm.spending import Budget
from forgec.model.spec import Spec
from forgec.pipeline import check_source
from forgec.plans.package import plan_tasks
from forgec.source import Source
from forgec.synthesis import coverage, sidecar
from forgec.synthesis.asking.asker import Asker
from forgec.synthesis.asking.cache import Cache
from forgec.synthesis.declarations import chunks
from forgec.synthesis.drafting import Drafted
from forgec.synthesis.made import Made
from forgec.synthesis.merging import Merged, merge
from forgec.synthesis.pipeline import synthesize
from forgec.synthesis.stages.operations import read_operations
from forgec.synthesis.work import Options
from forgec.writing import write_whole

INTERRUPTED = 130
"""The exit code after an interrupt."""
_VERBS = {
    "add": "adds", "change": "changes", "remove": "removes", "keep": "keeps yours", "conflict": "conflict, keeps yours",
}  # fmt: skip


@dataclass(frozen=True)
class Wanted:
    """What the command line says."""

    documents: tuple[Path, ...]
    name: str
    path: Path
    model: str
    how: ModelOptions
    options: Options
    cache: Path | None
    write_merge: bool
    as_json: bool


@dataclass
class _End:
    """What came of it all: the spec, its text, and what was written."""

    made: Made
    spec: Spec | None
    text: str
    covered: coverage.Coverage
    written: list[str]
    merged: Merged | None = None


def run_model(api: Api, draft: Callable[[Api], Drafted], wanted: Wanted) -> int:
    """Have a model write the spec, which begins with what `draft` makes of the documents; the exit code."""
    try:
        base = sidecar.read(sidecar.sidecar_path(wanted.path))
        ours = wanted.path.read_bytes().decode("utf-8") if wanted.path.exists() else None
    except (sidecar.SidecarError, OSError, UnicodeDecodeError) as error:
        return _error(str(error))
    budget, traffic = Budget(wanted.how.max_calls, wanted.how.max_cost), wanted.how.traffic(loose=True)
    prices = wanted.how.all_prices()
    kept = None if traffic is not None else wanted.cache or cache_folder() / "synth"
    try:
        client = wanted.how.client(wanted.how.endpoint(wanted.model), budget, prices, traffic)
    except SetupError as error:
        return _error(str(error))
    asker = Asker(client, Cache(kept))
    try:
        made = asyncio.run(_synthesize(api, draft, wanted, client, asker))
    except KeyboardInterrupt:
        click.echo("interrupted: what was answered is kept, and the same command goes on from there", err=True)
        return INTERRUPTED
    except LLMError as error:
        click.echo(_spending(asker), err=True)
        lost = wanted.how.replay is not None
        later = "" if lost else "; what was answered is kept, and the same command goes on from there"
        return _error(f"the model cannot be asked: {error}{later}")
    finally:
        if traffic is not None:
            traffic.close()
    if traffic is not None and traffic.changed:
        number = counted(traffic.changed, "question")
        click.echo(f"{traffic.path} was recorded with other words: {number} answered all the same", err=True)
    end = _ended(wanted, made)
    if end.spec is not None and made.declarations.of("tool"):
        try:
            _write(wanted, end, base, ours)
        except OSError as error:
            return _error(f"{wanted.path.as_posix()} cannot be written: {error.strerror or error}")
    click.echo(
        json.dumps(_as_json(api, wanted, end, asker), indent=2) if wanted.as_json else _told(api, wanted, end, asker)
    )
    proposed = end.merged is not None and (not wanted.write_merge or bool(end.merged.conflicts))
    return FINDINGS if proposed or not end.covered.shown else CLEAN


async def _synthesize(api: Api, draft: Callable[[Api], Drafted], wanted: Wanted, client: Client, asker: Asker) -> Made:
    try:
        if not api.operations:
            await read_operations(api, asker, wanted.options.limit)
        return await synthesize(api, wanted.name, asker, compiled, draft(api), wanted.options, _progress())
    finally:
        await client.close()


def _progress() -> Callable[[str], None]:
    def tell(text: str) -> None:
        if sys.stderr.isatty():
            click.echo(f"\r\x1b[K{text}", nl=False, err=True)

    return tell


def _ended(wanted: Wanted, made: Made) -> _End:
    """The spec as it will stand in its file."""
    names = ", ".join(document.name for document in wanted.documents)
    head = f"Written by {wanted.model} from {names}; {sidecar.sidecar_path(wanted.path).name} says what is from where."
    laid = made.declarations.laid(head=head).text
    text = format_source(Source(wanted.path.as_posix(), laid), Report()) or laid
    spec = check_source(wanted.path, Source(wanted.path.as_posix(), text), Report()).spec
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", nl=False, err=True)
    return _End(made, spec, text, coverage.coverage(made, spec), [])


def _write(wanted: Wanted, end: _End, base: sidecar.Base | None, ours: str | None) -> None:
    """Write what was made, or what it comes to together with a file that was edited by hand. Raises `OSError`."""
    texts = {one.key: one.text for one in chunks(end.text)}
    edited = ours is not None and (base is None or sidecar.digest(ours.encode("utf-8")) != base.file)
    text = end.text
    if edited and ours is not None and ours != end.text:
        end.merged = merge(base.declarations if base is not None else {}, ours, texts)
        text = end.merged.text
        if not wanted.write_merge:
            return
    beside = sidecar.text(
        end.made, text if end.merged is None else end.text, texts, wanted.model, wanted.documents,
        coverage.as_json(end.covered),
    )  # fmt: skip
    _put(end, wanted.path, text)
    _put(end, sidecar.sidecar_path(wanted.path), beside)
    if end.merged is None and end.spec is not None and end.made.verdicts:
        _lock(wanted, end, end.spec)


def _put(end: _End, path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode("utf-8"))
    end.written.append(path.as_posix())


def _lock(wanted: Wanted, end: _End, spec: Spec) -> None:
    """The verdicts on the tasks, as `forgec certify` keeps them."""
    hashes = HashesAtHand(**hashes_of(spec, plan_tasks(spec)))
    path = lock_path(wanted.path.parent, spec.name)
    verdicts = [verdict for name, verdict in end.made.verdicts.items() if name in spec.tasks]
    write_lock(path, (entry_of(verdict, hashes, spec.tasks[verdict.task].world) for verdict in verdicts))
    end.written.append(path.as_posix())


def _told(api: Api, wanted: Wanted, end: _End, asker: Asker) -> str:
    made, file = end.made, shlex.quote(wanted.path.as_posix())
    lines = []
    if end.spec is None or not made.declarations.of("tool"):
        lines.append(f"{wanted.path.as_posix()} is not written: no operation could be made")
    else:
        spec = end.spec
        certified = sum(verdict.certified for name, verdict in made.verdicts.items() if name in spec.tasks)
        lines.append(
            f"{wanted.path.as_posix()}: {counted(len(spec.tables), 'table')}, {counted(len(spec.tools), 'tool')}, "
            f"{counted(len(spec.tests), 'test')}, {counted(certified, 'certified task')}"
        )
    lines += [*notes_of(api), *coverage.lines(end.covered)]
    operations = {f"operation {one.operation}" for one in end.covered.operations}
    lines += [f"  left out of {one.stage}: {one.what}: {one.why}" for one in made.left if one.what not in operations]
    if end.merged is not None:
        lines += _merge_told(wanted, end.merged)
    lines.append(_spending(asker))
    if end.written:
        lines += ["written: " + ", ".join(end.written), "next:", f"  forgec check {file}", f"  forgec test {file}"]
    return "\n".join(lines)


def _merge_told(wanted: Wanted, merged: Merged) -> list[str]:
    done = wanted.write_merge
    lines = [f"{wanted.path.as_posix()} was edited by hand; " + ("merged:" if done else "--merge would:")]
    lines += [f"  {_VERBS[one.verb]} {one.key}" for one in merged.changes] or ["  change nothing"]
    if not done:
        before = wanted.path.read_text(encoding="utf-8").splitlines(keepends=True)
        after = merged.text.splitlines(keepends=True)
        name = wanted.path.as_posix()
        diff = "".join(difflib.unified_diff(before, after, name, f"{name} (merged)"))
        lines += [diff.rstrip("\n")] if diff else []
    for one in merged.conflicts:
        lines += [f"the model's {one.key}:", one.text or "(none)"]
    return lines


def _spending(asker: Asker) -> str:
    lines = []
    for stage, spent in asker.spent.items():
        meter = spent.meter
        cost = f", {meter.cost:.4f}" if meter.cost is not None else ""
        kept = f", {spent.kept} of them kept from before" if spent.kept else ""
        failed = f", {sum(meter.failures.values())} failures" if meter.failures else ""
        lines.append(
            f"  {stage}: {counted(spent.questions, 'question')}{kept}, {meter.prompt_tokens:,} tokens in, "
            f"{meter.completion_tokens:,} out{cost}{failed}"
        )
    total = sum(spent.meter.cost or 0.0 for spent in asker.spent.values())
    priced = any(spent.meter.cost is not None for spent in asker.spent.values())
    head = f"asked, for {total:.4f} in all:" if priced else "asked:"
    return "\n".join([head, *lines]) if lines else "nothing was asked"


def _as_json(api: Api, wanted: Wanted, end: _End, asker: Asker) -> dict[str, Any]:
    made = end.made
    return {
        "spec": wanted.path.as_posix(), "written": end.written, "forms": api.forms,
        "coverage": coverage.as_json(end.covered),
        "left_out": [vars(one) for one in made.left],
        "tasks": {name: verdict.certified for name, verdict in made.verdicts.items()},
        "corrections": made.rounds,
        "merge": None if end.merged is None else [vars(one) for one in end.merged.changes],
        "asked": {
            stage: {
                "questions": spent.questions, "kept": spent.kept, "requests": spent.meter.requests,
                "prompt_tokens": spent.meter.prompt_tokens, "completion_tokens": spent.meter.completion_tokens,
                "cost": spent.meter.cost, "failures": spent.meter.failures,
            }
            for stage, spent in asker.spent.items()
        },
        "notes": [{"place": note.place, "text": note.text} for note in api.notes],
    }  # fmt: skip


def _error(text: str) -> int:
    click.echo(f"error: {text}", err=True)
    return UNREADABLE
