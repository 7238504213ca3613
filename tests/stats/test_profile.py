"""Correlations with what people said, against computations of their own and by simulation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from goffman.anchors.loader import load_anchor
from goffman.stats.crossed import components
from goffman.stats.profile import LEAST, Profile, pearson, related, residuals, sentence_variance

PERIL = np.array([one.value for one in load_anchor("pachankis2018").values if one.item == "peril"])


def made(rng, *, n=30, items=3, wordings=3, strata=()):
    people = rng.standard_normal(n)
    own = 0.5 * people + 0.7 * rng.standard_normal(n)
    table = own[:, None, None] + rng.standard_normal((n, items, wordings))
    return Profile(model=table.mean(axis=(1, 2)), people=people, table=table, strata=list(strata))


def naive_z(model, people, strata, *, rank):
    """Fisher's z by another way: dummy variables for categories, scipy for the correlation."""
    if rank:
        model, people = stats.rankdata(model), stats.rankdata(people)
    names = sorted(set(strata))
    dummies = np.array([[float(one == name) for name in names] for one in strata])
    rest = [v - dummies @ np.linalg.lstsq(dummies, v, rcond=None)[0] for v in (model, people)]
    return math.atanh(stats.pearsonr(*rest).statistic)


@pytest.mark.parametrize("n", [10, 31, 122])
def test_pearson_of_independent_units_is_that_of_scipy(n) -> None:
    first, second = np.random.default_rng(n).standard_normal((2, n))
    found = pearson(first, first + second, contrast="x")
    expected = stats.pearsonr(first, first + second)
    ends = expected.confidence_interval()
    assert found.effect == pytest.approx(expected.statistic, abs=1e-12)
    assert found.p == pytest.approx(expected.pvalue)
    assert (found.effect_low, found.effect_high) == pytest.approx((ends.low, ends.high))
    # r = .79 over 122 conditions is what the study printed as t(120) = 13.90 [.71, .85].
    assert found.statistic == pytest.approx(
        found.effect * math.sqrt((n - 2) / (1 - found.effect**2))
    )


def test_the_study_s_printed_r_t_and_interval_fit_each_other() -> None:
    """Values with r = .786 over 122 units: t(120) = 13.9, .71 to .85, as printed."""
    one, other = np.random.default_rng(0).standard_normal((2, 122))
    one -= one.mean()
    other -= other.mean() + one * (one @ (other - other.mean())) / (one @ one)
    r = 13.90 / math.sqrt(120 + 13.90**2)
    made_up = r * one / np.linalg.norm(one) + math.sqrt(1 - r**2) * other / np.linalg.norm(other)
    found = pearson(one, made_up, contrast="x")
    assert found.statistic == pytest.approx(13.90)
    assert [round(value, 2) for value in (found.effect, found.effect_low, found.effect_high)] == [
        0.79, 0.71, 0.85,
    ]  # fmt: skip


def test_pearson_without_a_number_says_why() -> None:
    few = pearson([1.0, 2.0, 4.0], [2.0, 1.0, 1.0])
    assert (few.effect, few.reason) == (None, "there are fewer than four points")
    level = pearson([1.0] * 10, np.arange(10.0))
    assert level.reason == "one of the two measures has the same value everywhere"
    line = pearson(np.arange(10.0), np.arange(10.0), contrast="x")
    assert (round(line.effect, 9), line.p) == (1.0, None)


@pytest.mark.parametrize("rank", [False, True])
@pytest.mark.parametrize("categories", [1, 4])
@pytest.mark.parametrize("clusters", [0, 5, 8])
def test_the_jackknife_is_that_of_a_naive_computation(rank, categories, clusters) -> None:
    """Categories are left out whole; of fewer than six, or of none, single conditions."""
    rng = np.random.default_rng(3)
    strata = [f"s{place % categories}" for place in range(30)]
    # Some are larger than others: the first has half of all.
    shared = [f"k{max(0, place - 14) % clusters}" for place in range(30)] if clusters else []
    profile = made(rng)
    profile = Profile(model=profile.model, people=profile.people, strata=strata, clusters=shared)
    found = related(profile, "spearman" if rank else "pearson", contrast="")
    z = naive_z(profile.model, profile.people, strata, rank=rank)
    own = shared if clusters >= 6 else list(range(30))
    left, weights = [], []
    for gone in sorted(set(own)):
        kept = [place for place in range(30) if own[place] != gone]
        of = [strata[place] for place in kept]
        left.append(naive_z(profile.model[kept], profile.people[kept], of, rank=rank))
        weights.append((30 - len(kept)) / len(kept))
    count = len(left)
    error = math.sqrt((count - 1) / count * sum((one - np.mean(left)) ** 2 for one in left))
    df = max(1.0, sum(weights) ** 2 / sum(one**2 for one in weights) - 2)
    reach = stats.t.ppf(0.975, df) * error
    assert found.df == pytest.approx(df)
    assert found.effect == pytest.approx(math.tanh(z))
    assert found.effect_low == pytest.approx(math.tanh(z - reach))
    assert found.effect_high == pytest.approx(math.tanh(z + reach))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(z / error), df))
    assert found.interval_over == f"conditions{' by category' if clusters >= 6 else ''}"


