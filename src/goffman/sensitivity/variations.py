"""Main results made again: one thing left out, a parameter set otherwise, or in other wordings.

A parameter needs the stored answers, and a paraphrase its own; all else is made again from the
scores of prompts. The headline itself is of the instrument's own wordings, whether or not
paraphrases were asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goffman.contrasts.designs import (
    FACTOR_COLUMNS,
    NESTED,
    Clusters,
    Contrast,
    clusters_of,
    crossed,
    cube,
    in_order,
)
from goffman.contrasts.engine import PRIMARY, MeasuredInstrument
from goffman.contrasts.verdict import PRESENT_WORDS, verdict
from goffman.instruments.paraphrases import OWN_PAIRS
from goffman.instruments.types import BASELINE
from goffman.measures.responses import answers_to
from goffman.modes import asked_id, of_asked
from goffman.runs.manifest import read_manifest
from goffman.runs.run import PARAPHRASES
from goffman.schemas import (
    CONTRASTS,
    PARAMETER,
    PARAPHRASE_ALONE,
    SENSITIVITY,
    WITH_PARAPHRASES,
    WORDING_ALONE,
    schema,
)
from goffman.scoring import answers_of, measures_of, prompts_scored

if TYPE_CHECKING:
    from goffman.contrasts.engine import ContrastSpec
    from goffman.lexicons.lexicons import Lexicons
    from goffman.measures.base import Measure
    from goffman.runs.manifest import Manifest
    from goffman.stats.estimate import Estimate

SENSITIVITY_FILE = "sensitivity.parquet"

FEWEST = 3
"""So many levels a factor must have: of two, leaving one out would be another test, in which the
other one is taken as given."""

CELL = ("item", "condition", "form")
"""What a prompt asks about, whatever its wording."""

_SAME = ("variant", "model", "group", "dimension", "first", "second")
"""What a contrast made again has in common with the headline; one specification is of one kind."""


def sensitivity_table(
    run: Path,
    manifest: Manifest,
    words: Lexicons,
    *,
    scores: pl.DataFrame,
    estimates: pl.DataFrame,
    wordings: Mapping[str, Sequence[str]],
    sharing: Mapping[str, Clusters],
) -> pl.DataFrame:
    """Return SENSITIVITY of each headline: one thing left out, a parameter, other wordings."""
    paraphrases = Paraphrases.beside(run, words)
    rows: list[dict[str, Any]] = []
    for headline, mine in headlines_of(estimates, measures_of(manifest), scores, wordings, sharing):
        if headline.row["low"] is not None:
            rows += headline.without_each(mine)
            asked, model = asked_id(headline.row), headline.row["model"]
            for parameter, other in headline.measure.alternatives.items():
                each = prompts_scored(run, manifest, words, asked, other, model=model)
                estimate = headline.recompute(headline.select_scores(each))
                rows.append(headline.as_row(PARAMETER, parameter, estimate))
        rows += headline.by_wording(mine, [*paraphrases.scores(headline)] if paraphrases else [])
    return pl.DataFrame(rows, schema=schema(SENSITIVITY))


def headlines_of(
    estimates: pl.DataFrame,
    measures: Mapping[str, Measure],
    scores: pl.DataFrame,
    wordings: Mapping[str, Sequence[str]],
    sharing: Mapping[str, Clusters],
) -> Iterator[tuple[Headline, pl.DataFrame]]:
    """Yield the main results that can be made again, each with its scores of prompts.

    All but the estimates are by instrument.
    """
    # Put apart once: with many models, each headline would else look through the scores of all.
    whose = ["instrument", "mode", "model"]
    apart = scores.filter(pl.col("level") == "prompt").partition_by(whose, as_dict=True)
    for row in estimates.filter(pl.col("family") == PRIMARY).iter_rows(named=True):
        key = asked_id(row)
        headline = Headline(
            row=row,
            measure=measures[key],
            wordings=wordings[key],
            sharing=sharing.get(key, Clusters()),
        )
        if headline.contrast is not None:
            mine = apart.get((row["instrument"], row["mode"], row["model"]), scores.clear())
            yield headline, headline.select_scores(mine)


@dataclass(frozen=True, kw_only=True)
class Paraphrases:
    """The paraphrases that were asked: a run within the run, and what its words mean."""

    folder: Path
    manifest: Manifest
    words: Lexicons

    @staticmethod
    def beside(run: Path, words: Lexicons) -> Paraphrases | None:
        """Return those of a run; None: none were asked."""
        manifest = read_manifest(run / PARAPHRASES)
        if manifest is None:
            return None
        return Paraphrases(folder=run / PARAPHRASES, manifest=manifest, words=words)

    def answered(self, headline: Headline) -> tuple[pl.DataFrame, pl.DataFrame, bool] | None:
        """Return those of a headline, the answers, and whether words have case; None: none."""
        instrument, model = asked_id(headline.row), headline.row["model"]
        known = self.manifest.answers.get(model, {}).get(instrument)
        if known is None or known.parts is None:
            return None
        found = answers_of(self.folder, self.manifest, instrument, headline.measure, model=model)
        return found if found[1].height else None

    def scores(self, headline: Headline) -> Iterator[tuple[str, pl.DataFrame, Clusters]]:
        """Yield by paraphrase the scores of prompts that the headline would be made from.

        Beside them stands what the prompts share, which may be a family with the instrument's own.
        """
        measure, found = headline.measure, self.answered(headline)
        if found is None:
            return
        asked, answers, cased = found
        for name in asked["paraphrase"].drop_nulls().unique(maintain_order=True):
            own = asked.filter(pl.col("paraphrase") == name)
            said = measure.code_responses(answers_to(own, answers), own, self.words, cased=cased)
            scores = headline.select_scores(measure.score_prompts(said, own))
            yield str(name), scores, clusters_of(own)


@dataclass(frozen=True, kw_only=True)
class Headline:
    """One headline, and what its contrast is made again with."""

    row: Mapping[str, Any]
    """Of the estimates: the headline."""
    measure: Measure
    wordings: Sequence[str]
    sharing: Clusters

    @cached_property
    def contrast(self) -> tuple[str, ContrastSpec] | None:
        """The number, and the contrast, that the headline was made with."""
        for quantity, makes in self.measure.contrasts:
            for make in makes:
                about = make.kind, make.quantity or quantity
                if about == (self.row["kind"], self.row["quantity"]):
                    return quantity, make
        return None

    def without_each(self, mine: pl.DataFrame) -> Iterator[dict[str, Any]]:
        """Yield a row for each item, wording, condition, category … that is left out."""
        assert self.contrast is not None  # noqa: S101 - of others nothing is made again
        # What has no such number, or is all that there is of a side, cannot be left out.
        counted = mine.filter(pl.col("quantity") == self.contrast[0])
        tables = self._tables(counted)
        if tables is not None and tables("condition", None) != self.recompute(mine):
            # Whether it is such a contrast is tried: the same number must come out.
            tables = None
        for way, levels in self._factors(counted if counted.height else mine).items():
            for what, gone in levels.items():
                if tables is None:
                    estimate = self.recompute(mine.filter(~gone))
                else:
                    estimate = tables(way, what)
                yield self.as_row(way, what, estimate)

    def select_scores(self, scores: pl.DataFrame) -> pl.DataFrame:
        """Return the scores of prompts that it is made from; subscales are no matter here."""
        row = self.row
        rows = scores.filter(
            of_asked(asked_id(row)),
            pl.col("level") == "prompt",
            pl.col("model") == row["model"],
            pl.col("variant").eq_missing(pl.lit(row["variant"])),
        )
        return self.asked(rows).with_columns(dimension=pl.lit(None, dtype=pl.String))

    def asked(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the prompts, or scores of them, that the headline is about."""
        row = self.row
        if row["group"] is not None:
            rows = rows.filter(pl.col("group") == row["group"])
        if row["kind"] == "level":
            return rows.filter(pl.col("condition") == BASELINE)
        if row["kind"] == "groups" and self.measure.unit == "condition":
            return rows.filter(pl.col("group").is_in([row["first"], row["second"]]))
        return rows

    def _tables(self, rows: pl.DataFrame) -> Callable[[str, str | None], Estimate] | None:
        """Return what gives a contrast of two groups without a condition, category, item, wording.

        To leave something out of tables is to leave out a row, a column or a layer: a hundred times
        as fast as to make them anew. None: a value is missing somewhere.
        """
        if self.row["kind"] != "groups" or self.sharing.ways:
            return None
        says = Contrast(**{name: self.row[name] for name in schema(CONTRASTS).names()})
        asked = rows.select("condition", "form", "item", "wording")
        forms = asked.select("condition", "form").n_unique()
        every = forms * asked["item"].n_unique() * asked["wording"].n_unique()
        # Each form of each condition must have been asked every item in every wording, once.
        if rows["value"].null_count() or not asked.height == every == asked.n_unique():
            return None
        rows = rows.with_columns(
            pl.col("wording").replace(self.sharing.families),
            pl.col("category").fill_null(pl.col("condition")),
        )
        sides = [rows.filter(pl.col("group") == group) for group in (says.first, says.second)]
        ids = [{way: in_order(side, way) for way in FACTOR_COLUMNS} for side in sides]
        if any(ids[0][way] != ids[1][way] for way in ("item", "wording")):
            return None
        tables = [cube(side, names) for side, names in zip(sides, ids, strict=True)]
        category = dict(rows.select("condition", "category").unique().rows())

        def without(way: str, what: str | None) -> Estimate:
            axis = FACTOR_COLUMNS.index("condition" if way == "category" else way)
            kept, clusters = [], []
            for names, table in zip(ids, tables, strict=True):
                levels, conditions = names[FACTOR_COLUMNS[axis]], names["condition"]
                of = [category[name] for name in levels] if way == "category" else levels
                there = [name != what for name in of]
                kept.append(np.compress(there, table, axis=axis))
                left = conditions if axis else [*compress(conditions, there)]
                clusters.append([category[name] for name in left])
            return crossed(says, kept, clusters, paired=False)

        return without

    def _factors(self, mine: pl.DataFrame) -> dict[str, dict[str, pl.Expr]]:
        """Return by way what can be left out, and which rows go with it."""
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
            keys = {way: pl.col(way) for way in (*FACTOR_COLUMNS, "category")}
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

    def by_wording(
        self, mine: pl.DataFrame, paraphrases: Sequence[tuple[str, pl.DataFrame, Clusters]]
    ) -> Iterator[dict[str, Any]]:
        """Yield a row for each wording alone, for each paraphrase, and for all together."""
        of_pairs = bool(self.sharing.ways)
        own = {OWN_PAIRS: mine}
        if not of_pairs:
            own = {name: mine.filter(pl.col("wording") == name) for name in self.wordings}
            own = {name: rows for name, rows in own.items() if rows.height}
        further = {name: rows for name, rows, _ in paraphrases if rows.height}
        turning = _in_turn(own) or _in_turn(further)
        same = _cells([*own.values()]) == _cells([*further.values()])
        alone = [(WORDING_ALONE, own), (PARAPHRASE_ALONE, further if same else {})]
        for variation, by_name in [] if turning else alone:
            for name, rows in by_name.items():
                of = self if of_pairs else replace(self, wordings=[name])
                yield self.as_row(variation, name, of.recompute(rows))
        if not further:
            return
        if not same:
            reason = "the paraphrases were not asked of the same items and conditions"
            yield self.as_row(WITH_PARAPHRASES, "", None) | {"reason": reason}
            return
        every, names = pl.concat([*own.values(), *further.values()]), [*self.wordings, *further]
        if of_pairs:
            keys = ["quantity", "variant", "wording", "item", "condition", "trial"]
            means = every.group_by(keys, maintain_order=True).agg(
                pl.col("value").mean(), pl.exclude(*keys, "value").first()
            )
            every = means.select(every.columns)
        elif turning or self.row["kind"] == "genders":
            # One wording or another was asked, or it is of the first: together they are one.
            every, names = every.with_columns(wording=pl.lit(NESTED)), [NESTED]
        families = self.sharing.families.copy()
        for _, _, sharing in paraphrases:
            families |= sharing.families
        together = replace(self, wordings=names, sharing=replace(self.sharing, families=families))
        yield self.as_row(WITH_PARAPHRASES, "", together.recompute(every))

    def recompute(self, mine: pl.DataFrame, quantity: str | None = None) -> Estimate | None:
        """Return the contrast made of other scores, or of another number; None: nothing is left."""
        assert self.contrast is not None  # noqa: S101 - of others nothing is made again
        own, make = self.contrast
        of = MeasuredInstrument(
            id=asked_id(self.row),
            measure=self.measure,
            wordings=self.wordings,
            sharing=self.sharing,
        )
        for contrast, estimate in make(of.score_table(mine, quantity or own)):
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


def _cells(tables: Sequence[pl.DataFrame]) -> set[tuple[Any, ...]]:
    return {*pl.concat(tables).select(CELL).unique().iter_rows()} if tables else set()


def _in_turn(by: Mapping[str, pl.DataFrame]) -> bool:
    """Return whether questions were asked in one wording or another: then none can be compared."""
    cells = [_cells([one]) for one in by.values()]
    return len(cells) > 1 and sum(map(len, cells)) == len(set().union(*cells))
