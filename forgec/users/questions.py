"""What of a message is a question or a request for something to be told, and what of that says what is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from forgec.users.wording import content, tokens

MAX_TEXT = 5_000
"""How many characters at the end of a message are read."""

_SENTENCE = re.compile(r"[^.!?\n]*(?:\.(?=\w)[^.!?\n]*)*[.!?]*\n?")
_ABBREVIATED = re.compile(r"\b(?:i\.e\.|e\.g\.|etc\.)", re.IGNORECASE)
_WH = r"(?:what|which|whose|who|whom|where|when|how|why)(?:'s|\u2019s)?"
_GIVE = (
    r"(?:provide|give|tell|share|send|enter|type|state|confirm|specify|supply|let me (?:know|have)|list|name|sign in|"
    r"log in|login|say|describe|indicate|clarify|reply|spell|include|verify)"
)
_WANTS = re.compile(
    rf"\bplease(?: \w+ly)? {_GIVE}\b|\b{_GIVE}\b.*\bplease\b|^\W*(?:and |now |then |just |first |so |\w+, )*{_GIVE}\b"
    rf"|\b(?:can|could|would|will) (?:you|i|we) (?:please |kindly |also |just |perhaps |possibly )*"
    rf"(?:{_GIVE}|have|get|ask|see|know|mind)\b"
    r"|\b(?:may|might) (?:i|we) (?:please |kindly |also |just )*(?:have|get|ask|know|see)\b"
    rf"|\b(?:i|we|i'll|i'd|we'll)(?: will| would| do| just| also| only| first| still|'ll|'d)* "
    rf"(?:need|require|(?:have to|need to|must|want to) know)\b|\b{_GIVE} me\b"
    r"|\bdo you (?:know|have|remember|recall)\b|\blet me know\b|\bby (?:giving|telling|providing|sharing)\b"
    r"|\bplease ?:|\bdetails?,? please\b|\bplease,? (?:your|the)\b|\b(?:trouble|bother|ask) you for\b"
    r"|\b(?:your|the) [\w' -]{2,40} (?:(?:would|will) (?:do|suffice|be enough)|(?:is|are) enough)\b"
    r"|\b(?:start|begin) with (?:your|the)\b"
    r"|\b(?:just|only|now|next|first|then|and) (?:the|your) [\w'-]+(?: [\w'-]+){0,2},? please\b"
    r"|^\W*(?:first|firstly|next|now|then|finally)\b(?: of all)?,? your (?!.*\b(?:is|are|was|were|has|have|will|can)\b)"
    r"|\b(?:have to|need to|can|must|will|able to|like to) (?:authenticate|verify|identify|find|look) you(?: up)? "
    r"(?:by|with|through|via)\b|\bplease authenticate\b"
    r"|\b(?:i'm|i am|we're|we are|i'm still|we're still) (?:missing|lacking|waiting for)\b"
    r"|\b(?:things?|details?|questions?|points?) (?:are |is )?(?:still )?(?:left|missing|open|needed|remaining)\b",
    re.IGNORECASE,
)
_NOT_ASKED = re.compile(
    r"\b(?:(?:you|i|we)(?:'ll| will)? (?:do not|don't|won't|will not|needn't|need not|no longer|never)"
    r"(?: (?:even|actually|really|ever))?(?: (?:need|have|require|want|ask))?|no need|"
    r"(?:please )?(?:never|do not|don't)(?: \w+ly)? (?:share|tell|give|send|enter|type|reveal|say|provide|worry)|"
    r"without)"
    r"\b[^,;:.!?\n]*?(?=$|[,;:.!?\n]|\bbut\b|\bjust\b|\bonly\b)",
    re.IGNORECASE,
)
"""What a message says that it does not ask for."""
_WHO = re.compile(
    r"\bwho (?:are you|am i|is this|is it|do i have|is (?:calling|there|speaking))\b[^,.;?!]*?(?=$|[,.;?!]|\band\b)"
    r"|\bwho(?:'s| is) (?:calling|speaking|this)\b|\bwho you are\b|\b(?:with|to) whom\b[^,.;?!]*|\bidentify yourself\b",
    re.IGNORECASE,
)
_CREDENTIALS = re.compile(r"\b(?:credentials|(?:log|sign)[- ]?in (?:details|data))\b", re.IGNORECASE)
_ITEM = re.compile(r"[ \t]*(?:[-*\u2022]|\(?\d{1,2}[.)])[ \t]+(.*)")
"""A line of a list."""
_STATED = re.compile(r"\W*[\w' -]+\W*:\W*(?!(?:your|the|which|what|how|who|where|if)\b)\w", re.IGNORECASE)
"""A line that says what it names: "Name: Ann Lee" """
_SETTING = re.compile(
    r"^\W*(?:and |now |so )?(?:in|on|from|by|at|for|of|among|out of)\b(?![^,?]*\byour\b)[^,?]*,", re.IGNORECASE
)
"""What stands before a question and says how it is meant: "On a scale from 1 to 5," """
_YES_OR_NO = re.compile(
    r"^\W*(?:(?:and|so|now|then|just to confirm|okay|ok|great|thanks|sure|otherwise|alternatively)\W+)*"
    r"(?:do|does|did|is|are|was|were|shall|should|would|will|can|could|may|might|have|has|am|must)(?:n't|n\u2019t)? ",
    re.IGNORECASE,
)
_HOLDS = re.compile(rf"\b{_WH}\b", re.IGNORECASE)
_PURPOSE = re.compile(
    r"\b(?:so (?:that )?(?:i|we)\b|in order to|(?:to|and) (?:verify|look|locate|find|get started|sign you|log you|"
    r"authenticate|identify|proceed|pull|access|help|clear|go on|continue|confirm that)\b|before (?:i|we)\b|because\b|"
    r"since\b|while i\b|when i\b|and i(?:'ll| will| can)\b)",
    re.IGNORECASE,
)
PARTS = re.compile(
    r"([,;:()/]|\band\b|\bor\b|\bas well as\b|\balong with\b|\btogether with\b|\bplus\b|\s[-\u2013\u2014]\s)", re.I
)
"""What stands between the things that a question asks for."""


def requests(text: str) -> Iterator[str]:
    """The sentences of a message, each by itself, as they are read by `wants_to_know` and `asked_part`: without what
    they say is not asked for, in common words, and the lines of a list as the request that it began with.
    """
    plain = text[-MAX_TEXT:].replace("\u2019", "'")
    listed = False
    for line in plain.splitlines():
        item = _ITEM.fullmatch(line)
        if item is None and line.strip():
            listed = line.rstrip(" *").endswith(":") and any(map(wants_to_know, sentences(line)[-1:]))
        if item is not None and listed:
            if not _STATED.match(item[1]):
                yield f"Please tell me: {_common(item[1])}"
            continue
        yield from map(_common, sentences(line if item is None else item[1]))


def _common(sentence: str) -> str:
    sentence = _NOT_ASKED.sub(" ", sentence)
    return _CREDENTIALS.sub("user name and password", _WHO.sub("what is your name ", sentence))


def sentences(text: str) -> list[str]:
    """The sentences of a message, without those that are empty."""
    plain = _ABBREVIATED.sub(" ", text[-MAX_TEXT:])
    return [found.strip() for found in _SENTENCE.findall(plain) if found.strip(" \n.!?-*")]


def wants_to_know(sentence: str) -> bool:
    """Whether a sentence asks for something to be told, and not for a yes or a no."""
    if _WANTS.search(sentence):
        return True
    if not sentence.rstrip().endswith("?"):
        return _polite_noun(sentence)
    if _YES_OR_NO.match(sentence):
        return False
    return _HOLDS.search(sentence) is not None or _fragment(sentence)


def setting(sentence: str) -> str:
    """What stands before a question and says how it is meant; empty where nothing does."""
    found = _SETTING.match(sentence)
    return found[0] if found else ""


def asked_part(sentence: str) -> str:
    """The part of a question behind what it begins with and without what the answer is for."""
    starts = [found.start() for found in (_WANTS.search(sentence), _HOLDS.search(sentence)) if found]
    body = sentence[min(starts) :] if starts else sentence
    tail = _PURPOSE.search(body, 1)
    if tail is not None and content(tokens(body[: tail.start()])):
        rest = re.search(r"\s[-\u2013\u2014]\s|[;:]", body[tail.start() :])
        body = body[: tail.start()] + (body[tail.start() + rest.start() :] if rest else "")
    return body if content(tokens(body)) else sentence


def _polite_noun(sentence: str) -> bool:
    """Whether a sentence is a noun and a please: "Your name, please." """
    words = tokens(sentence)
    return words[-1:] == ["please"] and len(words) <= 10 and not {"i", "we", "you", "is", "are"} & set(words)


def _fragment(sentence: str) -> bool:
    """Whether a question is a bare noun: "And your password, please?" """
    words = tokens(sentence.rsplit(":")[-1])
    if len(words) > 14:
        return False
    if re.match(r"\W*(?:(?:and|also|next|now|finally)\W+)*(?:the|your)\b", sentence, re.IGNORECASE):
        return not {"is", "are", "was", "were", "correct", "right"} & set(words)
    if len(words) > 9:
        return False
    return not {"you", "i", "we", "is", "are", "that", "anything", "something", "else", "correct", "right"} & set(words)
