"""The draft as a whole: a spec that compiles, and what became of each operation of the document."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from forgec.diagnostics import Diagnostic, Report
from forgec.documents import Api, Operation
from forgec.model.spec import Spec
from forgec.pipeline import check_source
from forgec.source import Source
from forgec.starting.spec_text import CLOCK, SpecText, add_enum
from forgec.starting.values import documentation
from forgec.synthesis.drafting.brief import brief
from forgec.synthesis.drafting.entities import Column, Entity, refer, told
from forgec.synthesis.drafting.finding import entities
from forgec.synthesis.drafting.making import Draught, Unknown, Written
from forgec.synthesis.drafting.purposes import Purpose, purposes
from forgec.synthesis.drafting.records import Records
from forgec.synthesis.drafting.rows import World, prefix
from forgec.synthesis.drafting.sessions import Session, own, session
from forgec.synthesis.drafting.tools import WORLD, Tools
from forgec_runtime.types import Enum

TestRunner = Callable[[Spec], Iterable[tuple[str, str | None]]]
"""Runs all tests of a spec: the title of each, and why it failed, if it did."""
MAX_ROUNDS = 6
"""How often what does not compile or pass is taken back before the rest counts as the draft."""


@dataclass(frozen=True)
class Outcome:
    """What became of an operation: a tool with a test that passes, or one that refuses because of `why`."""

    operation: str
    place: str
    state: Literal["shown", "open"]
    why: str = ""
    assumed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Drafted:
    """The text of a draft, and what became of each operation; `findings` are errors that are left, a defect."""

    text: str
    outcomes: tuple[Outcome, ...]
    tables: int
    findings: tuple[Diagnostic, ...] = ()

    @property
    def shown(self) -> int:
        """How many operations have a tool whose effect a test shows."""
        return sum(one.state == "shown" for one in self.outcomes)


def draft(api: Api, name: str, origin: str, run_tests: TestRunner) -> Drafted:
    """The draft of an environment called `name`; `origin` says which documents it is from.

    What does not compile, or whose test fails, becomes a tool that refuses, until the rest does.
    """
    making = _Draft(brief(api), name, origin)
    refused: dict[str, str] = {}
    for _ in range(MAX_ROUNDS):
        written = making.written(refused)
        report = Report()
        checked = check_source(Path(f"{name}.afs"), Source(f"{name}.afs", written.out.text), report)
        errors = [one for one in report if one.severity == "error"]
        wrong = {operation: f"it does not compile: {message}" for operation, message in written.owners_of(errors)}
        if not errors and checked.spec is not None:
            failed = {title: why for title, why in run_tests(checked.spec) if why is not None}
            wrong = {one: f"its test fails: {failed[title]}" for title, one in written.tests.items() if title in failed}
        if not wrong.keys() - refused.keys():
            break
        refused.update({one: why for one, why in wrong.items() if one not in refused})
    outcomes = written.outcomes
    if errors:  # of what belongs to no operation: then nothing was shown
        why = f"the draft does not compile: {errors[0].message}"
        outcomes = [replace(one, state="open", why=one.why or why) for one in outcomes]
    return Drafted(written.out.text, tuple(outcomes), len(making.world.entities), tuple(errors))


@dataclass
class _Text:
    """A spec's text, with the lines that belong to each operation."""

    out: SpecText
    outcomes: list[Outcome] = field(default_factory=list)
    owners: dict[int, str] = field(default_factory=dict)
    tests: dict[str, str] = field(default_factory=dict)

    def add(self, operation: str, text: str) -> None:
        begin = len(self.out.lines) + 1
        self.out.add(*text.split("\n"), "")
        self.owners.update(dict.fromkeys(range(begin, len(self.out.lines) + 1), operation))

    def owners_of(self, errors: Iterable[Diagnostic]) -> Iterable[tuple[str, str]]:
        for error in errors:
            for label in (error.primary, *error.related):
                if label is not None:
                    line, _ = label.span.source.position(label.span.start)
                    if line in self.owners:
                        yield self.owners[line], error.message
                        break


