"""Where models calculate: in this process, or in workers on several devices or machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from goffman.errors import InputError, ModelError
from goffman.models.address import behind_server
from goffman.models.base import Calling, LoadOptions, Sampling
from goffman.models.crew import Crew
from goffman.models.kinds import Loading, kinds
from goffman.models.spec import load
from goffman.models.tasks import Call, Load
from goffman.runs.workers import with_workers

if TYPE_CHECKING:
    from goffman.models.crew import Hands
    from goffman.models.precision import Sample
    from goffman.runs.folder import Run

ALL_GPUS = "cuda:all"


class Place:
    """Loads models where they are to calculate; workers are started for the first."""

    def __init__(self, given: LoadOptions, *, note: Callable[[str], None]) -> None:
        self._given, self._note = given, note
        self._devices = (given.device,) if given.workers else _devices(given.device)
        self.crew: Crew | None = None
        """The workers, once there are any."""
        self.options = given
        """How models are loaded in this process."""
        if given.device == ALL_GPUS or self._elsewhere:
            first = self._devices[0]
            self.options = replace(given, device=first, weights=not self._elsewhere)

    @property
    def _elsewhere(self) -> bool:
        return len(self._devices) > 1 or self._given.workers is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.crew is not None:
            self.crew.close()

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
        if self._elsewhere and not behind_server(spec):
            self._hand_over(spec, kind, loading, model)
        return model

    def _hand_over(self, spec: str, kind: str, loading: Loading, model: Any) -> None:
        """Every worker has the model; what is here asks them, and has their identity."""
        import torch

        threads = torch.get_num_threads()
        if self.crew is None:
            self.crew = Crew(self._hands(threads), note=self._note)
        # No key of a server leaves this process.
        bare = replace(loading, calling=Calling(batch_size=loading.calling.batch_size))
        task = Load(spec=spec, kind=kind, loading=bare, threads=threads)
        identity = self.crew.load(task, mixed=self._given.mixed_hardware)
        if identity.tokenizer_sha256 != model.identity.tokenizer_sha256:
            raise ModelError(
                f"The tokenizer of '{spec}' is not the same here and for the workers. Copy the "
                "model anew to where it differs."
            )
        model.identity = identity
        if kinds()[kind].answers == "replies":
            crew = self.crew

            def answers(batches: Any) -> Any:
                asked = ((number, [batch]) for number, batch in enumerate(batches))
                for number, (replies,) in crew.ask(Call(method="reply_batch"), asked):
                    yield number, replies

            model.answers = answers

    def _hands(self, threads: int) -> Hands:
        if self._given.workers is not None:
            from goffman.models.ray_cluster import Actors

            return Actors(self._given.workers, device=self._given.device, threads=threads)
        from goffman.models.processes import Processes

        return Processes(self._devices)

    def deviation(
        self, spec: str, *, kind: str, low: Any, sample: Sample
    ) -> Mapping[str, Any] | None:
        """How far the model is from itself in float32; None: its kind cannot say."""
        compare = kinds()[kind].deviation
        if compare is None or self.crew is not None:
            return None if self.crew is None else self.crew.deviation(sample)
        exact = load(spec, kind=kind, options=replace(self.options, precision="float32"))
        return compare(low, exact, sample)

    def enter(self, run: Run) -> None:
        """The run knows the workers, or has refused them."""
        if self.crew is not None:
            cards = self.crew.cards.values()
            run.manifest = with_workers(
                run.manifest, run.folder, cards, mixed=self._given.mixed_hardware
            )


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
