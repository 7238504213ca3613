"""Every table's columns, declared once (name, type, meaning), and the check of a frame."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
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


PROMPTS = (
    Column("prompt_id", "text", "hash of what is asked and what it stands for"),
    Column("instrument", "text", "the instrument's id"),
    Column("mode", "text", "how models respond: fill, choice, reply …", nullable=True),
    Column("item", "text", "the item's id; for coreference the sentence pair's"),
    Column("wording", "text", "the wording's id; for coreference pro or anti"),
    Column("dimension", "text", "the item's subscale", nullable=True),
    Column("condition", "text", "the condition's id, or baseline; for coreference the adjectives"),
    Column("form", "text", "the surface text of the condition", nullable=True),
    Column("group", "text", "the side of the contrast that the condition is on"),
    Column("category", "text", "the kind of condition", nullable=True),
    Column("text", "text", "what the model is asked, with <mask> where a word is to be filled"),
)
"""One row per prompt."""

ANSWER_KEY = (
    Column(
        "answer",
        "text",
        "the occupation that the pronoun refers to; of a control its right answer",
        nullable=True,
    ),
    Column("other", "text", "the other occupation; of a control its wrong answer", nullable=True),
    Column("pronoun", "text", "the pronoun that is asked about", nullable=True),
)
"""Further columns of prompts that have a right answer: coreference, and controls."""

KEYING = (Column("keyed", "text", "plain, or reversed: agreeing means less of the construct"),)

PRESENTATION = (
    Column("prefill", "text", "what the reply begins with", nullable=True),
    Column("system", "text", "the system prompt", nullable=True),
    Column("gender", "text", "of the person described: female, male, nonbinary …", nullable=True),
    Column("person", "text", "the id of the person described: woman, man-named", nullable=True),
    Column("order", "text", "of the options: forward, reversed, or 2-3-1 …", nullable=True),
    Column("labels", "text", "what stands before the options: letters, numbers", nullable=True),
    Column("no_answer", "bool", "whether not to answer is an option", nullable=True),
    Column("options", "text", "JSON: label, text and code of each option", nullable=True),
    Column("paraphrase", "text", "the wording, if it is asked only on request", nullable=True),
    Column("phrase", "text", "what the condition says in its slot: has depression", nullable=True),
    Column("family", "text", "what near-copies of one wording have in common", nullable=True),
    Column("source", "text", "whose sentence it is: study, or own; null: no matter", nullable=True),
    Column("identity", "text", "the person's second identity, with --cross: black", nullable=True),
)
"""Further columns of prompts for chat and causal models: how the question is presented."""

PROMPT_TABLE = PROMPTS + KEYING + ANSWER_KEY + PRESENTATION
"""The columns of prompts.parquet."""

FILLS = (
    Column("prompt_id", "text", "the prompt that was asked"),
    Column("model", "text", "the model's name, as the user gave it"),
    Column(
        "step",
        "int",
        "1 for the prompt itself, recursive masking 2, 3 …; 0: of its phrase",
    ),
    Column("parent", "text", "the ranks put back so far: empty at step 1, then 3, then 3/7"),
    Column(
        "rank", "int", "1 is the most probable; null for a target outside the top k", nullable=True
    ),
    Column("token", "text", "the token as the model has it, leading space and case kept"),
    Column("word", "text", "the token stripped of space"),
    Column("probability", "float32", "over the full vocabulary, given the sentence of this step"),
)
"""One row per word that a model put, or could have put, in place of a mask."""

LABELS = (
    Column("prompt_id", "text", "the prompt that was asked"),
    Column("model", "text", "the model's name, as the user gave it"),
    Column("label", "text", "the most probable class: negative, neutral or positive"),
    Column("negative", "float32", "probability; null: the model has no such class", nullable=True),
    Column("neutral", "float32", "probability; null: the model has no such class", nullable=True),
    Column("positive", "float32", "probability; null: the model has no such class", nullable=True),
)
"""One row per prompt and classifier."""

SENTIMENTS = ("negative", "neutral", "positive")
"""The classes of LABELS."""

REPLIES = (
    Column("prompt_id", "text", "the prompt that was asked"),
    Column("model", "text", "the model's name, as the user gave it"),
    Column("trial", "int", "1, 2 …: the prompt was asked anew, in a fresh chat, so many times"),
    Column("text", "text", "the reply, less what is reasoning; null: none came", nullable=True),
    Column("finish_reason", "text", "why the reply ended: stop, length …", nullable=True),
    Column("prompt_tokens", "int", "of the question, as the model counts them", nullable=True),
    Column("completion_tokens", "int", "of the reply, as the model counts them", nullable=True),
    Column("fingerprint", "text", "what the server says of itself", nullable=True),
    Column("served_by", "text", "the model's name in the server's answer", nullable=True),
    Column("reasoning", "text", "what the model said to itself before the reply", nullable=True),
    Column("next_words", "text", "JSON: the first tokens and their rivals, by log", nullable=True),
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
    Column("prompt_id", "text", "the prompt that was asked"),
    Column("model", "text", "the model's name, as the user gave it"),
    Column("option", "text", "the label of an option: A, B, 1, 2 …"),
    Column("code", "float64", "what the option counts; null: the no-answer option", nullable=True),
    Column("probability", "float32", "that the reply begins with the option's label"),
    Column("elsewhere", "float32", "the probability on no option of the prompt"),
    Column(
        "unseen",
        "float32",
        "of that, on tokens that a server did not name; null: all were seen",
        nullable=True,
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
    Column(
        "gender_group", "text", "female, male, nonbinary, neutral …; null: unlisted", nullable=True
    ),
    Column(
        "gender_kind", "text", "pronoun, noun, adjective or name; null: unlisted", nullable=True
    ),
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
    Column("model", "text", "the model's name; null: over all models", nullable=True),
    Column("instrument", "text", "the instrument's id"),
    Column("mode", "text", "how models respond: fill, choice, reply …", nullable=True),
    Column("measure", "text", "the measure's name"),
    Column("quantity", "text", "which number of the measure: negative, mass, disparity …"),
    Column("variant", "text", "with or without names, or whose gender; null: one", nullable=True),
    Column("level", "text", "what the value is of: prompt, form, condition, group, control …"),
    Column("prompt_id", "text", "null wherever it is over several prompts", nullable=True),
    Column("item", "text", "null: over all items; so are the ids below", nullable=True),
    Column("wording", "text", "the wording's id; for coreference pro or anti", nullable=True),
    Column("dimension", "text", "the items' subscale", nullable=True),
    Column("condition", "text", "the condition's id, or baseline", nullable=True),
    Column("form", "text", "the surface text of the condition", nullable=True),
    Column("group", "text", "the side of the contrast, or baseline", nullable=True),
    Column("category", "text", "the kind of condition", nullable=True),
    Column("trial", "int", "the trial of a chat model", nullable=True),
    Column("value", "float64", "null where there is none: see reason", nullable=True),
    Column("n", "int", "how many values it is the mean of; of a prompt 1, or its replies"),
    Column("missing", "int", "how many values there were not, so that the mean is without them"),
    Column("over", "text", "what n counts, and sd, low, high range over", nullable=True),
    Column("sd", "float64", "of the n values, by n - 1; null for fewer than two", nullable=True),
    Column("low", "float64", "the smallest of the n values", nullable=True),
    Column("high", "float64", "the largest of the n values", nullable=True),
    Column("reason", "text", "why there is no value; null where there is one", nullable=True),
)
"""One row per number: of each prompt first, then the means of the study, each with its spread."""

IDENTITY_SCORES = (
    *SCORES,
    Column("identity", "text", "the second identity of the person that the prompt is about"),
)
"""One row per number of a prompt about a person with a second identity; see --cross."""

CONTRASTS = (
    Column("kind", "text", "what is set against what: groups, genders, models, baseline, pairs …"),
    Column("instrument", "text", "the instrument's id; null: it is about two", nullable=True),
    Column("mode", "text", "how models respond; null: it is about two", nullable=True),
    Column("measure", "text", "the measure's name; null: it is about two", nullable=True),
    Column("quantity", "text", "which number of the measure"),
    Column("variant", "text", "which words, whose gender or identity; null: one", nullable=True),
    Column("model", "text", "null: over all models, or between two", nullable=True),
    Column("group", "text", "the conditions that it is about; null: all", nullable=True),
    Column("dimension", "text", "the subscale that it is about; null: all items", nullable=True),
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
    Column("mean_first", "float64", "mean of the first set", nullable=True),
    Column("mean_second", "float64", "mean of the second set", nullable=True),
    Column(
        "difference", "float64", "first mean minus second; null in a correlation", nullable=True
    ),
    Column("low", "float64", "lower end of the difference's two-sided interval", nullable=True),
    Column("high", "float64", "upper end of the difference's two-sided interval", nullable=True),
    Column("level", "float64", "confidence of the intervals, such as 0.95", nullable=True),
    Column("effect", "float64", "effect size, with the sign of the difference", nullable=True),
    Column("effect_name", "text", "which effect size", nullable=True),
    Column("effect_low", "float64", "lower end of its interval", nullable=True),
    Column("effect_high", "float64", "upper end of its interval", nullable=True),
    Column("second_effect", "float64", "another effect size, beside the first", nullable=True),
    Column("second_effect_name", "text", "which one that is", nullable=True),
    Column("second_effect_low", "float64", "lower end of its interval", nullable=True),
    Column("second_effect_high", "float64", "upper end of its interval", nullable=True),
    Column("test", "text", "the test by name; null: an interval only", nullable=True),
    Column("alternative", "text", "two-sided; null: there is no test", nullable=True),
    Column("statistic", "float64", "of the test", nullable=True),
    Column("df", "float64", "degrees of freedom, where the test has them", nullable=True),
    Column("error", "float64", "the difference's standard error, by the test", nullable=True),
    Column("sentences", "int", "sentences that it is over; null: no such number", nullable=True),
    Column("p", "float64", "above 0 and at most 1, not corrected", nullable=True),
    Column("p_adjusted", "float64", "corrected over the family", nullable=True),
    Column("correction", "text", "benjamini-hochberg; null: a single test", nullable=True),
    Column("family", "text", "the declared family of tests that was corrected over", nullable=True),
    Column("family_size", "int", "tests of the family that have a p", nullable=True),
    Column("method", "text", "how interval, p and effects were computed"),
    Column("reason", "text", "why a value that the method gives elsewhere is null", nullable=True),
    Column("unit", "text", "what n counts: conditions, sentence pairs, trials …", nullable=True),
    Column("interval_over", "text", "what the interval takes as sampled", nullable=True),
    Column(
        "indifference_p",
        "float64",
        "of a share's lying beyond people as indifferent as the model",
        nullable=True,
    ),
)
"""One row per contrast: the fields of an Estimate, by the same names."""

VERDICTS = (
    Column("margin", "float64", "the smallest difference that counts as relevant", nullable=True),
    Column(
        "verdict",
        "text",
        "relevant; present, size uncertain; negligible; inconclusive; not measurable; or these "
        "sentences only. Null: there is no interval, or no smallest difference is known",
        nullable=True,
    ),
    Column("low_90", "float64", "lower end of the 90% interval, by t", nullable=True),
    Column("high_90", "float64", "upper end of the 90% interval, by t", nullable=True),
    Column("detectable", "float64", "the difference found in 80 of 100 such audits", nullable=True),
)
"""What an estimate comes to; these columns stand after ESTIMATES in estimates.parquet."""

RATINGS_COMPARED = (
    *CONTRASTS,
    Column("shipped", "float64", "the difference by the shipped ratings alone", nullable=True),
    Column("shipped_low", "float64", "lower end of its interval", nullable=True),
    Column("shipped_high", "float64", "upper end of its interval", nullable=True),
    Column("given", "float64", "the difference with the user's ratings over them", nullable=True),
    Column("given_low", "float64", "lower end of its interval", nullable=True),
    Column("given_high", "float64", "upper end of its interval", nullable=True),
    Column("difference", "float64", "given minus shipped, over the same prompts", nullable=True),
    Column("low", "float64", "lower end of its interval", nullable=True),
    Column("high", "float64", "upper end of its interval", nullable=True),
    Column("level", "float64", "confidence of the intervals, such as 0.95", nullable=True),
    Column("share", "float64", "of the words' probability, rated by the user", nullable=True),
    Column("left_out", "int", "prompts with a value by only one of the two"),
    Column("method", "text", "how the interval of the difference was computed"),
)
"""One row per main contrast, if a user's ratings override the shipped ones."""

