"""Scoring of a run's answers: each instrument's measure turns them into scores with lexicons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from goffman.errors import GoffmanError, RunError
from goffman.instruments.types import CONTROL, mode_in, passes
from goffman.lexicons.attitude import load_attitudes
from goffman.lexicons.gender import load_gender
from goffman.lexicons.lexicons import Lexicons
from goffman.measures.controls import HIGH, control_score
from goffman.measures.mode_agreement import BOTH_WAYS, agreement_scores
from goffman.measures.registry import measure_from
from goffman.measures.responses import answers_to, log_likelihoods
from goffman.models.server_address import behind_server
from goffman.modes import asked_ids, of_asked
from goffman.parsers.registry import DEFAULT_PARSER, parser_named
from goffman.runs.manifest import LexiconEntries, Manifest, read_manifest
from goffman.runs.reply_probabilities import fills_of_replies
from goffman.runs.run import IDENTITIES, read_answers, read_controls, read_prompts
from goffman.schemas import IDENTITY_SCORES, SCORES, schema

if TYPE_CHECKING:
    from goffman.measures.base import Measure


def load_words(
    ratings: Sequence[Path] = (),
    gender: Path | None = None,
    *,
    parser: str = DEFAULT_PARSER,
    shipped: bool = True,
) -> Lexicons:
    """Return goffman's lexicons with the user's ratings added and the user's gender words instead.

    ``shipped``: whether goffman's own ratings are among them. Raise InputError or LexiconError if
    there is no such parser, or if a file is faulty.
    """
    parser_named(parser)
    return Lexicons(
        parser=parser,
        attitudes=load_attitudes(ratings, shipped=shipped),
        gender=load_gender(gender),
        gender_file=gender.name if gender else "shipped",
    )


def parser_of(manifest: Manifest | None) -> str:
    """Return the name of the parser that read the run, or of the default one if none has yet."""
    entries = manifest.lexicons if manifest else LexiconEntries()
    return entries.parser or DEFAULT_PARSER


def words_of(manifest: Manifest) -> Lexicons:
    """Return the lexicons that the run was scored with; raise RunError if they have changed."""
    entries = manifest.lexicons
    files = [Path(entry.file) for entry in entries.attitudes]
    if entries.gender and entries.gender.file != "shipped":
        raise RunError(
            f"The gender words came from {entries.gender.file}, which is not available here."
        )
    try:
        words = load_words(files, parser=parser_of(manifest), shipped=not files)
    except (GoffmanError, OSError) as error:
        raise RunError(str(error)) from error
    if entries != LexiconEntries() and words.entries != entries:
        raise RunError(
            "The lists of ratings or gender words have changed since the run was scored."
        )
    return words


def measures_of(manifest: Manifest) -> dict[str, Measure]:
    """Return the measures by instrument, without the instruments that name no measure."""
    measures = {
        instrument: measure_from(entry.measured)
        for instrument, entry in sorted(manifest.instruments.items())
    }
    return {instrument: measure for instrument, measure in measures.items() if measure is not None}


def score(
    run: Path, manifest: Manifest, words: Lexicons, *, note: Callable[[str], None] = lambda _: None
) -> pl.DataFrame:
    """Return SCORES of all complete answers, with those of control items at the level control.

    ``note`` is called with a sentence for each instrument that has no scores.
    """
    prompts, controls = read_prompts(run, manifest), read_controls(run, manifest)
    tables = [pl.DataFrame(schema=schema(SCORES))]
    measures = measures_of(manifest)
    coded: dict[str, list[pl.DataFrame]] = {}
    for instrument in sorted({*manifest.instruments} - {*measures}):
        note(f"{instrument} names no measure in [settings], so it has no scores.")
    for instrument, measure in measures.items():
        main_prompts, control_prompts = (
            table.filter(of_asked(instrument)) for table in (prompts, controls)
        )
        models = [name for name in sorted(manifest.answers) if instrument in manifest.answers[name]]
        all_prompts = pl.concat([main_prompts, control_prompts])
        answers_by_model = _answers(
            run, manifest, instrument, models, measure=measure, prompts=all_prompts, note=note
        )
        instrument_tables, instrument_coded = _scores_of_models(
            answers_by_model,
            measure,
            words,
            main_prompts,
            control_prompts,
            keep_coded=mode_in(instrument) in BOTH_WAYS,
        )
        if instrument_coded:
            coded[instrument] = instrument_coded
        tables += instrument_tables
        if instrument_tables and measure.adjusts:
            phrases = read_answers(run, "fills", instrument=instrument, phrases=True)
            scored_phrases = phrases.filter(
                pl.col("model").is_in(instrument_tables[0]["model"].unique().implode())
            )
            tables.append(log_likelihoods(scored_phrases, main_prompts, measure=measure.name))
    names = {instrument: measure.name for instrument, measure in measures.items()}
    tables.append(agreement_scores(coded, prompts, names))
    # The table is filtered many times, which is faster in one piece.
    return pl.concat(tables, rechunk=True)


def _scores_of_models(
    answers_by_model: Iterable[tuple[str, pl.DataFrame, bool]],
    measure: Measure,
    words: Lexicons,
    prompts: pl.DataFrame,
    controls: pl.DataFrame,
    *,
    keep_coded: bool,
) -> tuple[list[pl.DataFrame], list[pl.DataFrame]]:
    """Return tables of SCORES, the first of the level prompt, and the coded answers if kept.

    Both are empty if no model has answered.
    """
    prompt_tables, control_tables, coded_tables = [], [], []
    for model, answers, cased in answers_by_model:
        for part in _parts(measure, _asked_of(model, measure, prompts, answers)):
            coded = measure.code_responses(answers_to(part, answers), part, words, cased=cased)
            prompt_tables.append(measure.score_prompts(coded, part))
            if keep_coded:
                coded_tables.append(coded)
        if controls.height:
            coded = answers_to(controls, answers)
            coded = measure.code_responses(coded, controls, words, cased=cased)
            control_tables.append(control_score(measure, coded, controls, model=model))
    if not prompt_tables:
        return [], []
    scores = pl.concat(prompt_tables)
    return [scores, measure.aggregate(scores), *control_tables], coded_tables


TOGETHER = 20_000
"""How many prompts are scored together if the scores of each rest on its own answers: with more
prompts, only the answers themselves take more memory."""


def _parts(measure: Measure, prompts: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield the prompts in parts that can be scored separately, in the order of their scores."""
    # Whether a model's completions can be measured depends on all of them together.
    has_prefills = "prefill" in prompts.columns and prompts["prefill"].count()
    if prompts.height <= TOGETHER or has_prefills or not measure.separable:
        yield prompts
    else:
        yield from prompts.sort("prompt_id").iter_slices(TOGETHER)


