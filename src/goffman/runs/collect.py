"""The only loop that asks models: plan, skip stored parts, ask part by part, write the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby, tee
from typing import TYPE_CHECKING, Any

from goffman.errors import AskingError
from goffman.instruments.types import CarriedPhrase, Prompt
from goffman.models.tokenizer import ahead
from goffman.progress import Progress, Watch
from goffman.runs.answers import (
    MAX_PARTS,
    PHRASES,
    AnswerStore,
    answers_folder,
    drop_stale,
    read_chunks,
    verify_chunks,
    write_chunk,
)
from goffman.runs.batch_plan import BatchLimits, Block, BlockPart, few_collections, prefetched
from goffman.runs.code_digest import code_digest
from goffman.runs.manifest import Answered, asker_of, with_answers
from goffman.runs.mode_adapters import (
    FillMask,
    ModeAdapter,
    OptionProbability,
    PersonPicked,
    PhraseTokens,
    words_put_back,
)
from goffman.runs.recursive_masking import Node, Settings, children, roots, with_forms
from goffman.runs.run import Run
from goffman.workers.pool import describe_workers

if TYPE_CHECKING:
    import polars as pl

    from goffman.instruments.types import AnswerTable
    from goffman.models.base import Fills
    from goffman.workers.pool import ModelGroup

WRITERS = 3
"""How many parts are written at once. One is enough with a CPU, but not with a fast GPU."""

OTHERS = (
    "Stored files without this model's answers to these prompts: {}. The prompts were asked again. "
    "The files come from another run, an earlier goffman or another version of the tokenizers "
    "package."
)


@dataclass(frozen=True, kw_only=True)
class Asking:
    """What a model is asked, and where the answers go."""

    run: Run
    instrument: str
    """The instrument's id."""
    prompts: Sequence[Prompt]
    watch: Watch
    team: ModelGroup | None = None
    """The workers that answer for the model; None: it answers in this process or on a server."""


@dataclass(frozen=True, kw_only=True)
class Job(Asking):
    """What a model is asked in batches."""

    limits: BatchLimits
    known: str | None = None
    """See Answered in manifest.py."""
    first: Sequence[frozenset[str]] = ()
    """Ids of prompts that are asked before the others, in parts of their own; each set contains the
    one before it."""
    phrases: Sequence[CarriedPhrase] = ()
    """Phrases whose likelihood is wanted, if the model can give it; asked before all else."""


@dataclass(frozen=True, kw_only=True)
class Collected:
    """A summary of the answers of a model to an instrument that are stored now."""

    model: str
    instrument: str
    sentences: int
    """Distinct sentences, over all steps."""
    rows: int
    asked_now: int
    """Sentences that this process asked; 0: all answers were stored already."""
    damaged: tuple[str, ...]
    """Files that were damaged, and whose parts were asked again."""
    not_one_token: tuple[str, ...] = ()
    """Target words that have no answers, because they are not one token for this model."""
    remarks: tuple[str, ...] = ()
    """What the user should know about the answers, in sentences."""


@few_collections()
def ask_fills(job: Job, model: Fills, settings: Settings) -> Collected:
    """Ask every prompt, step by step, and return a summary of the model's fills."""
    voice = FillMask(model, settings)
    shelf = _shelf(job, voice)
    _ask_phrases(job, model, shelf)
    nodes = roots(job.prompts)
    branches: dict[tuple[str, ...], list[Node]] = {}

    def grow(some: Sequence[Node], fills: pl.DataFrame) -> None:
        words = words_put_back(fills, width=settings.width)
        for node in some:
            branches[node[:2]] = children(
                [node], words, placement=settings.placement, unfit=voice.unfit
            )

    counts = []
    for step in range(1, settings.depth + 1):
        has_next = step < settings.depth
        counts.append(
            _ask_step(job, voice, shelf, nodes, step=step, then=grow if has_next else None)
        )
        if step == 1 and has_next and _all_there(job, voice, shelf, counts[0]):
            sentences = job.run.manifest.answers[voice.name][job.instrument].sentences or 0
            counts = [(sentences, 0, 0)]
            break
        if has_next:
            if stored_nodes := [node for node in nodes if node[:2] not in branches]:
                parts = [
                    part
                    for (part_step, _), part in sorted(shelf.parts.items())
                    if part_step == step
                ]
                grow(stored_nodes, read_chunks(shelf.folder, parts, "fills"))
            nodes = [child for node in nodes for child in branches.pop(node[:2])]
    return _finished(job, voice, shelf, counts)


def _all_there(
    job: Job, voice: ModeAdapter, shelf: AnswerStore, first: tuple[int, int, int]
) -> bool:
    """Return whether the same answers, prompts and code give the same sentences in later steps."""
    entry = job.run.manifest.answers[voice.name][job.instrument]
    current = (len(shelf.parts), shelf.sha256, code_digest())
    untouched = first[1:] == (0, 0) and not (shelf.damaged or shelf.foreign)
    return untouched and (entry.parts, entry.sha256, entry.code) == current


