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
    findings: Summary = field(default_factory=Summary)
    """What the answers say."""
    report: Path | None = None
    """The page of the report; None: no report was requested."""

    @property
    def results(self) -> tuple[MainResult, ...]:
        """Return the main result of each instrument and model."""
        return self.findings.results

    @property
    def summary(self) -> tuple[str, ...]:
        """Return what the answers say, in sentences with their uncertainty."""
        return self.findings.details


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
    loading = (executors := Executors(loading, note=listener.note)).options
    # Told only when all options are known to fit: notes before an error would hide it.
    notes: list[str] = []
    noting = replace(listener, note=notes.append)
    assignments = assign(models, instruments, loading=loading, options=options, listener=noting)
    extras = assign_further(assignments, options, listener=noting)
    kinds = {assignment.model: assignment.kind for assignment in assignments}
    check_options(kinds, labels=loading.labels, pairs=measuring.pairs)
    folder = output or default_folder(models)
    check_place(folder)
    words, people = words_for(assignments, folder, measuring), anchors_with(measuring.anchors)
    manifest = read_manifest(folder) or Manifest()
    asked = Asked(manifest=manifest, loading=loading, batch_size=options.batch_size)
    for assignment in assignments:
        if not asked.has(assignment):
            check(assignment.model, kind=assignment.kind, options=loading)
    notes += [
        *options_without_effect(assignments, options),
        *describe_parts(assignments, loading, options),
    ]
    for note in (*notes, *(cost for extra in extras for cost in extra.describe())):
        listener.note(note)
    if options.dry_run:
        _tell(assignments, folder, options, listener)
        for extra in extras:
            _tell(extra.assignments, folder / extra.name, options, extra.listener(listener))
        return Audit(folder=folder, asked=())
    groups: list[tuple[Sequence[Assignment], Callable[[str], str]]] = [(assignments, str)]
    groups += [(extra.assignments, extra.called) for extra in extras]
    listener.expect(
        {
            (assignment.model, name(question.instrument.id)): question.expected
            for group, name in groups
            for assignment in group
            if not asked.has(assignment)
            for question in assignment.questions
        }
    )
    with open_run(folder, seed=options.seed) as run:
        work = _Work(run=run, executor=executors.here, options=options, listener=listener)
        with closing(executors):
            collected = _ask_all(work, executors, assignments)
            for extra in extras:
                collected += _ask_further(work, executors, extra)
        listener.stage("Measuring the answers")
        summary = current_summary(
            run, words, seed=options.seed, pairs=measuring.pairs, note=listener.note, anchors=people
        )
        if report:
            listener.stage("Writing the report")
        page = current_report(run, words, note=listener.note) if report else None
    return Audit(folder=folder, asked=tuple(collected), findings=summary, report=page)


def _ask_all(
    work: _Work, executors: Executors, assignments: Sequence[Assignment]
) -> list[Collected]:
    """Enter the instruments in the run, ask all questions, and return summaries of the answers."""
    for question in (question for assignment in assignments for question in assignment.questions):
        enter_instrument(work.run, question, [assignment.model for assignment in assignments])
    results = executors.each(
        work.run,
        assignments,
        lambda executor, assignment: [*_ask_model(replace(work, executor=executor), assignment)],
    )
    return [answers for model_answers in results for answers in model_answers]


def _ask_further(work: _Work, executors: Executors, further: Further) -> list[Collected]:
    """Ask paraphrases or second identities, in a folder within the run; return summaries."""
    with open_run(work.run.place / further.name, seed=work.options.seed) as run:
        # The entries of models, such as how far a lower precision is off, are not measured again.
        run.manifest = replace(
            run.manifest, models={**work.run.manifest.models, **run.manifest.models}
        )
        inner_work = replace(work, run=run, listener=further.listener(work.listener))
        collected = _ask_all(inner_work, executors, further.assignments)
    return [
        replace(answers, instrument=further.called(answers.instrument)) for answers in collected
    ]


