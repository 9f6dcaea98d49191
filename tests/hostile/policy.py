"""A malicious policy: calls that are meant to break an environment, by a seed.

`python -m tests.hostile.policy --seeds 100 --calls 10000 generated/*` plays it for long; what it finds names the seed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from forgec_runtime import Environment, Episode, Result, load_environment
from forgec_runtime.limits import MAX_HELD, MAX_RESULT, weight_of
from forgec_runtime.tool import Parameter, Tool
from forgec_runtime.types import Boolean, Date, Decimal, Double, Enum, Integer, List, Map, Record, Text, Timestamp, Type

SECONDS = 5
"""CPU seconds that one step may take."""
LEAKS = ("Traceback", "Error:", "duckdb", "DuckDB", "Binder", "Catalog", 'File "', "orjson", "sqlglot", " object at 0x")
"""What no agent should read of the engine and the interpreter."""
TEXTS = (
    "", " ", "\0", "a\0b", "\ud800", "a\udfffb", "\u202eabc", "\x1b[2J", "\ufeff", "e\u0301", "\U0001f600" * 50,
    "x" * 65_536, "x" * 65_537, "y" * 1_000_001, "'; drop table accounts; --", "' or '1' = '1", "') union select 1 --",
    "%", "_%", "%_%\\", "{0.__class__}", "{{7*7}}", "$v0", "?", ":x", "\ue000", "null", "None", "NaN", "true",
    "../../etc/passwd", "now()", "2025-02-30", "0000-00-00", "9999-12-31", "1e309", "-0", "9" * 400, "\r\n",
    "<|im_end|>",
    '{"a": 1}', "[" * 1_000,
)  # fmt: skip
NUMBERS = (
    0, -1, 1, 2**31, 2**53 - 1, 2**53, -(2**53), 2**63, 2**64, 10**40, 10**400, -(10**400), 0.1, -0.0, 1e-320, 1e16,
    1e300, 1e308, float("nan"), float("inf"), -float("inf"), True, 0.005, 99999999.995,
)  # fmt: skip
JSONS = (
    "", "{", "[]", "null", "1", '"x"', "{'a': 1}", '{"a": NaN}', '{"a": 1,}', '{"a": 1} {"a": 2}', "\ufeff{}",
    "[" * 100_000, '{"a":' * 10_000, '{"a": ' + "9" * 100_000 + "}", '{"a": "\\ud800"}', '{"a": "\ud800"}',
    "x" * 10_000_000, '{"a": 1e999}', '{"\\u0000": 1}',
)  # fmt: skip
BYTES = (b"", b"\xff\xfe", b"\x00", b"{}", b'{"a": "\xed\xa0\x80"}', b"{" * 1_000)


class Policy:
    """Draws calls for one environment, knowing its tools, its rows, and whatever was told so far."""

    def __init__(self, env: Environment, seed: str) -> None:
        self.env = env
        self.random = Random(seed)
        self.tools = [*env.tools.values(), *env.user_tools.values()]
        self.known: list[Any] = ["x", 1]
        """Values that are or were somewhere: keys of this and of other episodes, texts of results, its own."""
        self.keys: dict[str, list[Any]] = {table.name: [] for table in env.tables}
        """First parts of keys by table, of whichever episode."""

    def learn(self, value: Any) -> None:
        """Remember something that may be of use later; not too much."""
        self.known.append(value)
        if len(self.known) > 500:
            del self.known[self.random.randrange(len(self.known))]

    def learn_rows(self, episode: Episode) -> None:
        """Remember keys and other values of an episode."""
        for table in self.env.tables:
            rows = episode.state()[table.name]
            for row in rows[:20] + rows[-5:]:
                if table.key:
                    self.keys[table.name].append(row[table.key[0]])
                for value in row.values():
                    self.learn(value if isinstance(value, str | int | float) else str(value))

    def call(self) -> tuple[Any, Any]:
        """The name of a tool, and arguments."""
        draw = self.random
        if draw.random() < 0.03:
            return draw.choice(
                (None, 1, "", "__class__", "x" * 100_000, "\ud800", ["x"], self.tools[0].name.upper())
            ), {}
        tool = draw.choice(self.tools)
        if draw.random() < 0.05:
            return tool.name, draw.choice((*JSONS, *BYTES, None, [], 5, "{}"))
        arguments = dict(self.arguments(tool))
        return tool.name, self.spelled(arguments)

    def spelled(self, arguments: dict[str, Any]) -> Any:
        """The arguments as they are, or as JSON, perhaps with a name twice."""
        draw = self.random.random()
        if draw < 0.6:
            return arguments
        text = json.dumps(arguments, ensure_ascii=draw < 0.8, default=str)
        if draw > 0.95 and arguments:
            name = self.random.choice(list(arguments))
            text = text[:-1] + f", {json.dumps(name)}: {json.dumps(self.nasty(), default=str)}}}"
        return text

    def arguments(self, tool: Tool) -> Iterator[tuple[str, Any]]:
        """Something for most parameters, and now and then for what is none."""
        for parameter in tool.parameters:
            if parameter.required or self.random.random() < 0.5:
                if self.random.random() < 0.97:
                    yield parameter.name, self.value(parameter)
        if self.random.random() < 0.03:
            yield self.random.choice(("__class__", "extra", "x" * 10_000, "call", "\0")), self.nasty()

    def value(self, parameter: Parameter) -> Any:
        """A value for a parameter: mostly one of its type."""
        draw = self.random.random()
        if draw < 0.1:
            return self.nasty()
        if draw < 0.15 and parameter.optional:
            return None
        if draw < 0.8 and parameter.references is not None and self.keys[parameter.references]:
            return self.random.choice(self.keys[parameter.references])
        if draw < 0.6:
            fitting = [known for known in self.known if self.fits(parameter.type, known)]
            if fitting:
                return self.random.choice(fitting)
        return self.typed(parameter.type)

    def fits(self, type_: Type, value: Any) -> bool:
        return (
            isinstance(value, int | float) if isinstance(type_, Integer | Decimal | Double) else isinstance(value, str)
        )

    def typed(self, type_: Type, depth: int = 0) -> Any:
        """A value that is, or might pass for one, of a type."""
        draw = self.random
        if isinstance(type_, Enum):
            return draw.choice(type_.values)
        if isinstance(type_, Text):
            return self.doubled() if draw.random() < 0.3 else draw.choice(TEXTS)
        if isinstance(type_, Integer | Decimal | Double):
            return draw.choice((*NUMBERS, draw.randrange(-100, 100), round(draw.uniform(-100, 100), 2), "1.50"))
        if isinstance(type_, Boolean):
            return draw.random() < 0.5
        if isinstance(type_, Date | Timestamp):
            day = f"{draw.choice((1, 2024, 2025, 9999)):04}-{draw.randrange(1, 13):02}-{draw.randrange(1, 32):02}"
            return day if isinstance(type_, Date) else day + draw.choice(("T00:00:00", " 23:59", "T09:00:00.123456"))
        if depth > 3:
            return None
        if isinstance(type_, Record):
            return {field.name: self.typed(field.type, depth + 1) for field in type_.fields if draw.random() < 0.95}
        count = draw.choice((0, 1, 2, 5, 5, 5, 1_000, 1_001)) if depth == 0 else draw.choice((0, 1, 3))
        if isinstance(type_, List):
            one = self.typed(type_.of, depth + 1)
            return [one if count > 10 else self.typed(type_.of, depth + 1) for _ in range(count)]
        if isinstance(type_, Map):
            one = self.typed(type_.of, depth + 1)
            return {str(self.typed(type_.key, depth + 1)) + str(i): one for i in range(count)}
        return self.nasty()

    def doubled(self) -> str:
        """A text of one that is known, twice."""
        texts = [known for known in self.known if isinstance(known, str)]
        text = (self.random.choice(texts) * 2)[:70_000] if texts else "xx"
        self.learn(text)
        return text

    def nasty(self) -> Any:
        """Something that is of no type at all, or of another."""
        draw = self.random.random()
        if draw < 0.4:
            return self.random.choice(TEXTS)
        if draw < 0.7:
            return self.random.choice(NUMBERS)
        if draw < 0.8:
            deep: Any = 1
            for _ in range(self.random.choice((1, 5, 200))):
                deep = [deep] if self.random.random() < 0.5 else {"a": deep}
            return deep
        return self.random.choice((None, [], {}, [[]], {"a": None}, ["x"] * 5_000, {f"k{i}": i for i in range(2_000)}))


def play(env: Environment, seed: str, calls: int) -> Counter[str]:
    """Have the policy play so many calls, a few or a thousand in a step, beside episodes that it must not touch.

    Gives how many results there were of each kind. Raises `AssertionError` for what must never happen.
    """
    policy, counts = Policy(env, f"{env.name} {seed}"), Counter[str]()
    draw = policy.random
    starts = [*(name for name, world in env.worlds.items() if not world.outside), *env.tasks]
    bystanders = _bystanders(env, policy, starts)
    digests = [episode.digest() for episode in bystanders]
    attackers = [env.reset(draw.choice(starts)) for _ in range(3)]
    for episode in (*bystanders, *attackers):
        policy.learn_rows(episode)
    made = 0
    while made < calls:
        size = min(draw.choice((1, 1, 5, 30, 200, 1_000)), calls - made)
        step = [(draw.choice(attackers), *policy.call()) for _ in range(size)]
        made += size
        started = time.process_time()
        results = env.step(step, by=draw.choice(("agent", "user", None, None, None, None)))
        assert time.process_time() - started < SECONDS, "a step took too long"
        assert len(results) == size
        for (_, tool, _), result in zip(step, results, strict=True):
            _look_at(tool, result)
            counts[result.kind] += 1
            policy.learn(result.text[:1_000])
        if draw.random() < 0.1:
            index = draw.randrange(len(attackers))
            one = attackers[index]
            attackers[index] = draw.choice((one.fork(), env.restore(one.snapshot()), env.reset(draw.choice(starts))))
    for episode in attackers:
        assert sum(map(weight_of, (episode.overlay or {}).values())) <= MAX_HELD, "an episode holds too much"
        episode.messages.extend(draw.choices(TEXTS[:5] + TEXTS[12:], k=3))
        episode.digest()
        if episode.task is not None:
            assert 0 <= env.reward(episode, episode.task).value <= 1
    assert [episode.digest() for episode in bystanders] == digests, "another episode was changed"
    return counts


def _bystanders(env: Environment, policy: Policy, starts: list[str]) -> list[Episode]:
    """Episodes in which something has happened: the gold plans of some tasks, and the start of each world."""
    episodes = [env.reset(start) for start in starts[:4]]
    for tool in policy.tools:
        for episode in episodes:
            env.step([(episode, tool.name, dict(policy.arguments(tool)))], by=None)
    return episodes


def _look_at(tool: object, result: Result) -> None:
    """What holds for every result, whatever was called."""
    assert result.kind in ("ok", "refused", "invalid", "fault"), result.kind
    assert type(result.text) is str
    assert len(result.text) <= MAX_RESULT, f"{tool}: a text of {len(result.text):,} characters"
    if not result.ok:
        assert not any(word in result.text for word in LEAKS), f"{tool}: {result.text[:500]}"
    if result.kind == "fault":
        assert result.text == "The tool could not complete this call"
    elif result.kind == "ok":
        json.loads(result.text)


def main(arguments: list[str]) -> int:
    """Play many seeds; the first that finds something ends it."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile.policy", description=__doc__)
    parser.add_argument("packages", nargs="+", type=Path)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--calls", type=int, default=10_000)
    given = parser.parse_args(arguments)
    for seed in range(given.first, given.first + given.seeds):
        for package in given.packages:
            counts = play(load_environment(package), str(seed), given.calls)
            print(f"{package} seed {seed}: {dict(sorted(counts.items()))}", file=sys.stderr, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
