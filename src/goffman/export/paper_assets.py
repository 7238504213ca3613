"""The main results of each instrument as tables and figures for a paper."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.analysis.correlation_findings import describe_correlations
from goffman.anchors.sentences import describe_anchors
from goffman.api.results import instrument_of, png_of
from goffman.console import printable
from goffman.formatting import number, p_value, verdict_shown
from goffman.instruments.types import BASELINE, slug_of
from goffman.presentation.findings import describe_identities, findings_of
from goffman.presentation.identities import PART as IDENTITIES
from goffman.presentation.identities import how_many
from goffman.presentation.table_formats import NOTHING, grid, latex, markdown
from goffman.report.figures import figures_of
from goffman.report.images import pdf_of, svg_of
from goffman.report.table_files import CORRECTED_SAID

if TYPE_CHECKING:
    from goffman.presentation.section import Section
    from goffman.presentation.vega import Figure, Spec
    from goffman.report.load import MeasuredRun

HEADS = ("Difference", "Interval", "t", "df", "p", "Effect")

COLUMN = 219.0
"""Width in points of a narrow column of a two-column paper: 7.7 cm."""

LETTER, SPACE = 3.8, 2.0
"""Points: the average width of a scriptsize letter; the space on each side of a column."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """One estimate: its label (model and contrast), and its numbers under HEADS."""

    label: str
    cells: tuple[str, ...]


def results_of(section: Section) -> list[Result]:
    """Return the main contrasts of whole scales, each once."""
    rows = section.estimates.filter(
        pl.col("kind").is_in(section.presentation.main) | (pl.col("family") == "primary"),
        pl.col("dimension").is_null(),
    )
    return [_result(row, section) for row in rows.iter_rows(named=True)]


def _result(row: Mapping[str, Any], section: Section) -> Result:
    parts = [section.names.model(row["model"]), row["group"], row["variant"]]
    sides = f"{row['first']} − {row['second']}"
    beside = {
        "groups-as-asked": " (conditions only)",
        "genders-as-asked": " (prompts as independent)",
        "groups-adjusted": " (adjusted)",
    }
    as_asked = beside.get(row["kind"], "")
    # The verdict is part of the label, so that no paper leaves it out.
    verdict = f"; {shown}" if (shown := verdict_shown(row)) else ""
    low, high, tested = row["low"], row["high"], None not in {row["df"], row["statistic"]}
    return Result(
        label=f"{', '.join(part for part in parts if part)}: {sides}{as_asked}{verdict}",
        cells=(
            _number(row["difference"]),
            NOTHING if low is None or high is None else f"[{number(low)}, {number(high)}]",
            _number(row["statistic"]) if tested else NOTHING,
            f"{row['df']:.1f}" if tested else NOTHING,
            NOTHING if row["p_adjusted"] is None else p_value(row["p_adjusted"]),
            _number(row["effect"]),
        ),
    )


def _number(value: float | None) -> str:
    return NOTHING if value is None else number(value)


def caption_of(section: Section, results: list[Result]) -> str:
    """Return what is in the table, and what its numbers are."""
    rows = section.estimates.filter(pl.col("effect_name").is_not_null())
    effects = dict.fromkeys(rows.filter(pl.col("family") == "primary")["effect_name"])
    failing = " ".join(
        f"{competence.model} is {competence.mark}: its numbers mean nothing."
        for competence in section.unmeasurable().values()
    )
    sentences = [
        f"{section.instrument}: {len(results)} contrasts, first minus second.",
        f"Effect: {', '.join(effects)}." if effects else "",
        CORRECTED_SAID,
        section.ratings,
        failing,
    ]
    return " ".join(part for part in sentences if part)


def width_of(results: list[Result]) -> float:
    """Return the approximate width of the table in points."""
    cells = [HEADS, *(result.cells for result in results)]
    letters = sum(max(len(row[place]) for row in cells) for place in range(len(HEADS)))
    return LETTER * letters + 2 * SPACE * (len(HEADS) - 1)


def latex_table(section: Section, results: list[Result]) -> str:
    r"""Return a booktabs table as wide as a column: under each contrast the line of its numbers.

    A table that is a little too wide is made smaller.
    """
    lines = []
    for result in results:
        lines.append(
            rf"\multicolumn{{6}}{{@{{}}p{{\columnwidth}}@{{}}}}{{{latex(result.label)}}} \\"
        )
        lines.append(" & ".join(latex(cell) for cell in result.cells) + r" \\")
    head = " & ".join(latex(name) for name in HEADS)
    wide = width_of(results) > COLUMN
    needs = "booktabs} and \\usepackage{graphicx" if wide else "booktabs"
    label = slug_of(section.instrument)
    return "\n".join(
        [
            f"% needs \\usepackage{{{needs}}}",
            r"\begin{table}",
            rf"\caption{{{latex(caption_of(section, results))}}}\label{{tab:{label}}}",
            rf"\scriptsize\setlength{{\tabcolsep}}{{{SPACE:g}pt}}",
            *([r"\resizebox{\columnwidth}{!}{%"] if wide else []),
            r"\begin{tabular}{@{}rlrrrl@{}}",
            r"\toprule",
            rf"{head} \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}" + ("}" if wide else ""),
            r"\end{table}",
            "",
        ]
    )


def markdown_table(section: Section, results: list[Result]) -> str:
    """Return the table as Markdown, with the contrast in a column of its own."""
    rows = [(result.label, *result.cells) for result in results]
    body = grid(("Contrast", *HEADS), rows, right=(1, 3, 4, 5))
    return f"**{markdown(caption_of(section, results))}**\n\n{body}"


LINE = 90
"""Letters in a line above a figure."""

FINDINGS = 3
"""Number of models whose findings an alt text gives in full."""


@dataclass(frozen=True, kw_only=True)
class PaperFigure:
    """A figure in the form in which a paper uses it."""

    name: str
    spec: Spec
    alt: str

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Yield the drawing as SVG, PNG at 300 dpi, and PDF."""
        svg = svg_of(self.spec)
        yield f"{self.name}.svg", svg.encode()
        yield f"{self.name}.png", png_of(svg)
        yield f"{self.name}.pdf", pdf_of(svg)


