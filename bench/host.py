"""What the host costs beside a GPU, without a GPU: python bench/host.py.

Everything is real but the forward pass: sentences are made, read by a RoBERTa's tokenizer, planned,
put into arrays, and the answers are written to disk. The forward pass is a stand-in. It keeps the
host busy for as long as launching one does (Python, one thread), and a clock says when a GPU that
takes its batches in order, at so many padded tokens a second, would be done; whoever wants the
answers sleeps until then. The words are drawn from the whole vocabulary, by what the sentence says.

So this shows how well the host keeps ahead of a GPU of a given speed, on this machine's cores: it
is no measurement of a GPU. Rates are those that bench/gpu.py found on an H200 (see README.md), and
the time of a launch is an assumption. With --reading, the tokenizer is a stand-in as well, for a
machine with more cores than this one: it gives what it gave before and takes so long.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

import random_roberta
from asking import Recording, ask_all, ask_tree
from goffman.models.base import Filled, Identity
from goffman.models.forward import padded
from goffman.models.tokens import Tokens

DRAWN = 8_192
"""So many lists of words are drawn; a sentence has one of them."""
LOCKED = 3.5e-6
"""Seconds of a text's reading in which Python's lock is held; measured on this machine."""


@dataclass(frozen=True)
class Speed:
    """Of a model on a GPU."""

    tokens: float
    """Padded tokens a second."""
    launch: float
    """Seconds in which Python launches a forward pass."""


SPEEDS = {
    "base float32": Speed(250e3, 0.003),
    "base bf16": Speed(1.25e6, 0.003),
    "large float32": Speed(75e3, 0.006),
    "large bf16": Speed(520e3, 0.006),
}


@dataclass(eq=False)
class StandIn:
    """A masked model whose forward pass takes as long as one on a GPU, and gives drawn words."""

    speed: Speed
    tokenizer: Tokens
    free: float = 0.0
    """When the GPU will have done all that it was given, by time.perf_counter."""
    padded: int = 0
    """Tokens that it was given, with padding."""
    given: int = 0
    """Tokens that it was given, without."""
    drawn: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    reading: float | None = None
    """Seconds in which a text that was read before is read again; None: it is really read."""
    read: dict[str, list[int]] = field(default_factory=dict)

    identity = Identity(
        name="stand-in",
        kind="masked",
        family="roberta",
        revision=None,
        weights="safetensors",
        weights_sha256="0" * 64,
        tokenizer_sha256="0" * 64,
        precision="float32",
        device="a GPU that is not there",
    )

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        return self.tokenizer.texts(random_roberta.VOCABULARY)

    @property
    def special_ids(self) -> frozenset[int]:
        return self.tokenizer.special_ids

    def single_tokens(self, words: Sequence[str]) -> tuple[dict[str, int], list[str]]:
        return self.tokenizer.single_tokens(words)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        if self.reading is None or any(text not in self.read for text in texts):
            found = self.tokenizer.encode(texts)
            self.read.update(zip(texts, found, strict=True))
            return found
        time.sleep(len(texts) * max(0.0, self.reading - LOCKED))
        spent = time.thread_time()
        found = [self.read[text] for text in texts]
        while time.thread_time() - spent < len(texts) * LOCKED:
            pass
        return found

    def fill_batch(self, encoded: Any, **told: Any) -> Filled:
        return self.fill_batch_later(encoded, **told)()

    def fill_batch_later(
        self, encoded: Any, *, top_k: int, targets: Sequence[int] = ()
    ) -> Callable[[], Filled]:
        ids, there = padded(encoded, pad_id=self.tokenizer.pad_id, device=torch.device("cpu"))
        begin, spent = time.perf_counter(), time.thread_time()
        self.padded += ids.numel()
        self.given += int(there.sum())
        # A GPU begins with the first of a pass's kernels and is done after the last was launched.
        done = max(begin, self.free) + ids.numel() / self.speed.tokens
        words, chances = self._words(top_k)
        which = (ids.numpy() * np.arange(1, ids.shape[1] + 1)).sum(axis=1) % DRAWN
        filled = Filled(
            token_ids=words[which],
            probabilities=chances[which],
            targets=np.full((len(which), len(targets)), 1e-5, dtype=np.float32),
        )
        # By this thread's own time: launching takes longer while another thread has Python's lock.
        while time.thread_time() - spent < self.speed.launch:
            pass
        self.free = max(done, time.perf_counter())

        def answers(until: float = self.free) -> Filled:
            time.sleep(max(0.0, until - time.perf_counter()))
            return filled

        return answers

    def _words(self, top_k: int) -> tuple[Any, Any]:
        """Lists of different words, and probabilities that fall from word to word."""
        if top_k not in self.drawn:
            rng = np.random.default_rng(0)
            # Every other word is one that prompts have, which is one token when it is put back.
            ends = np.where(np.arange(top_k) % 2, 3_000, random_roberta.VOCABULARY - 1)
            drawn = rng.integers(300, ends, size=(DRAWN, top_k))
            chances = np.sort(rng.dirichlet(np.ones(2 * top_k), size=DRAWN)[:, :top_k])[:, ::-1]
            self.drawn[top_k] = (drawn.astype(np.int32), chances.astype(np.float32))
        return self.drawn[top_k]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--speeds", nargs="+", default=[*SPEEDS], choices=[*SPEEDS])
    parser.add_argument("--what", nargs="+", default=["prompts", "tree"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=int, help="so many prompts of each instrument")
    parser.add_argument(
        "--reading", type=float, help="µs of a text's reading: 15 was seen beside an H200"
    )
    arguments = parser.parse_args()
    reading = arguments.reading and arguments.reading / 1e6
    tokenizer = random_roberta._tokenizer(random_roberta.prompts())  # noqa: SLF001
    tokens = Tokens("stand-in", tokenizer, specials=True, limit=512)
    print("simulated; sentences a second: median (lowest to highest)", flush=True)
    for name in arguments.speeds:
        for what in arguments.what:
            model = StandIn(SPEEDS[name], tokens, reading=reading)
            measure(
                model, f"{name:14} {what:8}", ask_all if what == "prompts" else ask_tree, arguments
            )


def measure(
    model: StandIn, label: str, ask: Callable[..., Any], arguments: argparse.Namespace
) -> None:
    recording = Recording(model)
    sentences = ask(recording, arguments.limit).sentences  # warm, too
    padding = model.padded / model.given - 1
    forward, on_disk, shares = [], [], []
    for _ in range(arguments.rounds):
        forward.append(rate(recording.again, sentences))
        # What is written is removed when the clock has stopped.
        with tempfile.TemporaryDirectory() as temporary:
            run = Path(temporary) / "run"
            on_disk.append(rate(partial(ask, model, arguments.limit, run=run), sentences))
        shares.append(on_disk[-1] / forward[-1])
    print(
        f"{label} {sentences:6,} sentences  {len(recording.batches)} batches  "
        f"padding {padding:.1%}  forward {spread(forward, ',.0f')}  "
        f"on disk {spread(on_disk, ',.0f')}  end to end {spread(shares, '.2f')}",
        flush=True,
    )


def rate(work: Callable[[], object], sentences: int) -> float:
    start = time.perf_counter()
    work()
    return sentences / (time.perf_counter() - start)


def spread(values: list[float], how: str) -> str:
    middle, low, high = statistics.median(values), min(values), max(values)
    return f"{middle:{how}} ({low:{how}} to {high:{how}})"


if __name__ == "__main__":
    main()
