"""audit(): the whole flow on one screen; the command line and users both call it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goffman.analysis.summary import Summary
from goffman.anchors.loader import anchors_with
from goffman.execution import (
    ChatCollector,
    ChatQuestion,
    Executor,
    Executors,
    all_answered,
    is_answered,
    known_digest,
)
from goffman.forecast import describe_parts
from goffman.instruments.types import MASK
from goffman.measures.registry import measure_entry
from goffman.models.base import LoadOptions
from goffman.models.precision_deviation import draw_sample
from goffman.models.registry import answers_to, model_kinds
from goffman.models.resolve import check
from goffman.models.server_address import behind_server
from goffman.options import AskOptions, Listener, MeasureOptions
from goffman.planning import (
    Assignment,
    Question,
    asked_prompts,
    assign,
    assign_paraphrases,
    check_languages,
    check_names,
    check_options,
    check_top_k,
    counted,
    describe_paraphrases,
    lexicon_uses,
    options_without_effect,
    paraphrase_listener,
    paraphrase_name,
)
from goffman.report.cache import current_report, current_summary
from goffman.runs.batch_plan import (
    BatchLimits,
    limits_for,
    pronoun_forms,
    with_one_mask,
)
from goffman.runs.collect import (
    Collected,
    Job,
    ask_choices,
    ask_fills,
    ask_labels,
    ask_likelihoods,
    ask_next_words,
)
from goffman.runs.manifest import (
    Manifest,
    instrument_entry,
    model_entry,
    read_manifest,
    with_instrument,
    with_model,
)
from goffman.runs.reply_probabilities import keep_options, options_of_replies
from goffman.runs.run import (
    PARAPHRASES,
    Run,
    check_place,
    default_folder,
    keep_prompts,
    open_run,
)
from goffman.scoring import load_words, parser_of

if TYPE_CHECKING:
    from goffman.analysis.summary import MainResult
    from goffman.anchors.types import Anchor
    from goffman.lexicons.lexicons import Lexicons
    from goffman.models.base import Identity
    from goffman.runs.manifest import Entry


@dataclass(frozen=True, kw_only=True)
class Audit:
    """Where answers, scores and estimates lie, how many answers there are, and what they say."""

    folder: Path
    asked: tuple[Collected, ...]
    said: Summary = field(default_factory=Summary)
    """What the answers say."""
    report: Path | None = None
    """The page that shows it; None: none was asked for."""

    @property
    def results(self) -> tuple[MainResult, ...]:
        """The main result of each instrument and model."""
        return self.said.results

    @property
    def summary(self) -> tuple[str, ...]:
        """What the answers say, in sentences with their uncertainty."""
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
    """Every answer of the models to the instruments, and their scores, on disk.

    The same call again goes on where it was, and asks nothing that is there.

    ``models``: hub ids, folders, ``bundled:`` names, addresses of servers; ``instruments``: names
    or folders, by default every built-in one that a model can answer; ``report``: also
    report.html, figures/ and tables/.
    """
    loading, options = loading or LoadOptions(), options or AskOptions()
    listener, measuring = listener or Listener(), measuring or MeasureOptions()
    check_names(models)
    loading = (places := Executors(loading, note=listener.note)).options
    # Said only when all is known to fit: before a fault, notes would hide it.
    notes: list[str] = []
    noting = replace(listener, note=notes.append)
    pairs = assign(models, instruments, loading=loading, options=options, listener=noting)
    further = assign_paraphrases(pairs, options)
    of_models = {pair.model: pair.kind for pair in pairs}
    check_options(of_models, labels=loading.labels, pairs=measuring.pairs)
    folder = output or default_folder(models)
    check_place(folder)
    words, people = words_for(pairs, folder, measuring), anchors_with(measuring.anchors)
    there, batch_size = read_manifest(folder) or Manifest(), options.batch_size
    for pair in pairs:
        if not is_answered(there, pair, options=loading, batch_size=batch_size):
            check(pair.model, kind=pair.kind, options=loading)
    notes += [
        *options_without_effect(pairs, options),
        *describe_parts(pairs, loading, options),
    ]
    for note in (*notes, *describe_paraphrases(further)):
        listener.note(note)
    if options.dry_run:
        _tell(pairs, folder, _chatting(options, places.here, listener), listener.note)
        apart = paraphrase_listener(listener, further)
        _tell(further, folder / PARAPHRASES, _chatting(options, places.here, apart), apart.note)
        return Audit(folder=folder, asked=())
    with open_run(folder, seed=options.seed) as run:
        work = _Work(run=run, place=places.here, options=options, listener=listener)
        with places:
            asked = _ask_all(work, places, pairs) + _ask_paraphrases(work, places, further)
        said = _measured(work, words, measuring, people)
        page = current_report(run, words, note=listener.note) if report else None
    return Audit(folder=folder, asked=tuple(asked), said=said, report=page)


def _ask_all(work: _Work, places: Executors, pairs: Sequence[Assignment]) -> list[Collected]:
    """What there is of all answers; the run knows the instruments, or has refused them."""
    for question in (question for pair in pairs for question in pair.questions):
        enter_instrument(work.run, question, [pair.model for pair in pairs])
    found = places.each(
        work.run, pairs, lambda place, pair: [*_ask_model(replace(work, place=place), pair)]
    )
    return [answers for of_model in found for answers in of_model]


def _ask_paraphrases(
    work: _Work, places: Executors, pairs: Sequence[Assignment]
) -> list[Collected]:
    """The same of wordings that are asked only on request, in a run within the run."""
    if not pairs:
        return []
    with open_run(work.run.place / PARAPHRASES, seed=work.options.seed) as run:
        # What is known of a model, such as how far a lower precision is off, is not found anew.
        run.manifest = replace(
            run.manifest, models={**work.run.manifest.models, **run.manifest.models}
        )
        apart = replace(work, run=run, listener=paraphrase_listener(work.listener, pairs))
        found = _ask_all(apart, places, pairs)
    return [replace(one, instrument=paraphrase_name(one.instrument)) for one in found]


def _tell(
    pairs: Sequence[Assignment], folder: Path, chatting: ChatCollector, note: Callable[[str], None]
) -> None:
    """The user is told what would be asked."""
    for pair in pairs:
        for question in pair.questions:
            count, settings = counted(question.prompts), question.settings
            deeper = settings is not None and settings.depth > 1
            more = ", and further sentences that depend on the answers" if deeper else ""
            note(f"{question.instrument.id}, {pair.model}: {count}{more}.")
        chatting.tell(folder, pair.model, _chat_questions(pair))


def words_for(pairs: Sequence[Assignment], folder: Path, measuring: MeasureOptions) -> Lexicons:
    """What answers are read with: the lexicons that are of the instruments' language."""
    questions = [question for pair in pairs for question in pair.questions]
    manifest = read_manifest(folder)
    parser = measuring.parser or parser_of(manifest)
    shipped = check_languages(lexicon_uses(questions, manifest), replace(measuring, parser=parser))
    return load_words(measuring.ratings, measuring.gender_words, parser=parser, shipped=shipped)


