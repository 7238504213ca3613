"""Who rated the words that numbers rest on, and what a user's own ratings change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.console import printable
from goffman.contrasts.engine import GIVEN
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
    """What the user's ratings change for the model, as it is shown."""
    for row in _shown(section):
        # The same difference with these sentences taken as given stands in the table alone.
        if row["model"] == model and row["kind"] not in GIVEN:
            yield _change(row)


def _shown(section: Section) -> Iterator[Mapping[str, Any]]:
    """The changes that people are told of: of whole scales, and of models that can do the task."""
    rows = section.compared.filter(pl.col("dimension").is_null())
    failing = section.unmeasurable()
    measurable = [
        not any(rests_on(row, model) for model in failing) for row in rows.iter_rows(named=True)
    ]
    yield from section.shown(rows.filter(measurable)).iter_rows(named=True)


def _change(row: Mapping[str, Any]) -> str:
    """A contrast by either ratings, and the change with its interval, in a few sentences."""
    if row["difference"] is None:
        return (
            "One of the two ratings gives no value for this difference, so there is no change to "
            "report."
        )
    between = f"between {humanize(row['first'])} and {humanize(row['second'])}"
    interval = "no interval"
    if row["low"] is not None:
        interval = f"{confidence(row['level'])} interval {ends(row['low'], row['high'])}"
    said = (
        f"With goffman's own ratings, the difference {between} is {number(row['shipped'])}. With "
        f"your ratings, it is {number(row['given'])}. The change is {number(row['difference'])} "
        f"({interval})."
    )
    if row["left_out"]:
        prompts = f"{row['left_out']:,} prompts that have a value"
        if row["left_out"] == 1:
            prompts = "1 prompt that has a value"
        said += (
            f" The change leaves out {prompts} with only one of the two ratings, so it can differ "
            "from the second number minus the first."
        )
    if row["share"] is not None:
        said += f" Your ratings cover {number(row['share'])} of the words' probability."
    return said


def change_rows(section: Section) -> list[dict[str, str]]:
    """The contrasts by either ratings, and their changes, as a page shows them."""
    return [
        {
            "about": row["model"],
            "what": f"{humanize(row['first'])} − {humanize(row['second'])}",
            **{side: number(row[side]) for side in ("shipped", "given", "difference")},
            "shipped_interval": ends(row["shipped_low"], row["shipped_high"]),
            "given_interval": ends(row["given_low"], row["given_high"]),
            "interval": ends(row["low"], row["high"]),
            "share": number(row["share"]),
            "said": _change(row),
        }
        for row in _shown(section)
    ]


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
