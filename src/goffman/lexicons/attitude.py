"""What a word says about a situation: the ratings that come with goffman and the user's own.

Ratings by people stand over those by language models, and the user's own over both. The last file
that rates a word wins, and within a file the most specific rating: docs/ratings.md.

A negative word is of one kind: it rejects the situation, says that it is difficult, or that it is
improbable. Where any negative word has no kind, as in most files of a user's own, none is told.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from goffman.errors import LexiconError, RunError
from goffman.instruments.files import Faults, Row, read_plain, read_table
from goffman.instruments.types import Attitude

if TYPE_CHECKING:
    import polars as pl

ATTITUDES: tuple[Attitude, ...] = get_args(Attitude)
"""The four labels, in the order of the page's keys 1 to 4."""

KINDS = ("rejection", "difficulty", "improbability")
"""What a negative word says against a situation."""

OF_KINDS = ("kind", "kind_1", "kind_2")
"""Columns with the kind of a negative word: as settled, and by either pass."""

SHIPPED = Path(__file__).parent / "data" / "attitudes.csv"

PEOPLE = "mei2023"
"""The name of the ratings that the two human raters of Mei et al. (2023) settled on."""

BUILT_IN = {"shipped": SHIPPED, PEOPLE: SHIPPED.with_name("attitudes-mei2023.csv")}
"""The ratings that come with goffman, by the names that a manifest has and --ratings takes: by
language models, and by people."""

MODELS, RATERS, USER = "language models", "people", "user"
"""Who rated a word: see docs/ratings.md; the user's own file does not say who did."""

SINGLE = tuple(f"rating_{number}" for number in range(1, 10))
"""Columns with the single ratings that a settled label was made from."""

LEVELS = (("item", "wording"), ("item",), ("wording",), ())
"""What a rating may be bound to, the most specific first."""

_MARKED = re.compile(r"##.+|.+@@|</?[a-z]+\d*>|\[[a-z ]+\d*\]")
"""A piece of a word as WordPiece and BERTweet mark it, or a special token; case-folded."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file of ratings that was used."""

    file: str
    """A name of BUILT_IN, or the path as the user gave it."""
    sha256: str
    ratings: int

    def entry(self) -> dict[str, Any]:
        """What a manifest says of it."""
        return {"file": self.file, "sha256": self.sha256, "ratings": self.ratings}


