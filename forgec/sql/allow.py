"""What SQL may say. Whatever is not named here does not exist.

Node types are compared exactly, not by `isinstance`: dangerous nodes are subclasses of harmless ones.
"""

from __future__ import annotations

from forgec.diagnostics import Report, did_you_mean
from forgec.sql.tree import Fragment, exp

_STRUCTURE = (
    exp.Select, exp.From, exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered, exp.Limit, exp.Distinct, exp.Join,
    exp.Subquery, exp.CTE, exp.With, exp.TableAlias, exp.Table, exp.Identifier, exp.Column, exp.Star, exp.Alias,
    exp.Paren, exp.Tuple, exp.Literal, exp.Boolean, exp.Null, exp.Union, exp.Except, exp.Intersect, exp.Values,
    exp.Returning, exp.Insert, exp.Update, exp.Delete, exp.Schema, exp.Var, exp.DataType, exp.DataTypeParam,
)  # fmt: skip
_OPERATORS = (
    exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Is, exp.In, exp.Between,
    exp.NullSafeEQ, exp.NullSafeNEQ, exp.Like, exp.ILike, exp.Exists, exp.Case, exp.If, exp.Add, exp.Sub, exp.Mul,
    exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.DPipe, exp.Cast, exp.Interval, exp.Dot, exp.Bracket, exp.Struct,
    exp.PropertyEQ, exp.Filter,
)  # fmt: skip

FUNCTIONS: dict[type[exp.Expr], str] = {
    # each is deterministic, total but for overflow, and its result no larger than its arguments
    exp.Count: "count", exp.Sum: "sum", exp.Min: "min", exp.Max: "max", exp.Avg: "avg", exp.CountIf: "count_if",
    exp.LogicalAnd: "bool_and", exp.LogicalOr: "bool_or", exp.Coalesce: "coalesce", exp.Nullif: "nullif",
    exp.Greatest: "greatest", exp.Least: "least", exp.Abs: "abs", exp.Round: "round", exp.Floor: "floor",
    exp.Ceil: "ceil", exp.Sign: "sign", exp.Lower: "lower", exp.Upper: "upper", exp.Length: "length",
    exp.Trim: "trim", exp.Substring: "substring", exp.Left: "left", exp.Right: "right", exp.Contains: "contains",
    exp.StartsWith: "starts_with", exp.EndsWith: "ends_with", exp.DateDiff: "date_diff", exp.Year: "year",
    exp.Month: "month", exp.Day: "day", exp.CurrentDate: "today",
}  # fmt: skip
NAMED_FUNCTIONS = {"round_even": 2, "now": 0}
"""Functions that sqlglot has no node for, with the number of their arguments."""

_TYPES = {"VARCHAR", "TEXT", "INT", "BIGINT", "DECIMAL", "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP", "TIMESTAMPNTZ"}
_UNITS = {"DAY", "WEEK", "MONTH", "YEAR", "HOUR", "MINUTE", "SECOND"}

_PARTS: dict[type[exp.Expr], set[str]] = {
    exp.Select: {"expressions", "from_", "where", "group", "having", "order", "limit", "joins", "distinct", "with_"},
    exp.Table: {"this", "alias"},
    exp.Join: {"this", "side", "kind", "on", "using"},
    exp.Group: {"expressions"},
    exp.Distinct: {"expressions"},
    exp.Ordered: {"this", "desc", "nulls_first"},
    exp.Limit: {"expression"},
    exp.CTE: {"this", "alias"},
    exp.With: {"expressions"},
    exp.TableAlias: {"this", "columns"},
    exp.Subquery: {"this", "alias"},
    exp.Union: {"this", "expression", "distinct", "order", "limit", "with_"},
    exp.Except: {"this", "expression", "distinct", "order", "limit", "with_"},
    exp.Intersect: {"this", "expression", "distinct", "order", "limit", "with_"},
    exp.Values: {"expressions", "alias"},
    exp.Star: set(),
    exp.Cast: {"this", "to"},
    exp.Insert: {"this", "expression", "returning"},
    exp.Update: {"this", "expressions", "where", "returning"},
    exp.Delete: {"this", "where"},
    exp.Returning: {"expressions"},
    exp.In: {"this", "expressions", "query"},
    exp.Case: {"this", "ifs", "default"},
    exp.Trim: {"this"},
}  # fmt: skip
"""For nodes that carry clauses: the clauses that may be there."""

