"""Workers on GPUs against one process: the same answers to the bit, and sentences a second.

python bench/workers_gpu.py --device cuda:0,cuda:0
"""

from __future__ import annotations

import argparse
import logging
import tempfile
import time
from dataclasses import fields
from pathlib import Path

import random_roberta
from goffman.models.base import LoadOptions
from goffman.models.registry import Loading
from goffman.models.resolve import load
from goffman.models.tokenizer import batch_limits, plan_batches
from goffman.workers.pool import WorkerPool
from goffman.workers.protocol import Call, Load
from goffman.workers.scheduler import ModelWork, run_concurrently
from goffman.workers.worker import LocalBackend


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda:0,cuda:0")
    parser.add_argument("--size", choices=("base", "large"), default="base")
    parser.add_argument("--precision", default="float32")
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    devices = given.device.split(",")
    with tempfile.TemporaryDirectory() as temporary:
        folder = random_roberta.make(Path(temporary) / "model", given.size)
        options = LoadOptions(device=devices[0], precision=given.precision)
        model = load(str(folder), kind="masked", options=options)
        encoded = sorted(set(map(tuple, model.encode(random_roberta.prompts()))))
        tokens, size = batch_limits(model.identity.device)
        lengths = [len(one) for one in encoded]
        batches = plan_batches(lengths, max_tokens=tokens, max_size=size)
        parts = {n: [[encoded[i] for i in batch]] for n, batch in enumerate(batches)}
        call = Call(method="fill_batch", arguments={"top_k": 50, "targets": []})
        call.of(model, parts[0][0])
        start = time.perf_counter()
        alone = {n: [call.of(model, batch) for batch in part] for n, part in parts.items()}
        print(f"one process: {len(encoded) / (time.perf_counter() - start):,.0f} sentences/s")
        task = Load(spec=str(folder), kind="masked", loading=Loading(options=options), threads=1)
        start = time.perf_counter()

        def ask(team):
            identity = team.load(task)
            taken = time.perf_counter() - start
            print(f"{len(devices)} workers started and loaded in {taken:.1f} s")
            assert identity.weights_sha256 == model.identity.weights_sha256
            list(team.ask(call, ((n, parts[0]) for n in range(2 * len(devices)))))
            for _ in range(3):
                begun = time.perf_counter()
                found = dict(team.ask(call, parts.items()))
                rate = len(encoded) / (time.perf_counter() - begun)
                print(f"{len(devices)} workers: {rate:,.0f} sentences/s")
            return found, identity

        crew = WorkerPool(LocalBackend(devices), note=print, mixed=False)
        work = ModelWork(spec=task.spec, size=1, sentences=len(encoded), ask=ask)
        ((found, identity),) = run_concurrently(crew, [work])
        crew.close()
    same = all(
        (getattr(one, field.name) == getattr(other, field.name)).all()
        for n in parts
        for one, other in zip(alone[n], found[n], strict=True)
        for field in fields(one)
    )
    print(f"{len(parts)} parts; the same to the bit: {same}; {identity.device}")


if __name__ == "__main__":
    main()
