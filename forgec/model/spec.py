"""The model of a spec: names resolved, types known, SQL checked. What every later stage reads."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from forgec.source import Source, Span
from forgec.sql.draws import Drawn
from forgec.sql.query import Sql
from forgec.sql.scope import Cell, Claim, Row, Shape
from forgec.sql.size import Size
from forgec.syntax.nodes import Side
from forgec_runtime.data.outside import Content, OutsideFile
from forgec_runtime.types import Enum, Record, Type

ELEMENT = "element__"
"""What a check calls the element that it looks at: no name of a spec is like it."""


@dataclass(frozen=True, kw_only=True)
class Declared:
    """Something with a name, a place and, perhaps, documentation."""

    name: str
    doc: str = ""
    span: Span


@dataclass(frozen=True, kw_only=True)
class Domain(Declared):
    """A type of the spec's own: `cell` is what holds its values, with all that they satisfy."""

    cell: Cell
    check: Sql | None


@dataclass(frozen=True, kw_only=True)
class Check:
    """What must not be false of a value, on which `sql` looks; `text` says what an agent did wrong.

    With a list in `over` it must not be false of any element, which `sql` knows as `ELEMENT`; the text then has the
    element's number between its two parts.
    """

    sql: Sql
    text: str
    over: Sql | None = None
    rest: str = ""

    @property
    def whole_text(self) -> str:
        return f"{self.text}[...]{self.rest}" if self.over is not None else self.text


# -- state --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Column(Declared):
    type: Type
    optional: bool = False
    key: bool = False
    unique: bool = False
    scored: bool = True
    ordered: bool = True
    hidden: bool = False
    """Whether no tool may show it."""
    serial: str | None = None
    keys: tuple[str, ...] = ()
    """The keys that the engine gives out, where the spec lists them."""
    references: str | None = None
    default: Sql | None = None
    check: Sql | None = None
    when: Sql | None = None
    """The condition under which the column holds a value: always then, unless `given` says that it need not."""
    given: Literal["always", "exactly", "at most"] = "always"
    domain: str = ""
    claims: tuple[Claim, ...] = ()
    checks: tuple[Check, ...] = ()
    """What its values satisfy because of its type, then because of `check`, on the row."""
    numbered: bool = False
    """Whether nobody writes it: a position in a nested list or bag."""
    inherited: bool = False
    """Whether it is part of the key of the table around this one."""

    @property
    def made(self) -> bool:
        """Whether the engine makes its values."""
        return self.serial is not None or bool(self.keys) or self.numbered

    @property
    def cell(self) -> Cell:
        return Cell(self.type, self.optional, self.references, self.domain, self.claims)


@dataclass(frozen=True, kw_only=True)
class Tie:
    """Columns that together hold a key of `table`, in its order, or a NULL."""

    columns: tuple[str, ...]
    table: str
    doc: str
    span: Span


@dataclass(frozen=True, kw_only=True)
class Table(Declared):
    """A table, or a single: the table of one row, which has no key. `side` is whose state it is.

    A table that is nested in another has a `parent`, and begins its key with the parent's.
    """

    columns: tuple[Column, ...]
    ties: tuple[Tie, ...] = ()
    missing: tuple[str, ...] = ()
    """What an agent reads who names a row that does not exist: the key stands between the parts. Empty: as usual."""
    single: bool = False
    side: Side = "agent"
    title: str
    """What a spec calls it: its name, or a path such as `orders.items`, whose name is `orders_items`."""
    parent: str | None = None
    kind: Literal["list", "map", "bag"] | None = None
    """What the rows of one parent are: in order, by key, or in no order."""
    parts: tuple[str, ...] = ()
    """Its own columns and the last names of the tables nested in it, in the order of the spec."""

    @property
    def own(self) -> tuple[Column, ...]:
        """The columns that the spec declares."""
        return tuple(column for column in self.columns if not (column.numbered or column.inherited))

    @property
    def inherited(self) -> tuple[Column, ...]:
        """The columns that name the parent of a row."""
        return tuple(column for column in self.columns if column.inherited)

    @property
    def position(self) -> Column | None:
        """The column that numbers the rows of one parent, in a list or bag."""
        return next((column for column in self.columns if column.numbered), None)

    @cached_property
    def key(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.key)

    @property
    def serial(self) -> str | None:
        return next((column.serial for column in self.columns if column.serial), None)

    @property
    def keys(self) -> tuple[str, ...]:
        return next((column.keys for column in self.columns if column.keys), ())

    def column(self, name: str) -> Column | None:
        return next((column for column in self.columns if column.name == name), None)

    @property
    def row(self) -> Row:
        own = self.name if len(self.key) == 1 else None
        cells = {c.name: Cell(c.type, c.optional, own if c.key and own else c.references) for c in self.columns}
        return Row(cells, table=self.name)


