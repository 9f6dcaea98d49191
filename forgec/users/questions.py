"""What of a message is a question or a request for something to be told, and what of that says what is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from forgec.users.wording import content, tokens

MAX_TEXT = 5_000
"""How many characters at the end of a message are read."""

_SENTENCE = re.compile(r"[^.!?\n]*(?:\.(?=\w)[^.!?\n]*)*[.!?]*\n?")
_ABBREVIATED = re.compile(r"\b(?:i\.e\.|e\.g\.|etc\.)", re.IGNORECASE)
_WH = r"(?:what|which|whose|who|whom|where|when|how|why)(?:'s|\u2019s)?"
_GIVE = (
    r"(?:provide|give|tell|share|send|enter|type|state|confirm|specify|supply|let me (?:know|have)|list|name|sign in|"
    r"log in|login|say|describe|indicate|clarify|reply|spell|include|verify|repeat|double-check|try again with|"
    r"identify yourself (?:with|by)|require|pass on|fill in|put in|key in|hand me|read (?:me|out)|re-?enter|re-?type|"
    r"dictate|mention|add me|"
    r"authenticate yourself (?:with|by)|supply me)"
)
_GIVING = (
    r"(?:providing|giving|telling|sharing|sending|entering|typing|confirming|spelling|repeating|"
    r"letting me (?:know|have))"
)
_POLITE = r"(?:please |kindly |also |just |perhaps |possibly |quickly |maybe |first |then |now |and |so |simply )*"
_AGAIN = r"(?:again|once more|one more time|out|another try)"

_REQUESTS = (
    rf"\b(?:please|kindly)(?: \w+ly)? {_GIVE}\b",
    rf"(?<!\bthe )(?<!\byour )(?<!\bnew )\b{_GIVE}\b(?! and\b|,).*\bplease\b",
    rf"^\W*(?:\w+, )*{_POLITE}{_GIVE}\b",
    rf"\b(?:can|could|would|will) (?:you|i|we) {_POLITE}(?:{_GIVE}|have|get|ask|see|know|mind|take)\b",
    rf"\b(?:may|might) (?:i|we) {_POLITE}(?:have|get|ask|know|see|take)\b",
    r"\b(?:i|we|i'll|i'd|we'll)(?: will| would| do| just| also| only| first| still| then|'ll|'d)* "
    r"(?:need|require|be needing|(?:have to|need to|must|want to) know)\b",
    r"\b(?:i'm|i am|we're|we are) going to (?:need|require|ask)\b",
    r"\b(?:requires|needs)\b(?=.*\byour\b)",
    rf"\b(?:would|do) you mind {_GIVING}\b|\bby {_GIVING}\b",
    rf"\bif you(?:'d| would| could| can)? (?:please |kindly |just )?{_GIVE}\b",
    rf"\b{_GIVE} me\b",
    rf"\band (?:then )?(?:please )?{_GIVE} (?:it|them|that|me)\b",
    rf"\b(?:try|type|enter|spell|repeat|send|say|give me) (?:it|that|them|both|those) {_AGAIN}\b",
    r"\bdo you (?:know|have|remember|recall)\b",
    r"\blet me (?:know|have)\b",
    r"\b(?:didn't|did not|couldn't|could not) (?:quite )?(?:catch|get|hear|understand|make out)\b",
    r"\bplease ?:|\bdetails?,? please\b|\bplease,? (?:your|the)\b",
    r"\b(?:trouble|bother|ask) you for\b",
    r"\b(?:your|the|an?) [\w' -]{2,40} (?:(?:would|will) (?:do|suffice|be enough)|(?:is|are) (?:enough|all i need))\b",
    r"\b(?:start|begin) with (?:your|the)\b",
    r"\b(?:just|only|now|next|first|then|and) (?:the|your) [\w'-]+(?: [\w'-]+){0,2},? please\b",
    r"^\W*(?:first|firstly|next|now|then|finally)\b(?: of all)?,? your (?!.*\b(?:is|are|was|were|has|have|will|can)\b)",
    r"\b(?:have to|need to|can|must|will|able to|like to) (?:authenticate|verify|identify|find|look) you(?: up)? "
    r"(?:by|with|through|via)\b",
    r"\bplease authenticate\b",
    r"\b(?:i'm|i am|we're|we are)(?: still| only| just| now)* (?:missing|lacking|waiting for)\b",
    r"\b(?:things?|details?|questions?|points?) (?:are |is )?(?:still )?(?:left|missing|open|needed|remaining)\b",
    r"^\W*(?:is|was) there (?:a|an|any|another|some) (?!thing|other)(?=.*\byou\b)",
)
_WANTS = re.compile("|".join(_REQUESTS), re.IGNORECASE)
"""How an agent asks for something to be told, other than by a question."""
_NOT_ASKED = re.compile(
    r"\b(?:(?:you|i|we)(?:'ll| will)? (?:do not|don't|won't|will not|needn't|need not|no longer|never)"
    r"(?: (?:even|actually|really|ever))?(?: (?:need|have|require|want|ask))?|no need|"
    r"(?:please )?(?:never|do not|don't)(?: \w+ly)? (?:share|tell|give|send|enter|type|reveal|say|provide|worry)|"
    r"without)"
    r"\b[^,;:.!?\n]*?(?=$|[,;:.!?\n]|\bbut\b|\bjust\b|\bonly\b)"
    r"|\bconfirm (?:that |if |whether )?(?:your|the) (?:(?!that\b|which\b)[\w-]+ ){1,3}?(?:is|are)\b[^,;:.!?\n]*"
    r"|(?<=, )and (?:that |if )?(?:your|the) (?:(?!that\b|which\b)[\w-]+ ){1,3}?(?:is|are) (?!(?:\w+ )?\?)[^,;:.!?\n]*"
    r"|\b(?:your|the) [\w' -]{2,40}? (?:i|we)(?: still| already|'ve| have)+(?: got| noted)?(?=\s*[,;.!?]|$)"
    r"|\b(?:your|the) (?:(?!so\b|then\b|and\b|before\b|when\b|that\b|which\b)[\w'-]+ ){1,3}(?:i|we)(?:'ll| will) "
    r"(?!need\b|require\b|be\b)[^,;:.!?\n]*"
    r"|\b(?:i|we)(?:'ll| will) [^,;:.!?\n]*\b(?:later|afterwards|after that)\b"
    r"|\b(?:i|we)(?:'ve| have)? (?:already|still) (?:have|got|know|noted) "
    r"[^,;:.!?\n]*?(?=$|[,;:.!?\n]|\bbut\b|\bjust\b)",
    re.IGNORECASE,
)
"""What a message says that it does not ask for."""
_WHO = re.compile(
    r"\bwho (?:are you|am i|is this|is it|do i have|is (?:calling|there|speaking))\b[^,.;?!]*?(?=$|[,.;?!]|\band\b)"
    r"|\bwho(?:'s| is) (?:calling|speaking|this)\b|\bwho you are\b|\b(?:with|to) whom\b[^,.;?!]*"
    r"|\bidentify yourself\b(?! (?:with|by)\b)",
    re.IGNORECASE,
)
_CREDENTIALS = re.compile(r"\b(?:credentials|(?:log|sign)[- ]?in (?:details|data))\b", re.IGNORECASE)
_EMPHASIS = re.compile(r"\*\*|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)|`")
_TITLE = re.compile(
    r"""(?<=\w )(\*{1,2}|["'\u201c])([A-Z](?:(?!\byour?\b)[^*"'\u201d\n]){0,80}?)[?!.]+(\1|\u201d)(?!\w)"""
)
"""A name amid a sentence that ends as a sentence does: "it is *Whose Body?*" """
_ITEM = re.compile(r"[ \t]*(?:[-*\u2022]|\(?\d{1,2}[.)])[ \t]+(.*)")
"""A line of a list."""
_DETAILS = re.compile(r"\b(?:gather|collect|need|needed|missing|required?|questions?|ask)\b.*:\W*$", re.IGNORECASE)
"""A line whose list is of what is asked for."""
_STATED = re.compile(r"\W*[\w' -]+\W*:\W*(?!(?:your|the|which|what|how|who|where|if)\b)\w", re.IGNORECASE)
"""A line that says what it names: "Name: Ann Lee" """
_WITHIN = re.compile(rf",? (?:and|or|but)(?: if so)?,? (?:\w+ )?(?={_WH}\b)(?!how about)", re.IGNORECASE)
"""What leads from a yes or no to a question: ", and by which method"."""
_ANY = re.compile(
    r"^\W*(?:(?:and|also|so|okay|great|thanks)\W+)*any (?!other|more|questions?|thing)(?:\w+ ){0,3}\w+", re.IGNORECASE
)
_UNFINISHED = re.compile(r"\b(?:is|are|would be|will be|to)\s*(?:\.\.\.+|\u2026)\s*\??$", re.IGNORECASE)
_YES_OR_NO = re.compile(
    r"^\W*(?:(?:and|so|now|then|just to confirm|okay|ok|great|thanks|sure|otherwise|alternatively)\W+)*"
    r"(?:do|does|did|is|are|was|were|shall|should|would|will|can|could|may|might|have|has|am|must)(?:n't|n\u2019t)? ",
    re.IGNORECASE,
)
_HOLDS = re.compile(rf"\b{_WH}\b", re.IGNORECASE)
_PURPOSE = re.compile(
    r"\b(?:so (?:that )?(?:i|we)\b|in order to|(?:to|and) (?:verify|look|locate|find|get started|sign you|log you|"
    r"authenticate|identify|proceed|pull|access|help|clear|go on|continue|confirm that)\b|before (?:i|we)\b|because\b|"
    r"since\b|while i\b|when i\b|and (?:then )?i(?:'ll| will| can)\b)",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"\s[-\u2013\u2014]\s|[;:]|, (?:and|plus|as well as) (?:also )?(?=the\b|your\b|which\b|what\b|how\b)", re.IGNORECASE
)
"""Where a question goes on behind what its answer is for."""
EXCEPT = re.compile(
    r"(?:\bbut )?(?:\bother than\b|\bexcept(?: for)?\b|\b(?:apart|aside) from\b|\bexcluding\b|\bbesides\b|"
    r"(?<!is )(?<!are )(?<!was )(?<!were )\bnot (?=(?:the|your|its|their)\b))",
    re.IGNORECASE,
)
"""What stands before that which is not asked for."""
PARTS = re.compile(
    r"([,;:()/&]|\band\b|\bor\b|\bas well as\b|\balong with\b|\btogether with\b|\bplus\b|\s[-\u2013\u2014]\s|"
    rf"{EXCEPT.pattern})",
    re.IGNORECASE,
)
"""What stands between the things that a question asks for."""


@dataclass(frozen=True)
class Question:
    """A sentence that may ask for something."""

    sentence: str
    asked: str
    """The part that says what is asked for; empty where it asks for a yes or a no, or for nothing."""
    before: str
    """What the message said before it, a sentence a line."""


def questions(text: str) -> Iterator[Question]:
    """The sentences of a message, with what they ask for."""
    before = ""
    for said, sentence in _read(text):
        asked = asked_part(sentence) if wants_to_know(sentence) else ""
        opening = sentence[: sentence.find(asked)] if asked else ""
        yield Question(sentence, asked, before + opening)
        before += f"{said}\n"


def _read(text: str) -> Iterator[tuple[str, str]]:
    """The sentences of a message, as they are and as they are read: without what they say is not asked for, in common
    words, and the lines of a list as the request that it began with.
    """
    plain = text[-MAX_TEXT:].replace("\u2019", "'")
    plain = _EMPHASIS.sub("", _TITLE.sub(r"\1\2\3", plain))
    listed = False
    for line in plain.splitlines():
        item = _ITEM.fullmatch(line)
        if item is None and line.strip():
            listed = line.rstrip().endswith(":") and _opens_list(line)
        if item is not None and listed:
            if not _STATED.match(item[1]):
                yield item[1], f"Please tell me: {_common(item[1])}"
            continue
        for sentence in sentences(line if item is None else item[1]):
            yield sentence, _common(sentence)


def _opens_list(line: str) -> bool:
    """Whether what follows a line is what is asked for."""
    return any(map(wants_to_know, sentences(line)[-1:])) or _DETAILS.search(line) is not None


def _common(sentence: str) -> str:
    sentence = _NOT_ASKED.sub(" ", sentence)
    return _CREDENTIALS.sub("user name and password", _WHO.sub("what is your name ", sentence))


def sentences(text: str) -> list[str]:
    """The sentences of a message, without those that are empty."""
    plain = _ABBREVIATED.sub(" ", text[-MAX_TEXT:])
    return [found.strip() for found in _SENTENCE.findall(plain) if found.strip(" \n.!?-*")]


def wants_to_know(sentence: str) -> bool:
    """Whether a sentence asks for something to be told, and not for a yes or a no."""
    if _WANTS.search(sentence) or _UNFINISHED.search(sentence):
        return True
    if not sentence.rstrip().endswith("?"):
        return _polite_noun(sentence)
    if _YES_OR_NO.match(sentence):
        return _WITHIN.search(sentence) is not None
    return _ANY.match(sentence) is not None or _HOLDS.search(sentence) is not None or _fragment(sentence)


def asked_part(sentence: str) -> str:
    """The part of a question behind what it begins with and without what the answer is for."""
    wants, within = _WANTS.search(sentence), _WITHIN.search(sentence)
    if wants is None and within is not None and _YES_OR_NO.match(sentence):
        return sentence[within.end() :]
    if _polite_noun(sentence):
        return sentence
    starts = [found.start() for found in (wants, _HOLDS.search(sentence)) if found]
    body = sentence[min(starts) :] if starts else sentence
    tail = _PURPOSE.search(body, 1)
    if tail is not None and content(tokens(body[: tail.start()])):
        rest = _GOES_ON.search(body, tail.start())
        body = body[: tail.start()] + (body[rest.start() :] if rest else "")
    return body if content(tokens(body)) else sentence


def _polite_noun(sentence: str) -> bool:
    """Whether a sentence is a noun and a please: "Your name, please." """
    words = tokens(sentence)
    return words[-1:] == ["please"] and len(words) <= 14 and not {"i", "we", "you", "is", "are"} & set(words)


def _fragment(sentence: str) -> bool:
    """Whether a question is a bare noun: "And your password, please?" """
    words = tokens(sentence.rsplit(":")[-1])
    if len(words) > 25:
        return False
    if re.match(r"\W*(?:(?:and|also|next|now|finally|lastly)\W+)*(?:the|your)\b", sentence, re.IGNORECASE):
        return not {"is", "are", "was", "were", "correct", "right"} & set(words)
    if len(words) > 9:
        return False
    return not {"you", "i", "we", "is", "are", "that", "anything", "something", "else", "correct", "right"} & set(words)