def paper_figures(run: MeasuredRun) -> Iterator[PaperFigure]:
    """Yield every figure of the run, as its page first shows it."""
    for figure in figures_of(run):
        section = run.sections.get(instrument_of(figure, run.sections) or "")
        choice, spec = next(figure.drawn())
        alt = alt_text(figure, section, run)
        title = f"{figure.title} ({choice})" if choice else figure.title
        heading = {
            "text": textwrap.wrap(printable(title), LINE),
            "subtitle": textwrap.wrap(asked_of(section, figure), LINE) if section else [],
            "anchor": "start",
        }
        yield PaperFigure(
            name=figure.id, spec={**spec, "title": heading, "description": alt}, alt=alt
        )


def asked_of(section: Section, figure: Figure) -> str:
    """Return the models, and how many conditions and prompts they were asked."""
    models = section.models()
    who = ", ".join(models) if len(models) <= FINDINGS else f"{len(models)} models"
    if figure.id.endswith(f"-{IDENTITIES}"):
        return printable(f"{section.instrument}. {who}. n = {how_many(section)}, for each identity")
    prompts_with_condition = section.prompts.filter(pl.col("condition") != BASELINE)
    count = prompts_with_condition["condition"].n_unique()
    nouns = section.noun.many if count != 1 else section.noun.one
    return printable(
        f"{section.instrument}. {who}. n = {count:,} {nouns}, {section.prompts.height:,} prompts"
    )


def alt_text(figure: Figure, section: Section | None, run: MeasuredRun) -> str:
    """Return a description of the figure, in sentences that say what was found."""
    findings = _found(figure, section, run)
    more = len(findings) - FINDINGS
    unsaid = [f"The same is shown for {more} more."] if more > 0 else []
    asked = [f"{asked_of(section, figure)}."] if section else []
    return printable(" ".join([f"{figure.title}.", *findings[:FINDINGS], *unsaid, *asked]))


def _found(figure: Figure, section: Section | None, run: MeasuredRun) -> list[str]:
    """Return the findings that a figure shows."""
    if "-beside-people-" in figure.id:
        anchor = figure.id.partition("-beside-people-")[2]
        results = [result for result in run.anchored if result.anchor == anchor]
        return describe_anchors([result for result in results if section in (None, result.section)])
    if figure.id.endswith("-measures-together"):
        return describe_correlations(run.correlations)
    if section is None:
        return []
    if figure.id.endswith(f"-{IDENTITIES}"):
        by_model = [(model, describe_identities(section, model)) for model in section.models()]
        return [f"{model}: {' '.join(sentences)}" for model, sentences in by_model]
    return [
        f"{finding.model}: {finding.heading} {finding.text}".strip()
        for finding in findings_of(section)
    ]
