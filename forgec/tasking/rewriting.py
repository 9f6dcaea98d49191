"""Another wording of made tasks, by a language model. Each is checked; where it says anything else, the old one stays.

A model is asked for words alone: plans, facts and what has to be said are as they were, and the task with its new words
is certified again.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from forgec.certifying import certify
from forgec.certifying.trial import Trial, try_out
from forgec.diagnostics import Report
from forgec.llm.errors import LLMError
from forgec.tasking.making import Maker
from forgec.tasking.wording import checked
from forgec.tasking.words import value_text
from forgec_runtime.results import json_able
from forgec_runtime.tasks import Task

if TYPE_CHECKING:
    from forgec.llm.client import Client
    from forgec.llm.spending import Meter

ATTEMPTS = 2
"""How often a task is asked for: once more with what was wrong."""
SIZE = 64
"""Tasks at once."""
REWORDED = "reworded"
"""The tag of tasks with other words."""

INSTRUCTIONS = """\
You write what somebody is told who plays a customer. You get the situation and the requests as JSON, in plain words.
Say the same in natural, varied English, still to that person ("You ..."). Keep to this:
- One text for the situation ("intent") and one for each request, in the same order.
- Every name, number, date, address, title and quoted text stays as it is, in the request that it stands in.
- What stands in braces with a dollar sign, such as {$title}, is filled in later: copy it, once for each time.
- Conditions stay conditions: what happens only if something is not possible, or only above an amount.
- What the person wants to hear stays something they want to hear.
- Ask for nothing else. Name no tool, and tell no number of a row that is not there already.
Answer with JSON alone: {"intent": "...", "requests": ["...", "..."]}"""

_COMMON = ("change", "edit", "make", "send", "take", "create")
"""Deeds that anybody may speak of."""
_PLACE = re.compile(r"\{\$[^{}]*\}")
_DENIAL = re.compile(r"\b(not|never|cannot)\b|n\Wt\b", re.IGNORECASE)
_CONDITION = re.compile(r"\b(if|unless|when|in case|provided|otherwise|should|only|as long as)\b", re.IGNORECASE)
_HEARING = re.compile(
    r"\b(hear|know|tell|told|ask|find out|learn|inform|informed|curious|wonder|interested|say|what|which|how|when|"
    r"whether)\b",
    re.IGNORECASE,
)


class Unfit(ValueError):
    """Words that will not do; the text says why, beginning with the kind of fault before a colon."""


@dataclass
class Rewritten:
    """The lines, some with other words; `kept` says of how many the old words stay, and why."""

    lines: list[str] = field(default_factory=list)
    changed: int = 0
    kept: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class _Demand:
    """What a task says now, and what must not be told."""

    name: str
    texts: tuple[str, ...]
    """The intent, and the requests."""
    said: tuple[Any, ...]
    hidden: tuple[str, ...]


def rewrite(maker: Maker, lines: Sequence[str], client: Client, meter: Meter) -> Rewritten:
    """The tasks of lines in other words. A model that fails, or says too much or too little, changes nothing."""
    done = Rewritten()

    async def all_of_them() -> None:
        try:
            for start in range(0, len(lines), SIZE):
                some = [json.loads(line) for line in lines[start : start + SIZE]]
                demands = list(_demands(maker, some))
                answers = await asyncio.gather(*(_words(maker, client, meter, one) for one in demands))
                _take(maker, done, lines[start : start + SIZE], some, answers)
        finally:
            await client.close()

    asyncio.run(all_of_them())
    return done


def _demands(maker: Maker, lines: Sequence[Mapping[str, Any]]) -> Iterator[_Demand]:
    """What each line says; what only the plan tells is found by playing it."""
    tasks = [_task(maker, line) for line in lines]
    trials = try_out(maker.ground.env, [(task, 0) for task in tasks])
    for line, trial in zip(lines, trials, strict=True):
        texts = (line["intent"], *(request["text"] for request in line["requests"]))
        said = tuple(fact["value"] for fact in line["facts"] if isinstance(fact["value"], str | int))
        yield _Demand(line["name"], texts, said, tuple(_told_by_plans(trial)))


def _task(maker: Maker, line: Mapping[str, Any]) -> Task:
    read = maker.reader.read(json.dumps(line, ensure_ascii=False))
    if isinstance(read, Report):
        raise Unfit(f"does not compile: {read.diagnostics[0].message}")
    return read


def _told_by_plans(trial: Trial) -> Iterator[str]:
    """The answers, and what stands in results and has digits, as the numbers of rows do."""
    for run in trial.golds:
        yield from run.answers
        for call in run.calls:
            for leaf in _texts(json_able(call.result.value)):
                if any(char.isdigit() for char in leaf):
                    yield leaf


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
    elif isinstance(value, str):
        yield value


async def _words(maker: Maker, client: Client, meter: Meter, demand: _Demand) -> tuple[str, ...] | str:
    """The new texts of a task, or why there are none."""
    asked = {"intent": demand.texts[0], "requests": list(demand.texts[1:])}
    messages = [
        {"role": "system", "content": INSTRUCTIONS},
        {"role": "user", "content": json.dumps(asked, ensure_ascii=False, indent=1)},
    ]
    problem = ""
    for _ in range(ATTEMPTS):
        try:
            answer = await client.complete(messages, meter=meter, scope=f"words of {demand.name}")
        except LLMError as error:
            return f"no answer: {error.kind}"
        try:
            texts = _read(answer.text, len(demand.texts) - 1)
            _check(maker, demand, texts)
            return texts
        except Unfit as error:
            problem = str(error)
            messages += [
                {"role": "assistant", "content": answer.text},
                {"role": "user", "content": f"That will not do: {problem}. Answer with the whole JSON again."},
            ]
    return problem


def _read(text: str, requests: int) -> tuple[str, ...]:
    """The texts in an answer. Raises `Unfit`."""
    try:
        value = json.loads(text[text.index("{") : text.rindex("}") + 1])
        found = [value["intent"], *value["requests"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Unfit("unreadable: it is no JSON with an intent and requests") from None
    if len(found) != requests + 1:
        raise Unfit(f"another number of requests: there are {requests}, not {len(found) - 1}")
    if not all(isinstance(one, str) and one.strip() and len(one) < 2000 for one in found):
        raise Unfit("unreadable: a text is missing, empty, or endless")
    return tuple(" ".join(one.split()) for one in found)


def _check(maker: Maker, demand: _Demand, texts: Sequence[str]) -> None:
    """Whether the texts say the same. Raises `Unfit`."""
    for number, (old, new) in enumerate(zip(demand.texts, texts, strict=True)):
        where = f"request {number}" if number else "the intent"
        if sorted(_PLACE.findall(old)) != sorted(_PLACE.findall(new)):
            raise Unfit(f"a place lost or new: {where} has not the same {{$...}}")
        quoted = re.findall(r"'([^']+)'", old)
        said = [value for value in demand.said if _in(value, old)] + [one for one in quoted if not _PLACE.search(one)]
        numbers = re.findall(r"(?<![\w{$])\d[\d.,:-]*\d|(?<![\w{$.])\d(?![\w.])", _PLACE.sub("", old))
        found = checked(_PLACE.sub("", new), [*said, *numbers], demand.hidden, _PLACE.sub("", old))
        if number == 0:
            found += [f"it does not say {name}" for name in _names(old) if name not in new]
        if found:
            raise Unfit(f"{_kind(found[0])}: {where}: {found[0]}")
        if _DENIAL.search(new) and not _DENIAL.search(old):
            raise Unfit(f"a denial: {where} says what is not, or is not to be")
        if "If " in old and not _CONDITION.search(new):
            raise Unfit(f"a condition lost: {where} has no condition")
        if "want to hear" in old and not _HEARING.search(new):
            raise Unfit(f"a question lost: {where} does not say what is to be heard")
        if not re.search(r"\byou(r|rs|rself)?\b", new, re.IGNORECASE):
            raise Unfit(f"not to the user: {where} does not speak to them")
        for word in _deeds(maker):
            if re.search(rf"\b{word}\b", new, re.IGNORECASE) and not re.search(rf"\b{word}", old, re.IGNORECASE):
                raise Unfit(f"a new demand: {where} speaks of {word}")
        for tool in maker.ground.spec.tools:
            if "_" in tool and tool in new:
                raise Unfit(f"a tool named: {where} has {tool}")


def _deeds(maker: Maker) -> list[str]:
    """What tools that write do, in a word: `renew`, `cancel`."""
    found = dict.fromkeys(name.partition("_")[0] for name in maker.ground.writers)
    return [word for word in found if len(word) > 3 and word not in _COMMON]


def _in(value: Any, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value_text(value))}(?!\w)", text) is not None


def _names(text: str) -> Iterable[str]:
    """Who somebody is."""
    found = re.match(r"You are ([^{}]+?) and (?:turn|need)\b", text)
    return [found[1]] if found else []


def _kind(problem: str) -> str:
    kinds = {"it does not say": "a fact lost", "it gives away": "given away", "it adds": "a new demand"}
    return next((kind for start, kind in kinds.items() if problem.startswith(start)), "too long")


def _take(
    maker: Maker, done: Rewritten, old: Sequence[str], lines: Sequence[Mapping[str, Any]],
    answers: Sequence[tuple[str, ...] | str],
) -> None:  # fmt: skip
    """Take the new words of the tasks that are certified with them."""
    new: dict[int, tuple[str, Task]] = {}
    for i, (line, texts) in enumerate(zip(lines, answers, strict=True)):
        if isinstance(texts, str):
            done.kept[texts.partition(":")[0]] += 1
            continue
        requests = [{**one, "text": text} for one, text in zip(line["requests"], texts[1:], strict=True)]
        changed = {**line, "intent": texts[0], "tags": [*line["tags"], REWORDED], "requests": requests}
        try:
            new[i] = (json.dumps(changed, ensure_ascii=False), _task(maker, changed))
        except Unfit:
            done.kept["does not compile"] += 1
    verdicts = certify(maker.ground.env, [task for _, task in new.values()], maker.process)
    for i, verdict in zip(list(new), verdicts, strict=True):
        if not verdict.certified:
            done.kept["not certified with other words"] += 1
            del new[i]
    done.changed += len(new)
    done.lines += [new[i][0] if i in new else line for i, line in enumerate(old)]
