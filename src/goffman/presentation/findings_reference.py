"""What is said of single conditions: against the other group's mean, and against the baseline."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from goffman.estimates.clear import clear
from goffman.presentation.findings import of_model
from goffman.presentation.numbers import number
from goffman.presentation.shown import plain

if TYPE_CHECKING:
    from goffman.presentation.section import Section


NAMED = 3
"""Of the conditions that lie furthest, so many are named."""


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
    return " ".join(
        [
            f"{said}.",
            *_over_fewer(section, rows),
            *_own_group(section, model),
            *_furthest(section, above, below, of=rows.height),
        ]
    )


def _over_fewer(section: Section, rows: pl.DataFrame) -> Iterator[str]:
    """How many conditions are compared without some of the questions."""
    fewer = rows.filter(pl.col("left_out") > 0, pl.col("p_adjusted").is_not_null()).height
    if fewer:
        noun = section.noun.one if fewer == 1 else section.noun.many
        yield (
            f"{fewer} {noun} {_are(fewer)} compared over fewer questions, because values are "
            "missing."
        )


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


def _furthest(
    section: Section, above: pl.DataFrame, below: pl.DataFrame, *, of: int
) -> Iterator[str]:
    """The conditions that lie furthest from the mean, on either side; ``of``: out of so many."""
    for way, most, rows in (
        ("above", "highest", above.sort("difference", descending=True)),
        ("below", "lowest", below.sort("difference")),
    ):
        if not rows.height:
            continue
        far = rows.head(NAMED)
        shrunken = _shrunken(section, far)
        if shrunken:
            yield f"Farthest {way} that mean: {', '.join(shrunken.named)}."
            yield (
                "To allow for noise, these differences are pulled toward the mean of all "
                f"{plain(section.contrast)} {section.noun.many}; the figure shows them as measured."
            )
            if shrunken.ranked:
                yield (
                    f"The ranks are those that a {section.noun.one} could have with other "
                    "sentences."
                )
            continue
        named = [
            f"“{section.called(row['first'])}” ({number(row['difference'])})"
            for row in far.iter_rows(named=True)
        ]
        # Of several values the most extreme owe the most to chance.
        over = f", the {most} of {of}, and so probably overestimated" if of > len(named) else ""
        yield f"Farthest {way} that mean{over}: {', '.join(named)}."


class _Shrunken(NamedTuple):
    named: list[str]
    """Conditions with their shrunken differences, and ranks where these are known."""
    ranked: bool


def _shrunken(section: Section, rows: pl.DataFrame) -> _Shrunken | None:
    """The conditions with their shrunken differences; None: there are no such values."""
    names = (f"{section.presentation.quantity}-shrunken", "rank-low", "rank-high")
    scores = section.rows("condition", names)
    values = {
        (row["condition"], row["quantity"]): row["value"]
        for row in of_model(scores, rows["model"][0]).iter_rows(named=True)
    }
    every = len({condition for condition, _ in values})
    named, ranked = [], True
    for row in rows.iter_rows(named=True):
        mean, low, high = (values.get((row["first"], name)) for name in names)
        if mean is None:
            return None
        ranks = ""
        if low is None or high is None:
            ranked = False
        else:
            ranks = f" (ranks {low:.0f} to {high:.0f} of {every})"
        # Quoted: a name may hold a comma.
        named.append(f"“{section.called(row['first'])}” {number(mean - row['mean_second'])}{ranks}")
    return _Shrunken(named, ranked)


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
