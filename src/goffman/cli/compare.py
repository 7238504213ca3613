"""The command that sets runs against each other: compare."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goffman.cli.options import Json
from goffman.errors import InputError
from goffman.terminal import printable, say, table_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goffman.reports.compare import Comparison
    from goffman.reports.run import MeasuredRun

NOTHING = "Nothing to compare: the two runs have too few prompts in common.\n"


def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN RUN …", help="Two or more runs.")],
    *,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=OTHER]",
            help="Compare only this model. If the later runs call it OTHER, give NAME=OTHER. May "
            "be repeated.",
        ),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="Print every row: groups, subscales, wordings and single conditions."
        ),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed for the intervals.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            help="Write the full comparison to this file: a page (.html), a text for a pull "
            "request (.md), or every row (.csv, .json or .tex)."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare runs with the first one given, prompt by prompt."""
    from goffman.api.calls import compare as compare_runs
    from goffman.reports.compare_text import as_json as json_of

    if output is not None:
        _check_ending(output)
    comparison = compare_runs(*runs, models=model or (), seed=seed)
    found, notes = comparison.parts, comparison.notes
    for note in notes:
        say(note)
    if output is not None:
        _write_comparison(output, found, [run.measured for run in comparison.runs], notes)
    if as_json:
        print(json.dumps(json_of(found), ensure_ascii=False, indent=1, allow_nan=False))
        return
    _print_said(found)
    if everything:
        _print_rows(found)
    _print_top(found, everything=everything, output=output)


def _print_said(found: Sequence[Comparison]) -> None:
    """The sentences about each instrument and model."""
    from goffman.reports.compare_said import labels_of, said_of, who

    labels = labels_of(found)
    for one in found:
        if not one.verdict.refusals:
            lines = said_of(one).lines
            heading = printable(f"{one.instrument}: {who(one, labels)}")
            text = "".join(f"  {printable(line)}\n" for line in lines)
            sys.stdout.write(f"{heading}\n{text}\n")


def _print_rows(found: Sequence[Comparison]) -> None:
    """Every row of every comparison."""
    from goffman.reports.compare_text import screen_of

    for one in found:
        if one.verdict.refusals:
            continue
        screen = screen_of(one)
        sys.stdout.write(printable(screen.heading) + "\n")
        columns = tuple(screen.rows[0]) if screen.rows else ()
        text = table_text(screen.rows, columns, whole=1) if screen.rows else NOTHING
        notes = "".join(f"{printable(note)}\n" for note in screen.notes)
        sys.stdout.write(f"{text}{notes}\n")


def _print_top(found: Sequence[Comparison], *, everything: bool, output: Path | None) -> None:
    """What changed most, and where the rest is."""
    from goffman.reports.compare_text import top_of

    top = top_of(found)
    if top.rows and not everything:
        sys.stdout.write(f"What changed most ({len(top.rows)} rows):\n")
        sys.stdout.write(table_text(top.rows, tuple(top.rows[0]), whole=1))
    if output is not None:
        say(f"Everything is in {output}.")
    elif not everything and top.left:
        say(
            f"{top.left:,} more rows: add --output FILE.html for a page with figures and evidence, "
            "--output FILE.csv for a table, or --all to print them."
        )


def _check_ending(path: Path) -> None:
    """InputError before anything is compared, where the file's name says no known format."""
    from goffman.presentation.table_text import FORMATS

    allowed = [".html", ".json", *FORMATS]
    if path.suffix.lower() not in allowed:
        raise InputError(f"--output is {path}. Its name must end in {' or '.join(allowed)}.")


def _write_comparison(
    path: Path, found: Sequence[Comparison], runs: Sequence[MeasuredRun], notes: Sequence[str]
) -> None:
    from goffman.output import write_output
    from goffman.presentation.table_text import FORMATS
    from goffman.reports.compare_page import compare_page
    from goffman.reports.compare_text import as_json, as_markdown, comparison_table

    ending = path.suffix.lower()
    if ending == ".html":
        text = compare_page(found, runs, notes=notes)
    elif ending == ".json":
        text = json.dumps(as_json(found), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    elif ending == ".md":
        text = as_markdown(found)
    else:
        text = FORMATS[ending](comparison_table(found))
    write_output(path, text)
