"""The engine as an audit uses it, on the social-distance prompts and attribution's tree."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import render
from goffman.instruments.types import Instrument, Prompt
from goffman.models.base import LoadOptions
from goffman.models.resolve import load
from goffman.runs.batch_plan import Plan, limits_for, make_plan, settings_of
from goffman.runs.collect import Collected, Job, ask_batches
from goffman.runs.mode_adapters import FillMask
from goffman.runs.run import open_run
from goffman.workers.protocol import Call

INSTRUMENT = load_instrument("social-distance")
PROMPTS = render(INSTRUMENT).prompts
TREE = load_instrument("attribution")
"""Its sentences come from the answers, step by step."""


def load_model(folder: Path, *, device: str, precision: Any = "float32") -> Any:
    """A model, loaded as an audit loads it."""
    options = LoadOptions(device=device, precision=precision)
    return load(str(folder), kind="masked", options=options)


def prepared(model: Any, limit: int | None = None) -> Plan:
    """The batches in which the prompts are asked."""
    texts = [prompt.text for prompt in PROMPTS[:limit]]
    return make_plan(model.encode(texts), limits_for(model.identity.device))


def ask_all(model: Any, limit: int | None = None, *, run: Path | None = None) -> Collected:
    """Tokenise, ask, and write every answer to disk: into a run folder that stays, if given."""
    return _ask(model, INSTRUMENT, PROMPTS[:limit], run)


def ask_tree(model: Any, limit: int | None = None, *, run: Path | None = None) -> Collected:
    """As ``ask_all``, with all steps of recursive masking."""
    return _ask(model, TREE, render(TREE).prompts[:limit], run)


def _ask(
    model: Any, instrument: Instrument, prompts: Sequence[Prompt], folder: Path | None
) -> Collected:
    with (
        tempfile.TemporaryDirectory() as temporary,
        open_run(folder or Path(temporary) / "run") as run,
    ):
        job = Job(
            run=run,
            instrument=instrument.id,
            prompts=prompts,
            limits=limits_for(model.identity.device),
            watch=lambda _: None,
        )
        return ask_batches(job, FillMask(model, settings_of(instrument)))


class Recording:
    """A model that remembers its batches, to be asked again without all that is around them."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.batches: list[tuple[Any, dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def fill_batch(self, encoded: Any, **told: Any) -> Any:
        """The model's answers."""
        self.batches.append((encoded, told))
        return self._model.fill_batch(encoded, **told)

    def again(self) -> None:
        """Every batch is asked again, and its answers are forgotten."""
        for encoded, told in self.batches:
            self._model.fill_batch(encoded, **told)

    def queued(self) -> None:
        """The same; a GPU gets a batch before it has answered the last."""
        call = Call(method="fill_batch", arguments=self.batches[0][1])
        for answers in call.each(self._model, (encoded for encoded, _ in self.batches)):
            answers()
