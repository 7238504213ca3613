"""Main results with one thing left out, or a parameter set otherwise: how far each moves them.

A parameter needs the stored answers; all else is made again from the scores of prompts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goffman.contrasts.engine import Contrast, crossed
from goffman.contrasts.scores import Clusters, cube, in_order
from goffman.contrasts.verdict import PRESENT_WORDS, verdict
from goffman.estimates import PRIMARY, scored_by
from goffman.instruments.types import BASELINE, asked_as
from goffman.modes import asked_id, of_asked
from goffman.schemas import CONTRASTS, PARAMETER, SENSITIVITY, schema
from goffman.scoring import measures_of, prompts_scored

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.contrasts.spec import ContrastSpec
    from goffman.lexicons.lexicons import Lexicons
    from goffman.measures.base import Measure
    from goffman.runs.manifest import Manifest
    from goffman.stats.estimate import Estimate

WAYS = ("condition", "item", "wording")


@dataclass(frozen=True, kw_only=True)
class TwoTables:
    """Two groups of conditions: their values by condition, item and wording, without a gap.

    To leave something out is to leave out a row, a column or a layer: a hundred times as fast as to
    make the tables anew.
    """

    says: Contrast
    ids: Sequence[dict[str, list[str]]]
    """Of each table, in the order of its axes."""
    tables: Sequence[NDArray[np.float64]]
    categories: Mapping[str, str]
    """By condition; one that has none is its own."""

    def without(self, way: str = "condition", what: str | None = None) -> Estimate:
        """Return the contrast without one condition, category, item or wording; or of all."""
        gone = {what}
        if way == "category":
            gone = {name for name, category in self.categories.items() if category == what}
        axis = WAYS.index("condition" if way == "category" else way)
        kept, clusters = [], []
        for ids, table in zip(self.ids, self.tables, strict=True):
            there = [name not in gone for name in ids[WAYS[axis]]]
            kept.append(np.compress(there, table, axis=axis))
            left = ids["condition"] if axis else [*compress(ids["condition"], there)]
            clusters.append([self.categories[name] for name in left])
        return crossed(self.says, kept, clusters, paired=False)


def two_tables(
    rows: pl.DataFrame, quantity: str, says: Contrast, families: Mapping[str, str]
) -> TwoTables | None:
    """Return the tables of one model's scores of prompts; None: a value is missing somewhere."""
    rows = rows.filter(pl.col("quantity") == quantity)
    asked = rows.select("condition", "form", "item", "wording")
    forms = asked.select("condition", "form").n_unique()
    every = forms * asked["item"].n_unique() * asked["wording"].n_unique()
    # Each form of each condition must have been asked every item in every wording, once.
    if rows["value"].null_count() or not asked.height == every == asked.n_unique():
        return None
    if families:
        rows = rows.with_columns(pl.col("wording").replace(families))
    sides = [rows.filter(pl.col("group") == group) for group in (says.first, says.second)]
    ids = [{way: in_order(side, way) for way in WAYS} for side in sides]
    tables = [cube(side, names) for side, names in zip(sides, ids, strict=True)]
    if any(ids[0][way] != ids[1][way] for way in ("item", "wording")):
        return None
    of = rows.select("condition", pl.col("category").fill_null(pl.col("condition"))).unique()
    return TwoTables(says=says, ids=ids, tables=tables, categories=dict(of.rows()))


SENSITIVITY_FILE = "sensitivity.parquet"

FEWEST = 3
"""So many levels a factor must have: of two, leaving one out would be another test, in which the
other one is taken as given."""

_SAME = ("variant", "model", "group", "dimension", "first", "second")
"""What a contrast made again has in common with the headline; one specification is of one kind."""


