"""The commands that export runs and import logs: export, read."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from goffman.cli.audit import print_done
from goffman.cli.params import Json
from goffman.config import Sample
from goffman.console import count_of, say
from goffman.errors import InputError

QUESTIONS = "Questions (lm-eval-tasks and inspect)"


class Export(StrEnum):
    """The places where people publish, and the harnesses that they use."""

    MODEL_CARD = "model-card"
    LM_EVAL = "lm-eval"
    PAPER = "paper"
    FIGURES = "figures"
    TABLES = "tables"
    LM_EVAL_TASKS = "lm-eval-tasks"
    INSPECT = "inspect"


QUESTIONS_TO = (Export.LM_EVAL_TASKS, Export.INSPECT)
"""Exports of questions; all others need a run."""


def export(
    what: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN|INSTRUMENT…"),
        "Results: a run, the folder that goffman audit wrote. Questions: names that goffman ls "
        "lists, or folders; default: all.",
    ] = None,
    *,
    target: Annotated[
        Export | None,
        typer.Option("--to"),
        "What to write (required). From a run: model-card (a Markdown section for the model's "
        "page on Hugging Face), lm-eval (JSON in the format of the lm-evaluation-harness), "
        "figures (SVG, PNG, PDF), tables (CSV, Markdown, LaTeX) or paper (methods, references, "
        "data, an R script, tables and figures). Questions for another program to ask: "
        "lm-eval-tasks (a folder of tasks for the lm-evaluation-harness) or inspect (a Python "
        "package of tasks for inspect_ai).",
    ] = None,
    model: Annotated[str | None, "The model, if the run has several."] = None,
    mode: Annotated[
        list[str] | None,
        typer.Option(rich_help_panel=QUESTIONS),
        "Export this mode only (goffman ls explains the modes). May be repeated. Default: all "
        "that the harness can ask.",
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, rich_help_panel=QUESTIONS),
        "Export only N prompts of each mode, and the control items.",
    ] = None,
    sample: Annotated[
        Sample | None,
        typer.Option(rich_help_panel=QUESTIONS),
        "Export only this sample. Default: all prompts; of those that are answered in text, a "
        "balanced sample.",
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE|FOLDER"),
        "Write to this file; model-card and lm-eval are files, all others folders.",
    ] = None,
) -> None:
    """Write results for publishing, or questions for another harness.

    Nothing is uploaded. goffman read reads the logs of other harnesses.
    """
    if target is None:
        *others, last = Export
        raise InputError(f"Say in which format: add --to {', '.join(others)} or {last}.")
    sources = what or []
    if target in QUESTIONS_TO:
        if model is not None:
            raise InputError(f"--to {target} exports questions, not results. Leave out --model.")
        _export_questions(sources, target, output, mode=mode or (), limit=limit, sample=sample)
        return
    if mode or limit is not None or sample:
        raise InputError(
            f"--mode, --limit and --sample choose questions, but --to {target} exports results. "
            "Leave them out."
        )
    if len(sources) != 1:
        raise InputError(f"--to {target} exports the results of one run. You gave {len(sources)}.")
    _export_results(Path(sources[0]), target, model=model, output=output)


def _export_results(run: Path, target: Export, *, model: str | None, output: Path | None) -> None:
    from goffman.export.lm_eval_results import lm_eval_text
    from goffman.export.model_card import model_card_text
    from goffman.export.paper import the_model, write_figures, write_paper
    from goffman.report.figures import as_far_as_shown
    from goffman.report.load import read_run
    from goffman.report.table_files import write_tables
    from goffman.runs.files import write_output

    texts = {Export.MODEL_CARD: model_card_text, Export.LM_EVAL: lm_eval_text}
    if make := texts.get(target):
        text, notes = as_far_as_shown(
            read_run(run), lambda measured, _: make(measured, the_model(measured, model))
        )
        say(*notes)
        if output is None:
            sys.stdout.write(text)
        else:
            write_output(output, text.encode())
            say(f"The results are in {output}.")
        return
    folder = _folder(target, output)
    if model is not None:
        raise InputError(f"--to {target} is about every model of the run. Leave out --model.")
    folders = {
        Export.PAPER: write_paper,
        Export.FIGURES: write_figures,
        Export.TABLES: write_tables,
    }
    write = folders[target]
    written, notes = as_far_as_shown(read_run(run), lambda measured, _: write(measured, folder))
    say(*notes)
    say(f"{len(written)} files are in {folder}. Begin with {folder / 'README.md'}.")


def _folder(target: Export, output: Path | None) -> Path:
    """Return the folder to write into; raise InputError if none is given."""
    if output is None:
        raise InputError(f"--to {target} writes a folder. Give one: --output FOLDER")
    return output


def _export_questions(
    instruments: Sequence[str],
    target: Export,
    output: Path | None,
    *,
    mode: Sequence[str],
    limit: int | None,
    sample: Sample | None,
) -> None:
    from goffman.harness import export_tasks
    from goffman.harness.export_tasks import export_task

    folder = _folder(target, output)
    lm_eval = target is Export.LM_EVAL_TASKS
    kinds = export_tasks.LM_EVAL_KINDS if lm_eval else export_tasks.INSPECT_KINDS
    write = export_tasks.write_lm_eval_tasks if lm_eval else export_tasks.write_inspect_tasks
    several = export_task(instruments, kinds=kinds, modes=mode, limit=limit, sample=sample, say=say)
    write(several, folder)
    prompts = sum(task.note.prompts for task in several)
    say(
        f"{count_of(len(several), 'task')} in {folder}, with {prompts:,} prompts. Begin with "
        f"{folder / 'README.md'}."
    )


def read(
    logs: Annotated[
        list[Path],
        typer.Argument(metavar="LOG…"),
        "A folder that lm-eval wrote with --log_samples, one of its results_….json files, or a "
        "log file of inspect_ai. Several become one run.",
    ],
    *,
    output: Annotated[
        Path | None, typer.Option(metavar="FOLDER"), "Folder for the run. Default: runs/MODEL."
    ] = None,
    model: Annotated[
        str | None, "Name of the model in the run. Default: the name in the log."
    ] = None,
    instrument: Annotated[
        list[str] | None,
        "Folder of an instrument of your own, if its questions were exported. May be repeated.",
    ] = None,
    no_report: Annotated[bool, "Write the answers and the numbers, but no report."] = False,
    as_json: Json = False,
) -> None:
    """Turn logs of lm-eval or inspect_ai into a run.

    The questions must come from goffman export --to lm-eval-tasks or --to inspect.
    """
    from goffman.api.notebook import reporting
    from goffman.harness.import_run import read_logs

    with reporting(shown=True) as reporter:
        done = read_logs(
            logs,
            instruments=instrument or (),
            model=model,
            output=output,
            listener=reporter.listener,
            report=not no_report,
        )
    print_done(done, as_json=as_json)
