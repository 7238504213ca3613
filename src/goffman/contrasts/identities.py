"""Two identities at once: the gap between groups of conditions, compared between people.

Every prompt is asked about each identity, such as Black and white. The interaction replaces the
number of each cell (condition × item × wording) by that of one identity minus that of the
reference, and is tested as the gap itself is. What an identity does to every condition alike, such
as that it is named, is in both groups and cancels.
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
    """Return the identity that an interaction is about, and the reference."""
    identity, _, reference = variant.rpartition(VERSUS)
    return identity, reference


def each_identity(scored: ScoreTable) -> ScoreTable:
    """Return the scores of each identity as a variant, in place of the words that count."""
    main = pl.col("variant").is_null() | (pl.col("variant") == MAIN_VARIANT)
    scores = scored.scores.filter(main).with_columns(variant="identity")
    return replace(scored, scores=scores.drop("identity"))


def minus_reference(scored: ScoreTable, *, reference: str) -> ScoreTable:
    """Return each cell's value minus the reference's as a variant; a gap in either is a gap."""
    cells = (
        each_identity(scored)
        .scores.group_by(*_CELL, "variant", maintain_order=True)
        .agg(pl.col("value").mean())
    )
    own = pl.col("variant") == reference
    both = cells.filter(~own).join(
        cells.filter(own).select(*_CELL, second="value"), on=_CELL, how="left", nulls_equal=True
    )
    named = pl.format(f"{{}}{VERSUS}{{}}", "variant", pl.lit(reference))
    scores = both.select(*_CELL, value=pl.col("value") - pl.col("second"), variant=named)
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
    """Return the gap of each identity, and each interaction, made as the main result is.

    ``scores``: IDENTITY_SCORES; ``levels``: by instrument its identities, the reference first.
    """
    found: list[tuple[Contrast, Estimate]] = []
    for name, (reference, *_) in levels.items():
        spec = _gap_between_groups(measures[name])
        if spec is not None and name in wordings:
            measure, shared = measures[name], sharing.get(name, Clusters())
            of = MeasuredInstrument(
                id=name, measure=measure, wordings=wordings[name], sharing=shared
            )
            quantity = measure.primary_contrast[1]
            mine = of.own_scores(scores).filter(pl.col("quantity") == quantity)
            table = of.score_table(mine, quantity)
            found += [one for make in _by_identity(spec, reference) for one in make(table)]
    return judged(found, measures, unmeasurable=unmeasurable)


def _gap_between_groups(measure: Measure) -> ContrastSpec | None:
    """Return the contrast of the main result, where that is a gap between groups of conditions."""
    for quantity, makes in measure.contrasts:
        for make in makes:
            if (make.kind, make.quantity or quantity) == ("groups", measure.primary_contrast[1]):
                return make
    return None


def _by_identity(spec: ContrastSpec, reference: str) -> Iterator[ContrastSpec]:
    """Yield the same contrast in each identity, and between each and the reference."""
    spec = replace(spec, by=("model", "variant"))
    yield replace(spec, kind=GAP_OF).on(each_identity)
    yield replace(spec, kind=INTERACTION).on(partial(minus_reference, reference=reference))
