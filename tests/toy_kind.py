"""A kind of model of one's own, in one file: toy:SEED fills masks with words drawn by a hash.

Put into goffman through the door goffman.models; see test_kinds.py.
"""

from __future__ import annotations

import hashlib

import numpy as np

from goffman.errors import ModelError
from goffman.models.base import Filled, Identity
from goffman.models.registry import ModelKind

WORDS = ("likely", "easy", "good", "hard", "bad", "unlikely", "impossible", "time", "he", "she")
TOKENS = ("<mask>", *(f" {word}" for word in WORDS), *(f" word{n}" for n in range(100)))


class Toy:
    """Fills: the probability of each word depends on the seed, the sentence and the word alone."""

    __hash__ = None  # as of a dataclass: nobody may need it

    def __init__(self, name):
        self.seed = seed_of(name)
        self.tokens, self.special_ids = TOKENS, frozenset({0})
        self.identity = Identity(
            name=name,
            kind="toy",
            family="toy",
            revision=None,
            weights=None,
            weights_sha256=None,
            tokenizer_sha256=None,
            precision="float32",
            device="cpu",
            notes=("It draws its answers.",),
        )

    def single_tokens(self, words):
        known = {word: self.tokens.index(f" {word}") for word in words if word in WORDS}
        return known, [word for word in words if word not in known]

    def encode(self, texts):
        return [list(text.encode()) for text in texts]

    def fill_batch(self, encoded, *, top_k, targets=()):
        every = np.array([self.probabilities(bytes(one)) for one in encoded], dtype=np.float32)
        order = np.argsort(-every, axis=1, kind="stable")[:, :top_k]
        return Filled(
            token_ids=order.astype(np.int32),
            probabilities=np.take_along_axis(every, order, axis=1),
            targets=every[:, list(targets)],
        )

    def probabilities(self, sentence):
        """Of each token; the mask itself is never an answer."""
        given = (f"{self.seed} {token} ".encode() + sentence for token in TOKENS[1:])
        weights = [0.0, *(1 + hashlib.sha256(one).digest()[0] for one in given)]
        return np.array(weights) / sum(weights)


def seed_of(name):
    seed = name.removeprefix("toy:")
    if not seed.isdecimal():
        raise ModelError(f"'{name}' is no toy: a whole number follows toy:, such as toy:1.")
    return int(seed)


def check(name):
    """Before anything is asked of anyone."""
    seed_of(name)


KIND = ModelKind(
    name="toy",
    instruments=("fill", "prefer"),
    answers="fills",
    can="it can fill masks",
    doing="playing",
    needed="a toy model, such as toy:1",
    task="fill-mask",
    load=lambda name, loading: Toy(name),
    check=lambda name, options: check(name),
    says=lambda model: {"cased": False, "seed": model.seed},
    takes=lambda name: name.startswith("toy:"),
    form="toy:SEED",
)