@dataclass(frozen=True, kw_only=True)
class Invariant(Declared):
    sql: Sql


# -- behaviour ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Parameter(Declared):
    type: Type
    optional: bool = False
    references: str | None = None
    row: str | None = None
    default: Sql | None = None
    domain: str = ""
    checks: tuple[Check, ...] = ()
    value: Any = None
    """What the default is, computed by DuckDB when the spec was compiled."""

    @property
    def cell(self) -> Cell:
        return Cell(self.type, self.optional, self.references)


@dataclass(frozen=True, kw_only=True)
class Function(Declared):
    parameters: tuple[Parameter, ...]
    returns: Cell
    sql: Sql
    size: Size


@dataclass(frozen=True, kw_only=True)
class View(Declared):
    """A select with a name. `columns` are its cells as a query around it sees them."""

    sql: Sql
    columns: dict[str, Cell]


@dataclass(frozen=True, kw_only=True)
class Hole:
    sql: Sql
    format: str | None

    @property
    def text(self) -> str:
        form = f":{self.format}" if self.format else ""
        return f"{{{self.sql.text}{form}}}"


@dataclass(frozen=True, kw_only=True)
class Message:
    parts: tuple[str | Hole, ...]

    @property
    def text(self) -> str:
        """How it was written, more or less."""
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    @property
    def holes(self) -> tuple[Hole, ...]:
        return tuple(part for part in self.parts if isinstance(part, Hole))


@dataclass(frozen=True, kw_only=True)
class Let:
    """`let x = ...`: the shape of `sql` says whether `$x` is a value, a row or rows.

    Where a type is declared, `set` may change the value.
    """

    kind: Literal["let"] = "let"
    name: str
    sql: Sql
    shape: Shape
    typed: bool = False
    message: Message | None
    span: Span


@dataclass(frozen=True, kw_only=True)
class Set:
    """`set x = ...`: a value of the type that its `let` declares, `cell`."""

    kind: Literal["set"] = "set"
    name: str
    sql: Sql
    cell: Cell
    span: Span


@dataclass(frozen=True, kw_only=True)
class Require:
    kind: Literal["require"] = "require"
    sql: Sql
    message: Message
    span: Span


@dataclass(frozen=True, kw_only=True)
class Branch:
    condition: Sql | None
    body: tuple[Statement, ...]


@dataclass(frozen=True, kw_only=True)
class If:
    kind: Literal["if"] = "if"
    branches: tuple[Branch, ...]
    span: Span


@dataclass(frozen=True, kw_only=True)
class Each:
    """`each x in ...`: `item` is the shape of `$x` in a pass through the body."""

    kind: Literal["each"] = "each"
    name: str
    sql: Sql
    item: Row | Cell
    body: tuple[Statement, ...]
    span: Span


@dataclass(frozen=True, kw_only=True)
class Do:
    """`do action(...)`: the arguments are in the types of the parameters."""

    kind: Literal["do"] = "do"
    action: Action
    arguments: tuple[Sql, ...]
    span: Span


