"""The figures of a paper: title, models and n in the picture, and an alt text with the finding."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from goffman.analysis.correlations import correlations_said
from goffman.presentation.findings import findings_of
from goffman.presentation.findings_anchors import anchors_said
from goffman.records import BASELINE
from goffman.reports.figures import figures_of
from goffman.reports.images import svg_of
from goffman.terminal import printable

if TYPE_CHECKING:
    from goffman.presentation.figure import Figure, Spec
    from goffman.presentation.section import Section
    from goffman.reports.run import MeasuredRun

DPI, SCREEN, POINTS = 300, 96, 72
"""To an inch: pixels in a paper, on the page that figures are made for; what a PNG is scaled by."""

LINE = 90
"""Letters of a line above a figure."""

FINDINGS = 3
"""Models whose findings an alt text says in full."""


@dataclass(frozen=True, kw_only=True)
class PaperFigure:
    """A figure as a paper has it."""

    name: str
    spec: Spec
    alt: str

    def files(self) -> Iterator[tuple[str, bytes]]:
        """The drawing as SVG, PNG at 300 dpi, and PDF."""
        import vl_convert

        svg = svg_of(self.spec)
        yield f"{self.name}.svg", svg.encode()
        yield f"{self.name}.png", vl_convert.svg_to_png(svg, scale=POINTS / SCREEN, ppi=DPI)
        yield f"{self.name}.pdf", vl_convert.svg_to_pdf(svg)


def paper_figures(run: MeasuredRun) -> Iterator[PaperFigure]:
    """Every figure of the run, as its page first shows it."""
    for figure in figures_of(run):
        section = _section_of(figure, run)
        choice, spec = next(figure.drawn())
        alt = alt_text(figure, section, run)
        title = f"{figure.title} ({choice})" if choice else figure.title
        heading = {
            "text": textwrap.wrap(printable(title), LINE),
            "subtitle": textwrap.wrap(asked_of(section), LINE) if section else [],
            "anchor": "start",
        }
        yield PaperFigure(
            name=figure.id, spec={**spec, "title": heading, "description": alt}, alt=alt
        )


def _section_of(figure: Figure, run: MeasuredRun) -> Section | None:
    """Whose numbers a figure shows; None: those of no one instrument."""
    names = sorted((one for one in run.sections if figure.id.startswith(f"{one}-")), key=len)
    name = figure.instrument or (names[-1] if names else None)
    return run.sections.get(name) if name else None


def asked_of(section: Section) -> str:
    """The models, and how many prompts and conditions they were asked."""
    models = section.models()
    who = ", ".join(models) if len(models) <= FINDINGS else f"{len(models)} models"
    named = section.prompts.filter(pl.col("condition") != BASELINE)
    count = named["condition"].n_unique()
    nouns = section.noun.many if count != 1 else section.noun.one
    return printable(
        f"{section.instrument}. {who}. n = {count:,} {nouns}, {section.prompts.height:,} prompts"
    )


def alt_text(figure: Figure, section: Section | None, run: MeasuredRun) -> str:
    """What is to be seen, in sentences that say what was found."""
    found = _found(figure, section, run)
    more = len(found) - FINDINGS
    rest = [f"The same is shown for {more} more."] if more > 0 else []
    asked = [f"{asked_of(section)}."] if section else []
    return printable(" ".join([f"{figure.title}.", *found[:FINDINGS], *rest, *asked]))


def _found(figure: Figure, section: Section | None, run: MeasuredRun) -> list[str]:
    """The findings that a figure is about."""
    if "-beside-people-" in figure.id:
        anchor = figure.id.partition("-beside-people-")[2]
        of = [one for one in run.anchored if one.anchor == anchor]
        return anchors_said([one for one in of if section in (None, one.section)])
    if figure.id.endswith("-measures-together"):
        return correlations_said(run.correlations, briefly=True)
    if section is None:
        return []
    return [f"{one.model}: {one.heading} {one.text}".strip() for one in findings_of(section)]
