"""Defaults and checks of other databases as SQL of the language. What it allows is left to the checker to say."""

from __future__ import annotations

from collections.abc import Mapping

from forgec.sql.tree import DIALECT, exp
from forgec.starting.values import literal
from forgec_runtime.types import Date, Text, Timestamp, Type

_CLOCKS = (exp.CurrentTimestamp, exp.CurrentDate, exp.CurrentDatetime)
_CLOCK_NAMES = {"now", "datetime", "date", "localtimestamp", "getdate", "current_timestamp"}


def default_text(tree: exp.Expr, type_: Type) -> str | None:
    """What stands after `default` for a column of `type_`; None for a default that the language lacks."""
    bare = _bare(tree)
    if _is_clock(bare):
        return "(now())" if isinstance(type_, Timestamp) else "(today())" if isinstance(type_, Date) else None
    negative = isinstance(bare, exp.Neg) and isinstance(bare.this, exp.Literal)
    if isinstance(bare, exp.Boolean):
        text = "true" if bare.this else "false"
    elif isinstance(bare, exp.Literal):
        text = bare.name
    elif negative:
        text = f"-{bare.this.name}"
    elif isinstance(bare, exp.Column) and isinstance(type_, Text):  # SQLite takes "x" for a text
        text = bare.name
    else:
        return None
    return literal(type_, text)


def _is_clock(tree: exp.Expr) -> bool:
    if isinstance(tree, exp.Anonymous):
        return tree.name.lower() in _CLOCK_NAMES
    if isinstance(tree, exp.Date | exp.Datetime | exp.TsOrDsToDate | exp.TsOrDsToTimestamp):
        return isinstance(tree.this, exp.Literal) and tree.this.name.lower() == "now"
    return isinstance(tree, _CLOCKS)


def values_of(check: exp.Expr) -> tuple[str, tuple[str, ...]] | None:
    """The column that a check limits to listed texts, and those texts: `status in ('a', 'b')`."""
    tree = _bare(check)
    if isinstance(tree, exp.Or):
        sides = [values_of(side) for side in (tree.left, tree.right) if not isinstance(_bare(side), exp.Is)]
        if not sides or any(side is None or side[0] != (sides[0] or side)[0] for side in sides):
            return None
        found = [side for side in sides if side is not None]
        return found[0][0], tuple(value for _, values in found for value in values)
    if isinstance(tree, exp.In):
        listed = tree.expressions
    elif isinstance(tree, exp.EQ):
        right = _bare(tree.right)
        array = _bare(right.this) if isinstance(right, exp.Any) else None
        listed = array.expressions if isinstance(array, exp.Array) else [right]
    else:
        return None
    column, values = _bare(tree.this), [_bare(value) for value in listed]
    if not isinstance(column, exp.Column) or not values:
        return None
    if not all(isinstance(value, exp.Literal) and value.is_string and value.name for value in values):
        return None
    return column.name, tuple(dict.fromkeys(value.name for value in values))


def check_text(check: exp.Expr, names: Mapping[str, str], dialect: str) -> tuple[str | None, set[str]]:
    """A check in the language's SQL, and the columns in it; None when it has others than those of `names`.

    `names` are the columns by what they are called in the source, in lower case.
    """
    used: set[str] = set()

    def renamed(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column):
            name = names.get(node.name.lower())
            used.add(name or "")
            return exp.column(name or node.name)
        if _says_nothing(node):
            inner: exp.Expr = node.this.transform(renamed)
            return inner
        return node

    tree = check.copy().transform(renamed)
    while isinstance(tree, exp.Paren):
        tree = tree.this
    text = " ".join(tree.sql(dialect=DIALECT, comments=False).split())
    return (None if "" in used else text), used - {""}


def _says_nothing(node: exp.Expr) -> bool:
    """Whether a node can go: parentheses around one value, a cast to text or of a number."""
    bare = _bare(node)
    if isinstance(node, exp.Paren):
        return isinstance(bare, exp.Column | exp.Literal)
    if not isinstance(node, exp.Cast):
        return False
    return node.to.is_type(*exp.DataType.TEXT_TYPES) or (isinstance(bare, exp.Literal) and bare.is_number)


def _bare(tree: exp.Expr) -> exp.Expr:
    """Without parentheses, casts and names of character sets."""
    while isinstance(tree, exp.Paren | exp.Cast | exp.Introducer | exp.National):
        inner: exp.Expr = tree.expression if isinstance(tree, exp.Introducer) else tree.this
        tree = inner
    return tree
