"""The words behind P(negative), with those marked that are set apart where a reply was begun."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from goffman.lexicons.set_apart import set_apart
from goffman.presentation.evidence import words_with_attitudes

if TYPE_CHECKING:
    from goffman.lexicons.words import Words
    from goffman.presentation.base import Answers
    from goffman.presentation.section import Section


def words_set_apart(
    given: Answers, section: Section, words: Words | None, most: int
) -> pl.DataFrame:
    """The most probable words, each with its attitude and, in a completion, what it else is."""
    rows = words_with_attitudes(given, section, words, most)
    if "begun" not in section.prompts.columns:
        return rows
    begun = section.prompts.filter(pl.col("begun").is_not_null())["prompt_id"]
    apart = pl.when(pl.col("prompt_id").is_in(begun.implode())).then(set_apart())
    label = pl.when(apart.is_not_null()).then(pl.format("{}, {}", "label", apart))
    return rows.with_columns(label=label.otherwise("label"))
