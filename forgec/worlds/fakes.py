"""Names, addresses and words that look real, by Faker: the only door to it."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import TYPE_CHECKING

from forgec.diagnostics import did_you_mean
from forgec.worlds.lots import NoLot

if TYPE_CHECKING:
    from faker import Generator

FAKES = (
    "name", "first_name", "last_name", "street_address", "street_name", "building_number", "city", "postcode", "state",
    "country", "country_code", "company", "job", "catch_phrase", "phone_number", "user_name", "email", "word", "words",
    "sentence", "paragraph", "color_name", "isbn13", "ean13", "license_plate", "iban", "currency_code",
    "language_name",
)  # fmt: skip
"""What Faker may be asked for: what depends on its own lists alone, and not on the time of day."""


def fake(drawn: int, kind: str, locale: str) -> str:
    """A fake of a kind. Raises `NoLot` when there is none in this language."""
    generator = _generator(locale)
    generator.random = Random(drawn)
    if kind == "email":
        return f"{_asked(generator, 'user_name', locale)}@example.org"
    return _asked(generator, kind, locale)


def _asked(generator: Generator, kind: str, locale: str) -> str:
    try:
        found = getattr(generator, kind)()
    except AttributeError:
        raise NoLot(f"there is no `{kind}` in {locale}") from None
    return " ".join(found) if isinstance(found, list) else str(found)


def problem_of(kind: str, locale: str) -> tuple[str, str] | None:
    """What is wrong with asking for this, and a hint."""
    if kind not in FAKES:
        return f"no fake is called '{kind}'", did_you_mean(kind, FAKES) or f"there are {', '.join(FAKES)}"
    if locale == "en_US":
        return None
    from faker.config import AVAILABLE_LOCALES  # slow to import, and seldom wanted

    known = sorted(AVAILABLE_LOCALES)
    if locale in known:
        return None
    return f"no language is called '{locale}'", did_you_mean(locale, known) or "such as 'en_GB' and 'de_DE'"


@cache
def _generator(locale: str) -> Generator:
    from faker.factory import Factory  # slow to import, and seldom wanted

    made: Generator = Factory.create(locale)
    return made
