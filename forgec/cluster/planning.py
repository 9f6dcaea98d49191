"""A run as it will be: its rows, its recipe, what starts it, and what was found amiss."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from forgec.cluster import checking
from forgec.cluster.checking import Finding
from forgec.cluster.checkout import Checkout
from forgec.cluster.config import ClusterConfig
from forgec.cluster.launching import script
from forgec.cluster.recipe import as_yaml, recipe
from forgec.cluster.rows import Row, rows
from forgec.cluster.seats import Seats
from forgec.exporting.nemo_gym import rows as gym_rows
from forgec.exporting.nemo_gym.cases import NotPaid
from forgec.exporting.nemo_gym.names import Names
from forgec.exporting.nemo_gym.project import CannotExport, Options, Part, project
from forgec.rollouts.run import Job
from forgec.training.choosing import Choice, episodes
from forgec.training.config import ConfigError
from forgec.training.episodes import Episode, Stage
from forgec.training.opening import USERS, code_hash, hashes_of, load
from forgec.training.questions import Question, Stratified
from forgec.writing import write_whole
from forgec_runtime import Environment

MOST_ROWS = 20_000
"""A run that asks more questions begins again with the first."""
RECORD = "run.json"
GYM = "gym"
"""The folder of the servers of NeMo Gym."""
GOLD = 2
"""Gold episodes of each task that are measured."""


@dataclass(frozen=True)
class Plan:
    """All that a run needs but GPUs."""

    config: ClusterConfig
    folder: Path
    files: Mapping[str, bytes]
    """What is written into the folder, by name."""
    start: str
    """The name of the file that starts it."""
    findings: Sequence[Finding]

    @property
    def stops(self) -> bool:
        """Whether something was found for which it must not begin."""
        return any(one.stops for one in self.findings)

    def write(self) -> None:
        """Write the files of the run; one that is there already is gone on with, from NeMo-RL's last checkpoint.

        Raises `OSError`, and `ConfigError` where the folder has another run, or something else, or a file of the run
        that somebody has changed.
        """
        if (self.folder / RECORD).exists():
            changed = _changed((self.folder / RECORD).read_bytes(), self.files[RECORD])
            if changed:
                raise ConfigError(f"{self.folder} has another run: {', '.join(changed)}; name another folder by --out")
        elif self.folder.exists() and any(self.folder.iterdir()):
            raise ConfigError(f"{self.folder} has other files in it")
        written = {name for name in self.files if (self.folder / name).exists()}
        for name in sorted(written):
            if (self.folder / name).read_bytes() != self.files[name]:
                raise ConfigError(
                    f"{self.folder / name} was changed since it was rendered: remove it, and say what is wanted in the "
                    "configuration, which has [recipe] for keys of NeMo-RL and [launch] for how it is started"
                )
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            if name not in written:
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                write_whole(self.folder / name, content)


def plan(
    config: ClusterConfig, folder: Path, *, python: Path | None, untested: bool, tell: Callable[[str], None]
) -> Plan:
    """The plan of a run in a folder. Raises `CheckoutError`, `ConfigError`, `RowError`."""
    folder, config = folder.resolve(), _from_anywhere(config)
    checkout = Checkout.at(config.checkout)
    environments, choices = load(config.environments, allow_uncertified=config.allow_uncertified)
    names = list(environments)
    findings = checking.of_checkout(config, checkout, untested=untested)
    findings += checking.of_launch(config, checkout, folder) + checking.of_tasks(config, choices)

    tell("renders the questions")
    steps = min(
        config.algorithm.steps * (2 if config.algorithm.dynamic_sampling else 1), max(MOST_ROWS // config.asked, 1)
    )
    stratified = Stratified(
        {name: choice.trained for name, choice in choices.items()}, config.algorithm.questions, config.seed
    )
    held_out = [one.question for one in episodes(choices, "held_out", config.algorithm.validation)]
    with _seats(config, environments) as seats:
        training = list(_rows(config, environments, seats, [stratified.batch(step) for step in range(steps)]))
        validation = list(_rows(config, environments, seats, [held_out]))

    gym = config.rollouts == "gym"
    servers_files = _gym(config, environments, choices) if gym else {}
    agents = [Names(name).agent for name in names] if gym else names
    servers = [folder / GYM / _server(name) for name in names] if gym else []
    made = recipe(config, checkout, folder, agents, validation=len(validation), gym=servers)
    tell("looks whether everything fits")
    findings += checking.of_recipe(config, made) + checking.of_batch(config, made) + checking.of_template(made)
    tools = {name: [tool.schema for tool in one.tools.values()] for name, one in environments.items()}
    gold = Stage(environments, USERS[config.user], config.user, config.limits).gold(_measured(choices))
    findings += checking.of_tokens(config, [one.prompt for one in (*training, *validation)], gold, tools)
    findings += checking.of_interpreter(config, checkout, python)

    start, text = script(config, checkout, folder)
    record = {
        "format": 1,
        "backend": "nemo-rl",
        "config": config.model_dump(mode="json"),
        "packages": {name: hashes_of(one, choices[name]) for name, one in environments.items()},
        "code": code_hash(),
    }
    files = {
        RECORD: json.dumps(record, indent=2).encode() + b"\n",
        "recipe.yaml": as_yaml(made).encode(),
        "train.jsonl": _lines(config, environments, training),
        "validation.jsonl": _lines(config, environments, validation),
        **{f"{GYM}/{path}": content for path, content in servers_files.items()},
        start: text.encode(),
    }
    return Plan(config, folder, files, start, findings)


def _from_anywhere(config: ClusterConfig) -> ClusterConfig:
    """The configuration with paths that do not hang on the folder in which the command is given."""
    environments = tuple(
        one.model_copy(
            update={"package": one.package.resolve(), "lock": None if one.lock is None else one.lock.resolve()}
        )
        for one in config.environments
    )
    return config.model_copy(update={"checkout": config.checkout.resolve(), "environments": environments})


def _changed(before: bytes, now: bytes) -> list[str]:
    """What of the record of a run is not as it was, in words."""
    if before == now:
        return []
    new = json.loads(now)
    try:
        old = json.loads(before)
        told = {"config": "its configuration", "packages": "its environments or tasks", "code": "forgec's code"}
        return [text for key, text in told.items() if old.get(key) != new[key]] or ["its record"]
    except (ValueError, AttributeError):
        return ["its record is damaged"]


def launched(run: Path) -> tuple[Path, bool]:
    """The checkout that a run was launched with, and whether turns are begun with `<think>`. Raises `ConfigError`."""
    try:
        config = json.loads((run / RECORD).read_bytes())["config"]
        return Path(config["checkout"]), bool(config["model"]["thinking"])
    except (OSError, ValueError, KeyError, TypeError):
        raise ConfigError(f"there is neither a model nor a run of --backend nemo-rl in {run}") from None


@contextmanager
def _seats(config: ClusterConfig, environments: Mapping[str, Environment]) -> Iterator[Seats]:
    seats = Seats(environments.values(), USERS[config.user], config.user, config.limits)
    try:
        yield seats
    finally:
        seats.close()


def _rows(
    config: ClusterConfig, environments: Mapping[str, Environment], seats: Seats, asked: Sequence[Sequence[Question]]
) -> Iterator[Row]:
    return rows(asked, environments, seats, thinking=config.model.thinking)


def _gym(
    config: ClusterConfig, environments: Mapping[str, Environment], choices: Mapping[str, Choice]
) -> dict[str, bytes]:
    """The servers of NeMo Gym for the environments. Raises `ConfigError`."""
    parts = []
    for asked, (name, environment) in zip(config.environments, environments.items(), strict=True):
        train, held_out = ([environment.tasks[one] for one in some]
                           for some in (choices[name].trained, choices[name].held_out))  # fmt: skip
        parts.append(Part(environment, asked.package, train, held_out))
    try:
        return project(parts, Options(config.user))
    except (CannotExport, NotPaid) as error:
        raise ConfigError(str(error)) from None


def _server(environment: str) -> Path:
    """The configuration of an environment's server, in the project of NeMo Gym."""
    names = Names(environment)
    return Path(names.server_path) / "configs" / f"{names.folder}.yaml"


def _lines(config: ClusterConfig, environments: Mapping[str, Environment], asked: Sequence[Row]) -> bytes:
    """Questions as the rollouts want them: NeMo Gym's agents ask a server for how a scripted user opens."""
    if config.rollouts == "native":
        return b"".join(one.line() for one in asked)
    made = []
    for one in asked:
        environment = environments[one.environment]
        opening = (one.opening,) if config.user == "briefed" else ()
        job = Job(environment.tasks[one.task], one.seed, 0)
        made.append(gym_rows.row(environment, Names(one.environment), job, opening))
    return gym_rows.lines(made).encode()


def _measured(choices: Mapping[str, Choice]) -> list[Episode]:
    return [
        Episode(Question(name, task, seed)) for name, choice in choices.items() for task in choice.names
        for seed in range(GOLD)
    ]  # fmt: skip
