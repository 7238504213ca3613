"""Text → token ids: WORK/segments.npz to train on, WORK/held-out.npz to test with.

python training/prepare.py CORPUS WORK [PROCESSES]

Each holds the ids of all segments, end to end, with [CLS] and [SEP], and their lengths.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import sys
from itertools import chain, islice
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from corpus import documents, is_held_out, segments, sentences, windows

Rows = dict[bool, list[list[int]]]
"""Held out or not → segments."""


def encode(work: tuple[Path, int, list[str]]) -> dict[bool, tuple[np.ndarray, np.ndarray]]:
    """Ids and lengths of some documents; the draws depend on the number of the chunk alone."""
    folder, number, texts = work
    tokenizer = Tokenizer.from_file(str(folder / "start" / "tokenizer.json"))
    first, last = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    draw = random.Random(number)
    found: Rows = {False: [], True: []}
    for text in texts:
        encoded = tokenizer.encode_batch(sentences(text), add_special_tokens=False)
        ids = [encoding.ids for encoding in encoded]
        held_out = is_held_out(text)
        for segment in windows(ids) if held_out else segments(ids, draw):
            found[held_out].append([first, *segment, last])
    return {
        held_out: (
            np.fromiter(chain.from_iterable(rows), dtype=np.int16),
            np.fromiter(map(len, rows), dtype=np.int16),
        )
        for held_out, rows in found.items()
    }


def main(corpus: Path, work: Path, processes: int | None = None) -> None:
    """Both files are written; the number of processes changes nothing in them."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    texts = documents(sorted(corpus.glob("text-*.txt.xz")))
    chunks = enumerate(iter(lambda: list(islice(texts, 1_000)), []))
    with multiprocessing.Pool(processes) as pool:
        parts = list(pool.imap(encode, ((work, number, chunk) for number, chunk in chunks)))
    for held_out, name in ((False, "segments"), (True, "held-out")):
        ids, lengths = map(np.concatenate, zip(*(part[held_out] for part in parts), strict=True))
        print(f"{name}: {len(lengths):,} segments, {len(ids) / 1e6:.1f} M tokens", flush=True)
        np.savez(work / f"{name}.npz", ids=ids, lengths=lengths)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:]))
