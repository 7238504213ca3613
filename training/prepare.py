"""Text → token ids by length: WORK/segments.npz to train on, WORK/held-out.npz to test with.

python training/prepare.py CORPUS WORK [PROCESSES]
"""

from __future__ import annotations

import multiprocessing
import os
import random
import sys
from collections import defaultdict
from itertools import islice
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from corpus import documents, is_held_out, segments, sentences, windows

Rows = dict[tuple[bool, int], np.ndarray]
"""(held out, length) → [segment, position], with [CLS] and [SEP]."""


def encode(work: tuple[Path, int, list[str]]) -> Rows:
    """The segments of some documents; the draws depend on the number of the chunk alone."""
    folder, number, texts = work
    tokenizer = Tokenizer.from_file(str(folder / "start" / "tokenizer.json"))
    first, last = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    draw = random.Random(number)
    found: dict[tuple[bool, int], list[list[int]]] = defaultdict(list)
    for text in texts:
        encoded = tokenizer.encode_batch(sentences(text), add_special_tokens=False)
        ids = [encoding.ids for encoding in encoded]
        held_out = is_held_out(text)
        for segment in windows(ids) if held_out else segments(ids, draw):
            found[held_out, len(segment) + 2].append([first, *segment, last])
    return {key: np.array(rows, dtype=np.int16) for key, rows in found.items()}


def main(corpus: Path, work: Path, processes: int | None = None) -> None:
    """Both files are written; the number of processes changes nothing in them."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    texts = documents(sorted(corpus.glob("text-*.txt.xz")))
    chunks = enumerate(iter(lambda: list(islice(texts, 1_000)), []))
    parts: dict[tuple[bool, int], list[np.ndarray]] = defaultdict(list)
    with multiprocessing.Pool(processes) as pool:
        for rows in pool.imap(encode, ((work, number, chunk) for number, chunk in chunks)):
            for key, segment in rows.items():
                parts[key].append(segment)
    for held_out, name in ((False, "segments"), (True, "held-out")):
        arrays = {
            str(length): np.concatenate(parts[key])
            for key in sorted(parts)
            for length in [key[1]]
            if key[0] == held_out
        }
        tokens = sum(array.size for array in arrays.values())
        count = sum(map(len, arrays.values()))
        print(f"{name}: {count:,} segments, {tokens / 1e6:.1f} M tokens", flush=True)
        np.savez(work / f"{name}.npz", **arrays)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:]))
