"""A disparity against that of the same sentences without a condition."""

from __future__ import annotations

import numpy as np
import pytest

from goffman.contrasts.engine import estimates
from goffman.measures.gender import QUANTITIES, SubjectGender
from goffman.stats.crossed import crossed_interval
from scored_rows import scored_rows, with_means

MEASURE = SubjectGender()
GROUPS = {"mental-health": 4, "other": 3}


def found(tables, without):
    """The contrasts of {group: items × conditions} with the items' baselines."""
    rows = [
        {"item": f"i{i}", "condition": f"{group}-{c}", "group": group, "value": value}
        for group, table in tables.items()
        for (i, c), value in np.ndenumerate(table)
    ]
    rows += [
        {"item": f"i{i}", "condition": "baseline", "group": "baseline", "value": value}
        for i, value in enumerate(without)
    ]
    prompts = scored_rows(MEASURE, rows, QUANTITIES, variant="with-names")
    rows = estimates(with_means(MEASURE, prompts), {"x": MEASURE}, wordings={"x": ["only"]})
    return rows.filter(kind="over-baseline")


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(3)
    return {group: rng.normal(0.2, 0.1, (5, size)) for group, size in GROUPS.items()}


def test_each_group_stands_against_the_baselines_of_its_items(tables):
    without = np.array([0.1, 0.2, 0.1, 0.0, 0.1])
    rows = found(tables, without)
    assert rows["first"].to_list() == ["mental-health", "other"]
    assert set(rows["second"]) == {"baseline"}
    for row in rows.iter_rows(named=True):
        table = tables[row["group"]]
        # What is left of each cell once its item's baseline is taken off, against nothing.
        left = table - without[:, None]
        expected = crossed_interval([left.T[:, :, None]], [range(left.shape[1])])
        names = ("difference", "error", "df")
        assert tuple(row[name] for name in names) == pytest.approx(expected)
        assert row["difference"] == pytest.approx(left.mean())
        assert row["mean_second"] == pytest.approx(without.mean())


def test_a_disparity_that_every_sentence_has_is_none_of_the_diagnoses():
    rng = np.random.default_rng(4)
    items = rng.normal(0.5, 0.3, 6)
    tables = {
        group: items[:, None] + rng.normal(0, 0.01, (6, size)) for group, size in GROUPS.items()
    }
    rows = found(tables, items)
    assert (rows["p"] > 0.05).all()
    assert (rows["mean_first"] > 0.3).all()
