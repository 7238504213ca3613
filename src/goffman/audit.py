"""audit(): the whole flow on one screen; the command line and users both call it."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from goffman.chats import ChatQuestion, Chatting
from goffman.errors import InputError
from goffman.fit import check_fit, check_names, without_effect
from goffman.languages import check_languages, readings
from goffman.lexicons.gender import has_case
from goffman.measured import measure
from goffman.measures.catalogue import measure_entry
from goffman.models.address import address_entry
from goffman.models.base import LoadOptions
from goffman.models.spec import check, load
from goffman.options import AskOptions, Listener, MeasureOptions
from goffman.questions import Asking, Question, who_is_asked
from goffman.records import MASK
from goffman.runs.ask import Asked, Job, ask_fills, ask_labels, ask_likelihoods
from goffman.runs.deviation import fills_deviation, labels_deviation, likelihoods_deviation
from goffman.runs.folder import Run, keep_prompts, open_run
from goffman.runs.manifest import (
    instrument_entry,
    model_entry,
    read_manifest,
    with_instrument,
    with_model,
)
from goffman.runs.plan import Limits, limits_for
from goffman.runs.pronouns import forms_of, with_one_mask
from goffman.score import load_words

if TYPE_CHECKING:
    from goffman.lexicons.words import Words
    from goffman.models.base import Identity
    from goffman.runs.manifest import Entry


@dataclass(frozen=True, kw_only=True)
class Audit:
    """Where answers, scores and estimates lie, how many answers there are, and what they say."""

    folder: Path
    asked: tuple[Asked, ...]
    summary: tuple[str, ...] = ()
    """What the answers say, in sentences with their uncertainty."""
    report: Path | None = None
    """The page that shows it; None: none was asked for."""


def audit(
    models: Sequence[str],
    *,
    instruments: Sequence[str] = (),
    output: Path | None = None,
    loading: LoadOptions | None = None,
    options: AskOptions | None = None,
    measuring: MeasureOptions | None = None,
    listener: Listener | None = None,
    report: bool = False,
) -> Audit:
    """Every answer of the models to the instruments, and their scores, on disk.

    The same call again goes on where it was, and asks nothing that is there.

    ``models``: hub ids, folders, ``bundled:`` names, addresses of servers; ``instruments``: names
    or folders, by default every built-in one that a model can answer; ``report``: also
    report.html, figures/ and tables/.
    """
    loading, options = loading or LoadOptions(), options or AskOptions()
    listener = listener or Listener()
    measuring = measuring or MeasureOptions()
    check_names(models)
    pairs = who_is_asked(models, instruments, loading=loading, options=options, listener=listener)
    kinds = {pair.model: pair.kind for pair in pairs}
    check_fit(kinds, labels=loading.labels, pairs=measuring.pairs)
    for sentence in without_effect(options, kinds.values()):
        listener.note(sentence)
    folder = output or default_folder(models)
    words = _words(pairs, folder, measuring)
    for pair in pairs:
        check(pair.model, use=pair.questions[0].instrument.kind, options=loading)
    if options.dry_run:
        for pair in pairs:
            for question in pair.questions:
                count = len(question.prompts)
                listener.note(f"{question.instrument.id}, {pair.model}: {count:,} prompts.")
            asked_in_chats = _chat_questions(pair.questions)
            _chatting(options, loading, listener).tell(folder, pair.model, asked_in_chats)
        return Audit(folder=folder, asked=())
    with open_run(folder, seed=options.seed) as run:
        work = _Work(run=run, loading=loading, options=options, listener=listener)
        for question in (question for pair in pairs for question in pair.questions):
            _enter_instrument(run, question, models)
        asked = [answers for pair in pairs for answers in _ask_model(work, pair)]
        note = listener.note
        said = measure(run, words, seed=options.seed, pairs=measuring.pairs, note=note)
        page = _report(work, words) if report else None
    return Audit(folder=folder, asked=tuple(asked), summary=said, report=page)


def _words(pairs: Sequence[Asking], folder: Path, measuring: MeasureOptions) -> Words:
    """What answers are read with: the lexicons that are of the instruments' language."""
    questions = [question for pair in pairs for question in pair.questions]
    shipped = check_languages(readings(questions, read_manifest(folder)), measuring)
    return load_words(
        measuring.ratings, measuring.gender_words, parser=measuring.parser, shipped=shipped
    )


