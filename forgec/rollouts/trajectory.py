"""The record of one episode: what was said and done, what it was worth and why, and what it was made with.

A file of trajectories has one a line, as JSON. `forgec run --schema` prints the schema.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from forgec.dialogue import Message

End: TypeAlias = Literal[
    "satisfied", "gave_up", "tool", "left", "turns", "calls", "tokens", "seconds", "silent", "context", "user"
]
"""Why an episode ended: the user was satisfied or gave up, a tool ended it, the agent left, or a limit of
`forgec.rollouts.limits` was reached; `context`: what the agent's model can read; `user`: the calls that a user may make
at a stretch.
"""


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class HashesOf(_Data):
    """What the episode was played in: episodes with the same hashes can be compared."""

    environment: str
    grading: str
    world: str
    task: str


class Shortfall(_Data):
    """One thing that kept the reward from being paid."""

    kind: Literal["state", "expect", "says", "never", "rule"]
    text: str


class Revealed(_Data):
    """A fact that the user told."""

    turn: int = Field(description="The place of the message among all messages, from 0.")
    name: str


class UserVerdict(_Data):
    """Whether the user did as its task says. Trajectories whose user erred are masked in training."""

    mask: bool | None = Field(description="True: the user erred. None: undecided.")
    kind: str | None = Field(default=None, description="How it erred.")
    turn: int | None = Field(default=None, description="The place of the message that shows it, from 0.")
    evidence: str = ""
    source: str = Field(description="What decided it: the rules, or a model by its name.")


class Spent(_Data):
    """What one side's model took. Requests count those that failed and were sent again."""

    model: str
    requests: int
    answers: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    reasoning_tokens: int
    estimated_answers: int = Field(
        default=0, description="Answers whose tokens were guessed: the endpoint did not tell."
    )
    cost: float | None = Field(description="In the currency of the prices; null without a price.")
    failures: dict[str, int] = Field(default_factory=dict, description="Failed requests by kind.")


class Times(_Data):
    """Where the time went, in seconds by the wall clock: those of one side include its waiting for others."""

    total: float
    agent: float
    user: float
    environment: float


class Trajectory(_Data):
    """One episode. All but `usage` and `times` follow from what was played, and by whom."""

    format: Literal[1]
    environment: str
    task: str
    seed: int
    trial: int
    agent: str
    user: str
    model: str | None = Field(default=None, description="Of the agent, where it has one.")
    user_model: str | None = None
    settings: dict[str, Any] = Field(
        default_factory=dict, description="All else that shapes the play: limits, sampling, whether reasoning is kept."
    )
    hashes: HashesOf | None = None
    certified: Literal["certified", "stale", "uncertified"] | None = Field(
        default=None, description="What the lock beside the spec says of the task; null without a lock."
    )
    tags: tuple[str, ...] = ()
    features: dict[str, Any] = Field(default_factory=dict)
    messages: tuple[Message, ...] = Field(
        description="All of them, in order: of the dialogue and of both sides' tools."
    )
    facts: tuple[Revealed, ...] = Field(default=(), description="The facts that the user told, each time that it did.")
    turns: int = Field(description="Messages of the agent.")
    calls: int = Field(description="Calls that the agent made; those that a limit kept back are not counted.")
    end: End
    reward: float
    parts: dict[str, float] = Field(description="The reward by its grounds: 1 where nothing is amiss.")
    reasons: tuple[Shortfall, ...] = ()
    broken_rules: tuple[str, ...] = ()
    digest: str = Field(description="Of the final state: what the reward takes for equal has one digest.")
    user_verdict: UserVerdict | None = None
    usage: dict[Literal["agent", "user", "judge"], Spent] = Field(default_factory=dict)
    times: Times

    @property
    def key(self) -> Key:
        return (self.environment, self.task, self.seed, self.trial)

    def line(self) -> bytes:
        """The trajectory as a line of a file. Fields that have their defaults are left out."""
        return self.model_dump_json(exclude_defaults=True).encode() + b"\n"


BEGINNING = b'{"format":1,"environment":"'
"""How each line of a file begins."""

Key: TypeAlias = tuple[str, str, int, int]
"""What tells the trajectories of a run apart: environment, task, seed, trial."""