SENSITIVITY = (
    Column("instrument", "text", "the instrument's id"),
    Column("mode", "text", "how models respond: fill, choice, reply …", nullable=True),
    Column("measure", "text", "the measure's name"),
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
    Column("choices", "text", "JSON: each choice of an analysis, in words", nullable=True),
    Column("rate", "float64", "the share of labels that are wrong", nullable=True),
    Column(
        "share", "float64", "of a word left out: its share of counted probability", nullable=True
    ),
    Column("mean_first", "float64", "the mean of the first set; of a level itself", nullable=True),
    Column("difference", "float64", "of the contrast then", nullable=True),
    Column("low", "float64", "lower end of its 95% interval", nullable=True),
    Column("high", "float64", "upper end of its 95% interval", nullable=True),
    Column("verdict", "text", "what the contrast's verdict would then be", nullable=True),
    Column("holds", "bool", "whether the contrast's verdict holds"),
    Column("reason", "text", "why it could not be tested", nullable=True),
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
    """Return what keeps a frame from being the declared table: a sentence each, none if it is."""
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
    Column("instrument", "text", "the instrument's id"),
    Column("mode", "text", "how models respond: fill, choice, reply …", nullable=True),
    Column("measure", "text", "the measure's name"),
    Column("model", "text", "the model's name, as the user gave it"),
    Column("difference", "float64", "of the headline", nullable=True),
    Column("verdict", "text", "the headline's", nullable=True),
    Column("analyses", "int", "how many have numbers of their own, or could not be tested"),
    Column("tested", "int", "how many of them have a verdict"),
    Column("holds", "int", "in how many of them the headline's verdict holds"),
    Column("holds_in", "float64", "the share of these; null: there is one analysis", nullable=True),
    Column("median", "float64", "of the differences in the headline's number", nullable=True),
    Column("lowest", "float64", "the lowest of these", nullable=True),
    Column("highest", "float64", "the highest of these", nullable=True),
    Column("seed", "int", "of all that was drawn"),
    Column("matters_most", "text", "the choice that explains most", nullable=True),
    Column("explained", "text", "JSON: by choice, η² of the differences", nullable=True),
    Column(
        "overturned_at",
        "float64",
        "the lowest tried share of wrong labels at which most tries lose the verdict",
        nullable=True,
    ),
    Column("reason", "text", "why there is no multiverse", nullable=True),
)
"""One row per headline: in how many analyses its verdict holds."""

