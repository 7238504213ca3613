"""One screen: the main results of a run in the terminal; and the command show, the rest."""

from __future__ import annotations

import os
import pydoc
import shutil
import sys
import textwrap
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goffman.cli.params import RUN_HELP
from goffman.console import printable
from goffman.errors import InputError, did_you_mean
from goffman.instruments.types import base_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goffman.analysis.summary import MainResult

COLORS = {"●": "magenta", "◐": "yellow", "=": "green", "○": "blue", "✕": "red", "·": "cyan"}
"""By glyph; the glyph carries the meaning, and color repeats it."""


def print_screen(
    folder: Path,
    results: Sequence[MainResult],
    *,
    report: Path | None = None,
    about: Sequence[str] = (),
) -> None:
    """Print the main results of a run, where the report is, and what one may do next."""
    from goffman.analysis.summary import screen

    where = str(folder)
    head = " · ".join([f"goffman {version('goffman')}", *about])
    lines = [head, "", *screen(results), ""]
    lines += [f"Report   {report}"] if report else [f"Run      {where}"]
    lines += [f"Next     goffman show {where}", f"         goffman stress {where}"]
    lines[-2] = f"{lines[-2]:<44} every number and caveat"
    lines[-1] = f"{lines[-1]:<44} do other analyses agree?"
    print_lines(lines)


def print_lines(lines: Sequence[str]) -> None:
    """Print lines as far as the terminal has their signs and colors."""
    from goffman.analysis.summary import ASCII

    unicode = "utf" in (sys.stdout.encoding or "").lower()
    color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    for line in lines:
        shown = printable(line)
        if not unicode:
            shown = shown.translate(ASCII).encode("ascii", "replace").decode()
        elif color and shown[2:3] in COLORS and shown.startswith("  "):
            shown = f"  {typer.style(shown[2], fg=COLORS[shown[2]], bold=True)}{shown[3:]}"
        print(shown)


def show(
    run: Annotated[Path, typer.Argument(metavar="RUN", help=RUN_HELP)],
    instrument: Annotated[
        str | None, typer.Argument(metavar="[INSTRUMENT]", help="Show only this instrument.")
    ] = None,
) -> None:
    """Show every number and caveat of a run's results."""
    from goffman.analysis.summary import summarize
    from goffman.report.load import read_run

    measured = read_run(run)
    sections = measured.sections
    if instrument is not None:
        named = {name: one for name, one in sections.items() if instrument in (name, base_of(name))}
        if not named:
            raise InputError(
                f"{run} has no results of '{instrument}'.{did_you_mean(instrument, sections)} It "
                f"has {', '.join(sections)}."
            )
        sections = named
    together = measured.correlations if instrument is None else ()
    anchored = measured.anchored if instrument is None else ()
    width = min(shutil.get_terminal_size().columns, 100)
    lines = [
        textwrap.fill(
            printable(line.strip()), width, initial_indent=indent, subsequent_indent=indent
        )
        for line in summarize(sections, together, anchored).details
        for indent in ["  " if line.startswith(" ") else ""]
    ]
    text = "\n".join(lines) + "\n"
    if sys.stdout.isatty():
        pydoc.pager(text)
    else:
        sys.stdout.write(text)
