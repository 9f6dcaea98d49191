"""Published episodes played again in an environment of ours, and judged by its tasks."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from forgec.importing.tau2.lines import task_name
from forgec.regrading.agreement import Answered, Episode, LeftOut, Report
from forgec.regrading.published import Results, Simulation
from forgec.regrading.recorded import agent_of, user_of
from forgec.rollouts.limits import Limits
from forgec.rollouts.run import Failure, Job, Runner, Setup, Side
from forgec.rollouts.trajectory import Trajectory
from forgec_runtime import AsyncEnvironment, Environment

AT_ONCE = 64
"""How many episodes are played at a time."""
LIMITS = Limits(turns=1_000, calls=5_000, seconds=None, silent=1_000, message_text=1_000_000, arguments=1_000_000)
"""What was played once is played to its end again."""


class Regrading:
    """The episodes of a file that an environment has the tasks of."""

    def __init__(self, environment: Environment, results: Results) -> None:
        self.environment = environment
        self.left_out: list[LeftOut] = []
        self.simulations: dict[tuple[str, int], Simulation] = {}
        """By task and trial."""
        self._tasks = {task.id: task for task in results.tasks}
        info = results.info
        self._sides = [
            Side(f"recorded:{one.llm or one.implementation or 'unknown'}", one.llm)
            for one in (info.agent_info, info.user_info)
        ]
        seen: defaultdict[str, int] = defaultdict(int)
        for simulation in results.simulations:
            self._take(simulation, seen)

    def _take(self, simulation: Simulation, seen: defaultdict[str, int]) -> None:
        name = task_name(simulation.task_id)
        trial = seen[name]
        seen[name] += 1
        if name not in self.environment.tasks:
            why = "the environment has no such task"
        elif not simulation.messages:
            why = "it has no messages"
        elif simulation.reward_info is None:
            why = "it has no reward"
        elif (task := self._tasks.get(simulation.task_id)) and not task.judged(simulation.reward_info):
            why = "the gold calls that it was judged by are not those of its task"
        else:
            self.simulations[name, trial] = simulation
            return
        self.left_out.append(LeftOut(simulation.task_id, trial, why))

    async def play(self, done: Callable[[Trajectory], None]) -> Report:
        """Play them all; `done` is handed each trajectory as it ends, and may raise `OSError`."""
        report = Report(left_out=self.left_out)
        failures: list[Failure] = []

        def ended(trajectory: Trajectory) -> None:
            done(trajectory)
            simulation = self.simulations[trajectory.task, trajectory.trial]
            report.episodes.append(self._episode(simulation, trajectory))

        agent, user = self._sides
        setup = Setup(
            agent, user, lambda part: agent_of(self.simulations[part.task.name, part.trial]),
            lambda part: user_of(self.simulations[part.task, part.trial]), LIMITS,
        )  # fmt: skip
        front: AsyncEnvironment[Any] = AsyncEnvironment(self.environment)
        async with front:
            runner = Runner(self.environment, front, setup, ended, failures)
            jobs = [Job(self.environment.tasks[name], 0, trial) for name, trial in self.simulations]
            report.stopped = await runner.play(jobs, AT_ONCE)
        report.left_out += [
            LeftOut(self.simulations[one.key[1], one.key[3]].task_id, one.key[3], one.text) for one in failures
        ]
        order = {key: place for place, key in enumerate(self.simulations)}
        report.episodes.sort(key=lambda one: order[one.name, one.trial])
        return report

    def _episode(self, simulation: Simulation, trajectory: Trajectory) -> Episode:
        paid = simulation.reward_info
        assert paid is not None
        task = self._tasks.get(simulation.task_id)
        return Episode(
            task=simulation.task_id, name=trajectory.task, trial=trajectory.trial, theirs=paid,
            ended=simulation.termination_reason, reward=trajectory.reward, parts=trajectory.parts,
            reasons=tuple(one.text for one in trajectory.reasons), other=_other_answer(simulation, trajectory),
            beside=_said_beside_calls(simulation), has_state=task is None or task.has_state,
        )  # fmt: skip


def _other_answer(simulation: Simulation, trajectory: Trajectory) -> Answered | None:
    """The first call that is answered otherwise here than it was there."""
    ours = [message for message in trajectory.messages if message.role == "tool"]
    for number, (here, there) in enumerate(zip(ours, simulation.results, strict=False), 1):
        if _answer(here.content, failed=here.kind != "ok") != _answer(there.content or "", failed=there.error):
            return Answered(number, here.name or "", there.content or "", here.content)
    return None


def _answer(text: str, *, failed: bool) -> Any:
    """What a result says: texts that are JSON by what they say, since some tools write theirs as text."""
    if failed:
        return ("error", text.removeprefix("Error: "))
    for _ in range(2):
        try:
            text = json.loads(text)
        except (ValueError, RecursionError):
            break
        if not isinstance(text, str):
            break
    return ("ok", text)


def _said_beside_calls(simulation: Simulation) -> str:
    """What the agent wrote beside calls: tau2-bench takes it for said, here nobody hears it."""
    texts = [one.content or "" for one in simulation.messages or () if one.role == "assistant" and one.tool_calls]
    return "\n".join(texts).lower().replace(",", "")
