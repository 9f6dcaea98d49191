"""English for what a spec declares: nouns of tables, labels of columns, and what tools do, said by who asks for it.

All of it is made of the author's own words: documentation first, names where there is none.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Any

from forgec.model import spec as m
from forgec.sql.scope import Cell
from forgec_runtime import types as t

MAX_KEPT = 4096
"""How many names and sentences are remembered: specs say the same again and again."""

_SPELLED = {
    "email": "e-mail address", "zip": "zip code", "gb": "GB", "qty": "quantity", "born": "date of birth",
    "dob": "date of birth",
    "username": "user name", "due": "due date", "address1": "street", "address2": "second address line",
    "method": "payment method", "last_four": "last four digits", "what": "subject",
}  # fmt: skip
_WORDS = ("email", "zip", "gb", "qty", "username")
"""Those that are spelled out inside of longer names, too."""
_EXTREMES = {"year": ("latest", "earliest"), "price": ("highest", "lowest")}
_ARTICLE = r"(?:an?|the|some|one)"
_PARTICIPLE = r"(?:\w+ed |\w+ing |lent |sent |lost |kept |given |taken |made |bought |sold |broken |paid |open )?"
_WHEN = r"(Of|In|On|At|By|For|Since|Until|This|Last|Next|Per|Today|Before|After) "


@lru_cache(maxsize=MAX_KEPT)
def label_of(name: str) -> str:
    """What a column, field or parameter is called."""
    key = re.search(r"\['([^']*)'\]$", name)
    if key:
        return key[1]
    short = name.rpartition(".")[2].removeprefix("new_")
    if short in _SPELLED:
        return _SPELLED[short]
    words = [_SPELLED[word] if word in _WORDS else word for word in short.split("_") if word]
    if len(words) > 1 and words[-1] == "ids":
        return " ".join([*words[:-2], f"{words[-2]}s"])
    if len(words) > 2 and words[-1] == "id":
        words.pop()
    return " ".join("number" if word == "id" else word for word in words)


@lru_cache(maxsize=MAX_KEPT)
def singular(word: str) -> str:
    """`copies` -> `copy`."""
    if word.endswith("ies"):
        return word[:-3] + "y"
    if re.search(r"(ss|x|ch|sh|[^hn]o)es$", word):
        return word[:-2]
    return word[:-1] if re.search(r"[^siu]s$", word) else word


def is_another(tool: m.Tool, parameter: m.Parameter, people: str | None) -> bool:
    """Whether a parameter is not who asks, but somebody else: `Give a thing to another hero.`"""
    asked = [one.name for one in tool.parameters if one.references == people]
    if people is None or parameter.name not in asked:
        return False
    noun = singular(people.replace("_", " "))
    return parameter.name != asked[0] or re.search(rf"other {re.escape(noun)}\b", tool.doc) is not None


def value_text(value: Any) -> str:
    """A value as people write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%d %H:%M")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return format(value, "f")
    return str(value)


def quoted(value: Any) -> str:
    """A value in a sentence: names and titles in quotes."""
    text = value_text(value)
    return f"'{text}'" if isinstance(value, str) and not re.fullmatch(r"[\w.+-]+@[\w.-]+|[\d ]+", text) else text


