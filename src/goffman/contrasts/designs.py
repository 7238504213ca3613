"""The design of a comparison, detected once, the test that it gets, and its one interval.

Conditions, items and wordings are crossed if every question was asked. If only a part of all
questions was asked, a factor may be nested: each question in one wording of several, or each
condition with some of the items. Then there is no complete table. A nested wording is a part of its
question, and cells are means over it. A nested item is asked about many conditions, and what it
does to a group, or with an order, is in all of them: taken as a part of the condition it made 9 to
17 of 100 null audits false. So single answers are clustered by category of condition and by item,
and every condition counts as much as any other, however many questions it was asked in.

The interval is over everything that was sampled: for a complete table of conditions, items and
wordings by the crossed formula, with conditions clustered by category; for prompts that share
sentence frames and occupations, or were asked in part, by the multiway jackknife. Wordings of one
family are near-copies: they count once, by their mean. Lin et al. (2022) take cells that share an
item or a condition as independent; their p-values are smaller than these.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from goffman.contrasts.verdict import ANCHORED, AS_IN_STUDY, CORRELATIONS
from goffman.instruments.types import BASELINE, MASK, asked_as
from goffman.modes import asked_ids
from goffman.schemas import ESTIMATES, schema
from goffman.stats.crossed import FIXED, LEAST, Interval, crossed_interval, sampled_over
from goffman.stats.intervals import Estimate
from goffman.stats.jackknife import jackknife
from goffman.stats.profile import Profile, related
from goffman.stats.two_samples import by_t, independent_t, numbers, paired_t, without_gaps

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from goffman.stats.two_samples import Values

    Table = NDArray[np.float64]

GIVEN = {
    "groups-as-asked": "these sentences treated as fixed",
    "genders-as-asked": "each prompt an independent draw",
    "groups-adjusted": "adjusted for the phrase's length, verb and, where known, likelihood",
    "trials": "over trials of these sentences",
    AS_IN_STUDY: "shares of labels, conditions treated as independent",
}
"""Kinds of contrasts that repeat another with something taken as given, and what is taken so."""

GAP_OF, INTERACTION = "gap-by-identity", "interaction"
BY_IDENTITY = (GAP_OF, INTERACTION)
"""Kinds of contrasts about people with a second identity: the gap in each identity, and how far
that gap lies from the gap in the reference identity."""

GIVEN_SENTENCES = "conditions, with these sentences treated as fixed"
FACTORS = ("conditions", "items", "wordings")

FEW = 4
"""The fewest units that allow an interval over them alone.

