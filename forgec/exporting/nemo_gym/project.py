"""The files of a project for NeMo Gym, as text. The same environment and options give the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from forgec.exporting.nemo_gym.cases import cases
from forgec.exporting.nemo_gym.names import AGENT_TYPE, Names
from forgec.exporting.nemo_gym.openings import openings
from forgec.exporting.nemo_gym.render import rendered, yaml_of
from forgec.exporting.nemo_gym.rows import jobs_of, lines, row
from forgec.resources import resource
from forgec.serving.gym.rows import RESERVED
from forgec_runtime import Environment, Task
from forgec_runtime.tasks import Step

EXAMPLES = 5
"""How many rows the data set of examples has."""
USERS = ("scripted", "briefed", "model")
USER_MODEL = "user_model"
"""The model server that plays users."""
_USER_MODEL = {
    f"openai_{field}": f"${{oc.select:user_{name},${{policy_{name}}}}}"
    for field, name in (("base_url", "base_url"), ("api_key", "api_key"), ("model", "model_name"))
}
"""Its endpoint: what the command line or env.yaml says, else the policy's."""
LICENSE = "TBD"
"""Of data sets: whoever gives them away decides."""
PINNED = ("forgec", "forgec-runtime")


class CannotExport(Exception):
    """An environment that cannot be served as it is, and why."""


@dataclass(frozen=True)
class Options:
    """How environments are exported."""

    user: str = "scripted"
    seeds: int = 1
    allow_sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
    """One environment of a project: its package, and its tasks for training and for validation."""

    environment: Environment
    package: Path
    train: Sequence[Task]
    validation: Sequence[Task]


def project(parts: Sequence[Part], options: Options) -> dict[str, bytes]:
    """All files, by their paths. Raises `CannotExport`, `NotPaid`, `OSError`."""
    files: dict[str, bytes] = {}
    for part in parts:
        files.update(_environment(part, options))
    folder = f"responses_api_agents/{AGENT_TYPE}"
    files[f"{folder}/app.py"] = resource("templates", "nemo_gym", "agent.py").read_bytes()
    files[f"{folder}/requirements.txt"] = _requirements()
    files[f"{folder}/configs/{AGENT_TYPE}.yaml"] = yaml_of(
        {
            AGENT_TYPE: {
                "responses_api_agents": {
                    AGENT_TYPE: {
                        "entrypoint": "app.py",
                        "resources_server": {"type": "resources_servers", "name": "???"},
                        "model_server": {"type": "responses_api_models", "name": "policy_model"},
                    }
                }
            }
        }
    )
    files[f"{folder}/README.md"] = rendered("agent.md.j2", users=USERS)
    files["README.md"] = rendered("README.md.j2", pinned=_pins())
    return files


def whole(part: Part) -> tuple[str, ...]:
    """The folders that hold nothing but what an environment comes to."""
    names = Names(part.environment.name)
    return names.server_path, names.manifest_path


