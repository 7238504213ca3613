"""audit(): the whole flow on one screen; the command line and users both call it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goffman.anchors.loader import anchors_with
from goffman.errors import ModelError
from goffman.execution import Executor, Executors
from goffman.fingerprint import Asked, current_report, current_summary
from goffman.forecast import Forecast, describe_parts, forecast, forecast_text
from goffman.instruments.renderer import carried_phrases
from goffman.instruments.types import MASK, is_control
from goffman.languages import check_languages, lexicon_uses
from goffman.measures.registry import measure_entry
from goffman.models.base import LoadOptions, Serves
from goffman.models.registry import answers_to, draw_sample, model_kinds
from goffman.models.resolve import check
from goffman.models.server_address import address_entry, behind_server
from goffman.options import AskOptions, Listener, MeasureOptions
from goffman.planning import (
    Assignment,
    Further,
    Question,
    asked_prompts,
    assign,
    assign_further,
    check_names,
    check_options,
    check_top_k,
    counted,
    options_without_effect,
)
from goffman.report.summary import Summary
from goffman.runs.batch_plan import BatchLimits, limits_for, with_one_mask
from goffman.runs.collect import Collected, Job, ask_batches
from goffman.runs.collect_replies import ChatJob, ask_replies, known_questions, replies_of
from goffman.runs.manifest import (
    Manifest,
    instrument_entry,
    model_entry,
    read_manifest,
    with_instrument,
    with_model,
)
from goffman.runs.mode_adapters import mode_adapter
from goffman.runs.reply_probabilities import keep_options, options_of_replies
from goffman.runs.run import Run, check_place, default_folder, keep_prompts, open_run
from goffman.scoring import load_words, parser_of

if TYPE_CHECKING:
    from goffman.lexicons.lexicons import Lexicons
    from goffman.report.summary import MainResult
    from goffman.runs.manifest import Entry


@dataclass(frozen=True, kw_only=True)
class Audit:
    """The result of an audit: its folder, its answers, and what they say."""

    folder: Path
    asked: tuple[Collected, ...]
    said: Summary = field(default_factory=Summary)
    """What the answers say."""
    report: Path | None = None
    """The page of the report; None: no report was requested."""

    @property
    def results(self) -> tuple[MainResult, ...]:
        """Return the main result of each instrument and model."""
        return self.said.results

    @property
    def summary(self) -> tuple[str, ...]:
        """Return what the answers say, in sentences with their uncertainty."""
        return self.said.details


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
    """Ask the models the instruments; write every answer, and their scores, to disk.

    The same call again continues where it was, and asks nothing that is there.

    ``models``: hub ids, folders, ``bundled:`` names, addresses of servers; ``instruments``: names
    or folders, by default every built-in one that a model can answer; ``report``: also write
    report.html, card.png, results.csv and README.md.
    """
    loading, options = loading or LoadOptions(), options or AskOptions()
    listener, measuring = listener or Listener(), measuring or MeasureOptions()
    check_names(models)
    loading = (places := Executors(loading, note=listener.note)).options
    # Told only when all options are known to fit: notes before an error would hide it.
    notes: list[str] = []
    noting = replace(listener, note=notes.append)
    pairs = assign(models, instruments, loading=loading, options=options, listener=noting)
    extras = assign_further(pairs, options, listener=noting)
    kinds = {pair.model: pair.kind for pair in pairs}
    check_options(kinds, labels=loading.labels, pairs=measuring.pairs)
    folder = output or default_folder(models)
    check_place(folder)
    words, people = words_for(pairs, folder, measuring), anchors_with(measuring.anchors)
    manifest = read_manifest(folder) or Manifest()
    asked = Asked(manifest=manifest, loading=loading, batch_size=options.batch_size)
    for pair in pairs:
        if not asked.has(pair):
            check(pair.model, kind=pair.kind, options=loading)
    notes += [*options_without_effect(pairs, options), *describe_parts(pairs, loading, options)]
    for note in (*notes, *(cost for extra in extras for cost in extra.describe())):
        listener.note(note)
    if options.dry_run:
        _tell(pairs, folder, options, listener)
        for extra in extras:
            _tell(extra.pairs, folder / extra.name, options, extra.listener(listener))
        return Audit(folder=folder, asked=())
    groups: list[tuple[Sequence[Assignment], Callable[[str], str]]] = [(pairs, str)]
    groups += [(extra.pairs, extra.called) for extra in extras]
    listener.expect(
        {
            (pair.model, name(question.instrument.id)): question.expected
            for group, name in groups
            for pair in group
            if not asked.has(pair)
            for question in pair.questions
        }
    )
    with open_run(folder, seed=options.seed) as run:
        work = _Work(run=run, place=places.here, options=options, listener=listener)
        with closing(places):
            collected = _ask_all(work, places, pairs)
            for extra in extras:
                collected += _ask_further(work, places, extra)
        listener.stage("Measuring the answers")
        summary = current_summary(
            run, words, seed=options.seed, pairs=measuring.pairs, note=listener.note, anchors=people
        )
        if report:
            listener.stage("Writing the report")
        page = current_report(run, words, note=listener.note) if report else None
    return Audit(folder=folder, asked=tuple(collected), said=summary, report=page)


def _ask_all(work: _Work, places: Executors, pairs: Sequence[Assignment]) -> list[Collected]:
    """Enter the instruments in the run, ask all questions, and return summaries of the answers."""
    for question in (question for pair in pairs for question in pair.questions):
        enter_instrument(work.run, question, [pair.model for pair in pairs])
    results = places.each(
        work.run, pairs, lambda place, pair: [*_ask_model(replace(work, place=place), pair)]
    )
    return [answers for model_answers in results for answers in model_answers]


def _ask_further(work: _Work, places: Executors, further: Further) -> list[Collected]:
    """Ask what is asked only on request, in a run within the run; return summaries."""
    with open_run(work.run.place / further.name, seed=work.options.seed) as run:
        # What is known of a model, such as how far a lower precision is off, is not measured again.
        run.manifest = replace(
            run.manifest, models={**work.run.manifest.models, **run.manifest.models}
        )
        inner_work = replace(work, run=run, listener=further.listener(work.listener))
        collected = _ask_all(inner_work, places, further.pairs)
    return [
        replace(answers, instrument=further.called(answers.instrument)) for answers in collected
    ]


def _tell(
    pairs: Sequence[Assignment], folder: Path, options: AskOptions, listener: Listener
) -> None:
    """Tell the user what would be asked."""
    # A user who asks only for this wants every line of it.
    listener = replace(listener, detail=listener.note)
    for pair in pairs:
        for question in pair.questions:
            count, settings = counted(question.prompts), question.settings
            is_recursive = settings is not None and settings.depth > 1
            addition = ", and further sentences that depend on the answers" if is_recursive else ""
            listener.note(f"{question.instrument.id}, {pair.model}: {count}{addition}.")
        _tell_requests(pair, folder, options, listener)


def words_for(pairs: Sequence[Assignment], folder: Path, measuring: MeasureOptions) -> Lexicons:
    """Return the lexicons to read answers with, those of the instruments' language."""
    questions = [question for pair in pairs for question in pair.questions]
    manifest = read_manifest(folder)
    parser = measuring.parser or parser_of(manifest)
    shipped = check_languages(lexicon_uses(questions, manifest), replace(measuring, parser=parser))
    return load_words(measuring.ratings, measuring.gender_words, parser=parser, shipped=shipped)


