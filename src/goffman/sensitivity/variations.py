"""Main results made again: one thing left out, a parameter set otherwise, or in other wordings.

A parameter needs the stored answers, and a paraphrase its own; everything else is made again from
the scores of prompts. The headline itself is of the instrument's own wordings, whether or not
paraphrases were asked.
"""

from __future__ import annotations

from collections import Counter
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
    LOG_LIKELIHOOD,
    NESTED,
    Clusters,
    Contrast,
    clusters_of,
    crossed,
    cube,
    in_order,
)
from goffman.contrasts.engine import PRIMARY, MeasuredInstrument, judged
from goffman.contrasts.verdict import PRESENT_WORDS, verdict
from goffman.instruments.paraphrases import OWN_PAIRS
from goffman.instruments.types import BASELINE
from goffman.lexicons.attitude import BUILT_IN, load_attitudes, no_word
from goffman.measures.responses import PROMPT, answers_to, scores_with, side_by_side, top_fills
from goffman.modes import asked_id, of_asked
from goffman.runs.manifest import read_manifest
from goffman.runs.run import PARAPHRASES, read_answers, read_prompts
from goffman.schemas import (
    CONTRASTS,
    PARAMETER,
    PARAPHRASE_ALONE,
    RATINGS_COMPARED,
    SENSITIVITY,
    WITH_PARAPHRASES,
    WORDING_ALONE,
    schema,
)
from goffman.scoring import answers_of, measures_of, prompts_scored, score

if TYPE_CHECKING:
    from goffman.contrasts.engine import ContrastSpec
    from goffman.lexicons.attitude import Attitudes
    from goffman.lexicons.lexicons import Lexicons
    from goffman.measures.base import Measure
    from goffman.runs.manifest import Manifest
    from goffman.stats.intervals import Estimate


SENSITIVITY_FILE = "sensitivity.parquet"

FEWEST = 3
"""The fewest levels of a factor: leaving one of two out would be another test, in which the
remaining one is taken as given."""

CELL = ("item", "condition", "form")
"""What a prompt asks about, whatever its wording."""

_SAME = ("variant", "model", "group", "dimension", "first", "second")
"""The columns that identify the headline among the contrasts of one specification."""


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
    for headline, prompt_scores in headlines_of(
        estimates, measures_of(manifest), scores, wordings, sharing
    ):
        if headline.row["low"] is not None:
            rows += headline.without_each(prompt_scores)
            instrument, model = asked_id(headline.row), headline.row["model"]
            for parameter, alternative in headline.measure.alternatives.items():
                rescored = prompts_scored(
                    run, manifest, words, instrument, alternative, model=model
                )
                estimate = headline.recompute(headline.select_scores(rescored))
                rows.append(headline.as_row(PARAMETER, parameter, estimate))
        rows += headline.by_wording(
            prompt_scores, [*paraphrases.scores(headline)] if paraphrases else []
        )
    return pl.DataFrame(rows, schema=schema(SENSITIVITY))


def headlines_of(
    estimates: pl.DataFrame,
    measures: Mapping[str, Measure],
    scores: pl.DataFrame,
    wordings: Mapping[str, Sequence[str]],
    sharing: Mapping[str, Clusters],
) -> Iterator[tuple[Headline, pl.DataFrame]]:
    """Yield the main results that can be made again, each with its scores of prompts.

    All arguments but the estimates and scores are by instrument.
    """
    # Split once: else each headline would search the scores of all models.
    keys = ["instrument", "mode", "model"]
    frames = scores.filter(level="prompt").partition_by(keys, as_dict=True)
    for row in estimates.filter(family=PRIMARY).iter_rows(named=True):
        instrument = asked_id(row)
        headline = Headline(
            row=row,
            measure=measures[instrument],
            wordings=wordings[instrument],
            sharing=sharing.get(instrument, Clusters()),
        )
        if headline.contrast is not None:
            prompt_scores = frames.get(
                (row["instrument"], row["mode"], row["model"]), scores.clear()
            )
            yield headline, headline.select_scores(prompt_scores)