class _Draft:
    def __init__(self, api: Api, name: str, origin: str) -> None:
        self.api, self.name, self.origin = api, name, origin
        self.records = Records()
        self.found = purposes(api)
        by_noun = entities(api, self.found, self.records)
        self.session = session(self.found, by_noun)
        self.owners = own(self.found, by_noun, self.session) if self.session is not None else {}
        self.by_noun = by_noun
        unique = list({id(entity): entity for entity in by_noun.values()}.values())
        refer(unique)
        self.world = World(unique, self.records)

    def written(self, refused: dict[str, str]) -> _Text:
        """The spec; the `refused` operations refuse, for the reasons given."""
        tools = Tools(Draught(self.by_noun, self.records, self.world, self.session, self.owners))
        made = [self._tool(tools, purpose, refused) for purpose in self.found]
        text = _Text(SpecText())
        self._head(text.out)
        self._state(text.out, self.session)
        text.out.heading("What the agent can do")
        for written, outcome in made:
            text.add(outcome.operation, f"-- From {outcome.place or 'the document'}.\n{written.text}")
            text.outcomes.append(outcome)
        text.out.heading("A small world")
        self._world(text.out)
        text.out.heading("Does it do what the document says?")
        for written, outcome in made:
            if written.test:
                text.add(outcome.operation, written.test)
                text.tests[written.test.split('"')[1]] = outcome.operation
        return text

    def _tool(self, tools: Tools, purpose: Purpose, refused: dict[str, str]) -> tuple[Written, Outcome]:
        operation = purpose.operation
        why = refused.get(operation.name)
        if why is None:
            try:
                written = tools.write(purpose)
            except Unknown as unknown:
                why = str(unknown)
            else:
                outcome = Outcome(operation.name, _place(operation), "shown", "", tuple(written.assumed))
                return written, outcome
        return tools.refusing(operation, why), Outcome(operation.name, _place(operation), "open", why)

    def _head(self, out: SpecText) -> None:
        out.comment(
            f"A draft, made by rule from {self.origin}. What its tests show is what the document says; tools that"
        )
        out.comment("refuse are to be written.")
        out.add("")
        doc = (self.api.doc or self.api.title or f"Drafted from {self.origin}").split("\n")[0][:200]
        out.add(f"environment {self.name} {documentation(doc)} {{", f"  clock timestamp '{CLOCK}';", "}", "")
        out.add(
            'policy """', "  Do what you are asked for, with the tools that there are, and nothing else.", '  """', ""
        )

    def _state(self, out: SpecText, session_: Session | None) -> None:
        out.heading("What there is")
        for name, values in self.records.enums.items():
            add_enum(out, Enum(name, values))
        for name, fields in self.records.records.items():
            shape = next(s for s in self.records.shapes if s.fields == fields and self.records.named(s) == name)
            parts = ", ".join(
                f"{part} {type_}{'?' if optional else ''}{' ' + documentation(field.doc) if field.doc else ''}"
                for part, field, type_, optional in self.records.parts(shape)
            )
            out.add(f"record {name} {{ {parts} }}", "")
        for entity in self.world.entities:
            self._table(out, entity)
        if session_ is not None:
            out.add(
                'single session "Who is signed in" {',
                f"  {session_.column} -> {session_.users.table}? unscored,",
                "}",
                "",
            )

    def _table(self, out: SpecText, entity: Entity) -> None:
        if entity.single:
            (row,) = self.world.rows[entity.table]
            out.add(f"single {entity.table} {{")
            for column in entity.all:
                default = f" default {row[column.name]}" if column.scalar else ""
                out.add(f"  {_column(column)}{default} {documentation(told(column, entity))},")
            out.add("}", "")
            return
        named = next((one for one in self.found if self.by_noun.get(one.noun) is entity and one.kind == "create"), None)
        out.add(f"table {entity.table} {{")
        makes = named is not None and not any(entity.column(p.name) is entity.key for p in named.operation.parameters)
        serial = ""
        if makes and not entity.given:
            serial = " serial" if entity.key.type == "integer" else f" serial '{prefix(entity)}{{000}}'"
        out.add(f"  {entity.key.name} {entity.key.type} key{serial} {documentation(told(entity.key, entity))},")
        for column in entity.columns:
            out.add(f"  {_column(column)} {documentation(told(column, entity))},")
        out.add("}", "")

    def _world(self, out: SpecText) -> None:
        out.add(f'world {WORLD} "A few rows of everything" {{')
        for entity in self.world.entities:
            rows = self.world.rows[entity.table]
            if entity.single:
                continue  # its row is that of the defaults
            out.add(f"  {entity.table} ({', '.join(column.name for column in entity.all)}) values")
            for i, row in enumerate(rows, 1):
                cells = ", ".join(row[column.name] for column in entity.all)
                out.add(f"    ({cells}){';' if i == len(rows) else ','}")
        out.add("}", "")


def _column(column: Column) -> str:
    return f"{column.name} {column.type}{'?' if column.optional else ''}"


def _place(operation: Operation) -> str:
    if operation.path:
        return f"{operation.method.upper()} {operation.path}"
    return operation.place
