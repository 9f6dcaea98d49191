"""Plays a run to its end although it is killed at random: a process that begins it again and again, and kills it.

`python -m tests.rollouts.killing KILLS SEED ARGUMENT...` runs `forgec run ARGUMENT... --resume`, in processes that are
forked off this one. Each is killed once the file of trajectories has grown by a random part of what is missing.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path


def play(arguments: list[str]) -> int:
    """A run in a process of its own; its number."""
    child = os.fork()
    if child:
        return child
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    from forgec.commands import forgec

    try:
        forgec.main([*arguments, "--resume"], standalone_mode=False)
    except SystemExit as done:
        os._exit(int(done.code or 0))
    os._exit(0)


def main(kills: int, seed: int, arguments: list[str]) -> int:
    """Kill so many times, then let it play to its end; its exit code, or 9 where there was nothing left to kill."""
    import forgec.commands.run_command
    import forgec.commands.run_rollouts  # noqa: F401

    chance = random.Random(seed)
    path = Path(arguments[arguments.index("--out") + 1])
    episodes = int(arguments[arguments.index("--trials") + 1])
    for left in range(kills, 0, -1):
        child = play(arguments)
        before = _lines(path)
        goal = before + chance.randint(0, (episodes - before) // (left + 2))
        while _lines(path) < goal:
            if os.waitpid(child, os.WNOHANG)[0]:
                return 9
            time.sleep(0.002)
        time.sleep(chance.random() * 0.02)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(os.waitpid(play(arguments), 0)[1])


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
