"""More cores: one environment, its episodes spread over several processes of this machine, which are confined.

Each worker is a process with an environment of its own; an episode lives in one of them, and what the parent holds is
a handle. A step is one message to each worker that has calls in it, and one back. The parent encodes the message of
the next worker while the first one already works. It remembers how each episode came to where it is, so that a worker
that dies is replaced by one that goes on where it was.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import garbage
from .arguments import Arguments
from .confining.attempts import Attempt
from .confining.posture import Posture, reached
from .crew import Crew
from .errors import FAULT_TEXT, STOPPED, WorkerError
from .loading import load_environment
from .process import Process
from .remote import RemoteEpisode
from .results import Kind, Result
from .reward import Reward, Shortfall
from .starts import is_plain
from .tasks import Task
from .tool import Side
from .wire import pack

if TYPE_CHECKING:
    from .telemetry import Telemetry

MAX_WAITING = 10_000
"""How many episodes may begin and end before their worker is told of it without being asked for anything else."""
MAX_MADE = 200
"""How many calls of an episode are remembered; with more, a snapshot of it is."""
MAX_KEPT = 64 * 2**20
"""Bytes of messages that are remembered; with more, snapshots of all episodes are."""

_KINDS = ("refused", "invalid", "fault")

StepCall = tuple[RemoteEpisode, str, Arguments]
_Reply = tuple[list[str], list[tuple[int, Kind, str]], list[int]]
"""The texts of results, the kind and detail of those that are not ok, and which of them changed anything."""


class Workers:
    """An environment over `count` processes, each with a core to itself.

    It plays as `Environment` does: `reset`, `step`, `call`, `reward`, `restore`, and `fork` and `snapshot` of episodes.
    New episodes go to one worker after the other, forks stay where they are. Results have the kind, text and detail
    that they have in one process; their `value` stays in the worker and is None here. Arguments travel as JSON.

    Workers confine themselves as far as their system can; with less than the `posture` asked for, they are refused.
    Without `confine` they do not, so that debuggers and what tools print can be seen.

    What takes longer than `timeout` seconds is stopped, and a worker that cannot be stopped is killed. A worker that
    dies is replaced, with its episodes as they were, and does what it died of again, in halves: a call that it dies of
    twice is a fault, all others have the results that they would have had.

    Close it, or use it in a `with`; it is closed, too, when nothing refers to it any more and when the program ends.
    `allow_sources` and `trusted` are those of `load_environment`. Raises `LoadError`, `PostureError`, `WorkerError`.
    """

    def __init__(
        self,
        folder: str | Path,
        count: int | None = None,
        *,
        allow_sources: Iterable[str] = (),
        trusted: bool = False,
        confine: bool = True,
        posture: Posture | None = None,
        timeout: float = 30.0,
        telemetry: bool = False,
    ) -> None:
        self.environment = load_environment(folder, allow_sources=allow_sources, trusted=trusted)
        """The environment in this process, for its tasks, tools and policy."""
        self._crew = Crew(
            self.environment, Path(folder).resolve(), count or os.cpu_count() or 1,
            trusted=trusted, confine=confine, least=posture or "process", seconds=timeout, telemetry=telemetry,
        )  # fmt: skip
        self.telemetry = self.environment.measure() if telemetry else None
        self._lock = threading.RLock()
        self._count = 0
        self._kept = 0

    # -- what an environment says of itself --------------------------------------------------------------------

    @property
    def tasks(self) -> Mapping[str, Task]:
        return self.environment.tasks

    @property
    def posture(self) -> Posture:
        """How far the workers are confined."""
        return reached(self._crew.processes[0].layers)

    @property
    def layers(self) -> dict[str, str]:
        """The layers of confinement, each with why it is not on."""
        return dict(self._crew.processes[0].layers)

    def measured(self) -> Telemetry | None:
        """What was counted so far, here and in the workers; None without `telemetry`. Raises `WorkerError`.

        What a worker that died had counted since it was last asked is lost; what its successor plays again counts.
        """
        if self.telemetry is not None:
            live = [worker for worker in self._crew.processes if not worker.ended]
            for counted in self._exchange([(worker, ["measured"]) for worker in live]).values():
                self.telemetry.add(counted)
            self.telemetry.restarts = self._crew.restarts
        return self.telemetry

    @property
    def processes(self) -> list[int]:
        """The ids of the processes."""
        return [worker.pid for worker in self._crew.processes if not worker.ended]

    def attempts(self) -> list[Attempt]:
        """What came of trying to get out of a worker, from within it. Raises `WorkerError`."""
        worker = self._crew.next()
        return [Attempt(*one) for one in self._exchange([(worker, ["attempts"])])[worker]]

    # -- episodes ----------------------------------------------------------------------------------------------

    def reset(self, start: str, seed: int = 0) -> RemoteEpisode:
        """A fresh episode in a world, or of a task in its world: see `Environment.reset`. Raises `WorkerError`."""
        world, task = self.environment.start_of(start)
        with self._lock:
            self._crew.open(world)
            worker = self._crew.next()
            if task is None or is_plain(task):
                return self._begin(worker, start, world, task, ("start", (start, 0)))
            episode = RemoteEpisode(self, worker, self._numbered(), world, task, ("start", (start, seed)))
            self._exchange([(worker, ["begin", episode._number, start, seed])])  # what can fail is waited for
            return episode

    def restore(self, snapshot: bytes) -> RemoteEpisode:
        """The episode of a snapshot: see `Environment.restore`. Raises `SnapshotError`, `LoadError`, `WorkerError`."""
        world, task, _ = self.environment.start_of_snapshot(snapshot)
        with self._lock:
            self._crew.open(world)
            worker = self._crew.next()
            text = snapshot.decode()
            episode = RemoteEpisode(self, worker, self._numbered(), world, task, ("snapshot", text))
            said = self._exchange([(worker, ["restore", episode._number, text])])[worker]
            episode.messages.extend(said)
            return episode

    def call(self, episode: RemoteEpisode, tool: str, by: Side | None = "agent", /, **arguments: Any) -> Result:
        """One call: a step of one."""
        return self.step([(episode, tool, arguments)], by)[0]

    def step(self, calls: Sequence[StepCall], by: Side | None = "agent") -> list[Result]:
        """Run calls of any tools in any episodes: see `Environment.step`.

        Raises `ValueError` for closed episodes before anything is run, and `WorkerError` when a worker has died and
        cannot be replaced, with the `results` of the others.
        """
        with self._lock:
            places: dict[Process, list[int]] = {}
            for i, (episode, _, _) in enumerate(calls):
                worker = episode._worker
                if worker is None or worker.ended or episode.lost:
                    episode._here()  # says why it cannot go on
                elif worker in places:
                    places[worker].append(i)
                else:
                    places[worker] = [i]
            step = _Step(self._crew, calls, by)
            paused = garbage.pause(len(calls))
            try:
                step.run(places)
            finally:
                if paused:
                    garbage.resume()
            self._remember(step)
        if None in step.results:
            error = WorkerError("; ".join(worker.ended for worker in places if worker.ended))
            error.results = step.results
            raise error
        return step.results

    def reward(self, episode: RemoteEpisode, task: Task) -> Reward:
        """The reward of an episode as it stands: see `Environment.reward`. Raises `GoldError`, `WorkerError`."""
        return self.rewards([(episode, task)])[0]

    def rewards(self, asked: Iterable[tuple[RemoteEpisode, Task]]) -> list[Reward]:
        """The rewards of many episodes, each for a task. Their reasons have no `difference`; its text is there."""
        places: dict[Process, list[int]] = {}
        messages: dict[Process, list[Any]] = {}
        for i, (episode, task) in enumerate(asked):
            if self.environment.tasks.get(task.name) is not task:
                raise ValueError(f"{task.name} is no task of {self.environment.name}")
            worker = episode._here()
            places.setdefault(worker, []).append(i)
            messages.setdefault(worker, []).append((episode._number, task.name, episode.messages))
        replies = self._exchange([(worker, ["rewards", message]) for worker, message in messages.items()])
        rewards: list[Any] = [None] * sum(map(len, places.values()))
        for worker, found in replies.items():
            for i, (value, reasons) in zip(places[worker], found, strict=True):
                rewards[i] = Reward(value, tuple(Shortfall(kind, text) for kind, text in reasons))
        return rewards

    def close(self) -> None:
        """End the workers, and with them all episodes."""
        self._crew.close()

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- workers -----------------------------------------------------------------------------------------------

    def _numbered(self) -> int:
        self._count += 1
        return self._count

    def _begin(
        self, worker: Process, start: str | int, world: str, task: Task | None, began: tuple[str, Any]
    ) -> RemoteEpisode:
        with self._lock:
            episode = RemoteEpisode(self, worker, self._numbered(), world, task, began)
            worker.begun.append((episode._number, start))
            if len(worker.begun) + len(worker.gone) > MAX_WAITING:
                self._exchange([(worker, None)])
            return episode

    def _exchange(self, messages: Iterable[tuple[Process, list[Any] | None]]) -> dict[Process, Any]:
        with self._lock:
            return self._crew.exchange(messages)

    def _remember(self, step: _Step) -> None:
        """Have snapshots in the place of calls that are too many to be remembered."""
        self._kept += step.sent
        long: dict[Process, list[RemoteEpisode]] = {}
        for one in step.long:
            if not one.lost:
                long.setdefault(one._here(), []).append(one)
        if self._kept > MAX_KEPT:
            self._kept = 0
            held = [(worker, list(worker.episodes.values())) for worker in self._crew.processes]
            long = {
                worker: [one for one in some if one.made and not one.closed and not one.lost] for worker, some in held
            }
        asked = [(worker, ["snapshots", [one._number for one in some]]) for worker, some in long.items() if some]
        with suppress(WorkerError):  # whoever uses these episodes next is told
            for worker, snapshots in self._crew.exchange(asked).items():
                for one, snapshot in zip(long[worker], snapshots, strict=True):
                    one.began, one.made = ("snapshot", snapshot), []


class _Step:
    """One step: its calls, and their results as they come in."""

    def __init__(self, crew: Crew, calls: Sequence[StepCall], by: Side | None) -> None:
        self.results: list[Any] = [None] * len(calls)
        self.sent = 0
        self.long: dict[RemoteEpisode, None] = {}
        """Its episodes that have made many calls since they began or were saved."""
        self._crew, self._calls, self._by = crew, calls, by

    def run(self, places: dict[Process, list[int]]) -> None:
        """Have each worker make its calls; those that it did not come to are made again, in halves."""
        for worker, (undone, died) in self._attempt(places).items():
            if died or len(places[worker]) > 1:
                self._again(worker, undone)

    def _again(self, worker: Process, indices: list[int]) -> None:
        middle = (len(indices) + 1) // 2
        for part in (indices[:middle], indices[middle:]):
            if not part or worker.ended:
                continue
            for undone, died in self._attempt({worker: part}).values():
                if len(part) > 1:
                    self._again(worker, undone)
                elif died:
                    self.results[part[0]] = Result("fault", FAULT_TEXT, detail=f"{died}, when it made this call alone")

    def _attempt(self, places: dict[Process, list[int]]) -> dict[Process, tuple[list[int], str]]:
        """Make calls; gives those that workers did not come to, and how the worker died, if it has."""
        sent: dict[Process, tuple[bytes, list[int]]] = {}
        blank: dict[Process, list[Result]] = {}

        def messages() -> Iterator[tuple[Process, bytes]]:
            for worker, indices in places.items():
                sent[worker] = self._message([i for i in indices if not self._calls[i][0].lost])
                yield worker, sent[worker][0]
            for worker, (_, indices) in sent.items():  # while the workers work
                blank[worker] = [Result("ok", "") for _ in indices]

        undone: dict[Process, tuple[list[int], str]] = {}
        for worker, (kind, told) in self._crew.talk(messages()).items():
            data, indices = sent[worker]
            try:
                stopped = self._place(data, indices, blank[worker], told) if kind == "ok" else indices
            except (ValueError, TypeError, IndexError, KeyError):
                kind, stopped = "confused", indices
            if kind not in ("ok", "dead"):
                self._crew.kill(worker, "was killed: its answer makes no sense")
            if stopped:
                undone[worker] = stopped, worker.died
            self.sent += len(data)
        for worker in undone:
            if worker.died:
                self._crew.revive(worker)
        return undone

    def _message(self, indices: list[int]) -> tuple[bytes, list[int]]:
        """The message for some calls, and those that are in it: what cannot travel has its result."""
        part = [self._calls[i] for i in indices]
        told = [[one[0]._number for one in part], [one[1] for one in part], [one[2] for one in part]]
        try:
            return pack(["step", *told, self._by]), indices
        except Exception:
            kept = [i for i in indices if self._travels(i)]
            if len(kept) == len(indices):
                raise
            return self._message(kept)

    def _travels(self, i: int) -> bool:
        try:
            pack([*self._calls[i][1:]])
        except Exception as error:
            self.results[i] = Result("invalid", f"The arguments cannot be sent to a worker: {error}")
            return False
        return True

    def _place(self, data: bytes, indices: list[int], found: list[Result], reply: _Reply) -> list[int]:
        """Take the answer to a message into results; gives the calls that were stopped."""
        texts, others, changed = reply
        for result, text in zip(found, texts, strict=True):
            result.text = text
        for i, kind, detail in others:
            if kind not in _KINDS:
                raise ValueError(kind)
            found[i].kind, found[i].detail = kind, detail
        results, calls = self.results, self._calls
        for i, result in zip(indices, found, strict=True):
            results[i] = result
        for place in changed:
            found[place].changed = True
            episode = calls[indices[place]][0]
            episode.made.append((data, place))
            if len(episode.made) >= MAX_MADE:
                self.long[episode] = None
        return [indices[i] for i, _, detail in others if detail == STOPPED]
