"""Two identities at once: the gap between groups of conditions, compared between people.

Every prompt is asked about each identity, such as Black and white. For the interaction, the number
of each cell (condition × item × wording) is that of one identity minus that of the reference; it is
tested as the gap itself is. Whatever an identity does to every condition alike, such as being
named, is in both groups and cancels.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from goffman.contrasts.correlations import MAIN_VARIANT
from goffman.contrasts.designs import GAP_OF, INTERACTION, Clusters, Contrast, ScoreTable
from goffman.contrasts.engine import ContrastSpec, MeasuredInstrument, judged

if TYPE_CHECKING:
    from goffman.measures.base import Measure
    from goffman.stats.estimate import Estimate

_CELL = (
    *("model", "instrument", "mode", "measure", "quantity", "level", "item", "wording"),
    *("dimension", "condition", "form", "group", "category", "trial"),
)
"""What two prompts about people of different identities have in common."""


VERSUS = " vs "


def identities_of(variant: str) -> tuple[str, str]:
    """Return the identity that an interaction is about, and the reference identity."""
    identity, _, reference = variant.rpartition(VERSUS)
    return identity, reference


def each_identity(scored: ScoreTable) -> ScoreTable:
    """Return the scores with the identity in the column ``variant``, for the main variant alone."""
    main = pl.col("variant").is_null() | (pl.col("variant") == MAIN_VARIANT)
    scores = scored.scores.filter(main).with_columns(variant="identity")
    return replace(scored, scores=scores.drop("identity"))


def minus_reference(scored: ScoreTable, *, reference: str) -> ScoreTable:
    """Return each identity's cells minus the reference's cells; a gap in either is a gap."""
    cells = (
        each_identity(scored)
        .scores.group_by(*_CELL, "variant", maintain_order=True)
        .agg(pl.col("value").mean())
    )
    is_reference = pl.col("variant") == reference
    joined = cells.filter(~is_reference).join(
        cells.filter(is_reference).select(*_CELL, second="value"),
        on=_CELL,
        how="left",
        nulls_equal=True,
    )
    variant = pl.format(f"{{}}{VERSUS}{{}}", "variant", pl.lit(reference))
    scores = joined.select(*_CELL, value=pl.col("value") - pl.col("second"), variant=variant)
    return replace(scored, scores=pl.concat([scored.scores.clear(), scores], how="diagonal"))


def identity_estimates(
    scores: pl.DataFrame,
    levels: Mapping[str, Sequence[str]],
    measures: Mapping[str, Measure],
    *,
    wordings: Mapping[str, Sequence[str]],
    sharing: Mapping[str, Clusters],
    unmeasurable: Mapping[str, Collection[str]] | None = None,
) -> pl.DataFrame:
    """Return the gap of each identity, and each interaction, estimated as the main result is.

    ``scores``: IDENTITY_SCORES; ``levels``: the identities of each instrument, the reference first.
    """
    estimates: list[tuple[Contrast, Estimate]] = []
    for instrument, (reference, *_) in levels.items():
        spec = _gap_between_groups(measures[instrument])
        if spec is not None and instrument in wordings:
            measure, shared = measures[instrument], sharing.get(instrument, Clusters())
            measured = MeasuredInstrument(
                id=instrument, measure=measure, wordings=wordings[instrument], sharing=shared
            )
            quantity = measure.primary_contrast[1]
            rows = measured.own_scores(scores).filter(pl.col("quantity") == quantity)
            table = measured.score_table(rows, quantity)
            estimates += [
                estimate for make in _by_identity(spec, reference) for estimate in make(table)
            ]
    return judged(estimates, measures, unmeasurable=unmeasurable)


def _gap_between_groups(measure: Measure) -> ContrastSpec | None:
    """Return the contrast of the main result if it is a gap between groups of conditions."""
    for quantity, specs in measure.contrasts:
        for spec in specs:
            if (spec.kind, spec.quantity or quantity) == ("groups", measure.primary_contrast[1]):
                return spec
    return None


def _by_identity(spec: ContrastSpec, reference: str) -> Iterator[ContrastSpec]:
    """Yield the contrast within each identity, and between each identity and the reference."""
    spec = replace(spec, by=("model", "variant"))
    yield replace(spec, kind=GAP_OF).on(each_identity)
    yield replace(spec, kind=INTERACTION).on(partial(minus_reference, reference=reference))