def leave_one_out(
    run: Path,
    manifest: Manifest,
    words: Lexicons,
    *,
    scores: pl.DataFrame,
    estimates: pl.DataFrame,
    wordings: Mapping[str, Sequence[str]],
    sharing: Mapping[str, Clusters],
) -> pl.DataFrame:
    """Return SENSITIVITY of each contrast that is checked: one thing left out, or a parameter."""
    measures = measures_of(manifest)
    scored = prompts_by_model(scores)
    variations: list[dict[str, Any]] = []
    main = estimates.filter(pl.col("family") == PRIMARY, pl.col("low").is_not_null())
    by_model = main.partition_by("instrument", "mode", "model", as_dict=True, maintain_order=True)
    for (base, mode, model), rows in by_model.items():
        instrument = asked_as(base, mode)
        headlines = list(headlines_of(rows, measures, wordings, sharing))
        for headline in headlines:
            variations += headline.without_each(scored(headline.row))
        for parameter, other in measures[instrument].alternatives.items():
            each = prompts_scored(run, manifest, words, instrument, other, model=model)
            for headline in headlines:
                mine = headline.select_scores(each)
                if (made := headline.find_contrast()) is not None:
                    estimate = headline.recompute(made, mine)
                    variations.append(headline.as_row(PARAMETER, parameter, estimate))
    return pl.DataFrame(variations, schema=schema(SENSITIVITY))


def prompts_by_model(scores: pl.DataFrame) -> Callable[[Mapping[str, Any]], pl.DataFrame]:
    """What gives the scores of prompts that are a headline's model's and instrument's."""
    # Put apart once: with many models, each headline would else look through the scores of all.
    prompts = scores.filter(pl.col("level") == "prompt")
    apart = prompts.partition_by("instrument", "mode", "model", as_dict=True)

    def of(row: Mapping[str, Any]) -> pl.DataFrame:
        return apart.get((row["instrument"], row["mode"], row["model"]), prompts.clear())

    return of


def headlines_of(
    primary: pl.DataFrame,
    measures: Mapping[str, Measure],
    wordings: Mapping[str, Sequence[str]],
    sharing: Mapping[str, Clusters],
) -> Iterator[Headline]:
    """Yield the main results of a run, each with what it can be made again from."""
    for row in primary.iter_rows(named=True):
        key = asked_id(row)
        shared = sharing.get(key, Clusters())
        yield Headline(row=row, measure=measures[key], wordings=wordings[key], sharing=shared)


