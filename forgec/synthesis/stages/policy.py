"""What the agent is told, and what always holds."""

from __future__ import annotations

from forgec.starting.values import without_controls
from forgec.synthesis.asking.asker import Unanswered
from forgec.synthesis.asking.forms import Policy
from forgec.synthesis.declarations import Declaration
from forgec.synthesis.work import Work

KINDS = ("function", "invariant", "rule")


async def write_policy(work: Work) -> None:
    """Ask for policy, invariants and rules. Without an answer there are none. Raises `LLMError`."""
    spec = work.within(
        work.state(), work.made.declarations.text_of("function", "view"), work.made.declarations.text_of("tool")
    )
    try:
        answer = await work.ask(
            "policy", "1", Policy, "policy.md.j2", spec=spec, operations=work.outline(work.made.operations),
            prose=work.prose,
        )  # fmt: skip
    except Unanswered as error:
        work.made.leave("policy", "an answer", str(error))
        return
    if answer.policy.strip():
        work.made.declarations.put(policy(answer.policy, tuple(answer.assumed)))
    work.take("policy", answer.declarations, KINDS, (), answer.assumed)
    await work.settle("policy", KINDS)


def policy(text: str, assumed: tuple[str, ...] = ()) -> Declaration:
    """The declaration of a policy that says `text`."""
    plain = without_controls(text).replace('"""', "'''").replace("\\", "/").strip()
    body = "\n".join(f"  {line.strip()}".rstrip() for line in plain.split("\n"))
    return Declaration("policy", f'policy """\n{body}\n  """', "policy", (), assumed)
