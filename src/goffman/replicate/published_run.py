"""A run made of the answers that a study's authors published.

Its instruments have the version "as published" and the checksum of the authors' files: no audit
goes on with such a run, and ``compare`` says why its numbers are not set against an audit's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goffman.analysis.analyze import measure_run
from goffman.errors import PublishedError, RunError
from goffman.instruments.loader import load_instrument
from goffman.instruments.types import AnswerTable, Prompt
from goffman.lexicons.attitude import PEOPLE
from goffman.measures.registry import measure_of
from goffman.models.base import Identity
from goffman.parsers.registry import AS_PUBLISHED
from goffman.pipeline import Audit, enter_instrument
from goffman.planning import Question
from goffman.report.write import write_report
from goffman.runs.answers import AnswerStore, answers_folder
from goffman.runs.batch_plan import limits_for, settings_of
from goffman.runs.collect import Collected, note_finished
from goffman.runs.manifest import asker_of, checksum, model_entry, with_model
from goffman.runs.run import Run, check_place, keep_prompts, open_run
from goffman.scoring import load_words

if TYPE_CHECKING:
    import polars as pl

    from goffman.lexicons.gender import GenderLexicon
    from goffman.options import Listener

VERSION = "as published"

KIND_OF: dict[AnswerTable, str] = {"fills": "masked", "labels": "classifier", "replies": "chat"}
"""Table of answers → the kind of models that gave them."""

AS_ANSWERED = (
    "goffman did not ask these questions: they are the study's own sentences, with the answers "
    "that its authors published."
)


@dataclass(frozen=True, kw_only=True)
class PublishedAnswers:
    """The published answers of some models to one instrument."""

    instrument: str
    table: AnswerTable
    prompts: Sequence[Prompt]
    answers: pl.DataFrame
    """The table's columns."""
    files: Mapping[str, Sequence[Path]]
    """By model, where its answers stand."""
    missing: tuple[str, ...] = ()
    """What the files do not hold, in sentences."""
    nouns: GenderLexicon | None = None
    """The authors' own list of gendered words; None: goffman's."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Of the instrument's measure, where the study's way is another."""


def make_run(
    study: str,
    parts: Iterable[PublishedAnswers],
    output: Path,
    *,
    ratings: Path | None,
    listener: Listener,
) -> Audit:
    """Return the run in the folder, measured and with its page; RunError where it is another's."""
    parts = list(parts)
    if not parts:
        raise PublishedError(
            f"No run can be made of the files of {study}: they hold numbers of prompts, not what "
            f"models answered. goffman replicate {study} shows their numbers."
        )
    check_place(output)
    words = load_words([ratings or Path(PEOPLE)], parser=AS_PUBLISHED, shipped=False)
    if nouns := next((part.nouns for part in parts if part.nouns), None):
        words = replace(words, gender=nouns, gender_file=f"the authors' nouns of {study}")
    with open_run(output) as run:
        if others := [n for n, one in run.manifest.instruments.items() if one.version != VERSION]:
            raise RunError(
                f"{output} has answers to {others[0]} that goffman asked. Published answers are "
                "never mixed with these. Give a new folder with --output."
            )
        asked = [one for part in parts for one in _keep(run, study, part)]
        said = measure_run(run, words, seed=0, pairs=(), note=listener.note)
        page = write_report(run.folder, words=words).page
    return Audit(folder=output, asked=tuple(asked), said=said, report=page)


def _keep(run: Run, study: str, part: PublishedAnswers) -> list[Collected]:
    """Return what there is of an instrument's answers, which are in the run's folder now."""
    known = load_instrument(part.instrument)
    instrument = replace(
        known,
        version=VERSION,
        digest=checksum(b"".join(path.read_bytes() for of in part.files.values() for path in of)),
        limits=(AS_ANSWERED, *part.missing, *known.limits),
    )
    measure = measure_of(known)
    prompts = [replace(prompt, mode=known.mode) for prompt in part.prompts]
    question = Question(
        instrument=instrument,
        prompts=prompts,
        settings=settings_of(instrument) if part.table == "fills" else None,
        measure=measure and replace(measure, **part.parameters),
        trials=part.answers["trial"].n_unique() if part.table == "replies" else 1,
    )
    by_model = part.answers.partition_by("model", as_dict=True, maintain_order=True)
    enter_instrument(run, question, [str(model) for (model,) in by_model])
    keep_prompts(run, instrument.id, prompts)
    return [_keep_answers(run, study, part, str(name), of) for (name,), of in by_model.items()]


def _keep_answers(
    run: Run, study: str, part: PublishedAnswers, model: str, answers: pl.DataFrame
) -> Collected:
    identity = Identity(name=model, kind=KIND_OF[part.table], family="", device="unknown")
    logs = [
        {"harness": f"the authors of {study}", "version": VERSION, "file": path.name}
        | {"sha256": checksum(path.read_bytes())}
        for path in part.files[model]
    ]
    entry = {**model_entry(identity, limits_for("cpu")), "logs": logs}
    run.manifest = with_model(run.manifest, run.folder, name=model, entry=entry)
    run.expect(model, part.instrument, table=part.table)
    place = answers_folder(run.place, part.table, model=model, instrument=part.instrument)
    store = AnswerStore(folder=place, parts={})
    run.begin()
    asker = asker_of(run.manifest, model=model, instrument=part.instrument)
    store.write_whole(answers, asked=asker)
    collected = Collected(
        model=model,
        instrument=part.instrument,
        sentences=answers["prompt_id"].n_unique(),
        rows=answers.height,
        asked_now=0,
        damaged=(),
    )
    return note_finished(run, store, collected, part.table, begin=False)
