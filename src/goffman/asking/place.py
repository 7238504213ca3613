"""Where one model calculates: in this process, or in the workers of a team."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from goffman.errors import ModelError
from goffman.models.base import Calling, LoadOptions, Sampling
from goffman.models.kinds import Loading, kinds
from goffman.models.spec import load
from goffman.models.tasks import Call, Load
from goffman.runs.workers import with_workers

if TYPE_CHECKING:
    from goffman.models.precision import Sample
    from goffman.models.team import Team
    from goffman.runs.folder import Run


@dataclass(frozen=True, kw_only=True)
class Place:
    """Loads a model where it is to calculate."""

    options: LoadOptions
    """How it is loaded in this process."""
    team: Team | None = None
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

    def _hand_over(self, spec: str, kind: str, loading: Loading, model: Any, team: Team) -> None:
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
        if kinds()[kind].answers == "replies":

            def answers(batches: Any) -> Any:
                asked = ((number, [batch]) for number, batch in enumerate(batches))
                for number, (replies,) in team.ask(Call(method="reply_batch"), asked):
                    yield number, replies

            model.answers = answers

    def deviation(
        self, spec: str, *, kind: str, low: Any, sample: Sample
    ) -> Mapping[str, Any] | None:
        """How far the model is from itself in float32; None: its kind cannot say."""
        compare = kinds()[kind].deviation
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
