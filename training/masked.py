"""Trains the masked model: WORK/start and WORK/segments.npz → WORK/mini.

python training/masked.py WORK --epochs 38

Killed, the same command goes on after the last whole epoch. A line every few seconds says how far
it is; after each epoch the masked accuracy on held-out documents is measured (15% masked).
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from transformers import BertConfig, BertForMaskedLM

from batches import NOT_ASKED, Batch, Masks, Segments
from muon import Muon
from packed import logits_at, loss_of

TRAINING = Masks(share=0.2, first=0.15, hidden=0.9)
"""Audits ask for subjects, so that first tokens are asked for more often. A classifier will be made
of the model, so that it learns to see words, too, and not only masks."""

TEST = Masks(share=0.15)


def start_model(work: Path) -> BertForMaskedLM:
    """Return the encoder that training starts from, with a new head on its own embeddings."""
    weights = load_file(work / "start" / "model.safetensors")
    vocabulary, width = weights["embeddings.word_embeddings.weight"].shape
    positions = len(weights["embeddings.position_embeddings.weight"])
    config = BertConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=4 * width,
        max_position_embeddings=positions,
        tie_word_embeddings=True,
        # With this much text there is nothing to learn by heart.
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    model = BertForMaskedLM(config)
    ours = {name: value.float() for name, value in weights.items() if "pooler" not in name}
    missing = model.bert.load_state_dict(ours, strict=False)
    if missing.unexpected_keys or any("position_ids" not in key for key in missing.missing_keys):
        raise SystemExit(f"{work / 'start'} is not the encoder that was meant: {missing}")
    return model


@torch.no_grad()
def accuracy(model: BertForMaskedLM, held_out: Segments, precision: torch.dtype) -> float:
    """Return the share of masked tokens of held-out documents that the model puts first."""
    device = str(model.device)
    draw = torch.Generator(device).manual_seed(2)
    right = torch.zeros((), device=device)
    asked = torch.zeros((), device=device)
    for batch in held_out.batches(held_out.plan(torch.Generator().manual_seed(1)), draw, TEST):
        found = logits_at(model, batch, held_out.longest, precision).argmax(1)
        right += (found == batch.answers).sum()
        asked += (batch.answers != NOT_ASKED).sum()
    return float(right / asked)


def rate_at(step: int, steps: int, peak: float) -> float:
    """Return the learning rate: up for a thirtieth of the way, then down a cosine to 0."""
    warm = steps / 30
    if step < warm:
        return peak * (step + 1) / warm
    return peak * 0.5 * (1 + math.cos(math.pi * (step - warm) / (steps - warm)))


def optimizers(model: BertForMaskedLM) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the layers, AdamW for all else, with steps of about one size."""
    matrices = [weight for weight in model.bert.encoder.parameters() if weight.ndim == 2]
    known = {id(weight) for weight in matrices}
    others = [weight for weight in model.parameters() if id(weight) not in known]
    fused = model.device.type == "cuda"
    return [
        Muon(matrices, weight_decay=0.01),
        torch.optim.AdamW(others, betas=(0.9, 0.98), weight_decay=0.01, fused=fused),
    ]


@dataclass
class Training:
    """A model, its optimizers, and how many epochs are behind it; kept on disk after each."""

    model: BertForMaskedLM
    optimizers: list[torch.optim.Optimizer]
    loss: Callable[[BertForMaskedLM, Batch], torch.Tensor]
    checkpoint: Path
    epochs: int = 0

    def go_on(self) -> None:
        """Goes on after the last whole epoch, where there is one."""
        if self.checkpoint.exists():
            state = torch.load(self.checkpoint, map_location=self.model.device)
            self.model.load_state_dict(state["model"])
            for optimizer, kept in zip(self.optimizers, state["optimizers"], strict=True):
                optimizer.load_state_dict(kept)
            self.epochs = state["epochs"]

    def keep(self) -> None:
        """Another epoch is behind it; the file is whole at every moment."""
        self.epochs += 1
        new = self.checkpoint.with_suffix(".tmp")
        kept = {
            "model": self.model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "epochs": self.epochs,
        }
        torch.save(kept, new)
        new.replace(self.checkpoint)

    def step(self, batch: Batch, rate: float) -> torch.Tensor:
        """Return the loss of a batch, before the model was fitted to it."""
        loss = self.loss(self.model, batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        return loss.detach()


def train(work: Path, given: argparse.Namespace) -> None:
    """WORK/mini holds the trained model, WORK/accuracy.jsonl its accuracy after each epoch."""
    torch.manual_seed(0)
    device, epochs = given.device, given.epochs
    tokenizer = Tokenizer.from_file(str(work / "start" / "tokenizer.json"))
    how: dict[str, Any] = {"tokens": given.tokens, "device": device}
    segments = Segments(work / "segments.npz", tokenizer, **how)
    held_out = Segments(work / "held-out.npz", tokenizer, **how)
    model = start_model(work).to(device)
    precision = torch.bfloat16 if device == "cuda" else torch.float32
    loss_at = partial(loss_of, longest=segments.longest, precision=precision)
    training = Training(
        model,
        optimizers(model),
        torch.compile(loss_at) if device == "cuda" else loss_at,
        work / "checkpoint.pt",
    )
    training.go_on()
    clock = time.monotonic()
    for epoch in range(training.epochs, epochs):
        # Order and masks of an epoch depend on its number alone, so that one can go on after any.
        # A rest of a batch would count as much as a whole one: it waits for another epoch.
        plan = segments.plan(torch.Generator().manual_seed(1000 + epoch))[:-1][: given.stop or None]
        draw = torch.Generator(device).manual_seed(2000 + epoch)
        for number, batch in enumerate(segments.batches(plan, draw, TRAINING)):
            rate = rate_at(epoch * len(plan) + number, epochs * len(plan), given.rate)
            loss = training.step(batch, rate)
            if number % 50 == 0:
                where = f"epoch {epoch + 1}/{epochs} batch {number}/{len(plan)}"
                print(f"{where} loss {loss:.3f} {time.monotonic() - clock:.1f} s", flush=True)
        training.keep()
        right = accuracy(model, held_out, precision)
        print(f"epoch {epoch + 1}/{epochs} masked accuracy {right:.4f}", flush=True)
        with (work / "accuracy.jsonl").open("a") as log:
            log.write(json.dumps({"epoch": epoch + 1, "masked_accuracy": right}) + "\n")
    model.save_pretrained(work / "mini")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--epochs", type=int, default=38)
    parser.add_argument("--rate", type=float, default=2e-3, help="of learning, at its peak")
    parser.add_argument("--tokens", type=int, default=131_072, help="a batch")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--stop", type=int, default=0, help="after so many batches of an epoch")
    given = parser.parse_args()
    train(given.work, given)