@dataclass(frozen=True, kw_only=True)
class Paraphrases:
    """The paraphrases that were asked: a run within the run, and what its words mean."""

    folder: Path
    manifest: Manifest
    words: Lexicons

    @staticmethod
    def beside(run: Path, words: Lexicons) -> Paraphrases | None:
        """Return the paraphrases of a run; None if none were asked."""
        manifest = read_manifest(run / PARAPHRASES)
        if manifest is None:
            return None
        return Paraphrases(folder=run / PARAPHRASES, manifest=manifest, words=words)

    def answered(self, headline: Headline) -> tuple[pl.DataFrame, pl.DataFrame, bool] | None:
        """Return paraphrases, their answers, and whether words have case; None if unanswered."""
        instrument, model = asked_id(headline.row), headline.row["model"]
        entry = self.manifest.answers.get(model, {}).get(instrument)
        if entry is None or entry.parts is None:
            return None
        answered = answers_of(self.folder, self.manifest, instrument, headline.measure, model=model)
        return answered if answered[1].height else None

    def scores(self, headline: Headline) -> Iterator[tuple[str, pl.DataFrame, Clusters]]:
        """Yield for each paraphrase the scores of prompts that the headline would be made from.

        Each comes with what its prompts share, which may be a family with the instrument's own
        wordings.
        """
        measure, answered = headline.measure, self.answered(headline)
        if answered is None:
            return
        prompts, answers, cased = answered
        for paraphrase in prompts["paraphrase"].drop_nulls().unique(maintain_order=True):
            paraphrase_prompts = prompts.filter(paraphrase=paraphrase)
            responses = measure.code_responses(
                answers_to(paraphrase_prompts, answers), paraphrase_prompts, self.words, cased=cased
            )
            scores = headline.select_scores(measure.score_prompts(responses, paraphrase_prompts))
            yield str(paraphrase), scores, clusters_of(paraphrase_prompts)


