"""The answers behind a number as rows for a page: what was said, how probable, what it counts as.

Every row is what stands at one rank of one prompt's answer: a word of a masked model, a class of a
classifier, a reply of a chat model (its rank is the trial).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from goffman.lexicons.gender import with_gender
from goffman.presentation.phrases import phrases
from goffman.tables import REPLY_KINDS, SENTIMENTS

if TYPE_CHECKING:
    from goffman.lexicons.words import Words
    from goffman.presentation.base import Answers, Show
    from goffman.presentation.section import Section

REPLY = 400
"""So many characters of a reply are kept in a page."""

EVIDENCE = pl.Schema(
    {
        "model": pl.String,
        "prompt_id": pl.String,
        "rank": pl.Int64,
        "word": pl.String,
        "probability": pl.Float64,
        "label": pl.String,
    }
)
"""The columns of the rows."""

_NO_PROBABILITY = pl.lit(None, dtype=pl.Float64)


def words_with_attitudes(
    given: Answers, section: Section, words: Words | None, most: int
) -> pl.DataFrame:
    """The most probable words, each with its attitude."""
    first = _first(given, most)
    if words is None:
        return _unlabelled(first)
    labelled = words.attitudes.label(first, section.prompts)
    return _rows(labelled.with_columns(pl.col("label").fill_null("unrated")))


def words_with_gender(counts: pl.Expr, otherwise: str) -> Show:
    """The most probable words with their gender; ``otherwise``: said where one does not count."""

    def rows(given: Answers, _section: Section, words: Words | None, most: int) -> pl.DataFrame:
        first = _first(given, most)
        if words is None:
            return _unlabelled(first)
        label = pl.when(counts).then("label").otherwise(pl.lit(otherwise))
        return _rows(_gendered(first, words, cased=given.cased).with_columns(label=label))

    return rows


def phrases_with_gender(
    given: Answers, section: Section, words: Words | None, most: int
) -> pl.DataFrame:
    """The most probable words, and the phrases that recursive masking made of them."""
    first = _first(given, most)
    if words is None:
        return _unlabelled(first)
    ranked = given.frame.filter(pl.col("rank").is_not_null())
    said = phrases(_gendered(ranked, words, cased=given.cased), section.placement)
    return pl.concat([_rows(_gendered(first, words, cased=given.cased)), _rows(said)])


def classes(given: Answers, _section: Section, _words: Words | None, _most: int) -> pl.DataFrame:
    """A row for each class, the most probable first."""
    rows = given.frame.unpivot(
        list(SENTIMENTS),
        index=["model", "prompt_id", "label"],
        variable_name="word",
        value_name="probability",
    ).filter(pl.col("probability").is_not_null())
    chosen = pl.when(pl.col("word") == pl.col("label")).then(pl.lit("chosen"))
    rank = pl.col("probability").rank("ordinal", descending=True).over("model", "prompt_id")
    return _rows(rows.with_columns(label=chosen, rank=rank.cast(pl.Int64)))


def replies(given: Answers, section: Section, _words: Words | None, _most: int) -> pl.DataFrame:
    """A row for each trial, with the kind that it was scored as."""
    kinds = section.scores.filter(
        pl.col("level") == "prompt", pl.col("quantity").is_in(REPLY_KINDS), pl.col("value") == 1
    ).select("model", "prompt_id", "trial", label="quantity")
    text = pl.col("text").fill_null("(no reply)")
    short = pl.when(text.str.len_chars() > REPLY).then(text.str.head(REPLY) + "…").otherwise(text)
    joined = given.frame.join(kinds, on=["model", "prompt_id", "trial"], how="left")
    return _rows(joined.with_columns(rank=pl.col("trial"), word=short, probability=_NO_PROBABILITY))


def pronouns(given: Answers, section: Section, _words: Words | None, most: int) -> pl.DataFrame:
    """The two pronouns wherever they stand, and of a masked model the most probable words."""
    forms = _forms(section.prompts)
    if given.table == "likelihoods":
        return _likelihoods(given.frame, forms)
    labelled = given.frame.filter(pl.col("step") == 1).join(
        forms, on=["prompt_id", "word"], how="left"
    )
    kept = labelled.filter((pl.col("rank") <= most) | pl.col("label").is_not_null())
    # A pronoun outside the top k has no rank; it comes after those that have one.
    place = pl.col("probability").rank("ordinal", descending=True).over("model", "prompt_id")
    return _rows(kept.with_columns(rank=pl.coalesce("rank", place.cast(pl.Int64))))


def _likelihoods(answers: pl.DataFrame, forms: pl.DataFrame) -> pl.DataFrame:
    """Of each sentence the two pronouns with the logarithm of the whole sentence's probability."""
    labelled = answers.join(forms, on=["prompt_id", "word"])
    place = pl.col("log_probability").rank("ordinal", descending=True).over("model", "prompt_id")
    log = pl.col("log_probability").round(3).cast(pl.String).str.replace("-", "−", literal=True)
    return _rows(
        labelled.with_columns(
            rank=place.cast(pl.Int64),
            word=pl.format("{}: log P of the sentence {}", "word", log),
            probability=_NO_PROBABILITY,
        )
    )


def _forms(prompts: pl.DataFrame) -> pl.DataFrame:
    """Of each prompt the two forms of its pronoun, and which of them is the stereotype's."""
    pairs = ["item", "condition"]
    said = {"pro": "stereotype", "anti": "against it"}
    forms = prompts.filter(pl.col("wording").is_in(list(said))).select(
        *pairs, word="pronoun", label=pl.col("wording").replace_strict(said)
    )
    return prompts.select("prompt_id", *pairs).join(forms, on=pairs).drop(pairs)


def _first(given: Answers, most: int) -> pl.DataFrame:
    """The words at the prompt's own mask, down to a rank."""
    return given.frame.filter(pl.col("step") == 1, pl.col("rank") <= most)


def _gendered(fills: pl.DataFrame, words: Words, *, cased: bool) -> pl.DataFrame:
    """The fills with the group of each word, and whether it is a name, in the column label."""
    rows = with_gender(fills, words.gender, cased=cased)
    name = pl.when(pl.col("gender_kind") == "name").then(pl.lit(" name")).otherwise(pl.lit(""))
    return rows.with_columns(label=pl.format("{}{}", "gender_group", name).fill_null("unlisted"))


def _unlabelled(rows: pl.DataFrame) -> pl.DataFrame:
    return _rows(rows.with_columns(label=pl.lit(None, dtype=pl.String)))


def _rows(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select(EVIDENCE.names()).cast(EVIDENCE)
