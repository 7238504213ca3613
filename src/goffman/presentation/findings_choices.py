"""What is said about chosen options: first how a model answers, then what it answers about whom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from goffman.presentation.findings import of_model
from goffman.presentation.findings_conditions import groups_apart
from goffman.presentation.findings_presented import (
    answering_said,
    presentation_said,
    style_said,
)
from goffman.presentation.findings_rarity import in_turn, rarity
from goffman.presentation.numbers import ends, number
from goffman.presentation.shown import plain
from goffman.presentation.variance import variance_said

if TYPE_CHECKING:
    from goffman.presentation.base import Finding
    from goffman.presentation.section import Section


def codes_apart(section: Section) -> Iterator[Finding]:
    """The gap between two groups; before it what the presentation does, and any style."""
    more = in_turn(rarity("mean code"), answering_said, _bounds, variance_said)
    for found in groups_apart(what="code", more=more)(section):
        yield presented_first(section, found)


def presented_first(section: Section, found: Finding) -> Finding:
    """The finding with what the presentation does before it, and a style in place of its head.

    A model that heeds nothing shows no difference either: to say so would be to call it fair.
    """
    first = presentation_said(section, found.model)
    style = style_said(section, found.model)
    if not style:
        return replace(found, text=f"{first} {found.text}")
    return replace(
        found,
        head=style,
        styled=True,
        text=f"So its answers say little about the questions. {first} {found.text}",
    )


def _bounds(section: Section, model: str) -> Iterator[str]:
    """What the mean code of each group would be, were all that is no answer alike."""
    rows = of_model(section.rows("group", ("lowest", "highest")), model)
    groups = [section.contrast, section.against]
    rows = rows.filter(pl.col("wording").is_null(), pl.col("group").is_in(groups))
    ends_of = {(row["group"], row["quantity"]): row["value"] for row in rows.iter_rows(named=True)}
    if len(ends_of) != 4:
        return
    said = [
        f"{number(ends_of[group, 'lowest'])} to {number(ends_of[group, 'highest'])} for "
        f"{plain(group)} {section.noun.many}"
        for group in groups
    ]
    first, second = groups
    least = ends_of[first, "lowest"] - ends_of[second, "highest"]
    most = ends_of[first, "highest"] - ends_of[second, "lowest"]
    yield (
        "The model did not always answer. Depending on what it would have answered, its mean code "
        f"could be {' and '.join(said)}, and the difference could be {ends(least, most)}"
        f"{_with_those_left_out(section, model)}."
    )


def _with_those_left_out(section: Section, model: str) -> str:
    """That these bounds are over all conditions, where the difference above is not."""
    rows = of_model(section.contrasts("groups"), model).filter(pl.col("left_out") > 0)
    for row in rows.iter_rows(named=True):
        of_all = of_model(section.rows("condition", "lowest"), model)
        counts = [
            f"{of_all.filter(pl.col('group') == row[side]).height - row[f'n_{side}']} "
            f"{plain(row[side])}"
            for side in ("first", "second")
        ]
        return (
            f". These bounds include the {section.noun.many} that are left out of the tested "
            f"difference ({' and '.join(counts)})"
        )
    return ""
