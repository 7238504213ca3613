"""Intervals cover at their rate under simulation, and tests err at theirs.

A share of 2,000 simulations at 95% has a standard error of .005; three of them are allowed, and for
bootstrap intervals, which are approximate, what is documented of them.
"""

from __future__ import annotations

import numpy as np
import pytest

from goffman.stats.correlation import pearson, spearman
from goffman.stats.crossed_effect_sizes import crossed_effects
from goffman.stats.crossed_tests import crossed_t
from goffman.stats.effect_sizes import cohen_d, cohen_d_z, paired_cohen_d
from goffman.stats.resampling import (
    correlation_bootstrap,
    correlation_permutation,
    crossed_bootstrap,
    paired_permutation,
    pairs_bootstrap,
    permutation,
)
from goffman.stats.tests import (
    independent_t,
    mann_whitney,
    paired_t,
    wilcoxon,
)

pytestmark = pytest.mark.slow

MANY = 2000
EXACT = (0.935, 0.965)
"""Three standard errors of 2,000 simulations about .95."""


def fresh(seed):
    return np.random.default_rng(seed)


def covered(simulate, truth, *, simulations=MANY, seed=20):
    """The share of simulated intervals that hold the truth."""
    rng = np.random.default_rng(seed)
    ends = [simulate(rng, number) for number in range(simulations)]
    return sum(low <= truth <= high for low, high in ends) / simulations


def ends(estimate):
    return estimate.low, estimate.high


def effect_ends(estimate):
    return estimate.effect_low, estimate.effect_high


def between(share, bounds):
    assert bounds[0] <= share <= bounds[1], f"covers {share:.3f}, not {bounds[0]} to {bounds[1]}"


def test_t_intervals():
    def paired(rng, _):
        return ends(paired_t(rng.normal(0.3, 1, 12), rng.normal(0, 2, 12), contrast=""))

    def student(rng, _):
        first, second = rng.normal(0.3, 1, 6), rng.normal(0, 1, 14)
        return ends(independent_t(first, second, contrast="", variances="equal"))

    def welch(rng, _):
        return ends(independent_t(rng.normal(0.3, 1, 40), rng.normal(0, 4, 8), contrast=""))

    for simulate in (paired, student, welch):
        between(covered(simulate, 0.3), EXACT)


@pytest.mark.parametrize("delta", [0.0, 0.5, 1.64])
def test_exact_effect_intervals(delta):
    def d(rng, _):
        return ends(cohen_d(rng.normal(delta, 1, 8), rng.normal(0, 1, 15)))

    def d_z(rng, _):
        return ends(cohen_d_z(rng.normal(delta, 1, 33), np.zeros(33)))

    for simulate in (d, d_z):
        between(covered(simulate, delta), EXACT)


@pytest.mark.parametrize("n", [33, 187])
@pytest.mark.parametrize("delta", [0.0, 0.5, 1.64])
@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_cohens_d_of_pairs(n, delta, correlation):
    """Bonett's interval is a large-sample one."""

    def simulate(rng, _):
        noise = rng.normal(size=(2, n))
        second = correlation * noise[0] + np.sqrt(1 - correlation**2) * noise[1]
        return ends(paired_cohen_d(delta + noise[0], second))

    between(covered(simulate, delta), (0.93, 0.975))


@pytest.mark.parametrize(("r", "n"), [(0.0, 20), (0.5, 122), (0.9, 20)])
def test_pearsons_interval(r, n):
    def simulate(rng, _):
        noise = rng.normal(size=(2, n))
        return effect_ends(
            pearson(noise[0], r * noise[0] + np.sqrt(1 - r**2) * noise[1], contrast="")
        )

    between(covered(simulate, r), EXACT)


@pytest.mark.parametrize("r", [0.0, 0.5, 0.8])
def test_spearmans_interval(r):
    """Of normal measures Spearman's ρ is 6/π·arcsin(r/2)."""

    def simulate(rng, _):
        noise = rng.normal(size=(2, 122))
        second = r * noise[0] + np.sqrt(1 - r**2) * noise[1]
        return effect_ends(spearman(noise[0], second, contrast=""))

    between(covered(simulate, 6 / np.pi * np.arcsin(r / 2)), (0.93, 0.965))


@pytest.mark.parametrize(
    ("draw", "within"), [("normal", (0.935, 0.965)), ("exponential", (0.905, 0.95))]
)
def test_welchs_interval_of_two_groups_of_conditions(draw, within):
    """93 against 29 conditions, normal and skewed."""

    def simulate(rng, _):
        first, second = getattr(rng, draw)(size=93), getattr(rng, draw)(size=29)
        return ends(independent_t(first, second, contrast=""))

    between(covered(simulate, 0.0), within)


@pytest.mark.parametrize("interval", ["bca", "percentile"])
def test_pairs(interval):
    """100 sentence pairs right or wrong."""

    def simulate(rng, number):
        first, second = rng.random(100) < 0.8, rng.random(100) < 0.5
        return ends(
            pairs_bootstrap(
                first, second, contrast="", rng=fresh(number), interval=interval, draws=999
            )
        )

    between(covered(simulate, 0.3), (0.93, 0.965))


@pytest.mark.parametrize("interval", ["bca", "percentile"])
def test_correlations_over_units(interval):
    def simulate(rng, number):
        noise = rng.normal(size=(2, 122))
        second = 0.5 * noise[0] + np.sqrt(0.75) * noise[1]
        return effect_ends(
            correlation_bootstrap(
                noise[0], second, contrast="", rng=fresh(number), interval=interval, draws=999
            )
        )

    between(covered(simulate, 0.5, simulations=1000), (0.92, 0.965))


