"""The command that makes a run of other harnesses' logs: read."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from goffman.cli.options import Json
from goffman.terminal import printable, table_text


def read(
    logs: Annotated[
        list[Path],
        typer.Argument(
            metavar="LOG…",
            help="A folder that lm-eval wrote with --log_samples, one of its results_….json files, "
            "or a log file of inspect_ai. Several become one run.",
        ),
    ],
    *,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder for the run. Default: runs/MODEL."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Name of the model in the run. Default: the name in the log."),
    ] = None,
    instrument: Annotated[
        list[str] | None,
        typer.Option(
            help="Folder of an instrument of your own, if its questions were exported. May be "
            "repeated."
        ),
    ] = None,
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Write the answers and the numbers, but no report.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Turn logs of lm-eval or inspect_ai into a run.

    The questions must come from goffman export --to lm-eval-tasks or --to inspect.
    """
    from goffman.api.live import telling
    from goffman.harnesses.read import read_logs

    with telling(shown=True) as teller:
        done = read_logs(
            logs,
            instruments=instrument or (),
            model=model,
            output=output,
            listener=teller.listener,
            report=not no_report,
        )
    rows: list[dict[str, Any]] = [
        {
            "model": one.model,
            "instrument": one.instrument,
            "prompts": one.sentences,
            "answers": one.rows,
        }
        for one in done.asked
    ]
    if as_json:
        found: dict[str, Any] = {"folder": str(done.folder), "answers": rows}
        found |= {"summary": done.summary, "report": done.report and str(done.report)}
        print(json.dumps(found, ensure_ascii=False, indent=1))
        return
    sys.stdout.write(table_text(rows, tuple(rows[0])))
    sys.stdout.write("\n" + "".join(f"{printable(line)}\n" for line in done.summary) + "\n")
    print(f"Answers, scores.parquet and estimates.parquet are in {printable(str(done.folder))}.")
    if done.report:
        print(f"The report is {printable(str(done.report))}: open it in any browser.")
