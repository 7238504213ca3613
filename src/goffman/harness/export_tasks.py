"""Tasks for lm-eval and Inspect: prompts, and the note by which goffman recognizes them in a log.

Each task finds its questions in a file beside its own, wherever the folder is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from importlib.resources import files
from itertools import zip_longest
from pathlib import Path
from typing import Any, Self, cast

from goffman import __version__
from goffman.config import Sample
from goffman.errors import InputError
from goffman.instruments.types import (
    MODES,
    AnswerTable,
    InstrumentKind,
    Prompt,
    is_control,
    slug_of,
)
from goffman.models.base import Sampling
from goffman.options import AskOptions, Listener
from goffman.planning import PromptSet, Question, every_way, interleaved, questions_of
from goffman.runs.files import README, write_folder
from goffman.runs.manifest import ids_sha256
from goffman.validation import check_types

TABLES: Mapping[InstrumentKind, AnswerTable] = {
    "choose": "choices",
    "say": "replies",
    "ask": "replies",
    "write": "replies",
}
"""The kinds of instrument that a harness can ask, and the table of their answers."""


@dataclass(frozen=True, kw_only=True)
class Note:
    """A note of which prompts a harness was given."""

    instrument: str
    """The instrument's id with its form, such as social-distance-choice."""
    version: str
    """The instrument's version."""
    digest: str
    """A digest of the instrument's files."""
    prompts: int
    """Number of prompts, including those of control items."""
    prompts_sha256: str
    limit: int | None
    sample: str | None
    """quick, balanced or all; None: as an audit asks by default."""
    goffman: str

    def entry(self) -> dict[str, Any]:
        """Return the note as JSON has it."""
        return asdict(self)

    @classmethod
    def of(cls, entry: object) -> Self | None:
        """Return the note in an entry, None if it is no note; raise ValueError if damaged."""
        if not isinstance(entry, Mapping):
            return None
        names = [field.name for field in fields(cls)]
        if not all(name in entry for name in names):
            return None
        note = cls(**{name: entry[name] for name in names})
        check_types(note)
        if note.limit is not None and note.limit < 1:
            raise ValueError(f"limit is {note.limit}")
        return note


@dataclass(frozen=True, kw_only=True)
class ExportedTask:
    """An instrument in one form, as it is given to a harness."""

    question: Question
    note: Note
    table: AnswerTable

    @property
    def file_name(self) -> str:
        """Return the name of the task's files."""
        return slug_of(self.note.instrument)

    @property
    def rows(self) -> str:
        """Return the task's questions as JSON, one per line."""
        row_of = choice_row if self.table == "choices" else reply_row
        return "".join(
            f"{json.dumps(row_of(prompt), ensure_ascii=False)}\n" for prompt in self.prompts
        )

    @property
    def prompts(self) -> list[Prompt]:
        """Return prompts and control items in turn; prompts take one condition per group in turn.

        A harness that is told to ask only the first few then asks some of each.
        """
        controls = [prompt for prompt in self.question.prompts if is_control(prompt)]
        main_prompts = interleaved(
            [prompt for prompt in self.question.prompts if not is_control(prompt)]
        )
        pairs = zip_longest(main_prompts, controls)
        return [prompt for pair in pairs for prompt in pair if prompt is not None]


