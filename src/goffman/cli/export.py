"""The command that writes results where people publish: export."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from goffman.cli.options import RUN_HELP
from goffman.errors import InputError
from goffman.terminal import say

Output = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE|FOLDER", help="Write to this file, or with --to paper to this folder."
    ),
]


class Export(StrEnum):
    """The places where people publish."""

    MODEL_CARD = "model-card"
    LM_EVAL = "lm-eval"
    PAPER = "paper"


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help=RUN_HELP)],
    *,
    target: Annotated[
        Export | None,
        typer.Option(
            "--to",
            help="model-card: a Markdown section for the model's page on Hugging Face. lm-eval: "
            "JSON in the format of the lm-evaluation-harness. paper: a folder with methods, "
            "references, data, an R script, tables and figures of all models. One of them must be "
            "given.",
        ),
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model, if the run has several.")] = None,
    output: Output = None,
) -> None:
    """Print or write results in a format for publishing.

    Nothing is uploaded.
    """
    from goffman.output import write_output
    from goffman.reports.exported import the_model
    from goffman.reports.lm_eval import lm_eval_text
    from goffman.reports.model_card import model_card_text
    from goffman.reports.run import read_run

    if target is None:
        raise InputError("Say in which format: add --to model-card, --to lm-eval or --to paper.")
    if target is Export.PAPER:
        _export_paper(run, model=model, output=output)
        return
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
