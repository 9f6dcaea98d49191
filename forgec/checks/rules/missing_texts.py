"""What agents and readers are told nothing about."""

from __future__ import annotations

from collections.abc import Iterator

from forgec.checks.subject import Finding, Subject
from forgec.syntax import nodes
from forgec_runtime.types import Boolean


def missing_texts(subject: Subject) -> Iterator[Finding]:
    """The environment or a tool has no documentation, or a tool does not say what a boolean parameter turns on.

    The text of a tool is what an agent chooses it by, that of the environment is the head of its policy. What a
    parameter is for is mostly said by its name and type; of a boolean it seldom is.

    Bad:

        tool forget(member_id -> members as m, all boolean default false) returns text { reply "{$m.name} {$all}"; }

    Good:

        tool forget(member_id -> members as m, all boolean default false "Also what is owed") returns text
          "Tell what would be forgotten."
        {
          reply "{$m.name} {$all}";
        }
    """
    spec = subject.spec
    if not spec.doc:
        place = next(item.name.span for item in subject.items if isinstance(item, nodes.Environment))
        yield Finding(f"nothing is said about `{spec.name}`", place, help='such as environment desk "A library" { }')
    for tool in spec.tools.values():
        if not tool.doc:
            yield Finding(f"nothing is said about the tool `{tool.name}`", tool.span, help="say when to call it")
        for parameter in tool.parameters:
            if isinstance(parameter.type, Boolean) and not parameter.doc:
                message = f"nothing is said about `{parameter.name}`, which is true or false"
                yield Finding(message, parameter.span)
