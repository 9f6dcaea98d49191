"""`forgec tasks`."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Container, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.core import ParameterSource

from forgec.alone import InUseError, alone
from forgec.bulk.shape import TaskShape
from forgec.commands.common import exit_code, fail, show, sources_option
from forgec.commands.environments import compiled
from forgec.commands.model_options import ModelOptions, model_options
from forgec.diagnostics import did_you_mean
from forgec.model.spec import Spec
from forgec.pipeline import Checked, check
from forgec.showing.bulk import line
from forgec.tasking.choosing import DIFFICULTIES, Choosing
from forgec.tasking.keeping import Unfinished, first_foreign, merged
from forgec.tasking.likeness import Given, given_in
from forgec.tasking.measuring import LEVELS, Level
from forgec.writing import write_whole

if TYPE_CHECKING:
    from forgec.llm.client import Client
    from forgec.llm.traffic import Traffic
    from forgec.tasking.making import Maker
    from forgec.tasking.running import Outcome

MAX_COUNT = 100_000
_MAKING = ("seed", "difficulty", "worlds", "split", "against", "out", "replace", "llm", "as_json")


@click.command("tasks")
@click.argument("path", type=click.Path(path_type=Path), metavar="SPEC", required=False)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--schema", is_flag=True, help="Print the JSON schema of a line instead.")
@click.option("--count", type=click.IntRange(1, MAX_COUNT), metavar="N", help="Make N new tasks, each certified.")
@click.option("--seed", type=int, default=0, metavar="S", show_default=True, help="Other tasks for each.")
@click.option(
    "--difficulty",
    default="mixed",
    metavar="LEVEL",
    show_default=True,
    help="easy, medium, hard, mixed, or shares such as easy=1,hard=3.",
)
@click.option("--world", "worlds", multiple=True, metavar="WORLD", help="Only in this world; may be repeated.")
@click.option("--split", metavar="SHARES", help="Tag tasks by the shape of their plan, as train=0.8,test=0.2.")
@click.option(
    "--against",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Leave out what is like a task of this file; may be repeated.",
)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="[default: <env>.tasks.jsonl beside SPEC]")
@click.option("--replace", is_flag=True, help="In place of the tasks that were made earlier.")
@click.option("--llm", metavar="MODEL", help="Let a model say each task in its own words; what does not fit is left.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON to standard output.")
@sources_option
@model_options
def command(
    path: Path | None,
    names: tuple[str, ...],
    schema: bool,
    count: int | None,
    seed: int,
    difficulty: str,
    worlds: tuple[str, ...],
    split: str | None,
    against: tuple[Path, ...],
    out: Path | None,
    replace: bool,
    llm: str | None,
    as_json: bool,
    allowed: tuple[str, ...],
    model: ModelOptions,
) -> None:
    """Print the tasks of a spec, or those with a NAME, as lines of JSON; or make new ones.

    They are what stands in a file of tasks beside a spec: `library.tasks.jsonl` beside the environment `library`. Made
    tasks go there, after what is there already; tasks that were written by hand stay as they are. The same spec and
    seed make the same tasks, and a run that was cut short goes on where it was.

    \b
    Examples:
      forgec tasks specs/library.afs
      forgec tasks specs/library.afs settle_the_overdue
      forgec tasks specs/library.afs --count 100 --seed 7
      forgec tasks specs/library.afs --count 1000 --difficulty easy=1,hard=2 --out made.jsonl
      forgec tasks specs/library.afs --count 1000 --split train=0.8,test=0.2 --against benchmark.jsonl
      forgec tasks specs/library.afs --count 100 --llm qwen3 --base-url http://localhost:8000/v1 --record words.jsonl
      forgec tasks --schema

    Exit codes: 0 printed or made, 1 the spec has findings, or fewer tasks were found than were wanted, 2 SPEC or a file
    cannot be read or written, has no task NAME, or another run is making tasks for the file.
    """
    if schema:
        click.echo(json.dumps(TaskShape.model_json_schema(), indent=2))
        return
    if path is None:
        raise click.UsageError("name a spec, or ask for the --schema")
    if count is not None and names:
        raise click.UsageError("with --count tasks are made; leave out the names")
    if count is None:
        _none_of(_MAKING, "--count")
    if llm is None:
        _none_of(ModelOptions.__dataclass_fields__, "--llm")
    checked = check(path, allowed)
    if checked.spec is None:
        show(checked.report)
        sys.exit(exit_code([checked]))
    if count is None:
        _print(checked.spec, names)
        return
    choosing = Choosing(count, _weights(difficulty), _known(against), _splits(split))
    rewording = Rewording.by(llm, model) if llm is not None else None
    _make(
        checked, checked.spec, choosing, seed, _worlds(checked.spec, worlds), out, replace, as_json, allowed, rewording
    )


def _none_of(names: Container[str], without: str) -> None:
    """Nothing, if no option was given that says nothing without another one. Raises `UsageError`."""
    context = click.get_current_context()
    for option in context.command.params:
        name = option.name or ""
        if name in names and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option.opts[0]} says nothing without {without}")


def _print(spec: Spec, names: Iterable[str]) -> None:
    for name in names:
        if name not in spec.tasks:
            hint = did_you_mean(name, spec.tasks)
            fail(f"there is no task `{name}`" + (f"; {hint}" if hint else ""))
    for task in spec.tasks.values():
        if not names or task.name in names:
            click.echo(line(task))


def _make(
    checked: Checked,
    spec: Spec,
    choosing: Choosing,
    seed: int,
    worlds: list[str],
    out: Path | None,
    replace: bool,
    as_json: bool,
    allowed: Iterable[str],
    rewording: Rewording | None,
) -> None:
    from forgec.certifying import FreshProcess
    from forgec.tasking.ground import Ground
    from forgec.tasking.making import Maker
    from forgec.tasking.running import run

    target = out if out is not None else checked.path.parent / f"{spec.name}.tasks.jsonl"
    if (number := _foreign(target)) is not None:
        fail(f"{target.as_posix()}:{number}: this is no task; made tasks are added to a file of tasks, or to a new one")
    texts = "".join(source.text for source in checked.sources if source.name.endswith(".afs"))
    kind = {
        "spec": hashlib.sha256(texts.encode()).hexdigest(),
        "seed": seed,
        "count": choosing.count,
        "difficulty": dict(choosing.weights),
        "worlds": worlds,
        "known": choosing.known.digest,
        "splits": dict(choosing.splits),
    }
    unfinished = Unfinished(target.with_name(f".{target.name}.unfinished"), kind)
    try:
        with (
            alone(unfinished.path, make=True),
            compiled(spec, allowed) as environment,
            FreshProcess(environment) as process,
        ):
            maker = Maker(Ground(spec, environment), seed, worlds, process)
            outcome = run(maker, choosing, unfinished, _progress(choosing.count))
            if rewording is not None:
                rewording.of(maker, outcome)
            if outcome.report["tasks"] or target.is_file():
                write_whole(target, merged(target, outcome.lines, replace=replace))
            unfinished.end()
    except InUseError:
        fail(f"another run is making tasks for {target.as_posix()}")
    except (OSError, UnicodeDecodeError) as error:
        _unwritable(target, error)
    if as_json:
        click.echo(json.dumps(outcome.report, indent=2))
    else:
        click.echo(_told(outcome.report))
        if outcome.report["tasks"]:
            click.echo(f"{checked.path.as_posix()} -> {target.as_posix()}")
    sys.exit(0 if outcome.report["tasks"] == choosing.count else 1)


def _foreign(target: Path) -> int | None:
    """The number of a line of a file that is no task, if there is one: the file is something else."""
    try:
        return first_foreign(target)
    except (OSError, UnicodeDecodeError) as error:
        _unwritable(target, error)


@dataclass(frozen=True)
class Rewording:
    """A model that says tasks in its own words."""

    client: Client
    traffic: Traffic | None

    @classmethod
    def by(cls, name: str, options: ModelOptions) -> Rewording:
        """One that is asked as the options say; leaves where they will not do."""
        from forgec.llm.client import SetupError
        from forgec.llm.spending import Budget

        budget, prices, traffic = Budget(options.max_calls, options.max_cost), options.all_prices(), options.traffic()
        try:
            return cls(options.client(options.endpoint(name), budget, prices, traffic), traffic)
        except SetupError as error:
            fail(str(error))

    def of(self, maker: Maker, outcome: Outcome) -> None:
        """The tasks of an outcome in other words, where those will do; the report tells how many."""
        from forgec.llm.spending import Meter
        from forgec.tasking.rewriting import rewrite

        meter = Meter()
        try:
            done = rewrite(maker, list(outcome.lines), self.client, meter)
        finally:
            if self.traffic is not None:
                self.traffic.close()
        outcome.lines = done.lines
        outcome.report["words"] = {
            "changed": done.changed, "kept": dict(done.kept.most_common()), "requests": meter.requests,
            "cost": meter.cost,
        }  # fmt: skip


def _progress(count: int) -> Any:
    def told(made: int) -> None:
        if sys.stderr.isatty():
            click.echo(f"\r{made} of {count}", nl=made >= count, err=True)

    return told


def _told(report: dict[str, Any]) -> str:
    """The report in a few lines."""
    lines = [
        f"{report['tasks']} of {report['wanted']} tasks; "
        f"of {report['drafts']} drafts {report['chosen']} chosen, {report['acceptance']:.0%} of them certified",
        "levels: " + ", ".join(f"{number} {level}" for level, number in report["levels"].items()),
    ]
    if "words" in report:
        kept = ", ".join(f"{number} {why}" for why, number in report["words"]["kept"].items())
        lines.append(f"in other words: {report['words']['changed']}" + (f"; as they were: {kept}" if kept else ""))
    if "contamination" in report:
        like, of = report["contamination"]["like"], report["contamination"]["given"]
        lines.append(f"contamination: {like} drafts were like one of {of} given tasks, and left out")
        lines += [f"  {made} like {other}, by {why}" for made, other, why in report["contamination"]["pairs"][:4]]
    if "exhausted" in report:
        found = report["exhausted"]
        missing = ", ".join(f"{number} {level}" for level, number in found["missing"].items())
        lines.append(
            f"no more were found: the last {found['drafts']} drafts came to {found['tasks']}; missing: {missing}"
        )
    for title in ("not certified", "left out", "reasoning"):
        if report[title]:
            lines.append(f"{title}: " + ", ".join(f"{number} {what}" for what, number in report[title].items()))
    lines += [
        f"difficulty {score:>3}  {'#' * _bar(number, report)} {number}"
        for score, number in report["difficulty"].items()
    ]
    for what, share in report["coverage"].items():
        missing = f"; not {', '.join(share['missing'][:4])}" if share["missing"] else ""
        more = f" and {len(share['missing']) - 4} more" if len(share["missing"]) > 4 else ""
        lines.append(f"{what}: {share['covered']} of {share['of']}{missing}{more}")
    return "\n".join(lines)


def _bar(number: int, report: dict[str, Any]) -> int:
    most: int = max(report["difficulty"].values())
    return max(1, round(40 * number / most))


def _weights(difficulty: str) -> dict[Level, float]:
    if difficulty in DIFFICULTIES:
        return dict(DIFFICULTIES[difficulty])
    shares = _shares(difficulty, "--difficulty") if "=" in difficulty else {difficulty: 1.0}
    for name in shares:
        if name not in LEVELS:
            hint = did_you_mean(name, [*DIFFICULTIES])
            raise click.UsageError(
                f"--difficulty knows easy, medium, hard and mixed, not `{name}`" + (f"; {hint}" if hint else "")
            )
    return {level: shares[level] for level in LEVELS if level in shares}


def _splits(text: str | None) -> dict[str, float]:
    shares = _shares(text, "--split") if text is not None else {}
    total = sum(shares.values())
    return {name: share / total for name, share in shares.items()}


def _shares(text: str, option: str) -> dict[str, float]:
    """`a=1,b=3`."""
    found: dict[str, float] = {}
    for part in text.split(","):
        name, _, share = part.strip().partition("=")
        if name in found:
            raise click.UsageError(f"{option} has `{name}` twice")
        try:
            found[name] = float(share)
        except ValueError:
            found[name] = -1.0
        if not name.isidentifier() or not 0 < found[name] < 1e6:
            raise click.UsageError(f"{option} has shares such as a=0.8,b=0.2, not `{part.strip()}`")
    return found


def _worlds(spec: Spec, names: Iterable[str]) -> list[str]:
    for name in names:
        if name not in spec.worlds:
            hint = did_you_mean(name, spec.worlds)
            fail(f"there is no world `{name}`" + (f"; {hint}" if hint else ""))
        if not spec.worlds[name].known:
            grants = " ".join(f"--allow-source {grant}" for grant in spec.worlds[name].unread)
            fail(f"the rows of `{name}` lie outside: {grants}")
    return list(dict.fromkeys(names)) or [name for name, world in spec.worlds.items() if world.known]


def _known(files: Iterable[Path]) -> Given:
    found = Given()
    for file in files:
        try:
            given_in(file.read_text(encoding="utf-8").splitlines(), found)
        except (OSError, ValueError) as error:
            fail(f"{file.as_posix()}: {_why(error)}")
    return found


def _unwritable(target: Path, error: OSError | UnicodeDecodeError) -> NoReturn:
    fail(f"{target.as_posix()} cannot be written: {_why(error)}")


def _why(error: Exception) -> str:
    return (
        "it is no UTF-8 text" if isinstance(error, UnicodeDecodeError) else getattr(error, "strerror", "") or str(error)
    )