ANCHOR_POINTS = (
    Column("anchor", "text", "the anchor's id"),
    Column("item", "text", "what people were asked; null: all items together", nullable=True),
    Column("instrument", "text", "the instrument's id"),
    Column("mode", "text", "how models respond: fill, choice, reply …", nullable=True),
    Column("measure", "text", "the measure's name"),
    Column("quantity", "text", "which number of the measure"),
    Column("model", "text", "the model's name, as the user gave it"),
    Column("condition", "text", "the condition's id, or an occupation"),
    Column("group", "text", "the side of the contrast that it is on", nullable=True),
    Column("category", "text", "the kind of condition", nullable=True),
    Column("value", "float64", "of the model"),
    Column("people", "float64", "what people said; null with all items together", nullable=True),
    Column("low", "float64", "lower end of its 95% interval", nullable=True),
    Column("high", "float64", "upper end of its 95% interval", nullable=True),
    Column("n", "int", "people", nullable=True),
    Column("value_low", "float64", "of the model's value; null: known exactly", nullable=True),
    Column("value_high", "float64", "upper end of its 95% interval", nullable=True),
    Column("unanswered", "float64", "share of the model's answers that are none", nullable=True),
    Column("predicted", "float64", "the model's value by all items together", nullable=True),
    Column("residual", "float64", "value minus predicted", nullable=True),
    Column("statistic", "float64", "t of the residual, externally studentized", nullable=True),
    Column("p", "float64", "two-sided, not corrected", nullable=True),
    Column("p_adjusted", "float64", "corrected over the conditions", nullable=True),
    Column("explained", "float64", "R² of all items together", nullable=True),
)
"""One row per condition, item of an anchor, instrument and model: both sides of a scatter plot."""
