"""Show how far an audit is: in a terminal, a log, or a notebook, whose output is updated."""

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
from goffman.progress import AuditProgress

if TYPE_CHECKING:
    from goffman.progress import Expected, Progress

EVERY = 0.25
"""Seconds between two updates of a bar in a notebook."""

Display = Callable[[object], Callable[[object], None]]
"""A function that shows an object and returns a function that replaces it by another."""


@dataclass(frozen=True, kw_only=True)
class ProgressReporter:
    """The listener of an audit, and every message that it received."""

    listener: Listener
    notes: list[str] = field(default_factory=list)


@contextmanager
def reporting(*, shown: bool, verbose: bool = False) -> Iterator[ProgressReporter]:
    """Yield the reporter of an audit; ``shown``: to a person, who sees details if ``verbose``."""
    notes: list[str] = []
    if not shown:
        listener = Listener(note=notes.append, detail=notes.append)
        yield ProgressReporter(listener=listener, notes=notes)
        return
    display = notebook_display()
    with ProgressLines(sys.stderr) if display is None else Bar(display) as bar:

        def note(text: str) -> None:
            notes.append(text)
            bar.note(text)

        listener = Listener(
            progress=bar.show,
            note=note,
            detail=note if verbose else notes.append,
            expect=bar.expect,
            stage=bar.stage,
        )
        yield ProgressReporter(listener=listener, notes=notes)


def notebook_display() -> Display | None:
    """Return the function that shows things in the notebook that this runs in; None outside of one.

    It imports only what a notebook has imported already.
    """
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if getattr(shell, "kernel", None) is None:
        return None
    show = importlib.import_module("IPython.display").display

    def display(what: object) -> Callable[[object], None]:
        update: Callable[[object], None] = show(what, display_id=True).update
        return update

    return display


@dataclass(frozen=True, kw_only=True)
class Picture:
    """The bar and the notes at one moment."""

    text: str
    share: float
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return "\n".join(map(printable, [*self.notes, *filter(None, [self.text])]))

    def _repr_html_(self) -> str:
        notes = "".join(f"<div>{escape(printable(note))}</div>" for note in self.notes)
        bar = f'<progress max="1" value="{self.share:.3f}"></progress> ' if self.share else ""
        text = f"<div>{bar}{escape(printable(self.text))}</div>" if self.text else ""
        return f'<div style="font-size: small">{notes}{text}</div>'


class Bar:
    """One bar for an audit, in one place of a notebook's output that is updated."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._renew: Callable[[object], None] | None = None
        self._audit = AuditProgress()
        self._stage = ""
        self._notes: list[str] = []
        self._drawn = -EVERY

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stage = ""
        if self._renew is not None:
            self._draw()

    def note(self, text: str) -> None:
        """Show a text above the bar."""
        self._notes.append(text)
        self._draw()

    def expect(self, expected: Expected) -> None:
        """Remember what is about to be asked."""
        self._audit = AuditProgress(expected)

    def stage(self, text: str) -> None:
        """Show what is done after the models have answered."""
        self._stage = text
        self._draw()

    def show(self, progress: Progress) -> None:
        """Show how far the audit is, unless that was shown just now."""
        self._audit.add(progress)
        if time.monotonic() - self._drawn >= EVERY or self._audit.share == 1:
            self._draw()

    def _draw(self) -> None:
        audit, text = self._audit, self._stage
        if not text and audit.done:
            parts = (f"{audit.done:,} of {audit.total:,} sentences", str(audit), audit.speed)
            text = ", ".join(part for part in parts if part)
        picture = Picture(text=text, share=audit.share, notes=tuple(self._notes))
        if self._renew is None:
            self._renew = self._display(picture)
        else:
            self._renew(picture)
        self._drawn = time.monotonic()
