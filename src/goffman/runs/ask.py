"""The only loop that has models asked: plan, skip what is there, ask part by part, write them.

Who asks a part is all the same to it: the model in this process, or workers that have its weights.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from goffman.errors import AskingError
from goffman.models.batches import distinct
from goffman.records import Prompt
from goffman.runs.folder import Run
from goffman.runs.manifest import asker_of, begun, with_answers
from goffman.runs.plan import (
    BatchLimits,
    Plan,
    Settings,
    part_digest,
    part_sentences,
    plan_in_turn,
    still_to_ask,
)
from goffman.runs.recursion import Node, children, roots, with_forms
from goffman.runs.rows import Askers, words_put_back
from goffman.runs.source import code_digest
from goffman.runs.store import (
    Shelf,
    answers_folder,
    forget_others,
    read_parts,
    sound_parts,
    write_part,
)
from goffman.runs.voices import Choosing, Completing, Filling, Labelling, Scoring, Voice

if TYPE_CHECKING:
    from goffman.models.base import Classifies, Continues, Fills, Scores
    from goffman.models.crew import Crew

OTHERS = (
    "Stored files that were not this model's answers to these prompts, and were asked again: {}. "
    "They come from another run, an earlier goffman or another version of the tokenizers package."
)


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far the asking of one step is."""

    model: str
    instrument: str
    step: int
    steps: int
    """More than one with recursive masking, where a step's sentences come from the one before."""
    done: int
    """Sentences that are answered, by this process or an earlier one."""
    total: int
    rate: float
    """Sentences a second that this process asked; 0 before the first."""
    note: str = ""
    """What else is to be seen while it goes on: "12 timed out, 4 at once"."""
    what: str = "sentences"
    """What is counted, in a word for the user."""


Watch = Callable[[Progress], None]
"""Called before the first batch of a step and after every one."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """What a model is asked, and where the answers go."""

    run: Run
    instrument: str
    """The instrument's id."""
    prompts: Sequence[Prompt]
    limits: BatchLimits
    watch: Watch
    crew: Crew | None = None
    """Who asks; None: the model in this process."""
    first: frozenset[str] = frozenset()
    """The ids of prompts that are asked before the others, in parts of their own."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What there is now of a model's answers to an instrument."""

    model: str
    instrument: str
    sentences: int
    """Different sentences, over all steps."""
    rows: int
    asked_now: int
    """Sentences that this process asked; 0: all answers were there."""
    damaged: tuple[str, ...]
    """Files that were damaged, and whose part was asked again."""
    not_one_token: tuple[str, ...] = ()
    """Target words that have no answers, because they are not one token for this model."""
    remarks: tuple[str, ...] = ()
    """What the user should know of the answers, in sentences."""


def ask_fills(job: Job, model: Fills, settings: Settings) -> Asked:
    """What there is of the model's fills, once every prompt is answered, step by step."""
    voice = Filling(model, settings)
    shelf = _shelf(job, voice)
    nodes = roots(job.prompts)
    counts = [_ask_step(job, voice, shelf, nodes, step=1)]
    if settings.depth > 1 and _all_there(job, voice, shelf, counts[0]):
        sentences = job.run.manifest.answers[voice.name][job.instrument].sentences or 0
        return _finished(job, voice, shelf, [(sentences, 0, 0)], not_one_token=voice.not_one_token)
    for step in range(2, settings.depth + 1):
        words = _words(shelf, step=step - 1, width=settings.width)
        nodes = children(nodes, words, placement=settings.placement, unfit=voice.unfit)
        counts.append(_ask_step(job, voice, shelf, nodes, step=step))
    return _finished(job, voice, shelf, counts, not_one_token=voice.not_one_token)


def _all_there(job: Job, voice: Voice, shelf: Shelf, first: tuple[int, int, int]) -> bool:
    """Whether nothing of the later steps can be missing, given the counts of the first.

    The same answers to the same prompts, and the same code, give the same sentences.
    """
    there = job.run.manifest.answers[voice.name][job.instrument]
    as_written = (len(shelf.parts), shelf.sha256, code_digest())
    untouched = first[1:] == (0, 0) and not (shelf.damaged or shelf.foreign)
    return untouched and (there.parts, there.sha256, there.code) == as_written


def ask_labels(job: Job, model: Classifies) -> Asked:
    """What there is of the model's labels, once every prompt is answered."""
    return _ask_once(job, Labelling(model))