def _tell(
    assignments: Sequence[Assignment], folder: Path, options: AskOptions, listener: Listener
) -> None:
    """Tell the user what would be asked."""
    # A user who asks only for this wants every line of it.
    listener = replace(listener, detail=listener.note)
    for assignment in assignments:
        for question in assignment.questions:
            count, settings = counted(question.prompts), question.settings
            is_recursive = settings is not None and settings.depth > 1
            addition = ", and further sentences that depend on the answers" if is_recursive else ""
            listener.note(f"{question.instrument.id}, {assignment.model}: {count}{addition}.")
        _tell_requests(assignment, folder, options, listener)


def words_for(
    assignments: Sequence[Assignment], folder: Path, measuring: MeasureOptions
) -> Lexicons:
    """Return the lexicons to read answers with, those of the instruments' language."""
    questions = [question for assignment in assignments for question in assignment.questions]
    manifest = read_manifest(folder)
    parser = measuring.parser or parser_of(manifest)
    shipped = check_languages(lexicon_uses(questions, manifest), replace(measuring, parser=parser))
    return load_words(measuring.ratings, measuring.gender_words, parser=parser, shipped=shipped)


@dataclass(frozen=True, kw_only=True)
class _Work:
    """What is the same for every model of an audit, except the executor."""

    run: Run
    executor: Executor
    options: AskOptions
    listener: Listener

    @property
    def asked(self) -> Asked:
        """Return the manifest's record of answers, to check which of them can be used again."""
        loading, batch_size = self.executor.options, self.options.batch_size
        return Asked(manifest=self.run.manifest, loading=loading, batch_size=batch_size)


def enter_instrument(run: Run, question: Question, models: Sequence[str]) -> None:
    """Enter an instrument in the manifest; raise RunError if it differs from the run's own."""
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


def _ask_model(work: _Work, assignment: Assignment) -> Iterator[Collected]:
    """Load a model, yield summaries of its answers, and drop it afterwards."""
    name = assignment.model
    split_words: set[str] = set()  # Noted once, and not again for each instrument.
    is_chat = model_kinds()[assignment.kind].answers == "replies"
    for answers in (_ask_chat if is_chat else _ask_in_batches)(work, assignment):
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


def _ask_in_batches(work: _Work, assignment: Assignment) -> Iterator[Collected]:
    """Yield summaries of the answers of a model that computes in this process or in workers.

    The model is loaded and entered in the run's manifest only if not all answers are stored.
    """
    stored = work.asked.collected(work.run.folder, assignment)
    if stored is not None:
        for note in work.run.manifest.models[assignment.model].notes:
            work.listener.detail(f"{assignment.model}: {note}")
        for question, answers in zip(assignment.questions, stored, strict=True):
            asked_prompts(question, work.listener.note)
            yield answers
        return
    model, limits = _load_and_enter(work, assignment)
    for question in assignment.questions:
        yield _ask_question(work, question, model, limits)


def _load_and_enter(work: _Work, assignment: Assignment) -> tuple[Any, BatchLimits]:
    """Return a model with its batch sizes, after entering it and its workers in the manifest."""
    kind = model_kinds()[assignment.kind]
    model = work.executor.load(assignment.model, kind=kind.name)
    limits = limits_for(model.identity.device, batch_size=work.options.batch_size)
    if kind.answers == "fills":
        check_top_k(model, assignment)
    _enter_model(work, assignment, model, model_entry(model.identity, limits, **kind.says(model)))
    work.executor.enter(work.run)
    return model, limits


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
        group=work.executor.group,
        known=work.asked.digest(question, model=name),
        first=[*question.parts.values()],
        phrases=carried_phrases(instrument, question.prompts, parts=question.parts.values())
        if question.measure and question.measure.adjusts
        else (),
    )
    adapter = mode_adapter(model, instrument.kind, question.prompts, question.settings)
    return ask_batches(job, adapter)


