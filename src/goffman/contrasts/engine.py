"""One contrast: what it is about, and how its two sides become an estimate with one interval.

The interval is over everything that was sampled: a complete table of conditions, items and wordings
by the crossed formula, with conditions clustered by category; what shares sentence frames and
occupations, or was asked in part, by the multiway jackknife. Lin et al. (2022) take cells that
share an item or a condition as independent; their p-values are smaller than these.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

from goffman.contrasts.verdict import ANCHORED, CORRELATIONS
from goffman.instruments.types import asked_as
from goffman.schemas import ESTIMATES, schema
from goffman.stats.crossed import FIXED, LEAST, Interval, crossed_interval, sampled_over
from goffman.stats.estimate import Estimate
from goffman.stats.jackknife import jackknife
from goffman.stats.profile import Profile, related
from goffman.stats.two_samples import apart, by_t, in_pairs, numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from goffman.stats.two_samples import Values

    Table = NDArray[np.float64]

GIVEN = {
    "groups-as-asked": "these sentences treated as fixed",
    "groups-adjusted": "adjusted for the phrase's length, verb and, where known, likelihood",
    "trials": "over trials of these sentences",
}
"""Kinds of contrasts that repeat another with something taken as given, and what."""

GIVEN_SENTENCES = "conditions, with these sentences treated as fixed"
FACTORS = ("conditions", "items", "wordings")

FEW = 4
"""From so many units on there is an interval over them alone.

