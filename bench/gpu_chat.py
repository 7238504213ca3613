# ruff: noqa: SLF001 - a benchmark looks inside of what it measures
"""Replies and choices on a GPU against plain generate: python bench/gpu_chat.py.

Random weights of 0.36, 1.7 and 7 B in bf16, sampled at temperature 1, every reply of 64 tokens (no
token ends it), prompts of about 60 tokens. The two ways take turns; tokens a second, medians.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import torch
import transformers

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from goffman.models.base import ChatRequest, Identity, PromptParts, Sampling
from goffman.models.chat_local import LocalChat
from tiny_chat import tokenizer_of

SIZES = {
    "0.36B": (960, 32, 15, 5, 2560),
    "1.7B": (2048, 24, 32, 32, 8192),
    "7B": (4096, 32, 32, 8, 11008),
}
"""Width, layers, heads, key and value heads, inner width."""

VOCABULARY = 49_152
NEW = 64


def make(size: str, dtype: torch.dtype) -> Any:
    width, layers, heads, shared, inner = SIZES[size]
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=shared,
        intermediate_size=inner,
        max_position_embeddings=2048,
        tie_word_embeddings=size != "7B",
        eos_token_id=VOCABULARY - 1,
    )
    torch.manual_seed(0)
    with torch.device("cuda"):
        torch.set_default_dtype(dtype)
        model = transformers.LlamaForCausalLM(config).eval()
        torch.set_default_dtype(torch.float32)
    return model


def chat_of(model: Any, precision: str, *, batch: int, temperature: float) -> LocalChat:
    identity = Identity(
        name="random",
        kind="chat",
        family="llama",
        revision=None,
        weights=None,
        weights_sha256=None,
        tokenizer_sha256=None,
        precision=precision,  # type: ignore[arg-type]
        device=torch.cuda.get_device_name(),
    )
    sampling = Sampling(temperature=temperature, max_tokens=NEW)
    chat = LocalChat(identity, model, tokenizer_of(chat=True), sampling, batch_size=batch)
    chat._ends = (VOCABULARY - 1,)
    chat._graphs._ends = chat._ends
    return chat


def questions(count: int) -> list[str]:
    return [
        f"The worker number {n} thanked the other worker because they had helped so much. "
        "Who does 'they' refer to? Respond with exactly one word, either a noun with no "
        "description or 'unsure'"
        for n in range(count)
    ]


def clocked(work: Any) -> float:
    torch.cuda.synchronize()
    start = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def generate(model: Any, ids: torch.Tensor, new: int = NEW) -> None:
    with torch.inference_mode():
        model.generate(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=new,
            min_new_tokens=new,
            do_sample=True,
            pad_token_id=0,
        )


def check(size: str) -> None:
    """The captured step says what the plain loop says, token by token, in float32."""
    model = make(size, torch.float32)
    for temperature in (0.0, 1.0):
        heard: dict[bool, dict[int, str | None]] = {True: {}, False: {}}
        for captured in (True, False):
            chat = chat_of(model, "float32", batch=32, temperature=temperature)
            chat._graphs._works = captured
            turns = [ChatRequest(text=t, trial=1, seed=n) for n, t in enumerate(questions(64))]
            said = heard[captured]
            chat.chat(turns, lambda at, reply, said=said: said.__setitem__(at, reply.text))
            assert chat._graphs._works is captured, "the step could not be captured"
        same = sum(heard[True][at] == heard[False][at] for at in heard[True])
        print(f"{size} float32, temperature {temperature}: {same} of 64 replies the same")


def measure(size: str, batch: int, rounds: int) -> None:
    model = make(size, torch.bfloat16)
    chat = chat_of(model, "bf16", batch=batch, temperature=1.0)
    texts = questions(batch)
    turns = [ChatRequest(text=text, trial=1, seed=n) for n, text in enumerate(texts)]
    ids = chat.encode(texts)
    longest = max(map(len, ids))
    prompt = torch.randint(0, 1000, (batch, longest), device="cuda")
    plain, ours, one, alone, choices = [], [], [], [], []
    openings = [PromptParts(text=text) for text in texts]
    encoded = chat.next_word.encode(openings)
    work = {
        "generate": lambda: generate(model, prompt),
        "ours": lambda: chat.chat(turns, lambda *_: None),
        "one": lambda: generate(model, prompt, 1),
        "alone": lambda: [generate(model, prompt[:1], 1) for _ in range(8)],
        "choices": lambda: chat.next_word.options(encoded, ["A", "B", "C"]),
    }
    for each in work.values():
        each()
    for _ in range(rounds):
        plain.append(batch * NEW / clocked(work["generate"]))
        ours.append(batch * NEW / clocked(work["ours"]))
        one.append(batch / clocked(work["one"]))
        alone.append(8 / clocked(work["alone"]))
        choices.append(batch / clocked(work["choices"]))
    assert chat._graphs._works, "the step could not be captured"
    a, b, c, d, e = (statistics.median(x) for x in (plain, ours, one, choices, alone))
    print(
        f"{size:6} batch {batch:4}: generate {a:8,.0f} tokens/s, ours {b:8,.0f}, ratio {b / a:.2f};"
        f" one token {e:,.0f} questions/s alone, {c:,.0f} in batches, choices {d:,.0f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", default=list(SIZES))
    parser.add_argument("--batches", nargs="+", type=int, default=[32, 256])
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    print(torch.cuda.get_device_name(), torch.__version__, transformers.__version__)
    check("0.36B")
    for size in given.sizes:
        for batch in given.batches:
            measure(size, batch, given.rounds)
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
