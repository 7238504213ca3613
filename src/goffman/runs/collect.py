"""The only loop that asks models: plan, skip stored parts, ask part by part, write the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, tee
from operator import attrgetter, itemgetter
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
from goffman.runs.batch_plan import BatchLimits, BlockPart, few_collections, prefetched
from goffman.runs.code_digest import code_digest
from goffman.runs.manifest import Answered, setup_digest, with_answers
from goffman.runs.mode_adapters import ModeAdapter, PhraseTokens
from goffman.runs.run import Run
from goffman.workers.pool import describe_workers

if TYPE_CHECKING:
    import polars as pl

    from goffman.instruments.types import AnswerTable
    from goffman.runs.recursive_masking import Node
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
    group: ModelGroup | None = None
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
def ask_batches(job: Job, adapter: ModeAdapter) -> Collected:
    """Ask every prompt, step by step, and return a summary of the model's answers."""
    store = _store(job, adapter)
    if job.phrases and hasattr(adapter.model, "encode_phrase"):
        phrases = PhraseTokens(adapter.model, job.phrases)
        _Step(replace(job, watch=lambda _: None), phrases, store, PHRASES).ask(phrases.nodes(()))
    nodes = adapter.nodes(job.prompts)
    branches: dict[tuple[str, str], list[Node]] = {}

    def grow(answered: Sequence[Node], rows: pl.DataFrame) -> None:
        branches.update(adapter.children(answered, rows))

    steps: list[_Step] = []
    for number in range(1, adapter.steps + 1):
        steps.append(step := _Step(job, adapter, store, number))
        is_last = number == adapter.steps
        step.ask(nodes, then=None if is_last else grow)
        if is_last:
            break
        if number == 1 and _is_complete(job, step):
            entry = job.run.manifest.answers[adapter.name][job.instrument]
            step.sentences = entry.sentences or 0
            break
        if stored_nodes := [node for node in nodes if node[:2] not in branches]:
            parts = [part for key, part in sorted(store.parts.items()) if key[0] == number]
            grow(stored_nodes, read_chunks(store.folder, parts, "fills"))
        nodes = [child for node in nodes for child in branches.pop(node[:2])]
    return _finished(job, adapter, store, steps)


def _is_complete(job: Job, first: _Step) -> bool:
    """Return whether answers and code are those of the finished run, so later steps are, too."""
    store, entry = first.store, job.run.manifest.answers[first.adapter.name][job.instrument]
    current = (len(store.parts), store.sha256, code_digest())
    untouched = not (first.asked or first.stale or store.damaged or store.foreign)
    return untouched and (entry.parts, entry.sha256, entry.code) == current


def _store(job: Job, adapter: ModeAdapter) -> AnswerStore:
    """Return the stored parts of the steps to ask; enter them in the manifest, remove others."""
    name, table = adapter.name, adapter.table
    job.run.expect(name, job.instrument, table=table)
    folder = answers_folder(job.run.place, table, model=name, instrument=job.instrument)
    store = verify_chunks(folder, model=name, clear=True)
    steps = range(0 if job.phrases else 1, adapter.steps + 1)
    for step in sorted({step for step, _ in store.parts}.difference(steps)):
        drop_stale(store, step=step, asked={})
    return store


