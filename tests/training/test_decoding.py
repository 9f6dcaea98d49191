from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import torch

from forgec.training import policy, tokenizer
from forgec.training.batches import Written, batch, portions
from forgec.training.decoding import Decoder, OutOfContext
from forgec.training.policy import Shape
from forgec.training.tokenizer import AGENT, END

SHAPE = Shape(width=32, layers=2, heads=2, kv_heads=1, feed_forward=32, context=160)
MODEL = policy.new(SHAPE, 300, seed=1)
NAMES = [f"episode {number}" for number in range(7)]


def played(
    seed: str = "s",
    *,
    names: list[str] = NAMES,
    gather: float = 0.25,
    slow: bool = False,
    temperature: float = 1.0,
    min_p: float = 0.0,
) -> dict[str, Written]:
    """Episodes of different numbers of turns, with observations of different lengths."""

    async def episode(decoder: Decoder, name: str) -> None:
        number = NAMES.index(name)
        for turn in range(2 + number % 3):
            before = list(decoder.written(name).ids)
            drawn, cut = await decoder.turn(name, range(20 + turn, 24 + turn + 3 * number))
            ids = decoder.written(name).ids
            assert ids[: len(before)] == before, "a prompt is no prefix of the next"
            assert ids[len(before) + 4 + 3 * number] == AGENT and (ids[-1] == END) and (cut or drawn[-1] == END)
            if slow:
                await asyncio.sleep(0.001 * (number % 3))
        decoder.leave(name)

    async def all_of_them() -> dict[str, Written]:
        decoder = Decoder(MODEL, names, seed, longest_turn=6, gather=gather, temperature=temperature, min_p=min_p)
        await asyncio.gather(*(episode(decoder, name) for name in names))
        return {name: decoder.written(name) for name in names}

    return asyncio.run(all_of_them())


@pytest.mark.parametrize(("temperature", "min_p"), [(1.0, 0.0), (0.7, 0.0), (1.0, 0.5), (0.7, 0.5)])
def test_what_was_drawn_is_as_likely_to_the_training_as_to_the_sampling(temperature: float, min_p: float) -> None:
    episodes = [*played(temperature=temperature, min_p=min_p).values()]
    together = batch(episodes)
    logs, entropy = policy.log_probs(MODEL, together, temperature, min_p)
    torch.testing.assert_close(logs.detach(), together.logs, atol=1e-5, rtol=0)
    assert (entropy[together.mask] >= 0).all() and entropy.sum() > 0 and (logs[~together.mask] == 0).all()


def test_the_same_seed_draws_the_same_however_fast_the_others_are() -> None:
    assert played() == played(slow=True)
    assert played() != played("another")


def test_what_an_episode_draws_is_nearly_its_own_affair() -> None:
    alone = played(names=NAMES[:1])[NAMES[0]]
    together = played(gather=1.0)[NAMES[0]]
    assert alone.ids == together.ids
    torch.testing.assert_close(torch.tensor(alone.logs), torch.tensor(together.logs), atol=1e-5, rtol=0)


def test_nothing_is_drawn_that_is_much_less_likely_than_the_likeliest() -> None:
    logits = torch.tensor([[0.0, -0.6, -0.8, -9.0]])
    assert policy.likely(logits, 0.5).tolist() == [[True, True, False, False]]
    assert policy.likely(logits, 0.0).all()
    assert {token for one in played(min_p=0.99).values() for token in one.ids} < {
        token for one in played().values() for token in one.ids
    }


def test_a_temperature_of_zero_takes_the_likeliest() -> None:
    assert played("one", temperature=0)[NAMES[3]].ids == played("another", temperature=0)[NAMES[3]].ids


def test_an_episode_that_is_too_long_is_told_so_and_keeps_nothing_of_it() -> None:
    async def play() -> Written:
        decoder = Decoder(MODEL, ["a", "b"], "s", longest_turn=6)
        decoder.leave("b")
        await decoder.turn("a", range(20, 60))
        before = list(decoder.written("a").ids)
        with pytest.raises(OutOfContext):
            await decoder.turn("a", [20] * 160)
        assert decoder.written("a").ids == before
        await decoder.turn("a", [20])
        return decoder.written("a")

    written = asyncio.run(play())
    assert written.drawn <= 12 and len(written.ids) == len(written.mask) == len(written.logs)


def test_a_policy_is_read_back_as_it_was(tmp_path: Path) -> None:
    made = tokenizer.train(["a text"], [], 300)
    model = policy.new(SHAPE, made.size, seed=2)
    policy.save(tmp_path / "policy", model, made)
    again, read = policy.load(tmp_path / "policy")
    assert read.json() == made.json()
    assert all(torch.equal(one, other) for one, other in zip(model.parameters(), again.parameters(), strict=True))
    with pytest.raises(ValueError, match="there is no policy"):
        policy.load(tmp_path)


def test_portions_hold_all_episodes_once_and_are_no_larger_than_allowed() -> None:
    episodes = [Written([1] * length, [False] * length, [0.0] * length) for length in (9, 3, 5, 9, 2, 30)]
    groups = list(portions(episodes, 20))
    assert sorted(place for group in groups for place in group) == list(range(6))
    assert all(
        len(group) * max(len(episodes[place].ids) for place in group) <= 20 for group in groups if len(group) > 1
    )
