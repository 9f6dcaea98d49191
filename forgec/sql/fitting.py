"""Whether values fit where they stand: what is assigned, what is compared, and the texts that spell a value."""

from __future__ import annotations

from dataclasses import dataclass

from forgec.diagnostics import Report, did_you_mean
from forgec.source import Span
from forgec.sql.infer import assignable, castable, comparable, infer, results, seen
from forgec.sql.lists import compared
from forgec.sql.oracle import Oracle, Rejected, parse_type
from forgec.sql.query import cell_of
from forgec.sql.tree import DIALECT, Calculate, Fragment, cast, exp, literal_record, place_of
from forgec_runtime.types import Date, Decimal, Double, Enum, List, Map, Record, Text, Timestamp, Type, holds_map

EXAMPLES = {"DATE": "such as '2025-03-01'", "TIMESTAMP": "such as '2025-03-01 09:00:00'"}
"""Of texts that spell a value, by the types of DuckDB."""


@dataclass(frozen=True)
class ValueChecker:
    """Checks values of one spec. All methods report what they find wrong."""

    oracle: Oracle
    report: Report

    def check_assignable(
        self, wanted: Type, tree: exp.Expr, given: Type | None, fragment: Fragment, span: Span, data: bool = False
    ) -> bool:
        """Whether `tree`, of type `given`, may stand where `wanted` is declared; reports when not.

        In `data` a text such as '2025-03-01' is whatever is wanted.
        """
        if isinstance(tree, Calculate) and not isinstance(wanted, Double):
            hint = "take it with `let x = calculate(...)`, and what is wanted of `$x` after that"
            self.report.error(
                "AFS301", f"expected {wanted}, found double", span, "`calculate` gives a double", help=hint
            )
            return False
        is_text = isinstance(tree, exp.Literal) and tree.is_string
        if isinstance(wanted, Enum) and is_text:
            return self._check_variant(wanted, tree, span)
        record = literal_record(tree)
        if isinstance(wanted, Record) and record is not None:
            return self._check_record(wanted, record, given, fragment, span, data)
        if isinstance(wanted, List | Map) and isinstance(tree, exp.Array | exp.ToMap):
            if (problem := self._check_elements(wanted, tree, given, fragment, span, data)) is not None:
                return problem
        if isinstance(tree, exp.Null) or (data and is_text) or assignable(wanted, given):
            return True
        self.report.error("AFS301", f"expected {wanted}, found {given}", span, f"this is {given}")
        return False

    def _check_elements(
        self, wanted: List | Map, tree: exp.Expr, given: Type | None, fragment: Fragment, span: Span, data: bool
    ) -> bool | None:
        """Whether a list or map that is written out holds fitting values; None when it is not what is wanted."""
        if isinstance(wanted, Map) != isinstance(tree, exp.ToMap):
            return None
        before = len(self.report)
        values = tree.expressions
        if isinstance(wanted, Map):
            values = [part.expression for part in tree.this.expressions]
            for part in tree.this.expressions:
                self.check_assignable(wanted.key, part.this, Text(), fragment, fragment.span_of(part.this), data)
        known = given.of if isinstance(given, List | Map) else None
        for value in values:
            place = fragment.span_of(value) if place_of(value) else span
            self.check_assignable(wanted.of, value, infer(value) or known, fragment, place, data)
        return len(self.report) == before

    def _check_record(
        self, wanted: Record, record: exp.Struct, given: Type | None, fragment: Fragment, span: Span, data: bool
    ) -> bool:
        """Whether a record that is written out has all fields that it must have, no other, and fitting values."""
        before = len(self.report)
        values = {part.this.name: part.expression for part in record.expressions}
        for name, value in values.items():
            field, place = wanted.field(name), fragment.span_of_field(name, value)
            if field is None:
                hint = did_you_mean(name, [field.name for field in wanted.fields])
                self.report.error("AFS202", f"unknown field `{name}` of {wanted}", place, help=hint, about=name)
            elif isinstance(value, exp.Null) and not field.optional:
                self.report.error("AFS301", f"`{name}` is never null", place)
            else:
                known = given.field(name) if isinstance(given, Record) else None
                type_ = infer(value) or (known.type if known else None)
                place = fragment.span_of(value) if place_of(value) else place
                self.check_assignable(field.type, value, type_, fragment, place, data)
        missing = [f"`{field.name}`" for field in wanted.fields if not field.optional and field.name not in values]
        if missing:
            self.report.error("AFS301", f"{wanted} needs {', '.join(missing)}", span, "a field is missing")
        return len(self.report) == before

    def check_comparison(self, fragment: Fragment, node: exp.Expr, left: exp.Expr, rights: list[exp.Expr]) -> bool:
        for right in rights:
            for enum, literal in ((left, right), (right, left)):
                cell = enum.meta.get("cell")
                is_text = isinstance(literal, exp.Literal) and literal.is_string
                if cell is not None and is_text and isinstance(cell_of(enum).type, Enum):
                    wanted = cell_of(enum).type
                    assert isinstance(wanted, Enum)
                    if not self._check_variant(wanted, literal, fragment.span_of(literal)):
                        return False
            if not self._check_text(fragment, left, right):
                return False
            types = seen(left), seen(right)
            if any(type_ is not None and holds_map(type_) for type_ in types):
                hint = "compare what they have under a key"
                self.report.error("AFS302", "maps are not compared", fragment.span_of(node), help=hint)
                return False
            if isinstance(right, exp.Literal) and right.is_string and types[0] is not None and not comparable(*types):
                if not self.converts(fragment, right, types[0].sql):
                    return False
                continue  # a literal such as '2025-03-01' is whatever the other side wants
            if not comparable(*types):
                message = f"cannot compare {types[0]} with {types[1]}"
                self.report.error("AFS302", message, fragment.span_of(node))
                return False
        return True

    def _check_text(self, fragment: Fragment, left: exp.Expr, right: exp.Expr) -> bool:
        """Whether a text that is compared with what a query computes spells such a value."""
        for tree, text in ((left, right), (right, left)):
            if isinstance(text, exp.Literal) and text.is_string and infer(tree) is None:
                known = seen(tree)
                if known is not None and not comparable(known, Text()) and not self.converts(fragment, text, known.sql):
                    return False
        return True

    def check_cast(self, fragment: Fragment, node: exp.Cast) -> bool:
        """Whether a literal spells what it is cast to, and anything else is of a type that can be cast to it."""
        wanted = node.to.sql(dialect=DIALECT)
        if isinstance(node.this, exp.Literal):
            return self.converts(fragment, node.this, wanted)
        given, known = seen(node.this), parse_type(wanted)
        if given is None or known is None or castable(given, known):
            return True
        self.report.error("AFS302", f"no {given} can be cast to {known}", fragment.span_of(node))
        return False

    def check_choices(self, fragment: Fragment, node: exp.Expr) -> bool:
        """Whether the texts among what one of becomes the value spell what the others are."""
        parts = results(node) if isinstance(node, exp.Case | exp.Coalesce | exp.Greatest | exp.Least) else []
        texts = [part for part in parts if isinstance(part, exp.Literal) and part.is_string]
        others = [known for part in parts if part not in texts and (known := seen(part)) is not None]
        if not texts or not others or comparable(others[0], Text()):
            return True
        return all(self.converts(fragment, text, others[0].sql) for text in texts)

    def check_operands(self, fragment: Fragment, node: exp.Expr) -> bool:
        """Whether a text that is calculated with spells what stands on the other side: `'2025-03-01' - day`."""
        if not isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div | exp.IntDiv | exp.Mod):
            return True
        for tree, text in ((node.this, node.expression), (node.expression, node.this)):
            known = seen(tree) if isinstance(text, exp.Literal) and text.is_string else None
            if isinstance(known, Decimal):  # DuckDB makes doubles of both
                known = Double()
            if known is not None and not comparable(known, Text()) and not self.converts(fragment, text, known.sql):
                return False
        return True

    def check_compared(self, fragment: Fragment, node: exp.Expr) -> bool:
        """Whether a function of lists compares elements with what they can be compared with."""
        found = compared(node)
        if found is None:
            return True
        if isinstance(found.tree, exp.Literal) and found.tree.is_string:
            if isinstance(found.left, Enum):
                return self._check_variant(found.left, found.tree, fragment.span_of(found.tree))
            if isinstance(found.left, Date | Timestamp):  # '2025-03-01' is one
                return self.converts(fragment, found.tree, found.left.sql)
        if comparable(found.left, found.right):
            return True
        self.report.error("AFS302", f"cannot compare {found.left} with {found.right}", fragment.span_of(node))
        return False

    def converts(self, fragment: Fragment, literal: exp.Expr, wanted: str) -> bool:
        """Whether a literal such as '2025-03-01' is one of a `wanted`, a type of DuckDB."""
        try:
            self.oracle.compute(f"select {cast(literal.copy(), wanted).sql(dialect=DIALECT)}")
        except Rejected:
            hint = EXAMPLES.get(wanted)
            self.report.error("AFS301", f"{literal} is no {parse_type(wanted)}", fragment.span_of(literal), help=hint)
            return False
        return True

    def _check_variant(self, wanted: Enum, literal: exp.Expr, span: Span) -> bool:
        if literal.name in wanted.values:
            return True
        hint = did_you_mean(literal.name, wanted.values) or "values: " + ", ".join(wanted.values)
        self.report.error("AFS303", f"'{literal.name}' is not a value of {wanted.name}", span, help=hint)
        return False
