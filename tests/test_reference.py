"""Each condition against the mean of the other group's conditions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from goffman.contrasts.engine import estimates
from goffman.measures.negative_attitude import NegativeAttitude
from goffman.stats.crossed import crossed_interval
from scored_rows import scored_rows, with_means

MEASURE = NegativeAttitude()
CORE = ("negative", "lowest", "highest", "mass", "rated-share", "last-probability")


def scored(tables, *, gap=None):
    """Scores of every level from {(condition, group): items × wordings}."""
    rows = [
        {"item": f"i{i}", "wording": f"w{w}", "condition": condition, "group": group}
        | {"value": None if (condition, i, w) == gap else value}
        for (condition, group), table in tables.items()
        for (i, w), value in np.ndenumerate(table)
    ]
    return with_means(MEASURE, scored_rows(MEASURE, rows, CORE))


def found(scores, kind="reference"):
    wordings = sorted(scores["wording"].drop_nulls().unique())
    return estimates(scores, {"x": MEASURE}, wordings={"x": wordings}).filter(kind=kind)


def p_of(interval):
    return 2 * stats.t.sf(abs(interval.difference) / interval.se, interval.df)


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(5)
    names = [(f"s{k}", "stigmatized") for k in range(6)]
    names += [(f"n{k}", "non-stigmatized") for k in range(3)]
    names += [("baseline", "baseline")]
    return {
        (name, group): 0.3 + 0.3 * (name in {"s0", "s1"}) + 0.05 * rng.random((5, 4))
        for name, group in names
    }


def test_every_condition_stands_against_the_mean_of_the_other_groups(tables):
    rows = found(scored(tables))
    assert rows["first"].to_list() == [f"s{k}" for k in range(6)]
    assert set(rows["second"]) == {"non-stigmatized"}
    mean = np.mean([tables[f"n{k}", "non-stigmatized"] for k in range(3)], axis=0)
    for row in rows.iter_rows(named=True):
        first = tables[row["first"], "stigmatized"]
        expected = crossed_interval([(first - mean)[:, :, None]], [range(5)])
        assert row["difference"] == pytest.approx(first.mean() - mean.mean())
        assert row["p"] == pytest.approx(p_of(expected))
        ends = stats.t.interval(row["level"], expected.df, row["difference"], expected.se)
        assert (row["low"], row["high"]) == pytest.approx(ends)
        assert (row["unit"], row["interval_over"]) == ("items", "items and wordings, crossed")


def test_they_are_counted_so_the_share_of_false_ones_is_held(tables):
    reference = found(scored(tables))
    assert set(reference["correction"]) == {"benjamini-hochberg"}
    expected = multipletests(reference["p"].to_numpy(), method="fdr_bh")[1]
    assert reference["p_adjusted"].to_list() == pytest.approx(expected.tolist())
    marked = ((reference["low"] > 0) | (reference["high"] < 0)).to_list()
    assert marked == (expected <= 0.05).tolist()
    assert 0 < sum(marked) < 6
    assert {*reference["level"]} == {1 - 0.05 * sum(marked) / 6}


def test_the_references_own_conditions_stand_against_the_mean_of_the_others(tables):
    rows = found(scored(tables), "own-reference")
    assert rows["first"].to_list() == [f"n{k}" for k in range(3)]
    expected = []
    for k in range(3):
        mine = tables[f"n{k}", "non-stigmatized"]
        rest = np.mean([tables[f"n{j}", "non-stigmatized"] for j in range(3) if j != k], axis=0)
        # The mean that has the condition in it makes difference and error smaller by 2/3 alike.
        expected.append(p_of(crossed_interval([(mine - rest)[:, :, None]], [range(5)])))
        assert rows["difference"][k] == pytest.approx((mine - rest).mean() * 2 / 3)
    assert rows["p"].to_list() == pytest.approx(expected)
    corrected = multipletests(expected, method="fdr_bh")[1]
    assert rows["p_adjusted"].to_list() == pytest.approx(corrected.tolist())


@pytest.mark.parametrize("wordings", [4, 1])
def test_a_gap_in_the_reference_leaves_out_that_value_alone(tables, wordings):
    few = {name: table[:, :wordings] for name, table in tables.items()}
    rows = found(scored(few, gap=("n1", 0, 0)))
    assert rows["p"].null_count() == 0
    assert set(rows["left_out"]) == {0}
    assert set(rows["n"]) == {5}
    # The cell's mean is that of the two conditions which have a value.
    mean = np.mean([few[f"n{k}", "non-stigmatized"] for k in range(3)], axis=0)
    mean[0, 0] = (few["n0", "non-stigmatized"][0, 0] + few["n2", "non-stigmatized"][0, 0]) / 2
    expected = [few[f"s{k}", "stigmatized"].mean() - mean.mean() for k in range(6)]
    assert rows["difference"].to_list() == pytest.approx(expected)


def test_without_the_other_group_there_is_no_reference(tables):
    some = {name: table for name, table in tables.items() if name[1] != "non-stigmatized"}
    assert not found(scored(some)).height
