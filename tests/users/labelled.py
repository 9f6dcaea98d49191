"""Messages of agents, each labelled with the facts that it asks for, and the briefings that they were written for.

All were written by hand, most of them by people who had never seen how the user reads. Those of `HELD_OUT` are for
tests: nothing was learned from them, or chosen by them. From the others weights are learned (`learning`), and from
`framed` ones: frames with facts of all briefings in them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from forgec.users.glossary import Glossary, glossary
from forgec_runtime import Asked, Briefing, Environment, Known, load_environment
from tests.users.frames import ASKS, FOREIGN, OTHERS, foreign, within

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
HELD_OUT = ("held out r", "held out s", "held out u")


@dataclass(frozen=True)
class Labelled:
    """A message, and the names of the facts that it asks for."""

    environment: str
    """Empty for a situation that was made up, which belongs to none."""
    task: str
    text: str
    asks: tuple[str, ...]
    half: str


@cache
def messages() -> tuple[Labelled, ...]:
    return tuple(read(HERE / "messages.jsonl"))


def read(path: Path) -> Iterator[Labelled]:
    """The messages of a file; those that belong to no set are of one that is called as the file is."""
    for line in filter(None, path.read_text(encoding="utf-8").splitlines()):
        one = {"half": path.stem} | json.loads(line)
        yield Labelled(**(one | {"asks": tuple(one["asks"])}))


def framed(among: Sequence[Labelled]) -> Iterator[Labelled]:
    """Frames with facts of the briefings of messages in them: for each briefing six that ask for a fact, six that speak
    of it otherwise, and four that ask for something like it of somebody else's.
    """
    for place, (environment, task) in enumerate(dict.fromkeys((one.environment, one.task) for one in among)):
        facts = briefing(environment, task).facts
        count = Counter(fact.doc for fact in facts)
        plain = [fact for fact in facts if fact.doc.startswith(("your ", "the ")) and count[fact.doc] == 1]
        for turn, fact in enumerate((plain * 6)[:6]):
            here = place * 6 + turn
            ask = ASKS[here % len(ASKS)]
            yield Labelled(environment, task, within(ask, fact.doc), (fact.name,), "framed")
            yield Labelled(environment, task, within(OTHERS[here % len(OTHERS)], fact.doc), (), "framed")
            if turn < 4:
                theirs = foreign(FOREIGN[here % len(FOREIGN)], fact.doc)
                yield Labelled(environment, task, within(ask, theirs), (), "framed")


@cache
def environment(name: str) -> Environment:
    return load_environment(ROOT / "generated" / name)


@cache
def words(name: str) -> Glossary:
    return glossary(environment(name)) if name else Glossary()


@cache
def briefing(environment_: str, task: str) -> Briefing:
    """Of a task of a shipped environment, or of a situation that was made up."""
    return environment(environment_).reset(task).briefing if environment_ else _situations()[task]


@cache
def _situations() -> dict[str, Briefing]:
    found = {}
    for line in (HERE / "situations.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        requests = tuple(Asked(f"request {place}", text) for place, text in enumerate(one["requests"]))
        facts = tuple(Known(fact["name"], fact["value"], fact["doc"]) for fact in one["facts"])
        found[one["situation"]] = Briefing(one["intent"], requests, facts)
    return found
