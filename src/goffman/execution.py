"""How models are run: in this process or in workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from goffman.errors import InputError, ModelError, RunError
from goffman.models.base import Calling, LoadOptions
from goffman.models.registry import Loading, Sample, model_kinds
from goffman.models.resolve import float32_deviation, load
from goffman.models.server_address import behind_server
from goffman.runs.manifest import Manifest, Workers
from goffman.workers.pool import WorkerPool
from goffman.workers.protocol import Call, Load
from goffman.workers.ray import RayBackend, host_and_port
from goffman.workers.scheduler import ModelWork, parameters_of, run_concurrently

if TYPE_CHECKING:
    from goffman.planning import Assignment
    from goffman.runs.run import Run
    from goffman.workers.pool import ModelGroup, WorkerBackend
    from goffman.workers.protocol import WorkerInfo

Found = TypeVar("Found")


def with_workers(
    manifest: Manifest, run: Path, cards: Iterable[WorkerInfo], *, mixed: bool
) -> Manifest:
    """Return the manifest with these workers; raise RunError if their hardware must not mix."""
    counts = Counter((card.host, card.device, card.hardware) for card in cards)
    earlier = {
        (entry.host, entry.device, entry.hardware): entry.workers for entry in manifest.workers
    }
    old, new = ({hardware for _, _, hardware in keys} for keys in (earlier, counts))
    if old and old != new and not mixed:
        raise RunError(
            f"{run} has answers of workers on {', '.join(sorted(old))}; now they are on "
            f"{', '.join(sorted(new))}. Their answers may differ in the last digits. Use the same "
            "hardware, give another folder with --output, or allow it: --allow-mixed-hardware"
        )
    maxima = {key: max(counts[key], earlier.get(key, 0)) for key in {**earlier, **counts}}
    workers = tuple(
        Workers(host=host, device=device, hardware=hardware, workers=count)
        for (host, device, hardware), count in maxima.items()
    )
    return replace(manifest, workers=workers)


def in_order(manifest: Manifest, names: Sequence[str], *, before: Manifest) -> Manifest:
    """Return the manifest with its models in the order in which they would be asked one by one.

    ``names``: the models that are asked now; ``before``: the manifest before they were. A run that
    was measured keeps the order of the models that it had.
    """
    old_names, was_measured = list(before.models), "scores.parquet" in before.tables
    new_names = [name for name in names if not (was_measured and name in old_names)]
    remaining = iter(new_names)
    order = [next(remaining) if name in new_names else name for name in old_names] + [*remaining]

    def ordered(entries: Mapping[str, Any]) -> dict[str, Any]:
        return {name: entries[name] for name in order if name in entries}

    return replace(manifest, models=ordered(manifest.models), answers=ordered(manifest.answers))


@dataclass(frozen=True, kw_only=True)
class Executor:
    """An executor, which loads a model where it is to compute."""

    options: LoadOptions
    """How a model is loaded in this process."""
    group: ModelGroup | None = None
    """The workers that have the model's weights; None: this process has them."""
    threads: int = 1
    """Number of CPU threads with which workers compute."""

    def load(self, spec: str, *, kind: str, **chat: Any) -> Any:
        """Return the model, ready to be asked; without weights if workers have them."""
        loading = Loading(options=self.options, **chat)
        model = load(spec, kind=kind, **vars(loading))
        if self.group is not None:
            self._hand_over(spec, kind, loading, model, self.group)
        return model

    def _hand_over(
        self, spec: str, kind: str, loading: Loading, model: Any, group: ModelGroup
    ) -> None:
        """Load the model in every worker; the model here asks them, and has their identity."""
        # No server's key leaves this process.
        keyless = replace(loading, calling=Calling(batch_size=loading.calling.batch_size))
        identity = group.load(Load(spec=spec, kind=kind, loading=keyless, threads=self.threads))
        if identity.tokenizer_sha256 != model.identity.tokenizer_sha256:
            raise ModelError(
                f"The tokenizer of '{spec}' is not the same here and for the workers. Copy the "
                "model anew to where it differs."
            )
        model.identity = identity
        if model_kinds()[kind].answers == "replies":

            def answers(batches: Any) -> Any:
                requests = ((number, [batch]) for number, batch in enumerate(batches))
                for number, (replies,) in group.ask(Call(method="reply_batch"), requests):
                    yield number, replies

            model.answers = answers

    def deviation(
        self, spec: str, *, kind: str, low: Any, sample: Sample
    ) -> Mapping[str, Any] | None:
        """Return how far answers are from those in float32; None if the kind cannot say."""
        if self.group is not None:
            return self.group.deviation(sample)
        return float32_deviation(low, spec, kind=kind, options=self.options, sample=sample)

    def enter(self, run: Run) -> None:
        """Enter the workers in the manifest; raise RunError if their hardware must not mix."""
        if self.group is not None:
            cards = self.group.pool.cards.values()
            mixed = self.options.mixed_hardware
            run.manifest = with_workers(run.manifest, run.folder, cards, mixed=mixed)


