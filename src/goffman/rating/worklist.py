"""The words of a run to be rated, in their real sentences, the most probable first."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from goffman.errors import InputError, did_you_mean, no_run
from goffman.instruments.types import ENGLISH, MASK, Attitude, primary_language
from goffman.modes import asked_ids
from goffman.rating.journal import Unit

if TYPE_CHECKING:
    import polars as pl

    from goffman.lexicons.attitude import Attitudes
    from goffman.runs.manifest import Manifest

INSTRUMENT = "social-distance"
"""The instrument whose words are rated, unless the user names another."""

Offer = Literal["most", "unrated", "all"]
"""Which words to rate: those with most of the probability, those without a rating, or all."""

MOST = 0.8
"""This share of the probability of all words is enough to settle a number: the remaining share is
spread over many words, each of which changes the number by next to nothing."""

SENTENCES = 3
"""Number of sentences shown with a word: the most probable of each item, then the most probable
items."""


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence that a model completed with the word."""

    before: str
    word: str
    """As the model wrote it, without spaces around it."""
    after: str


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A word to be rated."""

    unit: Unit
    shown: str
    """The word in its most probable spelling."""
    mass: float = 0.0
    """The word's part of the probability of all words, 0 to 1; signs and pieces of words are no
    words."""
    count: int = 0
    """Number of fills with this word."""
    sentences: tuple[Sentence, ...] = ()
    given: tuple[Attitude, ...] = ()
    """For settling only: the label that each rater gave, in the order of the labels, not of
    raters."""


@dataclass(frozen=True, kw_only=True)
class Worklist:
    """Everything that one page is about."""

    title: str
    """The name of the run's folder."""
    key: str
    """A key that tells one page's posts from another's."""
    rated: float = 0.0
    """The part of the probability whose words are not asked because they are rated, 0 to 1."""
    beyond: float = 0.0
    """The part of the probability whose words could also be asked but are not, 0 to 1."""
    words: int = 0
    """Number of different words of the run that can be rated at all."""
    offer: Offer = "all"
    entries: tuple[Entry, ...] = field(default=())


def words_to_rate(
    run: Path,
    attitudes: Attitudes,
    *,
    instruments: Sequence[str] = (),
    offer: Offer = "most",
) -> Worklist:
    """Return the words of a run's fills that are to be rated.

    Words that the attitudes already rate are left out, unless all are wanted.
    """
    import polars as pl

    fills = _fills(run, instruments)
    labelled = attitudes.label(fills, fills.unique("prompt_id"))
    words_only = _folded(labelled).filter(~pl.col("no_word"))
    total = float(words_only["probability"].sum())
    left = words_only if offer == "all" else words_only.filter(~pl.col("rated"))
    asked = left
    if offer == "most":
        # The fewest words that together have this share of the probability.
        masses = _masses(words_only).sort("probability", "folded", descending=[True, False])
        before = pl.col("probability").cum_sum() - pl.col("probability")
        weightiest = masses.filter(before < MOST * pl.col("probability").sum())["folded"]
        asked = left.filter(pl.col("folded").is_in(weightiest.to_list()))
    entries = tuple(_entries(asked, total=total))
    beyond = (float(left["probability"].sum()) - float(asked["probability"].sum())) / (total or 1)
    rated = 1 - beyond - sum(entry.mass for entry in entries) if total else 0.0
    return Worklist(
        title=run.resolve().name,
        key=run_key(run),
        rated=max(rated, 0.0),
        beyond=max(beyond, 0.0),
        words=words_only["folded"].n_unique(),
        offer=offer,
        entries=entries,
    )


def asked_in_english(run: Path, instruments: Sequence[str]) -> bool:
    """Return whether the words are English, as the shipped ratings are."""
    entries = _manifest(run).instruments
    asked_entries = [entries[name] for name in instruments or [INSTRUMENT] if name in entries]
    return all(primary_language(entry.language) == ENGLISH for entry in asked_entries)