def default_folder(models: Sequence[str]) -> Path:
    """runs/ and the models' names: the last part of a folder's path, the model at an address."""
    named = [address_entry(model).get("asked_as", model) for model in models]
    # os.path.isdir, which says no to names that no system allows, where Path.is_dir fails.
    folders = [os.path.isdir(model) for model in named]  # noqa: PTH112
    last = [
        Path(model).resolve().name if is_folder else model
        for model, is_folder in zip(named, folders, strict=True)
    ]
    short = [re.sub(r"[^A-Za-z0-9._-]+", "-", Path(model).name).strip("-.") for model in last]
    # A name in another script has no letter that is left.
    names = [one or f"model-{_digest(model)}" for one, model in zip(short, last, strict=True)]
    joined = "+".join(names)
    if len(joined) > 80:
        joined = f"{joined[:70]}-{_digest(joined)}"
    return Path("runs") / joined


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


@dataclass(frozen=True, kw_only=True)
class _Work:
    """What is the same for every model of an audit."""

    run: Run
    loading: LoadOptions
    options: AskOptions
    listener: Listener

    def job(self, question: Question, limits: Limits) -> Job:
        """What a model that the run has not refused is asked; its prompts are on disk."""
        keep_prompts(self.run, question.instrument.id, question.prompts)
        prompts = question.prompts
        if question.instrument.kind == "prefer":
            prompts = with_one_mask(prompts)
            if left_out := len(question.prompts) - len(prompts):
                self.listener.note(
                    f"{question.instrument.id}: {left_out:,} sentences are left out, in which more "
                    "than one pronoun is marked."
                )
        return Job(
            run=self.run,
            instrument=question.instrument.id,
            prompts=prompts,
            limits=limits,
            watch=self.listener.progress,
        )


def _enter_instrument(run: Run, question: Question, models: Sequence[str]) -> None:
    """The run knows the instrument, or has refused it."""
    instrument, prompts = question.instrument, question.prompts
    trials = {"trials": question.trials} if instrument.kind == "ask" else {}
    entry = {
        **instrument_entry(instrument, prompts, question.settings),
        **trials,
        "measured": measure_entry(question.measure),
    }
    run.manifest = with_instrument(
        run.manifest, run.folder, name=instrument.id, entry=entry, models=models
    )


def _report(work: _Work, words: Words) -> Path:
    """The page; it is on disk, and the figures and tables beside it."""
    # Only here: what draws figures takes its time to load.
    from goffman.reports.write import write_report

    written = write_report(work.run.folder, words=words)
    for note in written.notes:
        work.listener.note(note)
    return written.page


def _ask_model(work: _Work, pair: Asking) -> Iterator[Asked]:
    """What there is of one model's answers; it is loaded here and gone afterwards."""
    ask = {
        "masked": _ask_masked,
        "classifier": _ask_classifier,
        "chat": _ask_chat,
        "causal": _ask_causal,
    }
    name = pair.model
    for asked in ask[pair.kind](work, name, pair.questions):
        if asked.damaged:
            count = len(asked.damaged)
            files = "1 part was" if count == 1 else f"{count} parts were"
            work.listener.note(f"{asked.instrument}, {name}: {files} damaged and asked again.")
        if asked.not_one_token:
            words = ", ".join(asked.not_one_token)
            work.listener.note(f"Not one token for {name}, so without answers: {words}.")
        for remark in asked.remarks:
            work.listener.note(f"{asked.instrument}, {name}: {remark}")
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


def _ask_causal(work: _Work, name: str, questions: Sequence[Question]) -> Iterator[Asked]:
    model = load(name, use="score", options=work.loading)
    limits = limits_for(model.identity.device, batch_size=work.options.batch_size)
    texts = [
        prompt.text.replace(MASK, str(prompt.pronoun))
        for question in questions
        for prompt in with_one_mask(question.prompts)
    ]

    def measured() -> Entry:
        exact = load(name, use="score", options=replace(work.loading, precision="float32"))
        return likelihoods_deviation(model, exact, texts=texts, seed=work.options.seed)

    _enter_model(work, model.identity, model_entry(model.identity, limits), measured)
    for question in questions:
        forms = forms_of(question.prompts)
        yield ask_likelihoods(work.job(question, limits), model, forms)


def _ask_chat(work: _Work, name: str, questions: Sequence[Question]) -> Iterator[Asked]:
    chatting = _chatting(work.options, work.loading, work.listener)
    yield from chatting.ask(work.run, name, _chat_questions(questions))


def _chatting(options: AskOptions, loading: LoadOptions, listener: Listener) -> Chatting:
    together = replace(options.chats.calling, batch_size=options.batch_size)
    return Chatting(
        options=replace(options.chats, calling=together),
        loading=loading,
        seed=options.seed,
        watch=listener.progress,
        note=listener.note,
    )


def _chat_questions(questions: Sequence[Question]) -> list[ChatQuestion]:
    return [
        ChatQuestion(instrument=one.instrument.id, prompts=one.prompts, trials=one.trials)
        for one in questions
        if one.instrument.kind == "ask"
    ]


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
    texts = [prompt.text for question in questions for prompt in question.prompts]
    return [text for text in texts if text.count(MASK) <= 1]
