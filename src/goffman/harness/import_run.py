"""read_logs(): a run made from logs of other harnesses, as if goffman itself had asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goffman.anchors.loader import anchors_with
from goffman.errors import InputError
from goffman.harness.export_tasks import ExportedTask, choice_row, exported_before, spellings
from goffman.harness.logs import RESULTS, Answers, Log, no_log, read_log, reading
from goffman.instruments.types import Prompt, is_control
from goffman.models.base import ChatRequest, Identity, PromptParts, Reply
from goffman.options import Listener, MeasureOptions
from goffman.pipeline import Audit, enter_instrument, words_for
from goffman.planning import Assignment, Question
from goffman.report.analyze import measure_run
from goffman.runs.batch_plan import limits_for
from goffman.runs.collect import Collected, Job, ask_batches
from goffman.runs.collect_replies import ChatJob, ask_replies
from goffman.runs.manifest import model_entry, with_model
from goffman.runs.mode_adapters import mode_adapter
from goffman.runs.run import Run, check_place, default_folder, keep_prompts, open_run
from goffman.validation import LONGEST, fits

ELSEWHERE = "unknown"
"""The device of a model whose harness does not name it."""


@dataclass(frozen=True, kw_only=True)
class ImportedPart:
    """The answers of one log to one instrument, and what was asked."""

    log: Log
    answers: Answers
    task: ExportedTask
    question: Question
    """Only the prompts that are answered."""


def read_logs(
    paths: Sequence[Path],
    *,
    instruments: Sequence[str] = (),
    model: str | None = None,
    output: Path | None = None,
    listener: Listener | None = None,
    report: bool = False,
) -> Audit:
    """Make a run with the answers in the logs and measure it; raise InputError if they do not fit.

    ``instruments``: where to look for what was asked, if goffman does not know it itself;
    ``model``: the model's name in the run; ``report``: also write the report page.
    """
    listener = listener or Listener()
    notes: list[str] = []
    logs = [log for path in paths for log in _logs_at(path)]
    if model is not None and len({log.model for log in logs}) > 1:
        names = ", ".join(sorted({log.model for log in logs}))
        raise InputError(f"--model names one model, but the logs are of several: {names}.")
    logs = [replace(log, model=model or log.model) for log in logs]
    parts = [
        _part(log, answers, instruments, notes.append) for log in logs for answers in log.answers
    ]
    models = _by_model(parts)
    folder = output or default_folder(list(models))
    check_place(folder)
    pairs = [
        Assignment(
            model=name, kind=_kind(model_parts), questions=[part.question for part in model_parts]
        )
        for name, model_parts in models.items()
    ]
    words, people = words_for(pairs, folder, MeasureOptions()), anchors_with(())
    for note in notes:
        listener.note(note)
    with open_run(folder) as run:
        for part in parts:
            enter_instrument(run, part.question, list(models))
        answers = [
            collected
            for model_parts in models.values()
            for collected in _written(run, model_parts, listener)
        ]
        summary = measure_run(run, words, seed=0, pairs=(), note=listener.note, anchors=people)
        page = None
        if report:
            # Imported only here: the code that draws figures takes time to load.
            from goffman.report.write import write_report

            outcome = write_report(run.folder, words=words)
            for note in outcome.notes:
                listener.note(note)
            page = outcome.page
    return Audit(folder=folder, asked=tuple(answers), findings=summary, report=page)


def _logs_at(path: Path) -> list[Log]:
    """Return the log of a file, or all logs in a folder of lm-eval."""
    # os.path says no to names that no system allows; Path fails.
    if os.path.isdir(path):  # noqa: PTH112
        files = sorted(path.rglob(RESULTS))
        if not files:
            raise no_log(path, "there is no results_….json in this folder")
    else:
        files = [path]
    logs = []
    for file in files:
        with reading(file):
            log = read_log(file)
            for name in ("version", "model", "revision", "device"):
                if not fits(text := getattr(log, name), str | None) or len(text or "") > LONGEST:
                    raise ValueError(f"{name} is {text!a}")
            if not log.model.strip():
                raise ValueError("the model has no name")
            logs.append(log)
    return logs


def _part(
    log: Log, answers: Answers, instruments: Sequence[str], note: Callable[[str], None]
) -> ImportedPart:
    """Return the answers to one instrument with the prompts that have all of theirs.

    Raise InputError if no main prompt has, or if the answers are to other prompts.
    """
    name = answers.note.instrument
    task = exported_before(answers.note, instruments, where=str(log.path))
    answered: dict[str, Sequence[Any]] = {**answers.options, **answers.replies}
    if not answered:
        reason = f": {log.harness} failed on {answers.failed:,} prompts" if answers.failed else ""
        raise InputError(
            f"{log.path} has no answers to {name}{reason}. Find the reason in the log, and run the "
            "harness again."
        )
    exported_ids = {prompt.id for prompt in task.question.prompts}
    if extras := [prompt_id for prompt_id in answered if prompt_id not in exported_ids]:
        raise InputError(
            f"{log.path} has answers to {len(extras):,} prompts that {name} does not have, such "
            f"as {extras[0]}. The exported questions were changed. Export them again."
        )
    trials = max(map(len, answers.replies.values()), default=1)
    # Prompts with an answer for each spelling of an option, or a reply for each trial.
    prompts = [
        prompt
        for prompt in task.question.prompts
        if prompt.id in answered
        and len(answered[prompt.id])
        == (len(choice_row(prompt)["spellings"]) if task.table == "choices" else trials)
    ]
    if all(map(is_control, prompts)):
        raise InputError(
            f"{log.path} answers only control items of {name}. Ask more prompts: raise --limit."
        )
    for sentence in _missing(task, prompts, answers, trials):
        note(f"{name}, {log.model}: {sentence}")
    question = replace(task.question, prompts=prompts, trials=trials)
    return ImportedPart(log=log, answers=answers, task=task, question=question)


def _missing(
    task: ExportedTask, prompts: Sequence[Prompt], answers: Answers, trials: int
) -> list[str]:
    """Return sentences that say which exported prompts are not answered."""
    sentences = []
    if unanswered := len(task.question.prompts) - len(prompts):
        sentences.append(
            f"the log has answers to {len(prompts):,} of {len(task.question.prompts):,} prompts. "
            f"The other {unanswered:,} count as not asked."
        )
    if answers.failed:
        sentences.append(f"the harness failed on {answers.failed:,} prompts. They are left out.")
    controls = any(map(is_control, task.question.prompts))
    if controls and not any(map(is_control, prompts)):
        sentences.append(
            "no control item was asked, so goffman cannot say whether the model can do the task."
        )
    if task.table == "replies" and trials != task.question.trials:
        sentences.append(
            f"each prompt was asked {trials} times, not {task.question.trials} times as exported."
        )
    return sentences


def _by_model(parts: Sequence[ImportedPart]) -> dict[str, list[ImportedPart]]:
    """Return the parts of each model; raise InputError if two are of the same instrument."""
    models: dict[str, list[ImportedPart]] = {}
    for part in parts:
        model_parts = models.setdefault(part.log.model, [])
        name = part.answers.note.instrument
        for earlier in model_parts:
            if earlier.answers.note.instrument == name:
                raise InputError(
                    f"{earlier.log.path} and {part.log.path} both have answers of {part.log.model} "
                    f"to {name}. Give only one of them."
                )
        model_parts.append(part)
    return models


def _kind(parts: Sequence[ImportedPart]) -> str:
    return "chat" if any(part.task.table == "replies" for part in parts) else "causal"


def _written(run: Run, parts: Sequence[ImportedPart], listener: Listener) -> list[Collected]:
    """Write one model's answers to disk and return their summaries."""
    log, limits = parts[0].log, limits_for("cpu")
    identity = Identity(
        name=log.model,
        kind=_kind(parts),
        family="",
        revision=log.revision,
        precision=log.precision,
        device=log.device or ELSEWHERE,
    )
    logs = {part.log.path: part.log for part in parts}
    sampling = next((log.sampling for log in logs.values() if log.sampling), None)
    log_entries = [
        {"harness": log.harness, "version": log.version, "file": path.name, "sha256": log.sha256}
        for path, log in logs.items()
    ]
    entry = model_entry(identity, limits, sampling=sampling, logs=log_entries)
    run.manifest = with_model(run.manifest, run.folder, name=identity.name, entry=entry)
    collected = []
    for part in parts:
        name, prompts = part.answers.note.instrument, part.question.prompts
        keep_prompts(run, name, prompts)
        job: dict[str, Any] = {"run": run, "instrument": name, "prompts": prompts}
        job["watch"] = listener.progress
        if part.task.table == "choices":
            choice_job = Job(**job, limits=limits)
            adapter = mode_adapter(RecordedOptions(identity, part), "choose", prompts, None)
            collected.append(ask_batches(choice_job, adapter))
        else:
            chat_job = ChatJob(**job, trials=part.question.trials, seed=0)
            collected.append(ask_replies(chat_job, RecordedReplies(identity, part)))
    return collected