@dataclass(frozen=True, kw_only=True)
class Headline:
    """One headline, and what its contrast is made again with."""

    row: Mapping[str, Any]
    """The headline's row of the estimates."""
    measure: Measure
    wordings: Sequence[str]
    sharing: Clusters

    @cached_property
    def contrast(self) -> tuple[str, ContrastSpec] | None:
        """Return the number and the contrast that the headline was made with."""
        for quantity, specs in self.measure.contrasts:
            for spec in specs:
                key = spec.kind, spec.quantity or quantity
                if key == (self.row["kind"], self.row["quantity"]):
                    return quantity, spec
        return None

    def without_each(self, mine: pl.DataFrame) -> Iterator[dict[str, Any]]:
        """Yield a row for each item, wording, condition, category … that is left out."""
        assert self.contrast is not None  # noqa: S101 - of others nothing is made again
        # Only prompts with this quantity have levels that can be left out.
        compared = mine.filter(quantity=self.contrast[0])
        tables = self._tables(compared)
        if tables is not None and tables("condition", None) != self.recompute(mine):
            # The fast way is used only if it gives the headline's own number.
            tables = None
        for factor, levels in self._factors(compared if compared.height else mine).items():
            for level, is_level in levels.items():
                if tables is None:
                    estimate = self.recompute(mine.filter(~is_level))
                else:
                    estimate = tables(factor, level)
                yield self.as_row(factor, level, estimate)

    def select_scores(self, scores: pl.DataFrame) -> pl.DataFrame:
        """Return the scores of prompts that the headline is made from; subscales are ignored."""
        row = self.row
        rows = scores.filter(
            of_asked(asked_id(row)),
            pl.col("variant").eq_missing(pl.lit(row["variant"])),
            level="prompt",
            model=row["model"],
        )
        return self.asked(rows).with_columns(dimension=pl.lit(None, dtype=pl.String))

    def asked(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the prompts, or scores of prompts, that the headline is about."""
        row = self.row
        if row["group"] is not None:
            rows = rows.filter(group=row["group"])
        if row["kind"] == "level":
            return rows.filter(condition=BASELINE)
        if row["kind"] == "groups" and self.measure.unit == "condition":
            return rows.filter(pl.col("group").is_in([row["first"], row["second"]]))
        return rows

    def _tables(self, rows: pl.DataFrame) -> Callable[[str, str | None], Estimate] | None:
        """Return a function that makes a contrast of two groups without a level of one factor.

        To leave a level out of tables is to leave out a row, a column or a layer: a hundred times
        as fast as making them anew. The function is None if a value is missing somewhere.
        """
        if self.row["kind"] != "groups" or self.sharing.ways:
            return None
        contrast = Contrast(**{column: self.row[column] for column in schema(CONTRASTS).names()})
        cells = rows.select("condition", "form", "item", "wording")
        forms = cells.select("condition", "form").n_unique()
        total = forms * cells["item"].n_unique() * cells["wording"].n_unique()
        # Each form of each condition must have been asked every item in every wording, once.
        if rows["value"].null_count() or not cells.height == total == cells.n_unique():
            return None
        rows = rows.with_columns(
            pl.col("wording").replace(self.sharing.families),
            pl.col("category").fill_null(pl.col("condition")),
        )
        sides = [rows.filter(group=group) for group in (contrast.first, contrast.second)]
        ids = [{factor: in_order(side, factor) for factor in FACTOR_COLUMNS} for side in sides]
        if any(ids[0][factor] != ids[1][factor] for factor in ("item", "wording")):
            return None
        tables = [cube(side, names) for side, names in zip(sides, ids, strict=True)]
        category = dict(rows.select("condition", "category").unique().rows())

        def without(way: str, what: str | None) -> Estimate:
            axis = FACTOR_COLUMNS.index("condition" if way == "category" else way)
            reduced, clusters = [], []
            for ids_of_side, table in zip(ids, tables, strict=True):
                levels, conditions = ids_of_side[FACTOR_COLUMNS[axis]], ids_of_side["condition"]
                labels = [category[level] for level in levels] if way == "category" else levels
                keep = [label != what for label in labels]
                reduced.append(np.compress(keep, table, axis=axis))
                kept_conditions = conditions if axis else [*compress(conditions, keep)]
                clusters.append([category[condition] for condition in kept_conditions])
            return crossed(contrast, reduced, clusters, paired=False)

        return without

    def _factors(self, mine: pl.DataFrame) -> dict[str, dict[str, pl.Expr]]:
        """Return by factor the levels that can be left out, each with the rows that go with it."""
        factors: dict[str, dict[str, pl.Expr]] = {}
        if self.sharing.ways:
            # Of sentence pairs: every frame, and every occupation that a pronoun refers to.
            for position, factor in enumerate(("frame", "occupation")):
                pairs: dict[str, list[str]] = {}
                for item in in_order(mine, "item"):
                    if item in self.sharing.ways:
                        pairs.setdefault(self.sharing.ways[item][position], []).append(item)
                factors[factor] = {
                    level: pl.col("item").is_in(items) for level, items in sorted(pairs.items())
                }
        else:
            keys = {factor: pl.col(factor) for factor in (*FACTOR_COLUMNS, "category")}
            keys["wording"] = keys["wording"].replace(self.sharing.families)
            for factor, column in keys.items():
                levels = in_order(mine.select(column.alias(factor)), factor)
                factors[factor] = {level: column == level for level in levels}
            # Of a side that has three, two would be left: no sample, and so another test.
            smallest = FEWEST if self.row["kind"] == "groups" else 1
            for factor, limit in (("category", FEWEST - 1), ("condition", smallest)):
                sides = mine.group_by("group").agg(pl.col(factor).drop_nulls().unique())
                for level in sides.filter(pl.col(factor).list.len() <= limit)[factor].explode():
                    factors[factor].pop(level, None)
            # Where conditions were asked in turn in one wording or another, leaving out a wording
            # leaves out conditions, and what remains is a test of another kind.
            n_wordings = mine.group_by("condition").agg(pl.col("wording").n_unique())["wording"]
            if n_wordings.len() and min(n_wordings) < len(factors["wording"]):
                del factors["wording"]
        return {factor: levels for factor, levels in factors.items() if len(levels) >= FEWEST}

    def by_wording(
        self, mine: pl.DataFrame, paraphrases: Sequence[tuple[str, pl.DataFrame, Clusters]]
    ) -> Iterator[dict[str, Any]]:
        """Yield a row for each wording alone, for each paraphrase, and for all together."""
        of_pairs = bool(self.sharing.ways)
        own_rows = {OWN_PAIRS: mine}
        if not of_pairs:
            own_rows = {wording: mine.filter(wording=wording) for wording in self.wordings}
            own_rows = {wording: rows for wording, rows in own_rows.items() if rows.height}
        paraphrase_rows = {wording: rows for wording, rows, _ in paraphrases if rows.height}
        in_turn = _in_turn(own_rows) or _in_turn(paraphrase_rows)
        same_cells = _cells([*own_rows.values()]) == _cells([*paraphrase_rows.values()])
        variations = [
            (WORDING_ALONE, own_rows),
            (PARAPHRASE_ALONE, paraphrase_rows if same_cells else {}),
        ]
        for variation, rows_by_wording in [] if in_turn else variations:
            for wording, rows in rows_by_wording.items():
                headline = self if of_pairs else replace(self, wordings=[wording])
                yield self.as_row(variation, wording, headline.recompute(rows))
        if not paraphrase_rows:
            return
        if not same_cells:
            reason = "the paraphrases were not asked of the same items and conditions"
            yield self.as_row(WITH_PARAPHRASES, "", None) | {"reason": reason}
            return
        all_rows, wordings = (
            pl.concat([*own_rows.values(), *paraphrase_rows.values()]),
            [*self.wordings, *paraphrase_rows],
        )
        if of_pairs:
            keys = ["quantity", "variant", "wording", "item", "condition", "trial"]
            means = all_rows.group_by(keys, maintain_order=True).agg(
                pl.col("value").mean(), pl.exclude(*keys, "value").first()
            )
            all_rows = means.select(all_rows.columns)
        elif in_turn or self.row["kind"] == "genders":
            # One wording of each condition or question counts here, so the wordings are one.
            all_rows, wordings = all_rows.with_columns(wording=pl.lit(NESTED)), [NESTED]
        families = self.sharing.families.copy()
        for _, _, sharing in paraphrases:
            families |= sharing.families
        combined = replace(
            self, wordings=wordings, sharing=replace(self.sharing, families=families)
        )
        yield self.as_row(WITH_PARAPHRASES, "", combined.recompute(all_rows))

    def recompute(self, mine: pl.DataFrame, quantity: str | None = None) -> Estimate | None:
        """Return the contrast of other scores, or of another number; None if nothing is left."""
        assert self.contrast is not None  # noqa: S101 - of others nothing is made again
        own_quantity, spec = self.contrast
        measured = MeasuredInstrument(
            id=asked_id(self.row),
            measure=self.measure,
            wordings=self.wordings,
            sharing=self.sharing,
        )
        for contrast, estimate in spec(measured.score_table(mine, quantity or own_quantity)):
            if all(getattr(contrast, column) == self.row[column] for column in _SAME):
                return estimate
        return None

    def as_row(self, variation: str, what: str, estimate: Estimate | None) -> dict[str, Any]:
        """Return a row of SENSITIVITY: the estimate with the headline's margin."""
        columns = ("instrument", "mode", "measure", "model", "contrast", "kind", "first", "second")
        row = {column: self.row[column] for column in columns}
        row |= {"main": self.row["family"] == PRIMARY, "variation": variation, "what": what}
        if estimate is None:
            return row | {"reason": "nothing is left to compare", "holds": False}
        judgment = verdict(estimate, margin=self.row["margin"])
        fields = ("difference", "low", "high", "reason")
        row |= {column: getattr(estimate, column) for column in fields} | {
            "verdict": judgment.verdict
        }
        if estimate.difference is not None:
            is_level = self.row["kind"] == "level"
            row["mean_first"] = estimate.difference if is_level else estimate.mean_first
        return row | {"holds": holds(row, self.row)}


def holds(row: Mapping[str, Any], headline: Mapping[str, Any]) -> bool:
    """Return whether the headline's verdict holds in a variation.

    A verdict that there is a difference holds if one is present and points the same way, whatever
    its size; any other verdict holds if it is the same. Without an interval no verdict holds.
    """
    if headline["verdict"] not in PRESENT_WORDS:
        verdict = row.get("verdict")
        return verdict is not None and bool(verdict == headline["verdict"])
    same_way = (row.get("difference") or 0.0) * headline["difference"] > 0
    return row.get("verdict") in PRESENT_WORDS and same_way


def _cells(tables: Sequence[pl.DataFrame]) -> set[tuple[Any, ...]]:
    return {*pl.concat(tables).select(CELL).unique().iter_rows()} if tables else set()


def _in_turn(by: Mapping[str, pl.DataFrame]) -> bool:
    """Return whether each question was asked in one wording only: then none can be compared."""
    cells = [_cells([frame]) for frame in by.values()]
    return len(cells) > 1 and sum(map(len, cells)) == len(set().union(*cells))


SHIPPED_SCORES = "scores-shipped.parquet"
COMPARED = "ratings-compared.parquet"

_ABOUT = [column.name for column in CONTRASTS]
_ONE_SIDED = "one of the two ratings gives no value"


def by_ratings(
    run: Path,
    manifest: Manifest,
    words: Lexicons,
    *,
    scores: pl.DataFrame,
    estimates: pl.DataFrame,
    wordings: Mapping[str, Sequence[str]],
    sharing: Mapping[str, Clusters],
) -> dict[str, pl.DataFrame]:
    """Return by file the SCORES by the shipped ratings alone, and RATINGS_COMPARED.

    They cover the instruments that depend on ratings. There are none if ratings of only one kind
    are used, shipped or the user's. ``scores`` and ``estimates`` use the user's ratings over the
    shipped ones.
    """
    sources = [Path(source.file) for source in words.attitudes.sources]
    files = [path for path in sources if str(path) not in BUILT_IN]
    run_measures = measures_of(manifest).items()
    measures = {
        instrument: measure for instrument, measure in run_measures if measure.words == "attitudes"
    }
    if not files or len(files) == len(sources) or not measures:
        return {}
    user_ratings = load_attitudes(files, shipped=False)
    instruments = {
        instrument: entry
        for instrument, entry in manifest.instruments.items()
        if instrument in measures
    }
    shipped_words = replace(
        words, attitudes=load_attitudes([path for path in sources if path not in files])
    )
    shipped = score(run, replace(manifest, instruments=instruments), shipped_words)
    tables = [pl.DataFrame(schema=schema(RATINGS_COMPARED))]
    for instrument, measure in measures.items():
        sides = [table.filter(of_asked(instrument)) for table in (shipped, scores, estimates)]
        prompts = read_prompts(run, manifest).filter(of_asked(instrument))
        models = sides[0]["model"].drop_nulls().unique().to_list()
        shares = _shares(run, prompts, models, user_ratings, top_k=measure.counted_words)
        measured = MeasuredInstrument(
            id=instrument,
            measure=measure,
            wordings=wordings.get(instrument, ()),
            sharing=sharing.get(instrument, Clusters()),
        )
        tables.append(_compared(measured, *sides, user_shares=shares))
    return {SHIPPED_SCORES: shipped, COMPARED: pl.concat(tables)}


def _shares(
    run: Path,
    prompts: pl.DataFrame,
    models: Sequence[str],
    own_ratings: Attitudes,
    *,
    top_k: int | None,
) -> dict[str | None, float | None]:
    """Return model (None: all) → the share of its words' probability that own ratings cover."""
    instrument = asked_id(prompts.row(0, named=True)) if prompts.height else ""
    sums: dict[str | None, tuple[float, float]] = {}
    for model in models:
        answers = read_answers(run, "fills", model=model, instrument=instrument)
        # Control items are left out.
        answers = answers.join(prompts.select("prompt_id"), on="prompt_id", how="semi")
        fills = own_ratings.label(top_fills(answers, top_k=top_k), prompts)
        distinct_words = fills["word"].unique()
        non_words = distinct_words.filter([no_word(word) for word in distinct_words]).to_list()
        words = fills.filter(~pl.col("word").is_in(non_words))
        totals = (
            frame["probability"].cast(pl.Float64).sum() for frame in (words.filter("rated"), words)
        )
        sums[model] = (float(next(totals)), float(next(totals)))
    sums[None] = (
        sum(rated for rated, _ in sums.values()),
        sum(total for _, total in sums.values()),
    )
    return {model: rated / total if total else None for model, (rated, total) in sums.items()}


def _compared(
    of: MeasuredInstrument,
    shipped: pl.DataFrame,
    scores: pl.DataFrame,
    estimates: pl.DataFrame,
    *,
    user_shares: Mapping[str | None, float | None],
) -> pl.DataFrame:
    """Return RATINGS_COMPARED: each main contrast by either set of ratings, and its change.

    Both numbers share their answers: their intervals may overlap although the change is certain.
    """
    measure, main = of.measure, of.measure.presentation.main

    def contrasts_of(rows: pl.DataFrame) -> pl.DataFrame:
        return judged([*of.contrasts(rows, main)], {of.id: measure})

    # The user's ratings may not distinguish kinds of negative words.
    shipped = shipped.filter(pl.col("quantity").is_in(scores["quantity"].unique().implode()))
    is_prompt = pl.col("level") == "prompt"
    joined = side_by_side(
        shipped.filter(is_prompt), scores.filter(is_prompt), on=("model", *PROMPT)
    )
    changes = scores_with(
        joined, pl.col("now") - pl.col("before"), model=pl.col("model"), one_sided=_ONE_SIDED
    )
    # The probability of a phrase does not depend on ratings.
    likelihoods = scores.filter(quantity=LOG_LIKELIHOOD)
    estimates_of_change = contrasts_of(
        pl.concat([changes, measure.aggregate(changes), likelihoods])
    )
    one_sided = joined.filter("one_sided", quantity=measure.prompt_quantity)["model"]
    left_out: Counter[str | None] = Counter(one_sided)
    left_out[None] = one_sided.len()
    table = estimates_of_change.select(
        *_ABOUT, "difference", "low", "high", "level", "method"
    ).with_columns(
        share=pl.Series(
            [user_shares.get(model) for model in estimates_of_change["model"]], dtype=pl.Float64
        ),
        left_out=pl.Series(
            [left_out[model] for model in estimates_of_change["model"]], dtype=pl.Int64
        ),
    )
    given_estimates = estimates.filter(pl.col("kind").is_in(main))
    for prefix, rows in (("given", given_estimates), ("shipped", contrasts_of(shipped))):
        columns = {"difference": prefix, "low": f"{prefix}_low", "high": f"{prefix}_high"}
        ends = rows.select(
            *_ABOUT, *(pl.col(column).alias(new_name) for column, new_name in columns.items())
        )
        table = table.join(ends, on=_ABOUT, how="left", nulls_equal=True)
    return table.select(
        pl.col(column).cast(kind) for column, kind in schema(RATINGS_COMPARED).items()
    )
