"""Every table's columns, declared once (name, type, meaning), and the check of a frame."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from goffman.instruments.types import Prompt, options_json

if TYPE_CHECKING:
    import polars as pl

Type = Literal["text", "int", "float32", "float64", "bool"]


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str
    type: Type
    meaning: str
    nullable: bool = False


Nullable = partial(Column, nullable=True)

ANSWERED = (
    Column("prompt_id", "text", "the prompt that was asked"),
    Column("model", "text", "the model's name, as the user gave it"),
)
MEASURED = (
    Column("instrument", "text", "the instrument's id"),
    Nullable("mode", "text", "how models respond: fill, choice, reply …"),
    Column("measure", "text", "the measure's name"),
)
"""The first columns of several tables."""

PROMPTS = (
    Column("prompt_id", "text", "hash of what is asked and what it stands for"),
    Column("instrument", "text", "the instrument's id"),
    Nullable("mode", "text", "how models respond: fill, choice, reply …"),
    Column("item", "text", "the item's id; for coreference the sentence pair's"),
    Column("wording", "text", "the wording's id; for coreference pro or anti"),
    Nullable("dimension", "text", "the item's subscale"),
    Column("condition", "text", "the condition's id, or baseline; for coreference the adjectives"),
    Nullable("form", "text", "the surface text of the condition"),
    Column("group", "text", "the side of the contrast that the condition is on"),
    Nullable("category", "text", "the kind of condition"),
    Column("text", "text", "what the model is asked, with <mask> where a word is to be filled"),
)
"""One row per prompt."""

ANSWER_KEY = (
    Nullable(
        "answer", "text", "the occupation that the pronoun refers to; of a control its right answer"
    ),
    Nullable("other", "text", "the other occupation; of a control its wrong answer"),
    Nullable("pronoun", "text", "the pronoun that is asked about"),
)
"""Further columns of prompts that have a right answer: coreference, and controls."""

KEYING = (Column("keyed", "text", "plain, or reversed: agreeing means less of the construct"),)

PRESENTATION = (
    Nullable("prefill", "text", "what the reply begins with"),
    Nullable("system", "text", "the system prompt"),
    Nullable("gender", "text", "of the person described: female, male, nonbinary …"),
    Nullable("person", "text", "the id of the person described: woman, man-named"),
    Nullable("order", "text", "of the options: forward, reversed, or 2-3-1 …"),
    Nullable("labels", "text", "what stands before the options: letters, numbers"),
    Nullable("no_answer", "bool", "whether not to answer is an option"),
    Nullable("options", "text", "JSON: label, text and code of each option"),
    Nullable("paraphrase", "text", "the wording, if it is asked only on request"),
    Nullable("phrase", "text", "what the condition says in its slot: has depression"),
    Nullable("family", "text", "what near-copies of one wording have in common"),
    Nullable("source", "text", "whose sentence it is: study, or own; null: no matter"),
    Nullable("identity", "text", "the person's second identity, with --cross: black"),
)
"""Further columns of prompts for chat and causal models: how the question is presented."""

PROMPT_TABLE = PROMPTS + KEYING + ANSWER_KEY + PRESENTATION
"""The columns of prompts.parquet."""

FILLS = (
    *ANSWERED,
    Column("step", "int", "1 for the prompt itself, recursive masking 2, 3 …; 0: of its phrase"),
    Column("parent", "text", "the ranks put back so far: empty at step 1, then 3, then 3/7"),
    Nullable("rank", "int", "1 is the most probable; null for a target outside the top k"),
    Column("token", "text", "the token as the model has it, leading space and case kept"),
    Column("word", "text", "the token stripped of space"),
    Column("probability", "float32", "over the full vocabulary, given the sentence of this step"),
)
"""One row per word that a model put, or could have put, in place of a mask."""

LABELS = (
    *ANSWERED,
    Column("label", "text", "the most probable class: negative, neutral or positive"),
    Nullable("negative", "float32", "probability; null: the model has no such class"),
    Nullable("neutral", "float32", "probability; null: the model has no such class"),
    Nullable("positive", "float32", "probability; null: the model has no such class"),
)
"""One row per prompt and classifier."""

SENTIMENTS = ("negative", "neutral", "positive")
"""The classes of LABELS."""

REPLIES = (
    *ANSWERED,
    Column("trial", "int", "1, 2 …: the prompt was asked anew, in a fresh chat, so many times"),
    Nullable("text", "text", "the reply, less what is reasoning; null: none came"),
    Nullable("finish_reason", "text", "why the reply ended: stop, length …"),
    Nullable("prompt_tokens", "int", "of the question, as the model counts them"),
    Nullable("completion_tokens", "int", "of the reply, as the model counts them"),
    Nullable("fingerprint", "text", "what the server says of itself"),
    Nullable("served_by", "text", "the model's name in the server's answer"),
    Nullable("reasoning", "text", "what the model said to itself before the reply"),
    Nullable("next_words", "text", "JSON: the first tokens and their rivals, by log"),
)
"""One row per prompt, chat model and trial."""

LIKELIHOODS = (
    Column("prompt_id", "text", "the prompt that was asked, its mask a place for a word"),
    Column("model", "text", "the model's name, as the user gave it"),
    Column("word", "text", "the word that was put in the place of the mask"),
    Column("log_probability", "float64", "natural logarithm, of the whole sentence with it"),
    Column("tokens", "int", "how many tokens the logarithm is the sum over"),
)
"""One row per prompt, causal model and word that may stand there."""

CHOICES = (
    *ANSWERED,
    Column("option", "text", "the label of an option: A, B, 1, 2 …"),
    Nullable("code", "float64", "what the option counts; null: the no-answer option"),
    Column("probability", "float32", "that the reply begins with the option's label"),
    Column("elsewhere", "float32", "the probability on no option of the prompt"),
    Nullable(
        "unseen", "float32", "of that, on tokens that a server did not name; null: all were seen"
    ),
)
"""One row per prompt, model and option."""

CHOICE_KINDS = ("option", "dont-know", "refusal", "several", "other")
"""What a reply to a choice can be, as a parser reads it."""

REPLY_KINDS = ("correct", "incorrect", "unsure", "other", "refusal")
"""What a reply can be, as a parser reads it."""

KIND = (Column("kind", "text", "correct, incorrect, unsure, other or refusal"),)
"""A further column of replies that were classified."""

PAIR_KINDS = ("only-pro", "only-anti", "both", "neither")
"""Which sentences of a pair are understood."""

GENDER = (
    Nullable("gender_group", "text", "female, male, nonbinary, neutral …; null: unlisted"),
    Nullable("gender_kind", "text", "pronoun, noun, adjective or name; null: unlisted"),
    Column("common_word", "bool", "a name that is also a common word, counted or not"),
)
"""Further columns of fills whose words were looked up in a gender lexicon."""

RATINGS = (
    Column("word", "text", "stripped and case-folded, as words are compared"),
    Column("item", "text", "the item's id that the rating is for; empty: every item"),
    Column("wording", "text", "the wording's id that the rating is for; empty: every wording"),
    Column("rater", "text", "a name or a pseudonym"),
    Column("label", "text", "positive, negative, neutral or irrelevant"),
    Column("note", "text", "what the rater remarked; empty: nothing"),
)
"""One row per rater and word, in the CSV files in which ratings go out and come in."""

SCORES = (
    Nullable("model", "text", "the model's name; null: over all models"),
    *MEASURED,
    Column("quantity", "text", "which number of the measure: negative, mass, disparity …"),
    Nullable("variant", "text", "with or without names, or whose gender; null: one"),
    Column("level", "text", "what the value is of: prompt, form, condition, group, control …"),
    Nullable("prompt_id", "text", "null wherever it is over several prompts"),
    Nullable("item", "text", "null: over all items; so are the ids below"),
    Nullable("wording", "text", "the wording's id; for coreference pro or anti"),
    Nullable("dimension", "text", "the items' subscale"),
    Nullable("condition", "text", "the condition's id, or baseline"),
    Nullable("form", "text", "the surface text of the condition"),
    Nullable("group", "text", "the side of the contrast, or baseline"),
    Nullable("category", "text", "the kind of condition"),
    Nullable("trial", "int", "the trial of a chat model"),
    Nullable("value", "float64", "null where there is none: see reason"),
    Column("n", "int", "how many values it is the mean of; of a prompt 1, or its replies"),
    Column("missing", "int", "how many values there were not, so that the mean is without them"),
    Nullable("over", "text", "what n counts, and sd, low, high range over"),
    Nullable("sd", "float64", "of the n values, by n - 1; null for fewer than two"),
    Nullable("low", "float64", "the smallest of the n values"),
    Nullable("high", "float64", "the largest of the n values"),
    Nullable("reason", "text", "why there is no value; null where there is one"),
)
"""One row per number: of each prompt first, then the means of the study, each with its spread."""

IDENTITY_SCORES = (
    *SCORES,
    Column("identity", "text", "the second identity of the person that the prompt is about"),
)
"""One row per number of a prompt about a person with a second identity; see --cross."""

CONTRASTS = (
    Column("kind", "text", "what is set against what: groups, genders, models, baseline, pairs …"),
    Nullable("instrument", "text", "the instrument's id; null: it is about two"),
    Nullable("mode", "text", "how models respond; null: it is about two"),
    Nullable("measure", "text", "the measure's name; null: it is about two"),
    Column("quantity", "text", "which number of the measure"),
    Nullable("variant", "text", "which words, whose gender or identity; null: one"),
    Nullable("model", "text", "null: over all models, or between two"),
    Nullable("group", "text", "the conditions that it is about; null: all"),
    Nullable("dimension", "text", "the subscale that it is about; null: all items"),
    Column("first", "text", "the first set: a group, gender, model, condition …"),
    Column("second", "text", "the second set, which is subtracted"),
)
"""What an estimate is about; these columns stand before ESTIMATES in estimates.parquet."""

ESTIMATES = (
    Column("contrast", "text", "what is compared, in words; the first set comes first"),
    Column("n", "int", "values used: pairs where paired, else those of both sets together"),
    Column("n_first", "int", "values used of the first set"),
    Column("n_second", "int", "values used of the second set"),
    Column("left_out", "int", "values, or pairs, that were given but missing, and so not used"),
    Nullable("mean_first", "float64", "mean of the first set"),
    Nullable("mean_second", "float64", "mean of the second set"),
    Nullable("difference", "float64", "first mean minus second; null in a correlation"),
    Nullable("low", "float64", "lower end of the difference's two-sided interval"),
    Nullable("high", "float64", "upper end of the difference's two-sided interval"),
    Nullable("level", "float64", "confidence of the intervals, such as 0.95"),
    Nullable("effect", "float64", "effect size, with the sign of the difference"),
    Nullable("effect_name", "text", "which effect size"),
    Nullable("effect_low", "float64", "lower end of its interval"),
    Nullable("effect_high", "float64", "upper end of its interval"),
    Nullable("second_effect", "float64", "another effect size, beside the first"),
    Nullable("second_effect_name", "text", "which one that is"),
    Nullable("second_effect_low", "float64", "lower end of its interval"),
    Nullable("second_effect_high", "float64", "upper end of its interval"),
    Nullable("test", "text", "the test by name; null: an interval only"),
    Nullable("alternative", "text", "two-sided; null: there is no test"),
    Nullable("statistic", "float64", "of the test"),
    Nullable("df", "float64", "degrees of freedom, where the test has them"),
    Nullable("error", "float64", "the difference's standard error, by the test"),
    Nullable("sentences", "int", "sentences that it is over; null: no such number"),
    Nullable("p", "float64", "above 0 and at most 1, not corrected"),
    Nullable("p_adjusted", "float64", "corrected over the family"),
    Nullable("correction", "text", "benjamini-hochberg; null: a single test"),
    Nullable("family", "text", "the declared family of tests that was corrected over"),
    Nullable("family_size", "int", "tests of the family that have a p"),
    Column("method", "text", "how interval, p and effects were computed"),
    Nullable("reason", "text", "why a value that the method gives elsewhere is null"),
    Nullable("unit", "text", "what n counts: conditions, sentence pairs, trials …"),
    Nullable("interval_over", "text", "what the interval takes as sampled"),
    Nullable(
        "indifference_p", "float64", "of a share's lying beyond people as indifferent as the model"
    ),
)
"""One row per contrast: the fields of an Estimate, by the same names."""

VERDICTS = (
    Nullable("margin", "float64", "the smallest difference that counts as relevant"),
    Nullable(
        "verdict",
        "text",
        "relevant; present, size uncertain; negligible; inconclusive; not measurable; or these "
        "sentences only. Null: there is no interval, or no smallest difference is known",
    ),
    Nullable("low_90", "float64", "lower end of the 90% interval, by t"),
    Nullable("high_90", "float64", "upper end of the 90% interval, by t"),
    Nullable("detectable", "float64", "the difference found in 80 of 100 such audits"),
)
"""What an estimate comes to; these columns stand after ESTIMATES in estimates.parquet."""

RATINGS_COMPARED = (
    *CONTRASTS,
    Nullable("shipped", "float64", "the difference by the shipped ratings alone"),
    Nullable("shipped_low", "float64", "lower end of its interval"),
    Nullable("shipped_high", "float64", "upper end of its interval"),
    Nullable("given", "float64", "the difference with the user's ratings over them"),
    Nullable("given_low", "float64", "lower end of its interval"),
    Nullable("given_high", "float64", "upper end of its interval"),
    Nullable("difference", "float64", "given minus shipped, over the same prompts"),
    Nullable("low", "float64", "lower end of its interval"),
    Nullable("high", "float64", "upper end of its interval"),
    Nullable("level", "float64", "confidence of the intervals, such as 0.95"),
    Nullable("share", "float64", "of the words' probability, rated by the user"),
    Column("left_out", "int", "prompts with a value by only one of the two"),
    Column("method", "text", "how the interval of the difference was computed"),
)
"""One row per main contrast, if a user's ratings override the shipped ones."""

