"""A contrast has the same verdict wherever people and programs read it."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import polars as pl
import pytest
from small_runs import measured

from goffman.estimates import PRIMARY
from goffman.export.common import main_estimates
from goffman.export.lm_eval_results import lm_eval_results
from goffman.export.model_card import model_card_text
from goffman.gate.check import gate
from goffman.gate.names import named_estimates
from goffman.gate.rules import parse
from goffman.presentation.findings import findings_of
from goffman.presentation.table_formats import csv_text
from goffman.report.page import contrast_rows
from goffman.report.table_files import tables_of
from goffman.sensitivity.leave_one_out import mark_fragile

pytestmark = pytest.mark.slow
"""A whole run: minutes of computing."""

MODEL = "small"


def as_if_clear(run, ends, lost):
    """The run with headlines of these intervals, each lost in so many of ten variations."""
    low, high = ends
    here = pl.col("family") == PRIMARY
    numbers = {"difference": (low + high) / 2, "low": low, "high": high}
    numbers |= {"p": 0.001, "p_adjusted": 0.001, "margin": 0.05}
    word = "relevant" if low > 0.05 else "small" if high < 0.05 else "clear, size open"
    found = run.estimates.with_columns(
        *(pl.when(here).then(pl.lit(value)).otherwise(name).alias(name) for name, value in numbers.items()),
        verdict=pl.when(here).then(pl.lit(word)).otherwise("verdict"),
    )  # fmt: skip
    about = ("instrument", "measure", "model", "contrast", "kind", "first", "second")
    rows = [
        who
        | {"main": True, "variation": "item", "what": f"i{n}", "difference": 0.01, "low": -0.1}
        | {"high": 0.2, "p": 0.5, "p_adjusted": 0.5, "holds": n >= lost}
        | {"verdict": "undecided" if n < lost else word}
        for who in found.filter(here).select(about).iter_rows(named=True)
        for n in range(10)
    ]
    held = pl.DataFrame(rows, schema=run.sensitivity.schema)
    return replace(run, estimates=mark_fragile(found, held), sensitivity=held)


@pytest.mark.parametrize(
    ("ends", "lost", "word"),
    [
        ((0.06, 0.2), 0, "relevant"),
        ((0.01, 0.04), 1, "small"),
        ((0.01, 0.2), 1, "clear, size open"),
        ((0.06, 0.2), 2, "fragile"),
        ((0.01, 0.2), 9, "fragile"),
    ],
)
def test_the_word_is_the_same_everywhere(tmp_path_factory, ends, lost, word):
    run = as_if_clear(measured(tmp_path_factory, "before", (MODEL, "other", "tone")), ends, lost)
    instrument = "social-distance"
    section = run.sections[instrument]
    (finding,) = [one for one in findings_of(section) if one.model == MODEL]
    assert finding.shown == word
    first, *_ = contrast_rows(section)
    assert [row["verdict"] for row in first["rows"] if row["about"] == MODEL] == [word]
    (table,) = [one for one in tables_of(run) if one.name == f"{instrument}-contrasts"]
    rows = csv.DictReader(io.StringIO(csv_text(table)))
    of_headline = {"kind": "groups", "model": MODEL, "family": PRIMARY}
    assert [
        row["verdict"] for row in rows if all(row[name] == of for name, of in of_headline.items())
    ] == [word]
    card = [line for line in model_card_text(run, MODEL).splitlines() if line.startswith("| gap |")]
    assert any(line.endswith(f"| {word} |") for line in card)
    assert lm_eval_results(run, MODEL)["verdicts"][instrument]["gap,none"] == word
    (exported,) = [one for one in main_estimates(run, MODEL) if one.path == f"{instrument}.gap"]
    assert exported.verdict == word
    names = named_estimates(run.estimates, run.manifest)
    spelled = word.removeprefix("clear, ").replace(" ", "-")
    for rule, holds in ((spelled, True), ("clear", True), ("undecided", False)):
        (outcome,) = gate([parse(f"{instrument}.gap[{MODEL}] is {rule}")], names)
        assert outcome.failed is holds
