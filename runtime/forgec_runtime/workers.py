"""More cores: one environment, its episodes spread over several processes of this machine.

Each worker is a process with an environment of its own; an episode lives in one of them, and what the parent holds is
a handle. A step is one message to each worker that has calls in it, and one back. The parent encodes the message of
the next worker while the first one already works.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from .briefing import Asked, Briefing, Known
from .errors import LoadError, SnapshotError, WorkerError
from .loading import load_environment
from .plan import GoldError
from .results import Kind, Result
from .reward import Reward, Shortfall
from .starts import is_plain, start
from .task_file import constant
from .tasks import Task, TaskError
from .tool import Arguments, Side
from .wire import pack, receive, send, unpack

SHARED_FROM = 8 * 2**20
"""Worlds whose file has at least so many bytes are put into a database once, which all workers read; so are those
with rows outside of the package."""
MAX_WAITING = 10_000
"""How many episodes may begin and end before their worker is told of it without being asked for anything else."""
PATIENCE = 5.0
"""Seconds that a worker has to end by itself when it is closed."""

_ERRORS: dict[str, type[Exception]] = {
    error.__name__: error for error in (LoadError, SnapshotError, GoldError, TaskError, ValueError)
}


class RemoteEpisode:
    """An episode that lives in a worker. When nothing refers to it any more, the worker forgets it.

    `messages`, what the agent said to the user, are kept here and go along with what is asked.
    """

    __slots__ = ("__weakref__", "_number", "_pool", "_worker", "messages", "task", "world")

    def __init__(self, pool: Workers, worker: _Worker, number: int, world: str, task: Task | None) -> None:
        self.world = world
        self.task = task
        self.messages: list[str] = []
        self._pool = pool
        self._worker: _Worker | None = worker
        self._number = number
        worker.held += 1

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._worker is None

    @property
    def lost(self) -> bool:
        """Whether it was lost with its worker."""
        return self._worker is not None and self._worker.ended != ""

    @property
    def ended(self) -> bool:
        """Whether no tool can be called any more. Asks the worker."""
        return bool(self._ask("ended"))

    @property
    def broken_rules(self) -> list[str]:
        """The audited rules that its calls broke, in order. Asks the worker."""
        return list(self._ask("broken_rules"))

    @property
    def briefing(self) -> Briefing:
        """What the user of this episode wants and knows. May ask the worker."""
        if self.task is None:
            return Briefing()
        if is_plain(self.task):
            return start(self._pool.environment, self.task, 0).briefing
        intent, requests, facts = self._ask("briefing")
        asked = tuple(Asked(name, text, tuple(after)) for name, text, after in requests)
        return Briefing(intent, asked, tuple(Known(name, constant(value), doc) for name, value, doc in facts))

    def fork(self) -> RemoteEpisode:
        """An independent copy, in the same worker. Raises `WorkerError`."""
        fork = self._pool._begin(self._here(), self._number, self.world, self.task)
        fork.messages.extend(self.messages)
        return fork

    def snapshot(self) -> bytes:
        """The episode as bytes: see `Episode.snapshot`. Raises `SnapshotError`, `WorkerError`."""
        return str(self._ask("snapshot", self.messages)).encode()

    def digest(self) -> str:
        """The digest of its state: see `Episode.digest`. Raises `WorkerError`."""
        return str(self._ask("digest"))

    def close(self) -> None:
        """Forget it now, rather than when the last reference to it goes."""
        if self._worker is not None:
            self._worker.forget(self._number)
            self._worker = None

    __del__ = close

    def _here(self) -> _Worker:
        """Its worker. Raises `ValueError` for a closed episode, `WorkerError` for a lost one."""
        if self._worker is None:
            raise ValueError("the episode is closed")
        if self._worker.ended:
            raise WorkerError(self._worker.ended)
        return self._worker

    def _ask(self, what: str, *more: Any) -> Any:
        worker = self._here()
        return self._pool._exchange([(worker, [what, self._number, *more])])[worker]


class _Worker:
    """The parent's end of one process."""

    def __init__(self, place: str, folder: Path, trusted: bool, sources: Iterable[str]) -> None:
        program = f"import sys; sys.path[:] = {sys.path!r}; from forgec_runtime.worker import main; main()"
        self.place = place
        self.ended = ""
        """How it came to its end."""
        self.held = 0
        self.begun: list[tuple[int, str | int]] = []
        self.gone: list[int] = []
        trust = "trusted" if trusted else "vetted"
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, str(folder), str(os.getpid()), trust, *sources],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pipesize=2**20,
            process_group=0 if os.name == "posix" else None,  # Ctrl-C is for the parent, which ends its workers
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.requests, self.replies = self.process.stdin, self.process.stdout

    def forget(self, number: int) -> None:
        """Called by the garbage collector, anywhere: it must do no more than this."""
        self.gone.append(number)

    def send(self, data: bytes | None) -> None:
        """A message after what else there is to tell; None tells that alone."""
        if self.begun or self.gone:
            begun, self.begun = self.begun, []
            gone = [self.gone.pop() for _ in range(len(self.gone))]  # more may come in meanwhile
            self.held -= len(gone)
            self._send(pack(["housekeeping", begun, gone]))
        if data is not None:
            self._send(data)

    def _send(self, data: bytes) -> None:
        with suppress(BrokenPipeError):  # whether it lives, its answer will tell
            send(self.requests, data)

    def hear(self) -> tuple[str, Any]:
        """The answer to a message: "ok" and what came of it, the name of an error and its text, or that it died."""
        data = receive(self.replies)
        if data is None:
            self.end()
            return "dead", None
        kind, told = unpack(data)
        return kind, told

    def end(self) -> None:
        """Note that the process is dead, and how it died."""
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:  # it closed its pipe, and lives
            self.process.kill()
            code = self.process.wait()
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        held = self.held - len(self.gone)
        lost = "no episode is lost" if not held else "one episode is lost" if held == 1 else f"{held} episodes are lost"
        self.ended = f"{self.place} (process {self.process.pid}) {how}: {lost}"