SENSITIVITY = (
    *MEASURED,
    Column("model", "text", "the model's name, as the user gave it"),
    Column("contrast", "text", "the contrast that was made again, as in estimates"),
    Column("kind", "text", "what it sets against what: groups, genders, level"),
    Column("first", "text", "the first set: a group, a gender, or baseline"),
    Column("second", "text", "the second set, which is subtracted"),
    Column("main", "bool", "whether it is the headline of its instrument and model"),
    Column(
        "variation",
        "text",
        "what was left out (item, wording, condition, category, frame, occupation, word); "
        "parameter: set otherwise; wording alone, paraphrase alone, with the paraphrases; "
        "analysis: one of the multiverse; labels: some are wrong",
    ),
    Column("what", "text", "that which was left out, alone or set otherwise; or its number"),
    Nullable("choices", "text", "JSON: each choice of an analysis, in words"),
    Nullable("rate", "float64", "the share of labels that are wrong"),
    Nullable("share", "float64", "of a word left out: its share of counted probability"),
    Nullable("mean_first", "float64", "the mean of the first set; of a level itself"),
    Nullable("difference", "float64", "of the contrast then"),
    Nullable("low", "float64", "lower end of its 95% interval"),
    Nullable("high", "float64", "upper end of its 95% interval"),
    Nullable("verdict", "text", "what the contrast's verdict would then be"),
    Column("holds", "bool", "whether the contrast's verdict holds"),
    Nullable("reason", "text", "why it could not be tested"),
)
"""One row per contrast and variation of it: sensitivity.parquet, multiverse.parquet."""

