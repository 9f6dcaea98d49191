"""What the rules find in a spec, without what its comments allow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from forgec.checks.rules import RULES
from forgec.checks.rules.useless_permissions import useless_permissions
from forgec.checks.subject import Finding, Subject
from forgec.checks.suppressing import Permission, lines_of, permissions
from forgec.diagnostics import Diagnostic, Label
from forgec.model.spec import Spec
from forgec.source import Source
from forgec.syntax.nodes import Item


def find_warnings(spec: Spec, items: tuple[Item, ...]) -> Iterator[Diagnostic]:
    """The findings of all rules in a spec without errors, which was made of these declarations."""
    subject = Subject(spec, items)
    found = [(rule.code, one) for rule in RULES.values() if rule.find is not None for one in rule.find(subject)]
    allowing = [one for source in _sources(items) for one in permissions(source)]
    by_line: dict[tuple[int, int], list[Permission]] = {}
    for permission in allowing:
        by_line.setdefault((id(permission.span.source), permission.line), []).append(permission)
    used: set[Permission] = set()
    for code, finding in found:
        near = (one for n in lines_of(finding.span) for one in by_line.get((id(finding.span.source), n), ()))
        allowed = [one for one in near if one.reason and one.allows(code, finding.span)]
        used.update(allowed)
        if not allowed:
            yield _warning(code, finding)
    for finding in useless_permissions(allowing, used, RULES):
        yield _warning("AFW901", finding)


def _sources(items: Iterable[Item]) -> list[Source]:
    """The files that the declarations stand in, each once."""
    return list({id(item.span.source): item.span.source for item in items}.values())


def _warning(code: str, finding: Finding) -> Diagnostic:
    return Diagnostic(
        code, finding.message, Label(finding.span, finding.label), finding.related, (), finding.help, "warning"
    )
