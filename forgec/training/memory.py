"""What a policy has read, and its forward pass over what is new: of Qwen3's layers, as lean as decoding wants it.

The training computes the same with Hugging Face's model. Here keys and values of all rows are kept, projections that
read the same are one, and tokens of rows that read much and little stand side by side without padding between them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import linear, pad, rms_norm, scaled_dot_product_attention, silu
from transformers import Qwen3ForCausalLM

BLOCK = 64
"""The memory grows by so many tokens at a time."""


class New(NamedTuple):
    """What a row is to read next."""

    row: int
    place: int
    """Where its first token stands."""
    ids: Sequence[int]


class _Layer(NamedTuple):
    before: Tensor
    """The weights of the norm in front of the attention, [width]."""
    heads: Tensor
    """Queries, keys and values in one, [(heads + 2 kv_heads) size, width]."""
    scale: Tensor
    """The weights of the norms of queries, scaled for the attention, and keys, [heads + kv_heads, size]."""
    out: Tensor
    between: Tensor
    gate_up: Tensor
    down: Tensor


class Memory:
    """Keys and values of many rows, each as long as it is. It knows the policy as it was when it was made."""

    def __init__(self, model: Qwen3ForCausalLM, rows: int) -> None:
        """`rows` is how many there are; all of them are empty."""
        config = model.config
        self._heads, self._kv_heads, self._size = (
            config.num_attention_heads, config.num_key_value_heads, config.head_dim
        )  # fmt: skip
        self._eps = float(config.rms_norm_eps)
        with torch.no_grad():
            self._layers = [_layer(one, self._heads, self._kv_heads, self._size) for one in model.model.layers]
            self._embedding, self._head = model.model.embed_tokens.weight, model.lm_head.weight
            self._last = model.model.norm.weight
            places = torch.arange(config.max_position_embeddings)[None]
            turns = model.model.rotary_emb(torch.zeros(1), places)
        self._cos, self._sin = (one[0][:, None] for one in turns)
        shape = (rows, self._kv_heads, BLOCK, self._size)
        self._keys = [torch.zeros(shape) for _ in self._layers]
        self._values = [torch.zeros(shape) for _ in self._layers]

    def keep(self, rows: Sequence[int]) -> None:
        """Forget all rows but these, which take the first places in this order."""
        chosen = torch.tensor(rows)
        self._keys = [one[chosen] for one in self._keys]
        self._values = [one[chosen] for one in self._values]

    @torch.inference_mode()
    def read(self, new: Sequence[New]) -> Tensor:
        """Read what is new in some rows, at least a token in each, and give the logits of what comes next,
        [rows that read, vocabulary]."""
        widths = [len(one.ids) for one in new]
        where = _Where.of(new, len(self._keys[0]))
        self._reach(int(where.places.max()) + 1)
        x = self._embedding[torch.tensor([token for one in new for token in one.ids])]
        cos, sin = self._cos[where.places], self._sin[where.places]
        ends = torch.tensor(widths).cumsum(0) - 1
        bias = where.bias(self._keys[0].shape[2])
        for number, layer in enumerate(self._layers):
            found = self._attend(
                number, layer, rms_norm(x, x.shape[-1:], layer.before, self._eps), cos, sin, where, bias
            )
            if number == len(self._layers) - 1:  # of the last layer nobody reads but what comes next
                found, x = found[ends], x[ends]
            x = x + linear(found, layer.out)
            gate, up = linear(rms_norm(x, x.shape[-1:], layer.between, self._eps), layer.gate_up).chunk(2, -1)
            x = x + linear(silu(gate) * up, layer.down)
        return linear(rms_norm(x, x.shape[-1:], self._last, self._eps), self._head)

    def _attend(
        self, number: int, layer: _Layer, x: Tensor, cos: Tensor, sin: Tensor, where: _Where, bias: Tensor
    ) -> Tensor:
        """What the heads find for each token, [tokens, heads size]; its keys and values are remembered."""
        apart = linear(x, layer.heads).view(len(x), -1, self._size)
        values = apart[:, self._heads + self._kv_heads :]
        turning = rms_norm(apart[:, : self._heads + self._kv_heads], (self._size,), None, self._eps) * layer.scale
        first, second = turning.chunk(2, -1)
        turning = turning * cos + torch.cat((-second, first), -1) * sin
        self._keys[number][where.rows, :, where.places] = turning[:, self._heads :]
        self._values[number][where.rows, :, where.places] = values
        reach = bias.shape[-1]
        keys, kept = (where.seen(one)[:, :, :reach] for one in (self._keys[number], self._values[number]))
        queries = where.padded(turning[:, : self._heads])
        count, width = queries.shape[:2]
        if width > 1:
            found = scaled_dot_product_attention(
                queries.transpose(1, 2), keys, kept, attn_mask=bias, scale=1.0, enable_gqa=True
            ).transpose(1, 2)
        else:  # of a single token the products are so small that the parts are faster than the whole
            grouped = queries.view(count, self._kv_heads, -1, self._size)
            found = torch.softmax(grouped @ keys.transpose(2, 3) + bias, -1) @ kept
        return where.flat(found.reshape(count, width, -1))

    def _reach(self, tokens: int) -> None:
        """Make room for so many tokens in a row."""
        more = math.ceil(tokens / BLOCK) * BLOCK - self._keys[0].shape[2]
        if more > 0:
            self._keys = [pad(one, (0, 0, 0, more)) for one in self._keys]
            self._values = [pad(one, (0, 0, 0, more)) for one in self._values]


class _Where(NamedTuple):
    """Where the tokens of a step stand: flat, one behind the other, and padded, each row's in a line of its own."""

    rows: Tensor
    """The row of each token, [tokens]."""
    places: Tensor
    """Its place in that row, [tokens]."""
    lines: Tensor
    """Its line, [tokens]."""
    columns: Tensor
    """Its place in that line, [tokens]."""
    chosen: Tensor | None
    """The rows that the lines are of; None: all rows, in order."""
    shape: tuple[int, int]
    """How many lines there are, and how long they are."""

    @staticmethod
    def of(new: Sequence[New], all_rows: int) -> _Where:
        widest = max(len(one.ids) for one in new)
        # where most rows take part, looking at all of them is cheaper than copying theirs
        every = widest == 1 and 2 * len(new) > all_rows
        rows = torch.tensor([one.row for one in new for _ in one.ids])
        places = torch.tensor([one.place + column for one in new for column in range(len(one.ids))])
        lines = rows if every else torch.tensor([line for line, one in enumerate(new) for _ in one.ids])
        columns = torch.tensor([column for one in new for column in range(len(one.ids))])
        chosen = None if every else torch.tensor([one.row for one in new])
        return _Where(rows, places, lines, columns, chosen, (all_rows if every else len(new), widest))

    def seen(self, memory: Tensor) -> Tensor:
        """The part of a memory that the lines look at."""
        return memory if self.chosen is None else memory[self.chosen]

    def bias(self, reach: int) -> Tensor:
        """Minus infinity for what stands behind a token, [lines, 1, columns, reach]; padding sees the beginning."""
        places = torch.zeros(self.shape, dtype=torch.long)
        places[self.lines, self.columns] = self.places
        hidden = torch.arange(reach) > places[:, :, None]
        return torch.zeros(hidden.shape).masked_fill(hidden, -torch.inf)[:, None]

    def padded(self, flat: Tensor) -> Tensor:
        """[tokens, ...] as [lines, columns, ...]."""
        found = torch.zeros((*self.shape, *flat.shape[1:]))
        found[self.lines, self.columns] = flat
        return found

    def flat(self, padded: Tensor) -> Tensor:
        """[lines, columns, ...] as [tokens, ...]."""
        return padded[self.lines, self.columns]


def _layer(layer: Any, heads: int, kv_heads: int, size: int) -> _Layer:
    attention, mlp = layer.self_attn, layer.mlp
    projections = (attention.q_proj, attention.k_proj, attention.v_proj)
    scale = [attention.q_norm.weight / math.sqrt(size)] * heads + [attention.k_norm.weight] * kv_heads
    return _Layer(
        layer.input_layernorm.weight, torch.cat([one.weight for one in projections]), torch.stack(scale),
        attention.o_proj.weight, layer.post_attention_layernorm.weight,
        torch.cat([mlp.gate_proj.weight, mlp.up_proj.weight]), mlp.down_proj.weight,
    )  # fmt: skip