By t, an interval of three units would hold only as far as single values are normal, which shares
and probabilities are not."""

FEWEST_CLUSTERS = 6
"""The fewest clusters in each way of the jackknife: fewer say too little of how much they vary."""

ROUNDING = 1e-7
"""A standard error below this share of the largest value comes from rounding: its square is a sum
of parts that may cancel, to the sixteenth digit."""

ONE_UNIT = "there are fewer than two {}, so nothing shows how much they differ"
NO_SPREAD = "all values are equal, so no interval or test can be computed"
GAPS = "too few of the {} have a value in every sentence"


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """What an estimate compares, and by which measure and instrument: the columns CONTRASTS."""

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
        """Return the id of the instrument with its mode."""
        return self.instrument and asked_as(self.instrument, self.mode)

    @property
    def text(self) -> str:
        """Return what is compared, in words; no other contrast has the same text."""
        # The same two sets are also compared over all that was sampled.
        parts = [self._about(self.variant), self.group, self.dimension, GIVEN.get(self.kind)]
        sign = "with" if self.kind in {*CORRELATIONS, *ANCHORED} else "−"
        return f"{', '.join(part for part in parts if part)}: {self.first} {sign} {self.second}"

    @property
    def family(self) -> str:
        """Return the declared family of tests: all of the same kind, quantity, variant and model.

        Tests of single subscales form families apart from tests of the whole: subscales are its
        parts.
        """
        # Identities are one list; words with and without first names are two of the same.
        variant = None if self.kind in BY_IDENTITY else self.variant
        about = self._about(variant)
        return f"{self.kind}{' by dimension' if self.dimension else ''}: {about}"

    def _about(self, variant: str | None) -> str:
        parts = [self.asked, self.measure, self.quantity, variant, self.model]
        return ", ".join(part for part in parts if part)


def of_units(tested: Estimate, over: str) -> Estimate:
    """Return the t-test over units; a reason replaces its interval if there are too few units."""
    smallest = min(tested.n_first, tested.n_second)
    tested = replace(tested, unit=over, interval_over=over if tested.low is not None else None)
    if smallest >= FEW or tested.low is None:
        return tested
    reason = f"{smallest} {over} are too few for an interval: it takes {FEW}"
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
    """Return the estimate for two tables of units × items × wordings, all taken as sampled.

    ``clusters``: for each table the category of its units; ``paired``: both tables are of the same
    units; ``factors``: what the axes are; ``within``: the categories are given, and units are
    sampled within each.
    """
    complete, labels, left_out, items_out = _complete(tables, clusters, paired=paired)
    means = [table.mean(axis=(1, 2)) if table.size else np.zeros(0) for table in complete]
    samples = without_gaps(*means, paired=paired)
    description = _described(complete[0].shape, labels, factors, within=within)
    estimate = samples.estimate(
        contrast=contrast.text,
        method=f"t after Satterthwaite, {description}",
        reason=samples.absence,
    )
    sizes = dict(zip(factors, complete[0].shape, strict=True))
    counts = [size for name, size in sizes.items() if name in FACTORS[1:]]
    estimate = replace(
        estimate,
        left_out=left_out,
        test="crossed t",
        unit=factors[0],
        sentences=math.prod(counts) if counts else None,
    )
    if (left_out or items_out) and _lost_too_much(tables, complete):
        return replace(estimate, reason=GAPS.format(factors[0]), difference=None)
    if samples.absence:
        return estimate
    values = [complete[0] - complete[1]] if paired else complete
    if within:
        interval = _within_categories(values, labels)
    else:
        # If all conditions are of one category, they are clusters themselves.
        own_clusters = [
            categories
            if len({*categories}) > 1
            else [f"{categories[0]} {side} {position}" for position in range(len(categories))]
            for side, categories in enumerate(labels[: len(values)])
        ]
        interval = crossed_interval(values, own_clusters)
    estimate = samples.with_effect(estimate)
    if not math.isfinite(interval.se):
        return replace(estimate, reason=ONE_UNIT.format(factors[0]))
    if interval.se <= ROUNDING * max(float(np.abs(table).max()) for table in complete):
        return replace(estimate, reason=NO_SPREAD)
    proportion = f"{items_out} of {items_out + complete[0].shape[1]} {factors[1]}"
    reason = f"{proportion} are left out, because some got no answer" if items_out else None
    estimate = replace(estimate, interval_over=description, reason=reason)
    return by_t(estimate, interval.difference, error=interval.se, df=interval.df)


def _sampled_within(categories: Sequence[str]) -> list[str]:
    """Return the categories; an empty list if one of them has too few units to be a sample."""
    counts = Counter(categories)
    return sorted(counts) if min(counts.values(), default=0) >= LEAST else []


def _within_categories(tables: Sequence[Table], categories: Sequence[Sequence[str]]) -> Interval:
    """Return the interval for other units of the same categories.

    Each category is weighted by its number of units.
    """
    parts, weights = [], []
    for sign, table, unit_categories in zip((1, -1), tables, categories, strict=False):
        names = _sampled_within(unit_categories)
        for mask in [np.array(unit_categories) == name for name in names] or [
            np.ones(len(unit_categories), dtype=bool)
        ]:
            parts.append(table[mask])
            weights.append(sign * float(mask.mean()))
    units = [[(position, unit) for unit in range(len(part))] for position, part in enumerate(parts)]
    return crossed_interval(parts, units, weights)


def _complete(
    tables: Sequence[Table], clusters: Sequence[Sequence[str]], *, paired: bool
) -> tuple[list[Table], list[list[str]], int, int]:
    """Return the tables without gaps, their clusters, and the numbers of units and items left out.

    Either the units with a gap or the items with a gap are left out, whichever keeps more. A
    sentence that was never asked is no gap.
    """
    arrays = [numbers(table) for table in tables]
    if paired:
        gap = np.isnan(arrays[0]) | np.isnan(arrays[1])
        arrays = [np.where(gap, np.nan, table) for table in arrays]
    was_asked = np.asarray(~np.isnan(np.concatenate(arrays)).all(axis=0))
    asked_indices = np.flatnonzero(was_asked.any(axis=1)), np.flatnonzero(was_asked.any(axis=0))
    arrays = [table[:, asked_indices[0]][:, :, asked_indices[1]] for table in arrays]
    gaps = [np.isnan(table) for table in arrays]
    units = [np.asarray(~gap.any(axis=(1, 2))) for gap in gaps]
    items = np.asarray(~np.concatenate(gaps).any(axis=(0, 2)))
    if min(unit_mask.mean() if unit_mask.size else 0.0 for unit_mask in units) >= (
        items.mean() if items.size else 0.0
    ):
        labels = [
            [label for label, is_kept in zip(unit_labels, unit_mask, strict=True) if is_kept]
            for unit_labels, unit_mask in zip(clusters, units, strict=True)
        ]
        left_out = sum(int((~unit_mask).sum()) for unit_mask in units)
        complete = [table[unit_mask] for table, unit_mask in zip(arrays, units, strict=True)]
        return complete, labels, left_out // 2 if paired else left_out, 0
    left_out = int((~items).sum())
    return (
        [table[:, items] for table in arrays],
        [list(unit_labels) for unit_labels in clusters],
        0,
        left_out,
    )


def _lost_too_much(tables: Sequence[Table], kept: Sequence[Table]) -> bool:
    sizes = [np.prod(table.shape[:2]) for table in tables]
    return any(2 * np.prod(table.shape[:2]) < size for table, size in zip(kept, sizes, strict=True))


def _described(
    shape: tuple[int, ...],
    clusters: Sequence[Sequence[str]],
    factors: Sequence[str],
    *,
    within: bool,
) -> str:
    """Return what an interval of a table of this shape is over, and what it takes as given."""
    has_categories = any(
        1 < len({*unit_categories}) < len(unit_categories) for unit_categories in clusters
    )
    if within:
        has_categories = any(
            len(_sampled_within(unit_categories)) > 1 for unit_categories in clusters
        )
    clustering = "within categories" if within else "by category"
    units = f"{factors[0]} {clustering}" if has_categories else factors[0]
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
    """Return the estimate for the same units on two sides, clustered by what units share.

    ``ways``: one array for each way of clustering, with each unit's label or labels; ``called``:
    the names of these ways. With ``signs`` (±1), what is common to both signs, such as the more
    frequent pronoun, has no part in the difference.
    """
    samples = without_gaps(first, second, paired=True)
    is_complete = ~np.isnan(numbers(first) - numbers(second))
    estimate = samples.estimate(
        contrast=contrast.text, method=f"multiway jackknife, {over}", reason=samples.absence
    )
    estimate = samples.with_effect(replace(estimate, unit=unit, test="clustered t"))
    labels = [np.asarray(way)[is_complete] for way in ways]
    unknown = None if ways else f"what the {unit} share is not known"
    if reason := estimate.reason or unknown or _too_few(labels, called):
        return replace(estimate, reason=reason)
    values, design = samples.differences, None
    if signs is not None and len(np.unique(signs[is_complete])) > 1:
        design = np.column_stack([signs[is_complete], signs[is_complete] ** 0])
        values = values * signs[is_complete]
    return _jackknifed(estimate, values, labels, over=over, design=design)


def over_cells(
    contrast: Contrast,
    sides: Sequence[pl.DataFrame],
    *,
    paired: bool,
    over: str,
    covariates: Mapping[str, Sequence[float]] | None = None,
) -> Estimate:
    """Return the estimate, by the jackknife, for conditions each asked with some of the items.

    ``sides``: condition, category, item and value. Every condition counts alike, however many items
    it was asked with. An item may be on both sides, and so may a condition, which counts once in n.
    ``covariates``: by condition, what is held constant; if items are then too few for a test, they
    are taken as given.
    """
    keys = ["condition", "category", "item"]
    cells = [
        frame.with_columns(category=_category(frame))
        .group_by(keys)
        .agg(pl.col("value").mean())
        .drop_nulls("value")
        .sort(keys)
        for frame in sides
    ]
    if paired:
        joined = cells[0].join(cells[1], on=keys, suffix="_second").sort(keys)
        cells = [joined.select(*keys, "value"), joined.select(*keys, value="value_second")]
    conditions = (frame.group_by("condition", maintain_order=True) for frame in cells)
    means = (frame.agg(pl.col("value").mean())["value"] for frame in conditions)
    samples = without_gaps(*means, paired=paired)
    estimate = samples.estimate(
        contrast=contrast.text, method=f"multiway jackknife, {over}", reason=samples.absence
    )
    if paired:
        rows = cells[0].with_columns(value=cells[0]["value"] - cells[1]["value"], side=0.0)
    else:
        rows = pl.concat([cells[0].with_columns(side=0.5), cells[1].with_columns(side=-0.5)])
        estimate = replace(estimate, n=rows["condition"].n_unique())
    estimate = replace(estimate, unit="conditions", test="clustered t")
    ways = [rows["category"].to_numpy(), rows["item"].to_numpy()]
    one_unit = (
        ONE_UNIT.format("conditions") if min(estimate.n_first, estimate.n_second) < 2 else None
    )
    if covariates is not None:
        estimate = replace(estimate, difference=None)
        if rows["item"].n_unique() < FEWEST_CLUSTERS:
            ways, over = ways[:1], over.replace(" and items", "") + f"; {FIXED}: items"
    too_few = _too_few(ways, ("categories of conditions", "items")[: len(ways)])
    if reason := estimate.reason or one_unit or too_few:
        return replace(estimate, reason=reason)
    design = None if paired else np.column_stack([rows["side"].to_numpy(), np.ones(rows.height)])
    if design is not None and covariates is not None:
        design = _beside(
            design, np.array([covariates[condition] for condition in rows["condition"]])
        )
    weights = rows.select(1 / pl.len().over("condition", "side")).to_series().to_numpy()
    values = rows["value"].to_numpy()
    estimate = estimate if covariates is not None else samples.with_effect(estimate)
    return _jackknifed(estimate, values, ways, over=over, design=design, weights=weights)


def _beside(design: NDArray[np.float64], columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the design with the standardized columns added, except those that add no rank."""
    for column in columns.T:
        spread = column.std()
        extended = np.column_stack([design, (column - column.mean()) / (spread or 1.0)])
        if np.linalg.matrix_rank(extended) == extended.shape[1]:
            design = extended
    return design


