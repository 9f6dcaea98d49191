"""Types of expressions, computed without asking DuckDB, for the operators that generated Python computes itself.

The rules are DuckDB's; each root is compared with what DuckDB says (`check.py`), so that a wrong rule here costs a
query and never a wrong result.
"""

from __future__ import annotations

from collections.abc import Sequence

from forgec.sql.frames import UNKNOWN
from forgec.sql.oracle import parse_type
from forgec.sql.query import cell_of
from forgec.sql.tree import DIALECT, exp
from forgec_runtime.types import (
    Boolean,
    Date,
    Decimal,
    Double,
    Enum,
    Field,
    Integer,
    List,
    Map,
    Record,
    Text,
    Timestamp,
    Type,
)

_BOOLEAN = (
    exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Is, exp.In, exp.Between,
    exp.NullSafeEQ, exp.NullSafeNEQ, exp.Like, exp.ILike, exp.Exists, exp.Contains, exp.StartsWith, exp.EndsWith,
    exp.ArrayContains, exp.ArrayOverlaps,
)  # fmt: skip
_TEXT = (
    exp.Lower, exp.Upper, exp.Trim, exp.Substring, exp.Left, exp.Right, exp.Replace, exp.SHA2,
    exp.GroupConcat, exp.ArrayToString,
)  # fmt: skip
_OF_LISTS = (
    exp.ArraySort, exp.ArrayDistinct, exp.ArrayConcat, exp.ArrayAppend, exp.ArrayMin, exp.ArrayMax, exp.Map,
    exp.MapKeys,
)  # fmt: skip
MAX_DECIMAL = 28
"""Digits that Python's decimals keep by default; wider results are DuckDB's to compute."""


def infer(node: exp.Expr) -> Type | None:
    """The type of a resolved expression; None when only DuckDB can say."""
    cell = node.meta.get("cell")
    if cell is not None:
        known = cell_of(node).type
        return None if known is UNKNOWN else known
    if isinstance(node, exp.Paren):
        return infer(node.this)
    if isinstance(node, exp.Literal):
        return Text() if node.is_string else _number(node.name)
    if isinstance(node, (exp.Boolean, *_BOOLEAN)):
        return Boolean()
    if isinstance(node, exp.Neg):
        return infer(node.this)
    if isinstance(node, exp.Abs | exp.Nullif):
        return infer(node.this)
    if isinstance(node, exp.Round | exp.Floor | exp.Ceil):
        return _rounded(node)
    if isinstance(node, exp.DPipe):
        return _joined(node)
    if isinstance(node, _TEXT):
        return Text()
    if isinstance(node, _OF_LISTS) or (isinstance(node, exp.Anonymous) and node.expressions):
        return _of_list(node)
    if isinstance(node, exp.LastDay):
        return Date()
    if isinstance(node, exp.TimestampTrunc | exp.DateTrunc):
        return Timestamp()
    if isinstance(node, exp.Length | exp.Count | exp.CountIf | exp.DateDiff | exp.Year | exp.Month | exp.Day):
        return Integer()
    if isinstance(node, exp.Mod | exp.IntDiv):
        return _remainder(node)
    if isinstance(node, exp.Cast):
        return parse_type(node.args["to"].sql(dialect=DIALECT))
    if isinstance(node, exp.Case | exp.Greatest | exp.Least | exp.Coalesce | exp.Subquery):
        return common(results(node))
    if isinstance(node, exp.Array):
        of = common(node.expressions)
        return List(of) if of is not None else None
    if isinstance(node, exp.ToMap):
        of = common([part.expression for part in node.this.expressions])
        return Map(Text(), of) if of is not None else None
    if isinstance(node, exp.Struct):
        types = {part.this.name: infer(part.expression) for part in node.expressions}
        fields = tuple(Field(name, type_, True) for name, type_ in types.items() if type_ is not None)
        return Record("", fields) if len(fields) == len(types) else None
    if isinstance(node, exp.Add | exp.Sub):
        return _sum(node, isinstance(node, exp.Sub))
    if isinstance(node, exp.Mul):
        return _product(node)
    if isinstance(node, exp.Div):
        numbers = all(isinstance(infer(part), Integer | Decimal | Double) for part in (node.this, node.expression))
        return Double() if numbers else None
    return None


def seen(node: exp.Expr) -> Type | None:
    """What an expression is compared as: its type, or one of the same kind where only DuckDB knows which; None when
    that is not known either.
    """
    known = infer(node)
    if known is not None:
        return known
    cell = node.meta.get("cell")
    if cell is not None:
        return cell_of(node).seen
    if isinstance(node, exp.Paren | exp.Max | exp.Min | exp.Neg | exp.Abs | exp.Nullif):
        return seen(node.this)
    if isinstance(node, exp.Round | exp.Floor | exp.Ceil | exp.Sum | exp.Avg | exp.Add | exp.Sub | exp.Mul):
        parts = [seen(part) for part in (node.this, node.args.get("expression")) if isinstance(part, exp.Expr)]
        return Double() if all(isinstance(part, Integer | Decimal | Double) for part in parts) else None
    if isinstance(node, exp.Case | exp.Greatest | exp.Least | exp.Coalesce | exp.Subquery):
        kinds = [seen(part) for part in results(node) if not isinstance(part, exp.Null)]
        alike = bool(kinds) and all(kind is not None and comparable(kinds[0], kind) for kind in kinds)
        return kinds[0] if alike else None
    return None


