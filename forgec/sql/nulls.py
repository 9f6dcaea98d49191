"""Which expressions can be NULL."""

from __future__ import annotations

from forgec.sql.tree import exp

_NULL_FREE = (
    exp.Literal, exp.Boolean, exp.Count, exp.CountIf, exp.Exists, exp.Is, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Struct,
    exp.Array, exp.ToMap, exp.ArrayConcat, exp.ArrayAppend,
)  # fmt: skip
_NULL_IF_ANY = (
    exp.Paren, exp.Not, exp.Neg, exp.Lower, exp.Upper, exp.Length, exp.Trim, exp.Interval, exp.Cast, exp.Abs,
    exp.And, exp.Or, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Add, exp.Sub, exp.Mul, exp.DPipe,
    exp.Like, exp.ILike, exp.Between, exp.DateDiff, exp.Year, exp.Month, exp.Day, exp.Contains, exp.StartsWith,
    exp.EndsWith, exp.Substring, exp.Left, exp.Right, exp.Round, exp.Floor, exp.Ceil, exp.Sign,
    exp.Replace, exp.SHA2, exp.LastDay, exp.TimestampTrunc, exp.DateTrunc,
    exp.ArrayContains, exp.ArraySort, exp.ArrayDistinct, exp.ArrayOverlaps, exp.ArrayToString, exp.Map, exp.MapKeys,
)  # fmt: skip
_NAMED_NULL_IF_ANY = (
    "round_even",
    "to_json",
    "list_reverse",
    "list_has_all",
    "contains_all",
    "map_values",
    "cardinality",
)


def may_be_null(node: exp.Expr) -> bool:
    """Whether the value of a resolved expression can be NULL; when in doubt, it can."""
    cell = node.meta.get("cell")
    if cell is not None:
        return bool(cell.optional)
    if isinstance(node, _NULL_FREE):
        return False
    if isinstance(node, exp.Coalesce | exp.Greatest | exp.Least):
        return all(may_be_null(part) for part in [node.this, *node.expressions])
    if isinstance(node, exp.Anonymous) and node.name.lower() in _NAMED_NULL_IF_ANY:
        return any(map(may_be_null, node.expressions))
    if isinstance(node, _NULL_IF_ANY):
        return any(
            may_be_null(part) for part in node.iter_expressions() if not isinstance(part, exp.Var | exp.DataType)
        )
    if isinstance(node, exp.Div | exp.IntDiv | exp.Mod):
        return not is_nonzero(node.expression) or may_be_null(node.this)
    if isinstance(node, exp.In) and node.args.get("query") is None:
        return any(may_be_null(part) for part in [node.this, *node.expressions])
    if isinstance(node, exp.Case) and node.args.get("default") is not None:
        return any(may_be_null(part) for part in [*(b.args["true"] for b in node.args["ifs"]), node.args["default"]])
    if isinstance(node, exp.Subquery):
        return not _always_counts(node.this)
    return True


def _always_counts(query: exp.Expr) -> bool:
    """Whether a query is one count over whatever there is: the only scalar subquery that surely has a value."""
    clauses = ("group", "having", "limit", "distinct")
    if not isinstance(query, exp.Select) or any(query.args.get(clause) for clause in clauses):
        return False
    return len(query.selects) == 1 and isinstance(query.selects[0].this, exp.Count | exp.CountIf)


def is_nonzero(divisor: exp.Expr) -> bool:
    """Whether this is a number of the spec that is not zero: the quotient by zero is NULL."""
    return isinstance(divisor, exp.Literal) and not divisor.is_string and float(divisor.name) != 0
