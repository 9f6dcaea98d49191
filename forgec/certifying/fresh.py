"""Gold plans, played again in a process that shares nothing with this one but the package."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType

from forgec.certifying.messages import receive, send
from forgec.certifying.trial import Trial, digests
from forgec.certifying.verdict import Outcome
from forgec_runtime import Environment, LoadError, Task

_Asked = list[tuple[Task, int]]


class FreshProcess:
    """A process that plays gold plans on its own; started when it is first needed, and kept for more."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> FreshProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End the process; it cannot be asked any more."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(OSError):  # what was not sent yet
                pipe.close()

    def digests(self, asked: _Asked) -> list[list[str]]:
        """Of each task and seed, the digests of the states that its plans end in. Raises `LoadError`."""
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        try:
            send(process.stdin, asked)
            found: list[list[str]] = receive(process.stdout)
        except (OSError, EOFError, ValueError) as error:
            raise LoadError("the process that plays tasks again has died") from error
        return found

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            known = self.environment.hashes
            if known is None:
                raise ValueError("only environments of generated packages can be certified")
            command = [sys.executable, "-m", "forgec.certifying.player", str(known.path.parent)]
            seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
            self._process = subprocess.Popen(
                [*command, *sorted(self.environment.allowed)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONHASHSEED": seed},
            )
        return self._process


def fresh(process: FreshProcess, cases: Sequence[Sequence[Trial]]) -> list[Outcome]:
    """For each task: every seed and plan ends in the same state there."""
    trials = [trial for case in cases for trial in case]
    found = iter(process.digests([(trial.task, trial.seed) for trial in trials]) if trials else ())
    outcomes = []
    for case in cases:
        other = [trial for trial in case if next(found) != digests(trial)]
        text = f"{other[0].where}another state there" if other else "the same state"
        hint = "report this: a spec cannot say anything that depends on the process" if other else ""
        outcomes.append(Outcome("fresh", not other, text, hint))
    return outcomes
