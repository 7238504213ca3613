"""README.md of a run's folder: what was found, what is here, how to read and how to cite it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from goffman import __version__
from goffman.analysis.summary import describe_counts, main_results
from goffman.contrasts.verdict import GLYPHS
from goffman.presentation.table_formats import grid, markdown
from goffman.report.card import FOOT, run_id
from goffman.report.overview import MEANINGS, first_screen
from goffman.report.page import about_run

if TYPE_CHECKING:
    from goffman.analysis.summary import MainResult
    from goffman.report.load import MeasuredRun

HEADING = "# A goffman run"

MOST = 20
"""Of more main results the README leaves the rest to results.csv."""

_FILES = """\
## What is here

| file | holds |
|---|---|
| `report.html` | the results with figures and evidence; open it in a browser |
| `card.png` | the main results as a picture to share |
| `results.csv` | the main results, a row each |
| `estimates.parquet`, `scores.parquet` | every contrast; every number |
| `prompts.parquet`, `answers/` | what was asked, and every answer |
| `manifest.json` | versions, hashes, settings and times |

`goffman export RUN --to figures`, `--to tables` or `--to paper` writes more.
"""


def readme_text(run: MeasuredRun) -> str:
    """Return the README of a run."""
    about, first = about_run(run), first_screen(run.sections)
    results = main_results(run.sections)
    rows = [row for group in first["groups"] for row in group["results"]]
    numbers = {id(row["result"].finding): f"{row['value']} ({row['interval']})" for row in rows}
    name, models = about["folder"], ", ".join(one["shown"] for one in about["models"])
    asked = f"{about['prompts']:,} prompts of {', '.join(run.sections)}"
    parts = [
        f"{HEADING}: {markdown(name)}",
        f"**{markdown(first['headline'])}.** {describe_counts(results)}.",
        f"Asked: {markdown(models)}, with {markdown(asked)}.",
        _table([(one, numbers[id(one.finding)]) for one in results]),
        _FILES,
        "## How to read the verdicts",
        "\n".join(_legend(results)),
        FOOT.split(". ", 2)[2],
        "## How to cite",
        "\n".join(_cited(run, about["started"])),
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def _table(results: list[tuple[MainResult, str]]) -> str:
    rows = [
        (
            f"{one.glyph} {one.verdict}",
            one.instrument,
            one.model,
            one.finding.short or one.finding.head,
            number if one.finding.low is not None else "",
            ", ".join(caveat.id for caveat in one.finding.caveats),
        )
        for one, number in results[:MOST]
    ]
    heads = ("verdict", "instrument", "model", "finding", "difference (95% interval)", "caveats")
    left = len(results) - len(rows)
    more = f"\n{left} more are in results.csv.\n" if left else ""
    return f"{grid(heads, rows)}{more}"


def _legend(results: list[MainResult]) -> Iterator[str]:
    """Yield the meaning of each verdict of the run."""
    there = {one.verdict for one in results}
    for word in (word for word in GLYPHS if word in there):
        yield f"- {GLYPHS[word]} **{word}**: {MEANINGS[word]}."


def _cited(run: MeasuredRun, started: str) -> Iterator[str]:
    """Yield goffman and the sources of the instruments."""
    yield (
        f"- The goffman developers, goffman {__version__}; run {run_id(run)} of {started}. The id "
        "begins the sha256 of `estimates.parquet`."
    )
    for name, section in run.sections.items():
        known = section.names.instruments.get(name)
        if known and known.citation:
            source = f"{name}, version {known.version}: {known.citation}"
            yield f"- {markdown(source)}"
