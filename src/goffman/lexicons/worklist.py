"""The words of a run that are still to be rated, in their real sentences, the weightiest first."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from goffman.errors import InputError, did_you_mean
from goffman.lexicons.journal import Unit
from goffman.records import ENGLISH, MASK, Attitude, primary_language

if TYPE_CHECKING:
    import polars as pl

    from goffman.lexicons.attitudes import Attitudes
    from goffman.runs.manifest import Manifest

INSTRUMENT = "social-distance"
"""Whose words the attitudes are about, unless the user names another."""

SENTENCES = 3
"""Shown with a word: the most probable of each item, then the most probable items."""


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence that a model completed with the word."""

    before: str
    word: str
    """As the model wrote it, without space."""
    after: str


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A word to be rated."""

    unit: Unit
    shown: str
    """The word in its most probable spelling."""
    mass: float = 0.0
    """Its part of the probability of all fills, 0 to 1."""
    count: int = 0
    """How many fills it is."""
    sentences: tuple[Sentence, ...] = ()
    given: tuple[Attitude, ...] = ()
    """Settling only: the label that each rater gave, in the order of the labels, not of raters."""


@dataclass(frozen=True, kw_only=True)
class Worklist:
    """Everything that one page is about."""

    title: str
    """The run's folder by name."""
    key: str
    """Tells one page's posts from another's."""
    rated: float = 0.0
    """The part of the probability whose words the lexicon knows, 0 to 1."""
    entries: tuple[Entry, ...] = field(default=())


def words_to_rate(
    run: Path,
    attitudes: Attitudes,
    *,
    instruments: Sequence[str] = (),
    everything: bool = False,
) -> Worklist:
    """The words of a run's fills that the attitudes do not know; ``everything``: known ones too."""
    import polars as pl

    from goffman.lexicons.attitudes import no_word

    fills = _fills(run, instruments)
    labelled = attitudes.label(fills, fills.unique("prompt_id"))
    total = float(fills["probability"].sum())
    words = fills["word"].unique()
    none = words.filter([no_word(word) for word in words])
    wanted = pl.lit(value=True) if everything else ~pl.col("rated")
    left = labelled.filter(wanted, ~pl.col("word").is_in(none.to_list()))
    entries = tuple(_entries(left, total=total))
    rated = 1 - sum(entry.mass for entry in entries) if total else 0.0
    return Worklist(
        title=run.resolve().name, key=run_key(run), rated=max(rated, 0.0), entries=entries
    )


def asked_in_english(run: Path, instruments: Sequence[str]) -> bool:
    """Whether the words are English, as the shipped ratings are."""
    known = _manifest(run).instruments
    asked = [known[name] for name in instruments or [INSTRUMENT] if name in known]
    return all(primary_language(one.language) == ENGLISH for one in asked)


def run_key(run: Path) -> str:
    """The same for a run on every day, another for another run: a hash of who was asked what."""
    manifest = _manifest(run)
    asked = [manifest.models, manifest.instruments]
    entries = [{name: one.entry() for name, one in of.items()} for of in asked]
    what = json.dumps(entries, sort_keys=True)
    return hashlib.sha256(what.encode()).hexdigest()[:16]


def sentences_of(run: Path, words: Iterable[str]) -> dict[str, tuple[Sentence, ...]]:
    """For each case-folded word the sentences of the run in which it stands."""
    wanted = set(words)
    entries = _entries(_fills(run, _instruments_with_fills(_manifest(run))), total=1.0)
    return {entry.unit.word: entry.sentences for entry in entries if entry.unit.word in wanted}


def _manifest(run: Path) -> Manifest:
    from goffman.runs.manifest import read_manifest

    manifest = read_manifest(run)
    if manifest is None:
        raise InputError(
            f"{run} is not a run folder: it has no manifest.json. Make one with goffman audit."
        )
    return manifest


def _instruments_with_fills(manifest: Manifest) -> list[str]:
    entries = [entry for of_model in manifest.answers.values() for entry in of_model.items()]
    return sorted({name for name, entry in entries if entry.table == "fills"})


def _fills(run: Path, instruments: Sequence[str]) -> pl.DataFrame:
    """The top words of each prompt itself, with what was asked."""
    import polars as pl

    from goffman.runs.folder import read_prompts
    from goffman.runs.read import read_answers

    manifest = _manifest(run)
    there = _instruments_with_fills(manifest)
    chosen = list(instruments) or [INSTRUMENT]
    for name in chosen:
        if name not in there:
            listed = ", ".join(there) or "none"
            raise InputError(
                f"{run} has no fills of '{name}'. It has fills of: {listed}."
                f"{did_you_mean(name, there)} Give one of these with --instrument."
            )
    prompts = read_prompts(run, manifest).filter(pl.col("instrument").is_in(chosen))
    asked = prompts.select("prompt_id", "item", "wording", "text")
    fills = read_answers(run, "fills").filter(pl.col("step") == 1, pl.col("rank").is_not_null())
    return fills.join(asked, on="prompt_id", how="inner", maintain_order="left")


def _entries(fills: pl.DataFrame, *, total: float) -> Iterable[Entry]:
    """The words of fills, the largest probability first, equal ones by the alphabet."""
    import polars as pl

    from goffman.lexicons.attitudes import fold

    different = fills["word"].unique().to_list()
    folded = pl.DataFrame(
        {"word": different, "folded": [fold(word) for word in different]},
        schema={"word": pl.String, "folded": pl.String},
    )
    known = (
        fills.join(folded, on="word", how="left")
        .with_columns(pl.col("probability").cast(pl.Float64))
        .sort("probability", "prompt_id", "model", descending=[True, False, False])
    )
    masses = known.group_by("folded").agg(pl.col("probability").sum(), pl.len())
    shown = (
        known.unique(["folded", "item"], keep="first", maintain_order=True)
        .group_by("folded", maintain_order=True)
        .agg(pl.col("text", "word").head(SENTENCES))
    )
    table = masses.join(shown, on="folded").sort("probability", "folded", descending=[True, False])
    for row in table.iter_rows(named=True):
        yield Entry(
            unit=Unit(row["folded"]),
            shown=row["word"][0],
            mass=row["probability"] / total,
            count=row["len"],
            sentences=tuple(
                _sentence(text, word) for text, word in zip(row["text"], row["word"], strict=True)
            ),
        )


def _sentence(text: str, word: str) -> Sentence:
    before, _, after = text.partition(MASK)
    return Sentence(before=before, word=word, after=after)
