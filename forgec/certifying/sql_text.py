"""What the text of a query shows: its constants, and what it picks by."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlglot import exp

_SLOT = re.compile(r"(?<!\{)\{(\w+)\}(?!\})")


@dataclass(frozen=True)
class Picked:
    """A query of the form `select ... order by ... limit n`: its author's terms of the order, as columns."""

    limit: int
    columns: tuple[str, ...]
    """All columns of the select, hidden ones, too."""
    keys: tuple[str, ...]
    """Those by which the author wants the rows picked."""
    order: str
    """The whole order, as terms over `q`."""


@lru_cache(maxsize=4096)
def constants(text: str) -> tuple[Any, ...]:
    """The texts and numbers that are written in a query, but those that only shape it."""
    from sqlglot import exp  # not needed by whoever only reads what was found before

    tree = tree_of(text)
    shaping = {id(part) for one in tree.find_all(exp.Limit, exp.DataType, exp.Interval) for part in one.walk()}
    found: list[Any] = []
    for literal in tree.find_all(exp.Literal):
        if id(literal) not in shaping and not _is_place(literal):
            found.append(literal.this if literal.is_string else literal.to_py())
    return tuple(dict.fromkeys(found))


def _is_place(literal: exp.Literal) -> bool:
    """Whether a number only says which element, how many characters or digits: `orders[3]`, `right(text, 2)`."""
    from sqlglot import exp

    values = (exp.Coalesce, exp.Greatest, exp.Least, exp.Case, exp.If, exp.AggFunc)
    around = literal.parent
    return literal.is_int and isinstance(around, exp.Func | exp.Bracket) and not isinstance(around, values)


@lru_cache(maxsize=4096)
def picked(text: str) -> Picked | None:
    """What a query picks by; None where it does not pick some of several rows."""
    from sqlglot import exp

    tree = tree_of(text).copy()
    limit, order = tree.args.get("limit"), tree.args.get("order")
    if not isinstance(tree, exp.Select) or limit is None or order is None:
        return None
    if not isinstance(limit.expression, exp.Literal):
        return None
    columns = tuple(tree.named_selects)
    hidden = {select.this.sql(): select.alias for select in tree.selects if re.fullmatch(r"_\d+", select.alias)}
    terms = [(hidden.get(term.this.sql(), term.this.name), bool(term.args.get("desc"))) for term in order.expressions]
    keys = _own(terms, [name for name in columns if name not in hidden.values()])
    for term, (name, _) in zip(order.expressions, terms, strict=True):
        term.set("this", exp.column(name, table="q"))
    text = ", ".join(term.sql(dialect="duckdb") for term in order.expressions)
    return Picked(int(limit.expression.to_py()), columns, keys, text)


def _own(terms: list[tuple[str, bool]], columns: list[str]) -> tuple[str, ...]:
    """The author's terms of an order: those before the columns that complete it, which come in their own order."""
    for end in range(1, len(terms)):
        named = [name for name, _ in terms[:end]]
        rest = [(name, False) for name in columns if name not in named]
        if terms[end:] == rest:
            return tuple(named)
    return tuple(name for name, _ in terms)


@lru_cache(maxsize=4096)
def tree_of(text: str) -> exp.Expr:
    import sqlglot

    plain = _SLOT.sub(r'"\1"', text).replace("{{", "{").replace("}}", "}")
    return sqlglot.parse_one(plain, dialect="duckdb")
