"""What SQL may say. Whatever is not named here does not exist.

Node types are compared exactly, not by `isinstance`: dangerous nodes are subclasses of harmless ones.
"""

from __future__ import annotations

from math import isfinite

from forgec.diagnostics import Report, counted, did_you_mean
from forgec.sql.arity import MOST, calls_with_too_many
from forgec.sql.growth import MAX_SEPARATOR
from forgec.sql.scope import Scope
from forgec.sql.size import size_of
from forgec.sql.tree import Fragment, exp

STRUCTURE = (
    exp.Select, exp.From, exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered, exp.Limit, exp.Distinct, exp.Join,
    exp.Subquery, exp.CTE, exp.With, exp.TableAlias, exp.Table, exp.Identifier, exp.Column, exp.Star, exp.Alias,
    exp.Paren, exp.Tuple, exp.Literal, exp.Boolean, exp.Null, exp.Union, exp.Except, exp.Intersect, exp.Values,
    exp.Returning, exp.Insert, exp.Update, exp.Delete, exp.Schema, exp.Var, exp.DataType, exp.DataTypeParam,
    exp.Unnest,  # gives as many rows as its lists have elements
)  # fmt: skip
OPERATORS = (
    exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Is, exp.In, exp.Between,
    exp.NullSafeEQ, exp.NullSafeNEQ, exp.Like, exp.ILike, exp.Exists, exp.Case, exp.If, exp.Add, exp.Sub, exp.Mul,
    exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.DPipe, exp.Cast, exp.Interval, exp.Dot, exp.Bracket, exp.Struct,
    exp.PropertyEQ, exp.Filter, exp.Array, exp.ToMap,
)  # fmt: skip

FUNCTIONS: dict[type[exp.Expr], str] = {
    # each is deterministic, total but for overflow, and its result no larger than its arguments
    exp.Count: "count", exp.Sum: "sum", exp.Min: "min", exp.Max: "max", exp.Avg: "avg", exp.CountIf: "count_if",
    exp.LogicalAnd: "bool_and", exp.LogicalOr: "bool_or", exp.Coalesce: "coalesce", exp.Nullif: "nullif",
    exp.Greatest: "greatest", exp.Least: "least", exp.Abs: "abs", exp.Round: "round", exp.Floor: "floor",
    exp.Ceil: "ceil", exp.Sign: "sign", exp.Lower: "lower", exp.Upper: "upper", exp.Length: "length",
    exp.Trim: "trim", exp.Substring: "substring", exp.Left: "left", exp.Right: "right", exp.Contains: "contains",
    exp.StartsWith: "starts_with", exp.EndsWith: "ends_with", exp.DateDiff: "date_diff", exp.Year: "year",
    exp.Month: "month", exp.Day: "day", exp.CurrentDate: "today", exp.LastDay: "last_day",
    exp.TimestampTrunc: "date_trunc", exp.DateTrunc: "date_trunc",
    # 64 characters, whatever it is given
    exp.SHA2: "sha256",
    # both texts are literals, and the new one is not longer than the old one
    exp.Replace: "replace",
    # no longer than what it joins with literals between; its order is completed by `aggregates`
    exp.GroupConcat: "string_agg",
    # lists no longer than their arguments, in an order of their own; see `lists` and `aggregates`
    exp.ArrayAgg: "list", exp.ArraySort: "list_sort", exp.ArrayDistinct: "list_distinct",
    exp.ArrayConcat: "list_concat", exp.ArrayAppend: "list_append", exp.ArrayContains: "list_contains",
    exp.ArrayOverlaps: "list_has_any", exp.ArrayMin: "list_min", exp.ArrayMax: "list_max",
    exp.ArrayToString: "array_to_string", exp.Map: "map", exp.MapKeys: "map_keys",
}  # fmt: skip
NAMED_FUNCTIONS = {
    "round_even": 2, "now": 0, "to_json": 1,
    "list_position": 2, "list_reverse": 1, "list_sum": 1, "list_has_all": 2, "map_values": 1, "cardinality": 1,
    # the square of a thousand comparisons at most
    "contains_all": 2, "first_missing": 2,
    # one number; of a thousand characters at most, each looked at once
    "calculate": 1,
}  # fmt: skip
"""Functions that sqlglot has no node for, with the number of their arguments."""

GENERATORS = ("uniform", "gauss", "chance", "choice", "weighted", "pick", "pick_skewed", "fake", "n")
"""What draws by lot, in the rows that a world has made, and nowhere else."""
_ELSEWHERE = {
    **dict.fromkeys(GENERATORS, "it is for the rows that a world has made, in `generate`"),
    **dict.fromkeys(("current_timestamp", "localtimestamp", "getdate", "sysdate"), "the time is `now()`"),
    **dict.fromkeys(("extract", "date_part"), "there are `year(x)`, `month(x)` and `day(x)`"),
    **dict.fromkeys(("dateadd", "date_add"), "add an interval, such as `+ interval 1 day`"),
    "concat": "texts are joined with `||`",
    "date": "write `cast(x as date)`",
    "datetime": "write `cast(x as timestamp)`",
    "unnest": "it stands in `from`, such as `from unnest(xs) as p(x)`",
    "isnull": "write `x is null`",
}
"""Functions that are known elsewhere, and what is written here."""

