"""Programs of calls, run in a compiled environment and by the reference executor of the same spec."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from forgec.diagnostics import Report
from forgec.diagnostics.text import render_text
from forgec.model.spec import Spec
from forgec.pipeline import check_source, generate_package
from forgec.reference import ReferenceEpisode
from forgec.reference.statements import Statements
from forgec.reference.tasks import NothingToDraw, ReferenceTask
from forgec.source import Source
from forgec_runtime import FAULT_TEXT, Environment, Episode, Result, TaskError, base, load_environment, results
from forgec_runtime.arguments import decode_arguments
from forgec_runtime.call import MAX_RUNS
from tests.differential.programs import Call, Fork, Program
from tests.differential.shrink import shrunk


def checked(text: str, name: str = "spec.afs") -> Spec:
    """A spec without findings."""
    report = Report()
    found = check_source(Path(name), Source(name, text), report).spec
    assert found is not None, render_text(report)
    return found


def compiled(spec: Spec, folder: Path) -> Environment:
    """The package of a spec, written into `folder` and loaded."""
    for file, content in generate_package(spec).items():
        path = folder / spec.name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return load_environment(folder / spec.name)


def exact(value: Any) -> Any:
    """A value such that 1, 1.0, True and Decimal('1.00') are all different."""
    if isinstance(value, Mapping):
        return {name: exact(part) for name, part in value.items()}
    if isinstance(value, list):
        return [exact(part) for part in value]
    return type(value).__name__, repr(value)


ARITHMETIC = re.compile("overflow|out of range|conver|cast", re.IGNORECASE)
"""In the detail of a fault: a number that does not fit, a text that is no number."""


class _Undecided(Exception):
    """Both sides are right."""


class Bench:
    """One spec, both ways.

    Where a part of an expression cannot be computed and its value would not matter (`false and 2**63 > 0`), DuckDB
    fails or not as its optimizer pleases. `arithmetic_may_fail` lets both be right, and ends the program there.
    """

    def __init__(
        self,
        spec: Spec,
        environment: Environment,
        *,
        arithmetic_may_fail: bool = False,
        references: "References | None" = None,
    ) -> None:
        self.spec = spec
        self.environment = environment
        self.arithmetic_may_fail = arithmetic_may_fail
        self._bases: dict[bool, dict[str, base.Base]] = {False: {}, True: {}}
        self._references = references or References(spec)

    def check(self, program: Program) -> None:
        """Raise `AssertionError` with the smallest program found when the two sides differ."""
        if self.difference(program) is None:
            return
        smallest, tries = shrunk(program, lambda candidate: self.difference(candidate) is not None)
        self._references = References(self.spec)  # what is reported shall depend on nothing that was played before
        found = self.difference(smallest) or "they no longer differ: state has leaked between programs"
        by_hand = smallest.played(self.spec)
        raise AssertionError(f"{found}\n\nThe smallest of {tries} programs tried:\n{smallest}\n\n{by_hand}")

    def difference(self, program: Program) -> str | None:
        """The first thing on which the two sides differ."""
        with self._kept(fetched=program.fetched):
            try:
                episodes = [self.environment.reset(start, program.seed) for start in program.worlds]
            except TaskError as error:
                return self._references.refused(program.worlds, program.seed, error)
            references = self._references.started(program.worlds, program.seed)
            for i, (episode, reference) in enumerate(zip(episodes, references, strict=True)):
                if program.worlds[i] in self.spec.tasks and (found := _state(episode, reference)) is not None:
                    return f"at the start, episode {i}: {found}"
            try:
                for step in program.steps:
                    if isinstance(step, Fork):
                        episodes[step.episode] = episodes[step.of].fork()
                        references[step.episode] = self._references.fork(references[step.of])
                    elif (found := self._step(step, episodes, references)) is not None:
                        return found
            except _Undecided:
                return None
            for i, (episode, reference) in enumerate(zip(episodes, references, strict=True)):
                if (found := _state(episode, reference)) is not None:
                    return f"after all calls, episode {i}: {found}"
        return None

    @contextmanager
    def _kept(self, *, fetched: bool) -> Iterator[None]:
        """With tables decoded when a world is opened; or row by row when needed, and soon forgotten.

        There calls begin again a few times, before they get what they want at once.
        """
        whole, cached, runs = (-1, 3, 4) if fetched else (base.WHOLE_TABLE, base.MAX_CACHED, MAX_RUNS)
        with (
            mock.patch.multiple(base, WHOLE_TABLE=whole, MAX_CACHED=cached),
            mock.patch("forgec_runtime.call.MAX_RUNS", runs),
        ):
            self.environment._bases = self._bases[fetched]
            yield

    def _step(self, step: tuple[Call, ...], episodes: list[Episode], references: list[ReferenceEpisode]) -> str | None:
        try:
            found = self.environment.step(
                [(episodes[call.episode], call.tool, call.arguments) for call in step], by=None
            )
        except Exception as error:
            return f"{step}\ncompiled:  {error!r}"
        for call, result in zip(step, found, strict=True):
            ours, theirs = _result(result), self._reference(references[call.episode], call)
            if ours != theirs:
                if self.arithmetic_may_fail and (theirs[2] == FAULT_TEXT or _is_arithmetic(result)):
                    raise _Undecided
                return f"{call}\ncompiled:  {ours} {result.detail}\nreference: {theirs}"
        return None

    def _reference(self, episode: ReferenceEpisode, call: Call) -> tuple[bool, Any, str]:
        tool = self.environment.tool(call.tool)
        decoded = decode_arguments(tool, call.arguments)
        if isinstance(decoded, str):
            return False, exact(None), decoded
        named = dict(zip((parameter.name for parameter in tool.parameters), decoded, strict=True))
        answer = episode.call(call.tool, named)
        return answer.ok, exact(answer.value), results.to_json(answer.told) if answer.ok else answer.text


class References:
    """Reference episodes of one spec, to be had again for the next program: a database takes longer than a call."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.statements = Statements(spec)
        self._free: list[ReferenceEpisode] = []
        self._used: list[ReferenceEpisode] = []

    def started(self, worlds: tuple[str, ...], seed: int = 0) -> list[ReferenceEpisode]:
        """Episodes at the start of these worlds and tasks. All that were given before are taken back."""
        self._free.extend(self._used)
        self._used = []
        return [self._begun(start, seed) if start in self.spec.tasks else self._one(start) for start in worlds]

    def refused(self, worlds: tuple[str, ...], seed: int, error: TaskError) -> str | None:
        """What is wrong with the refusal to begin these."""
        try:
            self.started(worlds, seed)
        except NothingToDraw:
            return None
        return f"only the compiled side cannot begin: {error}"

    def _begun(self, name: str, seed: int) -> ReferenceEpisode:
        task = self.spec.tasks[name]
        episode = self._one(task.world)
        reference = ReferenceTask(task, episode, seed)
        reference.draw()
        reference.change()
        return episode

    def fork(self, episode: ReferenceEpisode) -> ReferenceEpisode:
        """Another episode that stands where this one does."""
        return self._one(episode.world.name, episode)

    def _one(self, world: str, like: ReferenceEpisode | None = None) -> ReferenceEpisode:
        found = next((episode for episode in self._free if episode.world.name == world), None)
        if found is None:
            found = ReferenceEpisode(self.spec, world, self.statements)
        else:
            self._free.remove(found)
        found.restart(like)
        self._used.append(found)
        return found