@dataclass(frozen=True, kw_only=True)
class _Work:
    """What is the same for every model of an audit, except the place where it computes."""

    run: Run
    place: Executor
    options: AskOptions
    listener: Listener

    @property
    def asked(self) -> Asked:
        """Return what is answered."""
        loading, batch_size = self.place.options, self.options.batch_size
        return Asked(manifest=self.run.manifest, loading=loading, batch_size=batch_size)


def enter_instrument(run: Run, question: Question, models: Sequence[str]) -> None:
    """Enter the instrument in the run, which refuses one that differs from its own."""
    instrument = question.instrument
    has_trials = answers_to(instrument.kind) == "replies" or question.trials > 1
    main_count = sum(not is_control(prompt) for prompt in question.prompts)
    sample = question.chosen.sample if question.in_all not in {None, main_count} else None
    factor = question.identities
    levels = [level.name for level in factor.levels] if factor else []
    entry, *parts = (
        instrument_entry(
            instrument,
            prompts,
            question.settings,
            trials=question.trials if has_trials else None,
            measured=measure_entry(question.measure),
            in_all=question.in_all,
            identities={"factor": factor.id, "levels": levels} if factor else None,
            sample=sample,
        )
        for prompts in (question.prompts, *map(question.part, question.parts))
    )
    run.manifest = with_instrument(
        run.manifest, run.folder, name=instrument.id, entry=entry, parts=parts, models=models
    )