def test_the_part_of_the_sentences_is_that_of_a_naive_computation() -> None:
    rng = np.random.default_rng(4)
    profile = made(rng)
    n, items, wordings = 30, 3, 3
    x = (profile.people - profile.people.mean()) / profile.people.std()
    slopes = np.zeros((items, wordings))
    rest = np.zeros((n, items, wordings))
    for i, w in itertools.product(range(items), range(wordings)):
        fit = stats.linregress(x, profile.table[:, i, w])
        slopes[i, w] = fit.slope
        rest[:, i, w] = profile.table[:, i, w] - fit.intercept - fit.slope * x

    def squares(table):
        by_i = sum(wordings * (table[i].mean() - table.mean()) ** 2 for i in range(items))
        by_w = sum(items * (table[:, w].mean() - table.mean()) ** 2 for w in range(wordings))
        all_ = sum((one - table.mean()) ** 2 for one in table.ravel())
        return by_i, by_w, all_ - by_i - by_w

    i, w, iw = squares(slopes)
    total = (i / 2 + w / 2 - iw / 4) / 9
    ci, cw, e = (sum(parts) for parts in zip(*map(squares, rest), strict=True))
    counted = (ci / (2 * 28) + cw / (2 * 28) - e / (4 * 28)) / (9 * n)
    variance, df = sentence_variance(profile)
    assert variance == pytest.approx(max(0.0, total - counted) / profile.model.var())
    below = (i / 2 / 9) ** 2 / 2 + (w / 2 / 9) ** 2 / 2 + (iw / 4 / 9) ** 2 / 4
    assert df == pytest.approx(max(1.0, total**2 / below))


def test_two_items_are_no_sample_of_items() -> None:
    """Their interval is that over conditions alone, and nothing is corrected by how they agree."""
    rng = np.random.default_rng(14)
    two = made(rng, items=2, wordings=1)
    found = related(two, "pearson", contrast="")
    alone = related(Profile(model=two.model, people=two.people), "pearson", contrast="")
    assert (found.effect_low, found.effect_high) == (alone.effect_low, alone.effect_high)
    assert found.df == alone.df
    assert found.interval_over == "conditions; treated as fixed: 2 items"
    assert found.second_effect is None
    # Four items in two wordings: other items, in these wordings.
    mixed = related(made(rng, items=4, wordings=2), "pearson", contrast="")
    assert mixed.interval_over == "conditions and items; treated as fixed: 2 wordings"
    assert mixed.second_effect is not None


def test_true_scores_are_corrected_for_both_reliabilities() -> None:
    rng = np.random.default_rng(5)
    profile = made(rng)
    error = np.full(30, 0.3)
    both = Profile(
        model=profile.model, people=profile.people, table=profile.table, people_error=error
    )
    of_model = components(profile.table).generalizability
    of_people = 1 - 0.09 / profile.people.var(ddof=1)
    found = related(both, "pearson", contrast="")
    by = math.sqrt(of_model * of_people)
    assert found.second_effect == pytest.approx(found.effect / by)
    assert found.second_effect_high == pytest.approx(min(1, found.effect_high / by))
    assert found.second_effect_name == "r of true scores"
    alone = related(profile, "pearson", contrast="")
    assert alone.second_effect == pytest.approx(found.effect / math.sqrt(of_model))
    assert alone.second_effect_name == "r of true scores, model's side"


def test_a_condition_alone_in_its_category_says_nothing_given_categories() -> None:
    rng = np.random.default_rng(6)
    profile = made(rng, strata=["a"] * 14 + ["b"] * 14 + ["c", "d"])
    found = related(profile, "pearson", contrast="")
    less = profile.kept(np.arange(30) < 28)
    assert found.n == 28
    assert found.effect == related(less, "pearson", contrast="").effect


def test_units_and_order_do_not_matter_and_the_sign_follows() -> None:
    rng = np.random.default_rng(7)
    profile = made(rng)
    found = related(profile, "pearson", contrast="")
    order = rng.permutation(30)
    other = Profile(
        model=-2 * profile.model[order] + 1,
        people=3 * profile.people[order] - 7,
        table=-2 * profile.table[order] + 1,
    )
    turned = related(other, "pearson", contrast="")
    assert turned.effect == pytest.approx(-found.effect)
    assert turned.effect_low == pytest.approx(-found.effect_high)
    assert turned.p == pytest.approx(found.p)


