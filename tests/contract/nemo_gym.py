"""The exported project in the real NeMo Gym: its servers, its commands, its checks, a scripted model, and our users.

    python -m tests.contract.nemo_gym [--release 0.4.0] [--python 3.12] [--episodes 1000]

is what `make gym-contract` runs. It makes a virtual environment with NeMo Gym where a Python is found that it takes
(1.4 GB), and says so where there is none. NeMo Gym's own checks look at what was exported. A thousand episodes are
played at once: gold is paid, an agent that does nothing is not, and what is masked, since a user lies, is left out of
NeMo Gym's statistics. Then the servers are asked which sessions are left; a thousand are abandoned, and swept out; and
thousands more show that memory does not grow with the episodes that were played.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from forgec_runtime import load_environment
from tests.contract.endpoint import Endpoint, serving
from tests.contract.installing import RELEASES, NotInstalled, Release, installed
from tests.contract.visits import Visits
from tests.serving.playing import GENERATED, gold_moves, lines, written

USERS = {"library": "scripted", "phone": "model"}
PATIENCE = 1800.0
"""Seconds for the servers to start, and for all episodes."""
IDLE = 20.0
"""Seconds after which the server whose sessions are abandoned drops them."""
WAVES = 3
"""How often as many episodes are played to see whether memory grows."""
GROWTH = 24.0
"""KB that memory may grow by an episode. DuckDB makes it grow by 15 or so; an episode that is held takes 13 more."""
ENOUGH = 1000
"""Episodes at a time from which on memory is judged: below, it differs by more from one look to the next."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", choices=[one.number for one in RELEASES], help="of NeMo Gym")
    parser.add_argument("--python", help="that the virtual environment is made with: a version, or a path")
    parser.add_argument("--episodes", type=int, default=1000)
    wanted = parser.parse_args()
    chosen = [one for one in RELEASES if wanted.release in (None, one.number)]
    for release in chosen[:1] if wanted.python else chosen:
        try:
            programs = installed(release, wanted.python)
        except NotInstalled as error:
            print(error)
            continue
        with tempfile.TemporaryDirectory(prefix="forgec-gym-") as folder:
            return Contract(release, programs, Path(folder), wanted.episodes).held()
    if wanted.release or wanted.python:
        return 1
    print("skipped: NeMo Gym cannot be had here")
    return 0