By t of three it would hold only as far as single values are normal, which shares and probabilities
are not.
"""

FEWEST_CLUSTERS = 6
"""So many clusters every way of the jackknife must have: fewer say too little of how they vary."""

ROUNDING = 1e-7
"""A standard error below this share of the largest value is that of rounding: its square is a sum
of parts that may cancel, to the sixteenth digit."""

ONE_UNIT = "there are fewer than two {}, so nothing shows how much they differ"
NO_SPREAD = "all values are equal, so no interval or test can be computed"
GAPS = "too few of the {} have a value in every sentence"


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """The columns CONTRASTS."""

    kind: str
    instrument: str | None
    mode: str | None = None
    measure: str | None
    quantity: str
    variant: str | None = None
    model: str | None = None
    group: str | None = None
    dimension: str | None = None
    first: str
    second: str

    @property
    def asked(self) -> str | None:
        """The id of the instrument with its mode."""
        return self.instrument and asked_as(self.instrument, self.mode)

    @property
    def text(self) -> str:
        """What is compared, in words; the same for no other contrast."""
        # The same two sets are also compared over all that was sampled.
        about = [self._about, self.group, self.dimension, GIVEN.get(self.kind)]
        sign = "with" if self.kind in {*CORRELATIONS, *ANCHORED} else "−"
        return f"{', '.join(part for part in about if part)}: {self.first} {sign} {self.second}"

    @property
    def family(self) -> str:
        """The declared family of tests: all of its kind, quantity, variant and model.

        Those of single subscales are apart from those of the whole: they are its parts.
        """
        return f"{self.kind}{' by dimension' if self.dimension else ''}: {self._about}"

    @property
    def _about(self) -> str:
        about = [self.asked, self.measure, self.quantity, self.variant, self.model]
        return ", ".join(part for part in about if part)


def of_units(tested: Estimate, over: str) -> Estimate:
    """Return a t-test over units; without its interval, and with the reason, where they are few."""
    least = min(tested.n_first, tested.n_second)
    tested = replace(tested, unit=over, interval_over=over if tested.low is not None else None)
    if least >= FEW or tested.low is None:
        return tested
    reason = f"{least} {over} are too few for an interval: it takes {FEW}"
    return replace(tested, low=None, high=None, p=None, reason=reason, interval_over=None)


def crossed(
    contrast: Contrast,
    tables: Sequence[Table],
    clusters: Sequence[Sequence[str]],
    *,
    paired: bool,
    factors: Sequence[str] = FACTORS,
    within: bool = False,
) -> Estimate:
    """Compare two tables of units × items × wordings, all three taken as sampled.

    ``clusters``: of each table the category of its units; ``paired``: both are of the same units;
    ``factors``: what the axes are; ``within``: the categories are given, and units sampled in each.
    """
    kept, labels, left_out, items_out = _complete(tables, clusters, paired=paired)
    means = [table.mean(axis=(1, 2)) if table.size else np.zeros(0) for table in kept]
    samples = (in_pairs if paired else apart)(*means)
    over = _described(kept[0].shape, labels, factors, within=within)
    about = samples.estimate(
        contrast=contrast.text, method=f"t after Satterthwaite, {over}", reason=samples.absence
    )
    sizes = dict(zip(factors, kept[0].shape, strict=True))
    counted = [size for name, size in sizes.items() if name in FACTORS[1:]]
    about = replace(
        about,
        left_out=left_out,
        test="crossed t",
        unit=factors[0],
        sentences=math.prod(counted) if counted else None,
    )
    if (left_out or items_out) and _lost_too_much(tables, kept):
        return replace(about, reason=GAPS.format(factors[0]), difference=None)
    if samples.absence:
        return about
    values = [kept[0] - kept[1]] if paired else kept
    if within:
        found = _within_categories(values, labels)
    else:
        # Conditions that are all of one category show how much such conditions vary, and no more.
        own = [
            of if len({*of}) > 1 else [f"{of[0]} {side} {at}" for at in range(len(of))]
            for side, of in enumerate(labels[: len(values)])
        ]
        found = crossed_interval(values, own)
    about = samples.with_effect(about)
    if not math.isfinite(found.se):
        return replace(about, reason=ONE_UNIT.format(factors[0]))
    if found.se <= ROUNDING * max(float(np.abs(table).max()) for table in kept):
        return replace(about, reason=NO_SPREAD)
    some = f"{items_out} of {items_out + kept[0].shape[1]} {factors[1]}"
    why = f"{some} are left out, because some got no answer" if items_out else None
    about = replace(about, interval_over=over, reason=why)
    return by_t(about, found.difference, error=found.se, df=found.df)


def _sampled_within(categories: Sequence[str]) -> list[str]:
    """Return the categories, or none where one of them has too few units to be a sample."""
    counts = Counter(categories)
    return sorted(counts) if min(counts.values(), default=0) >= LEAST else []


def _within_categories(tables: Sequence[Table], categories: Sequence[Sequence[str]]) -> Interval:
    """Return the interval for other units of the same categories; each counts by its units."""
    parts, weights = [], []
    for sign, table, of in zip((1, -1), tables, categories, strict=False):
        names = _sampled_within(of)
        for there in [np.array(of) == name for name in names] or [np.ones(len(of), dtype=bool)]:
            parts.append(table[there])
            weights.append(sign * float(there.mean()))
    units = [[(at, unit) for unit in range(len(part))] for at, part in enumerate(parts)]
    return crossed_interval(parts, units, weights)


def _complete(
    tables: Sequence[Table], clusters: Sequence[Sequence[str]], *, paired: bool
) -> tuple[list[Table], list[list[str]], int, int]:
    """Return the tables without gaps, their clusters, and how many units and items were left out.

    What goes is the units with a gap, or the items, whichever leaves more. A sentence that nobody
    was asked is no gap.
    """
    given = [numbers(table) for table in tables]
    if paired:
        gap = np.isnan(given[0]) | np.isnan(given[1])
        given = [np.where(gap, np.nan, table) for table in given]
    asked = np.asarray(~np.isnan(np.concatenate(given)).all(axis=0))
    ever = np.flatnonzero(asked.any(axis=1)), np.flatnonzero(asked.any(axis=0))
    given = [table[:, ever[0]][:, :, ever[1]] for table in given]
    gaps = [np.isnan(table) for table in given]
    units = [np.asarray(~gap.any(axis=(1, 2))) for gap in gaps]
    items = np.asarray(~np.concatenate(gaps).any(axis=(0, 2)))
    if min(of.mean() if of.size else 0.0 for of in units) >= (items.mean() if items.size else 0.0):
        labels = [
            [label for label, there in zip(of, kept, strict=True) if there]
            for of, kept in zip(clusters, units, strict=True)
        ]
        lost = sum(int((~of).sum()) for of in units)
        complete = [table[of] for table, of in zip(given, units, strict=True)]
        return complete, labels, lost // 2 if paired else lost, 0
    lost = int((~items).sum())
    return [table[:, items] for table in given], [list(of) for of in clusters], 0, lost


def _lost_too_much(tables: Sequence[Table], kept: Sequence[Table]) -> bool:
    """Return whether less than half of either table is left."""
    sizes = [np.prod(table.shape[:2]) for table in tables]
    return any(2 * np.prod(of.shape[:2]) < size for of, size in zip(kept, sizes, strict=True))


def _described(
    shape: tuple[int, ...],
    clusters: Sequence[Sequence[str]],
    factors: Sequence[str],
    *,
    within: bool,
) -> str:
    """Return what an interval is over, of a table of this shape, and what it takes as given."""
    several = any(1 < len({*of}) < len(of) for of in clusters)
    if within:
        several = any(len(_sampled_within(of)) > 1 for of in clusters)
    how = "within categories" if within else "by category"
    units = f"{factors[0]} {how}" if several else factors[0]
    if max(shape[1:]) < LEAST and factors[0] == "conditions":
        return GIVEN_SENTENCES.replace("conditions", units)
    return sampled_over(units, dict(zip(factors[1:], shape[1:], strict=True)), ", crossed")


def clustered(
    contrast: Contrast,
    first: Values,
    second: Values,
    ways: Sequence[ArrayLike],
    *,
    called: Sequence[str],
    over: str,
    unit: str,
    signs: NDArray[np.float64] | None = None,
) -> Estimate:
    """Compare the same units twice, or with zeros once, where units share what they are made from.

    ``ways``: of each unit its label, or its labels, one array a way, and what these are ``called``.
    With ``signs`` (±1) what is common to both signs, such as the more frequent pronoun, has no part
    in the difference.
    """
    samples = in_pairs(first, second)
    there = ~np.isnan(numbers(first) - numbers(second))
    about = samples.estimate(
        contrast=contrast.text, method=f"multiway jackknife, {over}", reason=samples.absence
    )
    about = samples.with_effect(replace(about, unit=unit, test="clustered t"))
    kept = [np.asarray(way)[there] for way in ways]
    unknown = None if ways else f"what the {unit} share is not known"
    if reason := about.reason or unknown or _too_few(kept, called):
        return replace(about, reason=reason)
    values, design = samples.differences, None
    if signs is not None and len(np.unique(signs[there])) > 1:
        design = np.column_stack([signs[there], signs[there] ** 0])
        values = values * signs[there]
    return _jackknifed(about, values, kept, over=over, design=design)


def over_cells(
    contrast: Contrast,
    sides: Sequence[pl.DataFrame],
    *,
    paired: bool,
    over: str,
    covariates: Mapping[str, Sequence[float]] | None = None,
) -> Estimate:
    """Compare two sides whose conditions were asked some of the items each, by the jackknife.

    ``sides``: condition, category, item and value. Every condition counts alike, whatever it was
    asked. An item may be on both sides, and so may a condition: it counts once in n.
    ``covariates``: by condition, what is held alike on both sides; fewer items than a test needs
    are then taken as given.
    """
    keys = ["condition", "category", "item"]
    cells = [
        of.with_columns(category=_category(of))
        .group_by(keys)
        .agg(pl.col("value").mean())
        .drop_nulls("value")
        .sort(keys)
        for of in sides
    ]
    if paired:
        both = cells[0].join(cells[1], on=keys, suffix="_second").sort(keys)
        cells = [both.select(*keys, "value"), both.select(*keys, value="value_second")]
    conditions = (of.group_by("condition", maintain_order=True) for of in cells)
    means = (of.agg(pl.col("value").mean())["value"] for of in conditions)
    samples = (in_pairs if paired else apart)(*means)
    about = samples.estimate(
        contrast=contrast.text, method=f"multiway jackknife, {over}", reason=samples.absence
    )
    if paired:
        rows = cells[0].with_columns(value=cells[0]["value"] - cells[1]["value"], side=0.0)
    else:
        rows = pl.concat([cells[0].with_columns(side=0.5), cells[1].with_columns(side=-0.5)])
        about = replace(about, n=rows["condition"].n_unique())
    about = replace(about, unit="conditions", test="clustered t")
    ways = [rows["category"].to_numpy(), rows["item"].to_numpy()]
    alone = ONE_UNIT.format("conditions") if min(about.n_first, about.n_second) < 2 else None
    if covariates is not None:
        about = replace(about, difference=None)
        if rows["item"].n_unique() < FEWEST_CLUSTERS:
            ways, over = ways[:1], over.replace(" and items", "") + f"; {FIXED}: items"
    few = _too_few(ways, ("categories of conditions", "items")[: len(ways)])
    if reason := about.reason or alone or few:
        return replace(about, reason=reason)
    design = None if paired else np.column_stack([rows["side"].to_numpy(), np.ones(rows.height)])
    if design is not None and covariates is not None:
        design = _beside(design, np.array([covariates[one] for one in rows["condition"]]))
    weights = rows.select(1 / pl.len().over("condition", "side")).to_series().to_numpy()
    values = rows["value"].to_numpy()
    about = about if covariates is not None else samples.with_effect(about)
    return _jackknifed(about, values, ways, over=over, design=design, weights=weights)


def _beside(design: NDArray[np.float64], columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the design and, of the columns, standardized, those that say something further."""
    for column in columns.T:
        spread = column.std()
        further = np.column_stack([design, (column - column.mean()) / (spread or 1.0)])
        if np.linalg.matrix_rank(further) == further.shape[1]:
            design = further
    return design


