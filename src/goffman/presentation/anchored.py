"""One model's answers to one instrument beside one anchor: what is shown of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.presentation.shown import plain
from goffman.terminal import printable

if TYPE_CHECKING:
    from goffman.presentation.competence import Competence
    from goffman.presentation.section import Section
    from goffman.runs.entries import UsedAnchor

Row = Mapping[str, Any]

CALLED = {
    "negative-probability": "probability of “negative”",
    "she-over-he": "preference for “she” over “he”",
    "she-minus-he": "accuracy with “she” minus accuracy with “he”",
}
"""Numbers that are not those by which a measure is known."""

UNITS = {"she-over-he": " (log ratio; below 0, “he” is preferred)"}
"""What the values of some of them are."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AnchoredModel:
    """What was found for one model, instrument and anchor."""

    anchor: str
    """Its id."""
    about: UsedAnchor
    section: Section
    model: str
    """As the user gave it."""
    estimates: pl.DataFrame
    """The columns CONTRASTS and ESTIMATES: of this model, instrument and anchor."""
    points: pl.DataFrame
    """The columns ANCHOR_POINTS, likewise."""

    @property
    def shown(self) -> str:
        """The model as it is shown."""
        return self.section.names.model(self.model)

    @property
    def unmeasurable(self) -> Competence | None:
        """How the model failed the controls; None: it did not."""
        return self.section.unmeasurable().get(self.model)

    @property
    def quantity(self) -> str:
        """What the model's number is called."""
        return CALLED.get(self.estimates["quantity"][0], self.section.presentation.called)

    @property
    def unit(self) -> str:
        """What its values are, in brackets after its name; empty: the name says it."""
        return UNITS.get(self.estimates["quantity"][0], "")

    @property
    def many(self) -> str:
        """What the points are, in the plural."""
        return self.section.noun.many if self.about.point == "condition" else f"{self.about.point}s"

    @property
    def one(self) -> str:
        """The same in the singular."""
        return self.section.noun.one if self.about.point == "condition" else self.about.point

    def rows(self, kind: str) -> Sequence[Row]:
        """The estimates of a kind that have a value, the strongest first."""
        found = self.estimates.filter(pl.col("kind") == kind, pl.col("effect").is_not_null())
        order = pl.col("effect").abs()
        return found.sort(order, descending=True, maintain_order=True).to_dicts()

    def differences(self, kind: str) -> Sequence[Row]:
        """The differences of a kind, in the order of the table."""
        found = self.estimates.filter(pl.col("kind") == kind, pl.col("difference").is_not_null())
        return found.to_dicts()

    def row(self, kind: str, item: str) -> Row | None:
        """The estimate of a kind for an item of the anchor, over all conditions."""
        return next((row for row in self.rows(kind) if row["dimension"] == item), None)

    def item(self, name: str) -> str:
        """An item of the anchor, as it is shown."""
        known = self.about.items.get(name)
        return printable(known["name"]) if known else plain(name)

    def explained(self, name: str) -> str:
        """An item of the anchor, with what it means."""
        known = self.about.items.get(name)
        meaning = printable(known.get("meaning", "")) if known else ""
        said = self.item(name)
        # A phrase says by itself what it means.
        return said if not meaning or " " in said else f"“{said}” ({meaning})"

    def called(self, condition: str) -> str:
        """A condition, or an occupation, as it is shown."""
        if self.about.point != "condition":
            return printable(condition)
        return self.section.called(condition)

    def residuals(self) -> pl.DataFrame:
        """The points against what all items together predict, the farthest first."""
        found = self.points.filter(pl.col("item").is_null())
        return found.sort(pl.col("statistic").abs(), descending=True)


def anchored_models(
    estimates: pl.DataFrame | None,
    points: pl.DataFrame | None,
    anchors: Mapping[str, UsedAnchor],
    sections: Mapping[str, Section],
) -> list[AnchoredModel]:
    """Anchor by anchor, then instrument by instrument, then model by model."""
    if estimates is None or points is None:
        return []
    return list(_each(estimates, points, anchors, sections))


def _each(
    estimates: pl.DataFrame,
    points: pl.DataFrame,
    anchors: Mapping[str, UsedAnchor],
    sections: Mapping[str, Section],
) -> Iterator[AnchoredModel]:
    for name, about in anchors.items():
        of_anchor = estimates.filter(pl.col("second") == name)
        for instrument, section in sections.items():
            rows = of_anchor.filter(pl.col("instrument") == instrument)
            for model in rows["model"].drop_nulls().unique(maintain_order=True):
                mine = pl.col("model") == model
                yield AnchoredModel(
                    anchor=name,
                    about=about,
                    section=section,
                    model=model,
                    estimates=rows.filter(mine),
                    points=points.filter(
                        pl.col("anchor") == name, pl.col("instrument") == instrument, mine
                    ),
                )
