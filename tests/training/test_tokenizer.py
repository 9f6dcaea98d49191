from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgec.training import tokenizer
from forgec.training.tokenizer import SCAFFOLD, Tokenizer

TEXTS = ["The loan L0006 is due.", "joan.moreno@example.org owes 12.50", "Could you please tell me your address?"] * 5
NAMES = ["find_member", "member_id", "email"]
MADE = tokenizer.train(TEXTS, NAMES, 300)


def pieces(text: str, made: Tokenizer = MADE) -> list[str]:
    return [made.decode([one]) for one in made.encode(text)]


def test_digits_and_punctuation_stand_alone_and_names_are_whole() -> None:
    assert pieces("member_id 120.5") == ["member_id", " ", "1", "2", "0", ".", "5"]
    large = tokenizer.train(TEXTS, NAMES, 500)
    assert pieces("tell me your address?", large) == ["tell ", "me ", "your ", "address", "?"]
    assert pieces("xmember_id")[-1] != "member_id"


def test_a_value_has_the_same_tokens_wherever_it_stands() -> None:
    value = MADE.encode("joan.moreno@example.org")
    for before, after in ((" ", ";"), ('"', '"'), ("(", ")"), (": ", ";")):
        ids = MADE.encode(before + "joan.moreno@example.org" + after)
        assert ids[len(MADE.encode(before)) :][: len(value)] == value


@given(st.text())
def test_every_text_comes_back_and_none_has_a_scaffold(text: str) -> None:
    ids = MADE.encode(text)
    assert MADE.decode(ids) == text
    assert all(one >= len(SCAFFOLD) for one in ids)


@pytest.mark.parametrize("scaffold", SCAFFOLD)
def test_text_that_looks_like_a_scaffold_is_text(scaffold: str) -> None:
    assert MADE.decode(MADE.encode(f"a {scaffold} b")) == f"a {scaffold} b"


def test_the_same_texts_give_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    program = f"from forgec.training import tokenizer; print(tokenizer.train({TEXTS!r}, {NAMES!r}, 300).json())"
    for seed in ("1", "2"):
        found = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        )
        assert found.stdout == MADE.json() + "\n"


def test_a_tokenizer_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    MADE.save(path)
    again = tokenizer.load(path)
    assert again.names == MADE.names and again.size == MADE.size
    assert again.encode("member_id <|end|> 12") == MADE.encode("member_id <|end|> 12")
    path.write_text('{"version": "1.0"}')
    with pytest.raises(ValueError, match="is no tokenizer"):
        tokenizer.load(path)


def test_a_tokenizer_needs_room_for_all_bytes() -> None:
    with pytest.raises(ValueError, match="at least 300"):
        tokenizer.train(TEXTS, NAMES, 200)
