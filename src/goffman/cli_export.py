"""The command that writes results where people publish: export."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from goffman.cli_options import RUN_HELP
from goffman.errors import InputError
from goffman.terminal import say

Output = Annotated[Path | None, typer.Option(help="Write to this file.")]


class Export(StrEnum):
    """The places where people publish."""

    MODEL_CARD = "model-card"
    LM_EVAL = "lm-eval"


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help=RUN_HELP)],
    *,
    target: Annotated[
        Export | None,
        typer.Option(
            "--as",
            help="model-card: a Markdown section for the model's page on Hugging Face. lm-eval: "
            "JSON in the format of the lm-evaluation-harness. One of them must be given.",
        ),
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model, if the run has several.")] = None,
    output: Output = None,
) -> None:
    """Print a model's results in a format for publishing.

    Nothing is uploaded.
    """
    from goffman.output import write_output
    from goffman.reports.exported import the_model
    from goffman.reports.lm_eval import lm_eval_text
    from goffman.reports.model_card import model_card_text
    from goffman.reports.run import read_run

    if target is None:
        raise InputError("Say in which format: add --as model-card or --as lm-eval.")
    measured = read_run(run)
    make = model_card_text if target is Export.MODEL_CARD else lm_eval_text
    text = make(measured, the_model(measured, model))
    if output is None:
        sys.stdout.write(text)
    else:
        write_output(output, text)
        say(f"The results are in {output}.")
