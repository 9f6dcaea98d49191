"""Which clauses of a message ask for something to be told? What of each says what is asked for.

A sentence is cut into clauses. A clause asks only if something in it shows that it does: a question word where a
question has it, a verb of telling whose subject is the user, a need of the agent's. What has no verb goes on with what
the clause before it began. All others are statements, offers, questions about wishes; of these nothing is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from forgec.users.kinds import plain
from forgec.users.wording import ORDINALS, content, meanings, tokens

MAX_TEXT = 5_000
"""How many characters at the end of a message are read."""

_SENTENCE = re.compile(r"[^.!?\n]*(?:\.(?=\w)[^.!?\n]*)*[.!?]*\n?")
_ABBREVIATED = re.compile(r"\b(?:i\.e\.|e\.g\.|etc\.)", re.IGNORECASE)
_EMPHASIS = re.compile(r"\*\*|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)|`")
_TITLE = re.compile(
    r"""(?<=\w )(\*{1,2}|["'\u201c])([A-Z](?:(?!\byour?\b)[^*"'\u201d\n]){0,80}?)[?!.]+(\1|\u201d)(?!\w)"""
)
"""A name amid a sentence that ends as a sentence does: "it is *Whose Body?*" """
_PICTURE = re.compile(r"[\u2600-\u27bf\U0001f300-\U0001faff]+")
_PLEASE = re.compile(r"\b(?:pls|plz)\b", re.IGNORECASE)
_ITEM = re.compile(r"[ \t]*(?:[-*\u2022]|\(?\d{1,2}[.)])[ \t]+(.*)")
"""A line of a list."""
_DETAILS = re.compile(r"\b(?:gather|collect|need|needed|missing|required?|questions?|ask)\b.*:\W*$", re.IGNORECASE)
"""A line whose list is of what is asked for."""
_COUNTED = re.compile(
    r"\b(?:two|three|four|a few|few|a couple of|one more|last|next|only|one) (?:(?:more|quick|last|other) )*"
    r"(?:things?|bits|gaps|questions?|details|pieces)\b[^:]*$",
    re.IGNORECASE,
)
"""What says how many things are asked for, which it names behind a colon."""
_STATED = re.compile(r"\W*[\w' -]+\W*:\W*(?!(?:your|the|which|what|how|who|where|if)\b)\w", re.IGNORECASE)
"""A line that says what it names: "Name: Ann Lee" """
_COMMON = tuple(
    (re.compile(pattern, re.IGNORECASE), instead)
    for pattern, instead in (
        (
            r"\bin (?:a few words|a couple of words|two or three words|a word|one sentence|a sentence|short|brief)\b",
            " ",
        ),
        (
            r"\ba (?:(?:short|brief|quick|one-line) )?(?:summary|line|note|word|sentence)(?: or two)? (?:of|on|about) "
            r"(?=what|how|the)",
            "",
        ),
    )
)
"""Ways to ask, and what they come to in common words."""
_CREDENTIALS = re.compile(
    r"\bcredentials\b|\bboth (?:parts|halves) of (?:your|the) (?:login|log-in|sign-in)\b|"
    r"\b(?:log|sign)[- ]?in (?:details|data)\b",
    re.IGNORECASE,
)

_GIVE = (
    r"(?:provide|give|tell|share|send|enter|confirm|specify|supply|let (?:me|us) (?:know|have)|"
    r"(?:type|state|list|name)(?= (?:your|the|a|an|both|all|any|it|them|in|out|what|which|who|how|me|two|three|please|"
    r"their|its|these|those)\b)|"
    r"sign in|log in|login|say|describe|indicate|clarify|reply|spell|include|verify|repeat|double-check|try again with|"
    r"identify yourself (?:with|by)|let's have|(?:start|set) (?:me|us) off with|try me with|write out|"
    r"(?:type|state)(?= yours\b)|(?:pop|drop|shoot|hit) me|pass on|fill in|put in|key in|hand me|"
    r"read (?:me|out)|re-?enter|re-?type|dictate|mention|try (?:it|that|them|both|again)|remind me of|"
    r"authenticate|begin with|start with|add me)\b"
)
_GIVING = (
    r"(?:providing|giving|telling|sharing|sending|entering|typing|confirming|spelling|repeating|"
    r"letting me (?:know|have))\b"
)
_MAYBE = (
    r"(?:(?:please|also|just|perhaps|maybe|first|then|now|and|so|still|all|next|either|be so kind as to|go ahead and|"
    r"happen to|\w+ly),? )*"
)
_WH = r"(?:what|which|whose|who|whom|where|when|how|why)(?:'s)?\b"
_AUX = r"(?:is|are|was|were|do|does|did|should|shall|can|could|would|will|may|might|must|have|has|had|am)(?:n't)?\b"
_OPENING = r"^\W*(?:(?:and|also|so|okay|ok|great|thanks|now|then|next|first|finally|sure|alright|perfect|or|but)\W+)*"
_TOLD = (
    r"(?!\W*(?:(?:me|us)\W+)?(?:if|whether(?! (?:it|you|we|i|to) (?:may|should|want|would|be)\b)|"
    r"that (?:i|we|you|it|the|your|this)|when(?:ever)?|once|as soon)\b)"
)
"""What follows is to be told, and not only whether it is so."""

_REQUESTS = re.compile(
    "|".join(
        (
            rf"(?:^\W*(?:\w+, )?|\b(?:please|kindly|you|you to|then),? ){_MAYBE}{_GIVE}{_TOLD}",
            rf"\b(?:mind|by|just) {_GIVING}|\b{_GIVE} me\b{_TOLD}",
            rf"{_OPENING}what(?:'s| is| are) your\b",
            rf"\band {_MAYBE}{_GIVE} (?:me|it|them|that|those|both)\b{_TOLD}",
        )
    ),
    re.IGNORECASE,
)
"""How an agent tells the user to tell it something."""
_NEEDS = re.compile(
    "|".join(
        (
            rf"\b(?:i|we)(?:'ll|'d|'m|'re)? (?:will |would |do |am |are )?{_MAYBE}(?:(?:be )?need(?:ing)?|require|"
            r"going to (?:need|ask)|(?:need|have|want|like|must) to (?:know|have|ask)|must know|missing|lacking|"
            r"waiting for|don't have (?=your|the|its)|"
            r"(?:have|'ve) yet to (?:hear|get|see|learn)|"
            r"(?:didn't|did not|couldn't|could not) (?:quite )?(?:catch|get|hear|understand|make out)|"
            r"(?:can't|cannot|could not|couldn't) [^,]*\bwithout)\b(?! (?:you )?to\b)",
            r"\b(?:need|trouble|bother|ask) you for\b|\b(?:help|useful) to know\b|\bwondering\b|\bhow about\b",
            r"\b(?:i need|missing|lacking|left|needed|required)(?: now| still)? (?:is|are)\b",
            r"\b(?:things?|details?|questions?|points?) (?:are |is )?(?:still )?(?:left|missing|open|needed)\b",
            r"^\W*(?:just|only|still) need\b|\binsists on\b|\blacks\b|\bnothing \w+ without\b|"
            r"^\W*have you got (?=another|a different|some other)",
            r"\b(?:requires|needs)(?= (?:your|two|three|both|the following)\b)",
            rf"\b(?:can|could|may|might) (?:i|we) {_MAYBE}(?:have|get|ask|know|see|take)\b",
            r"\bdo you (?:happen to )?(?:know|have|remember|recall)\b",
            r"^\W*(?:is|was) there (?=(?:a|an|any|another|some) (?!thing|other).*\byou\b)",
            r"\b(?:to|can|must|will|could) (?:also |only )?(?:authenticate|verify|identify|find|look) you(?: up)? "
            r"(?:by|with|through|via)\b(?![^.?!]*\b(?:as well|too)\b)",
        )
    ),
    re.IGNORECASE,
)
"""How it says that it needs something, or has not got it."""
_LACKING = re.compile(
    r"\b(?:is|are) (?:still |also |all )?(?:missing|needed|required|necessary|all i need|what i need|enough)\b|"
    r"\b(?:would|will) (?:do|suffice|be enough|get us there)\b|\bplease\W*$",
    re.IGNORECASE,
)
"""How a clause says that what it began with is wanted."""
_ASKS = re.compile(
    rf"(?:{_OPENING}(?:(?:[\w']+\W+){{0,3}}(?:by|to|in|for|from|of|on|at|with|under|after|about) )?|"
    r"\b(?:and|or|so|but|then|exactly|is|are|was|in|on|by|for|to|like|want|from|of|with|under|at|as) )"
    rf"{_WH}(?! (?:i|we|you|it)\b)",
    re.IGNORECASE,
)
"""A question word where a question has it."""
_DENIED = re.compile(
    r"\b(?:(?:do|does|did|will|would|can|could|must|need) not|(?:do|does|did|wo|would|ca|could|must|need)n't|never|"
    r"no longer)(?: (?:even|ever|have to|need to|want you to|\w+ly))* "
    rf"(?:need|require|want|ask|{_GIVE})|\bno need\b|"
    r"(?<!can't )(?<!cannot )\bwithout\b",
    re.IGNORECASE,
)
"""A clause that says what is not asked for."""
_JOINT = re.compile(
    r"([,;:(+]|\s[-\u2013\u2014]\s|"
    r"\b(?:and|or|but|so|because|since|before|while|once(?! (?:more|again))|until|unless|if|when)\b)",
    re.IGNORECASE,
)
"""Where a clause may begin."""
_STATES = re.compile(
    r"\W*(?:(?:and|or|but|so|because|since|before|while|once|until|unless|if|when|that|then|also|perhaps|maybe)\W+)*"
    rf"(?:(?:i|we|you|it|he|she|they|there|this|that)(?:'\w+)?\b|{_AUX} \w|"
    r"(?:your|the|this|that|these|my|our) (?:(?!(?:this|that|which|whose|who|you|you're|you'd|i'm)\b)[\w'-]+ ){1,5}?"
    r"(?:(?:is|are|was|were|has|will|can|cannot|must)\b(?! \w*\W*\?)(?! (?:under|in|at|on|for|with)\W*$)|"
    r"(?:i|we) (?:still |already )?(?:have|got|know|see|can|will)\b(?![^?]*\?)|(?:i|we)'(?:ll|ve)\b))",
    re.IGNORECASE,
)
"""What a clause of its own begins with; others go on with what the one before them began."""
_VERBLESS = rf"(?:(?!{_AUX}|\w+ed\b|here\b|there\b)[\w'-]+(?: |(?![\w' -])))+"
_BARE = re.compile(
    rf"\W*(?:your {_VERBLESS}(?:,(?: and)? (?:the|your|then) {_VERBLESS})*|"
    rf"{_VERBLESS}(?<= )first, (?:and )?then {_VERBLESS})"
    r"(?:, (?:if you (?:would|don't mind|can|could|like)\b[^.]*|and (?:we're|you're|i'm|we are|you are) \w+))?\W*$|"
    rf"\W*{_VERBLESS}, and (?:we're|you're|i'm|we are|you are) (?:off|set|in|there|good|ready)\W*$",
    re.IGNORECASE,
)
"""A sentence without a verb, which names what it wants: "Your name, and the password along with it." """
_AFTER = re.compile(
    r", (?:if you (?:would|don't mind|can|could|like)\b|and (?:we're|you're|i'm|we are|you are) )|,? so (?:that )?I ",
    re.IGNORECASE,
)
"""What may stand behind that."""
_LEADS = re.compile(r"\W*(?:for|about|as for|regarding)\b", re.IGNORECASE)
"""What it begins with that says what it is for: "for the new ticket, please provide" """
_THING = re.compile(r"\W*(?:your|the|an?)\b(?! (?:system|form|computer|library|shop)\b)", re.IGNORECASE)
_NAMES = re.compile(r"\W*(?:your|the)\b", re.IGNORECASE)
_OFFERS = re.compile(r"\W*(?:and |so |or )?\w+ (?:me|us|i|we|you)\b", re.IGNORECASE)
"""What an offer begins with that lacks its verb: "want me to renew it?" """
EXCEPT = re.compile(
    r"(?:\bbut )?(?:\bother than\b|\bexcept(?: for)?\b|\b(?:apart|aside) from\b|\bexcluding\b|\bbesides\b|"
    r"(?<!is )(?<!are )(?<!was )(?<!were )\bnot (?=(?:the|your|its|their)\b))",
    re.IGNORECASE,
)
"""What stands before that which is not asked for."""
PARTS = re.compile(
    r"([,;:()/&+]|\bfollowed by\b|\bincluding\b|"
    r"\band\b|\bor\b|\bas well as\b|\balong with\b|\btogether with\b|\bplus\b|\s[-\u2013\u2014]\s|"
    rf"{EXCEPT.pattern})",
    re.IGNORECASE,
)
"""What stands between the things that a question asks for."""


@dataclass(frozen=True)
class Question:
    """A sentence that may ask for something."""

    sentence: str
    asked: str
    """The clauses that say what is asked for; empty where it asks for a yes or a no, or for nothing."""
    before: str
    """What the message said before it, a sentence a line."""


def questions(text: str) -> Iterator[Question]:
    """The sentences of a message, with what they ask for."""
    before = ""
    for said, sentence in _read(text):
        asked = _asked(sentence) or ""
        opening = sentence[: max(sentence.find(asked[:12]), 0)] if asked else ""
        yield Question(said, asked, before + opening)
        before += f"{said}\n"


def _read(text: str) -> Iterator[tuple[str, str]]:
    """The sentences of a message, as they are and in common words, and the lines of a list as the request that it began
    with.
    """
    plain = text[-MAX_TEXT:].replace("\u2019", "'")
    plain = _PLEASE.sub("please", _PICTURE.sub(".", plain))
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
    for pattern, instead in _COMMON:
        sentence = pattern.sub(instead, sentence)
    return _CREDENTIALS.sub("user name and password", plain(sentence))


def sentences(text: str) -> list[str]:
    """The sentences of a message, without those that are empty."""
    plain = _ABBREVIATED.sub(" ", text[-MAX_TEXT:])
    return [found.strip() for found in _SENTENCE.findall(plain) if found.strip(" \n.!?-*")]


_MAY_ASK = re.compile(
    r"\b(?:i|we|it|that)(?:'ve|'ll)? (?:\w+ )?(?:need|must|have to|got to|lack|takes|requires?)\b|\bmissing\b|"
    r"^\W*(?:and )?(?:now|the|your)\b[^,]*(?:\?|\bnow\W*)$",
    re.IGNORECASE,
)


def may_ask(sentence: str) -> bool:
    """Whether a sentence that is not known to ask for anything may do so all the same: it speaks of a need."""
    return _MAY_ASK.search(sentence) is not None and not _DENIED.search(sentence)


def wants_to_know(sentence: str) -> bool:
    """Whether a sentence asks for something to be told, and not for a yes or a no."""
    return _asked(sentence) is not None


def _asked(sentence: str) -> str | None:
    """The clauses of a sentence that say what is asked for; none where it asks for nothing to be told."""
    question = sentence.rstrip().endswith("?")
    listing = False
    asked, apart, going = list[str](), list[str](), ""
    pieces = ["", *_JOINT.split(sentence)]
    for place, (joint, text) in enumerate(zip(pieces[::2], pieces[1::2], strict=True)):
        clause = joint + text
        counted = joint == ":" and _COUNTED.search("".join(pieces[: 2 * place])) is not None
        listing = _THING.match(text) is not None and (listing or (joint == ":" and bool(asked or counted)))
        if listing:
            asked.append(clause)
            going = "asked"
            continue
        if joint == ":" and going == "stated":
            going, apart = ("asked" if asked and _NAMES.match(text) else ""), []
        if counted and not asked:
            going, asked = "asked", [" "]
        found = _request(text, question)
        if found is not None:
            asked.append(joint + found if asked else found)
            going = "asked"
        elif _LACKING.search(clause) and (not going or apart or _NAMES.match(text)):
            asked += [*apart, clause]
            going, apart = "asked", []
        elif _DENIED.search(clause):
            going = "denied"
        elif _STATES.match(clause):
            going = "stated"
        elif going == "asked":
            asked.append(clause)
        elif not going:
            apart.append(clause)
    if asked:
        body, beside = "".join(asked), "".join(apart)
        lead = meanings(beside) and not _LEADS.match(beside)
        return beside if lead and not meanings(body) else body
    bare = "".join(apart)
    if (going and not _AFTER.search(sentence)) or not _fragment(bare):
        return None
    return bare if question or _BARE.match(sentence) else None


def _request(text: str, question: bool) -> str | None:
    """What of a clause begins with that which asks for something, without what the answer is for."""
    needs = _NEEDS.search(text)
    starts = [found.start() for found in (_REQUESTS.search(text), _ASKS.search(text) if question else None) if found]
    starts += [needs.end()] if needs else []
    denied = None if needs else _DENIED.search(text)
    if not starts or (denied is not None and denied.start() <= min(starts)):
        return None
    return text[min(starts) :]


def _fragment(text: str) -> bool:
    """Whether a text is a bare noun: "And your password, please?" """
    if _OFFERS.match(text):
        return False
    words = set(tokens(text))
    named = content(words) or words & ({"state"} | ORDINALS.keys() | {"one", "ones"})
    return bool(named) and len(words) <= 25 and not {"anything", "something", "else", "correct", "right", "are"} & words
