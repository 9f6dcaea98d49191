"""Episodes that live in workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .briefing import Asked, Briefing, Known
from .errors import WorkerError
from .starts import is_plain, start
from .task_file import constant
from .tasks import Task

if TYPE_CHECKING:
    from .process import Process
    from .workers import Workers


class RemoteEpisode:
    """An episode that lives in a worker. When nothing refers to it any more, the worker forgets it.

    `messages`, what the agent said to the user, are kept here and go along with what is asked. So is what it takes to
    bring it back when its worker dies: how it began, and the calls that it made since.
    """

    __slots__ = ("__weakref__", "_number", "_pool", "_worker", "began", "lost", "made", "messages", "task", "world")

    def __init__(
        self, pool: Workers, worker: Process, number: int, world: str, task: Task | None, began: tuple[str, Any]
    ) -> None:
        self.world = world
        self.task = task
        self.messages: list[str] = []
        self.lost = False
        """Whether its worker died and it could not be brought back."""
        self.began = began
        """A start with its seed, or a snapshot."""
        self.made: list[tuple[bytes, int]] = []
        """The calls since that changed it: each a message of a step, and its place in it."""
        self._pool = pool
        self._worker: Process | None = worker
        self._number = number
        worker.episodes[number] = self

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._worker is None

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
        fork = self._pool._begin(self._here(), self._number, self.world, self.task, self.began)
        fork.made.extend(self.made)
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

    def _here(self) -> Process:
        """Its worker. Raises `ValueError` for a closed episode, `WorkerError` for a lost one."""
        if self._worker is None:
            raise ValueError("the episode is closed")
        if self._worker.ended:
            raise WorkerError(self._worker.ended)
        if self.lost:
            raise WorkerError(f"{self._worker.place} died, and this episode could not be brought back")
        return self._worker

    def _ask(self, what: str, *more: Any) -> Any:
        worker = self._here()
        return self._pool._exchange([(worker, [what, self._number, *more])])[worker]
