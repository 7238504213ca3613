"""A model's masked accuracy on documents that were not trained on, the plain way.

python training/measure.py CORPUS MODEL

Window by window through transformers, in float32 on the CPU: a check of what masked.py says of its
own packed pass. Of the tokens 15% are asked for; three figures are printed.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

from corpus import documents, is_held_out, sentences, windows

SHARE = 0.15
"""Of the tokens that are asked for."""

QUOTED = 13
"""So many words in a row that also stand in a document that was trained on are a quotation."""


def texts_of(corpus: Path) -> list[Path]:
    """Return the files with documents."""
    return sorted(corpus.glob("text-*.txt.xz"))


def accuracy(folder: Path, texts: Iterable[str], *, hidden: float = 1.0) -> tuple[float, int]:
    """Return the share of tokens that the model puts first, and of how many.

    ``hidden``: of these so many are seen as [MASK], half of the others as any word, half as they
    are; .8 is the usual count.
    """
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float32).eval()
    draw = np.random.default_rng(0)
    right = asked = 0
    for text in texts:
        pieces = tokenizer(sentences(text), add_special_tokens=False, verbose=False)["input_ids"]
        for window in windows(pieces):
            ids = np.array([tokenizer.cls_token_id, *window, tokenizer.sep_token_id])
            places = 1 + np.flatnonzero(draw.random(len(window)) < SHARE)
            answers = ids[places]
            seen = draw.random(len(places))
            others = places[(hidden <= seen) & (seen < (1 + hidden) / 2)]
            ids[others] = draw.integers(0, len(tokenizer), len(others))
            ids[places[seen < hidden]] = tokenizer.mask_token_id
            with torch.inference_mode():
                state = model.bert(input_ids=torch.tensor(ids)[None]).last_hidden_state[0, places]
                found = model.cls(state).argmax(1).numpy()
            right += int((found == answers).sum())
            asked += len(places)
    return right / asked, asked


def quoting(held_out: Sequence[str], trained: Iterable[str]) -> set[int]:
    """Of which held-out documents more than a tenth of the words are quotations."""
    known = defaultdict(list)
    for place, text in enumerate(held_out):
        for start, run in _runs(text):
            known[run].append((place, start))
    found = {run for text in trained for _, run in _runs(text) if run in known}
    quoted = defaultdict(set)
    for place, start in (where for run in found for where in known[run]):
        quoted[place].update(range(start, start + QUOTED))
    return {
        place for place, words in quoted.items() if len(words) > len(held_out[place].split()) / 10
    }


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """Where runs of so many words begin, and a number for each run."""
    words = text.lower().split()
    for start in range(len(words) - QUOTED + 1):
        yield start, hash(tuple(words[start : start + QUOTED]))


def main(corpus: Path, folder: Path) -> None:
    """Return the three figures."""
    held_out = [text for text in documents(texts_of(corpus)) if is_held_out(text)]
    told = "{}: {:.4f} of {:,} tokens"
    print(told.format("all as [MASK]", *accuracy(folder, held_out)), flush=True)
    print(told.format("80/10/10", *accuracy(folder, held_out, hidden=0.8)), flush=True)
    trained = (text for text in documents(texts_of(corpus)) if not is_held_out(text))
    copies = quoting(held_out, trained)
    rest = [text for place, text in enumerate(held_out) if place not in copies]
    name = f"all as [MASK], without {len(copies)} of {len(held_out):,} documents that quote"
    print(told.format(name, *accuracy(folder, rest)))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
