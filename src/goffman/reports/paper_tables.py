"""The main results of each instrument as a table that fits one column of a paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.presentation.numbers import number, p_value
from goffman.presentation.table_text import NOTHING, latex, markdown
from goffman.presentation.verdicts import verdict_shown
from goffman.reports.tables import CORRECTED_SAID

if TYPE_CHECKING:
    from goffman.presentation.section import Section

HEADS = ("Difference", "95% interval", "t", "df", "p", "Effect [interval]")

COLUMN = 219.0
"""Points of a narrow column of a paper with two: 7.7 cm."""

LETTER, SPACE = 3.8, 2.0
"""Points that a letter of scriptsize takes on average; on each side of a column."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """One estimate: who and what, and its numbers under HEADS."""

    label: str
    cells: tuple[str, ...]


def results_of(section: Section) -> list[Result]:
    """The main contrasts of whole scales, each once."""
    rows = section.estimates.filter(
        pl.col("kind").is_in(section.presentation.main) | (pl.col("family") == "primary"),
        pl.col("dimension").is_null(),
    )
    return [
        Result(label=_label(row, section), cells=_cells(row)) for row in rows.iter_rows(named=True)
    ]


def _label(row: Mapping[str, Any], section: Section) -> str:
    """Which model, what is set against what, and the verdict, which no paper should leave out."""
    parts = [section.names.model(row["model"]), row["group"], row["variant"]]
    sides = f"{row['first']} − {row['second']}"
    as_asked = " (conditions only)" if row["kind"] == "groups-as-asked" else ""
    verdict = f"; {said}" if (said := verdict_shown(row)) else ""
    return f"{', '.join(part for part in parts if part)}: {sides}{as_asked}{verdict}"


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    tested = row["df"] is not None and row["statistic"] is not None
    return (
        _number(row["difference"]),
        _interval(row["low"], row["high"]),
        _number(row["statistic"]) if tested else NOTHING,
        f"{row['df']:.1f}" if tested else NOTHING,
        NOTHING if row["p_adjusted"] is None else p_value(row["p_adjusted"]),
        _effect(row),
    )


def _number(value: float | None) -> str:
    return NOTHING if value is None else number(value)


def _interval(low: float | None, high: float | None) -> str:
    return NOTHING if low is None or high is None else f"[{number(low)}, {number(high)}]"


def _effect(row: Mapping[str, Any]) -> str:
    if row["effect"] is None:
        return NOTHING
    if row["effect_low"] is None:
        return number(row["effect"])
    return f"{number(row['effect'])} {_interval(row['effect_low'], row['effect_high'])}"


def caption_of(section: Section, results: list[Result]) -> str:
    """What is in the table, and what its numbers are."""
    rows = section.estimates.filter(pl.col("effect_name").is_not_null())
    effects = dict.fromkeys(rows.filter(pl.col("family") == "primary")["effect_name"])
    failing = " ".join(
        f"{one.model} is {one.mark}: its numbers mean nothing."
        for one in section.unmeasurable().values()
    )
    said = [
        f"{section.instrument}: {len(results)} contrasts, first minus second.",
        f"Effect: {', '.join(effects)}." if effects else "",
        f"p is corrected, the intervals are not. {CORRECTED_SAID}",
        section.ratings,
        failing,
    ]
    return " ".join(part for part in said if part)


def width_of(results: list[Result]) -> float:
    """About how many points the table is wide."""
    cells = [HEADS, *(one.cells for one in results)]
    letters = sum(max(len(row[place]) for row in cells) for place in range(len(HEADS)))
    return LETTER * letters + 2 * SPACE * (len(HEADS) - 1)


def latex_table(section: Section, results: list[Result]) -> str:
    r"""A booktabs table as wide as a column: under each contrast the line of its numbers.

    One that is a little too wide is made smaller.
    """
    lines = []
    for one in results:
        lines.append(rf"\multicolumn{{6}}{{@{{}}p{{\columnwidth}}@{{}}}}{{{latex(one.label)}}} \\")
        lines.append(" & ".join(latex(cell) for cell in one.cells) + r" \\")
    head = " & ".join(latex(name) for name in HEADS)
    wide = width_of(results) > COLUMN
    needs = "booktabs} and \\usepackage{graphicx" if wide else "booktabs"
    return "\n".join(
        [
            f"% needs \\usepackage{{{needs}}}",
            r"\begin{table}",
            rf"\caption{{{latex(caption_of(section, results))}}}\label{{tab:{section.instrument}}}",
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
    """The same as Markdown, with the contrast in a column of its own."""
    lines = [["Contrast", *HEADS], ["---", "---:", "---", "---:", "---:", "---:", "---"]]
    lines += [[markdown(one.label), *(markdown(cell) for cell in one.cells)] for one in results]
    body = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"**{markdown(caption_of(section, results))}**\n\n{body}"
