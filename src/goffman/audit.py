"""audit(): the whole flow on one screen; the command line and users both call it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from goffman.errors import InputError, ModelError, did_you_mean
from goffman.estimates.contrast import Comparing
from goffman.estimates.of_scores import estimates
from goffman.instruments.load import builtin_names, load_instrument
from goffman.instruments.render import PromptOptions, render
from goffman.lexicons.gender import has_case
from goffman.measures.catalogue import measure_entry, measure_of
from goffman.models.base import LoadOptions
from goffman.models.spec import describe, load
from goffman.records import Instrument, Prompt
from goffman.runs.ask import Asked, Job, Progress, ask_fills, ask_labels
from goffman.runs.deviation import fills_deviation, labels_deviation
from goffman.runs.folder import Run, keep_prompts, open_run
from goffman.runs.manifest import (
    instrument_entry,
    model_entry,
    with_instrument,
    with_lexicons,
    with_model,
    write_manifest,
)
from goffman.runs.plan import Limits, Settings, limits_for, settings_of
from goffman.runs.store import parquet, write_changed
from goffman.score import load_words, measures_of, score, wordings_of
from goffman.summary import summary

if TYPE_CHECKING:
    from goffman.measures.base import Measure
    from goffman.models.base import Identity
    from goffman.runs.manifest import Entry

USES = {"masked": "fill", "classifier": "classify"}
"""The kind of instrument that each kind of model can answer."""

NEEDS = {
    "fill": "a masked model, such as roberta-base",
    "classify": "a classifier, such as siebert/sentiment-roberta-large-english",
    "ask": "a chat model, which this version cannot ask yet",
}
"""Who can answer each kind of instrument."""


@dataclass(frozen=True, kw_only=True)
class AskOptions:
    """What is asked of every model."""

    top_k: int | None = None
    """So many words at each mask; None: as each instrument says."""
    limit: int | None = None
    """Only the first so many prompts of each instrument; None: all."""
    batch_size: int | None = None
    """Sentences a batch; None: what suits the device."""
    seed: int = 0
    """For the sample on which a lower precision is compared with float32."""
    targets: tuple[str, ...] = ()
    """Words whose probability is kept wherever they rank."""
    all_wordings: bool = False
    """Also those wordings of an instrument that are off by default."""


@dataclass(frozen=True, kw_only=True)
class MeasureOptions:
    """What the answers are measured with."""

    ratings: tuple[Path, ...] = ()
    """CSV files of one's own attitudes of words, over the shipped ones, the last strongest."""
    gender_words: Path | None = None
    """A CSV file of gendered words, in the place of the shipped lexicon."""
    pairs: tuple[tuple[str, str], ...] = ()
    """A base model and the classifier fine-tuned from it, whose measures are correlated."""


@dataclass(frozen=True, kw_only=True)
class Listener:
    """Who is told while it goes on."""

    progress: Callable[[Progress], None] = lambda _: None
    """After every batch."""
    note: Callable[[str], None] = lambda _: None
    """What the user should know: what was left out, repaired, asked again."""


@dataclass(frozen=True, kw_only=True)
class Audit:
    """Where answers, scores and estimates lie, how many answers there are, and what they say."""

    folder: Path
    asked: tuple[Asked, ...]
    summary: tuple[str, ...] = ()
    """What the answers say, in sentences with their uncertainty."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """An instrument as it is asked."""

    instrument: Instrument
    prompts: Sequence[Prompt]
    settings: Settings | None
    """How its masks are asked; None where there are none."""
    measure: Measure | None
    """What its answers are measured by; None: it names nothing."""


def audit(
    models: Sequence[str],
    *,
    instruments: Sequence[str] = (),
    output: Path | None = None,
    loading: LoadOptions | None = None,
    options: AskOptions | None = None,
    measuring: MeasureOptions | None = None,
    listener: Listener | None = None,
) -> Audit:
    """Every answer of the models to the instruments, and their scores, on disk.

    The same call again goes on where it was, and asks nothing that is there.

    ``models``: hub ids, folders, ``bundled:`` names; ``instruments``: names or folders, by default
    every built-in one that a model can answer.
    """
    loading, options = loading or LoadOptions(), options or AskOptions()
    listener = listener or Listener()
    measuring = measuring or MeasureOptions()
    questions = _questions(instruments, options)
    pairs = _pairs(models, questions, listener, named=bool(instruments))
    _check_measuring(measuring, models)
    folder = output or default_folder(models)
    with open_run(folder, seed=options.seed) as run:
        work = _Work(run=run, loading=loading, options=options, listener=listener)
        for question in (question for _, chosen in pairs for question in chosen):
            _enter_instrument(run, question)
        asked = [answers for name, chosen in pairs for answers in _ask_model(work, name, chosen)]
        said = _measure(work, measuring)
    return Audit(folder=folder, asked=tuple(asked), summary=said)


def default_folder(models: Sequence[str]) -> Path:
    """runs/ and the models' names; of a folder the last part of its path."""
    last = [Path(model).resolve().name if Path(model).is_dir() else model for model in models]
    names = [re.sub(r"[^A-Za-z0-9._-]+", "-", Path(model).name).strip("-.") for model in last]
    joined = "+".join(names)
    if len(joined) > 80:
        joined = f"{joined[:70]}-{hashlib.sha256(joined.encode()).hexdigest()[:8]}"
    return Path("runs") / joined


