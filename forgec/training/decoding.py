"""Many episodes that draw their next words from one policy, together: one cache, one loop, no token read twice.

Each episode has a row of the cache. A turn gives the tokens that are new since its last one and draws until the end
of a message. Whoever has finished waits for its next observation, while the others go on drawing; when enough have
finished, all of them are handed out at once, and the loop waits until every episode is back or over. So what is
computed together follows from the episodes alone, not from how fast anything was: the same seeds give the same tokens.

Nothing runs in a thread: while the policy draws, nobody else has anything to do.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from time import process_time
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad
from transformers import Qwen3ForCausalLM
from transformers.cache_utils import Cache

from forgec.training.batches import Written
from forgec.training.tokenizer import AGENT, END, PAD

BLOCK = 64
"""The cache grows by so many tokens at a time."""


class OutOfContext(Exception):
    """An episode has more tokens than the policy can read."""


class Rows(Cache):  # type: ignore[misc]
    """Keys and values of many rows, each as long as it is. A step writes at places of its own in each row."""

    def __init__(self, model: Qwen3ForCausalLM, count: int) -> None:
        super().__init__(layers=[])
        config = model.config
        shape = (count, config.num_key_value_heads, BLOCK, config.head_dim)
        self._keys = [torch.zeros(shape) for _ in range(config.num_hidden_layers)]
        self._values = [torch.zeros(shape) for _ in range(config.num_hidden_layers)]
        self._rows: Tensor | None = None
        """Which rows a step is about; None for all."""
        self._places = torch.zeros((count, 1), dtype=torch.long)
        """Where in each of them it writes, [rows, tokens]."""
        self.reach = BLOCK
        """How far back a step can look at most."""

    def update(self, key_states: Tensor, value_states: Tensor, layer_idx: int, *args: Any, **kwargs: Any) -> Any:
        """Write the keys and values of a step, [rows, heads, tokens, size], and give all that it may look at."""
        found = []
        for kept, new in ((self._keys[layer_idx], key_states), (self._values[layer_idx], value_states)):
            rows = torch.arange(len(kept)) if self._rows is None else self._rows
            kept[rows[:, None], :, self._places] = new.transpose(1, 2)
            seen = kept[:, :, : self.reach]
            found.append(seen if self._rows is None else seen[self._rows])
        return tuple(found)

    def turn_to(self, rows: Tensor | None, places: Tensor) -> None:
        """Say what the next step is about, and make room for it."""
        self._rows, self._places = rows, places
        self.reach = math.ceil((int(places.max()) + 1) / BLOCK) * BLOCK
        more = self.reach - self._keys[0].shape[2]
        if more > 0:
            self._keys = [pad(one, (0, 0, 0, more)) for one in self._keys]
            self._values = [pad(one, (0, 0, 0, more)) for one in self._values]

    def keep(self, rows: Tensor) -> None:
        """Forget all rows but these, which take the first places in this order."""
        self._keys = [one[rows] for one in self._keys]
        self._values = [one[rows] for one in self._values]


@dataclass
class _Seat:
    """An episode at the table."""

    written: Written
    draws: random.Random
    read: int = 0
    """How many of its tokens are in the cache."""
    answer: asyncio.Future[list[int]] | None = None
    """Whoever waits for the end of its turn."""
    turn: list[int] = field(default_factory=list)
    """What it has drawn in this turn."""
    most: int = 0
    """How many tokens it may draw in this turn."""
    finished: bool = False
    """Whether the turn has ended, but was not handed out yet."""


class Decoder:
    """Draws the turns of a number of episodes, which all take part from the beginning until each of them leaves."""

    def __init__(
        self, model: Qwen3ForCausalLM, seats: Sequence[Hashable], seed: str, *, temperature: float = 1.0,
        longest_turn: int = 64, gather: float = 0.25,
    ) -> None:  # fmt: skip
        """`seats` name the episodes: what each draws follows from its name and the seed. A temperature of 0 takes the
        likeliest token. `gather` is the share of episodes that must have finished before their turns are handed out.
        """
        self.model, self.temperature, self.longest_turn, self.gather = model, temperature, longest_turn, gather
        self.context = int(model.config.max_position_embeddings)
        self.seconds = 0.0
        """CPU time spent here."""
        self.tokens = 0
        """How many tokens were drawn."""
        self._seats = {name: _Seat(Written(), random.Random(f"{seed}/{name}")) for name in seats}
        self._table: list[_Seat | None] = [*self._seats.values()]
        """Who has which row of the cache; None where somebody has left."""
        self._cache = Rows(model, len(self._table))
        self._logits = torch.zeros((len(self._table), int(model.config.vocab_size)))

    def written(self, name: Hashable) -> Written:
        """All that an episode read and wrote so far."""
        return self._seats[name].written

    async def turn(self, name: Hashable, given: Sequence[int]) -> tuple[list[int], bool]:
        """Read what is new, write a message, and give its tokens; the last one is the end of the message, unless the
        second value says that it was cut off.

        Raises `OutOfContext`; what is new is then not read.
        """
        seat = self._seats[name]
        length = len(seat.written.ids) + len(given) + 1
        most = min(self.longest_turn, self.context - length - 1)
        if most < 1:
            raise OutOfContext(f"{length} tokens")
        seat.written.give([*given, AGENT])
        answer = seat.answer = asyncio.get_running_loop().create_future()
        seat.turn, seat.most, seat.finished = [], most, False
        self._go_on()
        drawn = await answer
        cut = drawn[-1] != END
        if cut:
            seat.written.give([END])
        return drawn, cut

    def leave(self, name: Hashable) -> None:
        """Take part no longer."""
        self._table = [None if seat is self._seats[name] else seat for seat in self._table]
        self._go_on()

    # -- the loop ----------------------------------------------------------------------------------------------

    def _go_on(self) -> None:
        """Draw, if everybody who takes part waits for it; until enough have finished."""
        here = [seat for seat in self._table if seat is not None]
        if not here or any(seat.answer is None for seat in here):
            return
        began = process_time()
        with torch.inference_mode():
            self._compact()
            self._draw(max(1, math.ceil(self.gather * len(here))))
        self.seconds += process_time() - began
        for seat in here:
            if seat.finished:
                assert seat.answer is not None
                seat.answer.set_result(seat.turn)
                seat.answer = None

    def _compact(self) -> None:
        """Give up the rows of those who left, once they are half of all."""
        staying = [row for row, seat in enumerate(self._table) if seat is not None]
        if 2 * len(staying) > len(self._table):
            return
        rows = torch.tensor(staying)
        self._table = [self._table[row] for row in staying]
        self._cache.keep(rows)
        self._logits = self._logits[rows]

    def _draw(self, enough: int) -> None:
        while True:
            drawing = {row: seat for row, seat in enumerate(self._table) if seat is not None and not seat.finished}
            new = {row: seat.written.ids[seat.read :] for row, seat in drawing.items()}
            self._read({row: ids for row, ids in new.items() if len(ids) > 1})
            self._read({row: ids for row, ids in new.items() if len(ids) == 1})
            self._sample(drawing)
            if sum(seat is not None and seat.finished for seat in self._table) >= enough:
                return

    def _read(self, new: Mapping[int, Sequence[int]]) -> None:
        """Bring new tokens of rows into the cache, and what comes next into the logits."""
        if not new:
            return
        widest = max(map(len, new.values()))
        # of single tokens all rows take part, so that the cache is not copied; what others write is written over later
        rows = list(new) if widest > 1 else list(range(len(self._table)))
        starts = [0 if (seat := self._table[row]) is None else seat.read for row in rows]
        ids = torch.full((len(rows), widest), PAD)
        for place, row in enumerate(rows):
            if row in new:
                ids[place, : len(new[row])] = torch.tensor(new[row])
        places = torch.tensor(starts)[:, None] + torch.arange(widest)
        self._cache.turn_to(None if widest == 1 else torch.tensor(rows), places)
        seen = torch.arange(self._cache.reach)[None, None] <= places[:, :, None]
        hidden = self.model.model(
            input_ids=ids, attention_mask=seen[:, None], position_ids=places, cache=self._cache, use_cache=True
        ).last_hidden_state
        here = [place for place, row in enumerate(rows) if row in new]
        last = [len(new[rows[place]]) - 1 for place in here]
        self._logits[[rows[place] for place in here]] = self.model.lm_head(hidden[here, last])
        for row, ids_ in new.items():
            seat = self._table[row]
            assert seat is not None
            seat.read += len(ids_)

    def _sample(self, drawing: Mapping[int, _Seat]) -> None:
        """Draw a token for each of these rows."""
        logits = self._logits[list(drawing)].float()
        logs = torch.log_softmax(logits / (self.temperature or 1), -1)
        if self.temperature == 0:
            tokens = logits.argmax(-1)
        else:
            sums = logs.double().exp().cumsum(-1)
            drawn = torch.tensor([[seat.draws.random()] for seat in drawing.values()], dtype=torch.float64)
            tokens = torch.searchsorted(sums, drawn * sums[:, -1:], right=True)[:, 0].clamp(max=logs.shape[1] - 1)
        chosen = logs.gather(1, tokens[:, None])[:, 0]
        for seat, token, log in zip(drawing.values(), tokens.tolist(), chosen.tolist(), strict=True):
            seat.written.draw(token, log)
            seat.turn.append(token)
            seat.finished = token == END or len(seat.turn) >= seat.most
        self.tokens += len(drawing)
