"""The engine as an audit uses it, on the social-distance prompts: for the benchmarks."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from goffman.instruments.load import load_instrument
from goffman.instruments.render import render
from goffman.models.base import LoadOptions
from goffman.models.spec import load
from goffman.runs.ask import Asked, Job, ask_fills
from goffman.runs.folder import open_run
from goffman.runs.plan import Plan, limits_for, make_plan, settings_of

INSTRUMENT = load_instrument("social-distance")
PROMPTS = render(INSTRUMENT).prompts


def load_model(folder: Path, *, device: str, precision: Any = "float32") -> Any:
    """A model, loaded as an audit loads it."""
    options = LoadOptions(device=device, precision=precision)
    return load(str(folder), kind="masked", options=options)


def prepared(model: Any, limit: int | None = None) -> Plan:
    """The batches in which the prompts are asked."""
    texts = [prompt.text for prompt in PROMPTS[:limit]]
    return make_plan(model.encode(texts), limits_for(model.identity.device))


def ask_all(model: Any, limit: int | None = None) -> Asked:
    """Tokenise, ask, and write every answer to disk."""
    with tempfile.TemporaryDirectory() as temporary, open_run(Path(temporary) / "run") as run:
        job = Job(
            run=run,
            instrument=INSTRUMENT.id,
            prompts=PROMPTS[:limit],
            limits=limits_for(model.identity.device),
            watch=lambda _: None,
        )
        return ask_fills(job, model, settings_of(INSTRUMENT))
