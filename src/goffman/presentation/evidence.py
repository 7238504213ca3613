"""The answers behind a number as rows for a page: what was said, how probable, what it counts as.

A row is what stands at one rank of one prompt's answer: a word, a class, or a trial's reply.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from goffman.formatting import number
from goffman.instruments.types import THEY, options_from
from goffman.lexicons.gender import with_gender
from goffman.schemas import REPLY_KINDS, SENTIMENTS

if TYPE_CHECKING:
    from goffman.lexicons.lexicons import Lexicons
    from goffman.presentation.section import Section
    from goffman.presentation.types import Answers, EvidenceFn

MOST = 12
"""So many phrases of a prompt are kept in a page, the most probable ones."""

AFTER = 1_000
"""Phrases have ranks above this one, so that they never mix with single words."""

_ENDS = ("female", "male", "nonbinary")
_PROMPT = ("model", "prompt_id")


def phrases(fills: pl.DataFrame, placement: str) -> pl.DataFrame:
    """Of each model and prompt the most probable phrases of several words that name a gender.

    ``fills``: every step, with the column ``label``. A branch ends at the first word that names
    one, as in the measure.
    """
    ends = pl.col("label").str.contains(f"^({'|'.join(_ENDS)})")
    by_step = fills.with_columns(ends=ends).partition_by("step", as_dict=True)
    steps = {int(key[0]): frame for key, frame in by_step.items()}
    path = pl.format("{}/{}", "parent", "rank").str.strip_prefix("/")
    words = {"path": path, "head": pl.lit(""), "last": pl.col("word"), "p": pl.col("probability")}
    columns = [*_PROMPT, "rank", "word", "probability", "label"]
    if len(steps) < 2:
        return fills.clear().select(columns)
    both = ("head", "word") if placement == "before-first" else ("word", "head")
    reached = steps[1].select(*_PROMPT, "ends", **words)
    found = []
    for step in sorted(steps)[1:]:
        going_on = reached.filter(~pl.col("ends")).select(
            *_PROMPT, "head", "last", before="p", parent="path"
        )
        further = steps[step].join(going_on, on=[*_PROMPT, "parent"])
        words = {
            "path": path,
            # With the new word where its mask was.
            "head": pl.when(pl.col("head") == "").then("word").otherwise(pl.format("{} {}", *both)),
            "p": pl.col("before") * pl.col("probability"),
        }
        reached = further.select(*_PROMPT, "ends", "label", "last", **words)
        found.append(reached.filter("ends"))
    rank = pl.col("p").rank("ordinal", descending=True).over(_PROMPT).cast(pl.Int64)
    best = pl.concat(found).with_columns(rank=rank).filter(pl.col("rank") <= MOST)
    text = pl.format("{} {}", "head", "last")
    return best.select(
        *_PROMPT, pl.col("rank") + AFTER, word=text, probability="p", label="label"
    ).cast({"probability": fills.schema["probability"]})


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
    given: Answers, section: Section, words: Lexicons | None, most: int
) -> pl.DataFrame:
    """The most probable words, each with its attitude."""
    first = _first(given, most)
    if words is None:
        return _unlabelled(first)
    labelled = words.attitudes.label(first, section.prompts)
    return _rows(labelled.with_columns(pl.col("label").fill_null("unrated")))


def words_with_gender(counts: pl.Expr, otherwise: str) -> EvidenceFn:
    """The most probable words with their gender; ``otherwise``: said where one does not count."""

    def rows(given: Answers, _section: Section, words: Lexicons | None, most: int) -> pl.DataFrame:
        first = _first(given, most)
        if words is None:
            return _unlabelled(first)
        label = pl.when(counts).then("label").otherwise(pl.lit(otherwise))
        return _rows(_gendered(first, words, cased=given.cased).with_columns(label=label))

    return rows


def phrases_with_gender(
    given: Answers, section: Section, words: Lexicons | None, most: int
) -> pl.DataFrame:
    """The most probable words, and the phrases that recursive masking made of them."""
    first = _first(given, most)
    if words is None:
        return _unlabelled(first)
    ranked = given.frame.filter(pl.col("rank").is_not_null())
    said = phrases(_gendered(ranked, words, cased=given.cased), section.placement)
    return pl.concat([_rows(_gendered(first, words, cased=given.cased)), _rows(said)])


def classes(given: Answers, _section: Section, _words: Lexicons | None, _most: int) -> pl.DataFrame:
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


def _trials(rows: pl.DataFrame, label: pl.Expr) -> pl.DataFrame:
    """A row for each trial: the beginning of the reply."""
    text = pl.col("text").fill_null("(no reply)")
    short = pl.when(text.str.len_chars() > REPLY).then(text.str.head(REPLY) + "…").otherwise(text)
    return _rows(
        rows.with_columns(rank="trial", word=short, probability=_NO_PROBABILITY, label=label)
    )


def replies(given: Answers, section: Section, _words: Lexicons | None, _most: int) -> pl.DataFrame:
    """A row for each trial, with the kind that it was scored as."""
    kinds = section.scores.filter(
        pl.col("level") == "prompt", pl.col("quantity").is_in(REPLY_KINDS), pl.col("value") == 1
    ).select("model", "prompt_id", "trial", label="quantity")
    joined = given.frame.join(kinds, on=["model", "prompt_id", "trial"], how="left")
    return _trials(joined, pl.col("label"))


def pronouns(given: Answers, section: Section, _words: Lexicons | None, most: int) -> pl.DataFrame:
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
    """Of each sentence the two pronouns, with its log probability."""
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
    said = {"pro": "stereotype", "anti": "against it", THEY: THEY}
    forms = prompts.filter(pl.col("wording").is_in(list(said))).select(
        *pairs, word="pronoun", label=pl.col("wording").replace_strict(said)
    )
    return prompts.select("prompt_id", *pairs).join(forms, on=pairs).drop(pairs)


def _first(given: Answers, most: int) -> pl.DataFrame:
    """The words at the prompt's own mask, down to a rank."""
    return given.frame.filter(pl.col("step") == 1, pl.col("rank") <= most)


