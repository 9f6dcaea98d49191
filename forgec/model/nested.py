"""Tables inside tables: what their kinds ask of them, and the key that they have from the table around them."""

from __future__ import annotations

from collections.abc import Sequence

from forgec.diagnostics import Report
from forgec.model.spec import Column, Table
from forgec.syntax import nodes
from forgec_runtime.types import Enum, Integer, Text

MAX_LEVELS = 3
"""How many tables may lie inside each other in one that is not nested itself."""
POSITION = "pos"
"""The column that numbers the rows of a nested list or bag."""


def check_nested(node: nodes.Nested, columns: Sequence[Column], parent: Table, report: Report) -> bool:
    """Whether a nested table has the key that its kind wants, and a place where it may lie."""
    if parent.title.count(".") == MAX_LEVELS:
        report.error("AFS219", f"tables nest at most {MAX_LEVELS} deep", node.name.span)
        return False
    if parent.kind == "bag":
        hint = f"make `{parent.title}` a list"
        report.error("AFS313", "nothing is nested in a bag, whose rows have no place", node.name.span, help=hint)
        return False
    keys = [column for column in columns if column.key]
    if node.kind == "map":
        if len(keys) == 1 and isinstance(keys[0].type, Text | Enum):
            return True
        message = "the rows of a map have a key of one column, which is a text or an enum"
        report.error("AFS313", message, (keys[-1] if keys else node.name).span, help="mark a column with `key`")
        return False
    if keys:
        message = f"the rows of a {node.kind} have no key of their own: `{POSITION}` numbers them"
        report.error("AFS313", message, keys[0].span, help="a `map` has keys")
        return False
    taken = next((entry for entry in node.entries if entry.name.text == POSITION), None)
    if taken is not None:
        message = f"`{POSITION}` is the number of a row in its {node.kind}"
        report.error("AFS218", message, taken.name.span, help="choose another name")
    return taken is None


def position(node: nodes.Nested) -> Column:
    """The column that numbers the rows of one parent."""
    doc = "The number of the row, from 1"
    return Column(name=POSITION, doc=doc, span=node.name.span, type=Integer(), key=True, numbered=True)


def inherited_key(parent: Table, own: str) -> list[Column]:
    """The parent's key. Where `own`, the key of the nested table itself, has its name, it is called after its table."""
    last, single = parent.title.rpartition(".")[2], len(parent.key) == 1
    return [
        Column(
            name=column.name if column.name != own else f"{last}_{column.name}",
            doc=column.doc,
            span=column.span,
            type=column.type,
            key=True,
            inherited=True,
            references=parent.name if single else column.references,
        )
        for column in parent.key
    ]
