"""The answers behind a number as rows for a page: the text, its probability, what it counts as.

A row holds one rank of one prompt's answer: a word, a class, or a trial's reply.
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
    from goffman.presentation.section import Answers, EvidenceFn, Section

MOST = 12
"""The number of phrases of a prompt that a page keeps, the most probable ones."""

AFTER = 1_000
"""The rank above which phrases are numbered, so that they never mix with single words."""

_ENDS = ("female", "male", "nonbinary")
_PROMPT = ("model", "prompt_id")


def phrases(fills: pl.DataFrame, placement: str) -> pl.DataFrame:
    """Return each model and prompt's most probable phrases of several words that name a gender.

    ``fills``: every step, with the column ``label``. A branch ends at the first word that names a
    gender, as in the measure.
    """
    ends = pl.col("label").str.contains(f"^({'|'.join(_ENDS)})")
    by_step = fills.with_columns(ends=ends).partition_by("step", as_dict=True)
    steps = {int(key[0]): frame for key, frame in by_step.items()}
    path = pl.format("{}/{}", "parent", "rank").str.strip_prefix("/")
    words = {"path": path, "head": pl.lit(""), "last": pl.col("word"), "p": pl.col("probability")}
    columns = [*_PROMPT, "rank", "word", "probability", "label"]
    if len(steps) < 2:
        return fills.clear().select(columns)
    parts = ("head", "word") if placement == "before-first" else ("word", "head")
    reached = steps[1].select(*_PROMPT, "ends", **words)
    finished = []
    for step in sorted(steps)[1:]:
        unfinished = reached.filter(~pl.col("ends")).select(
            *_PROMPT, "head", "last", before="p", parent="path"
        )
        continued = steps[step].join(unfinished, on=[*_PROMPT, "parent"])
        words = {
            "path": path,
            # The new word stands where its mask was.
            "head": pl.when(pl.col("head") == "")
            .then("word")
            .otherwise(pl.format("{} {}", *parts)),
            "p": pl.col("before") * pl.col("probability"),
        }
        reached = continued.select(*_PROMPT, "ends", "label", "last", **words)
        finished.append(reached.filter("ends"))
    rank = pl.col("p").rank("ordinal", descending=True).over(_PROMPT).cast(pl.Int64)
    best = pl.concat(finished).with_columns(rank=rank).filter(pl.col("rank") <= MOST)
    text = pl.format("{} {}", "head", "last")
    return best.select(
        *_PROMPT, pl.col("rank") + AFTER, word=text, probability="p", label="label"
    ).cast({"probability": fills.schema["probability"]})


REPLY = 400
"""The number of characters of a reply that a page keeps."""

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
"""The columns of rows of evidence."""

_NO_PROBABILITY = pl.lit(None, dtype=pl.Float64)


def words_with_attitudes(
    answers: Answers, section: Section, words: Lexicons | None, most: int
) -> pl.DataFrame:
    """Return the most probable words, each with its attitude."""
    first = _first(answers, most)
    if words is None:
        return _unlabelled(first)
    labelled = words.attitudes.label(first, section.prompts)
    return _rows(labelled.with_columns(pl.col("label").fill_null("unrated")))


def words_with_gender(counts: pl.Expr, otherwise: str) -> EvidenceFn:
    """Return a function for rows of the most probable words with their gender.

    ``otherwise``: the label of a word that does not count.
    """

    def rows(
        answers: Answers, _section: Section, words: Lexicons | None, most: int
    ) -> pl.DataFrame:
        first = _first(answers, most)
        if words is None:
            return _unlabelled(first)
        label = pl.when(counts).then("label").otherwise(pl.lit(otherwise))
        return _rows(_gendered(first, words, cased=answers.cased).with_columns(label=label))

    return rows


def phrases_with_gender(
    answers: Answers, section: Section, words: Lexicons | None, most: int
) -> pl.DataFrame:
    """Return the most probable words, and the phrases that recursive masking made of them."""
    first = _first(answers, most)
    if words is None:
        return _unlabelled(first)
    ranked = answers.frame.drop_nulls("rank")
    phrase_rows = phrases(_gendered(ranked, words, cased=answers.cased), section.placement)
    return pl.concat([_rows(_gendered(first, words, cased=answers.cased)), _rows(phrase_rows)])


def classes(
    answers: Answers, _section: Section, _words: Lexicons | None, _most: int
) -> pl.DataFrame:
    """Return a row for each class, the most probable first."""
    rows = answers.frame.unpivot(
        list(SENTIMENTS),
        index=["model", "prompt_id", "label"],
        variable_name="word",
        value_name="probability",
    ).drop_nulls("probability")
    chosen = pl.when(pl.col("word") == pl.col("label")).then(pl.lit("chosen"))
    rank = pl.col("probability").rank("ordinal", descending=True).over("model", "prompt_id")
    return _rows(rows.with_columns(label=chosen, rank=rank.cast(pl.Int64)))


def _trials(rows: pl.DataFrame, label: pl.Expr) -> pl.DataFrame:
    """Return a row for each trial, with the beginning of the reply."""
    text = pl.col("text").fill_null("(no reply)")
    short = pl.when(text.str.len_chars() > REPLY).then(text.str.head(REPLY) + "…").otherwise(text)
    return _rows(
        rows.with_columns(rank="trial", word=short, probability=_NO_PROBABILITY, label=label)
    )


def replies(
    answers: Answers, section: Section, _words: Lexicons | None, _most: int
) -> pl.DataFrame:
    """Return a row for each trial, with the kind that it was scored as."""
    kinds = section.scores.filter(
        pl.col("quantity").is_in(REPLY_KINDS), level="prompt", value=1
    ).select("model", "prompt_id", "trial", label="quantity")
    joined = answers.frame.join(kinds, on=["model", "prompt_id", "trial"], how="left")
    return _trials(joined, pl.col("label"))


def pronouns(
    answers: Answers, section: Section, _words: Lexicons | None, most: int
) -> pl.DataFrame:
    """Return the two pronouns at any rank, and for a masked model the most probable words."""
    forms = _forms(section.prompts)
    if answers.table == "likelihoods":
        return _likelihoods(answers.frame, forms)
    labelled = answers.frame.filter(step=1).join(forms, on=["prompt_id", "word"], how="left")
    kept = labelled.filter((pl.col("rank") <= most) | pl.col("label").is_not_null())
    # A pronoun outside the top k has no rank in the answers; its place by probability is used.
    place = pl.col("probability").rank("ordinal", descending=True).over("model", "prompt_id")
    return _rows(kept.with_columns(rank=pl.coalesce("rank", place.cast(pl.Int64))))


def _likelihoods(answers: pl.DataFrame, forms: pl.DataFrame) -> pl.DataFrame:
    """Return for each sentence its two pronouns, each with the sentence's log probability."""
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
    """Return for each prompt the two forms of its pronoun, and which one fits the stereotype."""
    pairs = ["item", "condition"]
    labels = {"pro": "stereotype", "anti": "against it", THEY: THEY}
    forms = prompts.filter(pl.col("wording").is_in(list(labels))).select(
        *pairs, word="pronoun", label=pl.col("wording").replace_strict(labels)
    )
    return prompts.select("prompt_id", *pairs).join(forms, on=pairs).drop(pairs)


