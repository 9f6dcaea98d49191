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


def shown(said: Sequence[Utterance]) -> list[tuple[str, tuple[str, ...]]]:
    """What a user says after its opening, and which facts it tells."""
    return [(one.text, one.reveals) for one in said[1:]]


WHICH = "Which do you need: the title of the loan or the title of the book?"


def test_where_a_message_does_not_tell_which_fact_it_means_it_asks_back_and_tells_none() -> None:
    (_, said) = talk(library("lend_book_e8daa097"), "What is the title?")
    assert (said.text, said.reveals, said.asks_back) == (WHICH, (), ("title", "title_2"))


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("The title of the loan, please.", ("title",)),
        ("I mean the book.", ("title_2",)),
        ("Both, please.", ("title", "title_2")),
        ("The one of the loan.", ("title",)),
        ("The first one.", ("title",)),
        ("The second.", ("title_2",)),
        ("First, let me look at that.", ()),
        ("What is the title?", ("title",)),
        ("No, neither.", ()),
        ("Never mind, I have found it.", ()),
    ],
)
def test_asked_which_it_tells_what_the_agent_chooses(answer: str, told: tuple[str, ...]) -> None:
    said = talk(library("lend_book_e8daa097"), "What is the title?", answer)
    assert said[2].reveals == told
    assert said[2].asks_back == ()


SECRET, ASKED = "Password?", "Do you mean my password?"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("Yes.", ("password",)),
        ("Yes, your password, please.", ("password",)),
        ("The password.", ("password",)),
        (SECRET, ("password",)),
        ("No, please tell me your username.", ("username",)),
        ("No, thanks.", ()),
        ("I have it now, it is done.", ()),
    ],
)
def test_asked_back_on_thin_evidence_it_tells_on_a_yes(answer: str, told: tuple[str, ...]) -> None:
    user = ScriptedUser(part("tickets", "room_for_one_more"))
    said = talk(user, SECRET, answer)
    assert (said[1].text, said[1].reveals, said[1].asks_back) == (ASKED, (), ("password",))
    assert said[2].reveals == told


def test_told_no_it_does_not_ask_back_about_that_again() -> None:
    user = ScriptedUser(part("tickets", "room_for_one_more"))
    said = talk(user, SECRET, "No.", SECRET, "What is your password?")
    assert [one.asks_back for one in said[1:]] == [("password",), (), (), ()]
    assert [one.reveals for one in said[1:]] == [(), (), (), ("password",)]


def test_it_tells_what_is_clear_and_asks_back_about_the_rest() -> None:
    user = ScriptedUser(part("tickets", "room_for_one_more"))
    said = talk(user, "Could you please tell me your username? Password?", "Yes.")
    assert shown(said) == [
        ("my name at the desk: priya.okafor. Do you also mean my password?", ("username",)),
        ("my password: amber-fig-21", ("password",)),
    ]


def test_it_declines_what_it_does_not_want_and_agrees_to_the_rest() -> None:
    said = talk(library("not_while_suspended"), "Shall I take the book back?", "Are you going to pay anything today?")
    assert said[1].text == "Yes, please."
    assert said[2].text.startswith("No. I am not going to pay anything today")


@pytest.mark.parametrize(
    "answer",
    [
        "No, do not tell me your password.", "I do not need that.", "I don\u2019t need your password.",
        "Of course not.",
        "Please wait a moment.", "Please give me a moment.", "Please don't.", "Please ignore that.", "That's not it.",
        "All done, it is closed.", "Right now I am looking.", "Not your password.", "Never mind your password.",
    ],
)  # fmt: skip
def test_asked_back_it_takes_no_denial_and_no_news_for_a_yes(answer: str) -> None:
    assert talk(ScriptedUser(part("tickets", "room_for_one_more")), SECRET, answer)[2].reveals == ()


@pytest.mark.parametrize("answer", ["Please do.", "Sure, go on.", "That is right.", "All of them.", "Please tell me."])
def test_asked_back_it_takes_for_a_yes_what_is_one(answer: str) -> None:
    assert talk(ScriptedUser(part("tickets", "room_for_one_more")), SECRET, answer)[2].reveals == ("password",)


def knows(*facts: Known) -> ScriptedUser:
    """A user that wants something, and knows these facts."""
    given = part("retail", "swap_the_mug")
    return ScriptedUser(replace(given, asking=Asking(Briefing("You want it.", (), facts), given.asking.words)))


@pytest.mark.parametrize("doc", ["", "---", "\U0001f642", "the", "please"])
def test_facts_without_a_description_are_asked_about_by_their_names(doc: str) -> None:
    for text in ("...", "Thanks!", "OK.", "?!", "\U0001f642"):
        assert talk(knows(Known("pass_code", "x1", doc)), text)[1].reveals == ()
    said = talk(
        knows(Known("pass_code", "x1", doc), Known("city", "Bonn", doc)), "Passcode?", "No.", "pass code", "Yes"
    )
    assert said[2].reveals == ()
    assert doc in ("the", "please") or all("---" not in one.text and "\U0001f642" not in one.text for one in said)


def test_of_many_facts_of_a_kind_none_is_left_out() -> None:
    alike = [Known(f"code_{place}", f"v{place}", "your code") for place in range(1, 6)]
    assert len(talk(knows(*alike), "What are your codes?")[1].reveals) == 5
    nth = [Known(f"code_{i}", f"v{i}", f"the {word} code") for i, word in enumerate(("first", "second", "third"), 1)]
    nth += [Known("code_4", "v4", "the fourth code"), Known("code_5", "v5", "the fifth code")]
    said = talk(knows(*nth), "Code?", "The first one.")
    assert (said[1].asks_back, said[2].reveals) == (tuple(fact.name for fact in nth), ("code_1",))


def test_what_it_tells_ends_in_one_full_stop_before_it_asks_back() -> None:
    user = knows(Known("note", "Leave it.", "the note"), Known("zip", "10001", "your zip code"))
    user.doubts.pending = ("zip",)
    assert user._tell(["note"], ("zip",)).text == "the note: Leave it. Do you also mean my zip code?"


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
