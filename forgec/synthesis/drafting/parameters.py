"""Parameters that limit what is found, by their names: bounds, pages, words to look for."""

from __future__ import annotations

import re

from forgec.starting.names import snake
from forgec.synthesis.drafting.entities import Column, Entity

FILTERS = re.compile(
    r"^(min|max|start|end|from|to|since|until|before|after|lower|upper)(_|$)|_(min|max|from|to|gte?|lte?|lower_?bound|upper_?bound|before|after)$"
)
PAGING = {
    "limit",
    "offset",
    "page",
    "page_size",
    "per_page",
    "cursor",
    "sort",
    "sort_by",
    "order_by",
    "sort_order",
    "order",
}
ALL = {"all", "any", "*"}
"""Values of a parameter that stand for every value."""
WHOLE = {"keyword", "keywords", "query", "q", "search", "search_term", "term", "text", "filter", "criteria"}
"""Parameters that are looked for in all texts."""


def is_paging(name: str) -> bool:
    return snake(name) in PAGING


def is_whole_text(name: str) -> bool:
    return snake(name) in WHOLE


def bound(name: str, entity: Entity) -> tuple[Column, str] | None:
    """The column that a parameter such as `max_price` bounds, and `>=` or `<=`."""
    mine = snake(name)
    if not FILTERS.search(mine):
        return None
    rest = FILTERS.sub("", mine)
    low = bool(re.search(r"^(min|start|from|since|after|lower)(_|$)|_(min|from|gte?|lower_?bound|after)$", mine))
    if not rest and not mine.startswith(("from", "to", "since", "until", "before", "after", "start", "end")):
        return None
    kinds = ("integer", "number", "date", "timestamp")
    ordered = [c for c in entity.columns if c.shape.kind in kinds or c.type in kinds]
    found = next((c for c in ordered if c.name == rest), None)
    found = found or next((c for c in ordered if rest and rest in c.name), None)
    if found is None and rest in ("", "date", "time", "timestamp", "datetime", "at"):
        found = next((c for c in ordered if c.type in ("date", "timestamp")), None)
    return (found, ">=" if low else "<=") if found else None
