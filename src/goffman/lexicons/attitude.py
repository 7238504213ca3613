"""What a word says about a situation: the ratings that come with goffman and the user's own.

Ratings by people stand over those by language models, and the user's own over both. The last file
that rates a word wins, and within a file the most specific rating: docs/ratings.md.

A negative word is of one kind: it rejects the situation, says that it is difficult, or that it is
improbable. If any negative word has no kind, as in most of users' files, no kinds are reported.
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
from goffman.instruments.fields import REQUIRED, TEXT, Field, Fields
from goffman.instruments.files import Faults, Row, read_plain, read_table
from goffman.instruments.types import Attitude
from goffman.runs.manifest import RatingsFile

if TYPE_CHECKING:
    import polars as pl

ATTITUDES: tuple[Attitude, ...] = get_args(Attitude)
"""The four labels, in the order of the page's keys 1 to 4."""

KINDS = ("rejection", "difficulty", "improbability")
"""What a negative word says against a situation."""

OF_KINDS = ("kind", "kind_1", "kind_2")
"""Columns with the kind of a negative word: as settled, and by each of two passes of rating."""

SHIPPED = Path(__file__).parent / "data" / "attitudes.csv"

PEOPLE = "mei2023"
"""The name of the ratings that the two human raters of Mei et al. (2023) settled on."""

BUILT_IN = {"shipped": SHIPPED, PEOPLE: SHIPPED.with_name("attitudes-mei2023.csv")}
"""The ratings that come with goffman, by the names that a manifest has and --ratings takes: by
language models, and by people."""

MODELS, RATERS, USER = "language models", "people", "user"
"""Who rated a word: see docs/ratings.md; the user's own file does not say who did."""

SINGLE = tuple(f"rating_{number}" for number in range(1, 10))
"""Columns with the single ratings that the settled label was made from."""

LEVELS = (("item", "wording"), ("item",), ("wording",), ())
"""What a rating may be bound to, the most specific first."""

_MARKED = re.compile(r"##.+|.+@@|</?[a-z]+\d*>|\[[a-z ]+\d*\]")
"""A piece of a word as WordPiece and BERTweet mark it, or a special token; case-folded."""


