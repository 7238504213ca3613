"""The design of what is compared, found once, the test that it gets, and its one interval.

Conditions, items and wordings are crossed where every question was asked. Where a part of all
questions was asked, a factor may be nested: each question in one wording of several, or each
condition with some of the items. Then there is no complete table. A nested wording is a part of its
question, and cells are means over it. A nested item is asked about many conditions, and what it
does to a group, or with an order, is in all of them: taken as a part of the condition it made 9 to
17 of 100 null audits false. So single answers are clustered by category of condition and by item,
and every condition counts as much, whatever it was asked.

The interval is over everything that was sampled: a complete table of conditions, items and wordings
by the crossed formula, with conditions clustered by category; what shares sentence frames and
occupations, or was asked in part, by the multiway jackknife. Wordings of one family are
near-copies: they count once, by their mean. Lin et al. (2022) take cells that share an item or a
condition as independent; their p-values are smaller than these.
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
from goffman.stats.estimate import Estimate
from goffman.stats.jackknife import jackknife
from goffman.stats.profile import Profile, related
from goffman.stats.two_samples import apart, by_t, in_pairs, independent_t, numbers, paired_t

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from goffman.stats.two_samples import Values

    Table = NDArray[np.float64]
    from numpy.typing import NDArray

GIVEN = {
    "groups-as-asked": "these sentences treated as fixed",
    "genders-as-asked": "each prompt an independent draw",
    "groups-adjusted": "adjusted for the phrase's length, verb and, where known, likelihood",
    "trials": "over trials of these sentences",
    AS_IN_STUDY: "shares of labels, conditions treated as independent",
}
"""Kinds of contrasts that repeat another with something taken as given, and what."""

GAP_OF, INTERACTION = "gap-by-identity", "interaction"
BY_IDENTITY = (GAP_OF, INTERACTION)
"""Kinds of contrasts about people with a second identity: the gap in each, and how far that lies
from the gap in the reference."""

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
        about = [self._about(self.variant), self.group, self.dimension, GIVEN.get(self.kind)]
        sign = "with" if self.kind in {*CORRELATIONS, *ANCHORED} else "−"
        return f"{', '.join(part for part in about if part)}: {self.first} {sign} {self.second}"

    @property
    def family(self) -> str:
        """The declared family of tests: all of its kind, quantity, variant and model.

        Those of single subscales are apart from those of the whole: they are its parts.
        """
        # Identities are one list; words with and without first names are two of the same.
        variant = None if self.kind in BY_IDENTITY else self.variant
        about = self._about(variant)
        return f"{self.kind}{' by dimension' if self.dimension else ''}: {about}"

    def _about(self, variant: str | None) -> str:
        about = [self.asked, self.measure, self.quantity, variant, self.model]
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


def cube(rows: pl.DataFrame, ids: Mapping[str, Sequence[str]]) -> NDArray[np.float64]:
    """The values of SCORES by these ids; forms and models are averaged, gaps are NaN."""
    means = rows.group_by(*ids).agg(pl.col("value").mean()).drop_nulls("value")
    places = [means[name].cast(pl.Enum(keys)).to_physical() for name, keys in ids.items()]
    found = np.full([len(keys) for keys in ids.values()], np.nan)
    found[tuple(place.to_numpy() for place in places)] = means["value"].to_numpy()
    return found


def in_order(rows: pl.DataFrame, name: str) -> list[str]:
    """The different ids of a column, sorted."""
    return sorted(rows[name].drop_nulls().unique())


FEMALE = "female-referent"
"""The category of a sentence whose referent has an occupation associated with women."""


@dataclass(frozen=True, kw_only=True)
class Clusters:
    """What prompts share: wordings their family, sentences their source, pairs occupations.

    Of sentence pairs it is empty where that is not known.
    """

    families: dict[str, str] = field(default_factory=dict)
    """By wording: its family; a wording that is not here is one of its own."""
    own: frozenset[tuple[str, str]] = frozenset()
    """Item and wording of the sentences that were put beside those of the study."""
    ways: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    """Frame, referent, other occupation."""
    phrases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By condition: what each of its forms says in the slot, such as "has depression"."""
    signs: dict[str, float] = field(default_factory=dict)
    """−1 where the referent's occupation is associated with women, else 1."""

    def clusters(self, pairs: Iterable[str]) -> list[NDArray[np.str_]]:
        """Return the frame of each pair, and its two occupations; none where a pair is not known.

        An occupation pulls the pronoun in either role, so that both are of one kind.
        """
        pairs = list(pairs)
        if not pairs or not self.ways.keys() >= {*pairs}:
            return []
        ways = [self.ways[pair] for pair in pairs]
        nodes = [(one, other or f"nobody beside {one}") for _, one, other in ways]
        return [np.array([frame for frame, _, _ in ways]), np.array(nodes)]

    def sides(self, pairs: Iterable[str]) -> NDArray[np.float64]:
        """The signs of the pairs."""
        return np.array([self.signs.get(pair, 1.0) for pair in pairs])


