"""Which gender a word names: the lexicon, and its groups and kinds put on fills.

A word that is both a name and something else in the lexicon (Guy, King) counts as that other thing:
so results with and without names differ only in the rows of kind ``name``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from goffman.errors import InputError, LexiconError, did_you_mean
from goffman.instruments.fields import OWN_ID, REQUIRED, TEXT, Field, Fields
from goffman.instruments.files import Faults, read_table
from goffman.lexicons.attitude import fold
from goffman.schemas import GENDER, schema

if TYPE_CHECKING:
    import polars as pl

WordKind = Literal["pronoun", "noun", "adjective", "name"]

WORD_KINDS: tuple[WordKind, ...] = get_args(WordKind)
"""Titles (Mrs, sir) are nouns."""

_DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, kw_only=True)
class GenderWord:
    """One word of a lexicon."""

    word: str
    """A name with its capital letter; any other word in any case."""
    group: str
    """female, male, nonbinary, neutral (a person of any gender), or a group of the user's own."""
    kind: WordKind
    count: int | None = None
    """How many people have the name, where that is known."""
    percent: float | None = None
    """The percentage of them who are of the group, 0 to 100; None: unknown, or no name."""
    common_word: bool = False
    """Whether the name is also an ordinary word, a place, a people or a month."""


_FIELDS = attrgetter(*(field.name for field in fields(GenderWord)))


@dataclass(frozen=True, kw_only=True)
class GenderLexicon:
    """The words of a lexicon, and which of them count."""

    words: tuple[GenderWord, ...]
    kinds: tuple[WordKind, ...] = WORD_KINDS
    """Only words of these kinds count."""
    common_words: bool = False
    """Whether names that are also common words count."""
    percent: float = 95.0
    """A name counts where at least this share of its bearers is of its group, 50 to 100."""

    def __post_init__(self) -> None:
        if not self.kinds:
            raise InputError(f"kinds is empty. Allowed: one or more of {', '.join(WORD_KINDS)}.")
        for kind in self.kinds:
            if kind not in WORD_KINDS:
                raise InputError(
                    f"There is no kind of gender word '{kind}'. Allowed: {', '.join(WORD_KINDS)}."
                    + did_you_mean(kind, WORD_KINDS)
                )
        if not 50 <= self.percent <= 100:
            raise InputError(
                f"percent is {self.percent:g}. Allowed: 50 to 100. It is the smallest share of "
                "people with a name who have its gender."
            )

    def counts(self, entry: GenderWord) -> bool:
        """Return whether a word of this lexicon counts."""
        return self._is_in_reach(entry) and (self.common_words or not entry.common_word)

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the words and of which of them count, for the manifest."""
        # Neither the order of the kinds nor 95 for 95.0 is another lexicon.
        settings = [sorted(set(self.kinds)), self.common_words, float(self.percent)]
        # dataclasses.astuple would copy each of thousands of words, which takes most of the time.
        content = json.dumps([settings, [*map(_FIELDS, self.words)]])
        return hashlib.sha256(content.encode()).hexdigest()

    def finder(self, *, cased: bool) -> Callable[[str], GenderWord | None]:
        """Return a function that looks up a model's word and returns its entry, or None.

        A name that is also a common word, such as Grace, has an entry even if such names do not
        count; ``counts`` says whether they do. ``cased``: whether the model's words have case.
        """
        words: dict[str, GenderWord] = {}
        names: dict[str, GenderWord] = {}
        for entry in filter(self._is_in_reach, self.words):
            if entry.kind == "name":
                names[entry.word if cased else fold(entry.word)] = entry
            else:
                words[fold(entry.word)] = entry

        def find(word: str) -> GenderWord | None:
            entry = words.get(fold(word))
            if entry is not None and self.counts(entry):
                return entry
            return names.get(word.strip() if cased else fold(word), entry)

        return find

    def _is_in_reach(self, entry: GenderWord) -> bool:
        return entry.kind in self.kinds and (entry.percent is None or entry.percent >= self.percent)


def load_gender(
    path: str | Path | None = None,
    *,
    kinds: Sequence[WordKind] = WORD_KINDS,
    common_words: bool = False,
    percent: float = 95.0,
) -> GenderLexicon:
    """Return the shipped lexicon, or a CSV file's; raise LexiconError with every fault.

    A file has the columns word, group and kind, and may have count, percent, common_word and
    note. It replaces the shipped lexicon.
    """
    words = _shipped_words() if path is None else _words_of(str(path), [Path(path)])
    return GenderLexicon(
        words=words, kinds=tuple(kinds), common_words=common_words, percent=percent
    )


@cache
def _shipped_words() -> tuple[GenderWord, ...]:
    """Return the shipped words, which are read once for all audits of a process."""
    return _words_of(str(_DATA), [_DATA / "gender-words.csv", _DATA / "first-names.csv"])


def _words_of(name: str, paths: Sequence[Path]) -> tuple[GenderWord, ...]:
    faults = Faults()
    words = tuple(word for path in paths for word in _read_words(path, faults))
    if faults.found:
        raise LexiconError(name, faults.found)
    return words


def with_gender(fills: pl.DataFrame, lexicon: GenderLexicon, *, cased: bool) -> pl.DataFrame:
    """Return a model's fills, in the same order, with the columns GENDER for each ``word``.

    ``cased``: whether the model's words have case. A result without names leaves out the rows
    whose ``gender_kind`` is name. An unlisted word has no ``gender_group``; a word for a person of
    any gender has the group neutral.
    """
    import polars as pl

    find = lexicon.finder(cased=cased)
    rows = []
    for word in fills["word"].drop_nulls().unique():
        if entry := find(word):
            group_and_kind = (entry.group, entry.kind) if lexicon.counts(entry) else (None, None)
            rows.append((word, *group_and_kind, entry.common_word))
    columns = schema(GENDER)
    listed = pl.DataFrame(rows, schema={"word": pl.String, **columns}, orient="row")
    return (
        fills.drop(columns.names(), strict=False)
        .join(listed, on="word", how="left", maintain_order="left")
        .with_columns(pl.col("common_word").fill_null(value=False))
    )


def _is_share(text: str) -> bool:
    try:
        return 0 <= float(text) <= 100
    except ValueError:
        return False


_COLUMNS: Fields = {
    "word": REQUIRED,
    "group": OWN_ID,
    "kind": Field(required=True, allowed=WORD_KINDS),
    "count": Field(
        test=lambda text: text.isascii() and text.isdigit(), says="a whole number, or nothing"
    ),
    "percent": Field(test=_is_share, says="a number from 0 to 100, or nothing"),
    "common_word": Field(allowed=("true", "false")),
    "note": TEXT,
}


def _read_words(path: Path, faults: Faults) -> list[GenderWord]:
    rows = read_table(path, _COLUMNS, faults)
    lines: dict[tuple[str, bool], int] = {}
    for row in rows:
        # A word may stand twice only as a name and as something else, which then comes first.
        line = lines.setdefault((fold(row["word"]), row["kind"] == "name"), row.number)
        if line != row.number:
            row.note(f"the word '{row['word']}' is already on line {line}.")
    if faults.found:
        return []
    return [
        GenderWord(
            word=row["word"],
            group=row["group"],
            kind=row["kind"],
            count=int(row["count"]) if row["count"] else None,
            percent=float(row["percent"]) if row["percent"] else None,
            common_word=row["common_word"] == "true",
        )
        for row in rows
    ]
