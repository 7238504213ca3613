"""A contrast has the same verdict wherever people and programs read it."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import polars as pl
import pytest
from small_runs import measured

from goffman.contrasts.engine import PRIMARY
from goffman.contrasts.verdict import glyph_of
from goffman.export.lm_eval_results import lm_eval_results
from goffman.export.model_card import model_card_text
from goffman.export.paper import main_estimates
from goffman.gate.check import GateInput
from goffman.gate.names import named_estimates
from goffman.gate.rules import parse
from goffman.presentation.findings import findings_of
from goffman.presentation.table_formats import csv_text
from goffman.report.overview import first_screen
from goffman.report.page import contrast_rows
from goffman.report.summary import screen
from goffman.report.table_files import tables_of

pytestmark = pytest.mark.slow

MODEL = "small"


def as_if(run, ends, word):
    """The run with main results of this interval and verdict."""
    here = pl.col("family") == PRIMARY
    numbers = {"difference": sum(ends) / 2, "low": ends[0], "high": ends[1], "level": 0.95}
    found = run.estimates.with_columns(
        pl.when(here).then(pl.lit(value)).otherwise(name).alias(name)
        for name, value in {**numbers, "margin": 0.05, "verdict": word}.items()
    )
    return replace(run, estimates=found)


@pytest.mark.parametrize(
    ("ends", "word"),
    [
        ((0.06, 0.2), "relevant"),
        ((0.01, 0.2), "present, size uncertain"),
        ((0.01, 0.04), "negligible"),
        ((-0.1, 0.2), "inconclusive"),
        ((0.06, 0.2), "these sentences only"),
    ],
)
def test_the_word_is_the_same_everywhere(tmp_path_factory, ends, word):
    run = as_if(measured(tmp_path_factory, "before", (MODEL, "other", "tone")), ends, word)
    instrument = "social-distance"
    section = run.sections[instrument]
    (finding,) = [one for one in findings_of(section) if one.model == MODEL]
    assert finding.shown == word
    first, *_ = contrast_rows(section)
    about = f"{MODEL}, negative"
    assert [row["verdict"] for row in first["rows"] if row["about"] == about] == [word]
    (leading,) = (
        one
        for group in first_screen(run.sections)["groups"]
        for one in group["results"]
        if (group["instrument"], one["result"].model) == (instrument, MODEL)
    )
    assert leading["result"].verdict == word
    assert leading["result"].glyph == glyph_of(word)
    assert any(glyph_of(word) in line and word in line for line in screen([leading["result"]]))
    (table,) = [one for one in tables_of(run) if one.name == f"{instrument}-contrasts"]
    rows = csv.DictReader(io.StringIO(csv_text(table)))
    of_headline = {"kind": "groups", "model": MODEL, "family": PRIMARY}
    assert [
        row["verdict"] for row in rows if all(row[name] == of for name, of in of_headline.items())
    ] == [word]
    assert f"| {glyph_of(word)} {word} | {instrument} |" in model_card_text(run, MODEL)
    assert lm_eval_results(run, MODEL)["verdicts"][instrument]["gap,none"] == word
    (exported,) = [one for one in main_estimates(run, MODEL) if one.path == f"{instrument}.gap"]
    assert exported.verdict == word
    names = named_estimates(run.estimates, run.manifest)
    for rule in ("relevant", "present", "negligible", "inconclusive", "these-sentences-only"):
        (outcome,) = GateInput(known=names).gate([parse(f"{instrument}.gap[{MODEL}] is {rule}")])
        assert outcome.failed is word.replace(" ", "-").startswith(rule)
