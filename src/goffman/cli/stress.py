"""The command that analyzes a run's answers in every other reasonable way: stress."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goffman.cli.options import RUN_HELP, Json
from goffman.terminal import counting, printable, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goffman.reports.run import MeasuredRun

MOST_WORKERS = 8
"""Each has a copy of one model's answers to one instrument in memory."""


PROGRESS = "calculations done (with other choices, without one word, or with wrong labels)"
"""What the bar counts: more than the analyses that the sentences speak of."""


def stress(
    run: Annotated[Path, typer.Argument(metavar="RUN", help=RUN_HELP)],
    *,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many processes to run at the same time. Default: one for each CPU core, up "
            "to 8.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed for all random choices.")] = 0,
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Do not write the report again.")
    ] = False,
    as_json: Json = False,
) -> None:
    """See whether the main results of a run hold in other analyses.

    No model is asked. goffman computes each main result again with every combination of choices
    that could have been made differently: wordings, numbers of words, raters, tests and more. It
    also leaves out single parts, and replaces some word labels with wrong ones. Every analysis is
    in multiverse.parquet.
    """
    from goffman.reports.run import read_run
    from goffman.reports.stressed import stress_run
    from goffman.reports.write import write_report

    with counting(sys.stderr, PROGRESS) as watch:
        stress_run(run, workers=workers or _cores(), seed=seed, watch=watch)
    if not no_report:
        for note in write_report(run).notes:
            say(note)
    measured = read_run(run)
    if as_json:
        print(json.dumps(_rows(measured), ensure_ascii=False, indent=1, allow_nan=False))
        return
    for line in _lines(measured):
        print(printable(line))
    where = (
        "report.html, multiverse.parquet and stress.parquet"
        if not no_report
        else "multiverse.parquet"
    )
    print(f"\nEvery analysis is in {printable(str(run))}: {where}.")


def _cores() -> int:
    """The CPU cores that this process may use, as far as it pays."""
    return min(MOST_WORKERS, len(os.sched_getaffinity(0)))


def _lines(run: MeasuredRun) -> Iterator[str]:
    """What the page says, headline by headline."""
    from goffman.presentation.findings_multiverse import holds_said

    for name, section in run.sections.items():
        for one in holds_said(section):
            yield f"{name}, {one.model}"
            yield f"  {one.head}."
            if one.said:
                yield f"  {' '.join(one.said)}"


def _rows(run: MeasuredRun) -> list[dict[str, object]]:
    """The summary of each headline, with the sentence beside it."""
    from goffman.presentation.findings_multiverse import holds_said

    assert run.stressed is not None  # noqa: S101 - it was written a moment ago
    said = {
        (name, one.model): one.head
        for name, section in run.sections.items()
        for one in holds_said(section)
    }
    return [
        {
            **row,
            "explained": json.loads(row["explained"]) if row["explained"] else None,
            "said": said.get(
                (
                    row["instrument"],
                    run.sections[row["instrument"]].names.model(row["model"]),
                )
            ),
        }
        for row in run.stressed[1].iter_rows(named=True)
    ]