def ask_next_words(job: Job, model: Continues, settings: Settings) -> Asked:
    """What there is of the words that the model goes on with, as fills, at every blank."""
    return _ask_once(job, Completing(model, settings))


def ask_choices(job: Job, model: Continues) -> Asked:
    """What there is of the options' probabilities, once every prompt has them."""
    return _ask_once(job, Choosing(model, {one.id: one.options for one in job.prompts}))


def _ask_once(job: Job, voice: Voice) -> Asked:
    """What there is of a voice's answers to the prompts themselves."""
    shelf = _shelf(job, voice)
    counts = [_ask_step(job, voice, shelf, roots(job.prompts), step=1)]
    return _finished(job, voice, shelf, counts)


def ask_likelihoods(job: Job, model: Scores, forms: Mapping[str, Sequence[str]]) -> Asked:
    """What there is of the model's likelihoods, once every prompt has one with each of its forms.

    ``forms``: prompt id → the words that may stand in the place of its mask.
    """
    voice = Scoring(model)
    shelf = _shelf(job, voice)
    nodes = with_forms(roots(job.prompts), forms)
    counts = [_ask_step(job, voice, shelf, nodes, step=1)]
    return _finished(job, voice, shelf, counts)


def _shelf(job: Job, voice: Voice) -> Shelf:
    """What is sound on disk; the manifest (to be saved with the first question) knows the pair.

    Steps that are not asked have no place there.
    """
    run, instrument = job.run, job.instrument
    if instrument not in run.manifest.answers.get(voice.name, {}):
        run.manifest = with_answers(
            run.manifest, model=voice.name, instrument=instrument, entry=begun(voice.table)
        )
    folder = answers_folder(
        job.run.folder, voice.table, model=voice.name, instrument=job.instrument
    )
    shelf = sound_parts(folder, model=voice.name, clear=True)
    others = {step for step, _ in shelf.parts} - {*range(1, voice.steps + 1)}
    for step in sorted(others):
        forget_others(shelf, step=step, asked={})
    return shelf


def _ask_step(
    job: Job, voice: Voice, shelf: Shelf, nodes: Sequence[Node], *, step: int
) -> tuple[int, int, int]:
    """The numbers of sentences in all, of those asked now, and of parts that answered others.

    Afterwards all parts are on disk.
    """
    texts, positions = distinct([node.text for node in nodes])
    encoded = voice.encode(texts)
    first = {at for at, node in enumerate(nodes) if node.prompt_id in job.first}
    plan = plan_in_turn([encoded[position] for position in positions], job.limits, first=first)
    asker = asker_of(
        job.run.manifest, model=voice.name, instrument=job.instrument, settings=voice.settings
    )
    names = [f"{node.prompt_id}/{node.parent}" for node in nodes]
    digest = partial(part_digest, plan, names=names, asker=asker)
    known = [number for at, number in shelf.parts if at == step and number < len(plan.parts)]
    others = forget_others(shelf, step=step, asked={number: digest(number) for number in known})
    todo = still_to_ask(plan, {number for at, number in shelf.parts if at == step})
    to_ask = sum(len(part_sentences(plan, number)) for number in todo)
    count = _Counter(job, voice, step=step, total=len(plan.sentences), to_ask=to_ask)

    def write(number: int, answers: Sequence[Any]) -> None:
        askers = Askers.of(nodes, [plan.askers[index] for index in part_sentences(plan, number)])
        rows = voice.rows(answers, askers, step=step)
        key = (step, number)
        shelf.parts[key] = write_part(shelf.folder, key, rows, asked=digest(number))

    # A part is written while the next one is asked; two are in memory at most. Where asking fails,
    # the part that is being written is kept: leaving the block waits for it. The manifest comes
    # first: it must know who is asked before there are answers.
    asked = _asked_here if job.crew is None else _asked_by_workers
    with ThreadPoolExecutor(max_workers=1) as writer:
        writing: Future[None] | None = writer.submit(job.run.begin) if todo else None
        for number, answers in asked(job, voice, plan, todo, count):
            if writing:
                writing.result()
            writing = writer.submit(write, number, answers)
            job.run.asked(sum(map(len, plan.parts[number])))
        if writing:
            writing.result()
    return len(plan.sentences), to_ask, others