_TYPES = {"VARCHAR", "TEXT", "INT", "BIGINT", "DECIMAL", "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP", "TIMESTAMPNTZ"}
CASTS = {"text", "integer", "bigint", "decimal", "double", "boolean", "date", "timestamp"}
UNITS = {"DAY", "WEEK", "MONTH", "YEAR", "HOUR", "MINUTE", "SECOND"}

_PARTS: dict[type[exp.Expr], set[str]] = {
    exp.Select: {"expressions", "from_", "where", "group", "having", "order", "limit", "joins", "distinct", "with_"},
    exp.Table: {"this", "db", "catalog", "alias"},
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
    exp.Unnest: {"expressions", "alias", "offset"},
    exp.Bracket: {"this", "expressions"},
    exp.Array: {"expressions"},
    exp.Cast: {"this", "to"},
    exp.Insert: {"this", "expression", "returning"},
    exp.Update: {"this", "expressions", "where", "returning"},
    exp.Delete: {"this", "where"},
    exp.Returning: {"expressions"},
    exp.In: {"this", "expressions", "query"},
    exp.Case: {"this", "ifs", "default"},
    exp.Trim: {"this"},
    exp.Length: {"this"},
    exp.Floor: {"this"},
    exp.Ceil: {"this"},
    exp.Min: {"this"},
    exp.Max: {"this"},
    exp.LastDay: {"this"},
    exp.TimestampTrunc: {"this", "unit"},
    exp.DateTrunc: {"this", "unit"},
    exp.GroupConcat: {"this", "separator"},
    exp.ArrayAgg: {"this"},
    exp.ArrayDistinct: {"this", "check_null"},
    exp.ArrayConcat: {"this", "expressions", "null_propagation"},
    exp.ArrayToString: {"this", "expression"},
}  # fmt: skip
"""For nodes that carry clauses: the clauses that may be there."""

_ALLOWED = {*STRUCTURE, *OPERATORS, *FUNCTIONS}
MAX_FIELDS = 1_000
"""Of a record, those of the records in it included."""
MAX_DIGITS = 18
"""Of a decimal, before and after its point: as many as DuckDB computes with quickly."""


def check_allowed(fragment: Fragment, scope: Scope, report: Report) -> bool:
    """Whether `fragment` says only what may be said."""
    if problem := size_of(fragment.tree).problem:
        report.error("AFS403", f"this SQL has {problem}", fragment.span)
        return False
    for node in fragment.tree.walk():
        if type(node) is exp.Anonymous or (isinstance(node, exp.Func) and type(node) not in _ALLOWED):
            if not _check_call(fragment, node, scope, report):
                return False
            continue
        found = _problem(node, fragment)
        if found is not None:
            code, message, hint = found
            clause = message.split("`")[1] if message.startswith("`") else ""
            span = fragment.span_of_word(clause, node) if clause.isidentifier() else fragment.span_of(node)
            report.error(code, message, span, help=hint)
            return False
    for start, end, name in calls_with_too_many(fragment.span.text):
        most = counted(MOST[name], "argument")
        report.error("AFS410", f"`{name}` takes at most {most}", fragment.part(start, end))
        return False
    return True


def _check_call(fragment: Fragment, node: exp.Func, scope: Scope, report: Report) -> bool:
    """Whether a function that is none of `FUNCTIONS` may be called."""
    span = fragment.span_of_name(node)
    if not span.text.isidentifier():  # an operator
        report.error("AFS405", "this is not part of this language's SQL", fragment.span_of(node))
        return False
    name = span.text.lower()
    wanted = NAMED_FUNCTIONS.get(name)
    if type(node) is exp.Anonymous and (name in scope.functions or wanted == len(node.expressions)):
        return True
    if wanted is not None:
        report.error("AFS410", f"`{name}` takes {counted(wanted, 'argument') if wanted else 'no arguments'}", span)
    elif name in scope.later:
        hint = "a function calls those above it, so that none can call itself"
        report.error("AFS404", f"the function `{name}` is declared further down", span, help=hint)
    else:
        close = did_you_mean(name, {*scope.functions, *NAMED_FUNCTIONS, *FUNCTIONS.values()})
        report.error("AFS404", f"unknown function `{name}`", span, help=_ELSEWHERE.get(name, close), about=name)
    return False


