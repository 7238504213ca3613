"""The words behind P(unspecified) add up to it."""

from collections import defaultdict

import polars as pl
import pytest

import goffman
from goffman.report import table_files
from goffman.report.load import read_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words") / "run"
    goffman.audit(
        ["bundled:mini"],
        instruments=["care-seeking"],
        output=folder,
        limit=60,
        controls=False,
        progress=False,
        report=False,
    )
    return read_run(folder)


def test_the_words_of_each_group_add_up_to_what_is_unspecified(run, monkeypatch):
    monkeypatch.setattr(table_files, "MOST_WORDS", 10_000)
    (table,) = [one for one in table_files.tables_of(run) if one.name == "care-seeking-unspecified"]
    sums = defaultdict(float)
    for row in table.rows:
        assert row["label"] in {"neutral", "nonbinary", "unlisted"}
        assert 0 < row["n"] <= row["prompts"]
        sums[row["group"]] += row["mean"]
    means = run.scores.filter(
        pl.col("group") != "baseline", quantity="unspecified", variant="with-names", level="prompt"
    )
    expected = dict(means.group_by("group").agg(pl.col("value").mean()).rows())
    assert sums.keys() == expected.keys()
    for group, mean in expected.items():
        assert mean > 0.001
        assert sums[group] == pytest.approx(mean, rel=1e-5)


def test_at_most_twenty_are_listed_the_most_probable_first(run):
    (table,) = [one for one in table_files.tables_of(run) if one.name == "care-seeking-unspecified"]
    for group in {row["group"] for row in table.rows}:
        means = [row["mean"] for row in table.rows if row["group"] == group]
        assert len(means) <= 20
        assert means == sorted(means, reverse=True)
