"""Who is told how far an audit is: a terminal, a log, or a notebook, whose output is renewed."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Self

from goffman.console import ProgressLines, printable
from goffman.options import Listener

if TYPE_CHECKING:
    from goffman.progress import Progress

EVERY = 0.25
"""Seconds between two pictures of a bar in a notebook."""

Display = Callable[[object], Callable[[object], None]]
"""Shows an object and returns what shows another in its place."""


@dataclass(frozen=True, kw_only=True)
class ProgressReporter:
    """The listener of an audit, and every sentence that it was told."""

    listener: Listener
    notes: list[str] = field(default_factory=list)


@contextmanager
def reporting(*, shown: bool) -> Iterator[ProgressReporter]:
    """The teller of an audit; ``shown``: somebody sees it while it goes on."""
    notes: list[str] = []
    if not shown:
        yield ProgressReporter(listener=Listener(note=notes.append), notes=notes)
        return
    display = notebook_display()
    bars: ProgressLines | Bars = ProgressLines(sys.stderr) if display is None else Bars(display)
    with bars:

        def note(text: str) -> None:
            notes.append(text)
            bars.note(text)

        yield ProgressReporter(listener=Listener(progress=bars.show, note=note), notes=notes)


def notebook_display() -> Display | None:
    """What shows things in the notebook that this is run in; None: it is run in none.

    Nothing is imported for it that a notebook has not imported.
    """
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if getattr(shell, "kernel", None) is None:
        return None
    shows = importlib.import_module("IPython.display").display

    def display(what: object) -> Callable[[object], None]:
        update: Callable[[object], None] = shows(what, display_id=True).update
        return update

    return display


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Bars and notes as they are at a moment."""

    rows: tuple[Progress, ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return "\n".join([*map(printable, self.notes), *map(_line, self.rows)])

    def _repr_html_(self) -> str:
        notes = "".join(f"<div>{escape(printable(note))}</div>" for note in self.notes)
        bars = "".join(
            f'<div><progress max="{max(one.total, 1)}" value="{one.done}"></progress> '
            f"{escape(_line(one))}</div>"
            for one in self.rows
        )
        return f'<div style="font-size: small">{notes}{bars}</div>'


def _line(one: Progress) -> str:
    """How far one model is with one instrument."""
    step = f", step {one.step} of {one.steps}" if one.steps > 1 else ""
    text = f"{one.instrument}{step}, {one.model}: {one.done:,} of {one.total:,} {one.what}"
    if one.rate:
        text += f", {one.rate:,.0f}/s" if one.rate >= 10 else f", {one.rate:.1f}/s"
        if left := one.total - one.done:
            text += f", {left / one.rate:,.0f} s left"
    return printable(f"{text}, {one.note}" if one.note else text)


class Bars:
    """A bar for each model and instrument, in a place of a notebook's output that is renewed."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._renew: Callable[[object], None] | None = None
        self._rows: dict[tuple[str, str, int], Progress] = {}
        self._notes: list[str] = []
        self._drawn = -EVERY

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._renew is not None:
            self._draw()

    def note(self, text: str) -> None:
        """The text stands above the bars."""
        self._notes.append(text)
        self._draw()

    def show(self, progress: Progress) -> None:
        """The progress is shown, if the last was not shown just now."""
        self._rows[progress.instrument, progress.model, progress.step] = progress
        if time.monotonic() - self._drawn >= EVERY or progress.done == progress.total:
            self._draw()

    def _draw(self) -> None:
        picture = Picture(rows=tuple(self._rows.values()), notes=tuple(self._notes))
        if self._renew is None:
            self._renew = self._display(picture)
        else:
            self._renew(picture)
        self._drawn = time.monotonic()