def crossed(rng, rows, columns, parts):
    """A table with row, column and cell effects of these standard deviations."""
    return (
        rng.normal(0, parts[0], (rows, 1))
        + rng.normal(0, parts[1], (1, columns))
        + rng.normal(0, parts[2], (rows, columns))
    )


@pytest.mark.parametrize(
    ("rows", "parts", "bootstrap"),
    [
        (17, (1, 1, 1), (0.91, 0.96)),
        (17, (1, 0.2, 0.2), (0.90, 0.95)),
        (17, (0.3, 0.3, 1), (0.94, 0.99)),
        (17, (0, 0, 1), (0.99, 1.0)),
        (4, (1, 1, 1), (0.87, 0.93)),
        (4, (1, 0.2, 0.2), (0.79, 0.87)),
        (3, (1, 0.2, 0.2), (0.70, 0.80)),
        (3, (0, 0, 1), (0.98, 1.0)),
    ],
)
def test_crossed_tables(rows, parts, bootstrap):
    """Prompts × 11 diagnoses. The bootstrap is conservative where cells vary most, and too short
    where few rows do: that is documented. The crossed t keeps its level, or is conservative."""

    def drawn(rng, number):
        table = crossed(rng, rows, 11, parts)
        zero = np.zeros(table.shape)
        return ends(crossed_bootstrap(table, zero, contrast="", rng=fresh(number), draws=999))

    def by_t(rng, _):
        table = crossed(rng, rows, 11, parts)
        return ends(crossed_t(table, np.zeros(table.shape), contrast=""))

    between(covered(drawn, 0.0, simulations=1000), bootstrap)
    between(covered(by_t, 0.0), (0.93, 1.0 if parts[0] == 0 else 0.975))


@pytest.mark.parametrize("shared", ["rows", "columns"])
def test_crossed_tables_that_share_a_factor(shared):
    """Two groups of diagnoses under the same prompts; two phases' prompts about the same."""

    def simulate(rng, _):
        common = rng.normal(size=(4, 1))
        first = common + crossed(rng, 4, 11, (0.5, 1, 1))
        second = common + crossed(rng, 4, 11, (0.5, 1, 1))
        tables = (first, second) if shared == "rows" else (first.T, second.T)
        return ends(crossed_t(*tables, contrast="", shared=shared))

    between(covered(simulate, 0.0), (0.93, 0.98))


@pytest.mark.parametrize("delta", [0.0, 0.5, 1.6])
@pytest.mark.parametrize("rows", [17, 3])
@pytest.mark.parametrize("parts", [(1, 0.3, 0.5), (0.3, 1, 0.5), (0, 0, 1)])
def test_effects_of_crossed_tables(delta, rows, parts):
    """Two models, each with effects of its own and of the prompts and diagnoses that both share.
    The interval of d keeps its level with three rows too; quantiles of the drawn d would not."""
    own = np.sqrt(np.square(parts).sum())
    total = np.sqrt(own**2 + parts[0] ** 2 + parts[1] ** 2)
    found = []
    rng = np.random.default_rng(20)
    for number in range(600):
        common = crossed(rng, rows, 11, (parts[0], parts[1], 0))
        first = common + crossed(rng, rows, 11, parts) + delta * total
        second = common + crossed(rng, rows, 11, parts)
        tested = crossed_t(first, second, contrast="")
        found.append(
            crossed_effects(tested, first, second, shared="both", rng=fresh(number), draws=499)
        )
    for which, truth in enumerate((delta, delta * total / (own * np.sqrt(2)))):
        hits = [pair[which].low <= truth <= pair[which].high for pair in found]
        between(sum(hits) / len(hits), (0.92, 1.0 if parts[0] == 0 else 0.99))


@pytest.mark.parametrize("shared", ["rows", "columns"])
def test_effects_of_crossed_tables_that_share_a_factor(shared):
    def simulate(rng, number):
        common = rng.normal(size=(4, 1))
        first = common + crossed(rng, 4, 11, (0.5, 1, 1)) + np.sqrt(3.25)
        second = common + crossed(rng, 4, 11, (0.5, 1, 1))
        tables = (first, second) if shared == "rows" else (first.T, second.T)
        tested = crossed_t(*tables, contrast="", shared=shared)
        d, _ = crossed_effects(tested, *tables, shared=shared, rng=fresh(number), draws=499)
        return d.low, d.high

    between(covered(simulate, 1.0, simulations=1000), (0.92, 0.985))


def test_a_plain_paired_t_over_cells_is_far_too_sure():
    """Why the crossed t is there: cells of a row, and of a column, are alike."""

    def simulate(rng, _):
        table = crossed(rng, 17, 11, (1, 1, 1)).ravel()
        return ends(paired_t(table, np.zeros(table.shape), contrast=""))

    between(covered(simulate, 0.0), (0.4, 0.6))


@pytest.mark.parametrize(
    ("test", "random"),
    [
        (paired_t, False),
        (independent_t, False),
        (wilcoxon, False),
        (mann_whitney, False),
        (paired_permutation, True),
        (permutation, True),
        (pearson, False),
        (spearman, False),
        (correlation_permutation, True),
    ],
)
def test_where_nothing_differs_p_is_below_a_twentieth_one_time_in_twenty(test, random):
    rng = np.random.default_rng(20)
    options = [{"rng": fresh(number), "draws": 999} if random else {} for number in range(MANY)]
    found = [
        test(rng.normal(size=15), rng.normal(size=15), contrast="", **more).p <= 0.05
        for more in options
    ]
    between(sum(found) / MANY, (0.035, 0.065))
