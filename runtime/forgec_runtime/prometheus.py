"""Telemetry for Prometheus, through its own library: `pip install forgec-runtime[prometheus]`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from .telemetry import Telemetry


class Measured(Protocol):
    """An environment or workers."""

    def measured(self) -> Telemetry | None: ...


class TelemetryCollector(Collector):
    """What environments counted, by their names, each time that it is scraped.

    Register it once: `prometheus_client.REGISTRY.register(TelemetryCollector({"library": env}))`.
    """

    def __init__(self, environments: Mapping[str, Measured]) -> None:
        self._environments = dict(environments)

    def collect(self) -> Iterator[CounterMetricFamily]:
        """Counters of calls and of seconds by environment and tool, and of steps, queries and workers replaced."""
        calls = CounterMetricFamily("forgec_calls", "Calls of tools.", labels=("environment", "tool", "kind"))
        seconds = CounterMetricFamily("forgec_seconds", "Seconds of calls.", labels=("environment", "tool", "stage"))
        totals = {
            "steps": CounterMetricFamily("forgec_steps", "Steps.", labels=("environment",)),
            "queries": CounterMetricFamily("forgec_queries", "Times DuckDB was asked.", labels=("environment",)),
            "restarts": CounterMetricFamily("forgec_restarts", "Workers replaced.", labels=("environment",)),
        }
        for environment, one in self._environments.items():
            counted = one.measured()
            if counted is None:
                continue
            told = counted.as_dict()
            for name, total in totals.items():
                total.add_metric((environment,), told[name])
            for tool, spent in told["tools"].items():
                for kind, count in spent["calls"].items():
                    calls.add_metric((environment, tool, kind), count)
                for stage, value in spent["seconds"].items():
                    seconds.add_metric((environment, tool, stage), value)
        yield from (calls, seconds, *totals.values())
