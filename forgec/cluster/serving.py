"""A trained model in Hugging Face's form, as an endpoint that speaks OpenAI's chat completions: to look at, one answer
at a time. Where many are wanted, vLLM serves the same folder.
"""

from __future__ import annotations

import threading
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from forgec.cluster import chat
from forgec.cluster.checkpoints import Saved
from forgec.dialogue import AssistantMessage, Message, ToolCall
from forgec.training.serving import Refused, Request, requested


class ChatAnswerer:
    """Answers requests one after the other, in the form that the model was trained to read and write."""

    def __init__(self, saved: Saved, *, thinking: bool, longest_turn: int) -> None:
        """Raises `ValueError` for folders without a model and its tokenizer."""
        folder = saved.model
        try:
            self.tokenizer: Any = AutoTokenizer.from_pretrained(str(saved.tokenizer), local_files_only=True)
            self.model: Any = AutoModelForCausalLM.from_pretrained(str(folder), local_files_only=True).eval()
        except (OSError, ValueError) as error:
            raise ValueError(f"there is no model in {folder}: {error}") from None
        self.thinking, self.longest_turn = thinking, longest_turn
        self.end = self.tokenizer.get_vocab().get(chat.END)
        self.longest = getattr(self.model.config, "max_position_embeddings", None)
        if self.end is None or self.longest is None:
            raise ValueError(f"the model in {folder} has no dialogues of Qwen3's form")
        self._one = threading.Lock()

    def complete(self, content: Any) -> dict[str, Any]:
        """A chat completion for the body of a request. Raises `Refused`."""
        request = requested(content)
        text = chat.prompt(_messages(request), request.tools, thinking=self.thinking)
        read = self.tokenizer(text, return_tensors="pt", add_special_tokens=False).input_ids
        room = self.longest - read.shape[1]
        most = request.max_completion_tokens or request.max_tokens or self.longest_turn
        if room < 1:
            raise Refused(f"context_length_exceeded: the maximum context length is {self.longest} tokens")
        with self._one:
            temperature = 1.0 if request.temperature is None else request.temperature
            wrote = self._drawn(read, min(most, room), temperature, request.seed)
        said = chat.read(self.tokenizer.decode(wrote), thinking=self.thinking)
        return _completion(said, int(read.shape[1]), len(wrote), cut=not wrote or wrote[-1] != self.end)

    def _drawn(self, read: torch.Tensor, most: int, temperature: float, seed: int) -> list[int]:
        """The ids that the model writes after those of shape [1, T]."""
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            given = {"do_sample": True, "temperature": temperature} if temperature > 0 else {"do_sample": False}
            ids = self.model.generate(
                read, attention_mask=torch.ones_like(read), max_new_tokens=most, eos_token_id=self.end,
                pad_token_id=self.end, top_k=None, top_p=None, **given,
            )  # fmt: skip
        found: list[int] = ids[0, read.shape[1] :].tolist()
        return found


def _messages(request: Request) -> list[Message]:
    made = []
    for one in request.messages:
        if one.role not in ("system", "user", "assistant", "tool"):
            raise Refused(f"messages: there is no role `{one.role}`")
        calls = tuple(
            ToolCall.of(call.function.name, call.function.arguments, call.id) for call in one.tool_calls or ()
        )
        made.append(
            Message.model_validate(
                {
                    "role": one.role,
                    "content": one.content or "",
                    "reasoning": one.reasoning_content,
                    "tool_calls": calls,
                    "tool_call_id": one.tool_call_id,
                }
            )
        )
    return made


def _completion(said: AssistantMessage, read: int, wrote: int, *, cut: bool) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": said.text}
    if said.reasoning is not None:
        message["reasoning_content"] = said.reasoning
    if said.calls:
        calls = [call.model_copy(update={"id": f"call_{number}"}) for number, call in enumerate(said.calls)]
        message["tool_calls"] = [call.model_dump() for call in calls]
    finish = "length" if cut else "tool_calls" if said.calls else "stop"
    return {
        "id": "chatcmpl-forgec",
        "object": "chat.completion",
        "created": 0,
        "model": "forgec",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote},
    }
