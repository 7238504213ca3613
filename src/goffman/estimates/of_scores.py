"""SCORES → estimates: the contrasts of each measure, corrected over their declared families."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, TypeAlias

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
    outcomes_against_baseline,
    wordings_over_conditions,
)
from goffman.estimates.contrast import Comparing, Contrast
from goffman.estimates.part import Found, Part
from goffman.estimates.settings import (
    models_over_pairs,
    pairs_against_singles,
    settings_by_pairs,
    settings_by_trials,
)
from goffman.stats.correct import adjust
from goffman.tables import CONTRASTS, ESTIMATES, estimate_table, schema

if TYPE_CHECKING:
    from goffman.measures.base import Measure
    from goffman.records import Correction, Estimate

Kinds: TypeAlias = tuple[Callable[[Part], Found], ...]

_OF_DISPARITY: Kinds = (groups_of_cells, models_over_cells, dimensions, wordings_over_cells)
_OF_PAIRS: Kinds = (settings_by_pairs, pairs_against_singles, models_over_pairs)

KINDS: Mapping[str, tuple[tuple[str, Kinds], ...]] = {
    "negative-attitude": (
        (
            "negative",
            (
                groups_of_conditions,
                models_over_conditions,
                conditions_against_baseline,
                wordings_over_conditions,
            ),
        ),
    ),
    "negative-sentiment": (
        ("negative", (groups_of_conditions, models_over_conditions, outcomes_against_baseline)),
    ),
    "gender-of-subject": (("disparity", (genders, *_OF_DISPARITY)),),
    "gender-of-phrase": (
        ("keyed-disparity", (genders, *_OF_DISPARITY)),
        ("disparity", _OF_DISPARITY),
    ),
    "coreference-bias": (("bias", (settings_by_trials, *_OF_PAIRS)),),
    "pronoun-preference": (("preference", _OF_PAIRS),),
}
"""Measure → the numbers that are compared, each with its contrasts."""


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
        about = Contrast(
            kind="", instrument=instrument, measure=measure.name, quantity="", first="", second=""
        )
        for quantity, kinds in KINDS.get(measure.name, ()):
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
