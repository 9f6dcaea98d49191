"""What a run on a cluster has saved: found, converted, and served."""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from forgec.cluster.checkpoints import CheckpointError, Saved, convert, steps
from forgec.cluster.serving import ChatAnswerer
from forgec.training.serving import Refused, server


def saved(run: Path, step: int, inside: str, *names: str) -> Path:
    folder = run / "checkpoints" / f"step_{step}" / "policy" / "weights" / inside
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).touch()
    return folder


def test_what_was_saved_consolidated_is_taken_as_it_is(tmp_path: Path) -> None:
    saved(tmp_path, 9, "model/consolidated", "config.json", "model.safetensors")
    last = saved(tmp_path, 10, "model/consolidated", "config.json", "model.safetensors")
    assert steps(tmp_path) == [9, 10]
    tokenizer = tmp_path / "checkpoints" / "step_10" / "policy" / "tokenizer"
    assert convert(tmp_path, tmp_path) == Saved(last, tokenizer)  # which NeMo-RL saves apart
    (last / "tokenizer_config.json").touch()
    assert convert(tmp_path, tmp_path) == Saved(last, last)


def test_what_was_saved_in_pieces_is_converted_once_by_nemo_rl(tmp_path: Path) -> None:
    saved(tmp_path, 3, "model", "shard.distcp")
    asked: list[Sequence[str]] = []
    killed = tmp_path / "checkpoints" / "step_3" / "hf.part"
    killed.mkdir()
    (killed / "half.safetensors").touch()

    def call(command: Sequence[str], folder: Path) -> int:
        asked.append(command)
        target = Path(command[command.index("--hf-ckpt-path") + 1])
        target.mkdir()  # which is not there
        (target / "config.json").touch()
        return 0

    checkout = tmp_path / "nemo-rl"
    found = convert(tmp_path, checkout, 3, call=call).model
    assert found == convert(tmp_path, checkout, call=call).model == tmp_path / "checkpoints" / "step_3" / "hf"
    assert len(asked) == 1
    assert [one.name for one in found.iterdir()] == ["config.json"] and not killed.exists()
    assert asked[0][asked[0].index("--config") + 1] == str(tmp_path / "checkpoints" / "step_3" / "config.yaml")


def test_what_cannot_be_converted_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="has saved nothing"):
        convert(tmp_path, tmp_path)
    saved(tmp_path, 3, "model", "shard.distcp")
    with pytest.raises(CheckpointError, match="has not saved step 4; there are 3"):
        convert(tmp_path, tmp_path, 4)
    with pytest.raises(CheckpointError, match=r"convert_dcp_to_hf.py has failed"):
        convert(tmp_path, tmp_path, call=lambda command, folder: 1)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    """A model that knows nothing, in Hugging Face's form, and its tokenizer, as NeMo-RL saves them."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: number for number, letter in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(one, special=True) for one in ("<|im_start|>", "<|im_end|>")])
    folder, apart = tmp_path_factory.mktemp("consolidated"), tmp_path_factory.mktemp("tokenizer")
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>").save_pretrained(apart)
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=258, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1, head_dim=16,
        intermediate_size=32, max_position_embeddings=400, tie_word_embeddings=True,
    )  # fmt: skip
    Qwen3ForCausalLM(config).save_pretrained(folder)
    return Saved(folder, apart)


def asked(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"messages": list(messages), "max_tokens": 12, **more}


def test_a_model_answers_over_http_and_the_same_seed_gives_the_same(model: Saved) -> None:
    answerer = ChatAnswerer(model, thinking=False, longest_turn=8)
    endpoint = server(answerer, "127.0.0.1", 0)
    threading.Thread(target=endpoint.serve_forever, daemon=True).start()
    body = json.dumps(asked({"role": "user", "content": "Hi"}, seed=4)).encode()
    url = f"http://127.0.0.1:{endpoint.server_address[1]}/v1/chat/completions"
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    answers = []
    for _ in range(2):
        with urllib.request.urlopen(request) as answer:
            answers.append(json.loads(answer.read()))
    endpoint.shutdown()
    endpoint.server_close()
    assert answers[0] == answers[1]
    assert answers[0]["choices"][0]["finish_reason"] == "length"
    assert answers[0]["usage"]["completion_tokens"] == 12


def test_what_was_thought_is_read_again(model: Saved) -> None:
    """The prompt has as many tokens more as the thoughts of the turn before."""
    answerer = ChatAnswerer(model, thinking=True, longest_turn=8)
    first, second = {"role": "user", "content": "Hi"}, {"role": "user", "content": "And?"}
    said = {"role": "assistant", "content": "Yes.", "reasoning_content": "twelve chars"}
    without = answerer.complete(asked(first, {**said, "reasoning_content": None}, second))
    told = answerer.complete(asked(first, said, second))
    lengths = [one["usage"]["prompt_tokens"] for one in (without, told)]
    assert lengths[1] - lengths[0] == len("<think>\ntwelve chars\n</think>\n\n")
    assert "reasoning_content" in told["choices"][0]["message"]


def test_what_cannot_be_answered_is_refused(model: Saved, tmp_path: Path) -> None:
    answerer = ChatAnswerer(model, thinking=False, longest_turn=8)
    for wrong, says in (
        (asked(), "messages"),
        (asked({"role": "user", "content": "x" * 500}), "context_length_exceeded"),
        (asked({"role": "user", "content": "Hi"}, stream=True), "gives it whole"),
        (asked({"role": "oracle", "content": "Hi"}), "no role `oracle`"),
    ):
        with pytest.raises(Refused, match=says):
            answerer.complete(wrong)
    with pytest.raises(ValueError, match="there is no model in"):
        ChatAnswerer(Saved(tmp_path, tmp_path), thinking=False, longest_turn=8)