class Contract:
    """What is asked of one release; what is not as it should be is gathered, and told at the end."""

    def __init__(self, release: Release, programs: Path, folder: Path, episodes: int) -> None:
        self.release, self.programs, self.folder, self.episodes = release, programs, folder, episodes
        self.project = folder / "project"
        self.environments = {name: load_environment(GENERATED / name) for name in USERS}
        self.wrong: list[str] = []

    def held(self) -> int:
        """Whether all is as it should be, as an exit code."""
        self._export()
        self._checked()
        rows = self._rows()
        (self.project / "out").mkdir()  # NeMo Gym 0.4 does not
        (self.project / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        with serving(Endpoint(self.environments)) as url, self._servers(url):
            visits = self._visits()
            before = visits["library"].memory()
            began = time.monotonic()
            self._gym("eval", "run", "--no-serve", "--input", "rows.jsonl", "--output", "out/rollouts.jsonl")
            print(f"{len(rows):,} episodes in {time.monotonic() - began:.0f} seconds")
            self._judged()
            self._left_nothing(visits)
            self._swept(visits["abandoned"])
            self._does_not_grow(visits["library"], before)
        print(*self.wrong[:20], sep="\n")
        print("not as it should be" if self.wrong else "all is as it should be")
        return 1 if self.wrong else 0

    def _export(self) -> None:
        """The project, as `forgec export` writes it, and one server more whose sessions are dropped soon."""
        for name, user in USERS.items():
            command = [str(Path(sys.executable).parent / "forgec"), "export", "nemo-gym", str(GENERATED / name)]
            subprocess.run([*command, "--out", str(self.project), "--user", user, "--force"], check=True)
        for kind in ("resources_servers", "responses_api_agents", "responses_api_models", "environment_servers"):
            for name in ("forgec_library", "forgec_phone", "forgec_agent", "openai_model", "legacy_agent"):
                place = self.folder / "venvs" / kind / name
                place.mkdir(parents=True)
                (place / ".venv").symlink_to(self.programs.parent)
        config = yaml.safe_load(self._config("library").read_text())["library_resources_server"]
        config["resources_servers"]["forgec_library"]["idle_seconds"] = IDLE
        (self.project / "more.yaml").write_text(yaml.safe_dump({"abandoned_resources_server": config}))

    def _config(self, name: str) -> Path:
        """Of an environment's servers."""
        return self.project / "resources_servers" / f"forgec_{name}" / "configs" / f"forgec_{name}.yaml"

    def _checked(self) -> None:
        """What NeMo Gym's own commands say of the project, without a server."""
        for name in USERS:
            self._gym("env", "validate", *self._configs(name), *_model("http://127.0.0.1:9/v1"))
            tested = self._gym("env", "test", "--resources-server", f"forgec_{name}", *self._venvs())
            print(tested.splitlines()[-1])
            if self.release.checks:
                self._gym("env", "validate", f"forgec_{name}")
                self._run("python", "-c", VERIFIER, f"forgec_{name}")

    def _rows(self) -> list[dict[str, Any]]:
        """Rows of the library, every other one played by gold, and some of the phone, whose user lies."""
        kept: dict[str, list[dict[str, Any]]] = {}
        for name, env in self.environments.items():
            tasks = set(written(env))
            path = self.project / "resources_servers" / f"forgec_{name}" / "data" / "train.jsonl"
            kept[name] = [row for row in lines(path) if row["task"] in tasks]
        found = []
        for i in range(self.episodes):
            name = "phone" if i % 10 == 9 else "library"
            row = json.loads(json.dumps(kept[name][i % len(kept[name])]))
            play = "noop" if name == "phone" or i % 2 else "gold"
            row["responses_create_params"]["metadata"] = {"environment": name, "task": row["task"], "play": play}
            found.append(row)
        return found

    # -- the servers -------------------------------------------------------------------------------------------

    @contextmanager
    def _servers(self, url: str) -> Iterator[None]:
        """All servers of the project, until they are ready and then for as long as the context lasts."""
        configs = [*self._configs(*USERS), "--config", "more.yaml"]
        command = [str(self.programs / "gym"), "env", "start", *configs, *_model(url), *self._venvs()]
        log = self.folder / "servers.log"
        with log.open("wb") as out:
            servers = subprocess.Popen(
                command, cwd=self.project, env=_variables(), stdout=out, stderr=subprocess.STDOUT,
                start_new_session=True,
            )  # fmt: skip
            try:
                _wait(servers, log)
                yield
            except BaseException:
                print(log.read_text(errors="replace")[-8000:])
                raise
            finally:
                os.killpg(servers.pid, signal.SIGINT)
                try:
                    servers.wait(60)
                except subprocess.TimeoutExpired:
                    os.killpg(servers.pid, signal.SIGKILL)

    def _configs(self, *names: str) -> list[str]:
        """Options that name environments."""
        found = []
        for name in names:
            own = self.project / "environments" / f"forgec_{name}" / "config.yaml"
            found += ["--config", str(own if self.release.checks else self._config(name))]
        return found

    def _venvs(self) -> list[str]:
        """Options by which all servers run in the environment that was made for them."""
        return ["++skip_venv_if_present=true", f"++uv_venv_dir={self.folder / 'venvs'}"]

    def _gym(self, *arguments: str) -> str:
        """What NeMo Gym's command prints; it must succeed."""
        print("gym", *arguments, flush=True)
        return self._run("gym", *arguments)

    def _run(self, program: str, *arguments: str) -> str:
        """What a program of NeMo Gym's environment prints; it must succeed."""
        command = [str(self.programs / program), *arguments]
        ran = subprocess.run(
            command, cwd=self.project, env=_variables(), stdout=subprocess.PIPE, text=True, timeout=PATIENCE
        )  # fmt: skip
        if ran.returncode:
            raise SystemExit(f"{ran.stdout[-8000:]}\n{program} {' '.join(arguments)[:500]} failed")
        return ran.stdout

    def _visits(self) -> dict[str, Visits]:
        """Those who ask the resources servers straight, by the names of the servers."""
        told = json.loads(self._run("gym", "env", "status", "--json").splitlines()[-1])
        urls = {one["process_name"]: one["url"] for one in told}
        env = self.environments["library"]
        moves = {task: gold_moves(env, task) for task in written(env)}
        names = ("library", "phone", "abandoned")
        return {name: Visits(urls[f"{name}_resources_server"], env, moves) for name in names}

    # -- whether all is as it should be ------------------------------------------------------------------------

    def _judged(self) -> None:
        """Rewards, masks, and what NeMo Gym makes of them."""
        rollouts = lines(self.project / "out" / "rollouts.jsonl")
        self._is("rollouts", len(rollouts), self.episodes)
        for one in rollouts:
            play = one["responses_create_params"]["metadata"]
            masked = play["environment"] == "phone"
            if one["mask_sample"] is not masked or one["reward"] != float(play["play"] == "gold"):
                verdict = f"reward {one['reward']}, masked {one['mask_sample']}: {one['failure_reason']}"
                self.wrong.append(f"{play}: {verdict}")
        (path,) = (one for one in (self.project / "out").iterdir() if one.name.endswith("_aggregate_metrics.json"))
        told = {one["agent_ref"]["name"]: one["agent_metrics"] for one in json.loads(path.read_text())}
        judged = [one["reward"] for one in rollouts if not one["mask_sample"]]
        mean = told["library_agent"]["mean/reward"]
        if abs(mean - sum(judged) / len(judged)) > 1e-9:
            self.wrong.append(f"NeMo Gym's mean reward is {mean}, not {sum(judged) / len(judged)}")
        if self.release.masks and "mean/reward" in told.get("phone_agent", {}):
            self.wrong.append("NeMo Gym has a mean reward of the phone, whose rollouts are all masked")
        print(f"NeMo Gym says: library {mean:.4f}, phone {told.get('phone_agent')}")

    def _left_nothing(self, visits: dict[str, Visits]) -> None:
        """Whether the servers have no session left when all episodes have been played."""
        counts = {name: visits[name].counted() for name in USERS}
        for name, counted in counts.items():
            print(f"sessions of {name}: {counted}")
            for kind in ("open", "playing", "asked", "swept"):
                self._is(f"sessions of {name}, {kind}", counted[kind], 0)
        self._is("sessions that were begun", sum(one["begun"] for one in counts.values()), self.episodes)

    def _swept(self, visits: Visits) -> None:
        """Whether sessions that are left behind are there at first, and then are swept out."""
        visits.abandoned(self.episodes)
        counted = visits.counted()
        print(f"abandoned: {counted}")
        self._is("abandoned sessions that were begun", counted["begun"], self.episodes)
        self._is("abandoned sessions, open and swept", counted["open"] + counted["swept"], self.episodes)
        counted = visits.emptied(20 * IDLE)
        print(f"after the sweep: {counted}")
        for kind, expected in (("open", 0), ("playing", 0), ("swept", self.episodes)):
            self._is(f"abandoned sessions after the sweep, {kind}", counted[kind], expected)

    def _does_not_grow(self, visits: Visits, before: float) -> None:
        """Whether memory stays as it is, however many episodes are played."""
        held = [before, visits.memory()]
        for _ in range(WAVES):
            self._is("rewards of gold", set(visits.played(self.episodes)), {1.0})
            held.append(visits.memory())
        self._is("sessions after all", {kind: visits.counted()[kind] for kind in ("open", "playing")},
                 {"open": 0, "playing": 0})  # fmt: skip
        print(f"memory of the library's server, MB: {', '.join(f'{one:.1f}' for one in held)}")
        grown = 1024 * (held[-1] - held[1]) / (WAVES * self.episodes)
        if grown > GROWTH and self.episodes >= ENOUGH:
            self.wrong.append(f"memory grows by {grown:.1f} KB an episode")

    def _is(self, what: str, found: object, expected: object) -> None:
        if found != expected:
            self.wrong.append(f"{what}: {found}, not {expected}")


VERIFIER = """
import asyncio, sys
from nemo_gym.environment.onboarding import verify_environment
from nemo_gym.registry import resolve_catalog_entry
asyncio.run(verify_environment(resolve_catalog_entry(sys.argv[1])))
"""
"""What `gym env test NAME` runs in a virtual environment that it makes: here it runs in the one that is there."""


def _model(url: str) -> list[str]:
    """Options that name the model, which is scripted."""
    return ["--model-type", "openai_model", "--model", "scripted", "--model-url", url, "--model-api-key", "none"]


def _wait(servers: subprocess.Popen[bytes], log: Path) -> None:
    began = time.monotonic()
    while "servers ready!" not in log.read_text(errors="replace"):
        if servers.poll() is not None or time.monotonic() - began > PATIENCE:
            raise SystemExit(f"the servers did not start:\n{log.read_text(errors='replace')[-6000:]}")
        time.sleep(1)
    print(f"servers are ready after {time.monotonic() - began:.0f} seconds", flush=True)


def _variables() -> dict[str, str]:
    return {**os.environ, "RAY_AUTH_MODE": "disabled", "NEMO_GYM_TELEMETRY": "0"}


if __name__ == "__main__":
    sys.exit(main())
