"""Intervals cover at their rate under simulation, and tests err at theirs.

A share of 2,000 simulations at 95% has a standard error of .005; three of them are allowed, and for
approximate intervals what is documented of them.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from goffman.stats.crossed import crossed_interval
from goffman.stats.jackknife import jackknife
from goffman.stats.two_samples import independent_t, paired_t
from simulated import ALIKE, CATEGORIES, conditions_alike
from simulated_pairs import sentence_pairs

pytestmark = pytest.mark.slow

MANY = 2000
EXACT = (0.935, 0.965)
"""Three standard errors of 2,000 simulations about .95."""


def covered(simulate, truth, *, simulations=MANY, seed=20):
    """The share of simulated intervals that hold the truth."""
    rng = np.random.default_rng(seed)
    ends = [simulate(rng, number) for number in range(simulations)]
    return sum(low <= truth <= high for low, high in ends) / simulations


def ends(estimate):
    return estimate.low, estimate.high


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


@pytest.mark.parametrize(
    ("draw", "within"), [("normal", (0.935, 0.965)), ("exponential", (0.905, 0.95))]
)
def test_welchs_interval_of_two_groups_of_conditions(draw, within):
    """93 against 29 conditions, normal and skewed."""

    def simulate(rng, _):
        first, second = getattr(rng, draw)(size=93), getattr(rng, draw)(size=29)
        return ends(independent_t(first, second, contrast=""))

    between(covered(simulate, 0.0), within)


def by_t(found):
    """The ends of an estimate with its error and degrees of freedom."""
    reach = special.stdtrit(found[2], 0.975) * found[1]
    return found[0] - reach, found[0] + reach


def crossed(rng, rows, columns, parts):
    """A table with row, column and cell effects of these standard deviations."""
    return (
        rng.normal(0, parts[0], (rows, 1))
        + rng.normal(0, parts[1], (1, columns))
        + rng.normal(0, parts[2], (rows, columns))
    )


@pytest.mark.parametrize("rows", [17, 4])
@pytest.mark.parametrize("parts", [(1, 1, 1), (1, 0.2, 0.2), (0.3, 0.3, 1), (0, 0, 1)])
def test_crossed_tables(rows, parts):
    """11 diagnoses × prompts: at its level, or conservative where cells alone vary."""

    def simulate(rng, _):
        return by_t(crossed_interval([crossed(rng, 11, rows, parts)[:, :, None]], [range(11)]))

    between(covered(simulate, 0.0), (0.93, 1.0 if parts[0] < 1 else 0.975))


def test_two_groups_under_the_same_prompts():
    def simulate(rng, _):
        common = rng.normal(size=(1, 4))
        tables = [common + crossed(rng, 11, 4, (1, 0.5, 1)) for _ in "ab"]
        own = [[f"{side}{k}" for k in range(11)] for side in "ab"]
        return by_t(crossed_interval([one[:, :, None] for one in tables], own))

    between(covered(simulate, 0.0), (0.93, 0.98))


@pytest.mark.parametrize("size", ALIKE)
def test_conditions_of_the_real_categories(size):
    """93 and 29 conditions in 7 items × 4 wordings, alike by category; not so if taken as alone."""

    def tables(rng):
        common = rng.normal(0, 0.5, (1, 7, 4))
        for own in conditions_alike(rng, size):
            by_item = rng.normal(0, 0.3, (len(own), 7, 1)) + rng.normal(0, 0.1, (1, 7, 1))
            yield own[:, None, None] + by_item + common

    def simulate(rng, _):
        return by_t(crossed_interval([*tables(rng)], CATEGORIES))

    def alone(rng, _):
        own = [[f"{side} {k}" for k in range(len(of))] for side, of in enumerate(CATEGORIES)]
        return by_t(crossed_interval([*tables(rng)], own))

    between(covered(simulate, 0.0), (0.925, 0.975))
    if size:
        assert covered(alone, 0.0) < 0.915


@pytest.mark.parametrize("shared", [0.0, 0.7])
@pytest.mark.parametrize("pairs", [60, 395])
def test_sentence_pairs_that_share_frames_and_occupations(pairs, shared):
    """An occupation pulls in either role; taken as independent, pairs are far too sure."""
    _, frame_of, referent, other, _ = sentence_pairs(pairs)
    nodes = np.column_stack([referent, other])

    def values(rng):
        of = shared * rng.normal(size=40)
        return (
            of[nodes].sum(axis=1) + shared * rng.normal(size=152)[frame_of] + rng.normal(size=pairs)
        )

    def simulate(rng, _):
        return by_t(jackknife(values(rng), [frame_of, nodes]))

    def alone(rng, _):
        return by_t(jackknife(values(rng), [np.arange(pairs)]))

    between(covered(simulate, 0.0), (0.93, 0.985))
    if shared:
        assert covered(alone, 0.0) < 0.85


def test_a_plain_paired_t_over_cells_is_far_too_sure():
    """Why the crossed formula is there: cells of a row, and of a column, are alike."""

    def simulate(rng, _):
        table = crossed(rng, 17, 11, (1, 1, 1)).ravel()
        return ends(paired_t(table, np.zeros(table.shape), contrast=""))

    between(covered(simulate, 0.0), (0.4, 0.6))


@pytest.mark.parametrize("test", [paired_t, independent_t])
def test_where_nothing_differs_p_is_below_a_twentieth_one_time_in_twenty(test):
    rng = np.random.default_rng(20)
    found = [
        test(rng.normal(size=15), rng.normal(size=15), contrast="").p <= 0.05 for _ in range(MANY)
    ]
    between(sum(found) / MANY, (0.035, 0.065))