def _ask_model(work: _Work, pair: Assignment) -> Iterator[Collected]:
    """Load a model, yield summaries of its answers, and drop it afterwards."""
    name = pair.model
    split_words: set[str] = set()  # Noted once, and not again for each instrument.
    is_chat = model_kinds()[pair.kind].answers == "replies"
    for answers in (_ask_chat if is_chat else _ask_local)(work, pair):
        if count := len(answers.damaged):
            files = "1 file" if count == 1 else f"{count} files"
            work.listener.note(
                f"{answers.instrument}, {name}: {files} of stored answers had been damaged, so "
                "these questions were asked again."
            )
        if new_words := [word for word in answers.not_one_token if word not in split_words]:
            split_words.update(new_words)
            words = ", ".join(new_words)
            work.listener.note(
                f"{name} splits these words into several tokens, so it cannot fill them in, and "
                f"their probability is not recorded: {words}."
            )
        for remark in answers.remarks:
            work.listener.note(f"{answers.instrument}, {name}: {remark}")
        yield answers


def _ask_local(work: _Work, pair: Assignment) -> Iterator[Collected]:
    """Yield summaries of the answers of a model that computes here, or in workers."""
    row, run = model_kinds()[pair.kind], work.run
    stored = work.asked.collected(run.folder, pair)
    if stored is not None:
        for note in run.manifest.models[pair.model].notes:
            work.listener.detail(f"{pair.model}: {note}")
        for question, answers in zip(pair.questions, stored, strict=True):
            asked_prompts(question, work.listener.note)
            yield answers
        return
    model = work.place.load(pair.model, kind=row.name)
    limits = limits_for(model.identity.device, batch_size=work.options.batch_size)
    if row.answers == "fills":
        check_top_k(model, pair)
    _enter_model(work, pair, model, model_entry(model.identity, limits, **row.says(model)))
    work.place.enter(run)
    for question in pair.questions:
        yield _ask_question(work, question, model, limits)


def _ask_question(work: _Work, question: Question, model: Any, limits: BatchLimits) -> Collected:
    """Ask one instrument in batches on this machine; return a summary of the answers."""
    instrument, name, note = question.instrument, model.identity.name, work.listener.note
    keep_prompts(work.run, instrument.id, question.prompts)
    job = Job(
        run=work.run,
        instrument=instrument.id,
        prompts=asked_prompts(question, note),
        limits=limits,
        watch=work.listener.progress,
        group=work.place.group,
        known=work.asked.digest(question, model=name),
        first=[*question.parts.values()],
        phrases=carried_phrases(instrument, question.prompts, parts=question.parts.values())
        if question.measure and question.measure.adjusts
        else (),
    )
    adapter = mode_adapter(model, instrument.kind, question.prompts, question.settings)
    return ask_batches(job, adapter)


def _enter_model(work: _Work, pair: Assignment, model: Any, entry: Entry) -> None:
    """Enter the model in the run, with a lower precision's deviation; the run may refuse it."""
    run, identity = work.run, model.identity
    for note in identity.notes:
        work.listener.detail(f"{identity.name}: {note}")
    is_lower = identity.precision not in ("float32", None)
    if is_lower and identity.name not in run.manifest.models:
        deviation = _deviation(work, pair, model)
        entry = {**entry, **({} if deviation is None else {"deviation": deviation})}
    run.manifest = with_model(run.manifest, run.folder, name=identity.name, entry=entry)