def _category(rows: pl.DataFrame) -> pl.Expr:
    """Return an expression for each condition's category.

    It is the condition itself if it has no category, or if all share one.
    """
    has_categories = rows["category"].n_unique() > 1
    return pl.col("category" if has_categories else "condition").fill_null(pl.col("condition"))


def _jackknifed(
    about: Estimate,
    values: NDArray[np.float64],
    ways: Sequence[ArrayLike],
    *,
    over: str,
    **how: NDArray[np.float64] | None,
) -> Estimate:
    interval = jackknife(values, ways, **how)
    # The standard error is 0 if all values are the same, or differ only in sign.
    if interval.se <= 1e-9 * float(np.abs(values).max()):
        return replace(about, reason=NO_SPREAD)
    return replace(
        by_t(about, interval.difference, error=interval.se, df=interval.df), interval_over=over
    )


def _too_few(ways: Sequence[NDArray[np.generic]], called: Sequence[str]) -> str | None:
    """Return why there are too few clusters for a jackknife, or None if there are enough."""
    counts = [(name, len(np.unique(way))) for way, name in zip(ways, called, strict=True)]
    lacking = [f"{name} ({count})" for name, count in counts if count < FEWEST_CLUSTERS]
    text = f"there are too few different {' and '.join(lacking)}, and a test needs at least"
    return f"{text} {FEWEST_CLUSTERS}" if lacking else None


