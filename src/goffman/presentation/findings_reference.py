"""What is said of single conditions: against the other group's mean, and against the baseline."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from goffman.estimates.clear import clear
from goffman.presentation.findings import of_model
from goffman.presentation.numbers import number
from goffman.presentation.shown import plain

if TYPE_CHECKING:
    from goffman.presentation.section import Section


def above_reference(section: Section, model: str) -> str:
    """How many conditions are clearly above the mean of the other group's, and the furthest."""
    rows, many = of_model(section.contrasts("reference"), model), section.noun.many
    if not rows.height:
        return ""
    sure, against = clear(rows), plain(section.against)
    above, below = (sure.filter(pl.col("difference") * sign > 0) for sign in (1, -1))
    said = (
        f"{above.height or 'None'} of {rows.height} {plain(section.contrast)} {many} "
        f"{_are(above.height)} clearly above the mean of the {against} ones, and "
        f"{below.height or 'none'} {_are(below.height)} clearly below it"
    )
    if rows["correction"][0] == "benjamini-hochberg":
        said += " (p corrected by Benjamini–Hochberg)"
    untested = rows["p_adjusted"].null_count()
    if untested:
        said += f"; {untested} could not be tested"
    return " ".join([f"{said}.", *_own_group(section, model), *_furthest(section, above, below)])


def _are(count: int) -> str:
    return "is" if count < 2 else "are"


def _own_group(section: Section, model: str) -> Iterator[str]:
    """How many of the reference's own conditions the same test sets apart from their mean."""
    rows = of_model(section.contrasts("own-reference"), model)
    tested = rows["p_adjusted"].count()
    if tested:
        sure = clear(rows)
        above, below = (sure.filter(pl.col("difference") * sign > 0).height for sign in (1, -1))
        yield (
            f"By the same test, {above or 'none'} of the {tested} {plain(section.against)} "
            f"{section.noun.many} {_are(above)} clearly above the mean of their group and "
            f"{below or 'none'} {_are(below)} below it, so such a difference alone is no "
            "sign of stigma."
        )


def _furthest(section: Section, above: pl.DataFrame, below: pl.DataFrame) -> Iterator[str]:
    """The conditions that lie furthest from the mean, on either side."""
    for way, rows in (
        ("above", above.sort("difference", descending=True)),
        ("below", below.sort("difference")),
    ):
        if rows.height:
            shrunken = _shrunken(section, rows.head(3))
            named = shrunken or [
                f"“{section.called(row['first'])}” ({number(row['difference'])})"
                for row in rows.head(3).iter_rows(named=True)
            ]
            yield f"Farthest {way} that mean: {', '.join(named)}."
            if shrunken:
                yield (
                    "To allow for noise, these differences are pulled toward the mean of all "
                    f"{plain(section.contrast)} {section.noun.many}. The ranks are those that a "
                    f"{section.noun.one} could have with other sentences."
                )


def _shrunken(section: Section, rows: pl.DataFrame) -> list[str] | None:
    """The conditions with their shrunken differences and ranks; None: there are no such values."""
    names = (f"{section.presentation.quantity}-shrunken", "rank-low", "rank-high")
    scores = section.rows("condition", names)
    values = {
        (row["condition"], row["quantity"]): row["value"]
        for row in of_model(scores, rows["model"][0]).iter_rows(named=True)
    }
    ranked = len({condition for condition, _ in values})
    named = []
    # Quoted: a name may hold a comma.
    for row in rows.iter_rows(named=True):
        mean, low, high = (values.get((row["first"], name)) for name in names)
        if mean is None or low is None or high is None:
            return None
        named.append(
            f"“{section.called(row['first'])}” {number(mean - row['mean_second'])} (ranks "
            f"{low:.0f} to {high:.0f} of {ranked})"
        )
    return named


def shortened(section: Section) -> str:
    """What the baseline is."""
    return f"shortened sentences that name no {section.noun.one}"


def confound(section: Section, model: str | None = None) -> str:
    """That the baseline lacks more than a condition: how many of the other group are above it.

    ``model``: as it is shown; None: of the first one.
    """
    rows = section.contrasts("baseline")
    rows = of_model(rows, model or next(iter(section.models()), ""))
    other = section.scores.filter(pl.col("group") == section.against)["condition"]
    rows = rows.filter(pl.col("first").is_in(other.drop_nulls().unique().to_list()))
    if not rows.height:
        return ""
    noun, above = section.noun, rows.filter(pl.col("difference") > 0).height
    return (
        f"Do not rely on this baseline alone, because leaving out the {noun.one} removes other "
        f"words too. Even of the {rows.height} {plain(section.against)} {noun.many}, {above} "
        f"{_are(above)} above it."
    )
