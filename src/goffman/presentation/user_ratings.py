"""Who rated the words behind the numbers, and what a user's own ratings change."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.console import printable
from goffman.contrasts.designs import GIVEN
from goffman.contrasts.verdict import rests_on
from goffman.formatting import confidence, ends, humanize, number
from goffman.lexicons.attitude import BUILT_IN, PEOPLE
from goffman.presentation.table_formats import ColumnSpec, Table, as_table, numbers, texts

if TYPE_CHECKING:
    from goffman.presentation.section import Section
    from goffman.runs.manifest import LexiconEntries, RatingsFile

BY_MODELS = "made by language models, not by people"

PEOPLE_SHARE = "people-share"
"""The quantity for the share of what counts that people rated."""

MOST_BY_MODELS = 0.05
"""The share of what counts above which a result says that language models rated its words."""


def whose_ratings(lexicons: LexiconEntries, people: float | None = None) -> str:
    """Return who rated the words, in a sentence.

    ``people``: the least share, over models, of what counts that people rated; None: not known.
    """
    user_files = [entry for entry in lexicons.attitudes if entry.file not in BUILT_IN]
    built_in = {entry.file for entry in lexicons.attitudes}
    if not user_files and PEOPLE in built_in:
        if built_in == {PEOPLE} or people == 1:
            return "People (the raters of Mei et al. 2023) rated the words."
        words = "most of the words"
        if people is not None:
            # Rounded down, so that less than all is never 100%.
            words = f"the words with at least {math.floor(people * 1000) / 10:g}% of what counts"
        return f"People (the raters of Mei et al. 2023) rated {words}, language models the others."
    if not user_files:
        return "Language models, not people, rated the words as positive or negative."
    files = " and ".join(
        f"{printable(PurePath(entry.file).name)} ({entry.ratings or 0:,} ratings)"
        for entry in user_files
    )
    sentence = f"The words were rated in {files}."
    if len(user_files) == len(lexicons.attitudes):
        return sentence
    return f"{sentence} All other words keep the ratings that come with goffman."


def by_models(section: Section, model: str) -> float:
    """Return the share of what counts that language models rated; ``model`` is its shown name."""
    rows = section.rows("model", PEOPLE_SHARE).filter(pl.col("model") == model)
    return 1 - rows["value"][0] if rows.height else 1.0


def describe_file(one: RatingsFile) -> str:
    """Return a description of a file of ratings, for the list of what a run was measured with."""
    if one.file == PEOPLE:
        source = f"those of Mei et al. (2023), {one.ratings:,} ratings made by people"
    elif one.file in BUILT_IN:
        source = f"the list that comes with goffman, {one.ratings:,} ratings {BY_MODELS}"
    else:
        source = f"{printable(one.file)}, {one.ratings:,} ratings"
    return f"Attitude ratings of words: {source} (sha256 {one.sha256[:12]}…)."


def describe_changes(section: Section, model: str) -> Iterator[str]:
    """Yield what the user's ratings change for a model (shown name) that can do the task."""
    failing = section.unmeasurable()
    rows = section.compared.filter(pl.col("dimension").is_null())
    measurable = [
        not any(rests_on(row, name) for name in failing) for row in rows.iter_rows(named=True)
    ]
    for row in section.shown(rows.filter(measurable)).iter_rows(named=True):
        # The difference with the sentences taken as given stands only in the table.
        if row["model"] == model and row["kind"] not in GIVEN:
            yield _change(row)


def _change(row: Mapping[str, Any]) -> str:
    """Return a contrast with each of the two ratings, and the change with its interval."""
    if row["difference"] is None:
        return "One of the two ratings gives no value for this difference, so no change is known."
    between = f"between {humanize(row['first'])} and {humanize(row['second'])}"
    interval = "no interval"
    if row["low"] is not None:
        interval = f"{confidence(row['level'])} interval {ends(row['low'], row['high'])}"
    text = (
        f"The difference {between} is {number(row['shipped'])} with goffman's own ratings and "
        f"{number(row['given'])} with yours: change {number(row['difference'])} ({interval})."
    )
    if row["left_out"]:
        prompts = "1 prompt has" if row["left_out"] == 1 else f"{row['left_out']:,} prompts have"
        text += f" {prompts} a value with only one of the two; the change leaves this out."
    if row["share"] is not None:
        text += f" Your ratings cover {number(row['share'])} of the words' probability."
    return text


_SHOWN = (
    *texts("model"),
    ColumnSpec(header="contrast", keys=("first", "second"), form="pair"),
    *numbers("shipped", shipped="goffman's ratings"),
    ColumnSpec(header="95% interval", keys=("shipped_low", "shipped_high"), form="interval"),
    *numbers("given", given="your ratings"),
    ColumnSpec(header="95% interval", keys=("given_low", "given_high"), form="interval"),
    *numbers("difference", difference="change"),
    ColumnSpec(header="95% interval", keys=("low", "high"), form="interval"),
    *numbers("share", share="share rated"),
)


def change_table(section: Section) -> Iterator[Table]:
    """Yield a table, for a paper, of what the user's ratings change."""
    if section.compared.height:
        caption = (
            f"{section.instrument}: each main contrast with goffman's own ratings and with your "
            "ratings, and the change. Share rated: how much of the words' probability your ratings "
            "cover."
        )
        rows = section.compared.drop("instrument", "mode").to_dicts()
        yield as_table(f"{section.instrument}-ratings", caption, rows, shown=_SHOWN)