def _environment(part: Part, options: Options) -> dict[str, bytes]:
    environment, names = part.environment, Names(part.environment.name)
    taken = sorted(RESERVED & {*environment.tools})
    if taken:
        raise CannotExport(
            f"{environment.name} has a tool `{taken[0]}`, which is a route of the server itself: call it something else"
        )
    if options.user == "briefed":
        _check_users_sit_still(environment, (*part.train, *part.validation))
    sets: dict[str, list[dict[str, Any]]] = {}
    fixture_user = "scripted" if options.user == "model" else options.user
    played = []
    for name, tasks in (("train", part.train), ("validation", part.validation)):
        jobs = jobs_of(tasks, options.seeds)
        texts = openings(environment, jobs) if options.user == "briefed" else [()] * len(jobs)
        rows = [row(environment, names, job, text) for job, text in zip(jobs, texts, strict=True)]
        played += list(zip(jobs, rows, strict=True))
        if rows:
            sets[name] = rows
    sets["example"] = [one for _, one in played[:EXAMPLES]]
    found = cases(environment, fixture_user, played)
    determinism = "stochastic" if options.user == "model" else "seeded"
    told: dict[str, Any] = {
        "environment": environment.name, "doc": environment.doc, "user": options.user, "fixture_user": fixture_user,
        "determinism": determinism, "names": names, "sets": {name: len(rows) for name, rows in sets.items()},
        "tools": list(environment.tools.values()), "pinned": _pins(),
    }  # fmt: skip
    server = names.server_path
    files = {
        f"{server}/app.py": rendered("resources_server.py.j2", **told),
        f"{server}/requirements.txt": _requirements(),
        f"{server}/README.md": rendered("resources_server.md.j2", **told),
        f"{server}/configs/{names.folder}.yaml": yaml_of(_config(environment, names, options, sets)),
        f"{server}/tests/test_app.py": rendered("test_app.py.j2", **told),
        f"{server}/tests/verifier_cases.jsonl": lines(found).encode(),
        f"{names.manifest_path}/config.yaml": yaml_of(_front(names)),
        f"{names.manifest_path}/manifest.yaml": yaml_of(_manifest(environment, names, determinism, sets)),
        f"{names.manifest_path}/README.md": rendered("environment.md.j2", **told),
    }
    for name, rows in sets.items():
        files[f"{server}/data/{name}.jsonl"] = lines(rows).encode()
    for path in sorted(part.package.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            inside = path.relative_to(part.package).as_posix()
            files[f"{server}/package/{environment.name}/{inside}"] = path.read_bytes()
    return files


def _check_users_sit_still(environment: Environment, tasks: Sequence[Task]) -> None:
    """Raises `CannotExport` for a task whose user has to do something itself, which a briefed one does not."""
    for task in tasks:
        for node in task.plans[0].nodes:
            if isinstance(node, Step) and node.tool in environment.user_tools:
                who = f"the user of {environment.name}/{task.name}"
                raise CannotExport(f"{who} has to use {node.tool}, which a briefed one does not: choose another --user")


def _config(environment: Environment, names: Names, options: Options, sets: dict[str, Any]) -> dict[str, Any]:
    server: dict[str, Any] = {
        "entrypoint": "app.py",
        "domain": "agent",
        "verified": False,
        "description": _described(environment),
        "user": options.user,
    }
    more: dict[str, Any] = {}
    if options.user == "model":
        server["user_model_server"] = {"type": "responses_api_models", "name": USER_MODEL}
        more[USER_MODEL] = {"responses_api_models": {"openai_model": {"entrypoint": "app.py", **_USER_MODEL}}}
    if options.allow_sources:
        server["allow_sources"] = list(options.allow_sources)
    return {
        names.resources: {"resources_servers": {names.folder: server}},
        names.agent: {
            "responses_api_agents": {
                AGENT_TYPE: {
                    "entrypoint": "app.py",
                    "resources_server": {"type": "resources_servers", "name": names.resources},
                    "model_server": {"type": "responses_api_models", "name": "policy_model"},
                    "datasets": [
                        {
                            "name": name,
                            "type": name,
                            "jsonl_fpath": f"{names.server_path}/data/{name}.jsonl",
                            "license": LICENSE,
                        }
                        for name in sets
                    ],
                }
            }
        },
        **more,
    }


def _front(names: Names) -> dict[str, Any]:
    """What a composition adds from NeMo Gym 0.7 on: the server that stands before the agent's."""
    agent = {"type": "responses_api_agents", "name": names.agent}
    return {
        "config_paths": [f"{names.server_path}/configs/{names.folder}.yaml"],
        names.front: {"environment_servers": {"legacy_agent": {"entrypoint": "app.py", "agent_server": agent}}},
    }


def _manifest(environment: Environment, names: Names, determinism: str, sets: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": names.folder,
        "version": "0.1.0",
        "kind": "environment",
        "integration_profile": "custom-gym-agent-loop",
        "domain": "agent",
        "description": _described(environment),
        "modality": "text",
        "licensing": "unknown",
        "authors": ["forgec"],
        "reward": {"range": [0.0, 1.0], "higher_is_better": True},
        "determinism": determinism,
        "resources_server": names.folder,
        "agent_server": AGENT_TYPE,
        "model_server": "policy_model",
        "datasets": [
            {
                "name": name,
                "type": name,
                "jsonl_fpath": f"{names.server_path}/data/{name}.jsonl",
                "num_repeats": 1,
            }
            for name in sets
        ],
        "session_model": "episode",
        "state": "per_session",
        "lifecycle": "active",
    }


def _described(environment: Environment) -> str:
    return environment.doc or f"The environment {environment.name}."


def _pins() -> list[str]:
    return [f"{name}=={version(name)}" for name in PINNED]


def _requirements() -> bytes:
    return "".join(f"{line}\n" for line in ("nemo-gym", *_pins())).encode()
