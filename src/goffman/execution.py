"""How models are run: in this process, in workers, or as chats; and what is answered already."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from goffman.errors import InputError, ModelError, RunError
from goffman.forecast import forecast, forecast_text
from goffman.instruments.types import Prompt
from goffman.models.base import (
    Calling,
    LoadOptions,
    Sampling,
    Serves,
)
from goffman.models.files import checksums
from goffman.models.registry import Loading, model_kinds
from goffman.models.resolve import load
from goffman.models.server_address import address_entry, behind_server
from goffman.options import ChatOptions
from goffman.progress import Watch
from goffman.runs.answers import answers_folder, as_noted
from goffman.runs.code_digest import code_digest
from goffman.runs.collect import Collected
from goffman.runs.collect_replies import (
    ChatJob,
    ask_replies,
    known_questions,
    replies_of,
)
from goffman.runs.files import Folder
from goffman.runs.manifest import (
    Manifest,
    Workers,
    asker_of,
    chat_entry,
    checksum,
    read_manifest,
    with_model,
)
from goffman.runs.run import PROMPTS, keep_prompts
from goffman.workers.pool import WorkerPool
from goffman.workers.protocol import Call, Load
from goffman.workers.ray import host_and_port
from goffman.workers.scheduler import ModelWork, parameters_of, run_concurrently

if TYPE_CHECKING:
    from goffman.models.base import Chats
    from goffman.models.precision_deviation import Sample
    from goffman.planning import Assignment, Question
    from goffman.runs.run import Run
    from goffman.workers.pool import ModelGroup, WorkerBackend
    from goffman.workers.protocol import WorkerInfo

Of = TypeVar("Of")


def with_workers(
    manifest: Manifest, run: Path, cards: Iterable[WorkerInfo], *, mixed: bool
) -> Manifest:
    """The manifest with these workers in it; RunError where earlier ones were on other hardware.

    ``mixed``: whether hardware may differ.
    """
    counts = Counter((card.host, card.device, card.hardware) for card in cards)
    known = {(one.host, one.device, one.hardware): one.workers for one in manifest.workers}
    before = {hardware for _, _, hardware in known}
    now = {hardware for _, _, hardware in counts}
    if before and before != now and not mixed:
        raise RunError(
            f"{run} has answers of workers on {', '.join(sorted(before))}; now they are on "
            f"{', '.join(sorted(now))}. Their answers may differ in the last digits. Use the same "
            "hardware, give another folder with --output, or allow it: --allow-mixed-hardware"
        )
    most = {key: max(counts[key], known.get(key, 0)) for key in {**known, **counts}}
    workers = tuple(
        Workers(host=host, device=device, hardware=hardware, workers=count)
        for (host, device, hardware), count in most.items()
    )
    return replace(manifest, workers=workers)


def in_order(manifest: Manifest, names: Sequence[str], *, before: Manifest) -> Manifest:
    """The manifest with its models in the order in which they would be asked one after the other.

    ``names``: of those that are asked now; ``before``: the manifest when they were not yet. A run
    that was measured keeps the order of those it had.
    """
    had, now = list(before.models), list(names)
    if "scores.parquet" in before.tables:
        now = [name for name in now if name not in had]
    rest = iter(now)
    order = [next(rest) if name in now else name for name in had] + [*rest]

    def ordered(entries: Mapping[str, Of]) -> dict[str, Of]:
        return {name: entries[name] for name in order if name in entries}

    return replace(manifest, models=ordered(manifest.models), answers=ordered(manifest.answers))


@dataclass(frozen=True, kw_only=True)
class Executor:
    """Loads a model where it is to calculate."""

    options: LoadOptions
    """How it is loaded in this process."""
    team: ModelGroup | None = None
    """The workers that have its weights; None: this process has them."""
    threads: int = 1
    """Of the CPU, with which workers calculate."""

    def load(
        self,
        spec: str,
        *,
        kind: str,
        options: LoadOptions | None = None,
        sampling: Sampling | None = None,
        calling: Calling | None = None,
    ) -> Any:
        """The model, ready to be asked; where workers have its weights, its tokenizer alone."""
        loading = Loading(
            options=options or self.options,
            sampling=sampling or Sampling(),
            calling=calling or Calling(),
        )
        model = load(
            spec,
            kind=kind,
            options=loading.options,
            sampling=loading.sampling,
            calling=loading.calling,
        )
        if self.team is not None:
            self._hand_over(spec, kind, loading, model, self.team)
        return model

    def _hand_over(
        self, spec: str, kind: str, loading: Loading, model: Any, team: ModelGroup
    ) -> None:
        """Every worker has the model; what is here asks them, and has their identity."""
        # No key of a server leaves this process.
        bare = replace(loading, calling=Calling(batch_size=loading.calling.batch_size))
        identity = team.load(Load(spec=spec, kind=kind, loading=bare, threads=self.threads))
        if identity.tokenizer_sha256 != model.identity.tokenizer_sha256:
            raise ModelError(
                f"The tokenizer of '{spec}' is not the same here and for the workers. Copy the "
                "model anew to where it differs."
            )
        model.identity = identity
        if model_kinds()[kind].answers == "replies":

            def answers(batches: Any) -> Any:
                asked = ((number, [batch]) for number, batch in enumerate(batches))
                for number, (replies,) in team.ask(Call(method="reply_batch"), asked):
                    yield number, replies

            model.answers = answers

    def deviation(
        self, spec: str, *, kind: str, low: Any, sample: Sample
    ) -> Mapping[str, Any] | None:
        """How far the model is from itself in float32; None: its kind cannot say."""
        compare = model_kinds()[kind].deviation
        if compare is None or self.team is not None:
            return None if self.team is None else self.team.deviation(sample)
        exact = load(spec, kind=kind, options=replace(self.options, precision="float32"))
        return compare(low, exact, sample)

    def enter(self, run: Run) -> None:
        """The run knows the workers, or has refused them."""
        if self.team is not None:
            cards = self.team.crew.cards.values()
            mixed = self.options.mixed_hardware
            run.manifest = with_workers(run.manifest, run.folder, cards, mixed=mixed)


ALL_GPUS = "cuda:all"

Found = TypeVar("Found")


class Executors:
    """Has models asked; workers are started for the first."""

    def __init__(self, given: LoadOptions, *, note: Callable[[str], None]) -> None:
        if given.workers is not None:
            host_and_port(given.workers)
        self._given, self._note = given, note
        self._devices = (given.device,) if given.workers else _devices(given.device)
        self._elsewhere = len(self._devices) > 1 or given.workers is not None
        self._crew: WorkerPool | None = None
        self.options = given
        """How models are loaded in this process."""
        if given.device == ALL_GPUS or self._elsewhere:
            first = self._devices[0]
            self.options = replace(given, device=first, weights=not self._elsewhere)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._crew is not None:
            self._crew.close()

    @property
    def here(self) -> Executor:
        """This process, which also asks servers."""
        return Executor(options=self.options)

    def each(
        self, run: Run, pairs: Sequence[Assignment], ask: Callable[[Executor, Assignment], Found]
    ) -> list[Found]:
        """What ``ask`` returns for each, in their order; where there are workers, all at once.

        The run has the models in the order in which they were named.
        """
        before = run.manifest
        apart = [pair for pair in pairs if self._elsewhere and not behind_server(pair.model)]
        found = self._by_workers(run, apart, ask) if apart else {}
        for pair in pairs:
            if pair.model not in found:
                found[pair.model] = ask(self.here, pair)
        names = [pair.model for pair in pairs]
        if apart:
            run.manifest = in_order(run.manifest, names, before=before)
        return [found[name] for name in names]

    def _by_workers(
        self, run: Run, pairs: Sequence[Assignment], ask: Callable[[Executor, Assignment], Found]
    ) -> dict[str, Found]:
        """By model."""
        import torch

        threads = torch.get_num_threads()
        if self._crew is None:
            self._crew = WorkerPool(
                self._hands(threads), note=self._note, mixed=self._given.mixed_hardware
            )

        def asked(pair: Assignment, team: ModelGroup) -> Found:
            return ask(Executor(options=self.options, team=team, threads=threads), pair)

        works = [
            ModelWork(
                spec=pair.model,
                size=parameters_of(pair.model, kind=pair.kind, options=self.options),
                sentences=sentences_left(pair, run.manifest),
                ask=partial(asked, pair),
            )
            for pair in pairs
        ]
        found = run_concurrently(self._crew, works)
        return dict(zip((pair.model for pair in pairs), found, strict=True))

    def _hands(self, threads: int) -> WorkerBackend:
        if self._given.workers is not None:
            from goffman.workers.ray import RayBackend

            return RayBackend(self._given.workers, device=self._given.device, threads=threads)
        from goffman.workers.local import LocalBackend

        return LocalBackend(self._devices)


def sentences_left(pair: Assignment, manifest: Manifest) -> int:
    """About how many sentences a model is still to be asked."""
    there = manifest.answers.get(pair.model, {})
    count = 0
    for question in pair.questions:
        known = there.get(question.instrument.id)
        if known is None or known.parts is None:
            masks = question.settings
            steps = sum(masks.width**step for step in range(masks.depth)) if masks else 1
            count += len(question.prompts) * question.trials * steps
    return count


def _devices(given: str) -> tuple[str, ...]:
    """The devices that --device names: several of them, or one."""
    if given == ALL_GPUS:
        import torch

        # Where there is none, loading says so of the first.
        return tuple(f"cuda:{number}" for number in range(max(1, torch.cuda.device_count())))
    devices = tuple(device.strip() for device in given.split(","))
    if len(devices) > 1:
        from goffman.models.torch_common import choose_device

        for device in devices:
            if device == "auto":
                raise InputError(
                    f"--device is '{given}'. Name every device, such as cuda:0,cuda:1, or give "
                    f"{ALL_GPUS}."
                )
            choose_device(device)
    return devices


@dataclass(frozen=True, kw_only=True)
class ChatQuestion:
    """An instrument as chat models are asked it."""

    instrument: str
    """Its id."""
    prompts: Sequence[Prompt]
    trials: int
    words: bool = False
    """Whether a word is to be filled in: see Turn."""
    options: bool = False
    """Whether there are options to choose from: see Turn."""


@dataclass(frozen=True, kw_only=True)
class ChatCollector:
    """Asks chat models, and tells before what that will take."""

    options: ChatOptions
    loading: LoadOptions
    seed: int
    watch: Watch
    note: Callable[[str], None]
    load_model: Callable[..., Any] = load
    """``load`` of models/resolve.py, or what loads models for workers."""
    team: ModelGroup | None = None
    """The workers that have the model."""

    def tell(self, run: Path, model: str, questions: Sequence[ChatQuestion]) -> bool:
        """Whether anything is left to ask; the user knows what that will take."""
        requests = []
        manifest = read_manifest(run) or Manifest()
        for question in questions:
            replies = replies_of(run, manifest, model=model, instrument=question.instrument)
            known = known_questions(replies, question.prompts, trials=question.trials)
            found = forecast(known, self.options.sampling)
            if found.requests:
                requests.append(found.requests)
                text = forecast_text(found, self.options.prices)
                self.note(f"{question.instrument}, {model}: {text}")
        if len(requests) > 1:
            self.note(f"All instruments, {model}: {sum(requests):,} requests.")
        return bool(requests)

    def load(self, run: Run, name: str, questions: Sequence[ChatQuestion], *, kind: str) -> Any:
        """The model, which the run knows now, or has refused; what asking will take is told."""
        sampling, calling = self.options.sampling, self.options.calling
        model = self.load_model(
            name, kind=kind, options=self.loading, sampling=sampling, calling=calling
        )
        for note in model.identity.notes:
            self.note(f"{name}: {note}")
        entry = {**chat_entry(model.identity, sampling, seed=self.seed), **address_entry(name)}
        before = run.manifest
        run.manifest = with_model(before, run.folder, name=name, entry=entry)
        if self.tell(run.folder, name, questions) and isinstance(model, Serves):
            try:
                model.meet()
            except ModelError:
                # A name that no one answers to must not bind the folder.
                run.manifest = before
                raise
        return model

    def ask(self, run: Run, model: Chats, questions: Sequence[ChatQuestion]) -> Iterator[Collected]:
        """What there is of the model's replies."""
        for question in questions:
            keep_prompts(run, question.instrument, question.prompts)
            job = ChatJob(
                run=run,
                instrument=question.instrument,
                prompts=question.prompts,
                trials=question.trials,
                seed=self.seed,
                watch=self.watch,
                words=question.words,
                options=question.options,
                team=self.team,
            )
            yield ask_replies(job, model)


