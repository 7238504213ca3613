"""SCORES → estimates: the contrasts of each measure, corrected over their declared families."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import polars as pl

from goffman.estimates.contrast import Comparing, Contrast
from goffman.estimates.reference import KIND
from goffman.estimates.scored import Scored
from goffman.estimates.together import measures_together
from goffman.stats.correct import adjust
from goffman.tables import CONTRASTS, ESTIMATES, estimate_table, schema

if TYPE_CHECKING:
    from goffman.measures.base import Measure
    from goffman.records import Correction, Estimate


OF_COUNTS: Mapping[str, Correction] = {KIND: "benjamini-hochberg"}
"""Kinds of contrasts that are counted, not read one by one: there the share of false ones is held,
whatever the correction of the others."""


def estimates(
    scores: pl.DataFrame,
    measures: Mapping[str, Measure],
    *,
    wordings: Mapping[str, Sequence[str]],
    pairs: Sequence[tuple[str, str]] = (),
    compare: Comparing | None = None,
    correction: Correction = "holm",
) -> pl.DataFrame:
    """CONTRASTS + ESTIMATES: every contrast that the scores allow, corrected over its family.

    ``measures`` and ``wordings`` are by instrument; ``pairs``: base models and the classifiers
    that were fine-tuned from them.
    """
    compare = compare or Comparing()
    found: list[tuple[Contrast, Estimate]] = []
    for instrument, measure in measures.items():
        for quantity, kinds in measure.contrasts:
            scored = scored_by(
                scores,
                instrument,
                measure,
                quantity,
                wordings=wordings[instrument],
                compare=compare,
            )
            for kind in kinds:
                found += kind(scored)
    found += measures_together(scores, measures, pairs, compare)
    return corrected(found, correction=correction)


def scored_by(
    scores: pl.DataFrame,
    instrument: str,
    measure: Measure,
    quantity: str,
    *,
    wordings: Sequence[str],
    compare: Comparing,
) -> Scored:
    """What the contrasts of one number of an instrument are made from."""
    about = Contrast(
        kind="", instrument=instrument, measure=measure.name, quantity="", first="", second=""
    )
    return Scored(
        scores=scores.filter(pl.col("instrument") == instrument),
        about=about,
        quantity=quantity,
        contrast=getattr(measure, "contrast", ""),
        against=getattr(measure, "against", ""),
        wordings=wordings,
        compare=compare,
    )


def corrected(
    found: Sequence[tuple[Contrast, Estimate]], *, correction: Correction = "holm"
) -> pl.DataFrame:
    """CONTRASTS + ESTIMATES, each p corrected over its family."""
    families: dict[str, list[tuple[Contrast, Estimate]]] = {}
    for contrast, estimate in found:
        families.setdefault(contrast.family, []).append((contrast, estimate))
    contrasts: list[Contrast] = []
    adjusted: list[Estimate] = []
    for family, members in families.items():
        contrasts += [contrast for contrast, _ in members]
        adjusted += adjust(
            [one for _, one in members],
            family=family,
            method=OF_COUNTS.get(members[0][0].kind, correction),
        )
    columns = schema(CONTRASTS)
    what = pl.DataFrame([asdict(contrast) for contrast in contrasts], schema=columns)
    rows = pl.concat([what, estimate_table(adjusted)], how="horizontal")
    return rows.select(*columns.names(), *schema(ESTIMATES).names())
