"""The `test` blocks of a spec, run in the compiled environment and by the reference executor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from forgec.diagnostics import Diagnostic, Label
from forgec.model import spec as m
from forgec.reference import ReferenceEpisode
from forgec.source import Span
from forgec.sql.query import Sql, values_in
from forgec_runtime import Environment, sql
from forgec_runtime.arguments import decode_arguments
from forgec_runtime.engine import EngineError
from forgec_runtime.results import json_able, to_json


@dataclass(frozen=True)
class TestResult:
    """One test: its findings are empty when it passed."""

    __test__ = False  # not a test of pytest's

    test: m.Test
    findings: tuple[Diagnostic, ...]


class _Failed(Exception):
    def __init__(self, message: str, span: Span, label: str) -> None:
        self.diagnostic = Diagnostic("AFS901", message, Label(span, label))


def run_test(spec: m.Spec, environment: Environment, test: m.Test) -> TestResult:
    """Run one test both ways; every step must do what it says, and both must agree on it."""
    try:
        _Run(spec, environment, test).run()
    except _Failed as failed:
        return TestResult(test, (failed.diagnostic,))
    return TestResult(test, ())


class _Run:
    def __init__(self, spec: m.Spec, environment: Environment, test: m.Test) -> None:
        self.environment = environment
        self.test = test
        self.episode = environment.reset(test.world)
        self.reference = ReferenceEpisode(spec, test.world)
        self.values: dict[str, Any] = {}

    def run(self) -> None:
        for step in self.test.steps:
            if isinstance(step, m.Run):
                self._call(step)
            elif self._value(step.sql) is not True:
                raise _Failed("this does not hold", step.sql.span, self._shown(step.sql))

    def _value(self, sql_: Sql) -> Any:
        try:
            return self.reference.evaluate(sql_, self.values)
        except EngineError as error:
            raise _Failed("this cannot be computed", sql_.span, str(error).splitlines()[0]) from None

    def _call(self, step: m.Run) -> None:
        arguments = {name: self._value(sql_) for name, sql_ in step.call.arguments.items()}
        tool = self.environment.tool(step.call.tool)
        given = [(self.episode, step.call.tool, _json_able(arguments))]
        (result,) = self.environment.step(given, by=None)
        decoded = decode_arguments(tool, _json_able(arguments))
        if isinstance(decoded, str):
            self._compare_failure(step, result.text)
            return
        named = dict(zip((p.name for p in tool.parameters), decoded, strict=True))
        answer = self.reference.call(step.call.tool, named)
        if (result.ok, result.text if not result.ok else result.value) != (
            answer.ok,
            answer.text if not answer.ok else answer.value,
        ):
            ours = result.text if not result.ok else repr(result.value)
            theirs = answer.text if not answer.ok else repr(answer.value)
            raise _Failed("the compiled tool and the reference disagree", step.call.span, f"{ours} against {theirs}")
        if result.ok and result.text != to_json(answer.told):
            message = "the compiled tool and the reference say different things"
            raise _Failed(message, step.call.span, f"{result.text} against {to_json(answer.told)}")
        if self.episode.state() != self.reference.state():
            raise _Failed("the compiled tool and the reference leave different states", step.call.span, "after this")
        if not result.ok:
            self._compare_failure(step, result.text)
            return
        if step.fails is not None:
            raise _Failed("this call should fail", step.call.span, f"it succeeds with {result.text}")
        if step.returns is not None:
            wanted = self._value(step.returns)
            if result.value != wanted:
                raise _Failed(f"expected {sql.text(wanted)}", step.returns.span, f"it returns {result.text}")
        if step.name is not None:
            self.values[step.name] = result.value

    def _compare_failure(self, step: m.Run, text: str) -> None:
        if step.fails is None:
            raise _Failed("this call fails", step.call.span, text)
        if step.fails != text:
            raise _Failed(f'expected the error "{step.fails}"', step.call.span, f'it fails with "{text}"')

    def _shown(self, condition: Sql) -> str:
        """The values that a condition looked at."""
        parts = []
        for node in values_in(condition.expression):
            head, *path = node.name.split(".")
            value = self.values.get(head)
            for part in path:
                value = value.get(part) if value is not None else None
            parts.append(f"${node.name} is {sql.text(value)}")
        return ", ".join(parts) or "false on the final state"


def _json_able(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as an agent writes them, without those that are null."""
    return {name: json_able(value) for name, value in arguments.items() if value is not None}