def export_task(
    instruments: Sequence[str],
    *,
    kinds: Sequence[InstrumentKind],
    modes: Sequence[str] = (),
    limit: int | None = None,
    sample: Sample | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> list[ExportedTask]:
    """Return the tasks for a harness that asks these kinds; raise InputError if there are none.

    ``instruments``: names or folders; none: every built-in one.
    """
    options = AskOptions(modes=tuple(modes), limit=limit, sample=sample)
    prompt_sets = every_way(instruments, options)
    usable = [prompt_set for prompt_set in prompt_sets if prompt_set.instrument.kind in kinds]
    for name in dict.fromkeys(prompt_set.instrument.base for prompt_set in prompt_sets):
        if name not in {prompt_set.instrument.base for prompt_set in usable} and (
            instruments or not usable
        ):
            mode = ", ".join(
                prompt_set.instrument.mode
                for prompt_set in prompt_sets
                if prompt_set.instrument.base == name
            )
            allowed = ", ".join(MODES[kind] for kind in kinds)
            raise InputError(
                f"'{name}' cannot be exported in the mode {mode}. Modes that this harness can ask: "
                f"{allowed}."
            )
    return _questions(usable, options, say)


def _questions(
    prompt_sets: Sequence[PromptSet], options: AskOptions, say: Callable[[str], None]
) -> list[ExportedTask]:
    # A harness that reads probabilities asks every order of the options, as an audit on a GPU does.
    in_text = {
        prompt_set.instrument.id
        for prompt_set in prompt_sets
        if TABLES[prompt_set.instrument.kind] == "replies"
    }
    tables = {
        prompt_set.instrument.id: {TABLES[prompt_set.instrument.kind]} for prompt_set in prompt_sets
    }
    questions = questions_of(
        prompt_sets, options, Listener(note=say), slowly=in_text, tables=tables
    )
    tasks = []
    for question in questions.values():
        note = Note(
            instrument=question.instrument.id,
            version=question.instrument.version,
            digest=question.instrument.digest,
            prompts=len(question.prompts),
            prompts_sha256=ids_sha256(question.prompts),
            limit=options.limit,
            sample=options.sample,
            goffman=__version__,
        )
        table = TABLES[question.instrument.kind]
        tasks.append(ExportedTask(question=question, note=note, table=table))
    return tasks


def exported_before(note: Note, instruments: Sequence[str], *, where: str) -> ExportedTask:
    """Return the task of a note in a log; raise InputError if it has changed since its export.

    ``instruments``: names or folders to look in; none: what goffman knows itself.
    """
    options = AskOptions(limit=note.limit, sample=cast("Sample | None", note.sample))
    prompt_sets = [
        prompt_set
        for name in instruments or [note.instrument]
        for prompt_set in every_way([name], AskOptions())
        if prompt_set.instrument.id == note.instrument and prompt_set.instrument.kind in TABLES
    ]
    if not prompt_sets:
        raise InputError(
            f"{where} has answers to {note.instrument}, but --instrument names other instruments."
        )
    instrument = prompt_sets[0].instrument
    if instrument.version != note.version:
        raise InputError(
            f"{where} has answers to {note.instrument} version {note.version}, but this goffman "
            f"has version {instrument.version}. Export the questions again and run the harness "
            f"again, or use goffman {note.goffman}."
        )
    (task,) = _questions(prompt_sets[:1], options, lambda _: None)
    if instrument.digest != note.digest or task.note.prompts_sha256 != note.prompts_sha256:
        raise InputError(
            f"{where} has answers to other prompts of {note.instrument} than this goffman asks: "
            "the instrument's files have changed since the questions were exported. Export them "
            f"again and run the harness again, or use goffman {note.goffman}."
        )
    return task


ANSWER = "\n\nAnswer:"
"""The text after a question that a causal model continues, as in models/causal.py."""


def spellings(label: str) -> list[str]:
    """Return how an option's label may be written at the beginning of an answer.

    That is with and without a space before it; a label that is a word also with a capital letter,
    or all in capitals.
    """
    variants = [label] if len(label) == 1 else [label, label.capitalize(), label.upper()]
    return [f"{space}{variant}" for variant in dict.fromkeys(variants) for space in (" ", "")]


def choice_row(prompt: Prompt) -> dict[str, Any]:
    """Return a question that asks for probabilities; a row's options are their spellings."""
    spelled = [(text, option) for option in prompt.options for text in spellings(option.label)]
    return {
        **_about(prompt),
        "text": f"{prompt.text}{ANSWER}",
        "spellings": [text for text, _ in spelled],
        "codes": [option.code for _, option in spelled],
        # lm-eval needs a right answer; none of these is.
        "target": 0,
    }


def reply_row(prompt: Prompt) -> dict[str, Any]:
    """Return a question that is answered in text, with what a first score of the reply needs."""
    answers = [(option.label, option.code) for option in prompt.options]
    if not answers and prompt.answer and prompt.other:
        answers = [(prompt.answer, None), (prompt.other, None)]
    return {
        **_about(prompt),
        "text": prompt.text,
        "answers": [text for text, _ in answers],
        "codes": [code for _, code in answers],
        "target": "",
    }


def _about(prompt: Prompt) -> dict[str, Any]:
    return {
        "prompt_id": prompt.id,
        "item": prompt.item,
        "wording": prompt.wording,
        "condition": prompt.condition,
        "group": prompt.group,
        "order": prompt.order,
        "control": is_control(prompt),
    }


def _template(name: str) -> str:
    return files("goffman.harness").joinpath("templates", name).read_text(encoding="utf-8")


LM_EVAL_VERSION = "0.4.13"
"""The version of lm-eval that these tasks are tested with."""

LM_EVAL_KINDS: tuple[InstrumentKind, ...] = ("choose", "say", "ask", "write")
"""The kinds of instrument that lm-eval can ask."""

CHOICE, REPLY = "goffman-choice", "goffman-reply"
"""The tags by which all tasks of a kind are run."""

LM_EVAL_HEADING = "# Questions of goffman for lm-evaluation-harness"


def write_lm_eval_tasks(several: Sequence[ExportedTask], folder: Path) -> list[Path]:
    """Write the files to the folder; raise InputError if it holds others. Return their paths."""
    texts = {"utils.py": _template("lm_eval_utils.py.txt")}
    rows = []
    for task in several:
        name, title = task.file_name, task.question.instrument.title
        texts[f"{name}.jsonl"] = task.rows
        texts[f"{name}.yaml"] = _yaml(task)
        rows.append(f"| {task_name(name)} | {task.note.prompts:,} | {title} |\n")
    about = _template("lm_eval_readme.md.txt").format(
        heading=LM_EVAL_HEADING, version=LM_EVAL_VERSION, choice=CHOICE, reply=REPLY
    )
    texts[README] = about + "".join(rows)
    return write_folder(folder, _encoded(texts), heading=LM_EVAL_HEADING)


def _encoded(texts: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    return ((path, text.encode()) for path, text in texts.items())


def task_name(instrument: str) -> str:
    """Return lm-eval's name for an instrument in one form."""
    return f"goffman-{instrument}"


def _yaml(task: ExportedTask) -> str:
    """Return the task's file: JSON, which is also YAML, except for the functions."""
    name, sampling = task.file_name, Sampling()
    request: dict[str, Any] = {
        "output_type": "generate_until",
        "repeats": task.question.trials,
        "generation_kwargs": {
            "until": [],
            "do_sample": True,
            "temperature": sampling.temperature,
            "max_gen_toks": sampling.max_tokens,
        },
        "process_results": "!function utils.scored_reply",
        "metric_list": [_mean("code"), _mean("answered")],
    }
    if task.table == "choices":
        request = {
            "output_type": "multiple_choice",
            "doc_to_choice": "spellings",
            # Each spelling has its own space, or none.
            "target_delimiter": "",
            "process_results": "!function utils.scored_choice",
            "metric_list": [_mean("code"), _mean("on_options")],
        }
    settings: dict[str, Any] = {
        "task": task_name(name),
        "tag": CHOICE if task.table == "choices" else REPLY,
        "custom_dataset": "!function utils.dataset",
        "dataset_kwargs": {"file": f"{name}.jsonl"},
        "test_split": "test",
        "num_fewshot": 0,
        "doc_to_text": "text",
        "doc_to_target": "target",
        **request,
        "metadata": task.note.entry(),
    }
    lines = [
        f"{key}: {value if str(value).startswith('!') else json.dumps(value, ensure_ascii=False)}\n"
        for key, value in settings.items()
    ]
    return "# Written by goffman.\n" + "".join(lines)


def _mean(metric: str) -> dict[str, Any]:
    """Return lm-eval's entry for the mean of a metric; higher is not called better."""
    return {"metric": metric, "aggregation": "mean", "higher_is_better": metric != "code" or None}


INSPECT_VERSION = "0.3.285"
"""The version of inspect_ai that these tasks are tested with."""

INSPECT_KINDS: tuple[InstrumentKind, ...] = ("say", "ask", "write")
"""The kinds of instrument that inspect_ai can ask: those for chat models."""

PACKAGE = "goffman_tasks"

INSPECT_HEADING = "# Questions of goffman for inspect_ai"


def write_inspect_tasks(several: Sequence[ExportedTask], folder: Path) -> list[Path]:
    """Write the files to the folder; raise InputError if it holds others. Return their paths."""
    tasks, rows = [_template("inspect_tasks.py.txt")], []
    texts = {
        "pyproject.toml": _template("inspect_pyproject.toml.txt").format(
            version=__version__, package=PACKAGE
        ),
        f"{PACKAGE}/__init__.py": '"""Questions of goffman as tasks for inspect_ai."""\n',
    }
    sampling = {name: value for name, value in asdict(Sampling()).items() if value is not None}
    for task in several:
        name, title = task.file_name, task.question.instrument.title
        data = {"note": task.note.entry(), "trials": task.question.trials, "drawn": sampling}
        texts[f"{PACKAGE}/data/{name}.jsonl"] = task.rows
        texts[f"{PACKAGE}/data/{name}.json"] = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
        function = name.replace("-", "_")
        # As JSON: a title of a user's own instrument is text, whatever stands in it.
        tasks.append(
            f"@task\ndef {function}():\n    {json.dumps(title)}\n"
            f"    return questions({json.dumps(name)})\n"
        )
        rows.append(f"| {function} | {task.note.prompts:,} | {title} |\n")
    texts[f"{PACKAGE}/tasks.py"] = "\n\n".join(tasks)
    about = _template("inspect_readme.md.txt").format(
        heading=INSPECT_HEADING, version=INSPECT_VERSION, package=PACKAGE
    )
    texts[README] = about + "".join(rows)
    return write_folder(folder, _encoded(texts), heading=INSPECT_HEADING)
