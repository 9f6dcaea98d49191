"""Information closure: whether an agent can know what a plan gives to tools, goes by and says.

It knows what the user said and knows, what it reads before it begins (the policy, the tools, the clock), and what came
out of earlier calls. What it works out from these must be worked out of nothing else: constants of a query are known
like any others, and what is read from tables stands in what a call gave.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from forgec.certifying.idle import told
from forgec.certifying.replay import Run
from forgec.certifying.shapes import shaped
from forgec.certifying.sql_text import constants
from forgec.certifying.trial import Trial
from forgec.certifying.verdict import Outcome
from forgec_runtime import Computed, Environment, Literal, Reason, Ref, Step
from forgec_runtime.results import json_able
from forgec_runtime.says import Unsayable, said
from forgec_runtime.tasks import Expression
from forgec_runtime.types import Boolean, Enum, List, Map, Record, Type

PLAIN_NUMBERS = frozenset({-1, 0, 1, 100})
"""Numbers that a calculation may have without anybody having named them."""


def closure(trials: Sequence[Trial], free: Iterable[tuple[str, str]] = ()) -> Outcome:
    """Every argument, condition and saying of every plan can be known.

    `free` are the nodes and arguments that make no difference, whatever is given: nobody has to know them.
    """
    sources: Counter[str] = Counter()
    for trial in trials:
        for run in trial.golds:
            found = _Known(trial, run, frozenset(free)).unknown(sources)
            if found:
                hint = "make it a `fact`, let an earlier call of the plan tell it, or write it into the policy"
                return Outcome("closure", False, f"{trial.where}{found}", hint)
    evidence = ", ".join(f"{number} from {source}" for source, number in sorted(sources.items()))
    return Outcome("closure", True, evidence or "nothing to know")


class _Known:
    """What can be known as one run goes on."""

    def __init__(self, trial: Trial, run: Run, free: frozenset[tuple[str, str]]) -> None:
        self.env, self.task, self.run, self.free = trial.env, trial.task, run, free
        self.told = [*told(trial), *_read(trial.env)]
        self.facts = {fact.name for fact in trial.task.facts}
        self.samples = {sample.name for sample in trial.task.samples}
        self.results: list[Any] = []

    def unknown(self, sources: Counter[str]) -> str:
        """The first thing that cannot be known, in words; counts where the others come from."""
        made = {call.node: call for call in self.run.calls}
        for node in self.run.nodes:
            if node.when is not None and (why := self._missing(node.when)):
                return f"the condition of {node.name}: {why}"
            if isinstance(node, Reason):
                if node.name in self.run.values and (why := self._missing(node.value)):
                    return f"{node.name}: {why}"
            elif node.name in made:
                for name, value in node.arguments.items():
                    why = self._argument(node, name, value, made[node.name].arguments[name])
                    if why:
                        return f"{node.name}, argument {name}: {why}"
                    sources[self._source(value)] += 1
                self.results.append(made[node.name].result.value)
                self.__dict__.pop("leaves", None)
        for saying, value in zip(self.task.says, self.run.sayings, strict=True):
            if value is not None and (why := self._missing(saying.value)):
                return f"says {saying.doc!r}: {why}"
        return ""

    def _source(self, value: Expression) -> str:
        if isinstance(value, Ref):
            return "facts" if value.name in self.facts else "samples" if value.name in self.samples else "results"
        return "texts" if isinstance(value, Literal) else "results"

    def _argument(self, step: Step, name: str, value: Expression, given: Any) -> str:
        if (step.name, name) in self.free:
            return ""
        if not isinstance(value, Literal):
            return self._missing(value)
        type_ = next((one.type for one in self.env.tool(step.tool).parameters if one.name == name), None)
        return next((text for one in _to_know(type_, given) if (text := self._missing_value(one))), "")

    def _missing(self, value: Expression) -> str:
        """Why something cannot be known."""
        if isinstance(value, Literal):
            return next((text for one in _leaves(json_able(value.value)) if (text := self._missing_value(one))), "")
        if isinstance(value, Ref):
            return self._missing_ref(value)
        inputs = next((text for ref in value.inputs if (text := self._missing_ref(ref))), "")
        if inputs:
            return inputs
        if value.query.tables:
            return self._missing_lookup(value)
        shape, lifted = shaped(value.query)
        written = (*lifted, *constants(shape.text))
        return next((text for one in written if (text := self._missing_constant(one))), "")

    def _missing_ref(self, ref: Ref) -> str:
        if ref.name not in self.samples:
            return ""  # a fact, or a node, which was looked at itself
        values = _leaves(json_able(ref.read(self.run.values)))
        return next((f"{ref} is drawn, and {text}" for one in values if (text := self._missing_value(one))), "")

    def _missing_lookup(self, value: Computed) -> str:
        """Of something that is read from tables: whether that what comes out of it stood in the result of a call."""
        episode, inputs = self.run.episode, [ref.read(self.run.values) for ref in value.inputs]
        found = self.env.evaluate_all(value.query, [(episode, inputs)], value.kind)[0]
        text = "" if isinstance(found, Exception) else next(
            (text for one in _leaves(json_able(found)) if (text := self._missing_value(one))), ""
        )  # fmt: skip
        return f"it is read from {', '.join(value.query.tables)}, and {text}" if text else ""

    def _missing_constant(self, value: Any) -> str:
        if isinstance(value, str):
            if not any(char.isalnum() for char in value) or value in _values_of_enums(self.env):
                return ""
            return self._missing_value(value)
        if value in PLAIN_NUMBERS or not self._missing_value(json_able(value)):
            return ""
        return self._missing_value(json_able(value)) if self._missing_value(json_able(value * 100)) else ""

    def _missing_value(self, value: Any) -> str:
        if value is None or isinstance(value, bool) or value in self.leaves or _is_said(value, self.told):
            return ""
        if _is_said(value, [text for text in self.leaves if isinstance(text, str)]):
            return ""
        return f"{json.dumps(value, ensure_ascii=False)} is no fact, and stands in no text and no earlier result"

    @cached_property
    def leaves(self) -> frozenset[Any]:
        """Every single value that a call has told, and every name in it."""
        return frozenset(leaf for result in self.results for leaf in _leaves(json_able(result), names=True))


def _to_know(type_: Type | None, given: Any) -> Iterator[Any]:
    """What somebody has to know who writes down an argument: not what a schema lists."""
    if isinstance(type_, Enum | Boolean) or given is None:
        return
    if isinstance(type_, Record) and isinstance(given, Mapping):
        for part in type_.fields:
            yield from _to_know(part.type, given.get(part.name))
    elif isinstance(type_, List) and isinstance(given, list):
        for one in given:
            yield from _to_know(type_.of, one)
    elif isinstance(type_, Map) and isinstance(given, Mapping):
        for key, one in given.items():
            yield from _to_know(type_.key, key)
            yield from _to_know(type_.of, one)
    else:
        yield from _leaves(given)


def _leaves(value: Any, *, names: bool = False) -> Iterator[Any]:
    """The single values in a value as JSON has it."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            if names:
                yield name
            yield from _leaves(part, names=names)
    elif isinstance(value, list):
        for part in value:
            yield from _leaves(part, names=names)
    else:
        yield value


