"""What a user's ratings change: scores by the shipped ratings alone, reported beside the others.

The change of a main contrast is the contrast of its prompts' changes, with its own interval.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from goffman.contrasts.designs import LOG_LIKELIHOOD, Clusters
from goffman.contrasts.engine import MeasuredInstrument, judged
from goffman.lexicons.attitude import BUILT_IN, load_attitudes, no_word
from goffman.measures.responses import PROMPT, scores_with, side_by_side, top_fills
from goffman.modes import asked_id, of_asked
from goffman.runs.run import read_answers, read_prompts
from goffman.schemas import CONTRASTS, RATINGS_COMPARED, schema
from goffman.scoring import measures_of, score

if TYPE_CHECKING:
    from goffman.lexicons.attitude import Attitudes
    from goffman.lexicons.lexicons import Lexicons
    from goffman.runs.manifest import Manifest

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
        tables.append(_compared(measured, *sides, known=shares))
    return {SHIPPED_SCORES: shipped, COMPARED: pl.concat(tables)}


def _shares(
    run: Path,
    prompts: pl.DataFrame,
    models: Sequence[str],
    given: Attitudes,
    *,
    top_k: int | None,
) -> dict[str | None, float | None]:
    """Return by model, and over all, the share of its words' probability with a user's rating."""
    instrument = asked_id(prompts.row(0, named=True)) if prompts.height else ""
    sums: dict[str | None, tuple[float, float]] = {}
    for model in models:
        answers = read_answers(run, "fills", model=model, instrument=instrument)
        # Those to control items are no part of the numbers.
        answers = answers.join(prompts.select("prompt_id"), on="prompt_id", how="semi")
        fills = given.label(top_fills(answers, top_k=top_k), prompts)
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
    return {model: known / total if total else None for model, (known, total) in sums.items()}


def _compared(
    of: MeasuredInstrument,
    shipped: pl.DataFrame,
    scores: pl.DataFrame,
    estimates: pl.DataFrame,
    *,
    known: Mapping[str | None, float | None],
) -> pl.DataFrame:
    """Return RATINGS_COMPARED: each main contrast by either set of ratings, and its change.

    Both numbers share their answers: their intervals may overlap although the change is certain.
    """
    measure, main = of.measure, of.measure.presentation.main

    def contrasts_of(rows: pl.DataFrame) -> pl.DataFrame:
        """Return CONTRASTS + ESTIMATES of the main kinds only, which are the ones reported."""
        return judged([*of.contrasts(rows, main)], {of.id: measure})

    # The user's ratings may say no kinds of negative words.
    shipped = shipped.filter(pl.col("quantity").is_in(scores["quantity"].unique().implode()))
    is_prompt = pl.col("level") == "prompt"
    joined = side_by_side(
        shipped.filter(is_prompt), scores.filter(is_prompt), on=("model", *PROMPT)
    )
    changes = scores_with(
        joined, pl.col("now") - pl.col("before"), model=pl.col("model"), one_sided=_ONE_SIDED
    )
    # Ratings say nothing of how probable a phrase is.
    likelihoods = scores.filter(pl.col("quantity") == LOG_LIKELIHOOD)
    estimates_of_change = contrasts_of(
        pl.concat([changes, measure.aggregate(changes), likelihoods])
    )
    one_sided = joined.filter("one_sided", pl.col("quantity") == measure.prompt_quantity)["model"]
    left_out: Counter[str | None] = Counter(one_sided)
    left_out[None] = one_sided.len()
    table = estimates_of_change.select(
        *_ABOUT, "difference", "low", "high", "level", "method"
    ).with_columns(
        share=pl.Series(
            [known.get(model) for model in estimates_of_change["model"]], dtype=pl.Float64
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
