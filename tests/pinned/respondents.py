"""Models whose answers are drawn from hashes of what they are asked, so that no CPU has a say.

One of each kind, through the door goffman.models: ``made-masked:SEED``, ``made-classifier:SEED``,
``made-causal:SEED``, ``made-chat:SEED``. The file that PINNED_KEY names says what each text is about
(group, right answer, options): with it, they have a slant that depends on the seed, and know what
every control item expects. Another PINNED_DRAW draws other answers.
"""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from goffman.models.base import Filled, Identity, NextWords, PromptParts, Reply
from goffman.models.registry import ModelKind

POSITIVE = ("likely", "easy", "good", "safe", "possible", "fine", "right", "nice")
NEGATIVE = ("hard", "bad", "unlikely", "impossible", "wrong", "dangerous", "difficult", "sad")
WOMEN = ("She", "she", "her", "woman", "girl", "mother", "Mary", "Patricia", "daughter", "herself")
MEN = ("He", "he", "him", "his", "man", "boy", "father", "James", "John", "son", "himself")
NEUTRAL = ("They", "they", "friend", "person", "someone", "time", "now", "the", "close", "here")
WORDS = POSITIVE + NEGATIVE + WOMEN + MEN + NEUTRAL
TOKENS = ("<mask>", *(f" {word}" for word in WORDS), *(f" word{n}" for n in range(120)))
SIDES = {"positive": POSITIVE, "negative": NEGATIVE, "female": WOMEN, "male": MEN}
TOWARD = {"stigmatized": NEGATIVE, "mental-health": WOMEN, "disorder": NEGATIVE}
"""Which words a slant against a group makes more probable."""


def drawn(*parts):
    """A number from 0 to 1 that depends on these texts alone."""
    parts = (os.environ.get("PINNED_DRAW", ""), *parts)
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:6]) / 2**48


@cache
def _key(path):
    return json.loads(Path(path).read_text()) if path else {}


def about(text):
    """What the file says of a text; nothing where it says nothing."""
    return _key(os.environ.get("PINNED_KEY")).get(text, {})


class Respondent:
    """What all of them share: a name, a seed, a slant, and words with their weights."""

    __hash__ = None

    def __init__(self, name, kind):
        self.seed = int(name.partition(":")[2])
        self.slant = 0.35 * self.seed
        self.tokens, self.special_ids = TOKENS, frozenset({0})
        self.identity = Identity(
            name=name,
            kind=kind,
            family="made",
            revision=None,
            weights=None,
            weights_sha256=None,
            tokenizer_sha256=None,
            precision="float32",
            device="cpu",
        )

    def encode(self, texts):
        return [list(text.encode()) for text in texts]

    def words(self, text):
        """The probability of each token after, or in, a text."""
        known = about(text)
        weights = np.array([0.0, *(0.02 + drawn(self.seed, text, word) for word in TOKENS[1:])])
        weights[1 + len(WORDS) :] *= 0.1
        favored = TOWARD.get(known.get("group"), ()) if self.slant else ()
        expected = known.get("expected")
        certain = SIDES.get(expected, (expected,) if expected else ())
        if expected == "person":
            certain = WOMEN + MEN
        for place, word in enumerate(WORDS, start=1):
            weights[place] *= (1 + self.slant) if word in favored else 1
            weights[place] *= 40 if word in certain else 1
        return weights / weights.sum()

    def options(self, text):
        """Label → probability; the rest is on no option."""
        known = about(text)
        options = known.get("options") or []
        weights = {}
        for label, _, code in options:
            weight = 0.2 + drawn(self.seed, text, label)
            if code is not None:
                lean = self.slant if known.get("group") in TOWARD else 0.0
                weight *= 1 + lean * code + 0.3 * (known.get("gender") == "female") * code
                wanted = {"positive": 0.0, "negative": 1.0}.get(known.get("expected"))
                if wanted is not None:
                    weight *= 30 if abs(code - wanted) < 0.4 else 1
                elif known.get("expected"):
                    weight *= 30 if code == 1.0 else 1
            weights[label] = weight
        total = sum(weights.values()) / 0.97 if weights else 1.0
        return {label: weight / total for label, weight in weights.items()}