def ask_choices(job: Job, model: Any) -> Collected:
    """Ask for the options' probabilities and return a summary; ``model``: a Continues or Picks."""
    options = {prompt.id: prompt.options for prompt in job.prompts}
    voice = PersonPicked if hasattr(model, "pick_batch") else OptionProbability
    return ask_once(job, voice(model, options))


@few_collections()
def ask_once(
    job: Job, voice: ModeAdapter, forms: Mapping[str, Sequence[str]] | None = None
) -> Collected:
    """Ask every prompt and return a summary of the model's answers.

    ``forms``: prompt id → the words that stand in place of its mask, each asked separately.
    """
    shelf = _shelf(job, voice)
    _ask_phrases(job, voice.model, shelf)
    nodes = roots(job.prompts)
    if forms is not None:
        nodes = with_forms(nodes, forms)
    return _finished(job, voice, shelf, [_ask_step(job, voice, shelf, nodes, step=1)])


def _shelf(job: Job, voice: ModeAdapter) -> AnswerStore:
    """Return the sound stored parts of the steps asked; note in the manifest whose they are."""
    job.run.expect(voice.name, job.instrument, table=voice.table)
    folder = answers_folder(job.run.place, voice.table, model=voice.name, instrument=job.instrument)
    shelf = verify_chunks(folder, model=voice.name, clear=True)
    stale_steps = {step for step, _ in shelf.parts} - {
        *range(0 if job.phrases else 1, voice.steps + 1)
    }
    for step in sorted(stale_steps):
        drop_stale(shelf, step=step, asked={})
    return shelf


def _ask_phrases(job: Job, model: Any, shelf: AnswerStore) -> None:
    """Ask for the likelihoods of the conditions' phrases, as the step before the first."""
    if job.phrases and hasattr(model, "encode_phrase"):
        voice = PhraseTokens(model, job.phrases)
        _ask_step(replace(job, watch=lambda _: None), voice, shelf, voice.nodes, step=PHRASES)


def _ask_step(
    job: Job,
    voice: ModeAdapter,
    shelf: AnswerStore,
    nodes: Sequence[Node],
    *,
    step: int,
    then: Callable[[Sequence[Node], pl.DataFrame], None] | None = None,
) -> tuple[int, int, int]:
    """Ask one step; return the numbers of its sentences, of those asked now, and of stale parts.

    ``then``: called with the nodes and rows of each part that is asked now, while others are asked.
    """
    asker = asker_of(
        job.run.manifest, model=voice.name, instrument=job.instrument, settings=voice.settings
    )
    count = _Counter(job, voice, step=step)
    blocks = prefetched(voice, nodes, job.limits, first=job.first)
    todo = _to_ask(job, shelf, blocks, count, asker=asker)
    ask = _asked_here if job.team is None else _asked_by_workers
    digests: dict[int, Future[str]] = {}

    def begun() -> Iterator[BlockPart]:
        for part in todo:
            # The digest is ready by the time the answers are.
            digests[part.number] = writer.submit(part.digest, asker)
            yield part

    def write(part: BlockPart, answers: Sequence[Any]) -> None:
        rows = voice.rows(answers, part.askers(), step=step)
        key = (step, part.number)
        digest = digests.pop(part.number).result()
        shelf.parts[key] = write_chunk(shelf.folder, key, rows, asked=digest)
        if then:
            then(part.nodes, rows)

    def answered() -> Iterator[Future[None]]:
        for part, answers in ask(job, voice, begun(), count):
            yield writer.submit(write, part, answers)
            job.run.asked(part.sentences)

    # Parts are written while the next one is asked; no more are in memory. If asking fails, the
    # parts that are being written are kept: leaving the block waits for them.
    with ThreadPoolExecutor(max_workers=WRITERS) as writer:
        for writing in ahead(answered(), WRITERS - 1):
            writing.result()
    return count.sentences, count.asked, count.others


def _to_ask(
    job: Job, shelf: AnswerStore, blocks: Iterator[Block], count: _Counter, *, asker: str
) -> Iterator[BlockPart]:
    """Yield the parts that are not stored; remove stored parts that answer something else."""
    end, has_begun = 0, False
    for block in blocks:
        stored = {number for step, number in [*shelf.parts] if step == count.step}
        digests = {part.number: part.digest(asker) for part in block.parts if part.number in stored}
        end = block.first + len(block.parts)
        numbers = range(block.first, end)
        count.others += drop_stale(shelf, step=count.step, asked=digests, numbers=numbers)
        todo = [part for part in block.parts if (count.step, part.number) not in shelf.parts]
        count.plan(block, todo)
        if todo and not has_begun:
            # The manifest must name the model before there are answers. It covers all models that
            # are asked at once, so this thread writes it.
            job.run.begin()
            has_begun = True
        yield from todo
    count.others += drop_stale(shelf, step=count.step, asked={}, numbers=range(end, MAX_PARTS))


def _batches(voice: ModeAdapter, part: BlockPart) -> Sequence[Sequence[Sequence[int]]]:
    """Return a part's batches in the form that the model takes."""
    return part.arrays if getattr(type(voice.model), "takes_arrays", False) else part.batches


