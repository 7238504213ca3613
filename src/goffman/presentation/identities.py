"""Two identities at once: a figure of the gap for each identity, and of the interactions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from goffman.contrasts.designs import GAP_OF, INTERACTION
from goffman.contrasts.identities import identities_of
from goffman.formatting import humanize
from goffman.presentation.estimate_figures import (
    ESTIMATE,
    describe_marks,
    estimate_layers,
    estimate_tip,
    with_clear,
)
from goffman.presentation.section import Section
from goffman.presentation.vega import Figure, axis_x, axis_y, data, plot

WHAT = {GAP_OF: "gap", INTERACTION: "difference of two gaps"}


PART = "identities"
"""The end of the figure's id."""


def identities(section: Section) -> Iterator[Figure]:
    """Yield a figure of the gap for each identity, and its difference from the reference's gap."""
    between = with_clear(section.contrasts(INTERACTION))
    if not between.height:
        return
    rows = pl.concat([with_clear(section.contrasts(GAP_OF)), between])
    pairs = between["variant"].unique(maintain_order=True).to_list()
    reference = identities_of(pairs[0])[1]
    kinds = pl.col("kind").replace_strict(WHAT, return_dtype=pl.String)
    groups = f"{humanize(section.contrast)} minus {humanize(section.against)}"
    clear, title = between.filter(pl.col("clear") == "yes").height, "The gap for each identity"
    if len(section.models()) == 1:
        among = f"{clear or 'none'} of {len(pairs)} identities"
        title = f"The gap clearly differs from that for {reference} in {among}"
    yield plot(
        section,
        PART,
        data(rows.with_columns(what=kinds), "model", "variant", "what", *ESTIMATE),
        estimate_layers(
            rows,
            estimate_tip(("variant", "For"), ("what", "What"), ("model", "Model")),
            size=52,
            colour=("what", [*WHAT.values()]),
        ),
        title=title,
        description=f"Below the gaps: each minus that for {reference} ({how_many(section)}). "
        f"{describe_marks(rows)}",
        y=axis_y("variant", [reference, *(identities_of(pair)[0] for pair in pairs), *pairs]),
        x=axis_x(f"{section.presentation.called}: {groups}", field_="difference"),
        height={"step": 21},
        rows="model",
        order=section.models(),
    )


def how_many(section: Section) -> str:
    """Return the number of conditions that people of each identity have."""
    count: Any = section.contrasts(INTERACTION)["n"].max()
    return f"{count:,} {section.noun.many}"