def _joined(node: exp.Expr) -> Type | None:
    """The type of `a || b`: of texts, or of lists."""
    lists = any(isinstance(infer(part), List) for part in (node.this, node.expression))
    return common([node.this, node.expression]) if lists else Text()


def _of_list(node: exp.Expr) -> Type | None:
    """The type of a function of lists or maps."""
    if isinstance(node, exp.Map):
        keys, values = infer(node.args["keys"]), infer(node.args["values"])
        known = isinstance(keys, List) and isinstance(keys.of, Text) and isinstance(values, List)
        return Map(Text(), values.of) if known and isinstance(values, List) else None
    if isinstance(node, exp.ArrayConcat):
        return common([node.this, *node.expressions])
    name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
    if name in ("list_has_all", "contains_all"):
        return Boolean()
    if name == "to_json":
        return Text()
    if name == "round_even":
        given = infer(node.expressions[0])
        return given if isinstance(given, Double) else None
    given = infer(node.expressions[-1] if name else node.this)
    if isinstance(given, Map):
        return {"map_values": List(given.of), "": List(given.key)}.get(name)
    if not isinstance(given, List):
        return None
    if isinstance(node, exp.ArrayAppend):
        element = infer(node.expression)
        return given if element is not None and element.sql == given.of.sql else None
    if name == "list_sum":
        return Decimal(38, given.of.scale) if isinstance(given.of, Decimal) else None
    if name == "first_missing" or isinstance(node, exp.ArrayMin | exp.ArrayMax):
        return given.of
    return given if name in ("", "list_reverse") else None


def results(node: exp.Expr) -> list[exp.Expr]:
    """The parts of which one becomes the value; none when that cannot be said."""
    if isinstance(node, exp.Case):
        last = node.args.get("default")
        return [branch.args["true"] for branch in node.args["ifs"]] + ([last] if last is not None else [])
    if isinstance(node, exp.Select):
        return [item.unalias() for item in node.selects]
    if isinstance(node, exp.Subquery):
        return results(node.this) if isinstance(node.this, exp.Select) else []
    return [node.this, *node.expressions]


def common(parts: Sequence[exp.Expr]) -> Type | None:
    """The type that a value has which is one of the parts."""
    given = [(part, infer(part)) for part in parts if not isinstance(part, exp.Null) and not _is_empty(part)]
    types = [type_ for _, type_ in given if type_ is not None]
    if not types or len(types) < len(given):
        return None
    if all(type_.sql == types[0].sql for type_ in types):
        return types[0]
    decimals = [_as_decimal(part, type_) for part, type_ in given]
    known = [decimal for decimal in decimals if decimal is not None]
    return common_decimal(known) if len(known) == len(given) else None


def _is_empty(part: exp.Expr) -> bool:
    """Whether this is `[]` or `map {}`, which is of the type of what stands beside it."""
    return (isinstance(part, exp.Array) and not part.expressions) or (
        isinstance(part, exp.ToMap) and not part.this.expressions
    )


def common_decimal(types: Sequence[Type]) -> Decimal | None:
    """The decimal that holds all values of these integers and decimals; None when it would have too many digits."""
    decimals = [type_ if isinstance(type_, Decimal) else Decimal(19, 0) for type_ in types]
    scale = max(decimal.scale for decimal in decimals)
    precision = max(decimal.precision - decimal.scale for decimal in decimals) + scale
    return Decimal(precision, scale) if precision <= 38 else None


def _number(text: str) -> Type | None:
    if text.isdigit():
        return Integer() if int(text) < 2**63 else None
    whole, point, part = text.partition(".")
    if not point or "e" in text.lower():
        return None
    digits = len(whole) + len(part)  # leading zeros count
    return Decimal(digits, len(part)) if digits <= 18 else None


def _sum(node: exp.Expr, minus: bool) -> Type | None:
    left, right = infer(node.this), infer(node.expression)
    if isinstance(left, Integer) and isinstance(right, Integer):
        return _integer(node)
    if isinstance(node.expression, exp.Interval):
        return Timestamp() if isinstance(left, Date | Timestamp) else None
    if isinstance(left, Date):
        return Date() if isinstance(right, Integer) else Integer() if minus and isinstance(right, Date) else None
    if _is_double(left, right):
        return Double()
    a, b = _as_decimal(node.this, left), _as_decimal(node.expression, right)
    if a is None or b is None:
        return None
    scale = max(a.scale, b.scale)
    return _exact(max(a.precision - a.scale, b.precision - b.scale) + scale + 1, scale, a, b)