class RecordedReplies:
    """A chat model whose replies are known from a log."""

    def __init__(self, identity: Identity, part: ImportedPart) -> None:
        replies = part.answers.replies
        self.identity = identity
        self._replies = {prompt.asked: replies[prompt.id] for prompt in part.question.prompts}

    def chat(self, turns: Sequence[ChatRequest], heard: Callable[[int, Reply], None]) -> None:
        """Give each turn its reply at once."""
        for position, turn in enumerate(turns):
            heard(position, self._replies[turn.text][turn.trial - 1])


class RecordedOptions:
    """A causal model whose options' probabilities are known from a log."""

    def __init__(self, identity: Identity, part: ImportedPart) -> None:
        self.identity = identity
        self.next_word = self
        self.tokens: tuple[str, ...] = ()
        self._places: dict[PromptParts, int] = {}
        self._options: list[dict[str, float]] = []
        for prompt in part.question.prompts:
            self._places[PromptParts.read(prompt.asked)] = len(self._options)
            # An option's probability is the sum over its spellings.
            probabilities = iter(np.exp(np.array(part.answers.options[prompt.id])))
            self._options.append(
                {
                    option.label: float(sum(next(probabilities) for _ in spellings(option.label)))
                    for option in prompt.options
                }
            )

    def encode(self, openings: Sequence[PromptParts]) -> list[list[int]]:
        """Return one number for each question: its position."""
        return [[self._places[opening]] for opening in openings]

    def options(
        self, encoded: Sequence[Sequence[int]], labels: Sequence[str]
    ) -> NDArray[np.float32]:
        """Return an array [text, label] of probabilities over all spellings; 0 if not offered."""
        probabilities = [
            [self._options[position].get(label, 0.0) for label in labels] for (position,) in encoded
        ]
        return np.array(probabilities, dtype=np.float32)
