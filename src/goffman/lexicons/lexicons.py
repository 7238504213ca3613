"""The lexicons and the parser that answers are read with, and variants of them for a multiverse.

A variant is data: a record that can go to another process, and gives the same lexicons there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from goffman.lexicons.attitude import ATTITUDES, BUILT_IN, USER, fold, load_attitudes, raters_of
from goffman.runs.manifest import GenderFile, LexiconEntries

if TYPE_CHECKING:
    import polars as pl

    from goffman.lexicons.attitude import Attitudes
    from goffman.lexicons.gender import GenderLexicon


@dataclass(frozen=True, kw_only=True)
class Lexicons:
    """The lexicons and the parser that the answers of a run are read with."""

    attitudes: Attitudes
    gender: GenderLexicon
    gender_file: str = "shipped"
    """The name of the file that the gender of words comes from."""
    parser: str
    """The parser of replies."""

    @property
    def entries(self) -> LexiconEntries:
        """Return the entries of a manifest: the files of the lexicons, and the parser's name."""
        words, digest = len(self.gender.words), self.gender.digest
        return LexiconEntries(
            attitudes=self.attitudes.sources,
            gender=GenderFile(file=self.gender_file, sha256=digest, words=words),
            parser=self.parser,
        )


OPPOSITE = {"female": "male", "male": "female"}
"""The wrong label of a gender word, by its right one."""


@dataclass(frozen=True, kw_only=True)
class LexiconVariant:
    """How lexicons and parser differ from those that a run was measured with."""

    rater: str = ""
    """The column of one rater's labels, such as rating_1, that counts where a file has it; empty:
    the settled labels count."""
    sources: tuple[str, ...] = ()
    """The names in BUILT_IN of the only ratings that count; empty: the same ratings as before."""
    neutral: bool = True
    """Whether neutral words count; else they are irrelevant."""
    parser: str = ""
    """The parser of replies; empty: as before."""
    without: str = ""
    """A word that does not count at all; empty: none."""
    wrong: float = 0.0
    """The chance of each word to have a wrong label, 0 to 1."""
    seed: int = 0
    """The seed of the draw of wrong labels."""

    def of(self, words: Lexicons) -> Lexicons:
        """Return the lexicons with the changes of this variant."""
        return replace(
            words,
            attitudes=self._attitudes(words.attitudes),
            gender=self._gender(words.gender),
            parser=self.parser or words.parser,
        )

    def _attitudes(self, attitudes: Attitudes) -> Attitudes:
        import polars as pl

        if self.rater or self.sources:
            files = self.sources or [source.file for source in attitudes.sources]
            attitudes = load_attitudes([*map(Path, files)], shipped=False, by=self.rater or "label")
        table, label = attitudes.table, pl.col("label")
        if not self.neutral:
            table = table.with_columns(label=label.replace({"neutral": "irrelevant"}))
        if self.without:
            # The word becomes irrelevant in every item and wording.
            word = fold(self.without)
            row = {"word": word, "item": "", "wording": "", "label": "irrelevant", "place": 0}
            row |= {"rater": USER}
            row_table = pl.DataFrame([row], schema=table.schema)
            table = pl.concat([table.filter(pl.col("word") != word), row_table])
        if self.wrong:
            table = _wrong(table, self.wrong, np.random.default_rng(self.seed))
        return replace(attitudes, table=table)

    def _gender(self, lexicon: GenderLexicon) -> GenderLexicon:
        words = lexicon.words
        if self.without:
            words = tuple(entry for entry in words if fold(entry.word) != fold(self.without))
        if self.wrong:
            drawn = np.random.default_rng(self.seed).random(len(words)) < self.wrong
            words = tuple(
                replace(entry, group=OPPOSITE.get(entry.group, entry.group)) if is_wrong else entry
                for entry, is_wrong in zip(words, drawn.tolist(), strict=True)
            )
        return lexicon if words is lexicon.words else replace(lexicon, words=words)


def single_raters(attitudes: Attitudes) -> Iterator[str]:
    """Yield the names of all columns with a single rater's labels in the files, sorted."""
    paths = [BUILT_IN.get(source.file, Path(source.file)) for source in attitudes.sources]
    yield from sorted({name for path in paths for name in raters_of(path)})


def has_others(attitudes: Attitudes) -> bool:
    """Return whether a user's ratings are used together with some that come with goffman."""
    files = {source.file for source in attitudes.sources}
    return not files.isdisjoint(BUILT_IN) and not files <= BUILT_IN.keys()


def _wrong(table: pl.DataFrame, rate: float, rng: np.random.Generator) -> pl.DataFrame:
    """Return the ratings with wrong labels: each row gets one with the probability ``rate``."""
    import polars as pl

    table = table.sort("word", "item", "wording")
    places = {label: place for place, label in enumerate(ATTITUDES)}
    labels = np.array([places[label] for label in table["label"]])
    # Moving on by one to three of the four labels gives each of the others, never the same.
    moved = (labels + rng.integers(1, len(ATTITUDES), len(labels))) % len(ATTITUDES)
    chosen = np.where(rng.random(len(labels)) < rate, moved, labels)
    return table.with_columns(label=pl.Series([ATTITUDES[place] for place in chosen.tolist()]))