def _questions(instruments: Sequence[str], options: AskOptions) -> list[Question]:
    """The instruments, rendered; each id once."""
    for option, value in (("--limit", options.limit), ("--batch-size", options.batch_size)):
        if value is not None and value < 1:
            raise InputError(f"{option} is {value}; it is a whole number of at least 1.")
    questions: list[Question] = []
    for name in dict.fromkeys(instruments or builtin_names()):
        instrument = load_instrument(name)
        if any(instrument.id == question.instrument.id for question in questions):
            raise InputError(f"Two instruments have the id '{instrument.id}': give one of them.")
        settings = None
        if instrument.kind == "fill":
            settings = settings_of(instrument, top_k=options.top_k, targets=options.targets)
        # What no model can answer yet is not rendered: coreference has 12,640 prompts.
        known = instrument.kind in USES.values()
        everything = PromptOptions(wordings=["all"]) if options.all_wordings else None
        prompts = render(instrument, everything).prompts[: options.limit] if known else ()
        measure = measure_of(instrument)
        questions.append(
            Question(instrument=instrument, prompts=prompts, settings=settings, measure=measure)
        )
    return questions


def _check_measuring(measuring: MeasureOptions, models: Sequence[str]) -> None:
    """Nothing, or what keeps answers from being measured so, said before anyone is asked."""
    load_words(measuring.ratings, measuring.gender_words)
    for name in (name for pair in measuring.pairs for name in pair):
        if name not in models:
            raise InputError(
                f"--pair names '{name}', which is not audited here. Allowed: {', '.join(models)}."
                + did_you_mean(name, models)
            )


def _pairs(
    models: Sequence[str], questions: Sequence[Question], listener: Listener, *, named: bool
) -> list[tuple[str, list[Question]]]:
    """Who is asked what, known before anyone is asked.

    What a model cannot answer is left out for it, with a note. A model without any question is
    refused, and an instrument that the user named and no model can answer.
    """
    pairs = []
    unasked = {question.instrument.id: question.instrument.kind for question in questions}
    for model in dict.fromkeys(models):
        what = describe(model)
        chosen = [one for one in questions if USES.get(what.kind) == one.instrument.kind]
        for question in questions:
            name, kind = question.instrument.id, question.instrument.kind
            if question in chosen:
                unasked.pop(name, None)
            elif chosen:
                listener.note(f"{name} is left out for {model}: it needs {NEEDS[kind]}.")
        if not chosen:
            needed = " ".join(f"{name} needs {NEEDS[kind]}." for name, kind in unasked.items())
            raise ModelError(f"{what} {needed if named else 'No instrument can be asked of it.'}")
        pairs.append((model, chosen))
    if named and unasked:
        needed = " ".join(f"{name} needs {NEEDS[kind]}." for name, kind in unasked.items())
        raise ModelError(f"None of the models can answer what was named: {needed}")
    return pairs


@dataclass(frozen=True, kw_only=True)
class _Work:
    """What is the same for every model of an audit."""

    run: Run
    loading: LoadOptions
    options: AskOptions
    listener: Listener

    def job(self, question: Question, limits: Limits) -> Job:
        """What a model that the run has not refused is asked; its prompts are on disk."""
        keep_prompts(self.run.folder, question.instrument.id, question.prompts)
        return Job(
            run=self.run,
            instrument=question.instrument.id,
            prompts=question.prompts,
            limits=limits,
            watch=self.listener.progress,
        )