@dataclass(frozen=True, kw_only=True)
class Attitudes:
    """Ratings from several files, and the files that they are from."""

    table: pl.DataFrame
    """word, item, wording, label, kind, place, rater: the greater the place, the stronger the
    rating; ``rater``: MODELS, RATERS, or USER."""
    sources: tuple[RatingsFile, ...]
    """The files, each of which overrides those before it."""

    def label(self, fills: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return the fills with label (null: unrated), rated, and rater: who rated the word.

        If every negative word has a kind, the column kind gives it. ``fills`` has prompt_id and
        word; ``prompts`` has prompt_id, item and wording. The rows and their order stay. A word
        that no file rates is irrelevant, and rated, if it can be no word at all: see ``no_word``.
        """
        import polars as pl

        folded = folded_words(fills["word"])
        contexts = prompts.select("prompt_id", "item", "wording")
        fills_in_context = (
            fills.select("prompt_id", "word")
            .join(folded, on="word", how="left", maintain_order="left")
            .join(contexts, on="prompt_id", how="left", maintain_order="left")
        )
        if count := fills_in_context["item"].null_count():
            raise RunError(
                f"{count:,} fills answer a prompt that is not among the prompts given, so that its "
                "item and wording are not known. Give the prompts of the same run."
            )
        combinations = fills_in_context.select("folded", "item", "wording").unique()
        ratings = fills_in_context.join(
            self._labels(combinations),
            on=["folded", "item", "wording"],
            how="left",
            maintain_order="left",
        )
        label = pl.coalesce("label", pl.when("no_word").then(pl.lit("irrelevant", dtype=pl.String)))
        labeled = fills.with_columns(
            ratings.select("rater", label=label, rated=label.is_not_null())
        )
        negative = self.table.filter(label="negative")
        return labeled if negative["kind"].null_count() else labeled.with_columns(ratings["kind"])

    def _labels(self, where: pl.DataFrame) -> pl.DataFrame:
        """Return each rated word, item and wording with the label of its strongest rating."""
        import polars as pl

        tables = []
        for level in LEVELS:
            bound = [pl.col(name) != "" for name in level]
            free = [pl.col(name) == "" for name in ("item", "wording") if name not in level]
            ratings = self.table.filter(*bound, *free).rename({"word": "folded"})
            keys = ["folded", *level]
            columns = ("label", "kind", "rater", "place")
            matches = where.join(ratings.select(*keys, *columns), on=keys, how="inner")
            tables.append(matches.select("folded", "item", "wording", *columns))
        strongest = pl.concat(tables).sort("place", descending=True)
        return strongest.unique(["folded", "item", "wording"], keep="first").drop("place")


def load_attitudes(
    extra: Sequence[Path] = (), *, shipped: bool = True, by: str = "label"
) -> Attitudes:
    """Return goffman's ratings and over them the user's files, the last file strongest.

    A name of BUILT_IN among the files stands for those ratings, and no others of goffman's are then
    used. A user who rates a word everywhere overrules all earlier ratings of it, however specific.

    ``by``: the column with the labels: the settled label, or one of SINGLE, a single rater's label,
    where a file has it. Raise LexiconError with every fault of the first file that has any.
    """
    import polars as pl

    names = [str(path) for path in extra if str(path) in BUILT_IN]
    files = [_built_in(name, by) for name in names or (BUILT_IN if shipped else ())]
    files += [_file_of(path, by) for path in extra if str(path) not in BUILT_IN]
    tables = [
        table.with_columns(pl.col("place") + len(LEVELS) * number)
        for number, (table, _) in enumerate(files)
    ]
    empty = pl.DataFrame(schema=_columns())
    ratings = pl.concat([empty, *tables]).sort("place", descending=True)
    strongest = ratings.unique(["word", "item", "wording"], keep="first", maintain_order=True)
    return Attitudes(table=strongest, sources=tuple(source for _, source in files))


def raters_of(path: Path) -> list[str]:
    """Return the columns of single ratings that a file has."""
    rows = read_ratings(path)
    return [name for name in SINGLE if any(row[name] for row in rows)]


@cache
def _built_in(name: str, by: str) -> tuple[pl.DataFrame, RatingsFile]:
    """Return goffman's ratings of this name, read once: all audits of a process share them."""
    return _file_of(BUILT_IN[name], by, name=name)


def _file_of(path: Path, by: str, *, name: str = "") -> tuple[pl.DataFrame, RatingsFile]:
    """Return the ratings of a file, with ``place`` for how specific each is, and their source."""
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
    source = RatingsFile(file=name or str(path), sha256=digest, ratings=len(rows))
    return pl.DataFrame(columns, schema=_columns()), source


def _columns() -> dict[str, Any]:
    import polars as pl

    strings = dict.fromkeys(("word", "item", "wording", "label", "kind"), pl.String)
    return {**strings, "place": pl.Int64, "rater": pl.String}


RATING_COLUMNS: Fields = {
    "word": REQUIRED,
    "label": Field(required=True, allowed=ATTITUDES),
    **dict.fromkeys(("item", "wording", "rater", "note"), TEXT),
    **dict.fromkeys(SINGLE, Field(allowed=ATTITUDES)),
    **dict.fromkeys(OF_KINDS, Field(allowed=KINDS)),
}


def read_ratings(path: Path) -> list[Row]:
    """Return the rows of a CSV file, one label per word; raise LexiconError with all faults."""
    faults = Faults()
    rows = read_table(path, RATING_COLUMNS, faults)
    lines: dict[tuple[str, str, str], int] = {}
    for row in rows:
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
    """Return the word as it is compared: without surrounding space and without case."""
    return word.strip().casefold()


def no_word(word: str) -> bool:
    """Return whether a token is no word: signs, numbers, marked pieces, special tokens, torn bytes.

    A picture such as 👍 may well say something about a situation, so it is left to the raters.
    """
    folded = fold(word)
    if _MARKED.fullmatch(folded) or "\ufffd" in folded:
        return True
    kinds = {unicodedata.category(sign) for sign in folded}
    return "Cc" in kinds or not any(kind[0] in "LM" or kind == "So" for kind in kinds)


def folded_words(words: pl.Series) -> pl.DataFrame:
    """Return word, folded and no_word, with one row for each different word."""
    import polars as pl

    distinct_words = words.unique().to_list()
    return pl.DataFrame(
        {
            "word": distinct_words,
            "folded": [fold(word) for word in distinct_words],
            "no_word": [no_word(word) for word in distinct_words],
        },
        schema={"word": pl.String, "folded": pl.String, "no_word": pl.Boolean},
    )