@dataclass(frozen=True, kw_only=True)
class Return:
    """`result` is what is declared of it: of several kinds, the one that `sql` gives."""

    kind: Literal["return"] = "return"
    sql: Sql
    result: Result
    message: Message | None
    span: Span


@dataclass(frozen=True, kw_only=True)
class Reply:
    kind: Literal["reply"] = "reply"
    message: Message
    span: Span


@dataclass(frozen=True, kw_only=True)
class Fail:
    kind: Literal["fail"] = "fail"
    message: Message
    span: Span


@dataclass(frozen=True, kw_only=True)
class Write:
    kind: Literal["write"] = "write"
    sql: Sql
    span: Span


Statement = Let | Set | Require | If | Each | Do | Return | Reply | Fail | Write


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a tool gives back: its shape, and the type of that (a row is a record, rows are a list of records)."""

    shape: Shape
    type: Type
    body: Shape
    """What its body gives: of a table with others nested in it, the columns alone."""
    nested: bool = False
    """Whether the rows nested in those that the body gives are put in their places."""
    optional: bool = False
    docs: Mapping[str, str] = field(default_factory=dict)
    """What its columns are, by name: the documentation of fields, or of the types or columns they are declared with."""
    kinds: tuple[Result, ...] = ()
    """Where results of several kinds are declared: these; the shape then has what any of them has."""


@dataclass(frozen=True, kw_only=True)
class Routine(Declared):
    """Statements under a name, with parameters."""

    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...]
    side: Side = "agent"


@dataclass(frozen=True, kw_only=True)
class Action(Routine):
    """What other bodies do. `levels` counts it and the actions that it does, one inside the other."""

    levels: int

    @property
    def title(self) -> str:
        return self.name


@dataclass(frozen=True, kw_only=True)
class Tool(Routine):
    """What agents or users call; with `ends`, the last call of an episode that succeeds."""

    returns: Result | None
    ends: bool = False


@dataclass(frozen=True, kw_only=True)
class Rule(Declared):
    """A policy that the tools enforce, or that the grader audits. `sqls` holds the condition, a tool each."""

    verdict: Literal["enforced", "audited"]
    sqls: dict[str, Sql]


# -- worlds, tests, tasks -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Outside:
    """A file outside of the spec's folder that holds rows of a world, and what is in it, if it could be read."""

    file: OutsideFile
    content: Content | None
    span: Span


@dataclass(frozen=True, kw_only=True)
class Made:
    """What a column of generated rows holds."""

    column: str
    drawn: Drawn


@dataclass(frozen=True, kw_only=True)
class Generate:
    """Rows that are made, with others in them: from `least` to `most`, for each row that they are nested in.

    `made` are the columns in the order in which they are computed; the engine makes some of the others, the rest is
    NULL. `number` tells several such blocks of one table in one world apart.
    """

    kind: Literal["generate"] = "generate"
    table: str
    number: int
    least: int
    most: int
    made: tuple[Made, ...]
    nested: tuple[Generate, ...]
    span: Span


@dataclass(frozen=True, kw_only=True)
class Expect:
    sql: Sql
    span: Span


Happening = Generate | Write | Expect


