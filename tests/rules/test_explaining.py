"""Every code is explained: a mistake by an example about which it is said, or in words."""

from __future__ import annotations

import pytest

from forgec.diagnostics.codes import CODES
from forgec.explaining import IN_WORDS, explanation, findings, mistakes


def test_every_mistake_is_shown_or_told() -> None:
    """A new code has a few lines in templates/rule/mistakes.afs, or a sentence in forgec/explaining.py."""
    assert sorted([*mistakes(), *IN_WORDS]) == list(CODES)
    assert list(mistakes()) == sorted(mistakes()) and list(IN_WORDS) == sorted(IN_WORDS)


@pytest.mark.parametrize("code", mistakes())
def test_an_example_of_a_mistake_shows_it(code: str) -> None:
    found = findings(code)
    assert code in {one.code for one in found}
    assert len({one.code for one in found}) == 1 or code == "AFS109"


def test_an_explanation_holds_the_example_and_what_is_said() -> None:
    shown = explanation("AFS214")
    assert shown.startswith("    table shelves { floor integer, room text }\n\nerror[AFS214]: ")
    assert " --> example.afs:1:7\n" in shown
    assert explanation("AFS002").startswith("Commands take files.")
