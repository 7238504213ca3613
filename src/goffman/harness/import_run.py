"""read_logs(): logs of other harnesses → a run, as if goffman itself had asked."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goffman.analysis.analyze import measure_run
from goffman.anchors.loader import anchors_with
from goffman.errors import InputError
from goffman.harness.export_tasks import ExportedTask, choice_row, exported_before
from goffman.harness.logs import (
    RESULTS,
    Answers,
    Log,
    content_of,
    is_inspect,
    is_lm_eval,
    no_log,
    read_inspect,
    read_lm_eval,
    reading,
    unpacked,
)
from goffman.harness.replay import RecordedOptions, RecordedReplies
from goffman.instruments.types import is_control
from goffman.models.base import Identity
from goffman.options import Listener, MeasureOptions
from goffman.pipeline import Audit, enter_instrument, words_for
from goffman.planning import Assignment, Question
from goffman.runs.batch_plan import limits_for
from goffman.runs.collect import Collected, Job, ask_choices
from goffman.runs.collect_replies import ChatJob, ask_replies
from goffman.runs.manifest import chat_entry, model_entry, with_model
from goffman.runs.run import Run, check_place, default_folder, keep_prompts, open_run
from goffman.validation import LONGEST, fits

if TYPE_CHECKING:
    from goffman.instruments.types import Prompt
    from goffman.runs.manifest import Entry

ELSEWHERE = "unknown"
"""The device of a model whose harness does not say it."""


@dataclass(frozen=True, kw_only=True)
class ImportedPart:
    """The answers of one log to one instrument, and what was asked."""

    log: Log
    answers: Answers
    handed: ExportedTask
    question: Question
    """Those prompts alone that are answered."""


def read_logs(
    paths: Sequence[Path],
    *,
    instruments: Sequence[str] = (),
    model: str | None = None,
    output: Path | None = None,
    listener: Listener | None = None,
    report: bool = False,
) -> Audit:
    """A run with the answers in the logs, measured; InputError where they do not fit.

    ``instruments``: where to look for what was asked, if goffman does not know it itself;
    ``model``: what the model is called in the run; ``report``: also the page.
    """
    listener = listener or Listener()
    notes: list[str] = []
    logs = [log for path in paths for log in _logs_at(path)]
    if model is not None and len({log.model for log in logs}) > 1:
        named = ", ".join(sorted({log.model for log in logs}))
        raise InputError(f"--model names one model, but the logs are of several: {named}.")
    logs = [replace(log, model=model or log.model) for log in logs]
    parts = [
        _part(log, answers, instruments, notes.append) for log in logs for answers in log.answers
    ]
    models = _by_model(parts)
    folder = output or default_folder(list(models))
    check_place(folder)
    pairs = [
        Assignment(model=name, kind=_kind(own), questions=[one.question for one in own])
        for name, own in models.items()
    ]
    words, people = words_for(pairs, folder, MeasureOptions()), anchors_with(())
    for note in notes:
        listener.note(note)
    with open_run(folder) as run:
        for part in parts:
            enter_instrument(run, part.question, list(models))
        asked = [one for own in models.values() for one in _written(run, own, listener)]
        said = measure_run(run, words, seed=0, pairs=(), note=listener.note, anchors=people)
        page = None
        if report:
            # Only here: what draws figures takes its time to load.
            from goffman.report.write import write_report

            written = write_report(run.folder, words=words)
            for note in written.notes:
                listener.note(note)
            page = written.page
    return Audit(folder=folder, asked=tuple(asked), said=said, report=page)


def _logs_at(path: Path) -> list[Log]:
    """The log of a file, or all those of a folder of lm-eval."""
    # os.path, which says no to names that no system allows, where Path fails.
    if os.path.isdir(path):  # noqa: PTH112
        files = sorted(path.rglob(RESULTS))
        if not files:
            raise no_log(path, "there is no results_….json in this folder")
    else:
        files = [path]
    found = []
    for file in files:
        with reading(file):
            log = _log_of(file)
            for name in ("version", "model", "revision", "device"):
                if not fits(text := getattr(log, name), str | None) or len(text or "") > LONGEST:
                    raise ValueError(f"{name} is {text!a}")
            if not log.model.strip():
                raise ValueError("the model has no name")
            found.append(log)
    return found


def _log_of(path: Path) -> Log:
    raw = content_of(path)
    if raw.startswith(b"PK"):
        return read_inspect(path, unpacked(path, raw), raw)
    try:
        content = json.loads(raw)
    except ValueError as error:
        raise no_log(path, "it is not JSON") from error
    if isinstance(content, dict) and is_lm_eval(content):
        return read_lm_eval(path, content, raw)
    if isinstance(content, dict) and is_inspect(content):
        return read_inspect(path, content, raw)
    raise no_log(path, "neither of them writes such a file")


def _part(
    log: Log, answers: Answers, instruments: Sequence[str], note: Callable[[str], None]
) -> ImportedPart:
    name = answers.note.instrument
    handed = exported_before(answers.note, instruments, where=str(log.path))
    given: dict[str, Sequence[Any]] = {**answers.options, **answers.replies}
    if not given:
        failed = f": {log.harness} failed on {answers.failed:,} prompts" if answers.failed else ""
        raise InputError(
            f"{log.path} has no answers to {name}{failed}. Find the reason in the log, and run the "
            "harness again."
        )
    if strange := [one for one in given if one not in {p.id for p in handed.question.prompts}]:
        raise InputError(
            f"{log.path} has answers to {len(strange):,} prompts that {name} does not have, such "
            f"as {strange[0]}. The exported questions were changed. Export them again."
        )
    trials = max(map(len, answers.replies.values()), default=1)
    # Those with an answer for each spelling of an option, or a reply for each trial.
    prompts = [
        prompt
        for prompt in handed.question.prompts
        if prompt.id in given
        and len(given[prompt.id])
        == (len(choice_row(prompt)["spellings"]) if handed.table == "choices" else trials)
    ]
    if not any(not is_control(prompt) for prompt in prompts):
        raise InputError(
            f"{log.path} answers only control items of {name}. Ask more prompts: raise --limit."
        )
    for sentence in _missing(handed, prompts, answers, trials):
        note(f"{name}, {log.model}: {sentence}")
    question = replace(handed.question, prompts=prompts, trials=trials)
    return ImportedPart(log=log, answers=answers, handed=handed, question=question)


def _missing(
    handed: ExportedTask, prompts: Sequence[Prompt], answers: Answers, trials: int
) -> list[str]:
    """What of the exported prompts is not answered."""
    said = []
    if left := len(handed.question.prompts) - len(prompts):
        said.append(
            f"the log has answers to {len(prompts):,} of {len(handed.question.prompts):,} prompts. "
            f"The other {left:,} count as not asked."
        )
    if answers.failed:
        said.append(f"the harness failed on {answers.failed:,} prompts. They are left out.")
    controls = any(map(is_control, handed.question.prompts))
    if controls and not any(map(is_control, prompts)):
        said.append(
            "no control item was asked, so goffman cannot say whether the model can do the task."
        )
    if handed.table == "replies" and trials != handed.question.trials:
        said.append(
            f"each prompt was asked {trials} times, not {handed.question.trials} times as exported."
        )
    return said


def _by_model(parts: Sequence[ImportedPart]) -> dict[str, list[ImportedPart]]:
    """The parts of each model; InputError where two are of the same instrument."""
    found: dict[str, list[ImportedPart]] = {}
    for part in parts:
        own = found.setdefault(part.log.model, [])
        name = part.answers.note.instrument
        for other in own:
            if other.answers.note.instrument == name:
                raise InputError(
                    f"{other.log.path} and {part.log.path} both have answers of {part.log.model} "
                    f"to {name}. Give only one of them."
                )
        own.append(part)
    return found


def _kind(parts: Sequence[ImportedPart]) -> str:
    return "chat" if any(part.handed.table == "replies" for part in parts) else "causal"


def _written(run: Run, parts: Sequence[ImportedPart], listener: Listener) -> list[Collected]:
    """What there is of one model's answers; they are on disk."""
    log, limits = parts[0].log, limits_for("cpu")
    identity = Identity(
        name=log.model,
        kind=_kind(parts),
        family="",
        revision=log.revision,
        weights=None,
        weights_sha256=None,
        tokenizer_sha256=None,
        precision=log.precision,
        device=log.device or ELSEWHERE,
    )
    logs = {part.log.path: part.log for part in parts}
    drawn = next((log.sampling for log in logs.values() if log.sampling), None)
    told = [
        {"harness": log.harness, "version": log.version, "file": path.name, "sha256": log.sha256}
        for path, log in logs.items()
    ]
    known: Entry = model_entry(identity, limits)
    if drawn is not None:
        known = {**known, "sampling": chat_entry(identity, drawn, seed=0)["sampling"]}
    entry = {**known, "logs": told}
    run.manifest = with_model(run.manifest, run.folder, name=identity.name, entry=entry)
    found = []
    for part in parts:
        name, prompts = part.answers.note.instrument, part.question.prompts
        keep_prompts(run, name, prompts)
        watch = listener.progress
        if part.handed.table == "choices":
            job = Job(run=run, instrument=name, prompts=prompts, limits=limits, watch=watch)
            found.append(ask_choices(job, RecordedOptions(identity, prompts, part.answers.options)))
        else:
            chat = ChatJob(
                run=run,
                instrument=name,
                prompts=prompts,
                trials=part.question.trials,
                seed=0,
                watch=watch,
            )
            found.append(
                ask_replies(chat, RecordedReplies(identity, prompts, part.answers.replies))
            )
    return found