@dataclass(frozen=True, kw_only=True)
class World(Declared):
    """An initial state: its rows by table, in the order of the spec, and the place of each.

    Of a world that extends its `base`, or in which something happens, these are the rows that it writes out itself,
    until `forgec.worlds` has made it `whole`.
    Rows of files outside come last, if they could be read.
    """

    rows: dict[str, tuple[dict[str, Any], ...]]
    places: dict[str, tuple[Span, ...]]
    base: str | None = None
    seed: str = "0"
    happenings: tuple[Happening, ...] = ()
    outside: tuple[Outside, ...] = ()
    read: dict[str, int] = field(default_factory=dict)
    """How many of the rows of each table, the last ones, were read from there."""
    defaults: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What columns of theirs are that they leave out, by table."""

    @property
    def is_made(self) -> bool:
        """Whether there is more to it than the rows that it writes out."""
        return self.base is not None or bool(self.happenings)

    @property
    def known(self) -> bool:
        """Whether all of its rows are known."""
        return all(found.content is not None for found in self.outside)

    @property
    def unread(self) -> list[str]:
        """The sources that would have to be allowed for that."""
        return list(dict.fromkeys(found.file.grant for found in self.outside if found.content is None))


@dataclass(frozen=True, kw_only=True)
class Constant:
    """A value that is written out: computed by DuckDB when the spec was compiled. `text` is how it was written."""

    value: Any
    cell: Cell
    text: str


Given = Sql | Constant
"""What a task says of a value."""


@dataclass(frozen=True, kw_only=True)
class Call:
    tool: str
    arguments: dict[str, Sql]
    span: Span


@dataclass(frozen=True, kw_only=True)
class Run:
    name: str | None
    call: Call
    fails: str | None
    returns: Sql | None
    span: Span


@dataclass(frozen=True, kw_only=True)
class Test(Declared):
    world: str
    steps: tuple[Run | Expect, ...]


@dataclass(frozen=True, kw_only=True)
class Request(Declared):
    """Something that the user asks for, if `when` holds, where there is one."""

    text: Message
    after: tuple[str, ...]
    when: Sql | None


@dataclass(frozen=True, kw_only=True)
class Sample(Declared):
    """What is drawn when an episode begins: one of the rows of `sql`, or its only column."""

    sql: Sql
    shape: Cell | Row


@dataclass(frozen=True, kw_only=True)
class Fact(Declared):
    """Something the user knows: a constant, or what follows from samples. `told` says it in the user's words."""

    cell: Cell
    value: Given
    told: Message


@dataclass(frozen=True, kw_only=True)
class CallNode(Declared):
    tool: str
    arguments: dict[str, Given]
    when: Sql | None
    after: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ReasonNode(Declared):
    value: Given
    shape: Shape
    when: Sql | None
    after: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Plan(Declared):
    """One way to do a task, its nodes in an order that respects every edge; the first may be without a name."""

    nodes: tuple[CallNode | ReasonNode, ...]


@dataclass(frozen=True, kw_only=True)
class Says:
    doc: str
    value: Given
    span: Span


@dataclass(frozen=True, kw_only=True)
class Never:
    """A call that may not succeed in an episode."""

    tool: str
    arguments: dict[str, Given]
    span: Span

    @property
    def text(self) -> str:
        given = ", ".join(f"{name}: {value.text}" for name, value in self.arguments.items())
        return f"{self.tool}({given})" if given else self.tool


@dataclass(frozen=True, kw_only=True)
class Task(Declared):
    world: str
    intent: Message | None
    tags: tuple[str, ...]
    requests: tuple[Request, ...]
    samples: tuple[Sample, ...]
    facts: tuple[Fact, ...]
    change: tuple[Sql, ...]
    plans: tuple[Plan, ...]
    expect: tuple[Expect, ...]
    says: tuple[Says, ...]
    never: tuple[Never, ...]

    @property
    def plan(self) -> tuple[CallNode | ReasonNode, ...]:
        """The nodes of the plan that is gold."""
        return self.plans[0].nodes


# -- the whole ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Spec(Declared):
    """`source` is the file that declares the environment, the first of its `sources`."""

    source: Source
    sources: tuple[Source, ...]
    clock: datetime.datetime
    policy: str
    enums: dict[str, Enum]
    records: dict[str, Record]
    domains: dict[str, Domain]
    tables: dict[str, Table]
    invariants: tuple[Invariant, ...]
    views: dict[str, View]
    functions: dict[str, Function]
    actions: dict[str, Action]
    tools: dict[str, Tool]
    syncs: dict[str, Tool]
    """What is brought in step with the state, each as a tool without parameters, which nobody calls."""
    rules: tuple[Rule, ...]
    worlds: dict[str, World]
    tests: tuple[Test, ...]
    tasks: dict[str, Task]