def _first(answers: Answers, most: int) -> pl.DataFrame:
    """Return the words at the prompt's own mask, down to the rank ``most``."""
    return answers.frame.filter(pl.col("rank") <= most, step=1)


def _gendered(fills: pl.DataFrame, words: Lexicons, *, cased: bool) -> pl.DataFrame:
    """Return the fills with each word's group, and whether it is a name, in the column label."""
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
    answers: Answers, section: Section, _words: Lexicons | None, _most: int
) -> pl.DataFrame:
    """Return a row for each option, in the listed order, and one for what lies on no option."""
    options = _options(section.prompts)
    listed = answers.frame.join(options, on=["prompt_id", "option"], how="left")
    listed = listed.with_columns(rank="place", word="said", label="counts")
    last = options.group_by("prompt_id").agg(rank=pl.col("place").max() + 1)
    unlisted = (
        answers.frame.unique(["model", "prompt_id"], maintain_order=True)
        .join(last, on="prompt_id")
        .with_columns(word=pl.lit(NO_OPTION), probability="elsewhere", label=pl.lit(WAY_OUT))
    )
    return pl.concat([_rows(listed), _rows(unlisted)])


def _options(prompts: pl.DataFrame) -> pl.DataFrame:
    """Return the options of each prompt: their place, listed text, and what they count as."""
    rows = [
        {
            "prompt_id": prompt,
            "option": option.label,
            "place": place,
            "said": f"{option.label}. {option.text}" if option.text else option.label,
            "counts": WAY_OUT if option.code is None else f"code {number(option.code)}",
        }
        for prompt, text in prompts.select("prompt_id", "options").rows()
        for place, option in enumerate(options_from(text), start=1)
    ]
    strings = dict.fromkeys(("prompt_id", "option", "said", "counts"), pl.String)
    return pl.DataFrame(rows, schema={**strings, "place": pl.Int64})


def replies_as_read(
    answers: Answers, _section: Section, _words: Lexicons | None, _most: int
) -> pl.DataFrame:
    """Return a row for each trial: the reply, and the option or non-answer it is read as."""
    read = (
        pl.when(pl.col("kind") == "option")
        .then(pl.format("read as {}", "chosen"))
        .otherwise(pl.col("kind").str.replace("-", " ", literal=True))
    )
    return _trials(answers.frame, read)