def _gendered(fills: pl.DataFrame, words: Lexicons, *, cased: bool) -> pl.DataFrame:
    """The fills with the group of each word, and whether it is a name, in the column label."""
    rows = with_gender(fills, words.gender, cased=cased)
    name = pl.when(pl.col("gender_kind") == "name").then(pl.lit(" name")).otherwise(pl.lit(""))
    return rows.with_columns(label=pl.format("{}{}", "gender_group", name).fill_null("unlisted"))


def _unlabelled(rows: pl.DataFrame) -> pl.DataFrame:
    return _rows(rows.with_columns(label=pl.lit(None, dtype=pl.String)))


def _rows(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select(EVIDENCE.names()).cast(EVIDENCE)


NO_OPTION = "(no option)"
WAY_OUT = "no answer"


def options_with_probabilities(
    given: Answers, section: Section, _words: Lexicons | None, _most: int
) -> pl.DataFrame:
    """A row for each option in the order in which it is listed, and what lies on none of them."""
    options = _options(section.prompts)
    listed = given.frame.join(options, on=["prompt_id", "option"], how="left")
    listed = listed.with_columns(rank="place", word="said", label="counts")
    last = options.group_by("prompt_id").agg(rank=pl.col("place").max() + 1)
    rest = (
        given.frame.unique(["model", "prompt_id"], maintain_order=True)
        .join(last, on="prompt_id")
        .with_columns(word=pl.lit(NO_OPTION), probability="elsewhere", label=pl.lit(WAY_OUT))
    )
    return pl.concat([_rows(listed), _rows(rest)])


def _options(prompts: pl.DataFrame) -> pl.DataFrame:
    """Of each prompt its options: place, what is listed, what it counts."""
    rows = [
        {
            "prompt_id": prompt,
            "option": one.label,
            "place": place,
            "said": f"{one.label}. {one.text}" if one.text else one.label,
            "counts": WAY_OUT if one.code is None else f"code {number(one.code)}",
        }
        for prompt, text in prompts.select("prompt_id", "options").rows()
        for place, one in enumerate(options_from(text), start=1)
    ]
    text = dict.fromkeys(("prompt_id", "option", "said", "counts"), pl.String)
    return pl.DataFrame(rows, schema={**text, "place": pl.Int64})


def replies_as_read(
    given: Answers, _section: Section, _words: Lexicons | None, _most: int
) -> pl.DataFrame:
    """A row for each trial: the reply, and the option or the kind of non-answer it is read as."""
    read = (
        pl.when(pl.col("kind") == "option")
        .then(pl.format("read as {}", "chosen"))
        .otherwise(pl.col("kind").str.replace("-", " ", literal=True))
    )
    return _trials(given.frame, read)
