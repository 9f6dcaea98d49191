"""The syntax tree of a spec: one frozen node a rule of `grammar/afs.lark`, each with its span.

Names are not resolved and types not known here; `forgec.model` does that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from forgec.source import Span


@dataclass(frozen=True)
class Node:
    span: Span


Side = Literal["agent", "user"]
"""Whose table or tool something is."""


@dataclass(frozen=True)
class Name(Node):
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Text(Node):
    """A string with its escapes decoded, or a triple-quoted text without its common indentation."""

    value: str


@dataclass(frozen=True)
class SqlText(Node):
    """A run of SQL; `params` are the spans of its `$names`, the dollar included."""

    params: tuple[Span, ...]


@dataclass(frozen=True)
class Hole(Node):
    """`{expression}` or `{expression:.2f}` in a message."""

    sql: SqlText
    format: str | None


@dataclass(frozen=True)
class Message(Node):
    parts: tuple[str | Hole, ...]


# -- head and types -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Use(Node):
    """`use "money.afs";`: what another file declares belongs to this spec."""

    path: Text


@dataclass(frozen=True)
class Extend(Node):
    """`extend library;`: what this file declares belongs to the spec of that environment."""

    name: Name


@dataclass(frozen=True)
class Setting(Node):
    name: Name
    value: SqlText


@dataclass(frozen=True)
class Environment(Node):
    name: Name
    doc: Text | None
    settings: tuple[Setting, ...]


@dataclass(frozen=True)
class Policy(Node):
    text: Text


@dataclass(frozen=True)
class Variant(Node):
    value: str


@dataclass(frozen=True)
class Enum(Node):
    name: Name
    doc: Text | None
    variants: tuple[Variant, ...]


@dataclass(frozen=True)
class NamedType(Node):
    """`text`, `decimal(8, 2)`, `map(text, integer)`, `Address`, `loans` (a row) or `members.member_id` (a key)."""

    path: tuple[Name, ...]
    arguments: tuple[int | TypeExpression, ...]


@dataclass(frozen=True)
class RecordType(Node):
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class TypeExpression(Node):
    """A base type and what follows it, in order: `?` and `[]`."""

    base: NamedType | RecordType
    suffixes: tuple[Literal["?", "[]"], ...]


@dataclass(frozen=True)
class Reference(Node):
    """`-> members`, and with `?` an optional one."""

    path: tuple[Name, ...]
    optional: bool


@dataclass(frozen=True)
class Field(Node):
    name: Name
    type: TypeExpression
    doc: Text | None


@dataclass(frozen=True)
class Record(Node):
    name: Name
    doc: Text | None
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Domain(Node):
    """`type Email = text check (value like '%@%');`: a type, and what its values satisfy."""

    name: Name
    doc: Text | None
    type: TypeExpression
    check: SqlText | None


# -- state --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Modifier(Node):
    """`key`, `unique`, `unscored`, `unordered`, `hidden`, `serial`, and, with SQL, `default`, `check` and `when`.

    A `serial` has a pattern such as `L{0000}`, or a list of keys.
    """

    kind: Literal["key", "unique", "unscored", "unordered", "hidden", "serial", "default", "check", "when"]
    sql: SqlText | None = None
    pattern: str | None = None
    keys: tuple[Variant, ...] = ()


@dataclass(frozen=True)
class Column(Node):
    name: Name
    type: TypeExpression | Reference
    modifiers: tuple[Modifier, ...]
    doc: Text | None


@dataclass(frozen=True)
class Tie(Node):
    """`(order_id, pos) -> orders.items`: columns that together hold a key."""

    columns: tuple[Name, ...]
    path: tuple[Name, ...]
    doc: Text | None


@dataclass(frozen=True)
class _WithEntries(Node):
    name: Name
    doc: Text | None
    entries: tuple[Column | Nested, ...]
    ties: tuple[Tie, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(entry for entry in self.entries if isinstance(entry, Column))

    @property
    def nested(self) -> tuple[Nested, ...]:
        return tuple(entry for entry in self.entries if isinstance(entry, Nested))


@dataclass(frozen=True)
class Table(_WithEntries):
    """A `table`, or a `single`; `missing` is what an agent reads who names a row that does not exist."""

    missing: Message | None
    single: bool
    side: Side


@dataclass(frozen=True)
class Nested(_WithEntries):
    """`items list { ... }`: a table whose rows belong to rows of the table that it is declared in."""

    kind: Literal["list", "map", "bag"]


@dataclass(frozen=True)
class Invariant(Node):
    name: Name
    doc: Text | None
    sql: SqlText


# -- behaviour ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parameter(Node):
    name: Name
    type: TypeExpression | Reference
    row: Name | None
    default: SqlText | None
    doc: Text | None


@dataclass(frozen=True)
class Function(Node):
    name: Name
    parameters: tuple[Parameter, ...]
    returns: TypeExpression
    doc: Text | None
    sql: SqlText


@dataclass(frozen=True)
class View(Node):
    name: Name
    doc: Text | None
    sql: SqlText


@dataclass(frozen=True)
class Write(Node):
    kind: Literal["insert", "update", "delete"]
    sql: SqlText


@dataclass(frozen=True)
class Let(Node):
    """`let name = ...`; with `[]` for rows; with a type for a value that `set` may change."""

    name: Name
    many: bool
    type: TypeExpression | None
    sql: SqlText
    message: Message | None


@dataclass(frozen=True)
class Set(Node):
    name: Name
    sql: SqlText


@dataclass(frozen=True)
class Require(Node):
    sql: SqlText
    message: Message


@dataclass(frozen=True)
class Branch(Node):
    """One arm of an `if`; the last may be without a condition."""

    condition: SqlText | None
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class If(Node):
    branches: tuple[Branch, ...]


@dataclass(frozen=True)
class Each(Node):
    """`each name in $rows { ... }`, or in the rows of a select in parentheses, which `sql` is without them."""

    name: Name
    sql: SqlText
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Do(Node):
    """`do action(argument, ...);`"""

    action: Name
    arguments: tuple[SqlText, ...]


@dataclass(frozen=True)
class Return(Node):
    sql: SqlText
    message: Message | None


@dataclass(frozen=True)
class Reply(Node):
    message: Message


@dataclass(frozen=True)
class Fail(Node):
    message: Message


Statement = Let | Set | Require | If | Each | Do | Return | Reply | Fail | Write


@dataclass(frozen=True)
class Action(Node):
    name: Name
    parameters: tuple[Parameter, ...]
    doc: Text | None
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Tool(Node):
    """`returns` holds the kinds of results that it may give, none where nothing is declared."""

    name: Name
    parameters: tuple[Parameter, ...]
    returns: tuple[TypeExpression, ...]
    doc: Text | None
    body: tuple[Statement, ...]
    side: Side
    ends: bool


@dataclass(frozen=True)
class Sync(Node):
    """What follows from the state, and is written when a call has changed it."""

    name: Name
    doc: Text | None
    condition: SqlText | None
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Rule(Node):
    name: Name
    verdict: Literal["enforced", "audited"]
    tools: tuple[Name, ...]
    doc: Text | None
    sql: SqlText


# -- worlds, tests, tasks -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fill(Node):
    """Rows of one table: `members (a, b) values (1, 2), (3, 4);`."""

    table: tuple[Name, ...]
    columns: tuple[Name, ...]
    rows: tuple[SqlText, ...]


@dataclass(frozen=True)
class Documents(Node):
    """Rows of one table with those nested in them: `orders rows {'order_id': 'W1', 'items': [...]}, {...};`."""

    table: tuple[Name, ...]
    rows: tuple[SqlText, ...]


@dataclass(frozen=True)
class FileOrigin(Node):
    """`"data/books.csv"`: a file in the folder of the spec."""

    path: Text


@dataclass(frozen=True)
class PackageOrigin(Node):
    """`package "some-data" "some_data/books.json"`: a file of a distribution that is installed."""

    distribution: Text
    path: Text


@dataclass(frozen=True)
class VariableOrigin(Node):
    """`env "BOOKS"`: the file that an environment variable names."""

    variable: Text


@dataclass(frozen=True)
class Sourced(Node):
    """Rows of one table, with those nested in them, that lie elsewhere: `books from "data/books.json" at "books";`."""

    table: tuple[Name, ...]
    origin: FileOrigin | PackageOrigin | VariableOrigin
    member: Text | None


FillItem = Fill | Documents | Sourced


@dataclass(frozen=True)
class Expect(Node):
    sql: SqlText


@dataclass(frozen=True)
class Made(Node):
    """What a column of generated rows holds: `joined = uniform(date '2020-01-01', today());`."""

    name: Name
    sql: SqlText


@dataclass(frozen=True)
class Generate(Node):
    """Rows that are made: `members generate 40 { ... }`, or `items generate 1 to 4 { ... }` inside of another."""

    table: tuple[Name, ...]
    least: int
    most: int
    made: tuple[Made, ...]
    nested: tuple[Generate, ...]


@dataclass(frozen=True)
class World(Node):
    """`fills` are worked off in their order; then `happenings`, which are generated, written and expected."""

    name: Name
    base: Name | None
    doc: Text | None
    seed: str
    fills: tuple[FillItem, ...]
    happenings: tuple[Generate | Write | Expect, ...]


@dataclass(frozen=True)
class Argument(Node):
    name: Name
    sql: SqlText


@dataclass(frozen=True)
class Call(Node):
    tool: Name
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Run(Node):
    """A call in a test, what it must give, and the name that later steps know its result by."""

    name: Name | None
    call: Call
    fails: Text | None
    returns: SqlText | None


@dataclass(frozen=True)
class Test(Node):
    title: Text
    world: Name
    steps: tuple[Run | Expect, ...]


@dataclass(frozen=True)
class Data(Node):
    """A constant of a task that is data already, as `forgec_runtime.task_file` writes it."""

    value: Any


@dataclass(frozen=True)
class Path(Node):
    """`acct.fines`: a value, or a part of one, that a task which is data names."""

    path: str


Given = SqlText | Data | Path


@dataclass(frozen=True)
class Intent(Node):
    text: Message


@dataclass(frozen=True)
class Tags(Node):
    names: tuple[Name, ...]


@dataclass(frozen=True)
class Request(Node):
    name: Name
    after: tuple[Name, ...]
    condition: SqlText | None
    text: Message


@dataclass(frozen=True)
class Sample(Node):
    """`sample order from orders where status = 'pending';`: `sql` begins with its `from`."""

    name: Name
    doc: Text | None
    sql: SqlText


@dataclass(frozen=True)
class Fact(Node):
    name: Name
    doc: Message | None
    value: Given


@dataclass(frozen=True)
class Change(Node):
    """What the initial state has otherwise than the world."""

    writes: tuple[Write, ...]


@dataclass(frozen=True)
class CallNode(Node):
    name: Name
    tool: Name
    arguments: tuple[Named, ...]
    condition: SqlText | None
    after: tuple[Name, ...]


@dataclass(frozen=True)
class Named(Node):
    """An argument of a call in a task."""

    name: Name
    value: Given


@dataclass(frozen=True)
class ReasonNode(Node):
    name: Name
    many: bool
    condition: SqlText | None
    doc: Text | None
    value: Given
    after: tuple[Name, ...] = ()


@dataclass(frozen=True)
class Plan(Node):
    """The first plan of a task may be without a name."""

    name: Name | None
    doc: Text | None
    nodes: tuple[CallNode | ReasonNode, ...]


@dataclass(frozen=True)
class Never(Node):
    """`never cancel(order_id: '#W2');`, or `never cancel;` for any call of the tool."""

    tool: Name
    arguments: tuple[Named, ...]


@dataclass(frozen=True)
class Says(Node):
    doc: Text | None
    value: Given


Part = Intent | Tags | Request | Sample | Fact | Change | Plan | Expect | Never | Says


@dataclass(frozen=True)
class Task(Node):
    name: Name
    world: Name
    doc: Text | None
    parts: tuple[Part, ...]


Item = (
    Use | Extend | Environment | Policy | Enum | Record | Domain | Table | View | Invariant | Function | Action | Tool
    | Sync | Rule | World | Test | Task
)  # fmt: skip


@dataclass(frozen=True)
class File(Node):
    items: tuple[Item, ...]