def _enter_instrument(run: Run, question: Question) -> None:
    """The run knows the instrument, or has refused it."""
    instrument, prompts = question.instrument, question.prompts
    entry = {
        **instrument_entry(instrument, prompts, question.settings),
        "measured": measure_entry(question.measure),
    }
    run.manifest = with_instrument(run.manifest, run.folder, name=instrument.id, entry=entry)


def _measure(work: _Work, measuring: MeasureOptions) -> tuple[str, ...]:
    """The summary; the run's scores and estimates are on disk, and which words they rest on."""
    run, words = work.run, load_words(measuring.ratings, measuring.gender_words)
    scores = score(run.folder, run.manifest, words, note=work.listener.note)
    measures = measures_of(run.manifest)
    found = estimates(
        scores,
        measures,
        wordings=wordings_of(run.folder),
        pairs=measuring.pairs,
        compare=Comparing(seed=work.options.seed),
    )
    write_changed(run.folder / "scores.parquet", parquet(scores))
    write_changed(run.folder / "estimates.parquet", parquet(found))
    manifest = with_lexicons(run.manifest, words.entry())
    if manifest != run.manifest:
        run.manifest = manifest
        write_manifest(run.folder, manifest)
    return tuple(summary(scores, found))


def _ask_model(work: _Work, name: str, questions: Sequence[Question]) -> Iterator[Asked]:
    """What there is of one model's answers; it is loaded here and gone afterwards."""
    ask = _ask_masked if questions[0].settings else _ask_classifier
    for asked in ask(work, name, questions):
        if asked.damaged:
            count = len(asked.damaged)
            files = "1 part was" if count == 1 else f"{count} parts were"
            work.listener.note(f"{asked.instrument}, {name}: {files} damaged and asked again.")
        if asked.not_one_token:
            words = ", ".join(asked.not_one_token)
            work.listener.note(f"Not one token for {name}, so without answers: {words}.")
        yield asked


def _ask_masked(work: _Work, name: str, questions: Sequence[Question]) -> Iterator[Asked]:
    model = load(name, use="fill", options=work.loading)
    limits = limits_for(model.identity.device, batch_size=work.options.batch_size)
    for question in questions:
        # Before the run knows of it: a slip of the keys must not bind the folder.
        if question.settings and question.settings.top_k > len(model.tokens):
            raise InputError(
                f"--top-k is {question.settings.top_k} for {question.instrument.id}; the "
                f"vocabulary of '{name}' allows 1 to {len(model.tokens)}."
            )

    def measured() -> Entry:
        exact = load(name, use="fill", options=replace(work.loading, precision="float32"))
        top_k = max(question.settings.top_k for question in questions if question.settings)
        seed = work.options.seed
        return fills_deviation(model, exact, texts=_texts(questions), top_k=top_k, seed=seed)

    entry = {**model_entry(model.identity, limits), "cased": has_case(model.tokens)}
    _enter_model(work, model.identity, entry, measured)
    for question in questions:
        if question.settings:
            yield ask_fills(work.job(question, limits), model, question.settings)


def _ask_classifier(work: _Work, name: str, questions: Sequence[Question]) -> Iterator[Asked]:
    model = load(name, use="classify", options=work.loading)
    limits = limits_for(model.identity.device, batch_size=work.options.batch_size)

    def measured() -> Entry:
        exact = load(name, use="classify", options=replace(work.loading, precision="float32"))
        return labels_deviation(model, exact, texts=_texts(questions), seed=work.options.seed)

    entry = model_entry(model.identity, limits, labels=model.labels)
    _enter_model(work, model.identity, entry, measured)
    for question in questions:
        yield ask_labels(work.job(question, limits), model)


def _enter_model(
    work: _Work, identity: Identity, entry: Entry, measured: Callable[[], Entry]
) -> None:
    """The run knows the model, and a lower precision's deviation, or has refused it."""
    run = work.run
    for note in identity.notes:
        work.listener.note(f"{identity.name}: {note}")
    if identity.name not in run.manifest.models and identity.precision != "float32":
        entry = {**entry, "deviation": measured()}
    run.manifest = with_model(run.manifest, run.folder, name=identity.name, entry=entry)


def _texts(questions: Sequence[Question]) -> list[str]:
    return [prompt.text for question in questions for prompt in question.prompts]
