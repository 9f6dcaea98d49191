"""The exported project in the real NeMo Gym: its servers, its command line, a scripted model, and our users.

    python -m tests.contract.nemo_gym        what `make gym-contract` runs

It makes a virtual environment with NeMo Gym where a Python is found that it takes (1.4 GB), and says so where there is
none. A thousand episodes are played at once: gold is paid, an agent that does nothing is not, and what is masked, since
a user lies, is left out of NeMo Gym's statistics. Whether a session is left behind is counted in
`tests/serving`, not here.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from forgec_runtime import load_environment
from tests.contract.endpoint import Endpoint, serving
from tests.serving.playing import GENERATED, lines, written

ROOT = Path(__file__).parents[2]
HOME = ROOT / ".venv" / "gym"
RELEASES: tuple[tuple[str, str, list[str]], ...] = (
    ("3.13", "0.7.0", ["--ignore-requires-python"]),
    ("3.12", "0.4.0", []),
)
"""Pythons with the release of NeMo Gym for each; 0.7 wants a later 3.13 than many machines have, and runs with any."""
EPISODES = int(os.environ.get("FORGEC_EPISODES", "1000"))
PATIENCE = 900.0
"""Seconds for the servers to start, and for all episodes."""


def main() -> int:
    found = _installed()
    if found is None:
        print("skipped: no Python that NeMo Gym takes (3.13 or 3.12) is here, or it cannot be installed")
        return 0
    with tempfile.TemporaryDirectory(prefix="forgec-gym-") as folder:
        return _contract(found, Path(folder))


def _installed() -> Path | None:
    """The folder of programs of a virtual environment that has NeMo Gym and this project."""
    for python, release, flags in RELEASES:
        program = shutil.which(f"python{python}") or next(
            (str(one) for one in sorted((Path.home() / ".pyenv" / "versions").glob(f"{python}.*/bin/python"))), None
        )  # fmt: skip
        if program is None:
            continue
        folder = HOME / release
        pip = [str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
        if not (folder / "installed").exists():
            print(f"installing NeMo Gym {release} with {program}", flush=True)
            steps = [
                [program, "-m", "venv", str(folder)],
                [*pip, *flags, f"nemo-gym=={release}"],
                [*pip, "-e", str(ROOT / "runtime"), "-e", str(ROOT)],
            ]
            if any(subprocess.run(step).returncode for step in steps):
                continue
            (folder / "installed").touch()
        return folder / "bin"
    return None


def _contract(programs: Path, folder: Path) -> int:
    project = folder / "project"
    for name, user in (("library", "scripted"), ("phone", "model")):
        command = [str(Path(sys.executable).parent / "forgec"), "export", "nemo-gym", str(GENERATED / name)]
        subprocess.run([*command, "--out", str(project), "--user", user, "--force"], check=True)
    for kind in ("resources_servers", "responses_api_agents", "responses_api_models", "environment_servers"):
        for name in ("forgec_library", "forgec_phone", "forgec_agent", "openai_model", "legacy_agent"):
            (folder / "venvs" / kind / name).mkdir(parents=True)
            (folder / "venvs" / kind / name / ".venv").symlink_to(programs.parent)
    environments = {name: load_environment(GENERATED / name) for name in ("library", "phone")}
    rows = _rows(project, environments)
    (project / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with serving(Endpoint(environments)) as url, _servers(programs, project, folder, url):
        began = time.monotonic()
        _run(programs, project, "eval", "run", "--no-serve", "--input", "rows.jsonl", "--output", "out/rollouts.jsonl")
        print(f"{len(rows):,} episodes in {time.monotonic() - began:.0f} seconds")
    return _judged(project)


def _rows(project: Path, environments: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of the library, every other one played by gold, and some of the phone, whose user lies."""
    kept: dict[str, list[dict[str, Any]]] = {}
    for name, env in environments.items():
        tasks = set(written(env))
        path = project / "resources_servers" / f"forgec_{name}" / "data" / "train.jsonl"
        kept[name] = [row for row in lines(path) if row["task"] in tasks]
    found = []
    for i in range(EPISODES):
        name = "phone" if i % 10 == 9 else "library"
        row = json.loads(json.dumps(kept[name][i % len(kept[name])]))
        play = "noop" if name == "phone" or i % 2 else "gold"
        row["responses_create_params"]["metadata"] = {"environment": name, "task": row["task"], "play": play}
        found.append(row)
    return found


@contextmanager
def _servers(programs: Path, project: Path, folder: Path, url: str) -> Iterator[None]:
    """All servers of the project, until they are ready and then for as long as the context lasts."""
    (project / "user_model.yaml").write_text("user_model:\n  _copy: policy_model\n")
    configs = [
        "resources_servers/forgec_library/configs/forgec_library.yaml",
        "resources_servers/forgec_phone/configs/forgec_phone.yaml",
        "user_model.yaml",
    ]
    options = [option for config in configs for option in ("--config", config)]
    command = [
        str(programs / "gym"), "env", "start", *options, "--model-type", "openai_model", "--model", "scripted",
        "--model-url", url, "--model-api-key", "none", "++skip_venv_if_present=true",
        f"++uv_venv_dir={folder / 'venvs'}",
    ]  # fmt: skip
    log = folder / "servers.log"
    with log.open("wb") as out:
        servers = subprocess.Popen(
            command, cwd=project, env=_variables(), stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )
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


def _wait(servers: subprocess.Popen[bytes], log: Path) -> None:
    began = time.monotonic()
    while "servers ready!" not in log.read_text(errors="replace"):
        if servers.poll() is not None or time.monotonic() - began > PATIENCE:
            raise SystemExit(f"the servers did not start:\n{log.read_text(errors='replace')[-6000:]}")
        time.sleep(1)
    print(f"servers are ready after {time.monotonic() - began:.0f} seconds", flush=True)


def _run(programs: Path, project: Path, *arguments: str) -> None:
    subprocess.run([str(programs / "gym"), *arguments], cwd=project, env=_variables(), check=True, timeout=PATIENCE)


def _variables() -> dict[str, str]:
    return {**os.environ, "RAY_AUTH_MODE": "disabled", "NEMO_GYM_TELEMETRY": "0"}


def _judged(project: Path) -> int:
    """Whether all is as it should be; what is not is printed."""
    wrong = []
    rollouts = lines(project / "out" / "rollouts.jsonl")
    if len(rollouts) != EPISODES:
        wrong.append(f"{len(rollouts):,} rollouts of {EPISODES:,}")
    for one in rollouts:
        play = one["responses_create_params"]["metadata"]
        masked = play["environment"] == "phone"
        if one["mask_sample"] is not masked or one["reward"] != float(play["play"] == "gold"):
            wrong.append(f"{play}: reward {one['reward']}, masked {one['mask_sample']}: {one['failure_reason']}")
    (path,) = (path for path in (project / "out").iterdir() if path.name.endswith("_aggregate_metrics.json"))
    told = {one["agent_ref"]["name"]: one["agent_metrics"] for one in json.loads(path.read_text())}
    judged = [one["reward"] for one in rollouts if not one["mask_sample"]]
    mean = told["library_agent"]["mean/reward"]
    if abs(mean - sum(judged) / len(judged)) > 1e-9:
        wrong.append(f"NeMo Gym's mean reward is {mean}, that of what is not masked {sum(judged) / len(judged)}")
    if "mean/reward" in told.get("phone_agent", {}):
        wrong.append("NeMo Gym has a mean reward of the phone, whose rollouts are all masked")
    print(f"NeMo Gym says: library {mean:.4f}, phone {told.get('phone_agent')}")
    print(*wrong[:20], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