LEFT_OUT = ("category", "condition", "item", "wording", "frame", "occupation")
PARAMETER, WORD, WRONG_LABELS, ANALYSIS = "parameter", "word", "labels", "analysis"
WORDING_ALONE, PARAPHRASE_ALONE = "wording alone", "paraphrase alone"
WITH_PARAPHRASES = "with the paraphrases"
"""The variations."""


def prompt_rows(prompts: Iterable[Prompt]) -> list[dict[str, Any]]:
    """Return a dictionary per prompt: PROMPTS in order, then further columns that any has."""
    prompts = list(prompts)
    columns = list(PROMPTS)
    if any(prompt.options for prompt in prompts):
        columns += KEYING
    for column in ANSWER_KEY + PRESENTATION:
        group = ANSWER_KEY if column in ANSWER_KEY else (column,)
        if any(
            getattr(prompt, member.name) not in (None, ()) for prompt in prompts for member in group
        ):
            columns.append(column)
    return [{column.name: _cell(prompt, column.name) for column in columns} for prompt in prompts]


def _cell(prompt: Prompt, column: str) -> Any:
    """Return the value in a column of a prompt's row."""
    if column == "prompt_id":
        return prompt.id
    if column == "options":
        return options_json(prompt.options)
    return getattr(prompt, column)