def _result(result: Result) -> tuple[bool, Any, str]:
    return result.ok, exact(result.value), result.text


def _is_arithmetic(result: Result) -> bool:
    return result.kind == "fault" and ARITHMETIC.search(result.detail) is not None


def _state(episode: Episode, reference: ReferenceEpisode) -> str | None:
    """How two episodes differ: in their rows, in what counts as changed, in the rules that were broken."""
    ours, theirs = episode.state(), reference.state()
    if exact(ours) != exact(theirs):
        return _first_difference(exact(ours), exact(theirs))
    changed, wanted = episode.changes(), _changes(reference, theirs)
    if changed != wanted:
        return f"the changes\ncompiled:  {changed}\nreference: {wanted}"
    if episode.ended != reference.ended:
        return f"compiled: ended is {episode.ended}, reference: {reference.ended}"
    if episode.broken_rules != reference.broken_rules:
        return f"the broken rules\ncompiled:  {episode.broken_rules}\nreference: {reference.broken_rules}"
    return None


def _changes(reference: ReferenceEpisode, state: Mapping[str, list[dict[str, Any]]]) -> dict[str, dict[Any, Any]]:
    found = {}
    for name, table in reference.spec.tables.items():

        def key(row: Mapping[str, Any], names: tuple[str, ...] = tuple(column.name for column in table.key)) -> Any:
            return row[names[0]] if len(names) == 1 else tuple(row[name] for name in names)

        before = {key(row): row for row in reference.world.rows[name]}
        after = {key(row): row for row in state[name]}
        changed = {k: after.get(k) for k in {**before, **after} if before.get(k) != after.get(k)}
        if changed:
            found[name] = changed
    return found


def _first_difference(ours: Mapping[str, list[Any]], theirs: Mapping[str, list[Any]]) -> str:
    for name in ours:
        mine = [row for row in ours[name] if row not in theirs[name]]
        other = [row for row in theirs[name] if row not in ours[name]]
        if mine or other:
            return f"the rows of {name}\ncompiled:  {mine}\nreference: {other}"
    return "the order or number of rows"
