"""What a user's ratings change: the scores by the shipped ratings alone, kept beside the others.

The change of a main contrast is the contrast of its prompts' changes, with an own interval.
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

    Of the instruments that ratings matter for; nothing where no ratings but one kind are used,
    shipped or the user's. ``scores`` and ``estimates`` are by the user's over the shipped ones.
    """
    sources = [Path(of.file) for of in words.attitudes.sources]
    files = [path for path in sources if str(path) not in BUILT_IN]
    every = measures_of(manifest).items()
    measures = {name: measure for name, measure in every if measure.words == "attitudes"}
    if not files or len(files) == len(sources) or not measures:
        return {}
    given = load_attitudes(files, shipped=False)
    only = {name: of for name, of in manifest.instruments.items() if name in measures}
    alone = replace(
        words, attitudes=load_attitudes([path for path in sources if path not in files])
    )
    shipped = score(run, replace(manifest, instruments=only), alone)
    tables = [pl.DataFrame(schema=schema(RATINGS_COMPARED))]
    for instrument, measure in measures.items():
        sides = [table.filter(of_asked(instrument)) for table in (shipped, scores, estimates)]
        asked = read_prompts(run, manifest).filter(of_asked(instrument))
        models = sides[0]["model"].drop_nulls().unique().to_list()
        known = _shares(run, asked, models, given, top_k=measure.counted_words)
        of = MeasuredInstrument(
            id=instrument,
            measure=measure,
            wordings=wordings.get(instrument, ()),
            sharing=sharing.get(instrument, Clusters()),
        )
        tables.append(_compared(of, *sides, known=known))
    return {SHIPPED_SCORES: shipped, COMPARED: pl.concat(tables)}


def _shares(
    run: Path,
    prompts: pl.DataFrame,
    models: Sequence[str],
    given: Attitudes,
    *,
    top_k: int | None,
) -> dict[str | None, float | None]:
    """By model, and over all: the part of its words' probability that the user's ratings know."""
    instrument = asked_id(prompts.row(0, named=True)) if prompts.height else ""
    sums: dict[str | None, tuple[float, float]] = {}
    for model in models:
        answers = read_answers(run, "fills", model=model, instrument=instrument)
        # Those to control items are no part of the numbers.
        answers = answers.join(prompts.select("prompt_id"), on="prompt_id", how="semi")
        fills = given.label(top_fills(answers, top_k=top_k), prompts)
        different = fills["word"].unique()
        none = different.filter([no_word(word) for word in different]).to_list()
        words = fills.filter(~pl.col("word").is_in(none))
        each = (of["probability"].cast(pl.Float64).sum() for of in (words.filter("rated"), words))
        sums[model] = (float(next(each)), float(next(each)))
    sums[None] = (sum(one for one, _ in sums.values()), sum(every for _, every in sums.values()))
    return {model: known / total if total else None for model, (known, total) in sums.items()}


def _compared(
    of: MeasuredInstrument,
    shipped: pl.DataFrame,
    scores: pl.DataFrame,
    estimates: pl.DataFrame,
    *,
    known: Mapping[str | None, float | None],
) -> pl.DataFrame:
    """Return RATINGS_COMPARED: each main contrast by either ratings, and its change.

    Both numbers share their answers: their intervals may overlap where the change is sure.
    """
    measure, main = of.measure, of.measure.presentation.main

    def contrasts_of(rows: pl.DataFrame) -> pl.DataFrame:
        """Return CONTRASTS + ESTIMATES of the main kinds only, for these are what is shown."""
        return judged([*of.contrasts(rows, main)], {of.id: measure})

    # The user's ratings may say no kinds of negative words.
    shipped = shipped.filter(pl.col("quantity").is_in(scores["quantity"].unique().implode()))
    of_prompts = pl.col("level") == "prompt"
    both = side_by_side(
        shipped.filter(of_prompts), scores.filter(of_prompts), on=("model", *PROMPT)
    )
    each = scores_with(
        both, pl.col("now") - pl.col("before"), model=pl.col("model"), one_sided=_ONE_SIDED
    )
    # Ratings say nothing of how probable a phrase is.
    likely = scores.filter(pl.col("quantity") == LOG_LIKELIHOOD)
    changed = contrasts_of(pl.concat([each, measure.aggregate(each), likely]))
    gone = both.filter("one_sided", pl.col("quantity") == measure.prompt_quantity)["model"]
    left_out: Counter[str | None] = Counter(gone)
    left_out[None] = gone.len()
    table = changed.select(*_ABOUT, "difference", "low", "high", "level", "method").with_columns(
        share=pl.Series([known.get(model) for model in changed["model"]], dtype=pl.Float64),
        left_out=pl.Series([left_out[model] for model in changed["model"]], dtype=pl.Int64),
    )
    given = estimates.filter(pl.col("kind").is_in(main))
    for side, rows in (("given", given), ("shipped", contrasts_of(shipped))):
        names = {"difference": side, "low": f"{side}_low", "high": f"{side}_high"}
        ends = rows.select(*_ABOUT, *(pl.col(name).alias(to) for name, to in names.items()))
        table = table.join(ends, on=_ABOUT, how="left", nulls_equal=True)
    return table.select(pl.col(name).cast(kind) for name, kind in schema(RATINGS_COMPARED).items())