def is_amount(value: Any) -> bool:
    """Whether there can be more or less of it."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def is_placing(label: str) -> bool:
    """Whether a label says where, when or how much, as `at least so long` does."""
    return label.partition(" ")[0] in _PLACING


def joined(parts: Iterable[str], last: str = "and") -> str:
    """`a, b and c`."""
    found = list(parts)
    return found[0] if len(found) == 1 else f"{', '.join(found[:-1])} {last} {found[-1]}" if found else ""


def lower_first(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text


def hole(name: str) -> str:
    """The place of a value in a text."""
    return f"\x01{name}\x02"


def escaped(text: str) -> str:
    """A text as messages hold it."""
    return text.replace("{", "{{").replace("}", "}}").replace("\x01", "{$").replace("\x02", "}")


@lru_cache(maxsize=MAX_KEPT)
def _to_you(text: str, nouns: tuple[str, ...], you: str) -> str:
    who = rf"\b{_ARTICLE} (?:\w+ed )?(?:{'|'.join(nouns)})(?: who is signed in)?"
    text = re.sub(rf"{who}'s(?: own)?\b", "your", text, flags=re.IGNORECASE)
    text = re.sub(rf"\bthe (\w+s) of {who}$", r"your \1", text, flags=re.IGNORECASE)
    text = re.sub(rf"\b{_ARTICLE} account\b", "your account", text)
    for verb, yours in (("has", "have"), ("is", "are"), ("was", "were"), ("owes", "owe"), ("opens", "open")):
        text = re.sub(rf"{who} {verb}\b", f"you {yours}", text, flags=re.IGNORECASE)
    return re.sub(rf"{who}\b", you, text, flags=re.IGNORECASE)


class Words:
    """The words of one spec."""

    def __init__(self, spec: m.Spec, people: str | None) -> None:
        self.spec = spec
        self.people = people
        self.today = spec.clock.date()

    def nouns(self, table: str) -> list[str]:
        """What one row of a table is called, the usual name first."""
        return self._nouns[table]

    @cached_property
    def _nouns(self) -> Mapping[str, list[str]]:
        return {table: self._nouns_of(table) for table in self.spec.tables}

    def _nouns_of(self, table: str) -> list[str]:
        found = self.spec.tables[table]
        own = singular(found.title.rpartition(".")[2].replace("_", " "))
        doc = re.match(r"[A-Z][a-z]+", found.doc)
        names = [own]
        if doc and doc[0].endswith("s"):
            names.append(singular(doc[0].lower()))
        if table == self.people:
            names += ["account", "person", "customer", "user", "member"]
        return list(dict.fromkeys(names))

    def noun(self, table: str) -> str:
        """The usual name of a row; what is nested may be called as a whole, as a history is."""
        found, own = self.spec.tables[table], self.nouns(table)[0]
        whole = found.parent is not None and own == found.title.rpartition(".")[2].replace("_", " ")
        return f"entry of the {own}" if whole else own

    def plural(self, noun: str) -> str:
        noun, of, rest = noun.partition(" of ")
        return self._plural(noun) + of + rest

    @staticmethod
    def _plural(noun: str) -> str:
        if noun.endswith("y") and noun[-2:-1] not in "aeiou":
            return noun[:-1] + "ies"
        return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")

    def label(self, name: str, columns: Mapping[str, Cell]) -> str:
        label = label_of(name)
        if name in columns and isinstance(columns[name].type, t.Date) and not re.search(r"\b(date|day|on)\b", label):
            return f"{label} date"
        return label

    def extreme(self, name: str, columns: Mapping[str, Cell], most: bool, doc: str = "") -> str:
        """What the one of several has that has most or least of it."""
        label, counted = self.label(name, columns), _counted(doc)
        if counted and name in columns and isinstance(columns[name].type, t.Integer):
            return f"{'most' if most else 'fewest'} {self.to_you(counted)}"
        if name in columns and isinstance(columns[name].type, t.Date):
            return f"{'latest' if most else 'earliest'} {label}"
        many = any(word.endswith("s") for word in label.split())
        if many and name in columns and isinstance(columns[name].type, t.Integer):
            return f"{'most' if most else 'fewest'} {label}"
        high, low = _EXTREMES.get(name, ("highest", "lowest"))
        return f"{high if most else low} {label}"

    def comparative(self, name: str, columns: Mapping[str, Cell], most: bool = True) -> str:
        """What the one of two has that has more, or less: `higher price`, `later due date`."""
        label = self.label(name, columns)
        if name == "year" or (name in columns and isinstance(columns[name].type, t.Date)):
            return f"{'later' if most else 'earlier'} {label}"
        many = any(word.endswith("s") for word in label.split())
        if many and name in columns and isinstance(columns[name].type, t.Integer):
            return f"{'larger' if most else 'smaller'} number of {label}"
        return f"{'higher' if most else 'lower'} {label}"

    # -- values ------------------------------------------------------------------------------------------------

    def parameter(self, parameter: m.Parameter, value: Any, fact: str | Mapping[str, str] | None = None) -> str:
        """A value that is given for a parameter; if it is a `fact` (of a record, each field one), its place."""
        if isinstance(value, Mapping):
            facts = fact if isinstance(fact, Mapping) else {}
            return "; ".join(f"new {label_of(name)}: {_placed(part, facts.get(name))}" for name, part in value.items())
        if fact and isinstance(fact, str):
            return hole(fact) if isinstance(parameter.type, t.Enum) else _placed(value, fact)
        if isinstance(value, list):
            return joined(value_text(one) for one in value)
        return quoted(value) if isinstance(value, str) and not isinstance(parameter.type, t.Enum) else value_text(value)

    def amount(self, field: str, doc: str) -> str:
        """A value that is found in a result, named by what it is."""
        return f"all of {lower_first(doc)}" if doc.startswith("What ") else f"the whole {label_of(field)}"

    def about(self, name: str, doc: str, counts: bool = False) -> str:
        """What a column or field holds, as one asks for it; of some it `counts` what its documentation names."""
        doc = first_sentence(doc)
        if re.match(
            r"((Until|Since|From|By|For|At|In|On|To|With) )?(What|How|Whether|Which|Where|When|Who)\b", doc, re.I
        ):
            return self.to_you(lower_first(doc))
        if re.match(r"(The|An?) ", doc) and len(doc.split()) <= 14:
            return self.to_you(lower_first(doc))
        if counts and doc and doc.split()[0].endswith("s") and not re.match(_WHEN, doc):
            return self.to_you(f"the number of {lower_first(doc)}")
        label = label_of(name)
        if re.match(r"\w+ed\b", doc) and len(doc.split()) <= 8:
            what = f"how many {label} were" if counts and label.endswith("s") else "what was"
            return self.to_you(f"{what} {lower_first(doc.partition(',')[0])}")
        when = f" {lower_first(doc.partition(',')[0])}" if re.match(_WHEN, doc) and len(doc.split()) <= 12 else ""
        if when.strip().startswith(label):
            return self.to_you(when.strip())
        label = label.rpartition(" ")[0] if when and when.split()[0] == label.split()[-1] else label
        return self.to_you(_held(label, counts) + when)

    def fact(self, parameter: m.Parameter) -> str:
        """What a user knows who knows a value for a parameter."""
        doc = first_sentence(parameter.doc)
        if isinstance(parameter.type, t.Boolean) and doc.startswith("Whether "):
            return lower_first(doc)
        doc = self.of_parameter(parameter)
        known = ("the", "a", "an", "what", "how", "whether", "your", "who", "where", "when")
        return doc if doc.split()[0] in known or is_placing(doc) else f"the {doc}"

    def of_parameter(self, parameter: m.Parameter) -> str:
        """What a parameter is called beside its value."""
        doc = first_sentence(parameter.doc)
        head, comma, rest = doc.partition(",")
        if comma and not re.match(r" (or|and) ", rest):
            doc = head
        doc = re.sub(r"^Which (?=\w+( \w+)?$)", "", doc)
        if doc and len(doc.split()) <= 5 and not re.match(r"(Which|Whether|Whose|From|Only|More|With) ", doc):
            return lower_first(doc)
        return label_of(parameter.name)

    # -- tools -------------------------------------------------------------------------------------------------

    def does(self, tool: m.Tool, phrases: Mapping[str, str]) -> str:
        """What a tool does, said by who asks for it: `renew your loan of 'Cosmos'`.

        `phrases` are what is meant by parameters. Those for which there is no place stand in brackets behind it.
        """
        doc = first_sentence(tool.doc)
        text = lower_first(doc) if doc else label_of(tool.name)
        left, said, named = [], list[str](), True

        def kept(found: re.Match[str]) -> str:
            said.append(found[1])
            return f"\x05{len(said) - 1}\x06"

        for parameter in sorted(tool.parameters, key=lambda p: p.references == self.people):
            if parameter.name not in phrases:
                continue
            phrase = phrases[parameter.name]
            if phrase == "you" and is_another(tool, parameter, self.people):
                phrases = {**phrases, parameter.name: "yourself"}
                left.append(parameter)
                continue
            placed = self._placed(text, parameter, phrase)
            named = named and (phrase != "you" or placed != text)
            if placed is not None:  # what was put in has nouns of its own, which are no places
                text = re.sub("(?s)\x03(.*)\x04", kept, placed)
            else:
                left.append(parameter)
        text = re.sub("\x05(\\d+)\x06", lambda found: said[int(found[1])], self.to_you(text))
        choice = next((p for p in left if text.endswith(", or not") and isinstance(p.type, t.Boolean)), None)
        if choice is not None:
            left.remove(choice)
            text = ("not " if phrases[choice.name] == "no" else "") + text.removesuffix(", or not")
        own = self.noun(self.people) if self.people is not None else ""
        text += "" if named else f" for your {own}" if own in _THINGS else " in your name"
        rest = [self._beside(one, phrases[one.name]) for one in left if phrases[one.name] != "''"]
        return text + (f" ({'; '.join(rest)})" if rest else "")

    def _beside(self, parameter: m.Parameter, phrase: str) -> str:
        if parameter.references is not None or isinstance(parameter.type, t.Record):
            return phrase
        doc = first_sentence(parameter.doc)
        if isinstance(parameter.type, t.Boolean) and doc.startswith("Whether "):
            return f"{lower_first(doc)}: {phrase}"
        label = self.of_parameter(parameter)
        if phrase.startswith("which "):
            return f"{label}, {phrase}"
        noun = label.removeprefix("the ")
        if phrase.startswith(f"the {noun} with "):
            return f"{label}: {phrase.replace(noun, 'one', 1)}"
        if phrase.startswith("the only ") and isinstance(parameter.type, t.Text) and noun not in phrase:
            return f"{label}: that of {phrase}"
        return phrase if phrase.startswith(f"the {noun} ") else f"{label}: {phrase}"

    def asks(self, tool: m.Tool, text: str, writes: bool = True) -> str:
        """Somebody wants that done."""
        to = "not to" if text.startswith("not ") else "to"
        text = text.removeprefix("not ")
        first = text.split()[0] if text.split() else ""
        if first in _VERBS or first == tool.name.partition("_")[0]:
            if tool.side == "agent":
                return f"You want them {to} {text}."
            done = re.match(r"[^,(]*[^,( ]", text)
            assert done is not None
            return f"You want {to} {done[0]} yourself{text[done.end() :]}."
        asked = re.match(r"(whether|what|how|when|who|which|where) ", text) or tool.returns is not None
        return f"You want to hear {text}." if asked and not writes else f"You want {text}."

    def _placed(self, text: str, parameter: m.Parameter, phrase: str) -> str | None:
        if parameter.references is None:
            return None
        if phrase == "you":
            return self.to_you(text)
        for noun in self.nouns(parameter.references):
            pattern = re.compile(rf"\b(?:{_ARTICLE}|another|the other) {_PARTICIPLE}{noun}\b", re.IGNORECASE)
            if pattern.search(text):
                return pattern.sub(lambda _: f"\x03{phrase}\x04", text, count=1)
        for column in self.spec.tables[parameter.references].columns:
            if column.references is None or column.optional or column.references == self.people:
                continue
            for noun in self.nouns(column.references):
                pattern = re.compile(rf"\b{_ARTICLE} {_PARTICIPLE}{noun}\b", re.IGNORECASE)
                if pattern.search(text):
                    named = re.match(r"(?:your|the) [\w ]+? of (the .*|'.*)$", phrase)
                    inner = named[1] if named else f"the {noun} of {phrase}"
                    if phrase.startswith("your ") and inner.startswith(f"the {noun} with "):
                        inner = f"your{inner[3:]}"
                    return pattern.sub(lambda _: f"\x03{inner}\x04", text, count=1)  # noqa: B023
        verb, _, rest = text.partition(" ")
        return f"{verb} \x03{phrase}\x04{rest[3:]}" if re.match(r"(one|it)\b", rest) else None

    def to_you(self, text: str) -> str:
        """A sentence about one of the people, said to that person."""
        if self.people is None:
            return text
        own = self.noun(self.people)
        return _to_you(text, tuple(self.nouns(self.people)), f"your {own}" if own in _THINGS else "you")

    def of_row(self, tool: m.Tool, parameter: m.Parameter, phrase: str) -> str:
        """Of which row something is that a tool gives for it: ` of the order 'O1'`, ` on the ward 'Oak'`."""
        nouns = "|".join(map(re.escape, self.nouns(parameter.references or "")))
        said = re.search(rf"\b(of|on|in|inside|under|at|for|from) {_ARTICLE} (?:{nouns})\b", first_sentence(tool.doc))
        return f" {said[1] if said else 'of'} {phrase}"

    def lists(self, tool: m.Tool, context: Iterable[tuple[str, Any]] = (), about: str = "") -> str:
        """What the rows are that a tool finds: `the books that you have now`; `context` is what it is given, and
        `about` of which row they are.
        """
        doc = first_sentence(tool.doc).partition(",")[0]
        first, _, rest = doc.partition(" ")
        result = tool.returns
        table = getattr(result.shape, "table", None) if result is not None else None
        if first in ("List", "Show", "Get") and rest:
            found = rest
        elif first.lower() in _VERBS or not doc:
            found = f"the {self.plural(self.noun(table)) if table else 'entries'}"
            keys = (
                [c.references for c in result.shape.columns.values() if c.references]
                if result and not isinstance(result.shape, Cell)
                else []
            )
            if not table and keys:
                found = f"the {self.plural(self.noun(keys[0]))}"
        else:
            everything = table is not None and first in ("All", "Everybody", "Everything")
            found = f"the {self.plural(self.noun(table))}" if everything and table else f"the {lower_first(doc)}"
            found = re.sub("^the the ", "the ", found)
        found = self.to_you(found)
        if (
            table
            and self.people in {p.references for p in tool.parameters if p.references}
            and not re.search(r"\byou", found)
        ):
            found = f"your {self.plural(self.noun(table))}"
        for noun in (noun for p in tool.parameters if p.references and about for noun in self.nouns(p.references)):
            place = re.search(rf" \w+ {_ARTICLE} {noun}\b", found)
            if place is not None:
                found, about = found[: place.start()] + about + found[place.end() :], ""
        for label, value in context:
            of = re.search(rf"\b(of|on|for|by|in|at) an? {re.escape(label)}$", found)
            if of is not None:  # "the days of a kind"
                found = f"{found[: of.start()]}{of[1]} the {label} {quoted(value)}"
            else:
                found += f" ({label}: {quoted(value)})" if is_placing(label) else f" with the {label} {quoted(value)}"
        return found + about

    def told(self, tool: m.Tool, fields: int) -> list[str]:
        """What a tool says that it tells, part by part; nothing unless it names as many as there are."""
        parts = [part for part in re.split(r",? and (?=what|how|whether)|, ", first_sentence(tool.doc)) if part]
        if len(parts) != fields or not all(
            re.match(r"(what|how|whether|when) ", part, re.IGNORECASE) for part in parts
        ):
            return []
        first = re.match(r"how (?:much|many) (\w+) (\w+ \w+) ", parts[0], re.IGNORECASE)
        if first is not None:  # "how much data a line has used, how much it has"
            parts = [re.sub(r"^how (much|many) it\b", rf"how \1 {first[1]} {first[2]}", part) for part in parts]
        return [self.to_you(lower_first(part)) for part in parts]

    def returned(self, tool: m.Tool, fields: int = 1) -> list[str]:
        """What a tool says that it gives back, part by part; nothing unless it names as many as there are."""
        found = re.search(r"Returns ([^.]+)\.", tool.doc)
        if found is None:
            return []
        text = self.to_you(" ".join(found[1].split()))
        parts = [text] if fields == 1 else [part for part in re.split(r",? and |, ", text) if part]
        return parts if len(parts) == fields else []


def _placed(value: Any, fact: str | None) -> str:
    """A value, or its place, as it stands in a sentence."""
    if fact is None:
        return quoted(value)
    return quoted(value).replace(value_text(value), hole(fact))


def _counted(doc: str) -> str:
    """What a column counts, if its documentation names that: `members who wait for it`."""
    doc = first_sentence(doc).partition(",")[0]
    counts = doc and doc.split()[0].endswith("s") and not re.match(rf"{_WHEN}|(What|How|Whether|Its|Whose) ", doc)
    return lower_first(doc) if counts else ""


def _held(label: str, counts: bool) -> str:
    """What a column holds, by its label: `the price`, `how many GB were used`, `who created it`."""
    words = label.split()
    if len(words) == 2 and words[1] == "by":
        return f"who {words[0]} it"
    if len(words) == 2 and words[0].endswith("ed") and (words[1].isupper() or (counts and words[1].endswith("s"))):
        return f"how many {words[1]} were {words[0]}"
    return f"the number of {label}" if counts and words[-1].endswith("s") else f"the {label}"


_PLACING = ("at", "by", "for", "from", "in", "of", "on", "since", "to", "until", "with")
_THINGS = ("line", "account", "contract", "profile", "card", "subscription")
_VERBS = frozenset(  # how a tool's documentation begins that says what it does
    """add allow ask assign book buy cancel change charge check close complete create delete deliver dismiss edit enter
    exchange extend fetch find get give hand keep lend let list look make mark modify move open order pay place
    print put refund register remove rename renew rent repair replace report request reserve reset resolve restore
    resume return run save say schedule search see send set show sign start stop suspend switch take tell top transfer
    turn unlock update upgrade use withdraw write""".split()  # noqa: SIM905
)


def first_sentence(doc: str) -> str:
    """The first sentence of a text, in one line, without its stop."""
    text = " ".join(doc.split())
    found = re.match(r"(.+?)[.;:](?:\s|$)", text)
    return (found[1] if found else text).rstrip(".")
