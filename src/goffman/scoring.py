"""A run's answers → its scores: each instrument by its measure, with what is said of words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
    """The lexicons that come with goffman, ratings if ``shipped``, and the user's over them."""
    parser_named(parser)
    return Lexicons(
        parser=parser,
        attitudes=load_attitudes(ratings, shipped=shipped),
        gender=load_gender(gender),
        gender_file=gender.name if gender else "shipped",
    )


def parser_of(manifest: Manifest | None) -> str:
    """The parser that a run was read by, which it keeps; that of new runs where it was not."""
    named = manifest.lexicons if manifest else LexiconEntries()
    return named.parser or DEFAULT_PARSER


def words_of(manifest: Manifest) -> Lexicons:
    """The lexicons that the run was scored with; RunError where they are not here as they were."""
    named = manifest.lexicons
    files = [Path(one.file) for one in named.attitudes]
    if named.gender and named.gender.file != "shipped":
        raise RunError(
            f"The gender words came from {named.gender.file}, which is not available here."
        )
    try:
        words = load_words(files, parser=parser_of(manifest), shipped=not files)
    except (GoffmanError, OSError) as error:
        raise RunError(str(error)) from error
    if named != LexiconEntries() and LexiconEntries.of(words.entry()) != named:
        raise RunError(
            "The lists of ratings or gender words have changed since the run was scored."
        )
    return words


def measures_of(manifest: Manifest) -> dict[str, Measure]:
    """By instrument: what its answers are measured by, where it names anything."""
    found = {
        instrument: measure_from(entry.measured)
        for instrument, entry in sorted(manifest.instruments.items())
    }
    return {instrument: measure for instrument, measure in found.items() if measure is not None}


def score(
    run: Path, manifest: Manifest, words: Lexicons, *, note: Callable[[str], None] = lambda _: None
) -> pl.DataFrame:
    """SCORES of all that was answered to the end, controls apart; ``note`` is told what is not."""
    prompts, controls = read_prompts(run, manifest), read_controls(run, manifest)
    tables = [pl.DataFrame(schema=schema(SCORES))]
    measures = measures_of(manifest)
    prepared: dict[str, list[pl.DataFrame]] = {}
    for instrument in sorted({*manifest.instruments} - {*measures}):
        note(f"{instrument} names no measure in [settings], so it has no scores.")
    for instrument, measure in measures.items():
        models = [
            model for model in sorted(manifest.answers) if instrument in manifest.answers[model]
        ]
        asked, of_controls = (table.filter(of_asked(instrument)) for table in (prompts, controls))
        each: list[pl.DataFrame] = []
        competence: list[pl.DataFrame] = []
        every = pl.concat([asked, of_controls])
        for model, answers, cased in _answers(
            run, manifest, instrument, models, measure=measure, prompts=every, note=note
        ):
            own = _asked_of(model, measure, asked, answers)
            for part in _parts(measure, own):
                said = measure.code_responses(answers_to(part, answers), part, words, cased=cased)
                each.append(measure.score_prompts(said, part))
                if mode_in(instrument) in BOTH_WAYS:
                    prepared.setdefault(instrument, []).append(said)
            if of_controls.height:
                said = answers_to(of_controls, answers)
                said = measure.code_responses(said, of_controls, words, cased=cased)
                competence.append(control_score(measure, said, of_controls, model=model))
        if each:
            scores = pl.concat(each)
            tables += [scores, measure.aggregate(scores), *competence]
            if measure.adjusts:
                phrases = read_answers(run, "fills", instrument=instrument, phrases=True)
                known = phrases.filter(pl.col("model").is_in(scores["model"].unique().implode()))
                tables.append(log_likelihoods(known, asked, measure=measure.name))
    names = {instrument: measure.name for instrument, measure in measures.items()}
    tables.append(agreement_scores(prepared, prompts, names))
    # What is looked through many times is put together once.
    return pl.concat(tables, rechunk=True)


TOGETHER = 20_000
"""Prompts whose answers are measured together, where each rests on its own: with more of them only
the answers themselves take more memory."""