def schema(columns: Iterable[Column]) -> pl.Schema:
    """Return the Polars schema of a table."""
    import polars as pl

    types = {
        "text": pl.String,
        "int": pl.Int64,
        "float32": pl.Float32,
        "float64": pl.Float64,
        "bool": pl.Boolean,
    }
    return pl.Schema({column.name: types[column.type] for column in columns})


def prompt_table(prompts: Iterable[Prompt]) -> pl.DataFrame:
    """Return all prompts as a frame with the columns PROMPT_TABLE."""
    import polars as pl

    names = [column.name for column in PROMPT_TABLE]
    rows = [[_cell(prompt, name) for name in names] for prompt in prompts]
    return pl.DataFrame(rows, schema=schema(PROMPT_TABLE), orient="row")


def complaints(frame: pl.DataFrame, columns: Iterable[Column]) -> list[str]:
    """Return sentences about how a frame deviates from the declared table, if it does."""
    expected = schema(columns)
    actual = frame.schema
    problems = [f"column '{name}' is missing" for name in expected if name not in actual]
    problems += [f"column '{name}' is not declared" for name in actual if name not in expected]
    for column in columns:
        if column.name not in actual:
            continue
        if actual[column.name] != expected[column.name]:
            problems.append(f"column '{column.name}' is {actual[column.name]}, not {column.type}")
        elif not column.nullable and frame[column.name].null_count():
            problems.append(f"column '{column.name}' has {frame[column.name].null_count()} nulls")
    return problems


