"""One task with one seed, and what came of playing its plans: what the checks look at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from forgec.certifying.graph import Graph
from forgec.certifying.replay import Run, play
from forgec_runtime import Environment, Episode, Fault, LoadError, Task, TaskError
from forgec_runtime.reward import Shortfall, same_state, shortfalls
from forgec_runtime.says import said


@dataclass(eq=False)
class Trial:
    """A task and a seed. `golds` are the runs of its plans; there are none where no episode begins: see `error`."""

    env: Environment
    task: Task
    seed: int
    start: Episode | None = None
    golds: list[Run] = field(default_factory=list)
    error: str = ""

    @property
    def sound(self) -> bool:
        """Whether all plans were played to their ends."""
        return not self.error and all(run.sound for run in self.golds)

    @property
    def where(self) -> str:
        """The seed, where it makes a difference."""
        return f"with the seed {self.seed}: " if self.task.sampled else ""

    def begun(self) -> Episode:
        """A fresh episode. Costs next to nothing once one has begun."""
        return self.env.reset(self.task, self.seed)

    def paid_as(self, episode: Episode, answers: Sequence[str] = ()) -> Run | None:
        """The plan as whose outcome an episode in which this was said is paid, as `Environment.reward` would judge it;
        None where it is not.
        """
        return next((gold for gold in self.golds if self._is_like(episode, answers, gold)), None)

    def _is_like(self, episode: Episode, answers: Sequence[str], gold: Run) -> bool:
        if not same_state(episode, gold.episode) or episode.broken_rules:
            return False
        if any(value is not None and not said(value, answers) for value in gold.sayings):
            return False
        judged_further = self.task.expect or self.task.never
        return not (judged_further and self.shortfalls(episode, answers, gold))

    def shortfalls(self, episode: Episode, answers: Sequence[str], gold: Run) -> tuple[Shortfall, ...]:
        """What keeps an episode in which this was said from being as one of the plans has it."""
        judged = episode.fork()
        judged.messages.extend(answers)
        return shortfalls(self.env, judged, gold.gold)


def try_out(env: Environment, tasks: Iterable[tuple[Task, int]]) -> list[Trial]:
    """Play all plans of tasks, each with a seed."""
    trials = [Trial(env, task, seed) for task, seed in tasks]
    graphs: dict[Task, list[Graph]] = {}
    for trial in trials:
        try:
            trial.start = trial.begun()
        except (TaskError, LoadError, Fault) as error:
            trial.error = str(error)
            continue
        if trial.task not in graphs:
            graphs[trial.task] = [Graph(plan) for plan in trial.task.plans]
        trial.golds = [strict(trial, graph) for graph in graphs[trial.task]]
    play(env, [run for trial in trials for run in trial.golds])
    return trials


def strict(trial: Trial, graph: Graph, order: Sequence[str] | None = None) -> Run:
    """A run of a plan in a fresh episode, that ends at the first thing that fails."""
    episode = trial.begun()
    values = dict(episode.start.values) if episode.start is not None else {}
    nodes = graph.nodes if order is None else graph.plan.in_order(order)
    return Run(episode, trial.task, graph, values, nodes, strict=True)


def digests(trial: Trial) -> list[str]:
    """Of the states that the plans end in; empty for those that did not come to their ends."""
    return [run.episode.digest() if run.sound else "" for run in trial.golds]
