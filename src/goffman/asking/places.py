"""Where the models of an audit calculate: in this process, or several at once in workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Self, TypeVar

from goffman.asking.place import Place
from goffman.errors import InputError
from goffman.models.address import behind_server
from goffman.models.crew import Crew
from goffman.models.ray_cluster import host_and_port
from goffman.models.size import parameters_of
from goffman.models.spread import Work, at_once
from goffman.runs.workers import in_order

if TYPE_CHECKING:
    from goffman.asking.questions import Asking
    from goffman.models.base import LoadOptions
    from goffman.models.crew import Hands
    from goffman.models.team import Team
    from goffman.runs.folder import Run
    from goffman.runs.manifest import Manifest

ALL_GPUS = "cuda:all"

Found = TypeVar("Found")


class Places:
    """Has models asked; workers are started for the first."""

    def __init__(self, given: LoadOptions, *, note: Callable[[str], None]) -> None:
        if given.workers is not None:
            host_and_port(given.workers)
        self._given, self._note = given, note
        self._devices = (given.device,) if given.workers else _devices(given.device)
        self._elsewhere = len(self._devices) > 1 or given.workers is not None
        self._crew: Crew | None = None
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
    def here(self) -> Place:
        """This process, which also asks servers."""
        return Place(options=self.options)

    def each(
        self, run: Run, pairs: Sequence[Asking], ask: Callable[[Place, Asking], Found]
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
        self, run: Run, pairs: Sequence[Asking], ask: Callable[[Place, Asking], Found]
    ) -> dict[str, Found]:
        """By model."""
        import torch

        threads = torch.get_num_threads()
        if self._crew is None:
            self._crew = Crew(
                self._hands(threads), note=self._note, mixed=self._given.mixed_hardware
            )

        def asked(pair: Asking, team: Team) -> Found:
            return ask(Place(options=self.options, team=team, threads=threads), pair)

        works = [
            Work(
                spec=pair.model,
                size=parameters_of(pair.model, kind=pair.kind, options=self.options),
                sentences=sentences_left(pair, run.manifest),
                ask=partial(asked, pair),
            )
            for pair in pairs
        ]
        found = at_once(self._crew, works)
        return dict(zip((pair.model for pair in pairs), found, strict=True))

    def _hands(self, threads: int) -> Hands:
        if self._given.workers is not None:
            from goffman.models.ray_cluster import Actors

            return Actors(self._given.workers, device=self._given.device, threads=threads)
        from goffman.models.processes import Processes

        return Processes(self._devices)


def sentences_left(pair: Asking, manifest: Manifest) -> int:
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
        from goffman.models.forward import choose_device

        for device in devices:
            if device == "auto":
                raise InputError(
                    f"--device is '{given}'. Name every device, such as cuda:0,cuda:1, or give "
                    f"{ALL_GPUS}."
                )
            choose_device(device)
    return devices
