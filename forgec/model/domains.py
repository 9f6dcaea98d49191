"""Domain types: a name for a type whose values satisfy a condition, and what follows for what is declared of it."""

from __future__ import annotations

from dataclasses import replace

from forgec.model.spec import ELEMENT, Check, Domain
from forgec.model.types import TypeResolver
from forgec.source import Span
from forgec.sql.check import SqlChecker
from forgec.sql.query import Sql, cell_of
from forgec.sql.scope import EACH, Cell, Claim, Scope
from forgec.sql.tree import Value, exp
from forgec.syntax import nodes
from forgec_runtime.types import Boolean, List, Record, Type

_VALUE = "value"


def build_domain(item: nodes.Domain, types: TypeResolver, checker: SqlChecker) -> bool:
    """Whether the type could be declared; its check sees nothing but the value."""
    cell = types.cell(item.type)
    if cell is None:
        return False
    if cell.optional:
        hint = f"`{item.name}?` where the type is used allows NULL"
        checker.report.error("AFS315", f"the type `{item.name}` cannot be optional itself", item.type.span, help=hint)
        return False
    scope = Scope({}, {}, alone=True)
    check = checker.condition(item.check, scope, row={_VALUE: Cell(cell.type)}) if item.check else None
    if item.check is not None and check is None:
        return False
    claims = cell.claims if check is None else (*cell.claims, Claim((), check.expression, check.span))
    doc = item.doc.value if item.doc else ""
    types.domains[item.name.text] = Domain(
        name=item.name.text, doc=doc, span=item.name.span, cell=replace(cell, claims=claims), check=check
    )
    return True


def claimed(cell: Cell, *where: str) -> tuple[Check, ...]:
    """What its type demands of the value that is known as `$where`: of a parameter, or of a column of a row."""
    checks = []
    for claim in cell.claims:
        if EACH in claim.path:
            checks.append(_each(claim, cell, where))
            continue
        path = (*where, *claim.path)
        text = f"{'.'.join((where[-1], *claim.path))} must satisfy {condition_text(claim.span)}"
        optional = cell.optional or bool(claim.path)
        tree = _about(claim.condition, ".".join(path), optional)
        checks.append(Check(sql=Sql(claim.span, tree, None, Cell(Boolean(), optional), frozenset()), text=text))
    return tuple(checks)


def _each(claim: Claim, cell: Cell, where: tuple[str, ...]) -> Check:
    """A claim on the elements of a list."""
    place = claim.path.index(EACH)
    outer, inner = claim.path[:place], claim.path[place + 1 :]
    listed: Type | None = cell.type
    for name in outer:
        field = listed.field(name) if isinstance(listed, Record) else None
        listed = field.type if field is not None else None
    assert isinstance(listed, List)
    over = Value(this=".".join((*where, *outer)))
    over.meta["cell"] = Cell(listed, cell.optional or bool(outer))
    tree = _about(claim.condition, ".".join((ELEMENT, *inner)), optional=bool(inner))
    return Check(
        sql=Sql(claim.span, tree, None, Cell(Boolean(), bool(inner)), frozenset()),
        text=".".join((where[-1], *outer)),
        over=Sql(claim.span, over, None, over.meta["cell"], frozenset()),
        rest=f"{''.join(f'.{name}' for name in inner)} must satisfy {condition_text(claim.span)}",
    )


def condition_text(span: Span) -> str:
    """A condition in brackets, without them and on one line."""
    return span.on_one_line[1:-1].strip()


def _about(condition: exp.Expr, path: str, optional: bool) -> exp.Expr:
    """A condition on `value` as one on the value at `path`."""
    tree = condition.copy()
    for node in list(tree.find_all(Value)):
        value = Value(this=path)
        value.meta["cell"] = replace(cell_of(node), optional=optional)
        if node is tree:
            return value
        node.replace(value)
    for field in tree.find_all(exp.Dot):
        field.meta["cell"] = replace(cell_of(field), optional=optional or cell_of(field).optional)
    return tree
