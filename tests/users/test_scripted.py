"""The scripted user: what it says to whom, and when it stops."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forgec.dialogue import Message, Utterance
from forgec.llm.spending import Meter
from forgec.users.asking import Asking
from forgec.users.glossary import glossary
from forgec.users.scripted import CONTENT, GIVES_UP, GO_ON, NOT_HEARD, UNKNOWN, ScriptedUser
from forgec.users.speech import first_person
from forgec.users.user import UserPart
from forgec_runtime import Asked, Briefing, Environment, Known, Reward, load_environment
from tests.users.test_asking import COUNTS, MESSAGES, asking, environment

GENERATED = Path(__file__).parents[2] / "generated"


def part(name: str, task: str, *, paid: Sequence[bool] = ()) -> UserPart:
    """What a user is given; the reward is paid as `paid` says, one after the other, and then is not."""
    env: Environment = load_environment(GENERATED / name)
    episode, left = env.reset(task), list(paid)
    unpaid = env.reward(env.reset(task), env.tasks[task])

    async def judge() -> Reward:
        return Reward(1.0) if left and left.pop(0) else unpaid

    tools = [tool.schema for tool in env.user_tools.values()]
    asking = Asking(episode.briefing, glossary(env))
    return UserPart(asking, tools, name, task, 0, 0, "", judge, Meter())


async def unpaid() -> Reward:
    return Reward(0.0)


def talk(user: ScriptedUser, *texts: str) -> list[Utterance]:
    """The user's answers to texts of an agent; the first is how it opens."""

    async def all_of_them() -> list[Utterance]:
        said, heard = [await user.open()], list[Message]()
        for text in texts:
            heard.append(Message(role="assistant", content=text))
            said.append(await user.answer(heard))
        return said

    return asyncio.run(all_of_them())


def library(task: str, **more: Any) -> ScriptedUser:
    return ScriptedUser(part("library", task, **more))


def test_it_opens_in_the_first_person_and_tells_no_fact() -> None:
    (said,) = talk(library("not_while_suspended"))
    assert said.text.startswith("I am bringing back the only book I have")
    assert said.reveals == ()


def test_it_tells_what_it_is_asked_for_and_no_more() -> None:
    said = talk(library("settle_the_overdue"), "What is your email, and how will you pay?", "What is your birthday?")
    assert said[1].reveals == ("email", "method")
    assert said[1].text == "my e-mail address: walter.quist@example.org; how I pay: card"
    assert (said[2].text, said[2].reveals) == (UNKNOWN, ())


def test_of_facts_that_are_described_alike_it_tells_the_one_that_is_meant() -> None:
    briefing = Briefing(
        "You want two things.",
        (Asked("a", "Cancel #W1.", ()), Asked("b", "Send #W2 elsewhere, or else #W3.", ("a",))),
        tuple(Known(name, value, "the order number") for name, value in (("o", "#W1"), ("p", "#W2"), ("q", "#W3"))),
    )
    given = part("retail", "swap_the_mug")
    given = replace(given, asking=Asking(briefing, given.asking.words))
    user = ScriptedUser(given)
    which = "What is the order number?"
    answers = talk(user, which, "It is cancelled.", which, which, "What are the order numbers?")
    assert [one.reveals for one in answers[1:]] == [("o",), (), ("p",), ("q",), ("o", "p", "q")]
    every = ScriptedUser(given)
    assert talk(every, "Tell me the order number; the order number; the order number.")[1].reveals == ("o", "p", "q")


def test_where_a_message_does_not_tell_which_fact_it_means_none_is_told() -> None:
    user = library("lend_book_e8daa097")
    said = talk(user, "Which book is it?", "Which book are you bringing back?")
    assert [one.reveals for one in said[1:]] == [(), ("title",)]
    assert said[1].text == UNKNOWN


@pytest.mark.parametrize("half", COUNTS)
def test_its_answer_to_a_labelled_message_has_no_fact_that_was_not_asked_for(half: str) -> None:
    """Of the user as a whole, which is asked this first and may have to choose."""
    told = []
    for message in MESSAGES:
        if message["half"] == half:
            env, task = environment(message["environment"]), message["task"]
            reader = asking(message["environment"], task)
            user = ScriptedUser(UserPart(reader, [], env.name, task, 0, 0, "", unpaid, Meter()))
            reveals = talk(user, message["text"])[1].reveals
            told += [] if set(reveals) <= set(message["asks"]) else [message | {"told": reveals}]
    assert told == []


def test_it_declines_what_it_does_not_want_and_agrees_to_the_rest() -> None:
    said = talk(library("not_while_suspended"), "Shall I take the book back?", "Are you going to pay anything today?")
    assert said[1].text == "Yes, please."
    assert said[2].text.startswith("No. I am not going to pay anything today")


def test_requests_come_in_order_and_then_it_is_content() -> None:
    said = talk(library("a_late_book", paid=[True]), "It is back; that costs 3.25.", "It is paid.")
    assert said[0].text.startswith("I am ")
    assert said[1].text.startswith("If I owe more than 1.00 now")
    assert (said[2].text, said[2].done, said[2].gives_up) == (CONTENT, True, False)


def test_it_gives_up_when_nothing_comes_of_it() -> None:
    said = talk(library("either_of_two"), *["I am thinking."] * 4)
    assert [one.text for one in said[1:]] == [GO_ON, GO_ON, GO_ON, GIVES_UP]
    assert [one.done for one in said] == [False] * 4 + [True]
    assert said[-1].gives_up


def test_an_empty_message_is_not_heard() -> None:
    assert talk(library("either_of_two"), " \n")[1].text == NOT_HEARD


def test_it_uses_its_tools_by_name_and_in_words() -> None:
    user = ScriptedUser(part("phone", "picture_by_camera"))
    said = talk(
        user, 'Please use enter_puk {"puk": "12345678"}.', "Please allow the camera to see pictures.",
        "Could you switch airplane mode off, and then send a text?", "Mobile data is on, and you have 3 GB left.",
    )  # fmt: skip
    calls = [[(call.name, call.arguments) for call in one.calls] for one in said[1:]]
    assert calls == [
        [("enter_puk", '{"puk": "12345678"}')], [("allow", '{"app": "camera", "permission": "pictures"}')],
        [("toggle_airplane", "{}"), ("send_text", "{}")], [],
    ]  # fmt: skip


def test_hostile_text_is_answered_in_bounded_time() -> None:
    user = library("settle_the_overdue")
    for text in ("?" * 100_000, "what is " * 20_000 + "?", "a or " * 30_000 + "?", "\u202e\0\ud7ff?", "{" * 50_000):
        assert talk(user, text)[1].reveals == ()


def test_texts_to_the_user_become_its_own() -> None:
    assert first_person('You want your book; they lend you "your own".') == 'I want my book; they lend me "your own".'
    assert first_person("Whatever you do, are you sure? It is yours.") == "Whatever I do, am I sure? It is mine."