@dataclass(frozen=True, kw_only=True)
class _Work:
    """What is the same for every model of an audit, but for where it calculates."""

    run: Run
    place: Executor
    options: AskOptions
    listener: Listener

    def job(self, question: Question, model: str, limits: BatchLimits) -> Job:
        """What a model that the run has not refused is asked; its prompts are on disk."""
        keep_prompts(self.run, question.instrument.id, question.prompts)
        return Job(
            run=self.run,
            instrument=question.instrument.id,
            prompts=asked_prompts(question, self.listener.note),
            limits=limits,
            watch=self.listener.progress,
            team=self.place.team,
            known=known_digest(self.run.manifest, question, model=model, **self.told),
            first=question.balanced,
        )

    @property
    def told(self) -> dict[str, Any]:
        """How models are loaded and asked, as far as the sentences to ask depend on it."""
        return {"options": self.place.options, "batch_size": self.options.batch_size}


def enter_instrument(run: Run, question: Question, models: Sequence[str]) -> None:
    """The run knows the instrument, or has refused it."""
    instrument, prompts = question.instrument, question.prompts
    replied = answers_to(instrument.kind) == "replies" or question.trials > 1
    trials = {"trials": question.trials} if replied else {}
    beside = {**trials, "measured": measure_entry(question.measure), "in_all": question.in_all}
    entry, part = (
        {**instrument_entry(instrument, some, question.settings), **beside}
        for some in (prompts, question.part)
    )
    run.manifest = with_instrument(
        run.manifest, run.folder, name=instrument.id, entry=entry, part=part, models=models
    )


