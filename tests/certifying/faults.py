"""Faults that computing queries in Python could have. The test of random selects must see each of them."""

from tests.differential.seeding import Fault

_EXPRESSIONS, _KINDS, _SEEN = (f"forgec.certifying.computing.{name}" for name in ("expressions", "kinds", "seen"))
_SELECTS, _TOUCHED, _TWIN = (f"forgec.certifying.computing.{name}" for name in ("selects", "touched", "twin"))

FAULTS = (
    # what of a select is seen by the rows that were changed
    Fault("one source need not have the value in common", _TOUCHED, "if len(found) == len(named) and", "if found and"),
    Fault("groups of NULL are not looked for", _TOUCHED, "(len(named) > 1 or not _optional", "(True or not _optional"),
    Fault("a select inside is seen by its rows", _TOUCHED, "if inner or len(named)", "if len(named)"),
    Fault(
        "other conditions make columns equal",
        _TOUCHED,
        "if isinstance(one, exp.EQ)]",
        "if isinstance(one, exp.Predicate)]",
    ),
    Fault(
        "an alternative makes columns equal",
        _TOUCHED,
        "if isinstance(tree, exp.And) else",
        "if isinstance(tree, exp.Connector) else",
    ),
    Fault(
        "groups are rows", _TOUCHED, "starts = group.expressions if group is not None else columns", "starts = columns"
    ),
    Fault(
        "of no rows there is no group",
        _TOUCHED,
        'if group is None and (tree.args.get("having")',
        'if False and (tree.args.get("having")',
    ),
    Fault("what is deleted was never there", _SEEN, "for one in (row, rows.get(key)):", "for one in (row,):"),
    Fault(
        "only what was there is seen to change",
        _SEEN,
        "for one in (row, rows.get(key)):",
        "for one in (rows.get(key),):",
    ),
    Fault("what the world breaks is not looked at again", _SELECTS, "return bool(any_(frame))", "return True"),
    Fault(
        "the changes of one call are those of the world",
        _SELECTS,
        "any_([values, Seen(seen.base, {}), *frame[2:]])",
        "any_([values, seen, *frame[2:]])",
    ),
    Fault(
        "one changed row is looked at",
        _SELECTS,
        "if rows(frame):\n                        return True",
        "if True:\n                        return bool(rows(frame))",
    ),
    Fault(
        "values of a call stay changed",
        _SELECTS,
        "                frame[0] = values\n            return False",
        "                pass\n            return False",
    ),
    # which rows there are
    Fault("changed rows are there twice", _SEEN, "if key not in changed]\n            found", "]\n            found"),
    Fault("deleted rows are found by a column", _SEEN, "if table.key_of(row) not in changed]", "]"),
    Fault(
        "new rows are not found by a column",
        _SEEN,
        "return kept + [row for row in changed.values() if",
        "return kept + [row for row in () if",
    ),
    Fault(
        "changed rows are found by any value", _SEEN, "row is not None and row[column] == value]", "row is not None]"
    ),
    Fault("NULL equals NULL", _SEEN, "if value is None:\n            return ()", "if value is None:\n            pass"),
    Fault(
        "changes of other tables are looked at alone",
        _SELECTS,
        "if not names.isdisjoint(seen.changes):",
        "if not names <= {*seen.changes}:",
    ),
    Fault(
        "rows inside of conditions are not remembered by their tables",
        _SELECTS,
        "names |= {one.name for condition in conditions for",
        "names |= {one.name for condition in () for",
    ),
    Fault(
        "what is remembered is that of any values",
        _SELECTS,
        "rows = of_base.get(values)",
        "rows = next(iter(of_base.values()), None)",
    ),
    # rows of several sources
    Fault("conditions are met by whoever is looked up", _SELECTS, "if one is not used]", "if used is None]"),
    Fault(
        "conditions on later sources are lost",
        _SELECTS,
        "conditions = [one for one in conditions if one not in tests]",
        "conditions = []",
    ),
    Fault(
        "what is unknown is met",
        _SELECTS,
        "if test(frame) is not True:\n                        break",
        "if test(frame) is False:\n                        break",
    ),
    Fault(
        "rows are looked up by what is not known yet",
        _SELECTS,
        "and not _slots(other, scope) & later:",
        "and not _slots(other, scope) & {source.slot}:",
    ),
    Fault(
        "conditions of joins are forgotten", _SELECTS, 'conditions += conjuncts(join.args["on"])', "conditions += []"
    ),
    Fault("names inside are those outside", _SELECTS, "{**scope.sources, **places}", "{**places, **scope.sources}"),
    # groups
    Fault(
        "a group is known by its first column",
        _SELECTS,
        "key.of(frame) for key in keys]",
        "key.of(frame) for key in keys[:1]]",
    ),
    Fault(
        "groups of NULL are left out",
        _SELECTS,
        "for rows in made.values():",
        "for rows in [rows for key, rows in made.items() if None not in key]:",
    ),
    Fault("of no rows there is no sum", _SELECTS, "{} if keys else {(): []}", "{}"),
    Fault("of no rows there is an empty group", _SELECTS, "{} if keys else {(): []}", "{(): []}"),
    Fault(
        "`having` lets pass what is unknown",
        _SELECTS,
        "if test is None or test(frame) is True:",
        "if test is None or test(frame) is not False:",
    ),
    # orders
    Fault(
        "NULLs come first when it descends",
        _SELECTS,
        "((of(row) is None) is not descends, of(row))",
        "(of(row) is None, of(row))",
    ),
    Fault("the last term decides", _SELECTS, "for of, descends in reversed(terms):", "for of, descends in terms:"),
    Fault("a limit of none is no limit", _SELECTS, "for row, _ in rows[:most]]", "for row, _ in rows[: most or None]]"),
    Fault("a limit comes before the order", _SELECTS, "in_order(rows, sorting)", "in_order(rows[:most], sorting)"),
    Fault("equal rows stay", _SELECTS, "            if distinct:\n", "            if distinct and not rows:\n"),
    Fault("all orders ascend", _TWIN, 'bool(one.args.get("desc"))', "False"),
    Fault(
        "answers have all columns",
        _TWIN,
        "return rows if len(columns) == len(finish) else",
        "return rows if columns else",
    ),
    # values
    Fault(
        "nothing is known of what is partly unknown",
        _EXPRESSIONS,
        "return decisive if b is decisive else None if",
        "return None if",
    ),
    Fault(
        "what is unknown does not decide",
        _EXPRESSIONS,
        "None if a is None or b is None else not decisive",
        "not decisive",
    ),
    Fault(
        "a comparison with NULL is false",
        _EXPRESSIONS,
        "return None if x is None or y is None else holds(x, y)",
        "return False if x is None or y is None else holds(x, y)",
    ),
    Fault(
        "the first `when` that is not false wins",
        _EXPRESSIONS,
        "if test(frame) is True:\n                return result",
        "if test(frame) is not False:\n                return result",
    ),
    Fault(
        "without `else` the last `when` wins",
        _EXPRESSIONS,
        "        return default.of(frame)\n",
        "        return (results[-1] or default).of(frame)\n",
    ),
    Fault(
        "a decimal in a `case` is as it was",
        _KINDS,
        "max(one.scale for one in found)",
        "min(one.scale for one in found)",
    ),
    Fault(
        "aggregates count what is NULL",
        _EXPRESSIONS,
        "                if value is not None:\n",
        "                if True:\n",
    ),
    Fault(
        "distinct values are all values",
        _EXPRESSIONS,
        "compute(list(set(values)) if distinct else values)",
        "compute(values[:] if distinct else values)",
    ),
    Fault("a sum of nothing is nothing", _EXPRESSIONS, "near(sum(values)) if values else None", "near(sum(values))"),
    Fault(
        "decimals are not brought to their places",
        _KINDS,
        "        return found\n\n    return exact",
        "        return value\n\n    return exact",
    ),
    Fault(
        "a field of no record fails",
        _EXPRESSIONS,
        "            return None\n        if type(value)",
        "            return 0\n        if type(value)",
    ),
)
