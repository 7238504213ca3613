"""The command that sets runs against each other: compare."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goffman.cli_options import Json
from goffman.errors import InputError
from goffman.terminal import printable, say, table_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goffman.reports.compare import Comparison

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
        typer.Option("--all", help="Also compare subscales, wordings and single conditions."),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed for the intervals.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option(help="Write the full comparison to this file (.csv, .json, .md or .tex)."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare each later run with the first one, prompt by prompt."""
    from goffman.reports.compare import compare as compare_runs
    from goffman.reports.compare_text import as_json as json_of
    from goffman.reports.compare_text import comparison_table, screen_of
    from goffman.reports.run import read_run

    if output is not None:
        _check_ending(output)
    _check_different(runs)
    measured = [read_run(run) for run in runs]
    found = compare_runs(measured, models=model or (), seed=seed, note=say)
    say_verdicts(found)
    if output is not None:
        _write_comparison(output, found)
    if as_json:
        print(json.dumps(json_of(found), ensure_ascii=False, indent=1, allow_nan=False))
        return
    for one in found:
        if one.verdict.refusals:
            continue
        screen = screen_of(one, everything=everything)
        sys.stdout.write(printable(screen.heading) + "\n")
        columns = tuple(screen.rows[0]) if screen.rows else ()
        text = table_text(screen.rows, columns, whole=1) if screen.rows else NOTHING
        notes = "".join(f"{printable(note)}\n" for note in screen.notes)
        sys.stdout.write(f"{text}{notes}\n")
    if output is not None:
        say(f"{len(comparison_table(found).rows):,} rows are in {output}.")


def say_verdicts(found: Sequence[Comparison]) -> None:
    """Beside the output: what was refused, and what must be known of the rest."""
    from goffman.reports.compare import refused

    for line in dict.fromkeys(refused(found)):
        say(line)
    marks = [f"Note on {one.instrument}: {mark}." for one in found for mark in one.verdict.marks]
    for line in dict.fromkeys(marks):
        say(line)


def _check_different(runs: Sequence[Path]) -> None:
    """InputError where a run was given twice: nothing differs, and nothing would be learned."""
    seen: set[Path] = set()
    for run in runs:
        if run.resolve() in seen:
            raise InputError(f"You gave the same run twice: {run}. Give two different runs.")
        seen.add(run.resolve())


def _check_ending(path: Path) -> None:
    """InputError before anything is compared, where the file's name says no known format."""
    from goffman.presentation.table_text import FORMATS

    allowed = [".json", *FORMATS]
    if path.suffix.lower() not in allowed:
        raise InputError(f"--output is {path}. Its name must end in {' or '.join(allowed)}.")


def _write_comparison(path: Path, found: Sequence[Comparison]) -> None:
    from goffman.output import write_output
    from goffman.presentation.table_text import FORMATS
    from goffman.reports.compare_text import as_json as json_of
    from goffman.reports.compare_text import comparison_table

    ending = path.suffix.lower()
    if ending == ".json":
        text = json.dumps(json_of(found), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    else:
        text = FORMATS[ending](comparison_table(found))
    write_output(path, text)