def correlated(
    contrast: Contrast, first: Values, second: Values, clusters: Sequence[str]
) -> Estimate:
    """Return the correlation of two measures over conditions, clustered by category."""
    samples = without_gaps(first, second, paired=True)
    is_complete = ~np.isnan(numbers(first) - numbers(second))
    labels = [label for label, complete in zip(clusters, is_complete, strict=True) if complete]
    profile = Profile(model=samples.first, people=samples.second, clusters=labels)
    estimate = related(profile, "pearson", contrast=contrast.text)
    return replace(estimate, left_out=samples.left_out)


Estimates: TypeAlias = "Iterator[tuple[Contrast, Estimate]]"


def estimate_table(estimates: Iterable[Estimate]) -> pl.DataFrame:
    """Return all estimates as a frame with the columns ESTIMATES, in the order given."""
    return records_table(estimates, schema(ESTIMATES))


def records_table(records: Iterable[object], columns: pl.Schema) -> pl.DataFrame:
    """Return flat records as a frame with these columns, in the order given."""
    # A frame made from dictionaries, or dataclasses.asdict, would take ten times as long.
    rows = [vars(record) for record in records]
    return pl.DataFrame({name: [row[name] for row in rows] for name in columns}, schema=columns)


def cube(rows: pl.DataFrame, ids: Mapping[str, Sequence[str]]) -> NDArray[np.float64]:
    """Return an array with an axis for each column of ``ids``, filled with the rows' values.

    Rows with the same ids, such as several forms, are averaged; a cell without a row is NaN.
    """
    means = rows.group_by(*ids).agg(pl.col("value").mean()).drop_nulls("value")
    indices = [means[name].cast(pl.Enum(keys)).to_physical() for name, keys in ids.items()]
    values = np.full([len(keys) for keys in ids.values()], np.nan)
    values[tuple(index.to_numpy() for index in indices)] = means["value"].to_numpy()
    return values


def in_order(rows: pl.DataFrame, name: str) -> list[str]:
    """Return the different ids of a column, sorted."""
    return sorted(rows[name].drop_nulls().unique())


FEMALE = "female-referent"
"""The category of a sentence whose referent has an occupation associated with women."""


@dataclass(frozen=True, kw_only=True)
class Clusters:
    """What prompts have in common: families of wordings, sources, and frames of sentence pairs."""

    families: dict[str, str] = field(default_factory=dict)
    """By wording: its family; a wording that is missing here is a family of its own."""
    own: frozenset[tuple[str, str]] = frozenset()
    """Item and wording of the sentences that were added to those of the study."""
    ways: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    """By sentence pair: frame, referent, other occupation; empty for other instruments."""
    phrases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By condition: the words of each of its forms in the slot, such as "has depression"."""
    signs: dict[str, float] = field(default_factory=dict)
    """−1 where the referent's occupation is associated with women, else 1."""

    def clusters(self, pairs: Iterable[str]) -> list[NDArray[np.str_]]:
        """Return the frame and the two occupations of each pair; empty if a pair is unknown.

        An occupation affects the pronoun in both roles, so both roles are one kind of cluster.
        """
        pairs = list(pairs)
        if not pairs or not self.ways.keys() >= {*pairs}:
            return []
        ways = [self.ways[pair] for pair in pairs]
        nodes = [
            (referent, other_occupation or f"nobody beside {referent}")
            for _, referent, other_occupation in ways
        ]
        return [np.array([frame for frame, _, _ in ways]), np.array(nodes)]

    def sides(self, pairs: Iterable[str]) -> NDArray[np.float64]:
        """Return the signs of the pairs."""
        return np.array([self.signs.get(pair, 1.0) for pair in pairs])


def clusters_by_instrument(prompts: pl.DataFrame) -> dict[str, Clusters]:
    """Return the clusters of each instrument's prompts, by instrument."""
    frames = prompts.with_columns(asked=asked_ids()).partition_by("asked", as_dict=True)
    return {str(instrument): clusters_of(frame) for (instrument,), frame in frames.items()}


