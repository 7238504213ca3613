"""G, Φ and α: against loops, pingouin, statsmodels and components that are known."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pingouin
import pytest
import statsmodels.formula.api as smf
from statsmodels.stats.anova import anova_lm

from goffman.stats.reliability import alpha, components, obstacle

PARTS = {
    "conditions": (0,),
    "items": (1,),
    "wordings": (2,),
    "conditions_items": (0, 1),
    "conditions_wordings": (0, 2),
    "items_wordings": (1, 2),
    "cells": (0, 1, 2),
}


def simulated(rng, sizes, **sd):
    """A table that is the sum of normal effects with these standard deviations."""
    table = np.zeros(sizes)
    for name, axes in PARTS.items():
        shape = [sizes[axis] if axis in axes else 1 for axis in range(3)]
        table = table + rng.normal(0, sd.get(name, 0.0), shape)
    return table


def looped(table):
    """The components by sums over cells, one at a time, as a book on ANOVA writes them."""
    conditions, items, wordings = table.shape
    mean = {}
    for axes in [(), *PARTS.values()]:
        for index in itertools.product(*(range(table.shape[axis]) for axis in axes)):
            where = [slice(None)] * 3
            for axis, at in zip(axes, index, strict=True):
                where[axis] = at
            mean[axes, index] = float(np.mean(table[tuple(where)]))
    squares = {}
    for name, axes in PARTS.items():
        total = 0.0
        for c, i, w in itertools.product(*map(range, table.shape)):
            at, effect = (c, i, w), 0.0
            for size in range(len(axes) + 1):
                for some in itertools.combinations(axes, size):
                    sign = (-1) ** (len(axes) - size)
                    effect += sign * mean[some, tuple(at[axis] for axis in some)]
            total += effect**2
        degrees = math.prod(table.shape[axis] - 1 for axis in axes)
        squares[name] = total / degrees
    e = squares["cells"]
    ci, cw, iw = (squares[f"{a}_{b}"] for a, b in (("conditions", "items"),
                  ("conditions", "wordings"), ("items", "wordings")))  # fmt: skip
    found = {
        "conditions": (squares["conditions"] - ci - cw + e) / (items * wordings),
        "items": (squares["items"] - ci - iw + e) / (conditions * wordings),
        "wordings": (squares["wordings"] - cw - iw + e) / (conditions * items),
        "conditions_items": (ci - e) / wordings,
        "conditions_wordings": (cw - e) / items,
        "items_wordings": (iw - e) / conditions,
        "cells": e,
    }
    return {name: max(0.0, value) for name, value in found.items()}


@pytest.mark.parametrize("sizes", [(5, 3, 2), (8, 4, 3), (2, 2, 2)])
def test_components_are_those_of_a_loop_over_cells(sizes):
    rng = np.random.default_rng(1)
    for _ in range(20):
        table = simulated(rng, sizes, **dict.fromkeys(PARTS, 1.0))
        found, expected = components(table), looped(table)
        for name, value in expected.items():
            assert getattr(found, name) == pytest.approx(value, abs=1e-12), name


def test_mean_squares_are_those_of_statsmodels():
    table = simulated(np.random.default_rng(2), (6, 4, 3), **dict.fromkeys(PARTS, 1.0))
    rows = [(*map(str, at), value) for at, value in np.ndenumerate(table)]
    frame = pd.DataFrame(rows, columns=["c", "i", "w", "value"])
    anova = anova_lm(
        smf.ols("value ~ C(c) + C(i) + C(w) + C(c):C(i) + C(c):C(w) + C(i):C(w)", frame).fit()
    )
    ms = anova["mean_sq"]
    found = components(table)
    assert found.cells == pytest.approx(ms["Residual"])
    expected = (ms["C(c)"] - ms["C(c):C(i)"] - ms["C(c):C(w)"] + ms["Residual"]) / 12
    assert found.conditions == pytest.approx(max(0, expected))


def test_known_components_come_back_on_average():
    sd = {"conditions": 1.0, "items": 0.7, "wordings": 1.5, "conditions_items": 0.5,
          "conditions_wordings": 0.4, "items_wordings": 0.6, "cells": 0.8}  # fmt: skip
    rng = np.random.default_rng(3)
    runs = [components(simulated(rng, (30, 12, 12), **sd)) for _ in range(300)]
    for name, value in sd.items():
        mean = np.mean([getattr(one, name) for one in runs])
        assert mean == pytest.approx(value**2, rel=0.12), name


def test_g_is_the_squared_correlation_with_what_other_items_and_wordings_would_say():
    sd = {"conditions": 1.0, "wordings": 3.0, "items": 1.0, "conditions_items": 1.0, "cells": 1.0}
    rng = np.random.default_rng(4)
    both = [
        np.corrcoef(*(half.mean(axis=(1, 2)) for half in (table[:, :5, :3], table[:, 5:, 3:])))
        for table in (simulated(rng, (200, 10, 6), **sd) for _ in range(60))
    ]
    again = float(np.mean([one[0, 1] for one in both]))
    expected = 1 / (1 + 1 / 5 + 1 / 15)
    assert again == pytest.approx(expected, abs=0.02)
    found = components(simulated(rng, (2000, 5, 3), **sd))
    assert found.generalizability == pytest.approx(expected, abs=0.03)
    # Whoever moves all conditions together moves their level, not their order.
    assert found.dependability < 0.6 * found.generalizability


def test_one_wording_leaves_conditions_by_items_and_g_is_alpha():
    table = simulated(np.random.default_rng(5), (40, 6, 1), conditions=1.0, items=1.0, cells=1.0)
    found = components(table)
    assert found.wordings == found.cells == 0
    # Hoyt (1941): α is the generalizability of a mean over these items.
    assert found.generalizability == pytest.approx(alpha(table[:, :, 0]))


def test_what_does_not_vary_has_no_reliability():
    found = components(np.ones((4, 3, 2)))
    assert found.generalizability is None
    assert found.dependability is None
    assert alpha(np.ones((4, 3))) is None


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (
            np.zeros((1, 3, 2)),
            "with fewer than two conditions, nothing shows how much conditions differ",
        ),
        (np.zeros((3, 1, 2)), "with only one item, nothing shows how much items differ"),
        (
            np.where(np.arange(24).reshape(4, 3, 2) < 2, np.nan, 1.0),
            "2 of 24 values are missing, and all are needed",
        ),
    ],
)
def test_an_obstacle_is_said(table, why):
    assert obstacle(table) == why
    with pytest.raises(ValueError, match=why):
        components(table)


def test_alpha_is_that_of_pingouin():
    rng = np.random.default_rng(6)
    for items in (2, 3, 9):
        scores = rng.normal(size=(25, 1)) + rng.normal(size=(25, items))
        expected, _ = pingouin.cronbach_alpha(pd.DataFrame(scores))
        assert alpha(scores) == pytest.approx(expected, abs=1e-12)
