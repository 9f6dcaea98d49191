"""Names, addresses and words that look real, by Faker: the only door to it."""

from __future__ import annotations

import warnings
from functools import cache
from random import Random
from typing import TYPE_CHECKING

from forgec.worlds.lots import NoLot

if TYPE_CHECKING:
    from faker import Generator


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


def is_language(locale: str) -> bool:
    """Whether there are fakes in a language, such as `de_DE`."""
    return locale == "en_US" or locale in languages()


@cache
def languages() -> list[str]:
    from faker.config import AVAILABLE_LOCALES  # slow to import, and seldom wanted

    return sorted(AVAILABLE_LOCALES)


@cache
def _generator(locale: str) -> Generator:
    from faker.factory import Factory  # slow to import, and seldom wanted

    with warnings.catch_warnings(action="ignore"):  # of languages that are called otherwise by now
        made: Generator = Factory.create(locale)
    return made
