"""The policy in the rollout loop: what it is given, and that it is what it was shown when it imitated."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from forgec.dialogue import Transcript, Utterance
from forgec.llm.errors import NotAllowed, Unavailable
from forgec.rollouts.limits import Limits
from forgec.training import policy, tokenizer
from forgec.training.batches import Written
from forgec.training.demonstrations import demonstration, names, texts
from forgec.training.episodes import Episode, Stage
from forgec.training.player import PolicyPlayer
from forgec.training.policy import Shape
from forgec.training.questions import Question
from forgec.training.template import Template
from forgec.training.tokenizer import AGENT, TOOLS
from forgec.users.scripted import ScriptedUser
from forgec_runtime import TaskError, load_environment

ENVIRONMENTS = {name: load_environment(f"generated/{name}") for name in ("phone", "library")}
STAGE = Stage(ENVIRONMENTS, ScriptedUser, limits=Limits(turns=4, calls=6, silent=2, seconds=None))
GOLD = Stage(ENVIRONMENTS, ScriptedUser)
ASKED = [
    Episode(Question(environment, task, seed), trial)
    for environment, task in (("phone", "while_it_lasts"), ("library", "a_late_book"), ("phone", "locked_card"))
    for seed in (1, 2)
    for trial in (0, 1)
]


@pytest.fixture(scope="module")
def template() -> Template:
    gold = GOLD.gold(ASKED)
    assert len(gold) == len(ASKED)
    return Template(tokenizer.train(texts(gold), names(ENVIRONMENTS, gold), 300))


def tools_of(environment: str) -> list[dict[str, Any]]:
    return [tool.schema for tool in ENVIRONMENTS[environment].tools.values()]


class Dictated:
    """In the place of the decoder: a policy that writes what it is told to."""

    def __init__(self, turns: Iterator[list[int]]) -> None:
        self.turns, self.written = turns, Written()
        self.prompts: list[list[int]] = []

    async def turn(self, seat: object, given: Sequence[int]) -> tuple[list[int], bool]:
        self.written.give([*given, AGENT])
        self.prompts.append(list(self.written.ids))
        drawn = next(self.turns)
        self.written.imitate(drawn)
        return drawn, False


@pytest.mark.parametrize("asked", ASKED[::4], ids=lambda one: one.question.task)
def test_who_writes_as_gold_does_reads_what_was_imitated(asked: Episode, template: Template) -> None:
    (gold,) = GOLD.gold([asked])
    tools = tools_of(gold.environment)
    shown = demonstration(gold, template, tools)
    seen = [
        message
        for message in gold.messages
        if message.by != "user" and not (message.role == "user" and message.tool_calls)
    ]
    turns = [place for place, message in enumerate(seen) if message.role == "assistant"]
    decoder = Dictated(iter([template.written(seen[place], tools) for place in turns]))
    player = PolicyPlayer(decoder, template, "seat")  # type: ignore[arg-type]
    for place in turns:
        said = asyncio.run(player.act(seen[:place], tools))
        assert said.text == seen[place].content
        assert [call.name for call in said.calls] == [call.name for call in seen[place].tool_calls]
    assert shown.ids[: len(decoder.written.ids)] == decoder.written.ids
    assert shown.mask[: len(decoder.written.ids)] == decoder.written.mask
    assert any(shown.mask) and not any(shown.mask[len(decoder.written.ids) :])
    for shorter, longer in zip(decoder.prompts, decoder.prompts[1:], strict=False):
        assert longer[: len(shorter)] == shorter, "a prompt is no token prefix of the next"


def test_two_environments_are_played_together_and_again_the_same(template: Template) -> None:
    shape = Shape(width=32, layers=1, heads=2, kv_heads=1, feed_forward=32, context=1024)
    model = policy.new(shape, template.tokenizer.size, seed=6)
    first, again = (STAGE.rollout(model, template, ASKED, "s", longest_turn=8) for _ in range(2))
    assert not first.failures and [one.episode for one in first.played] == ASKED
    assert [one.written for one in first.played] == [one.written for one in again.played]
    assert [one.trajectory.messages for one in first.played] == [one.trajectory.messages for one in again.played]
    assert first.played[0].written != first.played[1].written, "two trials of a question differ"
    for one in first.played:
        assert one.written.ids[0] == TOOLS and one.written.drawn > 0 and one.trajectory.turns <= 4


def test_an_episode_that_cannot_begin_keeps_nobody_waiting(template: Template, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = ENVIRONMENTS["library"]
    reset = environment.reset

    def failing(start: str, seed: int = 0) -> Any:
        if seed == 2:
            raise TaskError("nothing to draw")
        return reset(start, seed)

    monkeypatch.setattr(environment, "reset", failing)
    shape = Shape(width=32, layers=1, heads=2, kv_heads=1, feed_forward=32, context=1024)
    model = policy.new(shape, template.tokenizer.size, seed=6)
    rollout = STAGE.rollout(model, template, ASKED, "s", longest_turn=8)
    assert len(rollout.failures) == 2 and len(rollout.played) == len(ASKED) - 2


def test_an_endpoint_that_dies_loses_the_episodes_that_it_was_asked_in_and_no_other(template: Template) -> None:
    class Dying(ScriptedUser):
        async def answer(self, transcript: Transcript) -> Utterance:
            if self.part.trial:
                raise Unavailable("nobody answers at http://127.0.0.1:9")
            return await super().answer(transcript)

    class Refused(ScriptedUser):
        async def open(self) -> Utterance:
            raise NotAllowed("the key is not known")

    shape = Shape(width=32, layers=1, heads=2, kv_heads=1, feed_forward=32, context=1024)
    model = policy.new(shape, template.tokenizer.size, seed=6)
    rollout = Stage(ENVIRONMENTS, Dying, limits=STAGE.limits).rollout(model, template, ASKED, "s", longest_turn=8)
    assert [one.episode for one in rollout.played] == [one for one in ASKED if one.trial == 0]
    assert {one.kind for one in rollout.failures} == {"unavailable"} and len(rollout.failures) == 6
    rollout = Stage(ENVIRONMENTS, Refused, limits=STAGE.limits).rollout(model, template, ASKED, "s", longest_turn=8)
    assert not rollout.played and [one.text for one in rollout.failures] == ["the key is not known"] * 2