ALL_GPUS = "cuda:all"


class Executors:
    """The executors that ask models; workers are started for the first model."""

    def __init__(self, options: LoadOptions, *, note: Callable[[str], None]) -> None:
        if options.workers is not None:
            host_and_port(options.workers)
        self._loading, self._note = options, note
        self._devices = (options.device,) if options.workers else _devices(options.device)
        self._elsewhere = len(self._devices) > 1 or options.workers is not None
        self._pool: WorkerPool | None = None
        self.options = options
        """How models are loaded in this process."""
        if options.device == ALL_GPUS or self._elsewhere:
            first = self._devices[0]
            self.options = replace(options, device=first, weights=not self._elsewhere)

    def close(self) -> None:
        """End the workers."""
        if self._pool is not None:
            self._pool.close()

    @property
    def here(self) -> Executor:
        """Return the executor of this process, which also asks servers."""
        return Executor(options=self.options)

    def each(
        self,
        run: Run,
        assignments: Sequence[Assignment],
        ask: Callable[[Executor, Assignment], Found],
    ) -> list[Found]:
        """Return the results of ``ask``, in the order of the assignments; workers run at once."""
        old_manifest = run.manifest
        for_workers = [
            assignment
            for assignment in assignments
            if self._elsewhere and not behind_server(assignment.model)
        ]
        results = self._by_workers(run, for_workers, ask) if for_workers else {}
        for assignment in assignments:
            if assignment.model not in results:
                results[assignment.model] = ask(self.here, assignment)
        names = [assignment.model for assignment in assignments]
        if for_workers:
            run.manifest = in_order(run.manifest, names, before=old_manifest)
        return [results[name] for name in names]

    def _by_workers(
        self,
        run: Run,
        assignments: Sequence[Assignment],
        ask: Callable[[Executor, Assignment], Found],
    ) -> dict[str, Found]:
        """Return what ``ask`` returns for each assignment, by model."""
        import torch

        from goffman.workers.worker import LocalBackend

        options, threads = self._loading, torch.get_num_threads()
        if self._pool is None:
            backend: WorkerBackend
            if options.workers is None:
                backend = LocalBackend(self._devices)
            else:
                backend = RayBackend(options.workers, device=options.device, threads=threads)
            self._pool = WorkerPool(backend, note=self._note, mixed=options.mixed_hardware)

        def asked(assignment: Assignment, group: ModelGroup) -> Found:
            return ask(Executor(options=self.options, group=group, threads=threads), assignment)

        works = [
            ModelWork(
                spec=assignment.model,
                size=parameters_of(assignment.model, kind=assignment.kind, options=self.options),
                sentences=_sentences_left(assignment, run.manifest),
                ask=partial(asked, assignment),
            )
            for assignment in assignments
        ]
        results = run_concurrently(self._pool, works)
        return dict(zip((assignment.model for assignment in assignments), results, strict=True))


def _devices(names: str) -> tuple[str, ...]:
    """Return the devices of --device; raise InputError if one of several cannot be used."""
    if names == ALL_GPUS:
        import torch

        # If there is none, loading the model on the first says so.
        return tuple(f"cuda:{number}" for number in range(max(1, torch.cuda.device_count())))
    devices = tuple(device.strip() for device in names.split(","))
    if len(devices) > 1:
        from goffman.models.torch_common import choose_device

        for device in devices:
            if device == "auto":
                raise InputError(
                    f"--device is '{names}'. Name every device, such as cuda:0,cuda:1, or give "
                    f"{ALL_GPUS}."
                )
            choose_device(device)
    return devices


def _sentences_left(assignment: Assignment, manifest: Manifest) -> int:
    """Return about how many sentences a model is still to be asked."""
    entries = manifest.answers.get(assignment.model, {})
    return sum(
        question.expected
        for question in assignment.questions
        if (entry := entries.get(question.instrument.id)) is None or entry.parts is None
    )
