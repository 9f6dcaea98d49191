"""A synthesis under way: what is asked, what is taken of the answers, and how what is wrong with it is mended."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from forgec.diagnostics import Report
from forgec.documents import Api
from forgec.source import Source
from forgec.syntax import nodes, parse
from forgec.synthesis.asking.asker import Asker, Unanswered
from forgec.synthesis.asking.forms import F, Repair
from forgec.synthesis.asking.outline import groups, outline
from forgec.synthesis.asking.prompts import question
from forgec.synthesis.declarations import Declaration, cut, tidy
from forgec.synthesis.judging import Compiled, Judged, Shown, compile_
from forgec.synthesis.made import Made
from forgec.synthesis.naming import Named

Judge = Callable[[], Judged]

SPEC_SHARE = 0.3
"""The part of a prompt that the spec so far may take; the documents may take another."""
MAX_WRONG = 12
"""Declarations that are corrected in one question."""


@dataclass(frozen=True)
class Options:
    """How a synthesis goes about it. `limit` is in characters of one question, its reference included."""

    limit: int = 60_000
    group: int = 8
    """Operations of one question."""
    rounds: int = 3
    """How often what is wrong goes back to the model."""
    tasks: int = 6


class Hopeless(Exception):
    """Nothing can be made of the answers; the text says why."""


class Work:
    """All that the stages share."""

    def __init__(
        self, api: Api, made: Made, asker: Asker, compiled: Compiled, options: Options, drafted: Sequence[Declaration],
        tell: Callable[[str], None],
    ) -> None:  # fmt: skip
        self.api, self.made, self.asker, self.compiled = api, made, asker, compiled
        self.options, self.tell = options, tell
        self.drafted = {one.key: one for one in drafted}
        """What rules make of the documents, by key."""
        self.declined: dict[str, str] = {}
        """Why the model leaves operations out, by their names."""
        self.tested: dict[str, tuple[Judged, dict[str, Shown]]] = {}
        """What the tests of the spec came to that was tested last, by its text."""
        self._compiled: tuple[str, Judged] | None = None
        self.prose = api.prose[: self.document_room // 2]

    @property
    def room(self) -> int:
        """Characters that the spec so far may take in a question."""
        return int(self.options.limit * SPEC_SHARE)

    @property
    def document_room(self) -> int:
        return int(self.options.limit * (0.5 - SPEC_SHARE))

    def groups(self, operations: Sequence[Named], most: int | None = None) -> list[list[Named]]:
        return groups(operations, self.document_room, most or self.options.group)

    def outline(self, operations: Sequence[Named]) -> str:
        return outline(operations, self.document_room)

    def draft_of(self, *kinds: str, names: Iterable[str] | None = None) -> str:
        """What rules have drafted of some kinds, if there is room for it."""
        wanted = None if names is None else set(names)
        found = [
            one.text for one in self.drafted.values() if one.kind in kinds and (wanted is None or one.name in wanted)
        ]
        text = "\n\n".join(found)
        return text if len(text) <= self.document_room else ""

    def within(self, *texts: str) -> str:
        """The texts in their order, as far as there is room for them."""
        found, left = [], self.room
        for text in texts:
            if text and len(text) <= left:
                found.append(text)
                left -= len(text)
        return "\n\n".join(found)

    async def ask(self, stage: str, scope: str, form: type[F], template: str, **context: Any) -> F:
        """The answer to a question of a template. Raises `Unanswered`, `LLMError`."""
        messages = question(template, stage, self.options.limit, **context)
        return await self.asker.ask(stage, f"{stage} {scope}", form, messages)

    async def ask_groups(
        self, stage: str, some: Sequence[Sequence[Named]], asked: Callable[[str, Sequence[Named]], Any]
    ) -> list[tuple[Sequence[Named], Any]]:
        """What is answered for each group; one that is too much is halved. What has no answer is reported."""

        async def one(scope: str, group: Sequence[Named]) -> list[tuple[Sequence[Named], Any]]:
            try:
                return [(group, await asked(scope, group))]
            except Unanswered as error:
                if error.smaller and len(group) > 1:
                    middle = len(group) // 2
                    halves = [await one(f"{scope}a", group[:middle]), await one(f"{scope}b", group[middle:])]
                    return [answer for half in halves for answer in half]
                self.made.leave(stage, f"an answer about {', '.join(each.tool for each in group)}", str(error))
                return []

        found = await asyncio.gather(*(one(str(number), group) for number, group in enumerate(some, 1)))
        self.tell(f"{stage}: {sum(len(group) for group in some)} operations")
        return [answer for answers in found for answer in answers]

    def take(
        self, stage: str, text: str, kinds: Iterable[str], operations: Iterable[str] = (), assumed: Iterable[str] = (),
        tools: Container[str] | None = None,
    ) -> list[Declaration]:  # fmt: skip
        """The declarations in a text of the model, if they are of these kinds, and tools of these names. Others are
        reported, and not taken.
        """
        taken, allowed = [], set(kinds)
        found = cut(text, stage, operations=operations, assumed=assumed)
        if not found and text.strip():
            self.made.leave(stage, "an answer", f"it has no declaration that begins in column 1: {text.strip()[:100]}")
        for one in found:
            problem = _unfit(one, allowed)
            if one.kind == "tool" and tools is not None and one.name not in tools:
                problem = "this is none of the operations that were asked about"
            known = self.made.declarations.held.get(one.key)
            if one.kind in SHARED and known is not None and known.text.strip() != one.text.strip():
                problem = "there is another one of that name"
            if problem:
                self.made.leave(stage, one.key, problem)
                continue
            self.made.declarations.put(one)
            taken.append(one)
        return taken

    def compile(self) -> Judged:
        """The declarations, compiled; at once where they were compiled last."""
        text = self.made.declarations.laid().text
        if self._compiled is None or self._compiled[0] != text:
            self._compiled = text, compile_(self.made.declarations, self.made.name)
        return self._compiled[1].copy()

    async def settle(self, stage: str, kinds: Iterable[str], judge: Judge | None = None) -> Judged:
        """Mend what is wrong in a few rounds, leave out what stays wrong, and give what was found of the rest.

        Raises `Hopeless` when what is wrong is nobody's, `LLMError`.
        """
        look = judge or self.compile
        allowed = tuple(kinds)
        judged = look()
        for number in range(1, self.options.rounds + 1):
            held = self.made.declarations.held
            soft = {key: found for key, found in judged.soft.items() if key in held and held[key].stage == stage}
            wrong = {**soft, **judged.findings}
            if not wrong:
                break
            self.made.rounds[stage] = number
            self.tell(f"{stage}: round {number}: {len(wrong)} to correct")
            if not await self._mend(stage, number, wrong, allowed):
                break
            judged = look()
        while not judged.sound:
            self._leave_out(stage, judged)
            judged = look()
        for key, one in list(self.made.declarations.held.items()):
            if one.stage == stage:
                self.made.declarations.held[key] = replace(one, text=tidy(one.text))
        return judged

    def _leave_out(self, stage: str, judged: Judged) -> None:
        """What is wrong goes: that of this stage first, since the rest was right before it came."""
        held = self.made.declarations.held
        wrong = [key for key in judged.findings if key in held and held[key].stage != HEAD]
        if not wrong:
            texts = [*judged.general, *(text for found in judged.findings.values() for text in found)]
            raise Hopeless(texts[0] if texts else "the declarations do not compile")
        own = [key for key in wrong if held[key].stage == stage]
        for key in own or wrong:
            self.made.leave(stage, key, _first_line(judged.findings[key][0]))
            self.made.declarations.drop(key)

    async def _mend(self, stage: str, number: int, wrong: dict[str, list[str]], kinds: tuple[str, ...]) -> bool:
        """Ask for corrections of what is wrong; whether anything has changed."""
        held = self.made.declarations.held
        keys = [key for key in wrong if key in held]
        batches = [keys[i : i + MAX_WRONG] for i in range(0, len(keys), MAX_WRONG)]
        answers = await asyncio.gather(
            *(self._correct(stage, f"repair {number}.{i}", batch, wrong) for i, batch in enumerate(batches, 1))
        )
        changed = False
        for batch, answer in zip(batches, answers, strict=True):
            if answer is None:
                continue
            before = {key: held[key] for key in batch}
            for one in cut(answer.declarations, stage):
                known = held.get(one.key) or _alone(one, before)
                if known is None and _unfit(one, set(kinds)):
                    continue
                if known is not None:
                    if _unfit(one, {known.kind}):
                        continue
                    if one.key != known.key:
                        self.made.declarations.drop(known.key)
                    one = replace(one, stage=known.stage, operations=known.operations, assumed=known.assumed)
                changed = changed or known is None or known.text.strip() != one.text.strip()
                self.made.declarations.put(one)
            for name in answer.given_up:
                key = next((key for key in batch if key == name or key.partition(" ")[2] == name), None)
                if key is not None and key in held:
                    self.made.leave(stage, key, f"the model gives it up: {_first_line(wrong[key][0])}")
                    self.made.declarations.drop(key)
                    changed = True
        return changed

    async def _correct(self, stage: str, scope: str, keys: Sequence[str], wrong: dict[str, list[str]]) -> Repair | None:
        held = self.made.declarations.held
        names = {name for key in keys for name in held[key].operations}
        operations = [one for one in self.made.operations if one.operation.name in names]
        texts = [{"text": held[key].text, "findings": wrong[key]} for key in keys]
        try:
            return await self.ask(
                stage, scope, Repair, "repair.md.j2", about=stage, wrong=texts, spec=self._around(keys),
                operations=self.outline(operations) if operations else "",
            )  # fmt: skip
        except Unanswered as error:
            self.made.leave(stage, "a correction", str(error))
            return None

    def _around(self, keys: Sequence[str]) -> str:
        """What the wrong declarations are about: the state, what they name, the rest as far as there is room."""
        said = " ".join(self.made.declarations.held[key].text for key in keys)
        words = set(re.findall(r"\w+", said))
        state = self.state()
        others = [one for one in self.made.declarations if one.key not in keys]
        named = [one.text for one in others if one.name in words and one.kind not in STATE and one.kind != "world"]
        worlds = [one.text for one in others if one.kind == "world" and one.name in words]
        shared = [one.text for one in others if one.kind in ("function", "action", "view") and one.name not in words]
        return self.within(state, *named, *worlds, *shared)

    def state(self) -> str:
        """The text of what there is."""
        return self.made.declarations.text_of(*STATE)


HEAD = "head"
"""The stage of what comes before all others."""
STATE = ("enum", "record", "type", "table", "single")
SHARED = ("function", "action", "view")
"""What several tools may use: two of one name are no correction of each other."""


def _alone(one: Declaration, before: dict[str, Declaration]) -> Declaration | None:
    """The declaration that another one takes the place of though it has another name: the only one of its kind."""
    same = [known for known in before.values() if known.kind == one.kind]
    return same[0] if len(before) == 1 and same else None


def _unfit(one: Declaration, kinds: set[str]) -> str:
    """Why a declaration has no place in an answer; empty where it has one."""
    if one.kind not in kinds:
        return f"only {', '.join(sorted(kinds))} were asked for"
    if one.kind == "world":
        file = parse(Source("world.afs", one.text + "\n"), Report())
        worlds = [item for item in file.items if isinstance(item, nodes.World)]
        if any(isinstance(fill, nodes.Sourced) for world in worlds for fill in world.fills):
            return "rows of files are no part of an answer"
    return ""


def _first_line(text: str) -> str:
    return text.split("\n", 1)[0]
