"""The design of what is compared, found once, and the test that it gets.

Conditions, items and wordings are crossed where every question was asked. Where a part of all
questions was asked, a factor may be nested: each question in one wording of several, or each
condition with some of the items. Then there is no complete table. A nested wording is a part of its
question, and cells are means over it. A nested item is asked about many conditions, and what it
does to a group, or with an order, is in all of them: taken as a part of the condition it made 9 to
17 of 100 null audits false. So single answers are clustered by category of condition and by item,
and every condition counts as much, whatever it was asked.

Wordings of one family are near-copies: they count once, by their mean.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goffman.contrasts.engine import (
    FACTORS,
    FEW,
    GAPS,
    GIVEN_SENTENCES,
    Contrast,
    crossed,
    of_units,
    over_cells,
)
from goffman.instruments.types import BASELINE, MASK
from goffman.modes import asked_ids
from goffman.stats.crossed import FIXED, LEAST
from goffman.stats.estimate import Estimate
from goffman.stats.two_samples import independent_t, paired_t

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
    pairs = prompts.filter(
        pl.col("condition") == BASELINE, pl.col("wording") == "pro", pl.col("answer").is_not_null()
    ).unique("item", maintain_order=True)
    ways, signs = {}, {}
    for row in pairs.iter_rows(named=True):
        own = [re.escape(word) for word in (row["answer"], row["other"], row["pronoun"]) if word]
        frame = re.sub(rf"{MASK}|\b({'|'.join(own)})\b", "_", row["text"], flags=re.IGNORECASE)
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