def prompts_scored(
    run: Path, manifest: Manifest, words: Lexicons, instrument: str, measure: Measure, *, model: str
) -> pl.DataFrame:
    """Return SCORES of the level prompt for one model's answers, scored by ``measure``."""
    prompts, answers, cased = answers_of(run, manifest, instrument, measure, model=model)
    if not answers.height:
        return pl.DataFrame(schema=schema(SCORES))
    return measure.score_prompts(
        measure.code_responses(answers, prompts, words, cased=cased), prompts
    )


def identity_scores(run: Path, words: Lexicons) -> tuple[pl.DataFrame, dict[str, list[str]]]:
    """Return IDENTITY_SCORES, and by instrument the identities asked about, the reference first."""
    folder = run / IDENTITIES
    manifest = read_manifest(folder) or Manifest()
    tables = [pl.DataFrame(schema=schema(IDENTITY_SCORES))]
    levels = {
        name: [*entry.identities["levels"]]
        for name, entry in manifest.instruments.items()
        if entry.identities
    }
    for name, measure in measures_of(manifest).items():
        for model in sorted(manifest.answers):
            if name not in manifest.answers[model]:
                continue
            prompts, answers, cased = answers_of(folder, manifest, name, measure, model=model)
            for identity in levels.get(name, ()) if answers.height else ():
                part = prompts.filter(identity=identity)
                identity_answers = answers_to(part, answers)
                coded = measure.code_responses(identity_answers, part, words, cased=cased)
                scores = measure.score_prompts(coded, part)
                tables.append(scores.with_columns(identity=pl.lit(identity)))
    return pl.concat(tables), levels