def clusters_by_instrument(prompts: pl.DataFrame) -> dict[str, Clusters]:
    """By instrument: what the sentence pairs among these prompts share."""
    of_each = prompts.with_columns(asked=asked_ids()).partition_by("asked", as_dict=True)
    return {str(asked): clusters_of(of) for (asked,), of in of_each.items()}


def clusters_of(prompts: pl.DataFrame) -> Clusters:
    """Return what these prompts share; ``prompts`` of one instrument.

    The frame is the sentence without adjectives, its occupations and pronoun blanked.
    """
    # Pairs of neutral occupations are not asked without adjectives.
    pairs = prompts.filter(
        (pl.col("condition") == BASELINE) | (pl.col("group") == "neutral"),
        pl.col("wording") == "pro",
        pl.col("answer").is_not_null(),
    ).unique("item", maintain_order=True)
    ways, signs = {}, {}
    for row in pairs.iter_rows(named=True):
        own = [re.escape(word) for word in (row["answer"], row["other"], row["pronoun"]) if word]
        adjectives = "|".join(filter(None, row["condition"].split(",")[:2]))
        text = re.sub(rf"\b({adjectives}) ", "", row["text"])
        frame = re.sub(rf"{MASK}|\b({'|'.join(own)})\b", "_", text, flags=re.IGNORECASE)
        ways[row["item"]] = (frame, row["answer"], row["other"] or "")
        signs[row["item"]] = -1.0 if row["category"] == FEMALE else 1.0
    # Prompts of studies have no such columns.
    lacking = {"family", "phrase", "source"} - {*prompts.columns}
    prompts = prompts.with_columns(pl.lit(None, pl.String).alias(name) for name in lacking)
    known = prompts.select("condition", "phrase").drop_nulls().unique().sort("phrase")
    beside = prompts.filter(pl.col("source") == "own").select("item", "wording")
    return Clusters(
        families=dict(prompts.select("wording", "family").drop_nulls().unique().rows()),
        own=frozenset(beside.unique().rows()),
        ways=ways,
        phrases={c: tuple(of) for c, of in known.group_by("condition").agg("phrase").rows()},
        signs=signs,
    )


LOG_LIKELIHOOD = "log-likelihood"
"""The quantity of conditions that says how probable a model finds their phrases."""

NESTED = "nested"
"""The one level that a nested factor has in a table."""