def clusters_of(prompts: pl.DataFrame) -> Clusters:
    """Return the clusters of one instrument's prompts.

    The frame is the sentence without adjectives, with its occupations and pronoun blanked.
    """
    # Pairs of neutral occupations are not asked without adjectives.
    pairs = prompts.filter(
        (pl.col("condition") == BASELINE) | (pl.col("group") == "neutral"),
        pl.col("answer").is_not_null(),
        wording="pro",
    ).unique("item", maintain_order=True)
    ways, signs = {}, {}
    for row in pairs.iter_rows(named=True):
        words = [re.escape(word) for word in (row["answer"], row["other"], row["pronoun"]) if word]
        adjectives = "|".join(filter(None, row["condition"].split(",")[:2]))
        text = re.sub(rf"\b({adjectives}) ", "", row["text"])
        frame = re.sub(rf"{MASK}|\b({'|'.join(words)})\b", "_", text, flags=re.IGNORECASE)
        ways[row["item"]] = (frame, row["answer"], row["other"] or "")
        signs[row["item"]] = -1.0 if row["category"] == FEMALE else 1.0
    # Prompts made from the studies' own files lack these columns.
    missing = {"family", "phrase", "source"} - {*prompts.columns}
    prompts = prompts.with_columns(pl.lit(None, pl.String).alias(column) for column in missing)
    phrases = prompts.select("condition", "phrase").drop_nulls().unique().sort("phrase")
    own_sentences = prompts.filter(source="own").select("item", "wording")
    return Clusters(
        families=dict(prompts.select("wording", "family").drop_nulls().unique().rows()),
        own=frozenset(own_sentences.unique().rows()),
        ways=ways,
        phrases={
            condition: tuple(forms)
            for condition, forms in phrases.group_by("condition").agg("phrase").rows()
        },
        signs=signs,
    )


LOG_LIKELIHOOD = "log-likelihood"
"""The quantity of conditions that says how probable a model finds their phrases."""

NESTED = "nested"
"""The single level that a nested factor has in a table."""


