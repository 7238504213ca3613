"""The design of what is compared, found once, and the test that it gets.

Conditions, items and wordings are crossed where every question was asked. Where a part of all
questions was asked, a factor may be nested: each question in one wording of several, or each
condition with some of the items. Then there is no complete table. A nested wording is a part of its
question, and cells are means over it. A nested item is asked about many conditions, and what it
does to a group, or with an order, is in all of them: taken as a part of the condition it made 9 to
17 of 100 null audits clear. So single answers are clustered by condition and by item, and every
condition counts as much, whatever it was asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goffman.contrasts.engine import FEW, GIVEN_SENTENCES, Contrast
from goffman.contrasts.scores import NESTED, Design, ScoreTable, cube, in_order
from goffman.instruments.types import BASELINE
from goffman.stats.clustered import clustered_t
from goffman.stats.crossed_tests import GAPS, LEAST
from goffman.stats.estimate import Estimate
from goffman.stats.samples import apart, in_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.stats.crossed_tests import Shared

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
    design = Design.of(cells, ["wording"])
    cells = cells.filter(~design.within("wording") | pl.col("value").is_not_null())
    design = Design({**design.nested, **Design.of(cells, ["item"]).nested})
    others = scored.scores.filter(~pl.col("level").is_in(["prompt", "presentation"]))
    scores = pl.concat([others, cells.with_columns(level=pl.lit("prompt"))])
    return replace(scored, scores=scores, design=design)


def averaging_pair_orders(scored: ScoreTable) -> ScoreTable:
    """Return the same of sentence pairs: contrasts are made trial by trial, and this is one."""
    sentences = of_presentations(scored.scores).with_columns(
        level=pl.lit("prompt"), trial=pl.lit(1, dtype=pl.Int64)
    )
    others = scored.scores.filter(~pl.col("level").is_in(["prompt", "presentation"]))
    return replace(scored, scores=pl.concat([others, sentences]))


def merging_nested_wordings(scored: ScoreTable) -> ScoreTable:
    """Return the scores of prompts, with one wording for models of which it is nested."""
    prompts = scored.scores.filter(pl.col("level") == "prompt")
    design = Design.of(prompts, ["wording"])
    if not design.nested["wording"]:
        # Nearly always. The scores of many models are large: they are not copied for nothing.
        return scored
    unasked = (pl.col("level") == "prompt") & design.within("wording") & pl.col("value").is_null()
    return replace(scored, scores=scored.scores.filter(~unasked), design=design)


def averaging_wordings(scored: ScoreTable) -> ScoreTable:
    """Return the scores of prompts, each cell the mean over all that was asked of it."""
    scores = scored.scores.filter(pl.col("level") == "prompt")
    return replace(scored, scores=scores, design=Design(averaged=frozenset({"wording"})))


# The two sides of a contrast.


class Side:
    """The scores of one side, and their table, which is made once for all it is compared with."""

    def __init__(self, rows: pl.DataFrame, design: Design, differ: str) -> None:
        self.rows = rows
        self.differ = differ
        """The column in which the two sides differ."""
        self._design = design
        self._tables: dict[tuple[tuple[str, ...], ...], NDArray[np.float64]] = {}

    @cached_property
    def cells(self) -> pl.DataFrame:
        """The scores with one level for what is nested."""
        return self._design.cells(self.rows)

    @cached_property
    def ids(self) -> dict[str, list[str]]:
        """The levels of each factor."""
        return {name: in_order(self.cells, name) for name in ("condition", "item", "wording")}

    def table(self, ids: Mapping[str, Sequence[str]]) -> NDArray[np.float64]:
        """Return the values by these ids; all else is averaged, gaps are NaN."""
        key = tuple((name, *levels) for name, levels in ids.items())
        if key not in self._tables:
            if not all({*self.ids[name]} <= {*levels} for name, levels in ids.items()):
                known = [pl.col(name).is_in(levels) for name, levels in ids.items()]
                return cube(self.cells.filter(*known), ids)
            self._tables[key] = cube(self.cells, ids)
        return self._tables[key]


def _ids(first: Side, second: Side, *factors: str) -> tuple[dict[str, list[str]], ...]:
    """Return the levels of these factors for both sides.

    They are the same, but for conditions of two groups and for items of two subscales.
    """
    own = {"group": "condition", "dimension": "item"}.get(first.differ)
    return tuple(
        {
            name: side.ids[name] if name == own else sorted({*first.ids[name], *second.ids[name]})
            for name in factors
        }
        for side in (first, second)
    )


# Tests.


def three_way(scored: ScoreTable, says: Contrast, first: Side, second: Side) -> Estimate:
    """Test conditions, items and wordings, all taken as sampled."""
    ids = _ids(first, second, "condition", "item", "wording")
    shared = first.differ != "group"
    if ids[0]["item"] == [NESTED]:
        return (nested_pairs if shared else nested_sets)(says, [first.rows, second.rows])
    tables = [side.table(of) for side, of in zip((first, second), ids, strict=True)]
    return scored.compare.sampled(says, tables, shared=shared)


def two_way(scored: ScoreTable, says: Contrast, first: Side, second: Side) -> Estimate:
    """Test items and conditions, both taken as sampled."""
    ids = _ids(first, second, "item", "condition")
    tables = [side.table(of) for side, of in zip((first, second), ids, strict=True)]
    shared: Mapping[str, Shared] = {"group": "rows", "dimension": "columns"}
    return scored.compare.crossed(says, *tables, shared=shared.get(first.differ, "both"))


def two_presentations(scored: ScoreTable, says: Contrast, first: Side, second: Side) -> Estimate:
    """Test two presentations: of the same cells, or where each was asked in one, of two sets.

    Fewer than three items are no sample: they are taken as given, and conditions compared.
    """
    sides = first.rows, second.rows
    asked = [side.select("item", "condition").unique() for side in sides]
    both = asked[0].join(asked[1], on=["item", "condition"])
    if both.height == asked[0].height == asked[1].height:
        return two_way(scored, says, first, second)
    if pl.concat(asked)["item"].n_unique() >= LEAST:
        return nested_sets(says, sides)
    means = [_condition_means(side) for side in sides]
    pairs = means[0].join(means[1], on="condition", suffix="_second").sort("condition")
    if pairs.height >= FEW:
        values = pairs["value"].to_list(), pairs["value_second"].to_list()
        return scored.compare.paired(says, *values, over=GIVEN_SENTENCES)
    one, other = (of["value"].to_list() for of in means)
    return scored.compare.apart(says, one, other, over=GIVEN_SENTENCES)


def _condition_means(rows: pl.DataFrame) -> pl.DataFrame:
    ordered = rows.sort("condition", "item", "wording", "prompt_id")
    return ordered.group_by("condition", maintain_order=True).agg(pl.col("value").mean())


def over_conditions(scored: ScoreTable, says: Contrast, first: Side, second: Side) -> Estimate:
    """Test conditions alone, by their scores of the level condition."""
    sides = (side.rows.sort("condition", "trial")["value"].to_list() for side in (first, second))
    return scored.compare.apart(says, *sides, over="conditions")


def paired_conditions(scored: ScoreTable, says: Contrast, first: Side, second: Side) -> Estimate:
    """Test the same conditions twice, by the means of their prompts."""
    conditions = _ids(first, second, "condition")[0]["condition"]
    sides = []
    for side in (first, second):
        means = side.rows.sort("condition", "item", "form", "prompt_id").group_by("condition")
        known = dict(means.agg(pl.col("value").mean()).rows())
        sides.append([known.get(one) for one in conditions])
    return scored.compare.paired(says, *sides, over="conditions")


def over_sentences(
    scored: ScoreTable, says: Contrast, first: NDArray[np.float64], second: NDArray[np.float64]
) -> Estimate:
    """Test one condition twice, in the same items × wordings; of one wording, items alone."""
    if first.shape[1] == 1:
        cells = first.ravel().tolist(), second.ravel().tolist()
        return scored.compare.paired(says, *cells, over="items")
    over = ("items", "wordings")
    return scored.compare.crossed(says, first, second, shared="both", over=over, units="rows")


def two_genders(scored: ScoreTable, says: Contrast, first: Side, second: Side) -> Estimate:
    """Test a woman and a man in the same questions.

    Where some pairs were not answered there is no crossed table: then pairs are clustered by item
    and by condition, as far as there are enough of both.
    """
    found = two_way(scored, says, first, second)
    if GAPS not in (found.reason or ""):
        return found
    keys = ["item", "condition"]
    means = [
        side.rows.sort(*keys, "wording", "prompt_id")
        .group_by(keys, maintain_order=True)
        .agg(pl.col("value").mean())
        for side in (first, second)
    ]
    cells = means[0].join(means[1], on=keys, suffix="_second").drop_nulls().sort(keys)
    clustered = scored.compare.clustered(
        says,
        cells["value"].to_list(),
        cells["value_second"].to_list(),
        clusters=[cells[name].to_list() for name in keys],
        called=("items", "conditions"),
    )
    if clustered.p is None:
        return found
    over = "pairs of questions, clustered by item and condition"
    return replace(
        clustered,
        unit="pairs of questions",
        interval_over=over,
        check_over="pairs of questions, as if none shared anything",
        method=f"interval and p: {over}; effects of pairs, their SD taken as known",
    )


FIXED = "treated as fixed"
"""In what an interval is over: what follows is not sampled."""


def descriptions(scored: ScoreTable, says: Contrast, first: Side, second: Side) -> Estimate:
    """Test the descriptions of a group against those that they are compared with, item by item.

    Items and the descriptions of both groups are taken as sampled. One or two descriptions to
    compare with, as in a file that a user brings, are no sample: their mean is then taken as given,
    and stands in each cell beside.
    """
    items = first.ids["item"]
    one, other = (
        side.table({"item": items, "condition": side.ids["condition"]}) for side in (first, second)
    )
    if other.shape[1] < LEAST:
        # With a gap in any of its conditions a cell of the mean is a gap: it would be of others.
        beside = np.repeat(other.mean(axis=1, keepdims=True), one.shape[1], axis=1)
        found = scored.compare.crossed(says, one, beside, shared="both")
        if found.interval_over is None:
            return found
        fixed = f"{FIXED}: {says.second} conditions ({other.shape[1]})"
        over = f"items and {says.first} conditions, crossed; {fixed}"
        return replace(found, interval_over=over)
    # A table with gaps has no test: one reply that is no answer would take it away.
    known = ~(np.isnan(one).any(axis=1) | np.isnan(other).any(axis=1))
    if known.all() or known.sum() < LEAST:
        return scored.compare.crossed(says, one, other, shared="rows")
    found = scored.compare.crossed(says, one[known], other[known], shared="rows")
    left_out = int(known.size - known.sum())
    why = f"{left_out} of {known.size} items are left out, because some got no answer"
    reasons = [reason for reason in (why, found.reason) if reason]
    cells = left_out * (one.shape[1] + other.shape[1])
    return replace(found, left_out=cells, reason="; ".join(reasons))


def over_baseline(scored: ScoreTable, says: Contrast, first: Side, second: Side) -> Estimate:
    """Test items × conditions against the same items without a condition, in each cell beside."""
    items, conditions = first.ids["item"], first.ids["condition"]
    with_one = first.table({"item": items, "condition": conditions})
    without = second.table({"item": items, "condition": [BASELINE]})
    beside = np.repeat(without, len(conditions), axis=1)
    return scored.compare.crossed(says, with_one, beside, shared="both")


OVER = "conditions and items, each condition with some of them"
HOW = f"interval and p: answers clustered by condition and item; interval over {OVER}"
WAYS = ("conditions", "items")
KEYS = ("condition", "item")


def nested_sets(says: Contrast, sides: Sequence[pl.DataFrame]) -> Estimate:
    """Test the mean of one side's conditions minus that of the other's, each with some items.

    An item may be in both. So may a condition, asked in two presentations: it counts once in n.
    """
    cells = [_nested_cells(side) for side in sides]
    samples = apart(*(_of_conditions(side) for side in cells))
    both = pl.concat(cells)
    about = samples.estimate(contrast=says.text, method=HOW, reason=samples.absence)
    about = replace(about, n=both["condition"].n_unique())
    signs = np.repeat([1.0, -1.0], [len(side) for side in cells])
    # Regressed on the sign, the answers have half the difference as its coefficient.
    tested = _nested_test(about, both, both["value"].to_numpy() * signs, signs=signs)
    if tested.p is None or tested.low is None or tested.high is None:
        return tested
    twice = {name: 2 * getattr(tested, name) for name in ("difference", "low", "high", "error")}
    return replace(tested, **twice)


def nested_pairs(says: Contrast, sides: Sequence[pl.DataFrame]) -> Estimate:
    """Test the mean difference of two sides that were asked the same of the same conditions."""
    first, second = (_nested_cells(side) for side in sides)
    cells = first.join(second.drop("weight"), on=KEYS, suffix="_second").sort(KEYS)
    values = pl.col("value") - pl.col("value_second")
    samples = in_pairs(_of_conditions(cells), _of_conditions(cells, "value_second"))
    about = samples.estimate(contrast=says.text, method=HOW, reason=samples.absence)
    return _nested_test(about, cells, cells.select(values).to_series().to_numpy())


def _nested_test(
    about: Estimate,
    cells: pl.DataFrame,
    values: NDArray[np.float64],
    *,
    signs: NDArray[np.float64] | None = None,
) -> Estimate:
    tested = clustered_t(
        about,
        values,
        [cells[key].to_list() for key in KEYS],
        signs=signs,
        weights=cells["weight"].to_numpy(),
        called=WAYS,
    )
    over = None if tested.low is None else OVER
    return replace(tested, unit="conditions", interval_over=over)


def _nested_cells(rows: pl.DataFrame) -> pl.DataFrame:
    """Return of each condition and item the mean, with a weight by which conditions count alike."""
    means = rows.group_by(KEYS).agg(pl.col("value").mean()).drop_nulls("value").sort(KEYS)
    return means.with_columns(weight=1 / pl.len().over("condition"))


def _of_conditions(cells: pl.DataFrame, name: str = "value") -> list[float | None]:
    means = cells.group_by("condition", maintain_order=True).agg(pl.col(name).mean())
    return means[name].to_list()
