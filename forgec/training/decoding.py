"""Many episodes that draw their next words from one policy, together: one memory, one loop, no token read twice.

Each episode has a row of the memory. A turn gives the tokens that are new since its last one and draws until the end
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

import torch
from transformers import Qwen3ForCausalLM

from forgec.training.batches import Written
from forgec.training.memory import Memory, New
from forgec.training.policy import likely
from forgec.training.tokenizer import AGENT, END


class OutOfContext(Exception):
    """An episode has more tokens than the policy can read."""


@dataclass
class _Seat:
    """An episode at the table."""

    written: Written
    draws: random.Random
    read: int = 0
    """How many of its tokens are in the memory."""
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
        min_p: float = 0.0, longest_turn: int = 64, gather: float = 0.25,
    ) -> None:  # fmt: skip
        """`seats` name the episodes: what each draws follows from its name and the seed. A temperature of 0 takes the
        likeliest token; none is drawn that is less than `min_p` times as likely as that one. `gather` is the share
        of episodes that must have finished before their turns are handed out.
        """
        self.model, self.temperature, self.min_p = model, temperature, min_p
        self.longest_turn, self.gather = longest_turn, gather
        self.context = int(model.config.max_position_embeddings)
        self.seconds = 0.0
        """CPU time spent here."""
        self.tokens = 0
        """How many tokens were drawn."""
        self._seats = {name: _Seat(Written(), random.Random(f"{seed}/{name}")) for name in seats}
        self._table: list[_Seat | None] = [*self._seats.values()]
        """Who has which row of the memory; None where somebody has left."""
        self._memory = Memory(model, len(self._table))
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
        self._table = [self._table[row] for row in staying]
        self._memory.keep(staying)
        self._logits = self._logits[torch.tensor(staying)]

    def _draw(self, enough: int) -> None:
        while True:
            drawing = {row: seat for row, seat in enumerate(self._table) if seat is not None and not seat.finished}
            self._read({row: seat for row, seat in drawing.items() if len(seat.written.ids) - seat.read > 1})
            self._read({row: seat for row, seat in drawing.items() if len(seat.written.ids) - seat.read == 1})
            self._sample(drawing)
            if sum(seat is not None and seat.finished for seat in self._table) >= enough:
                return

    def _read(self, seats: Mapping[int, _Seat]) -> None:
        """Read what is new in these rows, and what comes next into the logits."""
        if not seats:
            return
        new = [New(row, seat.read, seat.written.ids[seat.read :]) for row, seat in seats.items()]
        self._logits[list(seats)] = self._memory.read(new)
        for seat in seats.values():
            seat.read = len(seat.written.ids)

    def _sample(self, drawing: Mapping[int, _Seat]) -> None:
        """Draw a token for each of these rows."""
        logits = self._logits[list(drawing)].float()
        logits = logits / (self.temperature or 1)
        logs = torch.log_softmax(logits.masked_fill(~likely(logits, self.min_p), -torch.inf), -1)
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
