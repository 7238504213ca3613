"""The command about what people read: report."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from goffman.cli.anchors import AnchorPaths
from goffman.cli.options import RUN_HELP, Json
from goffman.terminal import printable, say


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help=RUN_HELP)],
    *,
    all_figures: Annotated[
        bool,
        typer.Option(
            "--all-figures",
            help="Some figures on the page have menus. Save a separate file for each choice in "
            "them.",
        ),
    ] = False,
    parser: Annotated[
        str | None,
        typer.Option(
            help="First read the stored replies again, by these rules: v2, v1 or as-published."
        ),
    ] = None,
    anchor: AnchorPaths = None,
    as_json: Json = False,
) -> None:
    """Write a run's report again, without asking the models.

    The report is report.html, with figures/ and tables/ in the same folder.
    """
    from goffman.analysis.measured import read_again
    from goffman.reports.set_beside import set_beside_again
    from goffman.reports.write import write_report

    if parser:
        read_again(run, parser=parser, note=say)
    set_beside_again(run, anchor or (), note=say)
    written = write_report(run, every_choice=all_figures)
    for note in written.notes:
        say(note)
    if as_json:
        found = {
            "report": str(written.page),
            "summary": list(written.summary),
            "figures": [str(path) for path in written.figures],
            "tables": [str(path) for path in written.tables],
        }
        print(json.dumps(found, ensure_ascii=False, indent=1))
        return
    sys.stdout.write("".join(f"{printable(line)}\n" for line in written.summary) + "\n")
    size = written.page.stat().st_size / 1e6
    print(f"The report is {printable(str(written.page))} ({size:.1f} MB): open it in any browser.")
    more = ["figures/"] if written.figures else []
    more += ["tables/"] if written.tables else []
    if more:
        print(f"For a paper, use {' and '.join(more)} in the same folder.")
