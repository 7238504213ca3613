"""The correlations of two measures in a run: which they are of, and what is said about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.estimates.clear import points
from goffman.estimates.together import Side, sides
from goffman.presentation.numbers import corrected_said, ends, number
from goffman.presentation.shown import plain

if TYPE_CHECKING:
    from goffman.measures.base import Measure
    from goffman.presentation.section import Section
    from goffman.records import Noun


@dataclass(frozen=True, kw_only=True)
class Correlation:
    """One correlation, with the sections and models that its sides are of."""

    row: Mapping[str, Any]
    """The columns CONTRASTS and ESTIMATES."""
    first: Side
    second: Side
    models: tuple[str | None, str | None]
    """As they are shown; None: over all."""
    noun: Noun
    """What the conditions are called over which it is."""
    ratings: str = ""
    """Who rated the words that either side rests on; empty: neither needs ratings."""


def correlations(
    estimates: pl.DataFrame,
    sections: Mapping[str, Section],
    measures: Mapping[str, Measure],
    *,
    each: bool = False,
) -> list[Correlation]:
    """The correlations of two measures, each once; ``measures`` are by instrument.

    ``each``: also those that say the same.

    Where one model answered each of the two, "over all models" says the same as the pair of them.
    """
    rows = estimates.filter(pl.col("kind") == "measures").to_dicts()
    known = _sides(sections, measures)
    found = [
        Correlation(
            row=row,
            first=known[row["first"]],
            second=known[row["second"]],
            models=(
                _shown(known[row["first"]], sections),
                _shown(known[row["second"]], sections),
            ),
            noun=sections[known[row["first"]].instrument].noun,
            ratings=next(
                (
                    said
                    for side in ("first", "second")
                    if (said := sections[known[row[side]].instrument].ratings)
                ),
                "",
            ),
        )
        for row in rows
        if row["first"] in known and row["second"] in known
    ]
    of_models = {(one.row["n"], one.row["effect"]) for one in found if one.first.model}
    return [
        one
        for one in found
        if each
        or one.first.model
        or one.row["effect"] is None
        or (one.row["n"], one.row["effect"]) not in of_models
    ]


def _sides(sections: Mapping[str, Section], measures: Mapping[str, Measure]) -> dict[str, Side]:
    """Every side that a correlation of this run can have, by its text in the table."""
    models = {
        model
        for section in sections.values()
        for model in section.scores["model"].drop_nulls().unique()
    }
    # A pair has a model on either side; who it is paired with does not matter here.
    whose: list[tuple[str | None, str | None]] = [(None, None)]
    whose += [(model, model) for model in sorted(models)]
    pairs = sides({name: measures[name] for name in sections}, whose)
    return {side.text(): side for pair in pairs for side in pair}


def _shown(side: Side, sections: Mapping[str, Section]) -> str | None:
    return sections[side.instrument].names.model(side.model) if side.model else None


def correlations_said(found: Sequence[Correlation]) -> list[str]:
    """A sentence for each correlation, and who rated the words that they rest on."""
    rated = dict.fromkeys(one.ratings for one in found if one.ratings)
    return [*(_said(one) for one in found), *rated]


def _said(one: Correlation) -> str:
    row = one.row
    first, second = (
        side.text(measure=plain(side.measure), model=model)
        for side, model in zip((one.first, one.second), one.models, strict=True)
    )
    if row["effect"] is None:
        return f"No correlation of {first} and {second}: {row['reason']}."
    head = {
        1: f"the higher the {first}, the higher the {second}",
        -1: f"the higher the {first}, the lower the {second}",
        0: f"{first} and {second} show no clear relation",
    }[points(row)]
    interval = ""
    if row["effect_low"] is not None:
        low, high = row["effect_low"], row["effect_high"]
        interval = f", {row['level']:.0%} interval {ends(low, high)}"
    return (
        f"Over {row['n']} {one.noun.many}, {head}: r = {number(row['effect'])}{interval}, "
        f"{corrected_said(row)}."
    )
