"""The folder of a run: made, described, and opened again; and what a run will be, in words."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import ValidationError

import forgec
import forgec_runtime
from forgec.alone import InUseError, alone
from forgec.certifying.finding import lock_of_package
from forgec.certifying.lock import LockError, require_certified
from forgec.certifying.lock import read as read_lock
from forgec.codegen.manifest import edited
from forgec.training import board, options
from forgec.training.choosing import Choice, choose
from forgec.training.config import ConfigError, EnvironmentPart, RunConfig
from forgec.training.episodes import Stage
from forgec.users.briefed import BriefedUser
from forgec.users.scripted import ScriptedUser
from forgec.users.user import Users
from forgec.writing import write_whole
from forgec_runtime import Environment, LoadError, load_environment

USERS: Mapping[str, Users] = {"scripted": ScriptedUser, "briefed": BriefedUser}
FORMAT = 1


@dataclass(frozen=True)
class Opened:
    """All that a run needs but its folder."""

    config: RunConfig
    environments: Mapping[str, Environment]
    choices: Mapping[str, Choice]

    @property
    def stage(self) -> Stage:
        return Stage(self.environments, USERS[self.config.user], self.config.user, self.config.limits)

    def record(self) -> dict[str, Any]:
        """What identifies the run: the same record and code make the same curve."""
        return {
            "format": FORMAT,
            "config": self.config.model_dump(mode="json"),
            "options": options.told(self.config),
            "packages": {name: hashes_of(one, self.choices[name]) for name, one in self.environments.items()},
            "code": code_hash(),
            "versions": {name: version(name) for name in ("torch", "transformers", "tokenizers", "duckdb")},
        }


def open_environments(config: RunConfig) -> Opened:
    """Load the packages of a run and choose its tasks. Raises `ConfigError`."""
    if config.tensorboard and not board.installed():
        raise ConfigError("TensorBoard is not installed: pip install 'forgec[tensorboard]', or leave `tensorboard` out")
    return Opened(config, *load(config.environments, allow_uncertified=config.allow_uncertified))


def load(
    parts: Sequence[EnvironmentPart], *, allow_uncertified: bool
) -> tuple[dict[str, Environment], dict[str, Choice]]:
    """The environments of some packages, and which of their tasks are for what. Raises `ConfigError`."""
    environments: dict[str, Environment] = {}
    choices: dict[str, Choice] = {}
    for part in parts:
        try:
            environment = load_environment(part.package)
        except LoadError as error:
            raise ConfigError(str(error)) from None
        changed = edited(part.package)
        if changed:
            raise ConfigError(
                f"{part.package} is not as it was compiled: {', '.join(changed[:3])} changed; compile its spec again"
            )
        if environment.hashes is None:
            raise ConfigError(f"{part.package} has no hashes: compile it again")
        if environment.name in environments:
            raise ConfigError(f"the environment {environment.name} is named twice")
        environments[environment.name] = environment
        choices[environment.name] = choose(part, environment)
        if not allow_uncertified:
            _require_certified(part, environment, choices[environment.name])
    return environments, choices


def _require_certified(part: EnvironmentPart, environment: Environment, choice: Choice) -> None:
    path = part.lock or lock_of_package(part.package)
    if path is None:
        raise ConfigError(f"{environment.name}: its spec is not found, and no lock: name one, or --allow-uncertified")
    assert environment.hashes is not None
    try:
        require_certified(read_lock(path), environment.hashes, choice.names)
    except LockError as error:
        raise ConfigError(f"{environment.name}, by {path}: {error}; or train with --allow-uncertified") from None


def recorded(folder: Path) -> dict[str, Any]:
    """The record of a run. Raises `ConfigError`."""
    path = folder / "run.json"
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise ConfigError(f"there is no run in {folder}: {path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ConfigError(f"{path} is damaged: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ConfigError(f"{path} is no record of a run")
    return content


def config_of(record: Mapping[str, Any], folder: Path) -> RunConfig:
    """The configuration of a run. Raises `ConfigError`."""
    try:
        return RunConfig.model_validate(record.get("config"))
    except ValidationError as error:
        raise ConfigError(f"{folder / 'run.json'} has a configuration of another version: {error}") from None


def drift(record: Mapping[str, Any], opened: Opened) -> list[str]:
    """What has changed since a run began, so that it cannot go on to the same curve."""
    found = []
    for name, now in opened.record()["packages"].items():
        then = record.get("packages", {}).get(name, {})
        found += [f"the {kind} of {name}" for kind in ("environment", "grading") if then.get(kind) != now[kind]]
        for kind in ("worlds", "tasks"):
            names = sorted({*then.get(kind, {}), *now[kind]})
            changed = [one for one in names if then.get(kind, {}).get(one) != now[kind].get(one)]
            found += [f"{kind.removesuffix('s')} {one} of {name}" for one in changed]
    return found


def begin(folder: Path, opened: Opened) -> None:
    """Make the folder of a run. Raises `ConfigError` where there is something else already, `OSError`."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        what = "a run in it already: go on with --resume" if (folder / "run.json").exists() else "other files in it"
        raise ConfigError(f"{folder} has {what}")
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "run.json", json.dumps(opened.record(), indent=2).encode() + b"\n")


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Nobody else writes to the run meanwhile. Raises `ConfigError`, where somebody does."""
    try:
        with alone(folder / "run.json"):
            yield
    except InUseError:
        raise ConfigError(f"another process is training in {folder}") from None


def code_hash() -> str:
    """The hash of all Python code of forgec and its runtime."""
    digest = hashlib.sha256()
    for package in (forgec, forgec_runtime):
        root = Path(package.__file__ or "").parent
        for path in sorted(root.rglob("*.py")):
            digest.update(path.relative_to(root.parent).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def hashes_of(environment: Environment, choice: Choice) -> dict[str, Any]:
    """The hashes of what a run plays of an environment."""
    known = environment.hashes
    assert known is not None
    worlds = sorted({environment.tasks[name].world for name in choice.names})
    return {
        "environment": known.environment,
        "grading": known.grading,
        "worlds": {world: known.worlds[world] for world in worlds},
        "tasks": {name: known.tasks[name] for name in choice.names},
    }