def _is_said(value: Any, texts: Sequence[str]) -> bool:
    try:
        return said(value, texts)
    except Unsayable:  # an empty text is known to everybody
        return True


_texts: WeakKeyDictionary[Environment, list[str]] = WeakKeyDictionary()
_enums: WeakKeyDictionary[Environment, frozenset[str]] = WeakKeyDictionary()


def _read(env: Environment) -> list[str]:
    """What every agent reads of an environment: its policy with all rules, its tools, the clock."""
    if env not in _texts:
        tools = [*env.tools.values(), *env.user_tools.values()]
        docs = [text for tool in tools for text in (tool.doc, *(one.doc for one in tool.parameters))]
        texts = [env.doc, env.policy, f"{env.clock.isoformat()}", env.clock.date().isoformat(), *docs]
        policy = env.hashes.path.with_name("policy.md") if env.hashes is not None else None
        if policy is not None and Path(policy).is_file():
            texts.append(policy.read_text(encoding="utf-8"))
        _texts[env] = [text for text in texts if text]
    return _texts[env]


def _values_of_enums(env: Environment) -> frozenset[str]:
    if env not in _enums:
        types = [column.type for table in env.tables for column in table.columns]
        types += [one.type for tool in (*env.tools.values(), *env.user_tools.values()) for one in tool.parameters]
        _enums[env] = frozenset(value for type_ in types for value in _enumerated(type_))
    return _enums[env]


def _enumerated(type_: Type) -> Iterator[str]:
    if isinstance(type_, Enum):
        yield from type_.values
    elif isinstance(type_, Record):
        for part in type_.fields:
            yield from _enumerated(part.type)
    elif isinstance(type_, List | Map):
        yield from _enumerated(type_.of)
