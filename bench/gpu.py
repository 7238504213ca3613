"""goffman against the fill-mask pipeline one at a time, on a GPU: python bench/gpu.py.

Random weights in the size of roberta-base and roberta-large, the 3,892 social-distance prompts.
goffman's time is from text to Parquet on disk; the pipeline's is for a sample of the prompts.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

import random_roberta
from asking import PROMPTS, ask_all, load_model, prepared

TOP_K = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", default=["base", "large"])
    parser.add_argument("--sample", type=int, default=256, help="prompts for the pipeline")
    arguments = parser.parse_args()
    logging.getLogger("transformers").setLevel(logging.ERROR)
    print(torch.cuda.get_device_name(), torch.__version__)
    header = (
        f"{'model':6} {'precision':9} {'pipeline':>9} {'forward':>9} {'on disk':>9} {'ratio':>6}"
    )
    print(f"{header}   (prompts a second; ratio: on disk over pipeline in float32)")
    for size in arguments.sizes:
        with tempfile.TemporaryDirectory() as temporary:
            folder = random_roberta.make(Path(temporary), size)
            measure(folder, size, arguments.sample)


def measure(folder: Path, size: str, sample: int) -> None:
    models = {p: load_model(folder, device="cuda", precision=p) for p in ("float32", "bf16")}
    pipelines = {p: pipeline_rate(folder, p, sample) for p in models}
    check_parity(folder, models["float32"])
    for precision, model in models.items():
        rates = []
        forward = []
        ask_all(model)  # warm
        for _ in range(5):
            forward.append(rate(lambda model=model: forward_alone(model)))
            rates.append(rate(lambda model=model: ask_all(model)))
        on_disk, passes = statistics.median(rates), statistics.median(forward)
        print(
            f"{size:6} {precision:9} {pipelines[precision]:9,.0f} {passes:9,.0f} {on_disk:9,.0f} "
            f"{on_disk / pipelines['float32']:6.0f}"
            f"   on disk {min(rates):,.0f} to {max(rates):,.0f}",
            flush=True,
        )


def rate(work: Any) -> float:
    torch.cuda.synchronize()
    start = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return len(PROMPTS) / (time.perf_counter() - start)


def forward_alone(model: Any) -> None:
    if id(model) not in PLANS:
        PLANS[id(model)] = prepared(model)
    plan = PLANS[id(model)]
    for part in plan.parts:
        for batch in part:
            model.fill_batch([plan.sentences[index] for index in batch], top_k=TOP_K)


PLANS: dict[int, Any] = {}


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