def _measured(
    work: _Work, words: Lexicons, measuring: MeasureOptions, people: Sequence[Anchor]
) -> Summary:
    """The summary; scores, estimates and what stands beside people are on disk."""
    return current_summary(
        work.run,
        words,
        seed=work.options.seed,
        pairs=measuring.pairs,
        note=work.listener.note,
        anchors=people,
    )


def _ask_model(work: _Work, pair: Assignment) -> Iterator[Collected]:
    """What there is of one model's answers; it is loaded here and gone afterwards."""
    name = pair.model
    split: set[str] = set()  # Said once, and not again for each instrument.
    ask = _ask_chat if model_kinds()[pair.kind].answers == "replies" else _ask_local
    for asked in ask(work, pair):
        if asked.damaged:
            count = len(asked.damaged)
            files = "1 file" if count == 1 else f"{count} files"
            work.listener.note(
                f"{asked.instrument}, {name}: {files} of stored answers had been damaged, so "
                "these questions were asked again."
            )
        if new := [word for word in asked.not_one_token if word not in split]:
            split.update(new)
            words = ", ".join(new)
            work.listener.note(
                f"{name} splits these words into several tokens, so it cannot fill them in, and "
                f"their probability is not recorded: {words}."
            )
        for remark in asked.remarks:
            work.listener.note(f"{asked.instrument}, {name}: {remark}")
        yield asked


def _ask_local(work: _Work, pair: Assignment) -> Iterator[Collected]:
    """What there is of the answers of a model that calculates here, or in workers."""
    row, run = model_kinds()[pair.kind], work.run
    known = all_answered(run.folder, run.manifest, pair, **work.told)
    if known is not None:
        for note in run.manifest.models[pair.model].notes:
            work.listener.note(f"{pair.model}: {note}")
        for question, asked in zip(pair.questions, known, strict=True):
            asked_prompts(question, work.listener.note)
            yield asked
        return
    model = work.place.load(pair.model, kind=row.name)
    limits = limits_for(model.identity.device, batch_size=work.options.batch_size)
    if row.answers == "fills":
        check_top_k(model, pair)
    entry = {**model_entry(model.identity, limits), **row.says(model)}
    _enter_model(work, model.identity, entry, lambda: _deviation(work, pair, model))
    work.place.enter(work.run)
    for question in pair.questions:
        yield _ask_question(work, question, model, limits)


def _ask_question(work: _Work, question: Question, model: Any, limits: BatchLimits) -> Collected:
    """What there is of the answers to one instrument, by batches on this machine."""
    job = work.job(question, model.identity.name, limits)
    kind = question.instrument.kind
    if kind == "complete" and question.settings:
        return ask_next_words(job, model, question.settings)
    if kind == "choose":
        return ask_choices(job, model)
    table = model_kinds()[model.identity.kind].answers
    if table == "fills" and question.settings:
        return ask_fills(job, model, question.settings)
    if table == "likelihoods":
        return ask_likelihoods(job, model, pronoun_forms(question.prompts))
    return ask_labels(job, model)