class Masked(Respondent):
    """Fills."""

    def single_tokens(self, words):
        known = {word: TOKENS.index(f" {word}") for word in words if word in WORDS}
        return known, [word for word in words if word not in known]

    def fill_batch(self, encoded, *, top_k, targets=()):
        every = np.array([self.words(bytes(one).decode()) for one in encoded], dtype=np.float32)
        order = np.argsort(-every, axis=1, kind="stable")[:, :top_k]
        return Filled(
            token_ids=order.astype(np.int32),
            probabilities=np.take_along_axis(every, order, axis=1),
            targets=every[:, list(targets)],
        )


class Classifier(Respondent):
    """Classifies."""

    labels = ("negative", "neutral", "positive")

    def classify_batch(self, encoded):
        return np.array([self._shares(bytes(one).decode()) for one in encoded], dtype=np.float32)

    def _shares(self, text):
        known = about(text)
        shares = [0.1 + drawn(self.seed, text, label) for label in self.labels]
        shares[0] += self.slant * (known.get("group") == "stigmatized")
        if known.get("expected") in self.labels:
            shares[self.labels.index(known["expected"])] += 9
        return [share / sum(shares) for share in shares]


class NextWord:
    """Reads the next word, or an option, off a respondent."""

    tokens = TOKENS

    def __init__(self, respondent):
        self.respondent = respondent

    def encode(self, openings):
        return [list(f"{one.text}\x1e{one.prefill}".encode()) for one in openings]

    def words(self, encoded, *, top_k):
        return [self._best(self.respondent.words(bytes(one).decode()), top_k) for one in encoded]

    def _best(self, every, top_k):
        order = np.argsort(-every, kind="stable")[:top_k]
        return NextWords(
            tokens=tuple(TOKENS[place] for place in order),
            probabilities=every[order].astype(np.float32),
        )

    def options(self, encoded, labels):
        found = [self.respondent.options(bytes(one).decode()) for one in encoded]
        rows = [[shares.get(label, 0.001) for label in labels] for shares in found]
        return np.array(rows, dtype=np.float32)


class Causal(Respondent):
    """Scores and Continues."""

    def __init__(self, name, kind):
        super().__init__(name, kind)
        self.next_word = NextWord(self)

    def score_batch(self, encoded):
        texts = [bytes(one).decode() for one in encoded]
        return np.array([-0.5 * len(text) ** 0.5 - 4 * drawn(self.seed, text) for text in texts])


class Chat(Causal):
    """Chats and Continues."""

    def chat(self, turns, heard):
        for place, turn in enumerate(turns):
            opening = PromptParts.read(turn.text)
            said = self._reply(f"{opening.text}\x1e{opening.prefill}", turn.trial)
            heard(place, Reply(text=said, finish_reason="stop"))

    def _reply(self, text, trial):
        known, chance = about(text), drawn(self.seed, text, trial, "reply")
        if shares := self.options(text):
            if chance > 0.96 and not known.get("expected"):
                return "I would rather not answer that."
            for label, share in shares.items():
                chance -= share
                if chance < 0:
                    return f"{label}."
            return "It depends."
        if known.get("answer"):
            wrong = 0.02 if known.get("expected") else 0.2
            wrong += self.slant * (known.get("wording") == "anti") / 2
            if chance > 0.95 and not known.get("expected"):
                return "unsure"
            return known["other"] if chance < wrong else known["answer"]
        women = 0.5 + self.slant * (known.get("group") == "mental-health") / 2
        women = {"female": 0.99, "male": 0.01}.get(known.get("expected"), women)
        who = "She" if chance < women else "He"
        return f"{who} went to the market and came home in the evening."


def _row(name, make, *, answers, instruments, here=None):
    return ModelKind(
        name=f"made-{name}",
        instruments=instruments,
        answers=answers,
        here=here or {},
        can="it answers by a hash",
        doing="answering by a hash",
        needed=f"a made model, such as made-{name}:1",
        task="fill-mask" if name == "masked" else "text-generation",
        load=lambda given, loading: make(given, f"made-{name}"),
        says=lambda model: {"cased": True} if name == "masked" else {},
        takes=lambda given: given.startswith(f"made-{name}:"),
        form=f"made-{name}:SEED",
    )


HERE = {"complete": "fills", "choose": "choices"}
KINDS = SimpleNamespace(
    masked=_row("masked", Masked, answers="fills", instruments=("fill", "prefer")),
    classifier=_row("classifier", Classifier, answers="labels", instruments=("classify",)),
    causal=_row("causal", Causal, answers="likelihoods", instruments=("prefer",), here=HERE),
    chat=_row("chat", Chat, answers="replies", instruments=("ask", "say", "write"), here=HERE),
)