@dataclass(frozen=True)
class Design:
    """Which factors are nested, in the answers of which models; all others are crossed."""

    nested: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def within(self, factor: str) -> pl.Expr:
        """Return an expression for the rows in which the factor is nested."""
        return pl.col("model").is_in(sorted(self.nested.get(factor, ())))

    @property
    def asked(self) -> pl.Expr:
        """Return an expression for the rows that were asked.

        A row of a nested wording without a value was not.
        """
        return ~self.within("wording") | pl.col("value").is_not_null()

    def cells(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the scores with a single level for each nested factor."""
        nested_factors = sorted(factor for factor, models in self.nested.items() if models)
        return rows.with_columns(
            pl.when(self.within(factor)).then(pl.lit(NESTED)).otherwise(factor).alias(factor)
            for factor in nested_factors
        )


QUESTION = ["model", "item", "condition", "form"]


def nested_wordings(cells: pl.DataFrame) -> Design:
    """Return a design with the models whose wordings are nested: each question had one of several.

    Each model is judged by itself, since a server may be asked only some of the questions. These
    take the wordings in turn, so that every condition has each about equally often.
    """
    answered = cells.filter(pl.col("value").is_not_null())
    return _nested(answered, "wording", QUESTION, (pl.col("most") == 1) & (pl.col("every") > 1))


def nested_items(cells: pl.DataFrame) -> Design:
    """Return a design with the models whose items are nested.

    Such a model was asked each condition with only some of the items.
    """
    rows = cells.filter(pl.col("condition") != BASELINE)
    unit = ["model", "condition", "form"]
    return _nested(rows, "item", unit, pl.col("most") < pl.col("every"))


def _nested(rows: pl.DataFrame, factor: str, unit: Sequence[str], where: pl.Expr) -> Design:
    """Return a design with the models for which ``where`` holds.

    ``where`` is a condition on ``most``, the largest number of the factor's levels in a unit, and
    ``every``, the number of all levels of the model.
    """
    levels = rows.select(*unit, factor).unique()
    most_levels = levels.group_by(unit).len("most").group_by("model").agg(pl.col("most").max())
    all_levels = levels.group_by("model").agg(every=pl.col(factor).n_unique())
    return Design(
        {factor: frozenset(most_levels.join(all_levels, on="model").filter(where)["model"])}
    )


def wordings_merged(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the scores with a single wording for models whose wordings are nested in questions."""
    design = nested_wordings(cells)
    return design.cells(cells.filter(design.asked))


def items_by_place(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the scores with the items numbered within each condition if items are nested."""
    design = nested_items(cells)
    rank = pl.col("item").rank("dense").over("model", "condition", "form", "quantity")
    name = pl.format("{}-{}", pl.lit(NESTED), rank)
    return cells.with_columns(item=pl.when(design.within("item")).then(name).otherwise("item"))


@dataclass(frozen=True, kw_only=True)
class ScoreTable:
    """The scores of one instrument, and the groups and wordings that its contrasts compare."""

    scores: pl.DataFrame
    about: Contrast
    """The instrument and measure; the other columns are filled in for each contrast."""
    quantity: str
    """The number that is compared."""
    contrast: str
    against: str
    wordings: Sequence[str]
    """In the instrument's order."""
    sharing: Clusters = field(default_factory=Clusters)
    """What its wordings and sentence pairs have in common."""
    design: Design = field(default_factory=Design)
    """Which factors are nested."""
    aggregate: Callable[[pl.DataFrame], pl.DataFrame] | None = None
    """The measure's function: scores of prompts → scores of every other level."""
    within: bool = False
    """Whether the categories of conditions are given, and conditions are sampled within them."""
    _views: dict[Any, ScoreTable] = field(default_factory=dict, init=False)
    _parts: dict[Any, tuple[pl.DataFrame, dict[Any, pl.DataFrame]]] = field(
        default_factory=dict, init=False
    )

    def seen(self, view: Callable[[ScoreTable], ScoreTable]) -> ScoreTable:
        """Return the scores as changed by a view, which is computed once for all contrasts."""
        if view not in self._views:
            self._views[view] = view(self)
        return self._views[view]

    def rows(self, level: str, quantity: str | None = None, **ids: str | None) -> pl.DataFrame:
        """Return the scores of a level and quantity with these ids; None matches only null."""
        key = level, quantity or self.quantity
        if key not in self._parts:
            # Each level is filtered and split by model only once: there may be millions of rows.
            rows = self.scores.filter(level=key[0], quantity=key[1])
            self._parts[key] = rows, rows.partition_by("model", as_dict=True)
        rows, by_model = self._parts[key]
        model = ids.get("model")
        if model is not None:
            rows = by_model.get((model,), self.scores.clear())
        filters = [
            pl.col(column).is_null() if value is None else pl.col(column) == value
            for column, value in ids.items()
            if column != "model" or model is None
        ]
        return rows.filter(*filters) if filters else rows

    def cells(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return scores with one level for each nested factor and for each family of wordings."""
        return self.design.cells(rows).with_columns(
            pl.col("wording").replace(self.sharing.families)
        )

    @cached_property
    def models(self) -> list[str]:
        """Return the models that answered."""
        return in_order(self.scores, "model")

    def contrast_of(self, kind: str, **what: str | None) -> Contrast:
        """Return the contrast of this kind and quantity, with these columns filled in."""
        return replace(self.about, **{"kind": kind, "quantity": self.quantity, **what})  # type: ignore[arg-type]


# Views: functions that average or choose scores before they are compared.


def of_presentations(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the means over orders, or the scores of prompts if there are no such means.

    Contrasts average the values of one question, so that both give the same result.
    """
    cells = scores.filter(level="presentation")
    return cells if cells.height else scores.filter(level="prompt")


def averaging_orders(scored: ScoreTable) -> ScoreTable:
    """Return the scores with the means over the orders of options in place of the prompts."""
    cells = of_presentations(scored.scores)
    design = nested_wordings(cells)
    cells = cells.filter(design.asked)
    design = Design({**design.nested, **nested_items(cells).nested})
    return replace(_with_prompts(scored, cells), design=design)


def averaging_pair_orders(scored: ScoreTable) -> ScoreTable:
    """Return the scores with the means over both orders, for sentence pairs: as a single trial."""
    sentences = of_presentations(scored.scores)
    return _with_prompts(scored, sentences.with_columns(trial=pl.lit(1, dtype=pl.Int64)))


def _with_prompts(scored: ScoreTable, cells: pl.DataFrame) -> ScoreTable:
    other_levels = scored.scores.filter(~pl.col("level").is_in(["prompt", "presentation"]))
    return replace(
        scored, scores=pl.concat([other_levels, cells.with_columns(level=pl.lit("prompt"))])
    )


def within_categories(scored: ScoreTable) -> ScoreTable:
    """Return the scores with categories taken as given and conditions as sampled within each."""
    return replace(scored, within=True)


def merging_nested_wordings(scored: ScoreTable) -> ScoreTable:
    """Return the scores of prompts, with a single wording for models whose wordings are nested."""
    prompts = scored.scores.lazy().filter(level="prompt")
    design = nested_wordings(prompts.select(*QUESTION, "wording", "value").collect())
    if not design.nested["wording"]:
        # This is the usual case, and it saves a copy of the scores, which may be large.
        return scored
    was_asked = (pl.col("level") != "prompt") | design.asked
    return replace(scored, scores=scored.scores.filter(was_asked), design=design)


def of_study(scored: ScoreTable) -> ScoreTable:
    """Return the scores of the study's sentences alone, if other sentences were added to them."""
    added_sentences = scored.sharing.own
    if not added_sentences or scored.aggregate is None:
        return scored
    # Only the number that is compared is scored anew: the scores of many models are large.
    prompts = scored.rows("prompt")
    added = pl.DataFrame([*added_sentences], schema=["item", "wording"], orient="row")
    prompts = prompts.join(added, on=["item", "wording"], how="anti", maintain_order="left")
    return replace(scored, scores=pl.concat([prompts, scored.aggregate(prompts)]))


# The two sides of a contrast.


@dataclass(frozen=True, eq=False)
class Side:
    """The scores of one side, and their table, which is made once for all its comparisons."""

    rows: pl.DataFrame
    scored: ScoreTable
    """The table that the scores come from."""
    differ: str
    """The column in which the two sides differ."""
    _tables: dict[tuple[tuple[str, ...], ...], NDArray[np.float64]] = field(
        default_factory=dict, init=False
    )

    @cached_property
    def cells(self) -> pl.DataFrame:
        """Return the scores with one level for each nested factor and for each wording family."""
        # If two wordings are compared, they must not be replaced by their family.
        source = self.scored.design if self.differ == "wording" else self.scored
        return source.cells(self.rows)

    @cached_property
    def ids(self) -> dict[str, list[str]]:
        """Return the levels of each factor."""
        return {factor: in_order(self.cells, factor) for factor in FACTOR_COLUMNS}

    @cached_property
    def sentences(self) -> int:
        """Return the number of answered pairs of item and wording family, nested or crossed."""
        families = self.scored.sharing.families
        answered = self.rows.filter(pl.col("value").is_not_null())
        return answered.select("item", pl.col("wording").replace(families)).n_unique()

    @cached_property
    def _categories(self) -> dict[str, str | None]:
        return dict(self.rows.select("condition", "category").unique("condition").rows())

    def categories(self, conditions: Sequence[str]) -> list[str]:
        """Return each condition's category; a condition without one is a category of its own."""
        return [self._categories.get(condition) or condition for condition in conditions]

    def table(self, ids: Mapping[str, Sequence[str]]) -> NDArray[np.float64]:
        """Return the means as an array with an axis for each factor of ``ids``; gaps are NaN."""
        key = tuple((factor, *levels) for factor, levels in ids.items())
        if key not in self._tables:
            if not all({*self.ids[factor]} <= {*levels} for factor, levels in ids.items()):
                filters = [pl.col(factor).is_in(levels) for factor, levels in ids.items()]
                return cube(self.cells.filter(*filters), ids)
            self._tables[key] = cube(self.cells, ids)
        return self._tables[key]


FACTOR_COLUMNS = ("condition", "item", "wording")


# Tests.

NESTED_OVER = "conditions by category and items, each condition with some of them"
PARTLY_OVER = "conditions by category and items, as far as they were answered"


def _crossed(
    _: ScoreTable, compared: Contrast, first: Side, second: Side, *, columns: Sequence[str]
) -> Estimate:
    """Return the estimate by the crossed formula, or by the jackknife if tables are incomplete."""
    paired = first.differ not in ("group", "dimension")
    # Both sides share all levels, except conditions of two groups and items of two subscales.
    own_levels = {"group": "condition", "dimension": "item"}.get(first.differ)
    ids = [
        {
            factor: side.ids[factor]
            if factor == own_levels
            else sorted({*first.ids[factor], *second.ids[factor]})
            for factor in columns
        }
        for side in (first, second)
    ]
    if ids[0]["item"] == [NESTED]:
        return _over_cells(compared, first, second, paired=paired, over=NESTED_OVER)
    tables = [side.table(levels) for side, levels in zip((first, second), ids, strict=True)]
    tables = [table.reshape(*table.shape, *[1] * (3 - table.ndim)) for table in tables]
    if first.differ == "dimension":
        # Two subscales differ in their items, so that items are the units; they share conditions.
        transposed = [np.swapaxes(table, 0, 1) for table in tables]
        items = [levels["item"] for levels in ids]
        factors = ("items", "conditions", "wordings")
        return crossed(compared, transposed, items, paired=False, factors=factors)
    sides = zip((first, second), ids, strict=True)
    clusters = [side.categories(levels["condition"]) for side, levels in sides]
    estimate = crossed(compared, tables, clusters, paired=paired, within=first.scored.within)
    if estimate.reason == GAPS.format(FACTORS[0]):
        estimate = _over_cells(compared, first, second, paired=paired, over=PARTLY_OVER)
    if "wording" in ids[0] and ids[0]["wording"] != [NESTED]:
        return estimate
    return replace(estimate, sentences=min(first.sentences, second.sentences))


three_way = partial(_crossed, columns=FACTOR_COLUMNS)
"""A test with conditions, items and wordings taken as sampled."""

two_way = partial(_crossed, columns=FACTOR_COLUMNS[:2])
"""A test with conditions and items taken as sampled; wordings are averaged."""


def _over_cells(
    compared: Contrast, first: Side, second: Side, *, paired: bool, over: str
) -> Estimate:
    """Return the estimate over single answers, clustered by category and item.

    If the categories are taken as given, each condition is a cluster of its own.
    """
    frames = [side.rows if over == NESTED_OVER else side.cells for side in (first, second)]
    if first.scored.within:
        frames = [frame.with_columns(category="condition") for frame in frames]
        over = over.replace(" by category", "")
    return over_cells(compared, frames, paired=paired, over=over)


def over_shared_cells(_: ScoreTable, compared: Contrast, first: Side, second: Side) -> Estimate:
    """Return the estimate over the items × conditions that both sides were asked."""
    return _over_cells(compared, first, second, paired=True, over=NESTED_OVER)


def two_presentations(
    scored: ScoreTable, compared: Contrast, first: Side, second: Side
) -> Estimate:
    """Return the estimate for two presentations of the same cells, or of two sets of cells.

    Fewer than three items are no sample: they are then taken as given, and conditions are compared.
    """
    frames = first.rows, second.rows
    cells = [frame.select("item", "condition").unique() for frame in frames]
    joined = cells[0].join(cells[1], on=["item", "condition"])
    if joined.height == cells[0].height == cells[1].height:
        return two_way(scored, compared, first, second)
    items = pl.concat(cells)["item"].n_unique()
    if items >= LEAST:
        return _over_cells(compared, first, second, paired=False, over=NESTED_OVER)
    means = [
        frame.sort("condition", "item", "wording", "prompt_id")
        .group_by("condition", maintain_order=True)
        .agg(pl.col("value").mean())
        for frame in frames
    ]
    pairs = means[0].join(means[1], on="condition", suffix="_second").sort("condition")
    if pairs.height >= FEW:
        estimate = paired_t(pairs["value"], pairs["value_second"], contrast=compared.text)
    else:
        estimate = independent_t(*(frame["value"] for frame in means), contrast=compared.text)
    return replace(of_units(estimate, GIVEN_SENTENCES), sentences=items)


FEWEST_OF_VERB = 3
"""The verbs of fewer conditions than this form one level."""


def adjusted(scored: ScoreTable, compared: Contrast, first: Side, second: Side) -> Estimate:
    """Return the estimate with the phrases' likelihood, length and verb held constant.

    If some condition has no likelihood, length and verb alone are held constant.
    """
    rows = scored.rows("condition", LOG_LIKELIHOOD, model=compared.model)
    likelihoods = dict(rows.select("condition", "value").drop_nulls().rows())
    phrases = {
        condition: scored.sharing.phrases.get(condition, ("",))
        for condition in [*first.ids["condition"], *second.ids["condition"]]
    }
    verbs = Counter(
        verb for forms in phrases.values() for verb in {form.split(" ")[0] for form in forms}
    )
    frequent_verbs = sorted(verb for verb, count in verbs.items() if count >= FEWEST_OF_VERB)
    covariates = {
        condition: [
            sum(len(form.split()) for form in forms) / len(forms),
            *(
                sum(form.split(" ")[0] == verb for form in forms) / len(forms)
                for verb in frequent_verbs
            ),
        ]
        for condition, forms in phrases.items()
    }
    names = "length and verb"
    if phrases.keys() <= likelihoods.keys():
        covariates = {
            condition: [likelihoods[condition], *figures]
            for condition, figures in covariates.items()
        }
        names = "likelihood, length and verb"
    over = f"conditions by category and items; adjusted for {names} of the phrase"
    cells = [first.cells, second.cells]
    return over_cells(compared, cells, paired=False, over=over, covariates=covariates)


def over_conditions(_: ScoreTable, compared: Contrast, first: Side, second: Side) -> Estimate:
    """Return Welch's t over conditions, by their scores of the level condition."""
    values = (side.rows.sort("condition", "trial")["value"] for side in (first, second))
    return of_units(independent_t(*values, contrast=compared.text), "conditions")


def over_cells_alone(_: ScoreTable, compared: Contrast, first: Side, second: Side) -> Estimate:
    """Return a paired t with prompts taken as independent, as Lin et al. (2022) do.

    Beside d it has d_z, the mean difference over the differences' SD: t/√n.
    """
    keys = ["item", "condition", "form"]
    pairs = first.rows.join(second.rows, on=keys, suffix="_second").sort(keys)
    estimate = paired_t(pairs["value"], pairs["value_second"], contrast=compared.text)
    if estimate.statistic is not None:
        d_z = estimate.statistic / math.sqrt(estimate.n)
        estimate = replace(estimate, second_effect=d_z, second_effect_name="Cohen's d_z")
    return of_units(estimate, "prompts")


def over_sentences(
    _: ScoreTable, compared: Contrast, first: NDArray[np.float64], second: NDArray[np.float64]
) -> Estimate:
    """Return the estimate for one condition on two sides, over items × wordings.

    With a single wording, it is over items alone.
    """
    if first.shape[1] == 1:
        return of_units(paired_t(first.ravel(), second.ravel(), contrast=compared.text), "items")
    tables = [table[:, :, None] for table in (first, second)]
    units = [[str(position) for position in range(len(first))]] * 2
    return crossed(compared, tables, units, paired=True, factors=("items", "wordings", ""))


def descriptions(_: ScoreTable, compared: Contrast, first: Side, second: Side) -> Estimate:
    """Return the estimate for the descriptions of two groups, item by item.

    Items are taken as sampled, and so are the descriptions of each category, such as a disorder:
    the categories are given. If a category has fewer than three, as in a user's own file, all
    descriptions of the group are one sample. One or two descriptions to compare with are no sample:
    their mean is then taken as given, and each cell is compared with it.
    """
    shared = {name: first.ids[name] for name in ("item", "wording")}
    sides = [(side, side.ids["condition"]) for side in (first, second)]
    first_table, second_table = (
        side.table({"condition": conditions, **shared}) for side, conditions in sides
    )
    categories = [side.categories(conditions) for side, conditions in sides]
    if len(second_table) >= LEAST:
        return crossed(compared, [first_table, second_table], categories, paired=False, within=True)
    # If any condition lacks a cell, the mean does too: the others' mean would not compare.
    repeated = np.repeat(second_table.mean(axis=0, keepdims=True), len(first_table), axis=0)
    estimate = crossed(
        compared, [first_table, repeated], [categories[0]] * 2, paired=True, within=True
    )
    if estimate.interval_over is None:
        return estimate
    suffix = f"{FIXED}: {compared.second} conditions ({len(second_table)})"
    return replace(estimate, interval_over=f"{estimate.interval_over}; {suffix}")


def over_baseline(_: ScoreTable, compared: Contrast, first: Side, second: Side) -> Estimate:
    """Return the estimate for items × conditions minus the same items without a condition."""
    items, conditions = first.ids["item"], first.ids["condition"]
    with_condition = first.table({"condition": conditions, "item": items})[:, :, None]
    baseline = second.table({"condition": [BASELINE], "item": items})[:, :, None]
    repeated = np.repeat(baseline, len(conditions), axis=0)
    return crossed(
        compared, [with_condition, repeated], [first.categories(conditions)] * 2, paired=True
    )