def _asked_here(
    job: Job, voice: ModeAdapter, todo: Iterable[BlockPart], count: _Counter
) -> Iterator[tuple[BlockPart, list[Any]]]:
    """Yield each part and its answers by the model in this process."""
    to_ask, to_match = tee((part, batch) for part in todo for batch in _batches(voice, part))
    pairs = zip(voice.call.each(voice.model, (batch for _, batch in to_ask)), to_match, strict=True)
    for part, batches in groupby(pairs, key=lambda pair: pair[1][0]):
        answers = []
        for answer, (_, sentences) in batches:
            with _explained(job, voice, sentences):
                answers.append(voice.checked(answer(), sentences))
            count.add(len(sentences))
        yield part, answers


def _asked_by_workers(
    job: Job, voice: ModeAdapter, todo: Iterable[BlockPart], count: _Counter
) -> Iterator[tuple[BlockPart, list[Any]]]:
    """Yield each part and its answers by workers, as they come."""
    if job.team is None:
        return
    parts = {part.number: (part, _batches(voice, part)) for part in todo}
    numbered_batches = ((number, batches) for number, (_, batches) in parts.items())
    for number, results in job.team.ask(voice.call, numbered_batches):
        part, batches = parts[number]
        answers = []
        for answer, sentences in zip(results, batches, strict=True):
            with _explained(job, voice, sentences):
                answers.append(voice.checked(answer, sentences))
        count.add(part.sentences)
        yield part, answers


@contextmanager
def _explained(job: Job, voice: ModeAdapter, sentences: Sequence[Sequence[int]]) -> Iterator[None]:
    """Raise AskingError if the model fails on these sentences."""
    try:
        yield
    except (RuntimeError, ArithmeticError, ValueError, IndexError) as error:
        raise AskingError(
            f"{voice.name} failed on {len(sentences)} sentences of up to {len(sentences[0])} "
            f"tokens of {job.instrument}: {str(error).strip().splitlines()[0]} All answers so far "
            "are kept. To resume, run the same command again."
        ) from error


class _Counter:
    """A counter of a step's sentences, which tells the watcher about progress."""

    def __init__(self, job: Job, voice: ModeAdapter, *, step: int) -> None:
        self._job, self._voice, self.step = job, voice, step
        self.sentences = 0
        """Sentences of the blocks that are planned."""
        self.asked = 0
        """Those of them that were not stored."""
        self.others = 0
        """Stored parts that answered something else."""
        self._waiting = 0
        self._answered = 0

    def plan(self, block: Block, todo: Sequence[BlockPart]) -> None:
        """Count a block that was planned, of which these parts are to be asked."""
        self.sentences += len(block.plan.written)
        self.asked += sum(part.sentences for part in todo)
        self._waiting = block.waiting
        self.add(0)

    def add(self, sentences: int) -> None:
        """Count this many more sentences as answered, and tell the watcher."""
        self._answered += sentences
        progress = Progress(
            model=self._voice.name,
            instrument=self._job.instrument,
            step=self.step,
            steps=self._voice.steps,
            done=self.sentences - self.asked + self._answered,
            total=self.sentences + self._waiting,
            note=describe_workers(self._job.team),
        )
        self._job.watch(progress)


def _finished(
    job: Job, voice: ModeAdapter, shelf: AnswerStore, counts: Sequence[tuple[int, int, int]]
) -> Collected:
    """Return a summary of the answers, after noting it in the manifest."""
    sentences, asked_now, stale_parts = (sum(numbers) for numbers in zip(*counts, strict=True))
    stale_parts += len(shelf.foreign)
    answers = Collected(
        model=voice.name,
        instrument=job.instrument,
        sentences=sentences,
        rows=shelf.rows,
        asked_now=asked_now,
        damaged=shelf.damaged,
        not_one_token=tuple(voice.not_one_token),
        remarks=(OTHERS.format(stale_parts),) if stale_parts else (),
    )
    code = code_digest() if voice.steps > 1 else None
    details = {"code": code, "known": job.known, "not_one_token": answers.not_one_token}
    return note_finished(job.run, shelf, answers, voice.table, begin=asked_now > 0, **details)


def note_finished(
    run: Run,
    shelf: AnswerStore,
    answers: Collected,
    table: AnswerTable,
    *,
    begin: bool = True,
    **more: Any,
) -> Collected:
    """Note the answers, with further fields ``more``, in the manifest; return their summary.

    ``begin``: whether this session asked, so that a changed manifest notes the session, too.
    """
    entry = Answered(
        table=table,
        sentences=answers.sentences,
        rows=answers.rows,
        parts=len(shelf.parts),
        sha256=shelf.sha256,
        **more,
    )
    manifest = with_answers(
        run.manifest, model=answers.model, instrument=answers.instrument, entry=entry
    )
    if manifest != run.manifest:
        run.manifest = manifest
        if begin:
            run.begin()
        else:
            run.keep()
    return answers