NUMBER = "choice between probability and label"
"""The choice of another number than the headline's: numbers of two kinds have no common range."""

STRESS = (
    *MEASURED,
    Column("model", "text", "the model's name, as the user gave it"),
    Nullable("difference", "float64", "of the headline"),
    Nullable("verdict", "text", "the headline's"),
    Column("analyses", "int", "how many have numbers of their own, or could not be tested"),
    Column("tested", "int", "how many of them have a verdict"),
    Column("holds", "int", "in how many of them the headline's verdict holds"),
    Nullable("holds_in", "float64", "the share of these; null: there is one analysis"),
    Nullable("median", "float64", "of the differences in the headline's number"),
    Nullable("lowest", "float64", "the lowest of these"),
    Nullable("highest", "float64", "the highest of these"),
    Column("seed", "int", "of all that was drawn"),
    Nullable("matters_most", "text", "the choice that explains most"),
    Nullable("explained", "text", "JSON: by choice, η² of the differences"),
    Nullable(
        "overturned_at",
        "float64",
        "the lowest tried share of wrong labels at which most tries lose the verdict",
    ),
    Nullable("reason", "text", "why there is no multiverse"),
)
"""One row per headline: in how many analyses its verdict holds."""

ANCHOR_POINTS = (
    Column("anchor", "text", "the anchor's id"),
    Nullable("item", "text", "what people were asked; null: all items together"),
    *MEASURED,
    Column("quantity", "text", "which number of the measure"),
    Column("model", "text", "the model's name, as the user gave it"),
    Column("condition", "text", "the condition's id, or an occupation"),
    Nullable("group", "text", "the side of the contrast that it is on"),
    Nullable("category", "text", "the kind of condition"),
    Column("value", "float64", "of the model"),
    Nullable("people", "float64", "what people said; null with all items together"),
    Nullable("low", "float64", "lower end of its 95% interval"),
    Nullable("high", "float64", "upper end of its 95% interval"),
    Nullable("n", "int", "people"),
    Nullable("value_low", "float64", "of the model's value; null: known exactly"),
    Nullable("value_high", "float64", "upper end of its 95% interval"),
    Nullable("unanswered", "float64", "share of the model's answers that are none"),
    Nullable("predicted", "float64", "the model's value by all items together"),
    Nullable("residual", "float64", "value minus predicted"),
    Nullable("statistic", "float64", "t of the residual, externally studentized"),
    Nullable("p", "float64", "two-sided, not corrected"),
    Nullable("p_adjusted", "float64", "corrected over the conditions"),
    Nullable("explained", "float64", "R² of all items together"),
)
"""One row per condition, item of an anchor, instrument and model: both sides of a scatter plot."""
