"""Trains the masked model: WORK/start and WORK/segments.npz → WORK/mini.

python training/masked.py WORK --epochs 14

Killed, the same command goes on after the last whole epoch. A line every few seconds says how far
it is; after each epoch the masked accuracy on held-out documents is measured (15% masked).
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from transformers import BertConfig, BertForMaskedLM

SHARE = 0.2
"""Of the tokens of a segment that are masked in training."""

FIRST = 0.15
"""Of the segments in which the first token is masked, too: audits ask for subjects."""

Batch = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
"""Token ids with masks; the masked positions, [segment, mask]; what stood there."""


def start_model(work: Path) -> BertForMaskedLM:
    """The encoder that training starts from, with a new head on its own embeddings."""
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


class Segments:
    """Segments of one length each, on the device, in batches of about so many tokens."""

    def __init__(self, path: Path, *, mask_id: int, tokens: int, device: str) -> None:
        stored = np.load(path)
        self._rows = {int(name): torch.from_numpy(stored[name]).to(device) for name in stored.files}
        self._mask_id, self._tokens, self._device = mask_id, tokens, device

    def plan(self, draw: torch.Generator, *, whole: bool) -> list[tuple[int, torch.Tensor]]:
        """Length and rows of every batch of an epoch, in random order; or of whole ones only."""
        batches = [
            (length, rows)
            for length, segments in sorted(self._rows.items())
            for rows in torch.randperm(len(segments), generator=draw).split(self._tokens // length)
            if len(rows) == self._tokens // length or not whole
        ]
        order = torch.randperm(len(batches), generator=draw).tolist()
        return [batches[index] for index in order]

    def batches(
        self, plan: list[tuple[int, torch.Tensor]], draw: torch.Generator, *, share: float
    ) -> Iterator[Batch]:
        """Each batch with so many of its tokens masked, none of them [CLS] or [SEP]."""
        for length, rows in plan:
            ids = self._rows[length][rows.to(self._device)].long()
            chance = torch.rand(len(ids), length - 2, generator=draw, device=self._device)
            if share == SHARE:
                first = torch.rand(len(ids), generator=draw, device=self._device) < FIRST
                chance[:, 0] += first
            count = max(1, round(share * (length - 2)))
            positions = chance.topk(count, dim=1).indices + 1
            yield ids.scatter(1, positions, self._mask_id), positions, ids.gather(1, positions)


def logits_at(model: BertForMaskedLM, ids: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """[mask, token]: the head at the masked positions only."""
    hidden = model.bert(input_ids=ids).last_hidden_state
    index = positions.unsqueeze(2).expand(-1, -1, hidden.shape[2])
    return model.cls(hidden.gather(1, index).flatten(0, 1))


@torch.no_grad()
def accuracy(model: BertForMaskedLM, held_out: Segments, device: str) -> float:
    """The share of masked tokens of held-out documents that the model puts first."""
    model.eval()
    plan = held_out.plan(torch.Generator().manual_seed(1), whole=False)
    draw = torch.Generator(device).manual_seed(2)
    right = torch.zeros((), device=device)
    asked = 0
    for ids, positions, answers in held_out.batches(plan, draw, share=0.15):
        with torch.autocast(device, torch.bfloat16):
            found = logits_at(model, ids, positions).argmax(1)
        right += (found == answers.flatten()).sum()
        asked += answers.numel()
    model.train()
    return float(right) / asked


def rate_at(step: int, steps: int, peak: float) -> float:
    """The learning rate: up for a thirtieth of the way, then down along a cosine to nothing."""
    warm = steps / 30
    if step < warm:
        return peak * (step + 1) / warm
    return peak * 0.5 * (1 + math.cos(math.pi * (step - warm) / (steps - warm)))


@dataclass
class Training:
    """A model, its optimizer, and how many epochs are behind it; kept on disk after each."""

    model: BertForMaskedLM
    optimizer: torch.optim.Optimizer
    checkpoint: Path
    epochs: int = 0

    def go_on(self, device: str) -> None:
        """Goes on after the last whole epoch, where there is one."""
        if self.checkpoint.exists():
            state = torch.load(self.checkpoint, map_location=device)
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.epochs = state["epochs"]

    def keep(self) -> None:
        """Another epoch is behind it; the file is whole at every moment."""
        self.epochs += 1
        states = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        new = self.checkpoint.with_suffix(".tmp")
        torch.save({**states, "epochs": self.epochs}, new)
        new.replace(self.checkpoint)

    def step(self, batch: Batch, rate: float, device: str) -> torch.Tensor:
        """The loss of a batch, after the model was fitted to it."""
        ids, positions, answers = batch
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        with torch.autocast(device, torch.bfloat16):
            logits = logits_at(self.model, ids, positions)
            loss = torch.nn.functional.cross_entropy(logits, answers.flatten())
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss


def train(work: Path, *, epochs: int, peak: float, tokens: int, device: str, stop: int) -> None:
    """WORK/mini holds the trained model, WORK/accuracy.jsonl its accuracy after each epoch."""
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high")
    tokenizer = Tokenizer.from_file(str(work / "start" / "tokenizer.json"))
    mask_id = tokenizer.token_to_id("[MASK]")
    given: dict[str, Any] = {"mask_id": mask_id, "tokens": tokens, "device": device}
    segments = Segments(work / "segments.npz", **given)
    held_out = Segments(work / "held-out.npz", **given)
    model = start_model(work).to(device).train()
    how: dict[str, Any] = {"betas": (0.9, 0.98), "weight_decay": 0.01, "fused": device == "cuda"}
    optimizer = torch.optim.AdamW(model.parameters(), lr=peak, **how)
    training = Training(model, optimizer, work / "checkpoint.pt")
    training.go_on(device)
    clock = time.monotonic()
    for epoch in range(training.epochs, epochs):
        # Order and masks of an epoch depend on its number alone, so that one can go on after any.
        # A rest of a batch would count as much as a whole one: it waits for another epoch.
        order = torch.Generator().manual_seed(1000 + epoch)
        plan = segments.plan(order, whole=True)[: stop or None]
        draw = torch.Generator(device).manual_seed(2000 + epoch)
        for number, batch in enumerate(segments.batches(plan, draw, share=SHARE)):
            rate = rate_at(epoch * len(plan) + number, epochs * len(plan), peak)
            loss = training.step(batch, rate, device)
            if number % 50 == 0:
                where = f"epoch {epoch + 1}/{epochs} batch {number}/{len(plan)}"
                print(f"{where} loss {loss:.3f} {time.monotonic() - clock:.1f} s", flush=True)
        training.keep()
        right = accuracy(model, held_out, device)
        print(f"epoch {epoch + 1}/{epochs} masked accuracy {right:.4f}", flush=True)
        with (work / "accuracy.jsonl").open("a") as log:
            log.write(json.dumps({"epoch": epoch + 1, "masked_accuracy": right}) + "\n")
    model.save_pretrained(work / "mini")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--epochs", type=int, default=14)
    parser.add_argument("--rate", type=float, default=1e-3, help="at its peak")
    parser.add_argument("--tokens", type=int, default=131_072, help="a batch")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--stop", type=int, default=0, help="after so many batches of an epoch")
    given = parser.parse_args()
    train(
        given.work,
        epochs=given.epochs,
        peak=given.rate,
        tokens=given.tokens,
        device=given.device,
        stop=given.stop,
    )
