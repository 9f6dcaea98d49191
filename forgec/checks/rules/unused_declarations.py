"""Types, functions, views and actions that are declared for nothing."""

from __future__ import annotations

from collections.abc import Iterator

from forgec.checks.subject import Finding, Subject
from forgec.files.heads import head_of
from forgec.syntax import nodes

_WORDS: dict[type[nodes.Item], str] = {
    nodes.Enum: "enum",
    nodes.Record: "record",
    nodes.Domain: "type",
    nodes.View: "view",
    nodes.Function: "function",
    nodes.Action: "action",
}


def unused_declarations(subject: Subject) -> Iterator[Finding]:
    """An enum, record, type, view, function or action is declared, and nothing uses it.

    Whoever reads the spec looks for its use in vain. Often the use was forgotten: a column that should have the type,
    a tool that should do the action. Files that are only used may hold what other specs need, and are left out.

    Bad:

        enum Shelf { crime, science }

        table titles { title_id text key, shelf text }

    Good:

        enum Shelf { crime, science }

        table titles { title_id text key, shelf Shelf }
    """
    for item in subject.items:
        if not isinstance(item, nodes.Enum | nodes.Record | nodes.Domain | nodes.View | nodes.Function | nodes.Action):
            continue
        if item.span.source is not subject.spec.source and head_of(item.span.source) is None:
            continue
        name, what = item.name.text, _WORDS[type(item)]
        if name not in _used(item, subject):
            yield Finding(f"the {what} `{name}` is never used", item.name.span)


def _used(item: nodes.Item, subject: Subject) -> frozenset[str]:
    """The names of what is used, among all that are declared as this one is."""
    if isinstance(item, nodes.View):
        return subject.viewed
    if isinstance(item, nodes.Function):
        return subject.called
    return subject.done if isinstance(item, nodes.Action) else subject.named
