"""What could be shuffled in a headline: with its own labels, it is the headline's difference."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from goffman.contrasts.scores import Clusters
from goffman.measures.aggregate import as_scores
from goffman.sensitivity.multiverse import permutation_units
from goffman.stats.specification_curve import permuted_median


def shuffled(units):
    names = sorted(units.labels)
    return permuted_median(
        np.array([[units.sums[name] for name in names]]),
        np.array([[units.counts[name] for name in names]]),
        np.array([units.labels[name] for name in names]),
        shuffling=units.shuffling,
        rng=np.random.default_rng(0),
        draws=99,
    ).median


def rows(**columns):
    return as_scores(pl.DataFrame({"model": "m", "instrument": "x", "level": "prompt", **columns}))


def test_conditions_are_labelled_with_their_group():
    rng = np.random.default_rng(1)
    conditions = [f"c{place}" for place in range(7) for _ in range(6)]
    groups = ["one" if int(name[1:]) < 4 else "two" for name in conditions]
    values = rng.normal(size=42)
    given = rows(
        condition=conditions,
        group=groups,
        item=[f"i{place % 3}" for place in range(42)],
        wording=[f"w{place % 2}" for place in range(42)],
        quantity="negative",
        value=values,
    )
    headline = {"kind": "groups", "first": "one", "second": "two"}
    units = permutation_units(headline, given, "negative", Clusters())
    means = values.reshape(7, 6).mean(axis=1)
    assert units.what == "groups"
    assert shuffled(units) == pytest.approx(means[:4].mean() - means[4:].mean())


def test_of_genders_each_condition_has_a_sign():
    rng = np.random.default_rng(2)
    female, male = rng.normal(size=12), rng.normal(size=12)
    conditions = [f"c{place // 3}" for place in range(12)]
    given = pl.concat(
        rows(condition=conditions, quantity=name, value=of, item="i")
        for name, of in (("female", female), ("male", male))
    )
    units = permutation_units({"kind": "genders"}, given, "disparity", Clusters())
    assert (units.what, len(units.sums)) == ("genders", 4)
    assert shuffled(units) == pytest.approx((female - male).mean())


@pytest.fixture(scope="module")
def sharing():
    items = [f"p{place}" for place in range(10)]
    occupations = [f"o{place % 4}" for place in range(10)]
    return Clusters(
        ways={item: ("frame", one, "other") for item, one in zip(items, occupations, strict=True)},
        signs={
            item: -1.0 if one in ("o0", "o1") else 1.0
            for item, one in zip(items, occupations, strict=True)
        },
    )


def test_a_preference_is_half_the_difference_between_occupations_of_women_and_men(sharing):
    """The headline regresses s·v on 1 and s: its coefficient of s, by least squares."""
    values = np.random.default_rng(3).normal(size=10)
    given = rows(item=list(sharing.ways), quantity="preference", value=values, condition="baseline")
    units = permutation_units({"kind": "level"}, given, "preference", sharing)
    signs = sharing.sides(sharing.ways)
    design = np.column_stack([np.ones(10), signs])
    coefficient = np.linalg.lstsq(design, signs * values, rcond=None)[0][1]
    assert units.what == "preference"
    assert shuffled(units) == pytest.approx(coefficient)


def test_a_bias_is_pro_minus_anti_over_trials(sharing):
    rng = np.random.default_rng(4)
    pro, anti = rng.integers(0, 2, (2, 10, 3)).astype(float)
    items = [item for item in sharing.ways for _ in range(3)]
    given = pl.concat(
        rows(item=items, wording=side, quantity="correct", value=of.ravel(), trial=[1, 2, 3] * 10)
        for side, of in (("pro", pro), ("anti", anti))
    )
    units = permutation_units({"kind": "level"}, given, "bias", sharing)
    assert (units.what, units.shuffling) == ("bias", "signs")
    assert shuffled(units) == pytest.approx((pro - anti).mean())


def test_of_other_headlines_nothing_is_known():
    assert permutation_units({"kind": "new"}, rows(item=["i"]), "x", Clusters()) is None
    assert permutation_units({"kind": "level"}, rows(item=["i"]), "bias", Clusters()) is None
