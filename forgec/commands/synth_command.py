"""`forgec synth`."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from forgec.commands.common import FINDINGS, UNREADABLE, show
from forgec.commands.environments import compiled
from forgec.commands.model_options import ModelOptions, model_options
from forgec.diagnostics import Diagnostic, Report, counted
from forgec.documents import Api, DocumentError, read_document
from forgec.documents.api import as_json
from forgec.formatting import format_source
from forgec.model.spec import Spec
from forgec.source import Source
from forgec.starting.names import is_name, legal
from forgec.synthesis.drafting import Drafted, draft
from forgec.testing import run_test
from forgec.writing import write_whole

MAX_NOTES = 10
"""How many notes on a document are printed; `--json` has them all."""


@click.command("synth")
@click.argument("documents", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DOCUMENT...")
@click.option("--draft", "by_rule", is_flag=True, help="Make what can be made by rule, without a model.")
@click.option("--model", "model_name", metavar="MODEL", help="Have this model write it, in stages, each checked.")
@click.option("--name", default="", metavar="NAME", help="The environment's name.  [default: that of the document]")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="Where to write.  [default: specs/NAME.afs]"
)
@click.option("--force", is_flag=True, help="Overwrite a file that is there already.")
@click.option(
    "--read", "only_read", is_flag=True, help="Print what was understood of the documents, and write nothing."
)
@click.option("--tasks", type=click.IntRange(0, 100), default=6, show_default=True, help="Tasks to ask for.")
@click.option(
    "--rounds", type=click.IntRange(0, 20), default=3, show_default=True, help="How often what is wrong goes back."
)
@click.option("--group", type=click.IntRange(1, 50), default=8, show_default=True, help="Operations of one question.")
@click.option(
    "--question-size",
    type=click.IntRange(8_000, 2_000_000),
    default=60_000,
    show_default=True,
    help="Characters that a question may have; a quarter of that are tokens, more or less.",
)
@click.option(
    "--cache",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Where answers are kept, so that nobody is asked twice.  [default: the user's cache]",
)
@click.option("--merge", "write_merge", is_flag=True, help="Merge into a spec that was edited by hand.")
@model_options
@click.option("--json", "as_json_", is_flag=True, help="Print the report as JSON to standard output.")
def command(
    documents: tuple[Path, ...], by_rule: bool, model_name: str | None, name: str, out: Path | None, force: bool,
    only_read: bool, tasks: int, rounds: int, group: int, question_size: int, cache: Path | None, write_merge: bool,
    model: ModelOptions, as_json_: bool,
) -> None:  # fmt: skip
    """Make a spec of documentation of tools.

    A DOCUMENT is a list of OpenAI functions, OpenAPI 3 (JSON or YAML), a list of MCP tools, Python functions with
    docstrings, BFCL's dialect, or Markdown that writes calls as `name(parameter: type)`. Several are read as one
    interface.

    With --draft, tables, keys and references are found by naming, and operations by verb and shape: get, list, search,
    create, update, delete, close or cancel, sign in and out. Each becomes a tool with a test that shows its documented
    effect; an operation for which no rule fits becomes a tool that refuses, and the checker names it. Every test of the
    draft passes.

    With --model, a model writes it: state, tools, policy, worlds, tests, tasks. What the compiler, a test or
    certification finds wrong goes back to it; what stays wrong is left out, and reported. Answers are kept, so that a
    run that was interrupted goes on, and the same run costs nothing. A spec that was edited by hand is not overwritten:
    a merge is shown, and --merge writes it.

    \b
    Examples:
      forgec synth tickets.json --model qwen3-32b --base-url http://localhost:8000/v1
      forgec synth openapi.yaml --model gpt-5 --max-cost 5 --price gpt-5=1.25,10 --record traffic.jsonl
      forgec synth --draft tickets.json
      forgec synth --draft openapi.yaml --name pets --out drafts/pets.afs
      forgec synth --draft users.json orders.json --name shop
      forgec synth --read tools.json --json

    Exit codes: 0 written, 1 no operation could be made, or a merge is shown or has conflicts, 2 a DOCUMENT cannot be
    read, NAME or FILE will not do, or the model cannot be asked, 130 interrupted.
    """
    try:
        api = read_document(list(documents))
    except DocumentError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(UNREADABLE)
    if only_read:
        click.echo(json.dumps(as_json(api), indent=2, ensure_ascii=False) if as_json_ else _understood(api))
        return
    if by_rule == (model_name is not None):
        raise click.UsageError("say --draft, to make what can be made by rule, or name a --model")
    name = name or _named(api, documents[0])
    if not is_name(name):
        raise click.UsageError(
            f"`{name}` cannot be the name of an environment; such as `{legal(name, 'environment', (), 1)}`"
        )
    path = out or Path("specs") / f"{name}.afs"
    if model_name is not None:
        from forgec.commands.synth_model import Wanted, run_model
        from forgec.synthesis.work import Options

        if not api.operations and not api.prose.strip():
            click.echo("error: the documents have no operation that could be made out", err=True)
            sys.exit(UNREADABLE)
        origin = ", ".join(document.name for document in documents)
        options = Options(limit=question_size, group=group, rounds=rounds, tasks=tasks)
        wanted = Wanted(documents, name, path, model_name, model, options, cache, write_merge, as_json_)
        sys.exit(run_model(api, lambda read: draft(read, name, origin, _run_tests), wanted))
    if path.exists() and not force:
        help_ = "choose another --out, or overwrite it with --force"
        show([Diagnostic("AFS805", "there is such a file already", path=path.as_posix(), help=help_)])
        sys.exit(UNREADABLE)
    drafted = draft(api, name, ", ".join(document.name for document in documents), _run_tests)
    show(drafted.findings)
    if any(one.code == "AFS005" for one in drafted.findings):
        click.echo(
            f"error: {path.as_posix()} is not written: draft fewer documents, or parts of them, at once", err=True
        )
        sys.exit(UNREADABLE)
    _write(path, format_source(Source(path.as_posix(), drafted.text), Report()) or drafted.text)
    click.echo(
        json.dumps(_as_json(api, drafted, path), indent=2, ensure_ascii=False)
        if as_json_
        else _report(api, drafted, path)
    )
    sys.exit(FINDINGS if drafted.findings or not drafted.shown else 0)


def _named(api: Api, document: Path) -> str:
    """The name of an environment: that of the document, else its file's."""
    title = re.sub(r"\b(api|openapi|swagger|v?\d[\d.]*)\b", " ", api.title, flags=re.IGNORECASE)
    return legal(title if title.strip() else document.stem, "environment", (), 1)


