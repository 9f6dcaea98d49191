"""Kinds of things that users are asked for, and how they are asked for in words that no documentation has.

A kind has nouns of its own ("digits" of a phone number, "sum" of an amount), and questions in which it is not named at
all ("who are you", "what did the trick"). A fact is of a kind if one of its nouns is among those of the kind. What asks
for a kind is read as its plain question, and means the facts of it only where nothing is held that has the noun itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from forgec.users.wording import concept, listed


@dataclass(frozen=True)
class Kind:
    """A kind of fact."""

    heads: tuple[str, ...]
    """The nouns of the facts that are of it, as concepts; those that come first are meant before the others."""
    nouns: frozenset[str]
    """Nouns that ask for it, as concepts."""
    questions: tuple[tuple[str, str], ...]
    """How it is asked for without a noun, as patterns, and what that comes to."""


_END = r"[^,.;?!+\n]*"
_WITHIN = r"[^,.;?!+\n]*?"
_MAIL = r"(?:e-?mails?|mails|reminders?|notices?|newsletters?|confirmations?)"
_CLAUSE = r"[^.;?!\n]*?"
_MEANS = r"(?:cash|cards?|coins|notes|cheque|plastic|bank transfer)"
_MENDED = r"(?:fix(?:ed)?|solved?|sorted(?: out)?|put right|resolved|repaired|mended|cured|dealt with|sort(?: it)? out)"


def _kind(heads: str, nouns: str, **questions: str) -> Kind:
    asked = tuple((one, f"{plain.replace('_', ' ').strip()} ") for plain, one in questions.items())
    return Kind(tuple(map(concept, heads.split())), frozenset(map(concept, listed(nouns))), asked)


KINDS = (
    _kind(
        "fullname username name", "name identity",
        what_is_your_name=
        rf"(?:what|how) (?:are you|you are|you're|should i) (?:called|known as|call you)\b|"
        r"who the account belongs to\b|"
        rf"whom? (?:i'm|i am) (?:speaking|talking) (?:with|to)\b|(?:what|which) user (?:are you|you are)\b|"
        rf"(?:under )?(?:whose (?:account|membership|line|list|record|profile|name)|on whose behalf)\b{_END}|"
        r"who(?:'s| is)? (?:are you|am i|it|do i have|calling|speaking|this|there|at the)\b"
        rf"{_WITHIN}(?=$|[,.;?!+\n]|\band\b)|who you are\b|"
        r"(?:and )?you are(?=[\s.\u2026]*\?)|"
        r"how (?:are you|you are|you're) (?:currently )?(?:listed|registered|known)\b(?!.*mail)|"
        r"who (?:should|shall|do|can) i (?:log|sign)(?: you)? in(?: as)?|"
        r"which account should i (?:log|sign)(?: you)? in(?: with| to| as)?|"
        rf"(?:with|to) whom\b{_END}|identify yourself\b(?! (?:with|by)\b)",
    ),
    _kind("user", "userid"),
    _kind(
        "email", "mailbox",
        what_is_your_new_email_address=
        rf"where (?:should|shall|would you like|do you want) {_WITHIN}{_MAIL}\b{_END}",
        what_is_your_email_address=rf"where (?:do|did|have) (?:we|our|the|your) {_WITHIN}{_MAIL}\b{_END}",
        the_email_address=rf"(?:the|an|whichever|that) address (?=(?:our|we|the|your)\b){_WITHIN}{_MAIL}\b{_END}",
    ),
    _kind(
        "phone number", "digit",
        what_is_your_phone_number=
        rf"(?:for |on )?(?:which|what) line\b(?! of)|how do people (?:reach|call) you\b{_END}|"
        rf"what do people (?:dial|call)\b{_END}|"
        rf"(?:where|how) (?:can|could|do|may) (?:i|we) (?:call|ring|phone) you\b{_END}",
    ),
    _kind("digit", "ending"),
    _kind("password", "secret passphrase credential"),
    _kind("amount sum gigabyte", "sum figure amount"),
    _kind(
        "method payment pay source", "mode way means method",
        which_payment_method=
        rf"where (?:should|shall|would you like|do you want) (?:the|your) (?:refund|money|difference){_END}|"
        rf"how (?:do )?you(?:'d like to| want to| would like to)? (?:get|receive) (?:the|your) (?:money|refund){_END}",
        how_do_you_pay=
        rf"what (?:are you|you're|you are|will you be|'?ll you be|you'll be) paying with\b|"
        rf"(?:what|how)'ll you be paying(?: with)?\b|"
        rf"(?:(?:will (?:you|that|it|this) be|is (?:it|that)|whether|are you)\b{_CLAUSE}\b{_MEANS}\b{_CLAUSE}\b"
        rf"or\b{_END})|"
        rf"what (?:is |the (?:difference|price|amount|rest) )?{_WITHIN}(?:charged? (?:it |this |that )?to|"
        rf"paid (?:from|with|by))\b|by what means\b",
    ),
    _kind(
        "reason", "reason cause motive grounds",
        what_is_the_reason=r"what(?:'s| is| was) the (?:story|matter|thinking|motive|cause) (?:behind|for|of)\b",
        why_did_you=r"what made you\b|how come you\b",
    ),
    _kind(
        "resolut done", "resolution repair remedy cure fix outcome",
        what_was_done_about_it=
        rf"how (?:did|was|were|has|have|had) {_WITHIN}\b{_MENDED}\b|"
        rf"how (?:it|that|this|they|these|those|the \w+|(?:number |ticket |no\. )?#?\d+)(?: all| both)? "
        rf"(?:got|was|were|has been|have been) {_MENDED}\b|"
        r"what (?:did the trick|helped|solved it|fixed it|mended it)\b",
    ),
    _kind(
        "note description title", "body text wording remark message comment note content detail",
        what_is=r"what (?:to|should i|shall i|i should) (?:write|put|enter) (?:in|into|under|as)\b|"
        r"what (?:is|stands) (?:written|stated|shown|printed) (?:in|on|under|as)\b",
    ),
    _kind(
        "title subject", "problem trouble matter issue headline entry wording heading",
        what_is_the_problem=
        r"what(?:'s| is| seems to be)? (?:wrong|the (?:trouble|problem|matter|issue))\b"
        r"(?= *(?:$|[,.;?!\n]|and\b|there\b|today\b|this time\b))",
        what_is_the_title=
        r"what (?:is it that |it is that |exactly )?(?:needs (?:doing|to be done)|you (?:need|have) to (?:do|get done)|"
        r"has to be done|do you (?:need|have) to (?:do|get done))\b",
    ),
    _kind(
        "status", "state status condition stage",
        what_is_the_new_status=
        r"what (?:should|shall|must) (?:it|that|ticket \d+|the ticket|task \w+) (?:now )?be (?:set|moved|changed|"
        r"switched) to\b",
    ),
    _kind("permission", "permission right"),
    _kind("number", "reference case"),
    _kind("priority", "urgency"),
    _kind("shelf", "area section part collection subject genre corner category field"),
    _kind("book", "read lend return"),
    _kind("address street", "home"),
    _kind("room where", "where spot location"),
    _kind("app", "app"),
)  # fmt: skip


_CUES = re.compile(
    r"\b(?:wh(?:at|o|om|ose|ere|ich|ether)|how|whereabouts|identify|digit|secret|you are|"
    r"(?:final|last) (?:four|4)|(?:ending|end|tail) of|log-?in|sign-in|address (?:our|we|the|your)|"
    r"(?:will|is|are) (?:it|that|this|you))\b",
    re.IGNORECASE,
)
"""One of these is in whatever asks for a kind."""


_QUESTIONS = [question for kind in KINDS for question in kind.questions]
_QUESTION = re.compile(
    rf"\b(?:{'|'.join(f'(?P<q{place}>{pattern})' for place, (pattern, _) in enumerate(_QUESTIONS))})", re.IGNORECASE
)


def plain(sentence: str) -> str:
    """A sentence in which what is asked for has its noun."""
    return _QUESTION.sub(_plain, sentence) if _CUES.search(sentence) else sentence


def _plain(question: re.Match[str]) -> str:
    return _QUESTIONS[int((question.lastgroup or "")[1:])][1]


def named(noun: str) -> Sequence[str]:
    """What a noun may mean by its kinds: the nouns of facts, those that it means first before the others."""
    return _NAMED.get(noun, ())


_NAMED = {
    noun: [head for kind in KINDS if noun in kind.nouns for head in kind.heads]
    for noun in frozenset[str]().union(*(kind.nouns for kind in KINDS))
}
