"""One screen of a run's main results in the terminal; and the command show, for all else."""

from __future__ import annotations

import os
import pydoc
import shutil
import sys
import textwrap
from collections.abc import Collection, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goffman.cli.params import RunFolder
from goffman.console import printable
from goffman.errors import InputError, did_you_mean
from goffman.instruments.types import base_of

if TYPE_CHECKING:
    from goffman.report.summary import MainResult

COLORS = {"●": "magenta", "◐": "blue", "=": "green", "✕": "red"}
"""Colors by glyph, on dark and light screens; the glyph carries the meaning, the color repeats
it."""


def print_screen(
    folder: Path,
    results: Sequence[MainResult],
    *,
    report: Path | None = None,
    about: Sequence[str] = (),
) -> None:
    """Print the main results of a run, where the report is, and possible next commands."""
    from goffman.presentation.findings import FIRST_LOOK
    from goffman.report.summary import WIDTH, screen

    where = str(folder)
    quick = any(note.id == FIRST_LOOK for result in results for note in result.finding.caveats)
    first_look = ["first look"] if quick else []
    head = " · ".join([f"goffman {version('goffman')}", *about, *first_look])
    lines = [*textwrap.wrap(head, WIDTH), "", *screen(results), ""]
    lines += [f"Report   {report}"] if report else [f"Run      {where}"]
    further = {"Next     goffman show": "every number and caveat"}
    further["         goffman stress"] = "do other analyses agree?"
    for command, purpose in further.items():
        line = f"{command} {where}"
        # The purpose is added if there is room.
        lines.append(f"{line:<44} {purpose}" if len(line) <= WIDTH - len(purpose) - 1 else line)
    print_lines(lines, models={result.model for result in results})


def print_lines(lines: Sequence[str], *, models: Collection[str] = ()) -> None:
    """Print lines with the signs and colors that the terminal supports, ``models`` in bold."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    color = sys.stdout.isatty() and not plain
    for line in lines:
        shown = _in_signs(printable(line))
        print(_colored(shown, models) if color else shown)


def _in_signs(text: str) -> str:
    """Return the text with signs that the output's encoding lacks replaced."""
    from goffman.report.summary import ASCII

    if "utf" in (sys.stdout.encoding or "").lower():
        return text
    return text.translate(ASCII).encode("ascii", "replace").decode()


def _colored(line: str, models: Collection[str]) -> str:
    """Return a line of the screen in color: models bold, verdicts by their glyph, notes dim."""
    from goffman.contrasts.verdict import VERDICT_FACTS
    from goffman.report.summary import SUPERSCRIPTS

    for verdict, facts in VERDICT_FACTS.items():
        glyph = facts.glyph
        if line.startswith(f"  {glyph} "):
            color = COLORS.get(glyph)
            for sign in (glyph, verdict):
                line = line.replace(sign, typer.style(sign, fg=color, bold=True), 1)
            return line
    if line[1:2] and ord(line[1]) in SUPERSCRIPTS.values():
        return typer.style(line, dim=True)
    return typer.style(line, bold=True) if line.split("  ", maxsplit=1)[0] in models else line


def show(
    run: RunFolder,
    instrument: Annotated[
        str | None, typer.Argument(metavar="[INSTRUMENT]"), "Show only this instrument."
    ] = None,
) -> None:
    """Show every number and caveat of a run's results."""
    from goffman.report.load import read_run
    from goffman.report.summary import summarize

    measured = read_run(run)
    sections = measured.sections
    if instrument is not None:
        chosen = {
            name: section
            for name, section in sections.items()
            if instrument in (name, base_of(name))
        }
        if not chosen:
            raise InputError(
                f"{run} has no results of '{instrument}'.{did_you_mean(instrument, sections)} It "
                f"has {', '.join(sections)}."
            )
        sections = chosen
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
    text = _in_signs("\n".join(lines) + "\n")
    if sys.stdout.isatty():
        pydoc.pager(text)
    else:
        sys.stdout.write(text)
