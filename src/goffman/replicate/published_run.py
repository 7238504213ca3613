"""A run made of the answers that a study's authors published.

Its instruments have the version "as published" and the checksum of the authors' files: no audit
goes on with such a run, and ``compare`` says why its numbers are not set against an audit's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from goffman.errors import PublishedError, RunError
from goffman.instruments.loader import load_instrument
from goffman.instruments.types import AnswerTable, Instrument, Prompt, Questionnaire
from goffman.lexicons.attitude import PEOPLE
from goffman.lexicons.gender import GenderLexicon
from goffman.measures.registry import measure_of
from goffman.models.base import Identity
from goffman.options import Listener
from goffman.parsers.registry import AS_PUBLISHED
from goffman.pipeline import Audit, enter_instrument
from goffman.planning import Question
from goffman.replicate.files import content_of
from goffman.report.analyze import measure_run
from goffman.report.write import write_report
from goffman.runs.answers import AnswerStore, answers_folder
from goffman.runs.batch_plan import limits_for, settings_of
from goffman.runs.collect import Collected, note_finished
from goffman.runs.manifest import checksum, model_entry, setup_digest, with_model
from goffman.runs.run import Run, check_place, keep_prompts, open_run
from goffman.schemas import prompt_table
from goffman.scoring import load_words

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
    asked: Sequence[Prompt]
    """The prompts, each once, with the condition as the files name it."""
    answers: pl.DataFrame
    """A frame with the columns of the table."""
    files: Mapping[str, Sequence[Path]]
    """Model → the files of its answers."""
    missing: Sequence[str] = ()
    """What the files do not hold, in sentences."""
    nouns: GenderLexicon | None = None
    """The authors' own list of gendered words; None: goffman's."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the instrument's measure in which the study differs."""

    @cached_property
    def prompts(self) -> pl.DataFrame:
        """Return the prompts as a frame with the columns PROMPT_TABLE."""
        return prompt_table(self.asked)


def make_run(
    study: str,
    parts: Iterable[PublishedAnswers],
    output: Path,
    *,
    ratings: Path | None,
    listener: Listener,
) -> Audit:
    """Return the run, measured and with its page; raise RunError if goffman asked its answers."""
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
        if audited := [
            name
            for name, instrument in run.manifest.instruments.items()
            if instrument.version != VERSION
        ]:
            raise RunError(
                f"{output} has answers to {audited[0]} that goffman asked. Published answers are "
                "never mixed with these. Give a new folder with --output."
            )
        collected = [entry for part in parts for entry in _keep(run, study, part)]
        summary = measure_run(run, words, seed=0, pairs=(), note=listener.note)
        page = write_report(run.folder, words=words).page
    return Audit(folder=output, asked=tuple(collected), findings=summary, report=page)


def _keep(run: Run, study: str, part: PublishedAnswers) -> list[Collected]:
    """Write an instrument's answers into the run's folder; return what was collected, by model."""
    shipped = load_instrument(part.instrument)
    content = b"".join(content_of(path) for files in part.files.values() for path in files)
    limits = (AS_ANSWERED, *part.missing, *shipped.limits)
    instrument = replace(shipped, version=VERSION, digest=checksum(content), limits=limits)
    measure, prompts = measure_of(shipped), _as_audited(shipped, part.asked)
    question = Question(
        instrument=instrument,
        prompts=[*prompts.values()],
        settings=settings_of(instrument) if part.table == "fills" else None,
        measure=measure and replace(measure, **part.parameters),
        trials=part.answers["trial"].n_unique() if part.table == "replies" else 1,
    )
    ids = {published_id: prompt.id for published_id, prompt in prompts.items()}
    answers = part.answers.with_columns(pl.col("prompt_id").replace_strict(ids))
    enter_instrument(run, question, [*part.files])
    keep_prompts(run, part.instrument, question.prompts)
    return [
        _keep_answers(run, study, part, model, answers.filter(model=model)) for model in part.files
    ]


def _as_audited(instrument: Instrument, asked: Iterable[Prompt]) -> dict[str, Prompt]:
    """Return published id → the prompt with the condition and family that audits give it."""
    content = instrument.content
    if not isinstance(content, Questionnaire):
        return {prompt.id: replace(prompt, mode=instrument.mode) for prompt in asked}
    conditions = {
        _key(text, condition.name): condition
        for condition in content.conditions
        for form in condition.forms
        for text in (form.text, form.plural, condition.name)
    }
    families = {wording.id: wording.family or None for wording in content.wordings}
    prompts = {}
    for prompt in asked:
        texts = (prompt.form or "", prompt.condition)
        condition = next(
            filter(None, (conditions.get(_key(text, prompt.condition)) for text in texts)), None
        )
        prompts[prompt.id] = replace(
            prompt,
            mode=instrument.mode,
            condition=condition.id if condition else prompt.condition,
            category=condition.category if condition else None,
            family=families.get(prompt.wording),
            source="study",
        )
    return prompts


def _key(form: str, condition: str) -> tuple[frozenset[str], bool]:
    """Return a form's words, and whether the condition is over: some conditions share a form."""
    words = re.findall(r"\w+", form.casefold())
    return frozenset(words) - {"a", "an"}, "remitted" in condition.casefold()


def _keep_answers(
    run: Run, study: str, part: PublishedAnswers, model: str, answers: pl.DataFrame
) -> Collected:
    """Write a model's answers into the run's folder; return what was collected."""
    identity = Identity(name=model, kind=KIND_OF[part.table], family="", device="unknown")
    logs = [
        {"harness": f"the authors of {study}", "version": VERSION, "file": path.name}
        | {"sha256": checksum(content_of(path))}
        for path in part.files[model]
    ]
    entry = model_entry(identity, limits_for("cpu"), logs=logs)
    run.manifest = with_model(run.manifest, run.folder, name=model, entry=entry)
    run.expect(model, part.instrument, table=part.table)
    run.begin()
    place = answers_folder(run.place, part.table, model=model, instrument=part.instrument)
    store = AnswerStore(folder=place, parts={})
    store.write_whole(
        answers, asked=setup_digest(run.manifest, model=model, instrument=part.instrument)
    )
    collected = Collected(
        model=model,
        instrument=part.instrument,
        sentences=answers["prompt_id"].n_unique(),
        rows=answers.height,
        asked_now=0,
        damaged=(),
    )
    return note_finished(run, store, collected, part.table, begin=False)