@dataclass(frozen=True, kw_only=True)
class Headline:
    """One headline, and what its contrast is made again with."""

    row: Mapping[str, Any]
    """Of the estimates: the headline."""
    measure: Measure
    wordings: Sequence[str]
    sharing: Clusters

    def without_each(self, scores: pl.DataFrame) -> Iterator[dict[str, Any]]:
        """Yield a row for each item, wording, condition, category … that is left out."""
        mine = self.select_scores(scores)
        made = self.find_contrast()
        if made is None:
            return
        # What has no such number, or is all that there is of a side, cannot be left out.
        counted = mine.filter(pl.col("quantity") == made[0])
        tables = self._tables(made, mine)
        for way, levels in self._factors(counted if counted.height else mine).items():
            for what, gone in levels.items():
                estimate = (
                    self.recompute(made, mine.filter(~gone))
                    if tables is None
                    else tables.without(way, what)
                )
                yield self.as_row(way, what, estimate)

    def select_scores(self, scores: pl.DataFrame) -> pl.DataFrame:
        """The scores of prompts that the headline is made from; subscales are no matter here."""
        row = self.row
        rows = scores.filter(
            of_asked(asked_id(row)),
            pl.col("level") == "prompt",
            pl.col("model") == row["model"],
            pl.col("variant").eq_missing(pl.lit(row["variant"])),
        )
        return self.asked(rows).with_columns(dimension=pl.lit(None, dtype=pl.String))

    def asked(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The prompts, or scores of them, that the headline is about."""
        row = self.row
        if row["group"] is not None:
            rows = rows.filter(pl.col("group") == row["group"])
        if row["kind"] == "level":
            return rows.filter(pl.col("condition") == BASELINE)
        if row["kind"] == "groups" and self.measure.unit == "condition":
            return rows.filter(pl.col("group").is_in([row["first"], row["second"]]))
        return rows

    def find_contrast(self) -> tuple[str, ContrastSpec] | None:
        """Return the number, and the contrast, that the headline was made with."""
        for quantity, makes in self.measure.contrasts:
            for make in makes:
                about = make.kind, make.quantity or quantity
                if about == (self.row["kind"], self.row["quantity"]):
                    return quantity, make
        return None

    def _tables(self, made: tuple[str, ContrastSpec], mine: pl.DataFrame) -> TwoTables | None:
        """What a headline of two groups is made from, as tables; None: it must be made anew.

        Whether it is such a contrast is tried: of the whole tables, the same number must come out.
        """
        if self.row["kind"] != "groups" or self.sharing.ways:
            return None
        says = Contrast(**{name: self.row[name] for name in schema(CONTRASTS).names()})
        tables = two_tables(mine, made[0], says, self.sharing.families)
        same = tables is not None and tables.without() == self.recompute(made, mine)
        return tables if same else None

    def _factors(self, mine: pl.DataFrame) -> dict[str, dict[str, pl.Expr]]:
        """By way: what can be left out, and which rows go with it."""
        factors: dict[str, dict[str, pl.Expr]] = {}
        if self.sharing.ways:
            # Of sentence pairs: every frame, and every occupation that a pronoun refers to.
            for place, way in enumerate(("frame", "occupation")):
                pairs: dict[str, list[str]] = {}
                for item in in_order(mine, "item"):
                    if item in self.sharing.ways:
                        pairs.setdefault(self.sharing.ways[item][place], []).append(item)
                factors[way] = {
                    what: pl.col("item").is_in(gone) for what, gone in sorted(pairs.items())
                }
        else:
            keys = {way: pl.col(way) for way in (*WAYS, "category")}
            keys["wording"] = keys["wording"].replace(self.sharing.families)
            for way, key in keys.items():
                names = in_order(mine.select(key.alias(way)), way)
                factors[way] = {name: key == name for name in names}
            # Of a side that has three, two would be left: no sample, and so another test.
            least = FEWEST if self.row["kind"] == "groups" else 1
            for way, few in (("category", FEWEST - 1), ("condition", least)):
                sides = mine.group_by("group").agg(pl.col(way).drop_nulls().unique())
                for name in sides.filter(pl.col(way).list.len() <= few)[way].explode():
                    factors[way].pop(name, None)
            # Where conditions were asked in turn in one wording or another, leaving out a wording
            # leaves out conditions, and what remains is a test of another kind.
            of_each = mine.group_by("condition").agg(pl.col("wording").n_unique())["wording"]
            if of_each.len() and min(of_each) < len(factors["wording"]):
                del factors["wording"]
        return {way: levels for way, levels in factors.items() if len(levels) >= FEWEST}

    def recompute(self, made: tuple[str, ContrastSpec], mine: pl.DataFrame) -> Estimate | None:
        """The contrast made of other scores; None: nothing is left to compare."""
        quantity, make = made
        scored = scored_by(
            mine,
            asked_id(self.row),
            self.measure,
            quantity,
            wordings=self.wordings,
            sharing=self.sharing,
        )
        for contrast, estimate in make(scored):
            if all(getattr(contrast, name) == self.row[name] for name in _SAME):
                return estimate
        return None

    def as_row(self, variation: str, what: str, estimate: Estimate | None) -> dict[str, Any]:
        """Return a row of SENSITIVITY: the estimate with the headline's margin."""
        names = ("instrument", "mode", "measure", "model", "contrast", "kind", "first", "second")
        row = {name: self.row[name] for name in names}
        row |= {"main": self.row["family"] == PRIMARY, "variation": variation, "what": what}
        if estimate is None:
            return row | {"reason": "nothing is left to compare", "holds": False}
        said = verdict(estimate, margin=self.row["margin"])
        numbers = ("difference", "low", "high", "reason")
        row |= {name: getattr(estimate, name) for name in numbers} | {"verdict": said.verdict}
        if estimate.difference is not None:
            of_level = self.row["kind"] == "level"
            row["mean_first"] = estimate.difference if of_level else estimate.mean_first
        return row | {"holds": holds(row, self.row)}


def holds(row: Mapping[str, Any], headline: Mapping[str, Any]) -> bool:
    """Return whether the headline's verdict holds in a variation.

    That there is a difference holds where one is present and points the same way, whatever its
    size; any other verdict where it is the same. What has no interval does not hold.
    """
    if headline["verdict"] not in PRESENT_WORDS:
        verdict = row.get("verdict")
        return verdict is not None and bool(verdict == headline["verdict"])
    same_way = (row.get("difference") or 0.0) * headline["difference"] > 0
    return row.get("verdict") in PRESENT_WORDS and same_way