def answers_of(
    run: Path, manifest: Manifest, instrument: str, measure: Measure, *, model: str
) -> tuple[pl.DataFrame, pl.DataFrame, bool]:
    """Return the prompts one model was asked, its answers, and whether its words have case."""
    prompts = read_prompts(run, manifest).filter(of_asked(instrument))
    for _, answers, cased in _answers(
        run, manifest, instrument, [model], measure=measure, prompts=prompts, note=lambda _: None
    ):
        model_prompts = _asked_of(model, measure, prompts, answers)
        return model_prompts, answers_to(model_prompts, answers), cased
    return prompts, pl.DataFrame(), False


def _asked_of(
    model: str, measure: Measure, prompts: pl.DataFrame, answers: pl.DataFrame
) -> pl.DataFrame:
    """Return the prompts that a model was asked.

    These are all, but for a server that gives probabilities: it may have been asked in only one
    order of the options, and the other order is then no missing answer.
    """
    if not (behind_server(model) and measure.reads == "choices"):
        return prompts
    return prompts.join(answers.select("prompt_id"), on="prompt_id", how="semi")


def unmeasurable(scores: pl.DataFrame, manifest: Manifest) -> dict[str, frozenset[str]]:
    """Return, by instrument, the models that fail its control items: their numbers do not count."""
    # SCORES has a column "high" for another interval, so this end is called "end".
    ids, is_control = ["model", "instrument", "mode"], pl.col("level") == CONTROL
    by_quantity = {
        quantity: scores.filter(is_control, quantity=quantity).select(*ids, "value")
        for quantity in (CONTROL, HIGH)
    }
    ends = by_quantity[HIGH].rename({"value": "end"})
    controls = by_quantity[CONTROL].join(ends, on=ids, how="left", nulls_equal=True)
    failing: dict[str, frozenset[str]] = {}
    for instrument, entry in manifest.instruments.items():
        if entry.controls is None:
            continue
        rows = controls.filter(of_asked(instrument)).select("model", "value", "end")
        floor = entry.controls.floor
        failing[instrument] = frozenset(
            name for name, value, end in rows.iter_rows() if not passes(value, floor, end)
        )
    return failing


def without_controls(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the scores that contrasts are made from: all but those of controls."""
    return scores.filter(pl.col("level") != CONTROL)


def wordings_of(run: Path, manifest: Manifest | None = None) -> dict[str, list[str]]:
    """Return, by instrument, the wordings that were asked, in the instrument's order."""
    prompts = read_prompts(run, manifest).with_columns(asked=asked_ids())
    order = prompts.group_by("asked", maintain_order=True)
    return dict(order.agg(pl.col("wording").unique(maintain_order=True)).rows())


def _answers(
    run: Path,
    manifest: Manifest,
    instrument: str,
    models: Sequence[str],
    *,
    measure: Measure,
    prompts: pl.DataFrame,
    note: Callable[[str], None],
) -> Iterator[tuple[str, pl.DataFrame, bool]]:
    """Yield each model, its answers as the measure reads them, and whether its words have case.

    A model whose answers are not complete yet, or no longer, is left out, with a note.
    """
    for model in models:
        entry = manifest.answers[model][instrument]
        if entry.parts is None:
            note(
                f"{instrument}, {model}: not all prompts are answered yet, so there are no scores."
            )
            continue
        try:
            answers = read_answers(run, entry.table, model=model, instrument=instrument)
        except RunError as error:
            note(f"{instrument}, {model}: left out of scores and estimates. {error}")
            continue
        if entry.table == "replies" and measure.reads == "fills":
            answers = fills_of_replies(answers, prompts)
        yield model, answers, manifest.models[model].has_case
