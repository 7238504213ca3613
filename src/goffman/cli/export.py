"""The command that writes results for publishing, and questions for other harnesses: export."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from goffman.errors import InputError
from goffman.terminal import count_of, say

Output = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE|FOLDER",
        help="Write to this file; with --to paper, lm-eval-tasks or inspect to this folder.",
    ),
]

QUESTIONS = "Questions (lm-eval-tasks and inspect)"


class Export(StrEnum):
    """The places where people publish, and the harnesses that they use."""

    MODEL_CARD = "model-card"
    LM_EVAL = "lm-eval"
    PAPER = "paper"
    LM_EVAL_TASKS = "lm-eval-tasks"
    INSPECT = "inspect"


RESULTS = (Export.MODEL_CARD, Export.LM_EVAL, Export.PAPER)
"""What a run is needed for."""


def export(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN|INSTRUMENT…",
            help="Results: a run, the folder that goffman audit wrote. Questions: names that "
            "goffman ls lists, or folders; default: all.",
        ),
    ] = None,
    *,
    target: Annotated[
        Export | None,
        typer.Option(
            "--to",
            help="What to write (required). From a run: model-card (a Markdown section for the "
            "model's page on Hugging Face), lm-eval (JSON in the format of the "
            "lm-evaluation-harness) or paper (a folder with methods, references, data, an R "
            "script, tables and figures of all models). Questions for another program to ask: "
            "lm-eval-tasks (a folder of tasks for the lm-evaluation-harness) or inspect (a Python "
            "package of tasks for inspect_ai).",
        ),
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model, if the run has several.")] = None,
    form: Annotated[
        list[str] | None,
        typer.Option(
            "--form",
            help="Export this form only (goffman ls explains the forms). May be repeated. Default: "
            "all that the harness can ask.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Export only N prompts of each form, and the control items.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None,
    thorough: Annotated[
        bool,
        typer.Option(
            "--thorough",
            help="Also export all prompts that are answered in text. Default: a balanced sample.",
            rich_help_panel=QUESTIONS,
        ),
    ] = False,
    output: Output = None,
) -> None:
    """Write results for publishing, or questions for another harness.

    Nothing is uploaded. goffman read reads the logs of other harnesses.
    """
    if target is None:
        *others, last = Export
        raise InputError(f"Say in which format: add --to {', '.join(others)} or {last}.")
    given = what or []
    if target not in RESULTS:
        if model is not None:
            raise InputError(f"--to {target} exports questions, not results. Leave out --model.")
        _export_questions(given, target, output, form=form or (), limit=limit, thorough=thorough)
        return
    if form or limit is not None or thorough:
        raise InputError(
            f"--form, --limit and --thorough choose questions, but --to {target} exports results. "
            "Leave them out."
        )
    if len(given) != 1:
        raise InputError(f"--to {target} exports the results of one run. You gave {len(given)}.")
    run = Path(given[0])
    if target is Export.PAPER:
        _export_paper(run, model=model, output=output)
    else:
        _export_text(run, target, model=model, output=output)


def _export_text(run: Path, target: Export, *, model: str | None, output: Path | None) -> None:
    from goffman.output import write_output
    from goffman.reports.exported import the_model
    from goffman.reports.lm_eval import lm_eval_text
    from goffman.reports.model_card import model_card_text
    from goffman.reports.run import read_run

    measured = read_run(run)
    make = model_card_text if target is Export.MODEL_CARD else lm_eval_text
    text = make(measured, the_model(measured, model))
    if output is None:
        sys.stdout.write(text)
    else:
        write_output(output, text)
        say(f"The results are in {output}.")


def _export_paper(run: Path, *, model: str | None, output: Path | None) -> None:
    from goffman.reports.paper import write_paper
    from goffman.reports.run import read_run

    if output is None:
        raise InputError("--to paper writes a folder. Give one: --output FOLDER")
    if model is not None:
        raise InputError("--to paper is about every model of the run. Leave out --model.")
    written = write_paper(read_run(run), output)
    say(f"{len(written)} files are in {output}. Begin with {output / 'README.md'}.")


def _export_questions(
    instruments: Sequence[str],
    target: Export,
    output: Path | None,
    *,
    form: Sequence[str],
    limit: int | None,
    thorough: bool,
) -> None:
    from goffman.harnesses import inspect_tasks, lm_eval_tasks
    from goffman.harnesses.handed import handed

    if output is None:
        raise InputError(f"--to {target} writes a folder. Give one: --output FOLDER")
    lm_eval = target is Export.LM_EVAL_TASKS
    kinds = lm_eval_tasks.KINDS if lm_eval else inspect_tasks.KINDS
    write = lm_eval_tasks.write_lm_eval_tasks if lm_eval else inspect_tasks.write_inspect_tasks
    several = handed(instruments, kinds=kinds, forms=form, limit=limit, thorough=thorough, say=say)
    write(several, output)
    prompts = sum(one.note.prompts for one in several)
    say(
        f"{count_of(len(several), 'task')} in {output}, with {prompts:,} prompts. Begin with "
        f"{output / 'README.md'}."
    )
