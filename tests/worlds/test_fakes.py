"""Fakes depend on what is drawn alone."""

from __future__ import annotations

import random

import pytest

from forgec.sql.draws import FAKES
from forgec.worlds.fakes import fake, is_language, languages
from forgec.worlds.lots import NoLot, lot


@pytest.mark.parametrize("locale", ["en_US", "de_DE", "fr_FR", "ja_JP", "ru_RU", "pl_PL", "ar_AA", "fr_QC"])
def test_a_fake_is_the_same_whatever_was_drawn_before(locale: str) -> None:
    made = []
    for seed, kinds in ((1, FAKES), (2, tuple(reversed(FAKES)))):
        random.seed(seed)
        made.append({kind: _fake(kind, locale) for kind in kinds})
    assert made[0] == made[1]
    assert made[0]["email"] is not None
    assert made[0]["email"].endswith("@example.org")
    assert all(made[0].values()) or locale not in ("en_US", "de_DE")


def _fake(kind: str, locale: str) -> str | None:
    try:
        return fake(lot(kind), kind, locale)
    except NoLot:
        return None


def test_languages() -> None:
    assert is_language("en_US")
    assert is_language("de_CH")
    assert not is_language("../../etc")
    assert len(languages()) > 50
