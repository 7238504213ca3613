"""What could be shuffled if a headline were nothing: its units, and what each is labelled with.

groups   conditions, labelled with their group
genders  conditions, whose female and male could be the other way round
level    occupations that a pronoun refers to. Of a preference they are labelled with the gender
that they are associated with; of a bias, pro and anti could be the other way round
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.estimates.as_asked import of_conditions

if TYPE_CHECKING:
    from goffman.estimates.sharing import Sharing
    from goffman.stats.multiverse import Shuffling

SAID = {
    "groups": "the groups of the conditions",
    "genders": "female and male, condition by condition",
    "bias": "pro and anti, occupation by occupation",
    "preference": "the genders of the occupations",
}
"""What is shuffled, in words."""


@dataclass(frozen=True, kw_only=True)
class Exchangeable:
    """The units of one analysis."""

    shuffling: Shuffling
    what: str
    """A key of SAID."""
    sums: Mapping[str, float] = field(default_factory=dict)
    """What each unit adds to the estimate."""
    counts: Mapping[str, float] = field(default_factory=dict)
    """How often."""
    labels: Mapping[str, float] = field(default_factory=dict)
    """1 or −1."""


def exchangeable(
    headline: Mapping[str, Any], rows: pl.DataFrame, quantity: str, sharing: Sharing
) -> Exchangeable | None:
    """The units of the headline's scores of prompts; None: it is not known what they could be.

    ``rows``: those that the headline is made from, ``quantity``: the number that it is made of.
    """
    kind = headline["kind"]
    if kind == "groups":
        return _of_groups(headline, rows.filter(pl.col("quantity") == quantity))
    if kind == "genders":
        return _of_genders(rows)
    if kind == "level" and sharing.ways:
        return _of_pairs(rows, quantity, sharing)
    return None


def _of_groups(headline: Mapping[str, Any], rows: pl.DataFrame) -> Exchangeable:
    means = of_conditions(rows).filter(pl.col("value").is_not_null())
    known = dict(means.select("condition", "value").rows())
    groups = dict(means.select("condition", "group").rows())
    return Exchangeable(
        shuffling="labels",
        what="groups",
        sums=known,
        counts=dict.fromkeys(known, 1.0),
        labels={one: 1.0 if groups[one] == headline["first"] else -1.0 for one in known},
    )


def _of_genders(rows: pl.DataFrame) -> Exchangeable:
    sides = []
    for gender in ("female", "male"):
        means = rows.filter(pl.col("quantity") == gender).group_by("condition")
        sides.append(means.agg(pl.col("value").mean().alias(gender)))
    both = sides[0].join(sides[1], on="condition").drop_nulls()
    known = dict(both.select("condition", pl.col("female") - pl.col("male")).rows())
    return Exchangeable(
        shuffling="signs",
        what="genders",
        sums=known,
        counts=dict.fromkeys(known, 1.0),
        labels=dict.fromkeys(known, 1.0),
    )


def _of_pairs(rows: pl.DataFrame, quantity: str, sharing: Sharing) -> Exchangeable:
    """Sentence pairs, by the occupation that the pronoun refers to."""
    bias = quantity == "bias"
    values = _biases(rows) if bias else _means(rows.filter(pl.col("quantity") == quantity))
    sums: dict[str, float] = {}
    counts: dict[str, float] = {}
    labels: dict[str, float] = {}
    for item, value in sorted(values.items()):
        if item not in sharing.ways:
            continue
        occupation, sign = sharing.ways[item][1], sharing.signs[item]
        sums[occupation] = sums.get(occupation, 0.0) + (value if bias else sign * value / 2)
        counts[occupation] = counts.get(occupation, 0.0) + 1.0
        labels[occupation] = 1.0 if bias else sign
    return Exchangeable(
        shuffling="signs" if bias else "labels",
        what="bias" if bias else "preference",
        sums=sums,
        counts=counts,
        labels=labels,
    )


def _biases(rows: pl.DataFrame) -> dict[str, float]:
    correct = rows.filter(pl.col("quantity") == "correct")
    pro, anti = (_means(correct.filter(pl.col("wording") == side)) for side in ("pro", "anti"))
    return {item: pro[item] - anti[item] for item in pro if item in anti}


def _means(rows: pl.DataFrame) -> dict[str, float]:
    """By sentence pair, where there is a value."""
    means = rows.group_by("item").agg(pl.col("value").mean())
    return dict(means.drop_nulls().select("item", "value").rows())
