"""Who rated the words that numbers rest on, and what a user's own ratings change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.console import printable
from goffman.contrasts.designs import GIVEN
from goffman.contrasts.verdict import rests_on
from goffman.formatting import confidence, ends, humanize, number
from goffman.presentation.table_formats import ColumnSpec, Table, as_table, numbers, texts

if TYPE_CHECKING:
    from goffman.presentation.section import Section
    from goffman.runs.manifest import LexiconEntries, RatingsFile

SHIPPED = "shipped"
"""The name under which a manifest has the ratings that come with goffman."""

BY_MODELS = "made by language models, not by people"


def whose_ratings(lexicons: LexiconEntries) -> str:
    """Who rated the words, in a sentence; a manifest that names no file means the shipped ones."""
    given = [one for one in lexicons.attitudes if one.file != SHIPPED]
    if not given:
        return "Language models, not people, rated the words as positive or negative."
    files = " and ".join(
        f"{printable(PurePath(one.file).name)} ({one.ratings or 0:,} ratings)" for one in given
    )
    said = f"The words were rated in {files}."
    if len(given) == len(lexicons.attitudes):
        return said
    return f"{said} All other words keep goffman's own ratings, {BY_MODELS}."


def describe_file(one: RatingsFile) -> str:
    """A file of ratings among what a run was measured with."""
    shipped = one.file == SHIPPED
    who = f" {BY_MODELS}" if shipped else ""
    whose = "the list that comes with goffman" if shipped else printable(one.file)
    return (
        f"Attitude ratings of words: {whose}, {one.ratings:,} ratings{who} "
        f"(sha256 {one.sha256[:12]}…)."
    )


def describe_changes(section: Section, model: str) -> Iterator[str]:
    """Yield what the user's ratings change for a model that can do the task, as it is shown."""
    failing = section.unmeasurable()
    rows = section.compared.filter(pl.col("dimension").is_null())
    measurable = [
        not any(rests_on(row, name) for name in failing) for row in rows.iter_rows(named=True)
    ]
    for row in section.shown(rows.filter(measurable)).iter_rows(named=True):
        # The same difference with these sentences taken as given is in the table alone.
        if row["model"] == model and row["kind"] not in GIVEN:
            yield _change(row)


def _change(row: Mapping[str, Any]) -> str:
    """Return a contrast by either ratings, and the change with its interval."""
    if row["difference"] is None:
        return "One of the two ratings gives no value for this difference, so no change is known."
    between = f"between {humanize(row['first'])} and {humanize(row['second'])}"
    interval = "no interval"
    if row["low"] is not None:
        interval = f"{confidence(row['level'])} interval {ends(row['low'], row['high'])}"
    said = (
        f"The difference {between} is {number(row['shipped'])} with goffman's own ratings and "
        f"{number(row['given'])} with yours: change {number(row['difference'])} ({interval})."
    )
    if row["left_out"]:
        prompts = "1 prompt has" if row["left_out"] == 1 else f"{row['left_out']:,} prompts have"
        said += f" {prompts} a value with only one of the two; the change leaves this out."
    if row["share"] is not None:
        said += f" Your ratings cover {number(row['share'])} of the words' probability."
    return said


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
    """What the user's ratings change, for a paper."""
    if section.compared.height:
        caption = (
            f"{section.instrument}: each main contrast with goffman's own ratings and with your "
            "ratings, and the change. Share rated: how much of the words' probability your ratings "
            "cover."
        )
        rows = section.compared.drop("instrument", "mode").to_dicts()
        yield as_table(f"{section.instrument}-ratings", caption, rows, shown=_SHOWN)
