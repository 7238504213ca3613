"""A run beside what people said: its tables, and what the manifest says of the anchors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.analysis.score import measures_of, without_controls
from goffman.control_items import CONTROL
from goffman.estimates.anchored import beside_people
from goffman.measures.controls import DECIDED
from goffman.runs.store import parquet

if TYPE_CHECKING:
    from goffman.anchors.anchor import Anchor
    from goffman.runs.entries import Entry
    from goffman.runs.manifest import Manifest

ANCHORS_FILE = "anchors.parquet"
POINTS_FILE = "anchor-points.parquet"
ANCHOR_FILES = (ANCHORS_FILE, POINTS_FILE)

_SAID = (
    *("version", "digest", "title", "citation", "terms", "country", "year", "population", "unit"),
    *("compare", "lowest", "highest", "limits", "whose", "set_apart", "own_texts"),
)


@dataclass(frozen=True, kw_only=True, eq=False)
class BesidePeople:
    """What was found, and who said what it was set beside."""

    estimates: pl.DataFrame
    """The columns CONTRASTS, ESTIMATES and VERDICTS."""
    points: pl.DataFrame
    """The columns ANCHOR_POINTS."""
    anchors: Mapping[str, Entry]
    """By id, for the manifest: those that something of the run could be set beside."""

    def tables(self) -> dict[str, bytes]:
        """By file; none where nothing of the run fits an anchor."""
        if not self.anchors:
            return {}
        return {ANCHORS_FILE: parquet(self.estimates), POINTS_FILE: parquet(self.points)}


def set_beside(
    scores: pl.DataFrame, prompts: pl.DataFrame, manifest: Manifest, anchors: Sequence[Anchor]
) -> BesidePeople:
    """Everything of a measured run that has an anchor."""
    sides = scores.filter(pl.col("level") == CONTROL, pl.col("quantity") == DECIDED)
    decided = {
        (instrument, model): value
        for instrument, model, value in sides.select("instrument", "model", "value").rows()
    }
    estimates, points = beside_people(
        without_controls(scores), prompts, measures_of(manifest), anchors, decided=decided
    )
    used = {*estimates["second"]}
    return BesidePeople(
        estimates=estimates,
        points=points,
        anchors={one.id: entry_of(one) for one in anchors if one.id in used},
    )


def entry_of(anchor: Anchor) -> dict[str, Any]:
    """What the manifest says of an anchor."""
    said = {name: getattr(anchor, name) for name in _SAID}
    items = {one.id: {"name": one.name, "meaning": one.meaning} for one in anchor.items}
    return {name: value for name, value in said.items() if value is not None} | {
        "point": anchor.of,
        "items": items,
    }