_ALLOWED = {*_STRUCTURE, *_OPERATORS, *FUNCTIONS}
MAX_NODES = 3_000


def check_allowed(fragment: Fragment, functions: set[str], report: Report) -> bool:
    """Whether `fragment` says only what may be said; `functions` are those the spec declares."""
    sound = True
    for count, node in enumerate(fragment.tree.walk()):
        if count > MAX_NODES:
            report.error("AFS403", f"this SQL has more than {MAX_NODES:,} parts", fragment.span)
            return False
        problem = _problem(node, functions)
        if problem is not None:
            code, message, hint = problem
            report.error(code, message, fragment.span_of(node), "not allowed here", help=hint)
            return False
    return sound


def _problem(node: exp.Expr, functions: set[str]) -> tuple[str, str, str | None] | None:
    kind = type(node)
    if kind is exp.Anonymous:
        return _problem_of_call(node.name, len(node.expressions), functions)
    if kind is exp.Literal and not node.is_string and len(node.name) > 40:
        return "AFS403", "this number has too many digits", None
    if kind not in _ALLOWED:
        return _unknown(node, functions)
    parts = _PARTS.get(kind)
    if parts is not None:
        for name, value in node.args.items():
            if name not in parts and _says_something(value):
                return "AFS405", f"`{name.rstrip('_')}` is not part of this language's SQL", None
    return _problem_of_detail(node)


def _says_something(value: object) -> bool:
    return bool(value) and value != []


def _unknown(node: exp.Expr, functions: set[str]) -> tuple[str, str, str | None]:
    if isinstance(node, exp.Func):
        return _problem_of_call(node.sql_name().lower(), 0, functions) or ("AFS404", "unknown function", None)
    name = type(node).__name__
    if isinstance(node, exp.Command):
        name = node.name
    return "AFS405", f"`{name.upper()}` is not part of this language's SQL", "select, insert, update and delete are"


def _problem_of_call(name: str, arguments: int, functions: set[str]) -> tuple[str, str, str | None] | None:
    name = name.lower()
    if name in functions or NAMED_FUNCTIONS.get(name) == arguments:
        return None
    if name in NAMED_FUNCTIONS:
        return "AFS404", f"`{name}` takes {NAMED_FUNCTIONS[name]} arguments", None
    known = {*functions, *NAMED_FUNCTIONS, *FUNCTIONS.values()}
    return "AFS404", f"unknown function `{name}`", did_you_mean(name, known)


def _problem_of_detail(node: exp.Expr) -> tuple[str, str, str | None] | None:
    if isinstance(node, exp.DataType):
        name = node.this.name if hasattr(node.this, "name") else str(node.this)
        if name not in _TYPES:
            return "AFS405", f"the type `{name.lower()}` may not be cast to", None
    elif isinstance(node, exp.Interval):
        unit = node.args.get("unit")
        if unit is None or unit.name.upper() not in _UNITS:
            return "AFS405", "an interval is written `interval 21 day`", "units: " + ", ".join(sorted(_UNITS)).lower()
    elif isinstance(node, exp.Join):
        if not (node.args.get("on") or node.args.get("using")):
            return "AFS406", "a join needs `on` or `using`", None
        if str(node.args.get("side") or "").upper() not in ("", "LEFT"):
            return "AFS405", "joins are `join` or `left join`", None
        if str(node.args.get("kind") or "").upper() not in ("", "INNER", "OUTER"):
            return "AFS405", "joins are `join` or `left join`", None
    elif isinstance(node, exp.Limit):
        limit = node.expression
        if not (isinstance(limit, exp.Literal) and not limit.is_string and limit.name.isdigit()):
            return "AFS405", "`limit` takes a number", None
    return None