def _category(rows: pl.DataFrame) -> pl.Expr:
    """Return the category of each condition; its own where it has none, or there is but one."""
    several = rows["category"].n_unique() > 1
    return pl.col("category" if several else "condition").fill_null(pl.col("condition"))


def _jackknifed(
    about: Estimate,
    values: NDArray[np.float64],
    ways: Sequence[ArrayLike],
    *,
    over: str,
    **how: NDArray[np.float64] | None,
) -> Estimate:
    found = jackknife(values, ways, **how)
    # Values that are all the same, or differ by their sign alone, leave no error to test with.
    if found.se <= 1e-9 * float(np.abs(values).max()):
        return replace(about, reason=NO_SPREAD)
    return replace(by_t(about, found.difference, error=found.se, df=found.df), interval_over=over)


def _too_few(ways: Sequence[NDArray[np.generic]], called: Sequence[str]) -> str | None:
    """Return why there is no jackknife, or None."""
    counts = [(name, len(np.unique(way))) for way, name in zip(ways, called, strict=True)]
    few = [f"{name} ({count})" for name, count in counts if count < FEWEST_CLUSTERS]
    said = f"there are too few different {' and '.join(few)}, and a test needs at least"
    return f"{said} {FEWEST_CLUSTERS}" if few else None


def correlated(
    contrast: Contrast, first: Values, second: Values, clusters: Sequence[str]
) -> Estimate:
    """Correlate two measures over the same conditions, by categories of these."""
    samples = in_pairs(first, second)
    there = ~np.isnan(numbers(first) - numbers(second))
    labels = [label for label, known in zip(clusters, there, strict=True) if known]
    profile = Profile(model=samples.first, people=samples.second, clusters=labels)
    found = related(profile, "pearson", contrast=contrast.text)
    return replace(found, left_out=samples.left_out)


Estimates: TypeAlias = "Iterator[tuple[Contrast, Estimate]]"


def estimate_table(estimates: Iterable[Estimate]) -> pl.DataFrame:
    """All estimates as a frame with the columns ESTIMATES, in the order given."""
    return records_table(estimates, schema(ESTIMATES))


def records_table(records: Iterable[object], columns: pl.Schema) -> pl.DataFrame:
    """Flat records as a frame with these columns, in the order given."""
    # A frame of dictionaries, and dataclasses.asdict, look at each value by itself: of 20,000
    # estimates that takes ten times as long.
    rows = [vars(record) for record in records]
    return pl.DataFrame({name: [row[name] for row in rows] for name in columns}, schema=columns)