def _parts(measure: Measure, prompts: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The prompts in parts that can be scored apart, in the order of their scores."""
    # A model that completes is judged by all its completions.
    begun = "prefill" in prompts.columns and prompts["prefill"].count()
    if prompts.height <= TOGETHER or begun or not measure.separable:
        yield prompts
    else:
        yield from prompts.sort("prompt_id").iter_slices(TOGETHER)


def prompts_scored(
    run: Path, manifest: Manifest, words: Lexicons, instrument: str, measure: Measure, *, model: str
) -> pl.DataFrame:
    """SCORES of the level prompt: one model's answers to an instrument by another measure."""
    asked, answers, cased = answers_of(run, manifest, instrument, measure, model=model)
    if not answers.height:
        return pl.DataFrame(schema=schema(SCORES))
    return measure.score_prompts(measure.code_responses(answers, asked, words, cased=cased), asked)


def identity_scores(run: Path, words: Lexicons) -> tuple[pl.DataFrame, dict[str, list[str]]]:
    """Return IDENTITY_SCORES, and by instrument the identities asked about, the reference first.

    No prompt of them is among those that a main result rests on.
    """
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
            asked, answers, cased = answers_of(folder, manifest, name, measure, model=model)
            for identity in levels.get(name, ()) if answers.height else ():
                part = asked.filter(pl.col("identity") == identity)
                said = answers_to(part, answers)
                coded = measure.code_responses(said, part, words, cased=cased)
                scores = measure.score_prompts(coded, part)
                tables.append(scores.with_columns(identity=pl.lit(identity)))
    return pl.concat(tables), levels


def answers_of(
    run: Path, manifest: Manifest, instrument: str, measure: Measure, *, model: str
) -> tuple[pl.DataFrame, pl.DataFrame, bool]:
    """One model: the prompts it was asked, its answers to them, and whether words have case."""
    asked = read_prompts(run, manifest).filter(of_asked(instrument))
    for _, answers, cased in _answers(
        run, manifest, instrument, [model], measure=measure, prompts=asked, note=lambda _: None
    ):
        own = _asked_of(model, measure, asked, answers)
        return own, answers_to(own, answers), cased
    return asked, pl.DataFrame(), False


def _asked_of(
    model: str, measure: Measure, prompts: pl.DataFrame, answers: pl.DataFrame
) -> pl.DataFrame:
    """The prompts that a model was asked: all, but for probabilities that come with replies.

    In text, a server may be asked one order of the options alone: the other one is no gap.
    """
    if not (behind_server(model) and measure.reads == "choices"):
        return prompts
    return prompts.join(answers.select("prompt_id"), on="prompt_id", how="semi")


def unmeasurable(scores: pl.DataFrame, manifest: Manifest) -> dict[str, frozenset[str]]:
    """By instrument: the models that fail its control items, so that no number of theirs counts."""
    # Scores have a column "high" of their own, which is not the interval's end.
    ids, of_controls = ["model", "instrument", "mode"], pl.col("level") == CONTROL
    of_quantity = {
        quantity: scores.filter(of_controls, pl.col("quantity") == quantity).select(*ids, "value")
        for quantity in (CONTROL, HIGH)
    }
    ends = of_quantity[HIGH].rename({"value": "end"})
    controls = of_quantity[CONTROL].join(ends, on=ids, how="left", nulls_equal=True)
    found: dict[str, frozenset[str]] = {}
    for instrument, entry in manifest.instruments.items():
        if entry.controls is None:
            continue
        rows = controls.filter(of_asked(instrument)).select("model", "value", "end")
        floor = entry.controls.floor
        found[instrument] = frozenset(
            name for name, value, end in rows.iter_rows() if not passes(value, floor, end)
        )
    return found


def without_controls(scores: pl.DataFrame) -> pl.DataFrame:
    """The scores that contrasts are made from."""
    return scores.filter(pl.col("level") != CONTROL)


def wordings_of(run: Path, manifest: Manifest | None = None) -> dict[str, list[str]]:
    """By instrument: the wordings that were asked, in the instrument's order."""
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
    """One model at a time, its answers as the measure reads them, and whether words have case.

    A model whose answers are not all there, as yet or any more, is left out, with a note.
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