@dataclass(frozen=True, kw_only=True)
class Attitudes:
    """Ratings from several files, and which file they are from."""

    table: pl.DataFrame
    """word, item, wording, label, kind, place, rater: the greater the place, the stronger the
    rating; ``rater``: MODELS, RATERS, or USER."""
    sources: tuple[Source, ...]
    """In the order in which they override each other."""

    def label(self, fills: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """The fills with label (null: unrated), rated, and rater: who rated the word.

        Where every negative word has a kind, the column kind says it.
        ``fills`` has prompt_id and word; ``prompts`` has prompt_id, item and wording. The rows
        stay as they are, in their order. A word that no file knows is irrelevant, and rated, if it
        can be no word at all: see ``no_word``.
        """
        import polars as pl

        folded = folded_words(fills["word"])
        asked = prompts.select("prompt_id", "item", "wording")
        known = (
            fills.select("prompt_id", "word")
            .join(folded, on="word", how="left", maintain_order="left")
            .join(asked, on="prompt_id", how="left", maintain_order="left")
        )
        if count := known["item"].null_count():
            raise RunError(
                f"{count:,} fills answer a prompt that is not among the prompts given, so that its "
                "item and wording are not known. Give the prompts of the same run."
            )
        where = known.select("folded", "item", "wording").unique()
        labelled = known.join(
            self._labels(where), on=["folded", "item", "wording"], how="left", maintain_order="left"
        )
        label = pl.coalesce("label", pl.when("no_word").then(pl.lit("irrelevant", dtype=pl.String)))
        found = fills.with_columns(labelled.select("rater", label=label, rated=label.is_not_null()))
        negative = self.table.filter(pl.col("label") == "negative")
        return found if negative["kind"].null_count() else found.with_columns(labelled["kind"])

    def _labels(self, where: pl.DataFrame) -> pl.DataFrame:
        """Each word, item and wording with the label of its strongest rating, or null."""
        import polars as pl

        fitting = []
        for level in LEVELS:
            bound = [pl.col(name) != "" for name in level]
            free = [pl.col(name) == "" for name in ("item", "wording") if name not in level]
            ratings = self.table.filter(*bound, *free).rename({"word": "folded"})
            keys = ["folded", *level]
            said = ("label", "kind", "rater", "place")
            rated = where.join(ratings.select(*keys, *said), on=keys, how="inner")
            fitting.append(rated.select("folded", "item", "wording", *said))
        strongest = pl.concat(fitting).sort("place", descending=True)
        return strongest.unique(["folded", "item", "wording"], keep="first").drop("place")


def load_attitudes(
    extra: Sequence[Path] = (), *, shipped: bool = True, by: str = "label"
) -> Attitudes:
    """The ratings that come with goffman and over them the user's files, the last one strongest.

    A name of BUILT_IN among the files stands for these ratings, and no others that come with
    goffman. A user who rates a word everywhere has overruled whatever was said of it before,
    however specific that was.

    ``by``: the column that says what a word is: the settled label, or one rater's of SINGLE where a
    file has it. LexiconError names every fault of the first file that has any.
    """
    import polars as pl

    named = [str(path) for path in extra if str(path) in BUILT_IN]
    files = [_built_in(name, by) for name in named or (BUILT_IN if shipped else ())]
    files += [_file_of(path, by) for path in extra if str(path) not in BUILT_IN]
    tables = [
        table.with_columns(pl.col("place") + len(LEVELS) * number)
        for number, (table, _) in enumerate(files)
    ]
    empty = pl.DataFrame(schema=_columns())
    everything = pl.concat([empty, *tables]).sort("place", descending=True)
    strongest = everything.unique(["word", "item", "wording"], keep="first", maintain_order=True)
    return Attitudes(table=strongest, sources=tuple(source for _, source in files))


def raters_of(path: Path) -> list[str]:
    """Which columns of single ratings a file has."""
    rows = read_ratings(path)
    return [name for name in SINGLE if any(row[name] for row in rows)]


@cache
def _built_in(name: str, by: str) -> tuple[pl.DataFrame, Source]:
    """Read once: every audit of a process has the same ratings."""
    return _file_of(BUILT_IN[name], by, name=name)


def _file_of(path: Path, by: str, *, name: str = "") -> tuple[pl.DataFrame, Source]:
    """The ratings of a file, where ``place`` is how specific each is, and what they are from."""
    import polars as pl

    rows = read_ratings(path)
    levels = [tuple(name for name in ("item", "wording") if row[name]) for row in rows]
    columns = {
        "word": [fold(row["word"]) for row in rows],
        "item": [row["item"] for row in rows],
        "wording": [row["wording"] for row in rows],
        "label": [row[by] or row["label"] for row in rows],
        "kind": [row["kind"] or None for row in rows],
        # 0 for a rating everywhere, up to 3 for one of an item in a wording.
        "place": [len(LEVELS) - 1 - LEVELS.index(level) for level in levels],
        "rater": [MODELS if path == SHIPPED else RATERS if name else USER] * len(rows),
    }
    digest = hashlib.sha256(read_plain(path)).hexdigest()
    source = Source(file=name or str(path), sha256=digest, ratings=len(rows))
    return pl.DataFrame(columns, schema=_columns()), source


def _columns() -> dict[str, Any]:
    import polars as pl

    strings = dict.fromkeys(("word", "item", "wording", "label", "kind"), pl.String)
    return {**strings, "place": pl.Int64, "rater": pl.String}


def read_ratings(path: Path) -> list[Row]:
    """The rows of a CSV file with one label a word; LexiconError with every fault by line."""
    faults = Faults()
    optional = ("item", "wording", "rater", "note", *SINGLE, *OF_KINDS)
    rows = read_table(path, required=("word", "label"), optional=optional, faults=faults)
    lines: dict[tuple[str, str, str], int] = {}
    for row in rows:
        for column in ("label", *SINGLE, *OF_KINDS):
            if row[column]:
                row.check_one_of(column, KINDS if column in OF_KINDS else ATTITUDES)
        key = (fold(row["word"]), row["item"], row["wording"])
        if (line := lines.setdefault(key, row.number)) != row.number:
            row.note(
                f"'{row['word']}' is already rated on line {line}. A word can have only one "
                "label. If several people rated it, settle their disagreements first: goffman "
                "agree --settle"
            )
    if faults.found:
        raise LexiconError(str(path), faults.found)
    return rows


def fold(word: str) -> str:
    """The word as it is compared: without space around it and without case."""
    return word.strip().casefold()


def no_word(word: str) -> bool:
    """Whether a token can be no word: signs, numbers, a marked piece, a special token, torn bytes.

    A picture such as 👍 may well say something of a situation, so it is left to the raters.
    """
    folded = fold(word)
    if _MARKED.fullmatch(folded) or "\ufffd" in folded:
        return True
    kinds = {unicodedata.category(sign) for sign in folded}
    return "Cc" in kinds or not any(kind[0] in "LM" or kind == "So" for kind in kinds)


def folded_words(words: pl.Series) -> pl.DataFrame:
    """word, folded, no_word: one row for each different word."""
    import polars as pl

    different = words.unique().to_list()
    return pl.DataFrame(
        {
            "word": different,
            "folded": [fold(word) for word in different],
            "no_word": [no_word(word) for word in different],
        },
        schema={"word": pl.String, "folded": pl.String, "no_word": pl.Boolean},
    )
