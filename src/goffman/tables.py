"""Every table's columns, declared once (name, type, meaning), and the check of a frame."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from goffman.records import Prompt

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
    Column("item", "text", "the item's id; for coreference the sentence pair's"),
    Column("wording", "text", "the wording's id; for coreference pro or anti"),
    Column("dimension", "text", "the item's subscale", nullable=True),
    Column("condition", "text", "the condition's id, or baseline; for coreference the adjectives"),
    Column("form", "text", "the surface text of the condition", nullable=True),
    Column("group", "text", "the side of the contrast that the condition is on"),
    Column("category", "text", "the kind of condition", nullable=True),
    Column("text", "text", "what the model is asked, with <mask> where a word is to be filled"),
)
"""One row a prompt."""

ANSWER_KEY = (
    Column("answer", "text", "the occupation that the pronoun refers to", nullable=True),
    Column("other", "text", "the other occupation", nullable=True),
    Column("pronoun", "text", "the pronoun that is asked about", nullable=True),
)
"""Further columns of a coreference prompt."""

FILLS = (
    Column("prompt_id", "text", "the prompt that was asked"),
    Column("model", "text", "the model's name, as the user gave it"),
    Column("step", "int", "1 for the prompt itself; recursive masking goes on to 2, 3 …"),
    Column("parent", "text", "the ranks put back so far: empty at step 1, then 3, then 3/7"),
    Column(
        "rank", "int", "1 is the most probable; null for a target outside the top k", nullable=True
    ),
    Column("token", "text", "the token as the model has it, leading space and case kept"),
    Column("word", "text", "the token stripped of space"),
    Column("probability", "float32", "over the full vocabulary, given the sentence of this step"),
)
"""One row a word that a model put, or could have put, in the place of a mask."""

LABELS = (
    Column("prompt_id", "text", "the prompt that was asked"),
    Column("model", "text", "the model's name, as the user gave it"),
    Column("label", "text", "the most probable class: negative, neutral or positive"),
    Column("negative", "float32", "probability; null: the model has no such class", nullable=True),
    Column("neutral", "float32", "probability; null: the model has no such class", nullable=True),
    Column("positive", "float32", "probability; null: the model has no such class", nullable=True),
)
"""One row a prompt and classifier."""

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

GENDER_VOCABULARY = (
    Column("group", "text", "female, male, nonbinary, neutral …"),
    Column("kind", "text", "pronoun, noun, adjective or name"),
    Column("words", "int", "words of the lexicon that count"),
    Column("single_tokens", "int", "those that the model has as one token and so can fill"),
    Column("common_words", "int", "names that are one token and also common words, counted or not"),
)
"""One row a group and kind of a gender lexicon, for one model."""

RATINGS = (
    Column("word", "text", "stripped and case-folded, as words are compared"),
    Column("item", "text", "the item's id that the rating is for; empty: every item"),
    Column("wording", "text", "the wording's id that the rating is for; empty: every wording"),
    Column("rater", "text", "a name or a pseudonym"),
    Column("label", "text", "positive, negative, neutral or irrelevant"),
    Column("note", "text", "what the rater remarked; empty: nothing"),
)
"""One row a rater and word, in the CSV files in which ratings go out and come in."""


def prompt_rows(prompts: Iterable[Prompt]) -> list[dict[str, str | None]]:
    """One dictionary a prompt, in the order of PROMPTS; the answer key only where there is one."""
    rows: list[dict[str, str | None]] = []
    for prompt in prompts:
        columns = PROMPTS + ANSWER_KEY if prompt.answer is not None else PROMPTS
        row = {column.name: getattr(prompt, column.name, None) for column in columns}
        rows.append(row | {"prompt_id": prompt.id})
    return rows


def schema(columns: Iterable[Column]) -> pl.Schema:
    """The Polars schema of a table."""
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
    """All prompts as a frame with the columns PROMPTS + ANSWER_KEY."""
    import polars as pl

    return pl.DataFrame(prompt_rows(prompts), schema=schema(PROMPTS + ANSWER_KEY))


def complaints(frame: pl.DataFrame, columns: Iterable[Column]) -> list[str]:
    """What keeps a frame from being the declared table: a sentence each, none when it is."""
    expected = schema(columns)
    found = frame.schema
    problems = [f"column '{name}' is missing" for name in expected if name not in found]
    problems += [f"column '{name}' is not declared" for name in found if name not in expected]
    for column in columns:
        if column.name not in found:
            continue
        if found[column.name] != expected[column.name]:
            problems.append(f"column '{column.name}' is {found[column.name]}, not {column.type}")
        elif not column.nullable and frame[column.name].null_count():
            problems.append(f"column '{column.name}' has {frame[column.name].null_count()} nulls")
    return problems
