"""Rows as a dataset of NeMo-RL, named in a recipe by its dotted path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from datasets import Dataset
from nemo_rl.data.datasets.raw_dataset import RawDataset
from nemo_rl.data.interfaces import DatumSpec

from forgec.cluster import rows


class ForgecDataset(RawDataset):  # type: ignore[misc]
    """The rows of a file, in its order."""

    def __init__(self, data_path: str, **_: Any) -> None:
        self.task_name = "forgec"
        lines = Path(data_path).read_text(encoding="utf-8").splitlines()
        self.dataset = Dataset.from_dict({"row": lines, "task_name": [self.task_name] * len(lines)})
        self.val_dataset = None

    def set_processor(self) -> None:
        self.processor = datum


def datum(content: dict[str, Any], spec: Any, tokenizer: Any, max_seq_length: int | None, idx: int) -> DatumSpec:
    """A row as NeMo-RL takes it: the prompt as one message, of ids of shape [T].

    A prompt that is too long is cut short, and masked.
    """
    row = rows.read(content["row"])
    ids = tokenizer(row.prompt, return_tensors="pt", add_special_tokens=False)["input_ids"][0]
    fits = max_seq_length is None or len(ids) < max_seq_length
    ids = ids if fits else ids[:4]
    return {
        "message_log": [{"role": "user", "content": row.prompt, "token_ids": ids}],
        "length": len(ids),
        "extra_env_info": rows.metadata(row),
        "loss_multiplier": 1.0 if fits else 0.0,
        "idx": idx,
        "task_name": content["task_name"],
    }
