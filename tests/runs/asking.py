"""Prompts, and a job on a run folder, for tests that ask a model; and two runs compared."""

from __future__ import annotations

from contextlib import contextmanager

from goffman.instruments.types import Prompt
from goffman.runs.batch_plan import BatchLimits
from goffman.runs.collect import Job
from goffman.runs.manifest import model_entry, with_model
from goffman.runs.run import open_run

LIMITS = BatchLimits(max_tokens=300, max_size=8, part_size=16)


def prompts_of(texts, *, items=None):
    """A prompt of the instrument "scale" for each text."""
    names = items or [f"item-{number}" for number in range(len(texts))]
    return [
        Prompt(instrument="scale", item=name, wording="w", condition="c", group="g", text=text)
        for name, text in zip(names, texts, strict=True)
    ]


@contextmanager
def asking(folder, model, prompts, *, limits=LIMITS, watch=lambda _: None):
    """A job in the folder for this model."""
    with open_run(folder) as run:
        labels = {"labels": list(model.labels)} if hasattr(model, "labels") else {}
        entry = model_entry(model.identity, limits, **labels)
        run.manifest = with_model(run.manifest, folder, name=model.identity.name, entry=entry)
        yield Job(run=run, instrument="scale", prompts=prompts, limits=limits, watch=watch)


def parts(folder):
    """Every part's name in its folder, and with it the checksum of its bytes."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("answers/**/*.parquet"))


def assert_same(folder, whole):
    """Two runs have the same parts and tables to the byte; no file was left unfinished."""
    assert parts(folder) == parts(whole)
    for name in (*parts(whole), "prompts.parquet", "scores.parquet", "estimates.parquet"):
        assert (folder / name).read_bytes() == (whole / name).read_bytes(), name
    assert not list(folder.rglob("*.tmp"))
