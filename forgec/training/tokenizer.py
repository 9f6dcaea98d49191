"""A compact tokenizer, made of the texts that a policy will read: a few hundred tokens instead of a hundred thousand.

Digits and punctuation are tokens of their own, words are byte-pair encoded together with the space behind them, and
names of tools, parameters and values of enums are whole. So a value has the same tokens wherever it stands, but for a
space behind its last letter, which is what a small model needs to copy it. Bytes are the last resort: every text can be
encoded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from tokenizers import AddedToken, Regex
from tokenizers import Tokenizer as Encoding
from tokenizers.decoders import ByteLevel as Bytes
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel, Split
from tokenizers.pre_tokenizers import Sequence as InOrder
from tokenizers.trainers import BpeTrainer

from forgec.writing import write_whole

SCAFFOLD = (
    "<|pad|>", "<|end|>", "<|tools|>", "<|user|>", "<|agent|>", "<|call|>", "<|set|>", "<|result|>", "<|row|>",
    "<|open|>", "<|close|>",
)  # fmt: skip
"""What the template is made of. No text has these tokens, whatever it says."""
PAD, END, TOOLS, USER, AGENT, CALL, SET, RESULT, ROW, OPEN, CLOSE = range(len(SCAFFOLD))
LEAST_SIZE = 300
"""Scaffold and bytes are 267 tokens."""


class Tokenizer:
    """Text to token ids and back."""

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding
        self._encoding.encode_special_tokens = True  # text that looks like a scaffold is text
        self.names = {
            token.content: number
            for number, token in encoding.get_added_tokens_decoder().items()
            if number >= len(SCAFFOLD)
        }
        """The names that are whole, with their ids."""

    @property
    def size(self) -> int:
        """How many tokens there are."""
        return self._encoding.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        """The ids of a text; no scaffold is among them."""
        return self._encoding.encode(text).ids

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids; scaffolds have none, and bytes that are no UTF-8 are replaced."""
        return self._encoding.decode([number for number in ids if number >= len(SCAFFOLD)])

    def json(self) -> str:
        """The tokenizer as Hugging Face's `tokenizer.json` has it."""
        return self._encoding.to_str(pretty=True)

    def save(self, path: Path) -> None:
        """Write `tokenizer.json`."""
        write_whole(path, (self.json() + "\n").encode())


def train(texts: Iterable[str], names: Iterable[str], size: int = 700) -> Tokenizer:
    """A tokenizer of at most `size` tokens beside the names, made of texts in their order.

    The same texts, names and size give the same tokenizer. Raises `ValueError` for a size that is too small.
    """
    if size < LEAST_SIZE:
        raise ValueError(f"a tokenizer has at least {LEAST_SIZE} tokens, not {size}")
    encoding = Encoding(BPE())
    apart = Split(Regex(r"[\p{L}\p{M}]+ ?|[^\p{L}\p{M}]"), "isolated")
    encoding.pre_tokenizer = InOrder([apart, ByteLevel(add_prefix_space=False, use_regex=False)])
    encoding.decoder = Bytes()
    trainer = BpeTrainer(
        vocab_size=size, show_progress=False, special_tokens=list(SCAFFOLD),
        initial_alphabet=sorted(ByteLevel.alphabet()),
    )  # fmt: skip
    encoding.train_from_iterator(texts, trainer)
    whole = [name for name in sorted(set(names)) if name]
    encoding.add_tokens([AddedToken(name, single_word=True, normalized=False) for name in whole])
    return Tokenizer(encoding)


def load(path: Path) -> Tokenizer:
    """The tokenizer of a `tokenizer.json`. Raises `ValueError` where it is none of ours."""
    try:
        encoding = Encoding.from_str(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except Exception as error:  # which is what the library raises
        raise ValueError(f"{path} is no tokenizer: {error}") from None
    if [encoding.id_to_token(number) for number in range(len(SCAFFOLD))] != list(SCAFFOLD):
        raise ValueError(f"{path} is a tokenizer without the tokens of the template")
    return Tokenizer(encoding)