def _remainder(node: exp.Expr) -> Type | None:
    types = infer(node.this), infer(node.expression)
    if all(isinstance(type_, Integer) for type_ in types):
        return _integer(node)
    return common([node.this, node.expression]) if isinstance(node, exp.Mod) else None


def _rounded(node: exp.Expr) -> Type | None:
    """The type of a number rounded to a whole one, or to the places that the spec says."""
    given, places = infer(node.this), node.args.get("decimals")
    if places is not None and not (isinstance(places, exp.Literal) and places.name.isdigit()):
        return None
    if isinstance(given, Double):
        return given
    if not isinstance(given, Decimal):
        return None
    return Decimal(given.precision, min(given.scale, int(places.name)) if places is not None else 0)


def _integer(node: exp.Expr) -> Integer | None:
    """The type of arithmetic with integers; None where it overflows 32 bits and not 64."""
    return None if _is_short(node.this) and _is_short(node.expression) else Integer()


def _is_short(node: exp.Expr) -> bool:
    """Whether all values that an integer can have are literals of the spec: DuckDB gives those 32 bits."""
    if isinstance(node, exp.Literal):
        return int(node.name) < 2**31
    if isinstance(node, exp.Paren | exp.Neg | exp.Abs | exp.Nullif):
        return _is_short(node.this)
    if isinstance(node, exp.Case | exp.Greatest | exp.Least | exp.Coalesce | exp.Subquery):
        return all(_is_short(part) for part in results(node) if not isinstance(part, exp.Null))
    return False


def _product(node: exp.Expr) -> Type | None:
    left, right = infer(node.this), infer(node.expression)
    if isinstance(left, Integer) and isinstance(right, Integer):
        return _integer(node)
    if _is_double(left, right):
        return Double()
    a, b = _as_decimal(node.this, left), _as_decimal(node.expression, right)
    return None if a is None or b is None else _exact(a.precision + b.precision, a.scale + b.scale, a, b)


def _is_double(left: Type | None, right: Type | None) -> bool:
    """Whether two numbers are computed with as doubles."""
    numbers = all(isinstance(type_, Integer | Decimal | Double) for type_ in (left, right))
    return numbers and (isinstance(left, Double) or isinstance(right, Double))


def _as_decimal(node: exp.Expr, type_: Type | None) -> Decimal | None:
    """The decimal that an operand becomes beside another decimal."""
    if isinstance(type_, Integer):
        return Decimal(10 if _is_short(node) else 19, 0)
    return type_ if isinstance(type_, Decimal) else None


def _exact(precision: int, scale: int, left: Decimal, right: Decimal) -> Decimal | None:
    """A result that neither DuckDB nor Python's decimals can overflow; two short operands stay short in DuckDB."""
    short = left.precision <= 18 and right.precision <= 18
    return Decimal(precision, scale) if precision <= (18 if short else MAX_DECIMAL) else None


def comparable(left: Type | None, right: Type | None) -> bool:
    """Whether two values may be compared; what is not known is left to DuckDB."""
    if left is None or right is None:
        return True
    if isinstance(left, List) and isinstance(right, List):
        return comparable(left.of, right.of)
    return _family(left) == _family(right)


def castable(given: Type, wanted: Type) -> bool:
    """Whether some value of a type can be cast to another: no time is a number or true."""
    plain = {"number", "time", "Boolean"}
    kinds = {_family(given), _family(wanted)}
    return "time" not in kinds or len(kinds) == 1 or not kinds <= plain


def assignable(wanted: Type, given: Type | None) -> bool:
    """Whether a value of type `given` may be stored or passed where `wanted` is declared."""
    if given is None:
        return True
    if isinstance(wanted, Enum) and isinstance(given, Enum) and wanted != given:
        return False
    if isinstance(wanted, Record) and isinstance(given, Record):
        return _holds(wanted, given)
    if isinstance(wanted, List) and isinstance(given, List):
        return assignable(wanted.of, given.of)
    if isinstance(wanted, Map) and isinstance(given, Map):
        return assignable(wanted.key, given.key) and assignable(wanted.of, given.of)
    pair = (_family(wanted), _family(given))
    return pair[0] == pair[1] and not (isinstance(wanted, Integer) and isinstance(given, Decimal | Double))


def _holds(wanted: Record, given: Record) -> bool:
    """Whether a record has the fields of another: those that it must have, and no other."""
    types = {field.name: field.type for field in given.fields}
    known = all(wanted.field(name) is not None for name in types)
    return known and all(
        assignable(field.type, types[field.name]) if field.name in types else field.optional for field in wanted.fields
    )


def _family(type_: Type) -> str:
    if isinstance(type_, Integer | Decimal | Double):
        return "number"
    if isinstance(type_, Text | Enum):
        return "text"
    if isinstance(type_, Date | Timestamp):
        return "time"
    return type(type_).__name__
