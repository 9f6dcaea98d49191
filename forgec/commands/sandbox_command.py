"""`forgec sandbox`."""

from __future__ import annotations

import json
import os
import platform
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click

from forgec.commands.common import FINDINGS, UNREADABLE, require_option, sources_option
from forgec.commands.environments import package
from forgec_runtime import LoadError, WorkerError, Workers
from forgec_runtime.confining.attempts import Attempt
from forgec_runtime.confining.posture import Posture, measured, suffices

_SPEC = """
environment counter "Counts" { }

table counters { name text key, n integer }

tool count_on(name -> counters as c) "Counts on." {
  update counters set n = n + 1 where name = $name;
}

world begin { counters (name, n) values ('a', 0); }
"""
_WHY = {
    "files": ("files", "calls"), "network": ("calls",), "processes": ("calls",), "memory": ("limits", "calls"),
    "time": ("limits",), "variables": (),
}  # fmt: skip
"""What holds each layer, as workers name it."""


@click.command("sandbox")
@click.argument("environment", required=False, metavar="[ENV_OR_SPEC]")
@require_option
@sources_option
@click.option("--json", "as_json", is_flag=True, help="Print the posture as JSON to standard output.")
def command(environment: str | None, require: Posture | None, allowed: tuple[str, ...], as_json: bool) -> None:
    """Report how far workers are confined on this machine.

    A worker is begun, with ENV_OR_SPEC or with a small environment, and tries to get out: to read and write files, to
    open sockets, to begin processes, to take memory and time, to have DuckDB do what it must not. A layer is on when
    all of that failed. Then the worker is killed, and has to come back with its episodes as they were.

    \b
    Examples:
      forgec sandbox library
      forgec sandbox --json
      forgec sandbox --require confined && forgec run library --workers 4 --require confined

    Exit codes: 0 at least as required, 1 less than that, 2 the environment cannot be loaded.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="forgec-") as folder:
            spec = Path(folder) / "counter.afs"
            spec.write_text(_SPEC, encoding="utf-8")
            with (
                package(environment or str(spec), allowed) as found,
                Workers(found, 1, allow_sources=allowed) as workers,
            ):
                report = _report(workers, require)
    except (LoadError, WorkerError) as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(UNREADABLE)
    click.echo(json.dumps(report, indent=2) if as_json else _text(report))
    if require is not None and not suffices(report["posture"], require):
        click.echo(f"error: workers are to be `{require}`, and here they are only `{report['posture']}`", err=True)
        sys.exit(FINDINGS)


def _report(workers: Workers, require: Posture | None) -> dict[str, Any]:
    attempts = workers.attempts()
    layers = [_layer(name, attempts, workers.layers) for name in dict.fromkeys(one.layer for one in attempts)]
    return {
        "posture": measured(attempts), "required": require,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "layers": layers, "recovery": _recovery(workers),
    }  # fmt: skip


def _layer(name: str, attempts: list[Attempt], layers: dict[str, str]) -> dict[str, Any]:
    own = [one for one in attempts if one.layer == name]
    why = "; ".join(layers[layer] for layer in _WHY.get(name, ()) if layers.get(layer))
    state = "on" if all(one.held for one in own) else "not available" if why else "off"
    tried = [{"tried": one.tried, "held": one.held, "why": one.why} for one in own]
    return {"layer": name, "state": state, **({"why": why} if why else {}), "attempts": tried}


def _recovery(workers: Workers) -> dict[str, Any]:
    """Whether episodes outlive their worker, and how long the next one takes to begin."""
    world = next((name for name in workers.environment.worlds if not workers.environment.denied(name)), None)
    if world is None:
        return {"state": "off", "why": "no world may be read"}
    episodes = [workers.reset(world) for _ in range(3)]
    before = [one.digest() for one in episodes]
    (worker,) = workers.processes
    os.kill(worker, signal.SIGKILL)
    began = time.perf_counter()
    same = [one.digest() for one in episodes] == before
    milliseconds = round((time.perf_counter() - began) * 1000, 1)
    return {"state": "on" if same and workers.processes != [worker] else "off", "milliseconds": milliseconds}


def _text(report: dict[str, Any]) -> str:
    lines = [f"posture: {report['posture']} ({report['system']})", ""]
    for layer in report["layers"]:
        reason = f": {layer['why']}" if "why" in layer else ""
        lines.append(f"{layer['layer']:10} {layer['state']}{reason}")
        for one in layer["attempts"]:
            mark, did = ("  ", "failed") if one["held"] else ("! ", "WORKED")
            lines.append(f"  {mark}{one['tried']}: {did}, {one['why']}")
    recovery = report["recovery"]
    took = f": a killed worker was back in {recovery['milliseconds']} ms" if "milliseconds" in recovery else ""
    lines.append(f"{'recovery':10} {recovery['state']}{took}")
    return "\n".join(lines)
