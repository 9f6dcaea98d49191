"""What came of an episode, in the fields of NeMo Gym's verify response.

`reward_components` are the grounds of the reward, each 1 or 0; the reward is 1 where all are. Samples whose user erred,
and those that could not be judged, are masked: by `mask_sample`, and by `instance_config`, where NeMo-RL looks for it.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from forgec.rollouts.run import GROUNDS
from forgec.rollouts.trajectory import Trajectory

MAX_REASON = 2_000
"""Characters of a reason that is told."""


def judged(server: str, one: Trajectory) -> dict[str, Any]:
    """The fields of an episode that was played to its end. `server` names the environment in kinds of failures."""
    verdict = one.user_verdict
    erred = verdict is not None and verdict.mask is True
    kinds = Counter(message.kind for message in one.messages if message.role == "tool" and message.by == "agent")
    fields: dict[str, Any] = {
        "reward": one.reward,
        "reward_components": one.parts,
        **_masked(erred),
        "failure_kind": None,
        "failure_reason": None,
        **{f"reward_{ground}": part for ground, part in one.parts.items()},
        "reasons": [reason.model_dump() for reason in one.reasons],
        "broken_rules": list(one.broken_rules),
        "end": one.end,
        "digest": one.digest,
        "agent_turns": one.turns,
        "agent_calls": one.calls,
        **{f"calls_{kind}": kinds[kind] for kind in ("ok", "refused", "invalid", "fault")},
        "user_verdict": None if verdict is None else verdict.model_dump(),
    }
    if erred and verdict is not None:
        fields["failure_kind"] = f"{server}:user_{verdict.kind}"
        fields["failure_reason"] = verdict.evidence[:MAX_REASON]
    return fields


def failed(server: str, kind: str, text: str) -> dict[str, Any]:
    """The fields of an episode that was not judged: rollouts of this kind are kept apart, and made again."""
    shared = kind if kind in _SHARED else f"{server}:{kind}"
    return {
        "reward": 0.0,
        "reward_components": dict.fromkeys(GROUNDS, 0.0),
        **_masked(True),
        "failure_kind": shared,
        "failure_reason": text[:MAX_REASON],
        "_ng_failure_class": kind,
    }


_SHARED = {"session_lost"}
"""What all servers of NeMo Gym call alike."""


def _masked(mask: bool) -> dict[str, Any]:
    return {"mask_sample": mask, "instance_config": {"mask_sample": mask}}