def _problem(node: exp.Expr, fragment: Fragment) -> tuple[str, str, str | None] | None:
    kind = type(node)
    if kind is exp.Literal and not node.is_string:
        return _problem_of_number(node.name)
    if kind is exp.In and node.args.get("field") is not None:
        return (
            "AFS405",
            "`in` takes values in brackets, or a select",
            "such as `x in (select p.x from unnest(xs) as p(x))`",
        )
    if kind is exp.Slice:
        return "AFS405", "one element is taken of a list, such as `xs[1]`", "several are rows of `unnest(xs)`"
    if kind not in _ALLOWED:
        word = str(node.name if isinstance(node, exp.Command) else kind.__name__).lower()
        what = f"`{word}`" if fragment.has_word(word) else "this"
        hint = "select, insert, update and delete are" if node is fragment.tree and what != "this" else None
        return "AFS405", f"{what} is not part of this language's SQL", hint
    parts = _PARTS.get(kind)
    if parts is not None:
        for name, value in node.args.items():
            if name not in parts and _says_something(value):
                return "AFS405", f"`{name.rstrip('_')}` is not part of this language's SQL", None
    return _problem_of_detail(node)


def _problem_of_number(text: str) -> tuple[str, str, str | None] | None:
    try:
        known = len(text) <= 40 and isfinite(float(text))
    except ValueError:
        return "AFS401", "this number cannot be read", "such as 1.5 or 2e10"
    return None if known else ("AFS403", "this number is too large", None)


def _says_something(value: object) -> bool:
    return bool(value) and value != []


def _problem_of_detail(node: exp.Expr) -> tuple[str, str, str | None] | None:
    if isinstance(node, exp.DataType):
        name = node.this.name if hasattr(node.this, "name") else str(node.this)
        if name not in _TYPES:
            return "AFS405", "this type may not be cast to", "types: " + ", ".join(sorted(CASTS))
        digits = [part.name for part in node.expressions]
        if digits and (name != "DECIMAL" or not all(digit.isdigit() for digit in digits)):
            return "AFS405", "this type may not be cast to", "digits are written as in `decimal(8, 2)`"
        if digits and int(digits[0]) > MAX_DIGITS:
            return "AFS405", f"a decimal has at most {MAX_DIGITS} digits", None
    elif isinstance(node, exp.Struct):
        if not all(isinstance(part, exp.PropertyEQ) for part in node.expressions):
            return "AFS405", "a record has names for what it holds", "such as {'name': 'Ada', 'age': 36}"
    elif isinstance(node, exp.Table):
        if node.alias_column_names:
            return "AFS405", "the columns of a table keep their names", "rename them in a select: `a as b`"
    elif isinstance(node, exp.CurrentDate) and node.this is not None:
        return "AFS410", "`today` takes no arguments", None
    elif isinstance(node, exp.Interval):
        unit = node.args.get("unit")
        if unit is None or unit.name.upper() not in UNITS:
            return "AFS405", "an interval is written `interval 21 day`", "units: " + ", ".join(sorted(UNITS)).lower()
    elif isinstance(node, exp.Func):
        return _problem_of_call(node)
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


def _problem_of_call(node: exp.Func) -> tuple[str, str, str | None] | None:
    """What is wrong with the arguments of a function that takes literals."""
    if isinstance(node, exp.Replace):
        old, new = node.expression, node.args.get("replacement")
        if new is None:
            return "AFS410", "`replace` takes three arguments", None
        if not (_is_text(old) and _is_text(new)):
            return "AFS413", "`replace` takes two literal texts", "such as `replace(x, '-', '')`"
        if len(new.name) > len(old.name):
            return "AFS414", f"'{new.name}' is longer than '{old.name}', so that a text could grow without end", None
    elif isinstance(node, exp.GroupConcat):
        separator = node.args.get("separator")
        if separator is not None and _is_text(separator) and len(separator.name) > MAX_SEPARATOR:
            return "AFS403", f"`string_agg` takes a text of at most {MAX_SEPARATOR} characters between its values", None
        if not _is_text(separator):
            return "AFS413", "`string_agg` takes a literal text between its values", "such as `string_agg(x, ', ')`"
    elif isinstance(node, exp.DateDiff):
        unit = node.args.get("unit")
        if unit is None or unit.name.upper() not in UNITS:
            return "AFS413", "`date_diff` takes a literal unit", "units: " + ", ".join(sorted(UNITS)).lower()
    elif isinstance(node, exp.TimestampTrunc | exp.DateTrunc):
        if node.args["unit"].name.upper() not in UNITS:
            return "AFS413", "`date_trunc` takes a literal unit", "units: " + ", ".join(sorted(UNITS)).lower()
    elif isinstance(node, exp.ArraySort):
        if node.args.get("asc") is not None:
            return "AFS410", "`list_sort` takes one argument", "downwards: `list_reverse(list_sort(x))`"
    elif isinstance(node, exp.ArrayToString):
        if _is_text(node.expression) and len(node.expression.name) > MAX_SEPARATOR:
            return "AFS403", f"`array_to_string` takes at most {MAX_SEPARATOR} characters between the elements", None
        if not _is_text(node.expression):
            example = "such as `array_to_string(x, ', ')`"
            return "AFS413", "`array_to_string` takes a literal text between the elements", example
    elif isinstance(node, exp.SHA2) and node.args["length"].name != "256":
        return "AFS404", "only `sha256` is known", None
    return None


def _is_text(node: exp.Expr | None) -> bool:
    return isinstance(node, exp.Literal) and bool(node.is_string)
