"""Whether a headline holds with one thing left out, or with a parameter set otherwise."""

from __future__ import annotations

import json
import shutil

import numpy as np
import polars as pl
import pytest
from scipy import stats

from goffman.contrasts.designs import Clusters
from goffman.contrasts.engine import PRIMARY, estimates
from goffman.contrasts.verdict import PRESENT_WORDS
from goffman.instruments.loader import load_instrument
from goffman.lexicons.gender import load_gender
from goffman.measures.gender import QUANTITIES, SubjectGender
from goffman.report.load import read_run
from goffman.runs.run import read_answers
from goffman.schemas import LEFT_OUT, SENSITIVITY, complaints
from goffman.sensitivity.variations import Headline
from goffman.stats.crossed import crossed_interval
from in_process import goffman
from scored_rows import scored_rows, with_means

GROUPS = {"mental-health": 5, "other": 4}


def care(tables, *, model):
    """Scores of prompts: female is the table's value, male nothing."""
    rows = [
        {"item": f"i{i}", "dimension": "help" if i % 2 else "diagnosis"}
        | {"condition": f"{group}-{c}", "group": group, "value": value}
        for group, table in tables.items()
        for (i, c), value in np.ndenumerate(table)
    ]
    quantities = {name: float(name != "male") for name in QUANTITIES}
    return scored_rows(SubjectGender(), rows, quantities, model=model, variant="with-names")


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(11)
    of = {group: rng.normal(0.05, 0.05, (6, size)) for group, size in GROUPS.items()}
    # One item carries much of the disparity.
    of["mental-health"][2] += 0.3
    return of


@pytest.fixture(scope="module")
def both(tables):
    """Scores and estimates of two models, so that two headlines are corrected together."""
    rng = np.random.default_rng(12)
    other = {group: rng.normal(0.04, 0.05, (6, size)) for group, size in GROUPS.items()}
    each = pl.concat([care(tables, model="one"), care(other, model="two")])
    measure = SubjectGender()
    scores = with_means(measure, each)
    found = estimates(scores, {"x": measure}, wordings={"x": ["only"]})
    return scores, found


@pytest.fixture(scope="module")
def left_out(both):
    scores, found = both
    primary = found.filter(family=PRIMARY)
    assert primary.height == 2
    row = primary.filter(model="one").row(0, named=True)
    work = Headline(row=row, measure=SubjectGender(), wordings=["only"], sharing=Clusters())
    return primary, {
        (one["variation"], one["what"]): one
        for one in work.without_each(work.select_scores(scores))
    }


def test_each_item_and_condition_of_the_headline_is_left_out_once(left_out):
    _, rows = left_out
    items = {("item", f"i{i}") for i in range(6)}
    conditions = {
        ("condition", f"{group}-{c}") for group, size in GROUPS.items() for c in range(size)
    }
    # One wording cannot be left out.
    assert set(rows) == items | conditions


def test_the_numbers_are_those_of_the_tables_without_it(left_out, tables):
    _, rows = left_out
    for (way, what), row in rows.items():
        group, _, at = what.rpartition("-")
        kept = {
            name: np.delete(table, int(at.lstrip("i")), axis=0 if way == "item" else 1)
            if group in ("", name)
            else table
            for name, table in tables.items()
        }
        first, second = kept.values()
        assert row["difference"] == pytest.approx(first.mean() - second.mean())
        own = [[f"{name} {c}" for c in range(table.shape[1])] for name, table in kept.items()]
        found = crossed_interval([table.T[:, :, None] for table in kept.values()], own)
        half = stats.t.ppf(0.975, found.df) * found.se
        assert row["low"] == pytest.approx(row["difference"] - half)
        assert row["high"] == pytest.approx(row["difference"] + half)
        present = row["low"] > 0 or row["high"] < 0
        assert (row["verdict"] in PRESENT_WORDS) == present


def test_what_carries_the_difference_is_found(left_out):
    primary, rows = left_out
    headline = primary.filter(model="one")["difference"][0]
    furthest = max(rows.values(), key=lambda row: abs(row["difference"] - headline))
    assert (furthest["variation"], furthest["what"]) == ("item", "i2")


@pytest.fixture(scope="module")
def audited(tiny, tmp_path_factory):
    folder = tmp_path_factory.mktemp("robust") / "run"
    done = goffman(
        *("audit", tiny("bert"), "--instrument", "care-seeking", "--output", folder),
        # A tiny model cannot do the task, and nobody asks how far its headline holds.
        "--no-controls",
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_a_real_run_has_the_table_and_says_it(audited):
    run = read_run(audited)
    assert run.sensitivity is not None
    assert complaints(run.sensitivity, SENSITIVITY) == []
    left_out = pl.col("variation").is_in([*LEFT_OUT, "parameter"])
    ways = dict(run.sensitivity.filter("main", left_out).group_by("variation").len().rows())
    content = load_instrument("care-seeking").content
    every = content.conditions
    of = {"category": len({one.category for one in every}), "condition": len(every)}
    assert ways == of | {"item": len(content.items), "parameter": 3}


@pytest.mark.parametrize(
    ("said", "threshold"),
    [
        ("with no minimum word probability (instead of 0.01)", 0.0),
        ("with a minimum word probability of 0.005 (instead of 0.01)", 0.005),
        ("with a minimum word probability of 0.02 (instead of 0.01)", 0.02),
    ],
)
def test_other_thresholds_are_read_from_the_stored_answers(audited, said, threshold):
    run = read_run(audited)
    (model,) = run.manifest.models
    row = run.sensitivity.filter("main", what=said).row(0, named=True)
    answers = read_answers(audited, "fills", model=model, instrument="care-seeking")
    lexicon = load_gender()
    find = lexicon.finder(cased=bool(run.manifest.models[model].cased))
    sums = {}
    for prompt, word, p in answers.select("prompt_id", "word", "probability").rows():
        entry = find(word)
        group = entry.group if entry and lexicon.counts(entry) else None
        sign = {"female": 1, "male": -1}.get(group, 0)
        sums[prompt] = sums.get(prompt, 0.0) + sign * (p if p >= np.float32(threshold) else 0.0)
    tables, own = [], []
    for group in ("mental-health", "other"):
        asked = run.prompts.filter(group=group)
        items, conditions = (sorted(asked[name].unique()) for name in ("item", "condition"))
        cells = {}
        for prompt, item, condition in asked.select("prompt_id", "item", "condition").rows():
            cells.setdefault((item, condition), []).append(sums[prompt])
        tables.append(np.array([[np.mean(cells[i, c]) for c in conditions] for i in items]))
        of = dict(asked.select("condition", "category").rows())
        own.append([of[one] for one in conditions])
    difference = tables[0].mean() - tables[1].mean()
    assert row["difference"] == pytest.approx(difference, abs=1e-6)
    _, error, df = crossed_interval([table.T[:, :, None] for table in tables], own)
    half = stats.t.ppf(0.975, df) * error
    assert (row["high"] - row["low"]) / 2 == pytest.approx(half, rel=1e-3)


def test_a_run_of_an_earlier_goffman_reads_without_it(audited, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(audited, run)
    (run / "sensitivity.parquet").unlink()
    manifest = json.loads((run / "manifest.json").read_text())
    del manifest["tables"]["sensitivity.parquet"]
    (run / "manifest.json").write_text(json.dumps(manifest))
    assert read_run(run).sensitivity is None
