"""What a user calls the row that is meant: `your loan with the earliest due date`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forgec.sql.scope import Cell
from forgec.tasking.ground import Ground
from forgec.tasking.reasoning import ANY, Criterion
from forgec.tasking.words import Words, label_of, quoted

TITLES = ("title", "name", "subject", "what", "message")


class Phrases:
    """Phrases for the rows of one spec."""

    def __init__(self, ground: Ground, words: Words) -> None:
        self.ground, self.words = ground, words

    def of(
        self,
        table: str,
        mine: bool,
        context: tuple[tuple[str, Any], ...],
        one: Criterion = ANY,
        columns: Mapping[str, Cell] | None = None,
        docs: Mapping[str, str] | None = None,
        about: str = "",
    ) -> str:
        """What a user calls the row that is meant. It may be `mine`; `about` is of which other row it is."""
        noun, cells = self.words.noun(table), columns or {}
        mine = mine and not about
        whose = "your" if mine else "the"
        own = {column.name for column in self.ground.spec.tables[table].columns}
        equals = {label_of(name): (name, value) for name, value in one.equals}
        said = [(label, value) for label, value in context if label not in equals]
        if one.order is None:
            for name, value in one.equals:
                if name in TITLES and len(one.equals) == 1:
                    of = "" if name in own else "of "
                    return f"{whose} {noun} {of}{quoted(value)}{about}"
            for label, value in said:
                if label in TITLES and not equals:
                    of = "" if label in own else "of "
                    return f"{whose} {noun} {of}{quoted(value)}{about}"
            tests = [(self.words.label(name, cells), value) for name, value in one.equals] or said
            if not tests:
                return f"{whose} only {noun}{about}" if mine or columns is not None else f"the {noun}{about}"
            inner = self._inner_noun(table, [name for name, _ in one.equals], own)
            return f"{whose} {noun}{inner} with {self._tests(tests)}{about}"
        inner = self._inner_noun(table, [one.order], own)
        best = self.words.extreme(one.order, cells, one.most, (docs or {}).get(one.order, ""))
        extreme = f"{whose} {noun}{inner} with the {best}"
        tests = [(self.words.label(name, cells), value) for name, value in one.equals] + said
        among = about + (f" with {self._tests(tests)}" if tests else "")
        return f"{extreme} among those{among}" if among else extreme

    def _inner_noun(self, table: str, names: list[str], own: set[str]) -> str:
        """What another row is called that a row refers to and that has these columns instead."""
        if not names or any(name in own for name in names):
            return ""
        for column in self.ground.spec.tables[table].columns:
            other = self.ground.spec.tables.get(column.references or "")
            if other is not None and other.name != self.ground.people.table:
                if all(other.column(name) is not None for name in names):
                    return f" of the {self.words.noun(other.name)}"
        return ""

    @staticmethod
    def _tests(tests: list[tuple[str, Any]]) -> str:
        return " and ".join(f"the {label} {quoted(value)}" for label, value in tests)