class Workers:
    """An environment over `count` processes, each with a core to itself.

    It plays as `Environment` does: `reset`, `step`, `call`, `reward`, `restore`, and `fork` and `snapshot` of episodes.
    New episodes go to one worker after the other, forks stay where they are. Results have the kind, text and detail
    that they have in one process; their `value` stays in the worker and is None here. Arguments travel as JSON.

    A worker that dies takes its episodes along: what needed it raises `WorkerError`, the other workers go on. Close it,
    or use it in a `with`; it is closed, too, when nothing refers to it any more and when the program ends. It is for
    one thread at a time. `allow_sources` and `trusted` are those of `load_environment`. Raises `LoadError`.
    """

    def __init__(
        self,
        folder: str | Path,
        count: int | None = None,
        *,
        allow_sources: Iterable[str] = (),
        trusted: bool = False,
    ) -> None:
        self.environment = load_environment(folder, allow_sources=allow_sources, trusted=trusted)
        """The environment in this process, for its tasks, tools and policy."""
        count = count or os.cpu_count() or 1
        path = Path(folder).resolve()
        self._workers: list[_Worker] = []
        self._close = weakref.finalize(self, _end, self._workers, os.getpid())
        self._opened: set[str] = set()
        self._count = 0
        self._turn = 0
        for i in range(count):
            self._workers.append(_Worker(f"worker {i + 1} of {count}", path, trusted, self.environment.allowed))
        try:
            self._exchange([(worker, ["hello"]) for worker in self._workers])
        except BaseException:
            self.close()
            raise

    # -- what an environment says of itself --------------------------------------------------------------------

    @property
    def tasks(self) -> Mapping[str, Task]:
        return self.environment.tasks

    # -- episodes ----------------------------------------------------------------------------------------------

    def reset(self, start: str, seed: int = 0) -> RemoteEpisode:
        """A fresh episode in a world, or of a task in its world: see `Environment.reset`. Raises `WorkerError`."""
        world, task = self.environment.start_of(start)
        self._open(world)
        worker = self._next()
        if task is None or is_plain(task):
            return self._begin(worker, start, world, task)
        episode = RemoteEpisode(self, worker, self._numbered(), world, task)
        self._exchange([(worker, ["begin", episode._number, start, seed])])  # what can fail is waited for
        return episode

    def restore(self, snapshot: bytes) -> RemoteEpisode:
        """The episode of a snapshot: see `Environment.restore`. Raises `SnapshotError`, `LoadError`, `WorkerError`."""
        world, task, _ = self.environment.start_of_snapshot(snapshot)
        self._open(world)
        worker = self._next()
        episode = RemoteEpisode(self, worker, self._numbered(), world, task)
        said = self._exchange([(worker, ["restore", episode._number, snapshot.decode()])])[worker]
        episode.messages.extend(said)
        return episode

    def call(self, episode: RemoteEpisode, tool: str, by: Side | None = "agent", /, **arguments: Any) -> Result:
        """One call: a step of one."""
        return self.step([(episode, tool, arguments)], by)[0]

    def step(self, calls: Sequence[tuple[RemoteEpisode, str, Arguments]], by: Side | None = "agent") -> list[Result]:
        """Run calls of any tools in any episodes: see `Environment.step`.

        Raises `ValueError` for closed episodes before anything is run, and `WorkerError` when a worker has died, with
        the `results` of the others.
        """
        places: dict[_Worker, list[int]] = {}
        for i, call in enumerate(calls):
            worker = call[0]._worker
            if worker in places:
                places[worker].append(i)
            else:
                places[call[0]._here()] = [i]

        def message(indices: list[int]) -> bytes:
            part = [calls[i] for i in indices]
            told = [[one[0]._number for one in part], [one[1] for one in part], [one[2] for one in part]]
            try:
                return pack(["step", *told, by])
            except Exception:
                kept = [i for i in indices if not refused(i)]
                if len(kept) == len(indices):
                    raise
                indices[:] = kept
                return message(indices)

        def refused(i: int) -> bool:
            """Whether a call cannot travel, which is then its result."""
            try:
                pack([*calls[i][1:]])
            except Exception as error:
                results[i] = Result("invalid", f"The arguments cannot be sent to a worker: {error}")
            return results[i] is not None

        def place(worker: _Worker, reply: tuple[list[str], list[tuple[int, Kind, str]]]) -> None:
            texts, others = reply
            found = [Result("ok", text) for text in texts]
            for i, kind, detail in others:
                found[i].kind, found[i].detail = kind, detail
            for i, result in zip(places[worker], found, strict=True):
                results[i] = result

        results: list[Any] = [None] * len(calls)
        try:
            self._exchange(((worker, message(indices)) for worker, indices in places.items()), place)
        except WorkerError as error:
            error.results = results
            raise
        return results

    def reward(self, episode: RemoteEpisode, task: Task) -> Reward:
        """The reward of an episode as it stands: see `Environment.reward`. Raises `GoldError`, `WorkerError`."""
        return self.rewards([(episode, task)])[0]

    def rewards(self, asked: Iterable[tuple[RemoteEpisode, Task]]) -> list[Reward]:
        """The rewards of many episodes, each for a task. Their reasons have no `difference`; its text is there."""
        places: dict[_Worker, list[int]] = {}
        messages: dict[_Worker, list[Any]] = {}
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
        self._close()

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

    def _next(self) -> _Worker:
        """The worker whose turn it is."""
        for _ in self._workers:
            worker = self._workers[self._turn % len(self._workers)]
            self._turn += 1
            if not worker.ended:
                return worker
        raise WorkerError("; ".join(worker.ended for worker in self._workers) or "the workers are closed")

    def _begin(self, worker: _Worker, start: str | int, world: str, task: Task | None) -> RemoteEpisode:
        episode = RemoteEpisode(self, worker, self._numbered(), world, task)
        worker.begun.append((episode._number, start))
        if len(worker.begun) + len(worker.gone) > MAX_WAITING:
            self._exchange([(worker, None)])
        return episode

    def _open(self, world: str) -> None:
        """Have all workers open a world: from one database where it is large."""
        if world in self._opened:
            return
        live = [worker for worker in self._workers if not worker.ended]
        source = self.environment.worlds[world]
        with tempfile.TemporaryDirectory(prefix="forgec-", ignore_cleanup_errors=True) as folder:
            # the folder may go once all have the file open
            shared = source.outside or _size(source.path) >= SHARED_FROM
            stored = self.environment.store(world, Path(folder)) if shared else None
            self._exchange([(worker, ["open", world, stored]) for worker in live])
        self._opened.add(world)

    def _exchange(
        self,
        messages: Iterable[tuple[_Worker, list[Any] | bytes | None]],
        take: Callable[[_Worker, Any], None] | None = None,
    ) -> dict[_Worker, Any]:
        """Send each worker its message, then hear all of them; `take` gets each answer as it comes in.

        Messages are made one by one, so that a worker begins while that of the next is made. Raises what the workers
        raised, and `WorkerError`.
        """
        asked: list[_Worker] = []
        failures: list[Exception] = []
        replies: dict[_Worker, Any] = {}
        try:
            for worker, message in messages:
                try:
                    data = pack(message) if isinstance(message, list) else message
                except Exception as error:
                    failures.append(TypeError(f"this cannot be sent to a worker: {error}"))
                    continue
                worker.send(data)
                if data is not None:
                    asked.append(worker)
            for worker in asked:
                kind, told = worker.hear()
                if kind == "ok":
                    replies[worker] = told
                    if take is not None:
                        take(worker, told)
                elif kind != "dead":
                    failures.append(_ERRORS[kind](told) if kind in _ERRORS else WorkerError(f"{kind}: {told}"))
        except BaseException:
            self.close()  # half a conversation cannot be taken up again
            raise
        dead = [worker for worker in asked if worker.ended]
        if dead:
            raise WorkerError("; ".join(worker.ended for worker in dead))
        if failures:
            raise failures[0]
        return replies


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _end(workers: list[_Worker], parent: int) -> None:
    """End processes: their pipes close, and they follow; who does not is killed."""
    if os.getpid() != parent:  # a fork of the parent ends; its workers are not its own
        return
    for worker in workers:
        worker.ended = worker.ended or "the workers are closed"
        with suppress(OSError):
            worker.requests.close()
    for worker in workers:
        worker.replies.close()
        try:
            worker.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            worker.process.kill()
            worker.process.wait()