def test_what_cannot_be_correlated_has_a_reason() -> None:
    rng = np.random.default_rng(8)
    few = Profile(model=rng.standard_normal(9), people=rng.standard_normal(9))
    assert (
        related(few, "pearson", contrast="").reason
        == f"it takes {LEAST} conditions that can be compared"
    )
    same = Profile(model=np.ones(20), people=rng.standard_normal(20))
    assert "the same value everywhere" in (related(same, "pearson", contrast="").reason or "")
    line = Profile(model=np.arange(20.0), people=np.arange(20.0))
    found = related(line, "pearson", contrast="")
    assert (found.effect, found.p, found.effect_low) == (pytest.approx(1), None, None)


def test_residuals_are_those_of_statsmodels() -> None:
    rng = np.random.default_rng(9)
    columns = rng.standard_normal((40, 3))
    values = columns @ [1.0, 0.5, 0] + rng.standard_normal(40)
    values[7] += 8
    found = residuals(values, columns)
    fit = sm.OLS(values, sm.add_constant(columns)).fit()
    table = fit.outlier_test(method="fdr_bh")
    assert found is not None
    assert found["statistic"] == pytest.approx(fit.get_influence().resid_studentized_external)
    assert found["p"] == pytest.approx(table[:, 1])
    assert found["p_adjusted"] == pytest.approx(table[:, 2])
    assert found["explained"] == pytest.approx(fit.rsquared)
    assert np.flatnonzero(found["p_adjusted"] < 0.05).tolist() == [7]
    assert residuals(values[:12], columns[:12]) is None


def drawn(rng, *, rho, reliable, of_people, sloping, n=93, sizes=(7, 4)):
    """A profile whose true scores are rho of an anchor's and the rest noise, then measured."""
    true = rng.choice((PERIL - PERIL.mean()) / PERIL.std(), n)
    scores = rho * true + math.sqrt(1 - rho**2) * rng.standard_normal(n)
    items, wordings = sizes
    noise = (1 - reliable) / reliable
    # Other items and wordings also go with the anchor more, or less.
    slopes = sloping * (rng.standard_normal((items, 1)) + rng.standard_normal((1, wordings)))
    table = (
        scores[:, None, None] + rng.standard_normal((1, items, 1)) + true[:, None, None] * slopes
    )
    table = table + rng.standard_normal((n, items, 1)) * math.sqrt(noise * items * 0.5)
    table = table + rng.standard_normal((n, 1, wordings)) * math.sqrt(noise * wordings * 0.3)
    table = table + rng.standard_normal((n, items, wordings)) * math.sqrt(
        noise * items * wordings * 0.2
    )
    error = math.sqrt((1 - of_people) / of_people)
    return Profile(
        model=table.mean(axis=(1, 2)),
        people=true + error * rng.standard_normal(n),
        table=table,
        people_error=np.full(n, error),
    )


CASES = [
    {"rho": 0.0, "reliable": 0.9, "of_people": 0.98, "sloping": 0.0},
    {"rho": 0.4, "reliable": 0.9, "of_people": 0.98, "sloping": 0.0},
    {"rho": 0.7, "reliable": 0.7, "of_people": 0.9, "sloping": 0.0},
]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_known_mixture_is_given_its_correlation_back(case) -> None:
    """93 to 97 of 100 intervals hold the correlation: of observed numbers, and of true scores."""
    rng = np.random.default_rng(11)
    observed = case["rho"] * math.sqrt(case["reliable"] * case["of_people"])
    hits = np.zeros(2)
    for _ in range(500):
        found = related(drawn(rng, **case), "pearson", contrast="")
        hits += [
            found.effect_low <= observed <= found.effect_high,
            found.second_effect_low <= case["rho"] <= found.second_effect_high,
        ]
    assert hits / 500 == pytest.approx(0.95, abs=0.02), hits / 500


@pytest.mark.slow
def test_where_sentences_differ_in_their_slope_the_interval_knows() -> None:
    rng = np.random.default_rng(12)
    case = {"rho": 0.0, "reliable": 0.9, "of_people": 1.0, "sloping": 0.3}
    hits = np.zeros(2)
    for _ in range(500):
        profile = drawn(rng, **case)
        alone = Profile(model=profile.model, people=profile.people)
        for place, one in enumerate((profile, alone)):
            found = related(one, "pearson", contrast="")
            hits[place] += found.effect_low <= 0 <= found.effect_high
    assert 0.93 <= hits[0] / 500 <= 0.98
    assert hits[1] / 500 < 0.8


@pytest.mark.slow
def test_ranks_are_covered_too() -> None:
    """Of normal numbers Spearman's ρ is 6/π·arcsin(r/2)."""
    rng = np.random.default_rng(13)
    hits = 0
    for _ in range(500):
        people = rng.standard_normal(60)
        model = 0.5 * people + math.sqrt(0.75) * rng.standard_normal(60)
        found = related(Profile(model=model, people=people), "spearman", contrast="")
        hits += found.effect_low <= 6 / math.pi * math.asin(0.25) <= found.effect_high
    assert 0.93 <= hits / 500 <= 0.97
