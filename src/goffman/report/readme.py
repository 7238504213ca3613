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
"""The most main results in the README; the rest are only in results.csv."""

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
    facts, first = about_run(run), first_screen(run.sections)
    results = main_results(run.sections)
    rows = [row for group in first["groups"] for row in group["results"]]
    numbers = {id(row["result"].finding): f"{row['value']} ({row['interval']})" for row in rows}
    name, models = facts["folder"], ", ".join(model["shown"] for model in facts["models"])
    prompts = f"{facts['prompts']:,} prompts of {', '.join(run.sections)}"
    parts = [
        f"{HEADING}: {markdown(name)}",
        f"**{markdown(first['headline'])}.** {describe_counts(results)}.",
        f"Asked: {markdown(models)}, with {markdown(prompts)}.",
        _table([(result, numbers[id(result.finding)]) for result in results]),
        _FILES,
        "## How to read the verdicts",
        "\n".join(_legend(results)),
        FOOT.split(". ", 2)[2],
        "## How to cite",
        "\n".join(_cited(run, facts["started"])),
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def _table(results: list[tuple[MainResult, str]]) -> str:
    rows = [
        (
            f"{result.glyph} {result.verdict}",
            result.instrument,
            result.model,
            result.finding.short or result.finding.head,
            number if result.finding.low is not None else "",
            ", ".join(caveat.id for caveat in result.finding.caveats),
        )
        for result, number in results[:MOST]
    ]
    heads = ("verdict", "instrument", "model", "finding", "difference (95% interval)", "caveats")
    remaining = len(results) - len(rows)
    more = f"\n{remaining} more are in results.csv.\n" if remaining else ""
    return f"{grid(heads, rows)}{more}"


def _legend(results: list[MainResult]) -> Iterator[str]:
    """Yield the meaning of each verdict of the run."""
    verdicts = {result.verdict for result in results}
    for word in (word for word in GLYPHS if word in verdicts):
        yield f"- {GLYPHS[word]} **{word}**: {MEANINGS[word]}."


def _cited(run: MeasuredRun, started: str) -> Iterator[str]:
    """Yield the citations of goffman and of the sources of the instruments."""
    yield (
        f"- The goffman developers, goffman {__version__}; run {run_id(run)} of {started}. The id "
        "begins the sha256 of `estimates.parquet`."
    )
    for name, section in run.sections.items():
        instrument = section.names.instruments.get(name)
        if instrument and instrument.citation:
            source = f"{name}, version {instrument.version}: {instrument.citation}"
            yield f"- {markdown(source)}"