def _run_tests(spec: Spec) -> Iterator[tuple[str, str | None]]:
    with compiled(spec) as environment:
        for test in spec.tests:
            findings = run_test(spec, environment, test).findings
            yield test.name, findings[0].message if findings else None


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode("utf-8"))
    except OSError as error:
        message = f"this file cannot be written: {error.strerror or error}"
        show([Diagnostic("AFS804", message, path=path.as_posix())])
        sys.exit(UNREADABLE)


def _understood(api: Api) -> str:
    lines = [f"{', '.join(dict.fromkeys(api.forms))}: {counted(len(api.operations), 'operation')}"]
    lines += [f"  {one.name}({', '.join(p.name for p in one.parameters)})" for one in api.operations]
    return "\n".join([*lines, *notes_of(api)])


def notes_of(api: Api) -> list[str]:
    """What is to be said of the documents, the first few."""
    lines = [f"  note: {note}" for note in api.notes[:MAX_NOTES]]
    more = len(api.notes) - MAX_NOTES
    return [*lines, f"  and {more} more notes: --json has all"] if more > 0 else lines


def _report(api: Api, drafted: Drafted, path: Path) -> str:
    """What was made of how many operations, what is open and why, and what to do next."""
    total = len(drafted.outcomes)
    share = f"{drafted.shown} of {counted(total, 'operation')}"
    lines = [f"{path.as_posix()}: {counted(drafted.tables, 'table')}; {share} with a test that passes", *notes_of(api)]
    for one in drafted.outcomes:
        if one.state == "open":
            lines.append(f"  open: {one.operation}: {one.why}")
        lines += [f"  assumed in {one.operation}: {text}" for text in one.assumed]
    file = shlex.quote(path.as_posix())
    return "\n".join([*lines, "next:", f"  forgec check {file}", f"  forgec test {file}"])


def _as_json(api: Api, drafted: Drafted, path: Path) -> dict[str, object]:
    return {
        "spec": path.as_posix(), "forms": api.forms, "tables": drafted.tables,
        "operations": [
            {
                "name": one.operation, "place": one.place, "state": one.state, **({"why": one.why} if one.why else {}),
                "assumed": list(one.assumed),
            }
            for one in drafted.outcomes
        ],
        "notes": [{"place": note.place, "text": note.text} for note in api.notes],
    }  # fmt: skip