class _Step:
    """A step of asking: its sentences are asked part by part, written, and counted."""

    def __init__(self, job: Job, adapter: ModeAdapter, store: AnswerStore, number: int) -> None:
        self._job, self.adapter, self.store, self._number = job, adapter, store, number
        names = {"model": adapter.name, "instrument": job.instrument}
        self._setup = setup_digest(job.run.manifest, **names, settings=adapter.settings)
        self.sentences = 0
        """Sentences of the blocks that are planned."""
        self.asked = 0
        """Those of them that were not stored."""
        self.stale = 0
        """Stored parts that answered something else."""
        self._waiting = 0
        self._answered = 0

    def ask(
        self,
        nodes: Sequence[Node],
        *,
        then: Callable[[Sequence[Node], pl.DataFrame], None] | None = None,
    ) -> None:
        """Ask the sentences that are not stored, and write their answers.

        ``then``: called with the nodes and rows of each part asked now, while others are asked.
        """
        digests: dict[int, Future[str]] = {}

        def begun() -> Iterator[BlockPart]:
            for part in self._missing(nodes):
                # The digest is ready by the time the answers are.
                digests[part.number] = writer.submit(part.digest, self._setup)
                yield part

        def write(part: BlockPart, answers: Sequence[Any]) -> None:
            rows = self.adapter.rows(answers, part.refs(), step=self._number)
            key = (self._number, part.number)
            digest = digests.pop(part.number).result()
            self.store.parts[key] = write_chunk(self.store.folder, key, rows, asked=digest)
            if then:
                then(part.nodes, rows)

        def answered() -> Iterator[Future[None]]:
            for part, answers in self._answers(begun()):
                yield writer.submit(write, part, answers)
                self._job.run.asked(part.sentences)

        # Parts are written while the next one is asked; no more are in memory. If asking fails, the
        # parts that are being written are kept: leaving the block waits for them.
        with ThreadPoolExecutor(max_workers=WRITERS) as writer:
            for writing in ahead(answered(), WRITERS - 1):
                writing.result()

    def _missing(self, nodes: Sequence[Node]) -> Iterator[BlockPart]:
        """Yield the parts that are not stored; remove stored parts that answer something else."""
        end, has_begun, store = 0, False, self.store
        for block in prefetched(self.adapter, nodes, self._job.limits, first=self._job.first):
            stored = {number for step, number in [*store.parts] if step == self._number}
            digests = {
                part.number: part.digest(self._setup)
                for part in block.parts
                if part.number in stored
            }
            end = block.first + len(block.parts)
            numbers = range(block.first, end)
            self.stale += drop_stale(store, step=self._number, asked=digests, numbers=numbers)
            missing = [
                part for part in block.parts if (self._number, part.number) not in store.parts
            ]
            self.sentences += len(block.plan.written)
            self.asked += sum(part.sentences for part in missing)
            self._waiting = block.waiting
            self._count(0)
            if missing and not has_begun:
                # The manifest must name the model before there are answers. It covers all models
                # that are asked at once, so this thread writes it.
                self._job.run.begin()
                has_begun = True
            yield from missing
        numbers = range(end, MAX_PARTS)
        self.stale += drop_stale(store, step=self._number, asked={}, numbers=numbers)

    def _answers(self, parts: Iterable[BlockPart]) -> Iterator[tuple[BlockPart, list[Any]]]:
        """Yield each part and its answers, as they come."""
        for part, batches in self._batches(parts):
            answers = []
            for get, batch in batches:
                try:
                    answers.append(self.adapter.checked(get(), batch))
                except (RuntimeError, ArithmeticError, ValueError, IndexError) as error:
                    raise AskingError(
                        f"{self.adapter.name} failed on {len(batch)} sentences of up to "
                        f"{len(batch[0])} tokens of {self._job.instrument}: "
                        f"{str(error).strip().splitlines()[0]} All answers so far are kept. To "
                        "resume, run the same command again."
                    ) from error
                self._count(len(batch))
            yield part, answers

    def _batches(
        self, parts: Iterable[BlockPart]
    ) -> Iterator[tuple[BlockPart, Iterable[tuple[Callable[[], Any], Sequence[Sequence[int]]]]]]:
        """Yield each part and its batches, each with a function that returns its answers."""
        model, call, group = self.adapter.model, self.adapter.call, self._job.group
        takes_arrays = getattr(type(model), "takes_arrays", False)
        batches_of = attrgetter("arrays" if takes_arrays else "batches")
        if group is None:
            to_ask, to_match = tee((part, batch) for part in parts for batch in batches_of(part))
            pairs = zip(call.each(model, (batch for _, batch in to_ask)), to_match, strict=True)
            for part, asked in groupby(pairs, key=lambda pair: pair[1][0]):
                yield part, ((get, batch) for get, (_, batch) in asked)
            return
        to_workers = {part.number: (part, batches_of(part)) for part in parts}
        numbered = ((number, batches) for number, (_, batches) in to_workers.items())
        for number, values in group.ask(call, numbered):
            part, batches = to_workers[number]
            answers = [partial(itemgetter(0), [value]) for value in values]
            yield part, zip(answers, batches, strict=True)

    def _count(self, sentences: int) -> None:
        """Add to the number of answered sentences, and report the progress."""
        self._answered += sentences
        self._job.watch(
            Progress(
                model=self.adapter.name,
                instrument=self._job.instrument,
                step=self._number,
                steps=self.adapter.steps,
                done=self.sentences - self.asked + self._answered,
                total=self.sentences + self._waiting,
                note=describe_workers(self._job.group),
            )
        )


def _finished(
    job: Job, adapter: ModeAdapter, store: AnswerStore, steps: Sequence[_Step]
) -> Collected:
    """Return a summary of the answers, after noting it in the manifest."""
    stale = sum(step.stale for step in steps) + len(store.foreign)
    answers = Collected(
        model=adapter.name,
        instrument=job.instrument,
        sentences=sum(step.sentences for step in steps),
        rows=store.rows,
        asked_now=sum(step.asked for step in steps),
        damaged=store.damaged,
        not_one_token=tuple(adapter.not_one_token),
        remarks=(OTHERS.format(stale),) if stale else (),
    )
    code = code_digest() if adapter.steps > 1 else None
    details = {"code": code, "known": job.known, "not_one_token": answers.not_one_token}
    begin = answers.asked_now > 0
    return note_finished(job.run, store, answers, adapter.table, begin=begin, **details)


def note_finished(
    run: Run,
    store: AnswerStore,
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
        parts=len(store.parts),
        sha256=store.sha256,
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