@dataclass(frozen=True)
class Design:
    """Which factors are nested, in the answers of which models; all others are crossed."""

    nested: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def within(self, factor: str) -> pl.Expr:
        """Return of which rows the factor is nested."""
        return pl.col("model").is_in(sorted(self.nested.get(factor, ())))

    @property
    def asked(self) -> pl.Expr:
        """Of which rows there was a question: what a nested wording was not asked is no gap."""
        return ~self.within("wording") | pl.col("value").is_not_null()

    def cells(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the scores with one level for what is nested."""
        named = sorted(factor for factor, models in self.nested.items() if models)
        return rows.with_columns(
            pl.when(self.within(factor)).then(pl.lit(NESTED)).otherwise(factor).alias(factor)
            for factor in named
        )


QUESTION = ["model", "item", "condition", "form"]


def nested_wordings(cells: pl.DataFrame) -> Design:
    """Return whose wordings are nested: models asked each question in one of several wordings.

    Each model by itself, since a server gets a part of all questions. A part goes through the
    wordings in turn, so that every condition meets each about equally often.
    """
    known = cells.filter(pl.col("value").is_not_null())
    return _nested(known, "wording", QUESTION, (pl.col("most") == 1) & (pl.col("every") > 1))


def nested_items(cells: pl.DataFrame) -> Design:
    """Return whose items are nested: the models asked each condition with some of them only."""
    asked = cells.filter(pl.col("condition") != BASELINE)
    unit = ["model", "condition", "form"]
    return _nested(asked, "item", unit, pl.col("most") < pl.col("every"))


def _nested(rows: pl.DataFrame, factor: str, unit: Sequence[str], where: pl.Expr) -> Design:
    """Return the design; ``where``: of the most levels in a unit, and of every level of a model."""
    asked = rows.select(*unit, factor).unique()
    most = asked.group_by(unit).len("most").group_by("model").agg(pl.col("most").max())
    every = asked.group_by("model").agg(every=pl.col(factor).n_unique())
    return Design({factor: frozenset(most.join(every, on="model").filter(where)["model"])})


def wordings_merged(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the scores with one wording for models of which it is nested in the question."""
    design = nested_wordings(cells)
    return design.cells(cells.filter(design.asked))


def items_by_place(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the scores with the first, second … item of each condition where items are nested."""
    design = nested_items(cells)
    place = pl.col("item").rank("dense").over("model", "condition", "form", "quantity")
    name = pl.format("{}-{}", pl.lit(NESTED), place)
    return cells.with_columns(item=pl.when(design.within("item")).then(name).otherwise("item"))


@dataclass(frozen=True, kw_only=True)
class ScoreTable:
    """The scores of one instrument, and what its contrasts are between."""

    scores: pl.DataFrame
    about: Contrast
    """Its instrument and measure; the rest is filled in contrast by contrast."""
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
    """The measure's: scores of prompts → those of every other level."""
    within: bool = False
    """Whether the categories of conditions are given, and conditions sampled within them."""
    _views: dict[Any, ScoreTable] = field(default_factory=dict, init=False)
    _parts: dict[Any, tuple[pl.DataFrame, dict[Any, pl.DataFrame]]] = field(
        default_factory=dict, init=False
    )

    def seen(self, view: Callable[[ScoreTable], ScoreTable]) -> ScoreTable:
        """Return what a view makes of the scores; once for all contrasts."""
        if view not in self._views:
            self._views[view] = view(self)
        return self._views[view]

    def rows(self, level: str, quantity: str | None = None, **ids: str | None) -> pl.DataFrame:
        """The scores of a level and quantity with these ids; None: only where it is null."""
        key = level, quantity or self.quantity
        if key not in self._parts:
            # Looked for once, and by model: there may be millions.
            rows = self.scores.filter(pl.col("level") == key[0], pl.col("quantity") == key[1])
            self._parts[key] = rows, rows.partition_by("model", as_dict=True)
        rows, by_model = self._parts[key]
        model = ids.get("model")
        if model is not None:
            rows = by_model.get((model,), self.scores.clear())
        wanted = [
            pl.col(name).is_null() if value is None else pl.col(name) == value
            for name, value in ids.items()
            if name != "model" or model is None
        ]
        return rows.filter(*wanted) if wanted else rows

    def cells(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return scores with one level for what is nested, and one for wordings of a family."""
        return self.design.cells(rows).with_columns(
            pl.col("wording").replace(self.sharing.families)
        )

    @cached_property
    def models(self) -> list[str]:
        """Who answered."""
        return in_order(self.scores, "model")

    def says(self, kind: str, **what: str | None) -> Contrast:
        """The contrast of this kind."""
        return replace(self.about, **{"kind": kind, "quantity": self.quantity, **what})  # type: ignore[arg-type]


# Views: what is averaged in the scores before they are compared.


def of_presentations(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the means over orders, or the prompts where only these are given.

    Contrasts average what they are given of one question, so that both come to the same.
    """
    cells = scores.filter(pl.col("level") == "presentation")
    return cells if cells.height else scores.filter(pl.col("level") == "prompt")


def averaging_orders(scored: ScoreTable) -> ScoreTable:
    """Return the scores with the means over the orders of options in the place of prompts."""
    cells = of_presentations(scored.scores)
    design = nested_wordings(cells)
    cells = cells.filter(design.asked)
    design = Design({**design.nested, **nested_items(cells).nested})
    return replace(_with_prompts(scored, cells), design=design)


def averaging_pair_orders(scored: ScoreTable) -> ScoreTable:
    """Return the same of sentence pairs: contrasts are made trial by trial, and this is one."""
    sentences = of_presentations(scored.scores)
    return _with_prompts(scored, sentences.with_columns(trial=pl.lit(1, dtype=pl.Int64)))


def _with_prompts(scored: ScoreTable, cells: pl.DataFrame) -> ScoreTable:
    """Return the scores with these in the place of prompts."""
    others = scored.scores.filter(~pl.col("level").is_in(["prompt", "presentation"]))
    return replace(scored, scores=pl.concat([others, cells.with_columns(level=pl.lit("prompt"))]))


def within_categories(scored: ScoreTable) -> ScoreTable:
    """Return the scores, of which categories are given and conditions sampled in each of them."""
    return replace(scored, within=True)


def merging_nested_wordings(scored: ScoreTable) -> ScoreTable:
    """Return the scores of prompts, with one wording for models of which it is nested."""
    prompts = scored.scores.lazy().filter(pl.col("level") == "prompt")
    design = nested_wordings(prompts.select(*QUESTION, "wording", "value").collect())
    if not design.nested["wording"]:
        # Nearly always. The scores of many models are large: they are not copied for nothing.
        return scored
    asked = (pl.col("level") != "prompt") | design.asked
    return replace(scored, scores=scored.scores.filter(asked), design=design)


def of_study(scored: ScoreTable) -> ScoreTable:
    """Return the scores of the study's sentences alone, where others were put beside them."""
    own = scored.sharing.own
    if not own or scored.aggregate is None:
        return scored
    # Of the number that is compared alone: the scores of many models are large.
    prompts = scored.rows("prompt")
    beside = pl.DataFrame([*own], schema=["item", "wording"], orient="row")
    prompts = prompts.join(beside, on=["item", "wording"], how="anti", maintain_order="left")
    return replace(scored, scores=pl.concat([prompts, scored.aggregate(prompts)]))


# The two sides of a contrast.


@dataclass(frozen=True, eq=False)
class Side:
    """The scores of one side, and their table, which is made once for all it is compared with."""

    rows: pl.DataFrame
    scored: ScoreTable
    """What the scores are of."""
    differ: str
    """The column in which the two sides differ."""
    _tables: dict[tuple[tuple[str, ...], ...], NDArray[np.float64]] = field(
        default_factory=dict, init=False
    )

    @cached_property
    def cells(self) -> pl.DataFrame:
        """The scores with one level for what is nested, and one for wordings of a family."""
        # What is compared with another wording keeps its own.
        of = self.scored.design if self.differ == "wording" else self.scored
        return of.cells(self.rows)

    @cached_property
    def ids(self) -> dict[str, list[str]]:
        """The levels of each factor."""
        return {name: in_order(self.cells, name) for name in FACTOR_COLUMNS}

    @cached_property
    def sentences(self) -> int:
        """How many items were answered in how many families of wordings, in turn or in all."""
        families = self.scored.sharing.families
        known = self.rows.filter(pl.col("value").is_not_null())
        return known.select("item", pl.col("wording").replace(families)).n_unique()

    @cached_property
    def _categories(self) -> dict[str, str | None]:
        return dict(self.rows.select("condition", "category").unique("condition").rows())

    def categories(self, conditions: Sequence[str]) -> list[str]:
        """Return the category of each; one that has none is a category of its own."""
        return [self._categories.get(one) or one for one in conditions]

    def table(self, ids: Mapping[str, Sequence[str]]) -> NDArray[np.float64]:
        """Return the values by these ids; all else is averaged, gaps are NaN."""
        key = tuple((name, *levels) for name, levels in ids.items())
        if key not in self._tables:
            if not all({*self.ids[name]} <= {*levels} for name, levels in ids.items()):
                known = [pl.col(name).is_in(levels) for name, levels in ids.items()]
                return cube(self.cells.filter(*known), ids)
            self._tables[key] = cube(self.cells, ids)
        return self._tables[key]


FACTOR_COLUMNS = ("condition", "item", "wording")


# Tests.

NESTED_OVER = "conditions by category and items, each condition with some of them"
PARTLY_OVER = "conditions by category and items, as far as they were answered"


def _crossed(
    _: ScoreTable, says: Contrast, first: Side, second: Side, *, columns: Sequence[str]
) -> Estimate:
    """Test complete tables by the crossed formula, and others by the jackknife."""
    paired = first.differ not in ("group", "dimension")
    # Both sides have the same levels, but for conditions of two groups and items of two subscales.
    own = {"group": "condition", "dimension": "item"}.get(first.differ)
    ids = [
        {
            name: side.ids[name] if name == own else sorted({*first.ids[name], *second.ids[name]})
            for name in columns
        }
        for side in (first, second)
    ]
    if ids[0]["item"] == [NESTED]:
        return _over_cells(says, first, second, paired=paired, over=NESTED_OVER)
    tables = [side.table(of) for side, of in zip((first, second), ids, strict=True)]
    tables = [table.reshape(*table.shape, *[1] * (3 - table.ndim)) for table in tables]
    if first.differ == "dimension":
        # The units that differ are the items; conditions are what both subscales share.
        turned = [np.swapaxes(table, 0, 1) for table in tables]
        items = [of["item"] for of in ids]
        factors = ("items", "conditions", "wordings")
        return crossed(says, turned, items, paired=False, factors=factors)
    sides = zip((first, second), ids, strict=True)
    clusters = [side.categories(of["condition"]) for side, of in sides]
    found = crossed(says, tables, clusters, paired=paired, within=first.scored.within)
    if found.reason == GAPS.format(FACTORS[0]):
        found = _over_cells(says, first, second, paired=paired, over=PARTLY_OVER)
    if "wording" in ids[0] and ids[0]["wording"] != [NESTED]:
        return found
    return replace(found, sentences=min(first.sentences, second.sentences))


three_way = partial(_crossed, columns=FACTOR_COLUMNS)
"""Test conditions, items and wordings, all taken as sampled."""

two_way = partial(_crossed, columns=FACTOR_COLUMNS[:2])
"""Test conditions and items, both taken as sampled; wordings are averaged."""


def _over_cells(says: Contrast, first: Side, second: Side, *, paired: bool, over: str) -> Estimate:
    """Test single answers; of given categories each condition is a cluster of its own."""
    sides = [side.rows if over == NESTED_OVER else side.cells for side in (first, second)]
    if first.scored.within:
        sides = [of.with_columns(category="condition") for of in sides]
        over = over.replace(" by category", "")
    return over_cells(says, sides, paired=paired, over=over)


def over_shared_cells(_: ScoreTable, says: Contrast, first: Side, second: Side) -> Estimate:
    """Test items × conditions of which one side was asked a part."""
    return _over_cells(says, first, second, paired=True, over=NESTED_OVER)


def two_presentations(scored: ScoreTable, says: Contrast, first: Side, second: Side) -> Estimate:
    """Test two presentations: of the same cells, or where each was asked in one, of two sets.

    Fewer than three items are no sample: they are taken as given, and conditions compared.
    """
    sides = first.rows, second.rows
    asked = [side.select("item", "condition").unique() for side in sides]
    both = asked[0].join(asked[1], on=["item", "condition"])
    if both.height == asked[0].height == asked[1].height:
        return two_way(scored, says, first, second)
    items = pl.concat(asked)["item"].n_unique()
    if items >= LEAST:
        return _over_cells(says, first, second, paired=False, over=NESTED_OVER)
    means = [
        side.sort("condition", "item", "wording", "prompt_id")
        .group_by("condition", maintain_order=True)
        .agg(pl.col("value").mean())
        for side in sides
    ]
    pairs = means[0].join(means[1], on="condition", suffix="_second").sort("condition")
    if pairs.height >= FEW:
        found = paired_t(pairs["value"], pairs["value_second"], contrast=says.text)
    else:
        found = independent_t(*(of["value"] for of in means), contrast=says.text)
    return replace(of_units(found, GIVEN_SENTENCES), sentences=items)


FEWEST_OF_VERB = 3
"""Verbs of fewer conditions are one level."""


def adjusted(scored: ScoreTable, says: Contrast, first: Side, second: Side) -> Estimate:
    """Test conditions and items, the phrases' likelihood, length and verb held alike.

    Without a likelihood of every condition, length and verb alone.
    """
    rows = scored.rows("condition", LOG_LIKELIHOOD, model=says.model)
    likely = dict(rows.select("condition", "value").drop_nulls().rows())
    phrases = {
        condition: scored.sharing.phrases.get(condition, ("",))
        for condition in [*first.ids["condition"], *second.ids["condition"]]
    }
    verbs = Counter(verb for of in phrases.values() for verb in {one.split(" ")[0] for one in of})
    common = sorted(verb for verb, count in verbs.items() if count >= FEWEST_OF_VERB)
    about = {
        condition: [
            sum(len(one.split()) for one in of) / len(of),
            *(sum(one.split(" ")[0] == verb for one in of) / len(of) for verb in common),
        ]
        for condition, of in phrases.items()
    }
    named = "length and verb"
    if phrases.keys() <= likely.keys():
        about = {condition: [likely[condition], *of] for condition, of in about.items()}
        named = "likelihood, length and verb"
    over = f"conditions by category and items; adjusted for {named} of the phrase"
    cells = [first.cells, second.cells]
    return over_cells(says, cells, paired=False, over=over, covariates=about)


def over_conditions(_: ScoreTable, says: Contrast, first: Side, second: Side) -> Estimate:
    """Test conditions alone, by their scores of the level condition."""
    values = (side.rows.sort("condition", "trial")["value"] for side in (first, second))
    return of_units(independent_t(*values, contrast=says.text), "conditions")


def over_cells_alone(_: ScoreTable, says: Contrast, first: Side, second: Side) -> Estimate:
    """Test prompts as if each were a draw of its own, as Lin et al. (2022) do; d_z stands beside d.

    d_z is the mean difference over the differences' SD: t/√n.
    """
    keys = ["item", "condition", "form"]
    pairs = first.rows.join(second.rows, on=keys, suffix="_second").sort(keys)
    tested = paired_t(pairs["value"], pairs["value_second"], contrast=says.text)
    if tested.statistic is not None:
        d_z = tested.statistic / math.sqrt(tested.n)
        tested = replace(tested, second_effect=d_z, second_effect_name="Cohen's d_z")
    return of_units(tested, "prompts")


def over_sentences(
    _: ScoreTable, says: Contrast, first: NDArray[np.float64], second: NDArray[np.float64]
) -> Estimate:
    """Test one condition twice, in the same items × wordings; of one wording, items alone."""
    if first.shape[1] == 1:
        return of_units(paired_t(first.ravel(), second.ravel(), contrast=says.text), "items")
    tables = [table[:, :, None] for table in (first, second)]
    own = [[str(place) for place in range(len(first))]] * 2
    return crossed(says, tables, own, paired=True, factors=("items", "wordings", ""))


def descriptions(_: ScoreTable, says: Contrast, first: Side, second: Side) -> Estimate:
    """Test the descriptions of a group against those that they are compared with, item by item.

    Items are taken as sampled, and so are the descriptions of each category, such as a disorder:
    the categories are given. Where one has fewer than three, as in a file that a user brings, all
    descriptions of the group are one sample. One or two descriptions to compare with are none:
    their mean is then taken as given, and stands in each cell beside.
    """
    same = {name: first.ids[name] for name in ("item", "wording")}
    sides = [(side, side.ids["condition"]) for side in (first, second)]
    one, other = (side.table({"condition": own, **same}) for side, own in sides)
    categories = [side.categories(own) for side, own in sides]
    if len(other) >= LEAST:
        return crossed(says, [one, other], categories, paired=False, within=True)
    # With a gap in any of its conditions a cell of the mean is a gap: it would be of others.
    beside = np.repeat(other.mean(axis=0, keepdims=True), len(one), axis=0)
    found = crossed(says, [one, beside], [categories[0]] * 2, paired=True, within=True)
    if found.interval_over is None:
        return found
    fixed = f"{FIXED}: {says.second} conditions ({len(other)})"
    return replace(found, interval_over=f"{found.interval_over}; {fixed}")


def over_baseline(_: ScoreTable, says: Contrast, first: Side, second: Side) -> Estimate:
    """Test items × conditions against the same items without a condition, in each cell beside."""
    items, conditions = first.ids["item"], first.ids["condition"]
    with_one = first.table({"condition": conditions, "item": items})[:, :, None]
    without = second.table({"condition": [BASELINE], "item": items})[:, :, None]
    beside = np.repeat(without, len(conditions), axis=0)
    return crossed(says, [with_one, beside], [first.categories(conditions)] * 2, paired=True)
