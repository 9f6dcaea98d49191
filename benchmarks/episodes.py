"""What branching, saving and comparing an episode costs, in microseconds of processor time: the best of many.

    .venv/bin/python benchmarks/episodes.py

Each task of the shipped specs, played by its plan twice: the two final states are compared, as a reward does, once as
they are and once with keys made in another order, so that the quick way fails.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from forgec_runtime import Episode, load_environment
from forgec_runtime.plan import play_gold
from forgec_runtime.reward import state_differences

GENERATED = Path(__file__).parent.parent / "generated"


def best(run: Callable[[], object], repetitions: int = 300) -> float:
    times = []
    for _ in range(repetitions):
        start = time.process_time_ns()
        run()
        times.append(time.process_time_ns() - start)
    return min(times) / 1000


def shifted(episode: Episode) -> Episode:
    """An episode whose next keys are others."""
    episode.counters = {name: last + 1 for name, last in episode.base.serials.items()}
    return episode


def main() -> None:
    print(
        f"{'task':26}{'rows':>5}{'compare':>9}{'renamed':>9}{'digest':>8}{'fork':>6}{'snapshot':>9}{'restore':>9}",
        end="",
    )
    print(f"{'bytes':>7}")
    for folder in sorted(GENERATED.iterdir()):
        env = load_environment(folder)
        for name, task in env.tasks.items():
            one, other = play_gold(env, task).episode, play_gold(env, task).episode
            third = shifted(env.reset(name))
            for call in play_gold(env, task).calls:
                env.call(third, call.tool, **call.arguments)
            saved = one.snapshot()
            figures = [
                best(lambda: state_differences(one, other)),  # noqa: B023
                best(lambda: state_differences(one, third)),  # noqa: B023
                best(one.digest),
                best(one.fork),
                best(one.snapshot),
                best(lambda: env.restore(saved)),  # noqa: B023
            ]
            rows = sum(map(len, one.changes().values()))
            shown = "{:9.1f}{:9.1f}{:8.1f}{:6.1f}{:9.1f}{:9.1f}".format(*figures)
            print(f"{name:26}{rows:5}{shown}{len(saved):7}")


if __name__ == "__main__":
    main()
