"""`forgec show`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from forgec.codegen.hashes import hashes_of
from forgec.codegen.package import policy_text, schemas_text
from forgec.commands.common import UNREADABLE, exit_code, show, sources_option
from forgec.diagnostics import did_you_mean
from forgec.model.spec import Spec
from forgec.pipeline import check
from forgec.plans.package import plan_tasks
from forgec.showing.find import declared, find
from forgec.showing.overview import overview
from forgec.showing.text import overview_text, part_text


@click.command("show")
@click.argument("path", type=click.Path(path_type=Path), metavar="SPEC")
@click.argument("name", required=False)
@click.option("--policy", is_flag=True, help="Print the policy as the agent is told it, rules included.")
@click.option("--schemas", is_flag=True, help="Print the schemas of the agent's tools, or of NAME (OpenAI functions).")
@click.option("--hashes", is_flag=True, help="Print what identifies the environment, its grading, worlds and tasks.")
@sources_option
@click.option("--json", "as_json", is_flag=True, help="Print the same as JSON.")
def command(
    path: Path, name: str | None, policy: bool, schemas: bool, hashes: bool, allowed: tuple[str, ...], as_json: bool
) -> None:
    """Show what an agent and an author see of a spec.

    Without NAME, all of it at a glance. With the name of a tool, table, task, function, rule, invariant, world or
    type, all about that: of a tool its guards in order, what it reads and writes, what is left to DuckDB and why,
    which tools feed it, and the Python that it compiles to.

    \b
    Examples:
      forgec show specs/library.afs
      forgec show specs/library.afs lend_book
      forgec show specs/library.afs settle_the_overdue --json
      forgec show specs/library.afs --policy
      forgec show specs/library.afs --hashes
      forgec show specs/library.afs lend_book --schemas

    Exit codes: 0 shown, 1 the spec has findings, 2 SPEC cannot be read or has no NAME.
    """
    if policy + schemas + hashes > 1 or ((policy or hashes) and name is not None):
        raise click.UsageError("--policy, --schemas and --hashes stand alone; only --schemas goes with NAME")
    checked = check(path, allowed)
    if checked.spec is None:
        show(checked.report)
        sys.exit(exit_code([checked]))
    spec = checked.spec
    if name is not None and name not in declared(spec):
        _refuse(f"`{spec.name}` declares no `{name}`", did_you_mean(name, declared(spec)))
    if policy:
        text = policy_text(spec)
        click.echo(_json({"policy": text}) if as_json else text, nl=as_json)
    elif hashes:
        found = hashes_of(spec, plan_tasks(spec))
        click.echo(_json(found) if as_json else _hash_lines(found))
    elif schemas:
        _schemas(spec, name)
    elif name is not None:
        parts = find(spec, name)
        click.echo(_json({"found": parts}) if as_json else "\n\n".join(part_text(part) for part in parts))
    else:
        data = overview(spec)
        click.echo(_json(data) if as_json else overview_text(data))


def _schemas(spec: Spec, name: str | None) -> None:
    if name is not None and name not in spec.tools:
        _refuse(f"`{name}` is no tool", did_you_mean(name, spec.tools))
    tools = [tool for tool in spec.tools.values() if (tool.side == "agent" if name is None else tool.name == name)]
    click.echo(schemas_text(tools), nl=False)


def _hash_lines(found: dict[str, Any]) -> str:
    """A line a hash, those of worlds and tasks with their names."""
    lines = [("environment", found["environment"]), ("grading", found["grading"])]
    lines += [(f"world {name}", value) for name, value in found["worlds"].items()]
    lines += [(f"task {name}", value) for name, value in found["tasks"].items()]
    width = max(len(what) for what, _ in lines)
    return "\n".join(f"{what.ljust(width)}  {value}" for what, value in lines)


def _refuse(message: str, hint: str | None) -> None:
    click.echo(f"error: {message}" + (f"; {hint}" if hint else ""), err=True)
    sys.exit(UNREADABLE)


def _json(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False)