def _deviation(work: _Work, pair: Assignment, low: object) -> Entry | None:
    """Return how far the model is from itself in float32; None: its kind cannot say."""
    row = model_kinds()[pair.kind]
    if row.deviation is None:
        return None
    prompts = [prompt for question in pair.questions for prompt in question.prompts]
    if row.answers == "likelihoods":
        texts = [
            prompt.text.replace(MASK, prompt.pronoun or "") for prompt in with_one_mask(prompts)
        ]
    else:
        texts = [prompt.asked for prompt in prompts if prompt.text.count(MASK) <= 1]
    top_k = max(question.settings.top_k if question.settings else 0 for question in pair.questions)
    sample = draw_sample(texts, top_k=top_k, seed=work.options.seed)
    return work.place.deviation(pair.model, kind=row.name, low=low, sample=sample)


def _ask_chat(work: _Work, pair: Assignment) -> Iterator[Collected]:
    """Yield summaries of a chat model's answers: next words and options, then replies."""
    run, place, options = work.run, work.place, work.options
    model = _load_chat(work, pair)
    place.enter(run)
    limits = limits_for(model.identity.device, batch_size=options.batch_size)
    local_kinds = () if behind_server(pair.model) else model_kinds()[pair.kind].here
    for question in pair.questions:
        if question.instrument.kind in local_kinds:
            yield _ask_question(work, question, model, limits)
    for question in pair.in_text:
        instrument = question.instrument
        keep_prompts(run, instrument.id, question.prompts)
        job = ChatJob(
            run=run,
            instrument=instrument.id,
            prompts=question.prompts,
            trials=question.trials,
            seed=options.seed,
            watch=work.listener.progress,
            words=instrument.kind == "complete",
            options=instrument.kind == "say",
            group=place.group,
        )
        yield ask_replies(job, model)
        yield from _with_replies(work, pair, question)


def _load_chat(work: _Work, pair: Assignment) -> Any:
    """Return the model, entered in the run, which may refuse it; tell what asking will take."""
    run, name, options, listener = work.run, pair.model, work.options, work.listener
    sampling = options.chats.sampling
    calling = replace(options.chats.calling, batch_size=options.batch_size)
    model = work.place.load(name, kind=pair.kind, sampling=sampling, calling=calling)
    for remark in model.identity.notes:
        listener.detail(f"{name}: {remark}")
    how: Entry = {"sampling": sampling, "seed": options.seed, **address_entry(name)}
    entry = model_entry(model.identity, **how)
    old_manifest = run.manifest
    run.manifest = with_model(old_manifest, run.folder, name=name, entry=entry)
    if _tell_requests(pair, run.folder, options, listener) and isinstance(model, Serves):
        try:
            model.meet()
        except ModelError:
            # A name that no server answers to must not bind the folder.
            run.manifest = old_manifest
            raise
    return model


def _tell_requests(pair: Assignment, run: Path, options: AskOptions, listener: Listener) -> bool:
    """Return whether anything is left to ask a chat model; tell the user what that will take."""
    forecasts = {}
    model, manifest = pair.model, read_manifest(run) or Manifest()
    for question in pair.in_text:
        name = question.instrument.id
        replies = replies_of(run, manifest, model=model, instrument=name)
        stored = known_questions(replies, question.prompts, trials=question.trials)
        missing = forecast(stored, options.chats.sampling)
        if missing.requests:
            forecasts[name] = missing
    prices = options.chats.prices
    for name, missing in forecasts.items() if len(forecasts) > 1 else ():
        listener.detail(f"{name}, {model}: {forecast_text(missing, prices)}")
    if forecasts:
        total = Forecast(*map(sum, zip(*forecasts.values(), strict=True)))
        listener.note(f"{model}: {forecast_text(total, prices)}")
    return bool(forecasts)


def _with_replies(work: _Work, pair: Assignment, asked: Question) -> Iterator[Collected]:
    """Yield the options' probabilities that a server gave with its replies, if any."""
    question = pair.beside.get(asked.instrument.id)
    if question is None:
        return
    run, model, note = work.run, pair.model, work.listener.note
    options = options_of_replies(
        run.folder, asked.prompts, question.prompts, model=model, note=note
    )
    if options is not None:
        enter_instrument(run, question, [model])
        keep_prompts(run, question.instrument.id, question.prompts)
        yield keep_options(run, options, instrument=question.instrument.id)
