"""The policy: a small Qwen3 decoder, with its tokenizer, in a folder that Hugging Face's classes read."""

from __future__ import annotations

import math
from pathlib import Path

import safetensors.torch
import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator
from safetensors import SafetensorError
from torch import Tensor
from transformers import Qwen3Config, Qwen3ForCausalLM
from transformers.utils.logging import disable_progress_bar

from forgec.training.batches import Batch
from forgec.training.tokenizer import END, PAD, Tokenizer
from forgec.training.tokenizer import load as load_tokenizer
from forgec.writing import write_whole


class Shape(BaseModel):
    """How large a policy is. The default has 1.3 million parameters with a vocabulary of 700 tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    width: int = Field(default=192, ge=16, le=2048, description="Of a token's vector.")
    layers: int = Field(default=3, ge=1, le=48)
    heads: int = Field(default=6, ge=1, le=64, description="Of attention; they share the width.")
    kv_heads: int = Field(default=2, ge=1, le=64, description="Heads of keys and values; they divide the heads.")
    feed_forward: int = Field(default=512, ge=16, le=16384)
    context: int = Field(default=1024, ge=64, le=32768, description="Tokens of an episode, at most.")

    @model_validator(mode="after")
    def _fits(self) -> Shape:
        if self.width % (2 * self.heads):
            raise ValueError("width must be an even multiple of heads")
        if self.heads % self.kv_heads:
            raise ValueError("heads must be a multiple of kv_heads")
        return self


def new(shape: Shape, vocabulary: int, seed: int) -> Qwen3ForCausalLM:
    """A policy that knows nothing. The same seed gives the same weights."""
    config = Qwen3Config(
        vocab_size=vocabulary, hidden_size=shape.width, num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads, num_key_value_heads=shape.kv_heads, head_dim=shape.width // shape.heads,
        intermediate_size=shape.feed_forward, max_position_embeddings=shape.context, tie_word_embeddings=True,
        pad_token_id=PAD, eos_token_id=END, bos_token_id=None, attn_implementation="sdpa",
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Qwen3ForCausalLM(config)
    return model.eval()


def parameters(model: Qwen3ForCausalLM) -> int:
    """How many numbers are learned; the tied embedding counts once."""
    return sum(one.numel() for one in model.parameters())


def save(folder: Path, model: Qwen3ForCausalLM, tokenizer: Tokenizer) -> None:
    """Write `config.json`, `model.safetensors` and `tokenizer.json`. Raises `OSError`."""
    folder.mkdir(exist_ok=True)
    weights = {name: value.contiguous() for name, value in model.state_dict().items() if name != "lm_head.weight"}
    write_whole(folder / "config.json", model.config.to_json_string().encode())
    tokenizer.save(folder / "tokenizer.json")
    write_whole(folder / "model.safetensors", safetensors.torch.save(weights, {"format": "pt"}))


def load(folder: Path) -> tuple[Qwen3ForCausalLM, Tokenizer]:
    """The policy of a folder. Raises `ValueError` where there is none."""
    if not (folder / "config.json").is_file():
        raise ValueError(f"there is no policy in {folder}")
    tokenizer = load_tokenizer(folder / "tokenizer.json")
    try:
        disable_progress_bar()
        model = Qwen3ForCausalLM.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, SafetensorError) as error:
        raise ValueError(f"the policy in {folder} cannot be read: {error}") from None
    if model.config.vocab_size != tokenizer.size:
        raise ValueError(f"the policy in {folder} has {model.config.vocab_size} tokens, its tokenizer {tokenizer.size}")
    return model.eval(), tokenizer


def likely(logits: Tensor, min_p: float) -> Tensor:
    """Which tokens may be drawn, [..., vocabulary]: those at least `min_p` times as likely as the likeliest.

    A policy that has learned little leaves a little to each of its hundreds of tokens; together that is enough to spoil
    most of its messages, and nothing can be learned of it.
    """
    if min_p == 0:
        return torch.ones_like(logits, dtype=torch.bool)
    return logits >= logits.amax(-1, keepdim=True) + math.log(min_p)


def log_probs(
    model: Qwen3ForCausalLM, batch: Batch, temperature: float = 1.0, min_p: float = 0.0
) -> tuple[Tensor, Tensor]:
    """The log-probabilities of the tokens that the policy wrote, and the entropies of where they were drawn from.

    What could not be drawn counts for nothing; a token that was drawn could be. Both are [B, T], 0
    where `batch.mask` is false: the head is applied only where it counts. Padding is at the right, so that attention
    needs no mask but the causal one.
    """
    hidden = model.model(input_ids=batch.ids).last_hidden_state
    wanted = batch.mask[:, 1:]
    logits = model.lm_head(hidden[:, :-1][wanted]).float() / temperature
    ids = batch.ids[:, 1:][wanted][:, None]
    possible = likely(logits.detach(), min_p).scatter(1, ids, True)
    every = torch.log_softmax(logits.masked_fill(~possible, -torch.inf), -1)
    chosen = every.gather(1, ids)[:, 0]
    with torch.no_grad():
        entropy = torch.special.entr(every.exp()).sum(-1)
    empty = torch.zeros(batch.ids.shape, dtype=torch.float32)
    shifted = torch.zeros_like(batch.mask)
    shifted[:, 1:] = wanted
    return empty.masked_scatter(shifted, chosen), empty.masked_scatter(shifted, entropy)