def known_digest(
    manifest: Manifest,
    question: Question,
    *,
    model: str,
    options: LoadOptions,
    batch_size: int | None,
) -> str | None:
    """A digest of all that the sentences to ask depend on, beside the model's files.

    None: it is not known, as the code of other packages and of models is not, and workers have
    files of their own.
    """
    record = manifest.models.get(model)
    row = model_kinds().get(record.kind) if record else None
    elsewhere = options.workers is not None or not options.weights
    if row is None or row.takes is not None or options.trust_remote_code or elsewhere:
        return None
    told: list[Any] = [
        code_digest(),
        asker_of(manifest, model=model, instrument=question.instrument.id),
        repr(question.settings),
        repr(question.prompts),
        [options.device, options.precision, options.labels, batch_size],
    ]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def is_answered(
    manifest: Manifest, pair: Assignment, *, options: LoadOptions, batch_size: int | None
) -> bool:
    """Whether the manifest says that the model has answered all that it is asked now.

    Neither the model's files nor the answers are looked at.
    """
    there = manifest.answers.get(pair.model, {})
    for question in pair.questions:
        entry = there.get(question.instrument.id)
        if entry is None or entry.known is None or entry.parts is None:
            return False
        now = known_digest(
            manifest, question, model=pair.model, options=options, batch_size=batch_size
        )
        if entry.known != now:
            return False
    return True


def all_answered(
    run: Path, manifest: Manifest, pair: Assignment, *, options: LoadOptions, batch_size: int | None
) -> Sequence[Collected] | None:
    """What there is of the answers, where nothing is left to ask; None: the model must be loaded.

    The same code would read the same files and come to the same sentences; their answers, and the
    prompts, are on disk as they were written.
    """
    if not is_answered(manifest, pair, options=options, batch_size=batch_size):
        return None
    record = manifest.models[pair.model]
    if any(getattr(record, name) != now for name, now in checksums(pair.model, options).items()):
        return None
    if manifest.tables.get(PROMPTS) != [checksum(Folder(run).read(PROMPTS) or b"")]:
        return None
    found = []
    for question in pair.questions:
        name = question.instrument.id
        entry = manifest.answers[pair.model][name]
        table = entry.table
        folder = answers_folder(run, table, model=pair.model, instrument=name)
        if not as_noted(folder, parts=entry.parts, sha256=entry.sha256):
            return None
        found.append(
            Collected(
                model=pair.model,
                instrument=name,
                sentences=entry.sentences or 0,
                rows=entry.rows or 0,
                asked_now=0,
                damaged=(),
                not_one_token=entry.not_one_token or (),
            )
        )
    return found