def _enter_model(work: _Work, assignment: Assignment, model: Any, entry: Entry) -> None:
    """Enter a model in the manifest, with the deviation of a precision below float32.

    Raise RunError if the run has another model of that name.
    """
    run, identity = work.run, model.identity
    for note in identity.notes:
        work.listener.detail(f"{identity.name}: {note}")
    is_lower = identity.precision not in ("float32", None)
    if is_lower and identity.name not in run.manifest.models:
        deviation = _deviation(work, assignment, model)
        entry = {**entry, **({} if deviation is None else {"deviation": deviation})}
    run.manifest = with_model(run.manifest, run.folder, name=identity.name, entry=entry)


def _deviation(work: _Work, assignment: Assignment, low: object) -> Entry | None:
    """Return how far a model's answers are from its own in float32; None if its kind cannot say."""
    kind = model_kinds()[assignment.kind]
    if kind.deviation is None:
        return None
    prompts = [prompt for question in assignment.questions for prompt in question.prompts]
    if kind.answers == "likelihoods":
        texts = [
            prompt.text.replace(MASK, prompt.pronoun or "") for prompt in with_one_mask(prompts)
        ]
    else:
        texts = [prompt.asked for prompt in prompts if prompt.text.count(MASK) <= 1]
    top_k = max(
        question.settings.top_k if question.settings else 0 for question in assignment.questions
    )
    sample = draw_sample(texts, top_k=top_k, seed=work.options.seed)
    return work.executor.deviation(assignment.model, kind=kind.name, low=low, sample=sample)


def _ask_chat(work: _Work, assignment: Assignment) -> Iterator[Collected]:
    """Yield summaries of a chat model's answers: next words and options, then replies."""
    run, executor, options = work.run, work.executor, work.options
    model = _load_chat(work, assignment)
    executor.enter(run)
    limits = limits_for(model.identity.device, batch_size=options.batch_size)
    local_kinds = () if behind_server(assignment.model) else model_kinds()[assignment.kind].here
    for question in assignment.questions:
        if question.instrument.kind in local_kinds:
            yield _ask_question(work, question, model, limits)
    for question in assignment.in_text:
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
            group=executor.group,
        )
        yield ask_replies(job, model)
        yield from _with_replies(work, assignment, question)


def _load_chat(work: _Work, assignment: Assignment) -> Any:
    """Return a chat model after entering it in the manifest; tell the user what asking takes.

    Raise RunError if the run has another model of that name.
    """
    run, name, options, listener = work.run, assignment.model, work.options, work.listener
    sampling = options.chats.sampling
    calling = replace(options.chats.calling, batch_size=options.batch_size)
    model = work.executor.load(name, kind=assignment.kind, sampling=sampling, calling=calling)
    for remark in model.identity.notes:
        listener.detail(f"{name}: {remark}")
    how: Entry = {"sampling": sampling, "seed": options.seed, **address_entry(name)}
    entry = model_entry(model.identity, **how)
    old_manifest = run.manifest
    run.manifest = with_model(old_manifest, run.folder, name=name, entry=entry)
    if _tell_requests(assignment, run.folder, options, listener) and isinstance(model, Serves):
        try:
            model.meet()
        except ModelError:
            # A name that no server answers to must not bind the folder.
            run.manifest = old_manifest
            raise
    return model


def _tell_requests(
    assignment: Assignment, run: Path, options: AskOptions, listener: Listener
) -> bool:
    """Return whether anything is left to ask a chat model; tell the user what that will take."""
    forecasts = {}
    model, manifest = assignment.model, read_manifest(run) or Manifest()
    for question in assignment.in_text:
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


def _with_replies(work: _Work, assignment: Assignment, asked: Question) -> Iterator[Collected]:
    """Store the options' probabilities that a server gave with its replies; yield their summary.

    Yield nothing if the server gave none.
    """
    question = assignment.beside.get(asked.instrument.id)
    if question is None:
        return
    run, model, note = work.run, assignment.model, work.listener.note
    options = options_of_replies(
        run.folder, asked.prompts, question.prompts, model=model, note=note
    )
    if options is not None:
        enter_instrument(run, question, [model])
        keep_prompts(run, question.instrument.id, question.prompts)
        yield keep_options(run, options, instrument=question.instrument.id)