def run_key(run: Path) -> str:
    """Return a hash of who was asked what: always the same for a run, different for other runs."""
    manifest = _manifest(run)
    groups = [manifest.models, manifest.instruments]
    entries = [{name: entry.entry() for name, entry in group.items()} for group in groups]
    text = json.dumps(entries, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def sentences_of(run: Path, words: Iterable[str]) -> dict[str, tuple[Sentence, ...]]:
    """Return for each case-folded word the sentences of the run in which it occurs."""
    import polars as pl

    wanted = set(words)
    fills = _folded(_fills(run, _instruments_with_fills(_manifest(run))))
    entries = _entries(fills.filter(pl.col("folded").is_in(list(wanted))), total=1.0)
    return {entry.unit.word: entry.sentences for entry in entries}


def _manifest(run: Path) -> Manifest:
    from goffman.runs.manifest import read_manifest

    manifest = read_manifest(run)
    if manifest is None:
        raise InputError(no_run(run))
    return manifest


def _instruments_with_fills(manifest: Manifest) -> list[str]:
    entries = [entry for of_model in manifest.answers.values() for entry in of_model.items()]
    return sorted({name for name, entry in entries if entry.table == "fills"})


def _fills(run: Path, instruments: Sequence[str]) -> pl.DataFrame:
    """Return the words that each prompt's measure counts, with what was asked."""
    import polars as pl

    from goffman.runs.run import read_answers, read_prompts

    manifest = _manifest(run)
    available = _instruments_with_fills(manifest)
    chosen = list(instruments) or [INSTRUMENT]
    for name in chosen:
        if name not in available:
            listed = ", ".join(available) or "none"
            raise InputError(
                f"{run} has no filled-in words for '{name}'.{did_you_mean(name, available)} It has "
                f"some for: {listed}. Choose with --instrument."
            )
    prompts = read_prompts(run, manifest).filter(asked_ids().is_in(chosen))
    asked = prompts.select("prompt_id", "item", "wording", "text")
    tables = []
    # Instrument by instrument: an unfinished other instrument must not get in the way.
    for name in dict.fromkeys(chosen):
        fills = read_answers(run, "fills", instrument=name)
        fills = fills.filter(pl.col("step") == 1, pl.col("rank").is_not_null())
        # A measure may take fewer words than are stored.
        top_k = manifest.instruments[name].measured.get("top_k")
        tables.append(fills if top_k is None else fills.filter(pl.col("rank") <= top_k))
    return pl.concat(tables).join(asked, on="prompt_id", how="inner", maintain_order="left")


def _folded(fills: pl.DataFrame) -> pl.DataFrame:
    """Return fills with each word as it is compared, whether it is no word, exact probabilities."""
    import polars as pl

    from goffman.lexicons.attitude import folded_words

    folded = folded_words(fills["word"])
    joined = fills.join(folded, on="word", how="left", maintain_order="left")
    return joined.with_columns(pl.col("probability").cast(pl.Float64))


def _masses(fills: pl.DataFrame) -> pl.DataFrame:
    """Return each word with its probability in all fills, and the number of its fills."""
    import polars as pl

    return fills.group_by("folded").agg(pl.col("probability").sum(), pl.len())


def _entries(fills: pl.DataFrame, *, total: float) -> Iterable[Entry]:
    """Yield the words of fills, the most probable first, equal ones in alphabetical order."""
    import polars as pl

    ordered = fills.sort("probability", "prompt_id", "model", descending=[True, False, False])
    masses = _masses(ordered)
    shown = (
        ordered.unique(["folded", "item"], keep="first", maintain_order=True)
        .group_by("folded", maintain_order=True)
        .agg(pl.col("text", "word").head(SENTENCES))
    )
    table = masses.join(shown, on="folded").sort("probability", "folded", descending=[True, False])
    for row in table.iter_rows(named=True):
        parts = [text.partition(MASK) for text in row["text"]]
        yield Entry(
            unit=Unit(row["folded"]),
            shown=row["word"][0],
            mass=row["probability"] / total,
            count=row["len"],
            sentences=tuple(
                Sentence(before=before, word=word, after=after)
                for (before, _, after), word in zip(parts, row["word"], strict=True)
            ),
        )
