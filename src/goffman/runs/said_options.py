"""Replies of a server that names probabilities → the probability of each option, as choices.

One request gives both: the text, and how probable each token was at the place where the answer
begins. The spellings of a label are added up, as for a model on this machine. A server names some
twenty tokens; what lies on the others is unseen.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from goffman.runs.ask import Asked
from goffman.runs.manifest import with_answers
from goffman.runs.store import answers_folder, read_parts, sound_parts, write_part
from goffman.tables import CHOICES, schema

if TYPE_CHECKING:
    from goffman.choice_items import Option
    from goffman.records import Prompt
    from goffman.runs.folder import Run

Rivals: TypeAlias = Sequence[tuple[str, float]]
"""What a token could have been, and the logarithm of how probable that was."""

PART = (1, 0)
"""The one part that is made from the replies."""


@dataclass(frozen=True, kw_only=True)
class FromReplies:
    """What the replies of a model say of the options."""

    model: str
    sentences: int
    """Different questions whose options have a probability."""
    rows: pl.DataFrame
    """CHOICES."""
    asked: str
    """A digest of whose replies to what these are made from."""


def options_of_replies(
    run: Path,
    said: Sequence[Prompt],
    prompts: Sequence[Prompt],
    *,
    model: str,
    note: Callable[[str], None],
) -> FromReplies | None:
    """What a model's replies say of the options of prompts; None: the server does not say.

    ``said``: the same questions as they were answered in text, those of one instrument.
    """
    instrument = said[0].instrument
    folder = answers_folder(run, "replies", model=model, instrument=instrument)
    shelf = sound_parts(folder, model=model, clear=False)
    replies = read_parts(folder, shelf.parts.values(), "replies")
    texts = {prompt.id: prompt.asked for prompt in said}
    told: dict[str, list[Rivals]] = {}
    for prompt_id, next_words in replies.select("prompt_id", "next_words").iter_rows():
        rivals = json.loads(next_words)[0][1] if next_words is not None else []
        # A server may tell of the token that it said, and of no other.
        if rivals and prompt_id in texts:
            told.setdefault(texts[prompt_id], []).append(rivals)
    # In text, a server may be asked one order of the options alone.
    asked_so = {*texts.values()}
    both = [prompt for prompt in prompts if prompt.asked in asked_so]
    known = [prompt for prompt in both if prompt.asked in told]
    if not known:
        return None
    if missing := len(both) - len(known):
        note(
            f"{instrument}, {model}: the replies to {missing:,} of {len(both):,} prompts came "
            "without probabilities. They count in the text alone."
        )
    rows = [row for prompt in known for row in _rows(prompt, told[prompt.asked], model)]
    asked = [shelf.sha256, [[prompt.id, prompt.asked] for prompt in prompts]]
    return FromReplies(
        model=model,
        sentences=len({prompt.asked for prompt in known}),
        rows=pl.DataFrame(rows, schema=schema(CHOICES), orient="row"),
        asked=hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:16],
    )


def _rows(prompt: Prompt, told: Sequence[Rivals], model: str) -> list[tuple[object, ...]]:
    """CHOICES of one prompt: the means over its trials, which differ by the server's chance."""
    trials = [_of_token(rivals, prompt.options) for rivals in told]
    means = [sum(values) / len(trials) for values in zip(*trials, strict=True)]
    *probabilities, unseen = means
    elsewhere = min(max(1 - sum(probabilities), 0.0), 1.0)
    return [
        (prompt.id, model, option.label, option.code, probability, elsewhere, unseen)
        for option, probability in zip(prompt.options, probabilities, strict=True)
    ]


def _of_token(rivals: Rivals, options: Sequence[Option]) -> list[float]:
    """The probability of each option, then that of all tokens that the server did not name."""
    # Some servers name the token that was said a second time.
    by_token = {token: math.exp(logarithm) for token, logarithm in rivals}
    found = [
        sum(p for token, p in by_token.items() if token.strip() == option.label)
        for option in options
    ]
    return [*found, max(1 - sum(by_token.values()), 0.0)]


def keep_options(run: Run, found: FromReplies, *, instrument: str) -> Asked:
    """What there is; the part is on disk, and the manifest knows it."""
    folder = answers_folder(run.folder, "choices", model=found.model, instrument=instrument)
    shelf = sound_parts(folder, model=found.model, clear=True)
    there = shelf.parts.get(PART)
    if list(shelf.parts) != [PART] or there is None or there.asked != found.asked:
        for part in shelf.parts.values():
            folder.remove(part.name)
        shelf.parts.clear()
        shelf.parts[PART] = write_part(folder, PART, found.rows, asked=found.asked)
    entry = {
        "table": "choices",
        "sentences": found.sentences,
        "rows": shelf.rows,
        "parts": len(shelf.parts),
        "sha256": shelf.sha256,
        "not_one_token": [],
    }
    manifest = with_answers(run.manifest, model=found.model, instrument=instrument, entry=entry)
    if manifest != run.manifest:
        run.manifest = manifest
        run.begin()
    return Asked(
        model=found.model,
        instrument=instrument,
        sentences=found.sentences,
        rows=shelf.rows,
        asked_now=0,
        damaged=shelf.damaged,
    )