def _deviation(work: _Work, pair: Assignment, low: object) -> Entry | None:
    """How far the model is from itself in float32; None: its kind cannot say."""
    row = model_kinds()[pair.kind]
    if row.deviation is None:
        return None
    if row.answers == "likelihoods":
        several = [with_one_mask(question.prompts) for question in pair.questions]
        texts = [
            one.text.replace(MASK, one.pronoun or "") for prompts in several for one in prompts
        ]
    else:
        every = [prompt.text for question in pair.questions for prompt in question.prompts]
        texts = [text for text in every if text.count(MASK) <= 1]
    top_k = max(question.settings.top_k if question.settings else 0 for question in pair.questions)
    sample = draw_sample(texts, top_k=top_k, seed=work.options.seed)
    return work.place.deviation(pair.model, kind=row.name, low=low, sample=sample)


def _ask_chat(work: _Work, pair: Assignment) -> Iterator[Collected]:
    """What there is of a chat model's answers: next words and options, then replies."""
    chatting = _chatting(work.options, work.place, work.listener)
    questions = _chat_questions(pair)
    model = chatting.load(work.run, pair.model, questions, kind=pair.kind)
    work.place.enter(work.run)
    limits = limits_for(model.identity.device, batch_size=work.options.batch_size)
    for question in pair.questions:
        if (
            not behind_server(pair.model)
            and question.instrument.kind in model_kinds()[pair.kind].here
        ):
            yield _ask_question(work, question, model, limits)
    for asked in chatting.ask(work.run, model, questions):
        yield asked
        yield from _with_replies(work, pair, asked.instrument)


def _with_replies(work: _Work, pair: Assignment, said: str) -> Iterator[Collected]:
    """The options' probabilities that a server gave with its replies to an instrument, if any."""
    if said not in pair.beside:
        return
    question = pair.beside[said]
    (in_text,) = (one for one in pair.questions if one.instrument.id == said)
    found = options_of_replies(
        work.run.folder,
        in_text.prompts,
        question.prompts,
        model=pair.model,
        note=work.listener.note,
    )
    if found is not None:
        enter_instrument(work.run, question, [pair.model])
        keep_prompts(work.run, question.instrument.id, question.prompts)
        yield keep_options(work.run, found, instrument=question.instrument.id)


def _chatting(options: AskOptions, place: Executor, listener: Listener) -> ChatCollector:
    together = replace(options.chats.calling, batch_size=options.batch_size)
    return ChatCollector(
        options=replace(options.chats, calling=together),
        loading=place.options,
        seed=options.seed,
        watch=listener.progress,
        note=listener.note,
        load_model=place.load,
        team=place.team,
    )


def _chat_questions(pair: Assignment) -> list[ChatQuestion]:
    """What a chat model is to reply to."""
    row, served = model_kinds()[pair.kind], behind_server(pair.model)
    return [
        ChatQuestion(
            instrument=one.instrument.id,
            prompts=one.prompts,
            trials=one.trials,
            words=one.instrument.kind == "complete",
            options=one.instrument.kind == "say",
        )
        for one in pair.questions
        if row.table_for(one.instrument.kind, served=served) == "replies"
    ]


def _enter_model(
    work: _Work, identity: Identity, entry: Entry, deviation: Callable[[], Entry | None]
) -> None:
    """The run knows the model, and a lower precision's deviation, or has refused it."""
    run = work.run
    for note in identity.notes:
        work.listener.note(f"{identity.name}: {note}")
    lower = identity.precision not in ("float32", None)
    if lower and identity.name not in run.manifest.models and (found := deviation()) is not None:
        entry = {**entry, "deviation": found}
    run.manifest = with_model(run.manifest, run.folder, name=identity.name, entry=entry)
