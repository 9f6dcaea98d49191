"""Arguments of plans that no agent could know."""

from __future__ import annotations

import re
from collections.abc import Iterator

from forgec.checks.subject import Finding, Subject, word
from forgec.model import spec as m
from forgec_runtime.types import Enum, Text


def literals_from_nowhere(subject: Subject) -> Iterator[Finding]:
    """A call of a plan is given a text that the user does not know: it is no fact, and stands in no text of the task.

    The author looked it up in the world; an agent has to find it by a call, or to hear it from the user. Values of
    enums and texts that the policy or the documentation of the tool names are known to agents, and what stands in the
    world may be learnt from a call before. What a tool takes that has nothing to do with tables is free.

    Bad:

        task pay_up on monday "Pay what is owed" {
          intent "You want to pay what you owe.";
          fact name "your name" = 'Ada';
          plan { paid = settle(member_id: 'M1'); }
          says "what was paid": $paid;
        }

    Good:

        task pay_up on monday "Pay what is owed" {
          intent "You want to pay what you owe.";
          fact name "your name" = 'Ada';
          plan {
            who  = members_called(name: $name);
            reason me "the only one" = select member_id from $who;
            paid = settle(member_id: $me);
          }
          says "what was paid": $paid;
        }
    """
    held = {name: _held(world) for name, world in subject.spec.worlds.items()}
    told = {name: _told(tool, subject.spec) for name, tool in subject.spec.tools.items()}
    for task in subject.spec.tasks.values():
        wanted = [one.text for one in (task.intent, *(request.text for request in task.requests)) if one is not None]
        said = _words(" ".join([*wanted, *map(_known, task.facts)]))
        learnt = ""
        for node in task.plan:
            if not isinstance(node, m.CallNode) or not subject.touches_tables(subject.spec.tools[node.tool]):
                continue
            for name, given in node.arguments.items():
                parameter = next(one for one in subject.spec.tools[node.tool].parameters if one.name == name)
                if not isinstance(given, m.Constant) or not isinstance(given.value, str) or not given.value.strip():
                    continue
                if isinstance(parameter.type, Enum) or not isinstance(parameter.type, Text):
                    continue
                known = said, learnt, told[node.tool]
                if not any(_words(given.value) in text for text in known):
                    message = f"nobody can know this: it is no fact of `{task.name}`, and its texts do not have it"
                    yield Finding(message, word(node.span, given.text), help="make it a `fact`, or find it by a call")
            learnt = held[task.world]


def _known(fact: m.Fact) -> str:
    """What the user can say of a fact."""
    return f"{fact.doc} {fact.value.value if isinstance(fact.value, m.Constant) else ''}"


def _words(text: str) -> str:
    """A text as words with a space on both sides, to look for others in it."""
    words = re.findall(r"[^\W_]+", text.casefold())
    return f" {' '.join(words)} "


def _held(world: m.World) -> str:
    """What stands in a world."""
    values = (value for rows in world.rows.values() for row in rows for value in row.values())
    return _words(" ".join(str(value) for value in values if value is not None))


def _told(tool: m.Tool, spec: m.Spec) -> str:
    """What agents read about a tool and about their work."""
    parameters = (parameter.doc for parameter in tool.parameters)
    return _words(" ".join([spec.policy, spec.doc, tool.doc, *(rule.doc for rule in spec.rules), *parameters]))
