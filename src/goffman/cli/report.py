"""The commands that analyze and show runs: report, stress, compare."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goffman.cli.params import Json, RunFolder, option
from goffman.cli.screen import print_lines, print_screen
from goffman.console import counting, json_text, printable, say
from goffman.errors import InputError
from goffman.os_support import cores

if TYPE_CHECKING:
    from goffman.comparison.runs import Comparison
    from goffman.report.load import MeasuredRun


def report(
    run: RunFolder,
    *,
    parser: Annotated[
        str | None, "First read the stored replies again, by these rules: v2, v1 or as-published."
    ] = None,
    anchor: Annotated[list[Path] | None, option("anchors")] = None,
    as_json: Json = False,
) -> None:
    """Write a run's report again, without asking the models.

    The report is report.html, with card.png, results.csv and README.md in the same folder.
    """
    from goffman.report.analyze import reread
    from goffman.report.write import renew_anchors, write_report

    if parser:
        reread(run, parser=parser, note=say)
    renew_anchors(run, anchor or (), note=say)
    written = write_report(run)
    say(*written.notes)
    if as_json:
        entry = {
            "report": str(written.page),
            "results": [result.entry() for result in written.summary.results],
            "summary": list(written.summary.details),
        }
        print(json_text(entry))
        return
    print_screen(run, written.summary.results, report=written.page)


def stress(
    run: RunFolder,
    *,
    workers: Annotated[
        int | None,
        typer.Option(min=1),
        "How many processes to run at the same time. Default: one for each CPU core, up to 8.",
    ] = None,
    seed: Annotated[int, typer.Option(min=0), "Seed for all random choices."] = 0,
    no_report: Annotated[bool, "Do not write the report again."] = False,
    as_json: Json = False,
) -> None:
    """See how far the main results of a run move in other analyses.

    No model is asked. goffman computes each main result again with every combination of choices
    that could have been made differently: wordings, numbers of words, raters and more. It also
    leaves out single words, and makes some word labels wrong. Every analysis is in
    multiverse.parquet.
    """
    from goffman.report.load import read_run
    from goffman.report.summary import stress_screen
    from goffman.report.write import stress_run, write_report

    # More than the analyses that the sentences mention.
    what = "calculations done (with other choices, without one word, or with wrong labels)"
    with counting(sys.stderr, what) as watch:
        # Each process has a copy of one model's answers to one instrument in memory.
        stress_run(run, workers=workers or min(8, cores()), seed=seed, watch=watch)
    if not no_report:
        say(*write_report(run).notes)
    measured = read_run(run)
    if as_json:
        print(json_text(_rows(measured)))
        return
    print_lines(stress_screen(measured.sections))
    where = "multiverse.parquet" if no_report else "report.html and multiverse.parquet"
    print(f"\nEvery analysis is in {printable(str(run))}: {where}.")


def _rows(run: MeasuredRun) -> list[dict[str, object]]:
    """Return the summary of each main result, with its finding and the ids of its caveats."""
    from goffman.report.summary import main_results, stressed_row

    rows = []
    for main_result in main_results(run.sections):
        row = stressed_row(main_result, run.sections)
        if row is not None:
            explained = json.loads(row["explained"]) if row["explained"] else None
            entry = {name: main_result.entry()[name] for name in ("finding", "caveats")}
            rows.append({**row, "explained": explained, **entry})
    return rows


def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN RUN …"), "Two or more runs."],
    *,
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[=OTHER]"),
        "Compare only this model. If the later runs call it OTHER, give NAME=OTHER. May be "
        "repeated.",
    ] = None,
    output: Annotated[
        Path | None,
        "Write the full comparison to this file: a page (.html), a text for a pull request (.md), "
        "or every row (.csv, .json or .tex).",
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare runs with the first one given, prompt by prompt."""
    from goffman.api.public import compare as compare_runs
    from goffman.comparison.sentences import as_json as json_of
    from goffman.comparison.sentences import screen_of
    from goffman.presentation.table_formats import FORMATS

    allowed = [".html", ".json", *FORMATS]
    if output is not None and output.suffix.lower() not in allowed:
        raise InputError(f"--output is {output}. Its name must end in {' or '.join(allowed)}.")
    comparison = compare_runs(*runs, models=model or ())
    parts, notes = comparison.parts, comparison.notes
    say(*notes)
    if output is not None:
        _write_comparison(output, parts, [run.measured for run in comparison.runs], notes)
    if as_json:
        print(json_text(json_of(parts)))
        return
    print_lines(screen_of(parts))
    say(
        f"Everything is in {output}."
        if output
        else "More: --output FILE.html (figures, evidence), FILE.md (pull request), FILE.csv."
    )


def _write_comparison(
    path: Path, comparisons: Sequence[Comparison], runs: Sequence[MeasuredRun], notes: Sequence[str]
) -> None:
    from goffman.comparison.page import compare_page
    from goffman.comparison.sentences import as_json, as_markdown, comparison_table
    from goffman.presentation.table_formats import FORMATS
    from goffman.runs.files import write_output

    ending = path.suffix.lower()
    if ending == ".html":
        text = compare_page(comparisons, runs, notes=notes)
    elif ending == ".json":
        text = json_text(as_json(comparisons)) + "\n"
    elif ending == ".md":
        text = as_markdown(comparisons)
    else:
        text = FORMATS[ending](comparison_table(comparisons))
    write_output(path, text.encode())
