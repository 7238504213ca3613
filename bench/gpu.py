"""goffman against the fill-mask pipeline one at a time, on a GPU: python bench/gpu.py.

Random weights in the size of roberta-base and roberta-large; the social-distance prompts, and
attribution's tree of recursive masking. goffman's time is from text to Parquet on disk; that of the
forward passes alone is for the same batches, one after the other, and queued: a GPU gets a batch
before it has answered the last. The pipeline's is for a sample of the prompts.
"""

from __future__ import annotations

import argparse
import gc
import logging
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch

import random_roberta
from asking import PROMPTS, Recording, ask_all, ask_tree, load_model

TOP_K = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", default=["base", "large"])
    parser.add_argument("--precisions", nargs="+", default=["float32", "bf16"])
    parser.add_argument("--sample", type=int, default=256, help="prompts for the pipeline; 0: none")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--limit", type=int, help="so many prompts of each instrument; for a try")
    arguments = parser.parse_args()
    logging.getLogger("transformers").setLevel(logging.ERROR)
    cuda = arguments.device != "cpu"
    print(torch.cuda.get_device_name() if cuda else arguments.device, torch.__version__)
    print("sentences a second: median (lowest to highest); end to end: on disk over forward alone,")
    print("batch after batch; queued")
    for size in arguments.sizes:
        with tempfile.TemporaryDirectory() as temporary:
            folder = random_roberta.make(Path(temporary), size)
            measure(folder, size, arguments)


def measure(folder: Path, size: str, arguments: argparse.Namespace) -> None:
    for precision in arguments.precisions:
        model = load_model(folder, device=arguments.device, precision=precision)
        if arguments.sample:
            pipeline = pipeline_rate(folder, precision, arguments.sample)
            print(f"{size:6} {precision:9} pipeline one at a time {pipeline:,.0f}")
            if precision == "float32":
                check_parity(folder, model)
        for what, ask in (("prompts", ask_all), ("tree", ask_tree)):
            recording = Recording(model)
            sentences = ask(recording, arguments.limit).sentences  # warm, too
            forward, queued, on_disk, shares, of_queued = [], [], [], [], []
            for _ in range(arguments.rounds):
                forward.append(rate(recording.again, sentences))
                queued.append(rate(recording.queued, sentences))
                # What is written is removed when the clock has stopped.
                with tempfile.TemporaryDirectory() as temporary:
                    run = Path(temporary) / "run"
                    work = partial(ask, model, arguments.limit, run=run)
                    on_disk.append(rate(work, sentences))
                shares.append(on_disk[-1] / forward[-1])
                of_queued.append(on_disk[-1] / queued[-1])
            print(
                f"{size:6} {precision:9} {what:8} {sentences:7,} sentences   "
                f"forward {spread(forward, ',.0f')}; {spread(queued, ',.0f')}   "
                f"on disk {spread(on_disk, ',.0f')}   "
                f"end to end {spread(shares, '.2f')}; {spread(of_queued, '.2f')}",
                flush=True,
            )
        del model, recording
        gc.collect()


def spread(values: list[float], how: str) -> str:
    middle, low, high = statistics.median(values), min(values), max(values)
    return f"{middle:{how}} ({low:{how}} to {high:{how}})"


def rate(work: Callable[[], object], sentences: int) -> float:
    wait()
    start = time.perf_counter()
    work()
    wait()
    return sentences / (time.perf_counter() - start)


def wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def pipeline_rate(folder: Path, precision: str, sample: int) -> float:
    from transformers import pipeline

    dtype = {"float32": torch.float32, "bf16": torch.bfloat16}[precision]
    fill = pipeline("fill-mask", model=str(folder), device="cuda", top_k=TOP_K, dtype=dtype)
    texts = [prompt.text for prompt in PROMPTS[:: max(1, len(PROMPTS) // sample)]]
    for text in texts[:8]:
        fill(text)
    torch.cuda.synchronize()
    start = time.perf_counter()
    for text in texts:
        fill(text)
    torch.cuda.synchronize()
    return len(texts) / (time.perf_counter() - start)


def check_parity(folder: Path, model: Any) -> None:
    """The top 50 of the engine are those of the pipeline, to 1e-4 on a GPU."""
    from transformers import pipeline

    fill = pipeline("fill-mask", model=str(folder), device="cuda", top_k=TOP_K)
    texts = [prompt.text for prompt in PROMPTS[::500]]
    filled = model.fill_batch(model.encode(texts), top_k=TOP_K)
    worst = 0.0
    for row, text in enumerate(texts):
        theirs = {one["token"]: one["score"] for one in fill(text)}
        ours = dict(
            zip(filled.token_ids[row].tolist(), filled.probabilities[row].tolist(), strict=True)
        )
        shared = ours.keys() & theirs.keys()
        assert len(shared) >= TOP_K - 1, (text, len(shared))
        worst = max(worst, *(abs(ours[t] - theirs[t]) / theirs[t] for t in shared))
    assert worst < 1e-4, worst
    print(f"top {TOP_K} as the pipeline's; largest relative difference {worst:.1e}")


if __name__ == "__main__":
    main()
