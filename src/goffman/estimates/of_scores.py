"""SCORES → estimates: the contrasts of each measure, corrected over their declared families."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import polars as pl

from goffman.estimates.cells import (
    dimensions,
    genders,
    groups_of_cells,
    models_over_cells,
    wordings_over_cells,
)
from goffman.estimates.conditions import (
    conditions_against_baseline,
    groups_of_conditions,
    measures_together,
    models_over_conditions,
    wordings_over_conditions,
)
from goffman.estimates.contrast import Comparing, Contrast
from goffman.estimates.part import Found, Part
from goffman.estimates.settings import (
    pairs_against_singles,
    settings_by_pairs,
    settings_by_trials,
)
from goffman.stats.correct import adjust
from goffman.tables import CONTRASTS, ESTIMATES, estimate_table, schema

if TYPE_CHECKING:
    from goffman.measures.base import Measure
    from goffman.records import Correction, Estimate

_CELLS = (genders, groups_of_cells, models_over_cells, dimensions, wordings_over_cells)

KINDS: Mapping[str, tuple[str, tuple[Callable[[Part], Found], ...]]] = {
    "negative-attitude": (
        "negative",
        (
            groups_of_conditions,
            models_over_conditions,
            conditions_against_baseline,
            wordings_over_conditions,
        ),
    ),
    "negative-sentiment": ("negative", (groups_of_conditions, models_over_conditions)),
    "gender-of-subject": ("disparity", _CELLS),
    "gender-of-phrase": ("keyed-disparity", _CELLS),
    "coreference-bias": ("bias", (settings_by_trials, pairs_against_singles)),
    "pronoun-preference": ("preference", (settings_by_pairs, pairs_against_singles)),
}
"""Measure → the number that is compared, and its contrasts."""


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
        of_instrument = scores.filter(pl.col("instrument") == instrument)
        quantity, kinds = KINDS.get(measure.name, ("", ()))
        about = Contrast(
            kind="", instrument=instrument, measure=measure.name, quantity="", first="", second=""
        )
        part = Part(
            scores=of_instrument,
            about=about,
            quantity=quantity,
            contrast=getattr(measure, "contrast", ""),
            against=getattr(measure, "against", ""),
            wordings=wordings[instrument],
            compare=compare,
        )
        for kind in kinds:
            found += kind(part)
    found += measures_together(scores, measures, pairs, compare)
    return _table(found, correction)


def _table(found: Sequence[tuple[Contrast, Estimate]], correction: Correction) -> pl.DataFrame:
    families: dict[str, list[tuple[Contrast, Estimate]]] = {}
    for contrast, estimate in found:
        families.setdefault(contrast.family, []).append((contrast, estimate))
    contrasts: list[Contrast] = []
    corrected: list[Estimate] = []
    for family, members in families.items():
        contrasts += [contrast for contrast, _ in members]
        corrected += adjust([one for _, one in members], family=family, method=correction)
    columns = schema(CONTRASTS)
    what = pl.DataFrame([asdict(contrast) for contrast in contrasts], schema=columns)
    rows = pl.concat([what, estimate_table(corrected)], how="horizontal")
    return rows.select(*columns.names(), *schema(ESTIMATES).names())