def _asked_here(
    job: Job, voice: Voice, plan: Plan, todo: Sequence[int], count: _Counter
) -> Iterator[tuple[int, list[Any]]]:
    """Each part's number and answers, by the model in this process."""
    batches = [
        [plan.sentences[index] for index in batch]
        for number in todo
        for batch in plan.parts[number]
    ]
    found = zip(voice.call.each(voice.model, batches), batches, strict=True)
    for number in todo:
        answers = []
        for answer, sentences in islice(found, len(plan.parts[number])):
            with _explained(job, voice, sentences):
                answers.append(voice.checked(answer(), sentences))
            count.add(len(sentences))
        yield number, answers


def _asked_by_workers(
    job: Job, voice: Voice, plan: Plan, todo: Sequence[int], count: _Counter
) -> Iterator[tuple[int, list[Any]]]:
    """Each part's number and answers, by workers, as they come."""
    if job.crew is None:
        return
    parts = {
        number: [[plan.sentences[index] for index in batch] for batch in plan.parts[number]]
        for number in todo
    }
    for number, found in job.crew.ask(voice.call, parts.items()):
        answers = []
        for answer, sentences in zip(found, parts[number], strict=True):
            with _explained(job, voice, sentences):
                answers.append(voice.checked(answer, sentences))
        count.add(sum(map(len, parts[number])))
        yield number, answers


@contextmanager
def _explained(job: Job, voice: Voice, sentences: Sequence[tuple[int, ...]]) -> Iterator[None]:
    """AskingError where the model fails on these sentences."""
    try:
        yield
    except (RuntimeError, ArithmeticError, ValueError, IndexError) as error:
        message = (
            f"{voice.name} failed on {len(sentences)} sentences of up to {len(sentences[0])} "
            f"tokens of {job.instrument}: {str(error).strip().splitlines()[0]} All answers so far "
            "are kept. To resume, run the same command again."
        )
        raise AskingError(message) from error


class _Counter:
    """Tells the watcher how far a step is."""

    def __init__(self, job: Job, voice: Voice, *, step: int, total: int, to_ask: int) -> None:
        self._job, self._voice, self._step, self._total = job, voice, step, total
        self._before = total - to_ask
        self._asked = 0
        self._start = time.monotonic()
        self.add(0)

    def add(self, sentences: int) -> None:
        self._asked += sentences
        elapsed = time.monotonic() - self._start
        progress = Progress(
            model=self._voice.name,
            instrument=self._job.instrument,
            step=self._step,
            steps=self._voice.steps,
            done=self._before + self._asked,
            total=self._total,
            rate=self._asked / elapsed if self._asked else 0.0,
            note="" if self._job.crew is None else _workers(len(self._job.crew)),
        )
        self._job.watch(progress)


def _workers(count: int) -> str:
    return "1 worker" if count == 1 else f"{count} workers"


def _words(shelf: Shelf, *, step: int, width: int) -> dict[tuple[str, str], list[str]]:
    """The words to put back under each node of a step: from disk, as in a resumed run."""
    parts = [part for (at, _), part in sorted(shelf.parts.items()) if at == step]
    return words_put_back(read_parts(shelf.folder, parts, "fills"), width=width)


def _finished(
    job: Job,
    voice: Voice,
    shelf: Shelf,
    counts: Sequence[tuple[int, int, int]],
    *,
    not_one_token: Sequence[str] = (),
) -> Asked:
    """What there is; the manifest says so too."""
    sentences, asked_now, others = (sum(numbers) for numbers in zip(*counts, strict=True))
    others += len(shelf.foreign)
    entry = {
        "table": voice.table,
        "sentences": sentences,
        "rows": shelf.rows,
        "parts": len(shelf.parts),
        "sha256": shelf.sha256,
        **({"code": code_digest()} if voice.steps > 1 else {}),
        "not_one_token": list(not_one_token),
    }
    manifest = with_answers(
        job.run.manifest, model=voice.name, instrument=job.instrument, entry=entry
    )
    if manifest != job.run.manifest:
        job.run.manifest = manifest
        if asked_now:
            job.run.begin()
        else:
            job.run.keep()
    return Asked(
        model=voice.name,
        instrument=job.instrument,
        sentences=sentences,
        rows=shelf.rows,
        asked_now=asked_now,
        damaged=shelf.damaged,
        not_one_token=tuple(not_one_token),
        remarks=(OTHERS.format(others),) if others else (),
    )
