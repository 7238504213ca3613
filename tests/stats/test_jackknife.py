"""The multiway jackknife against refits that leave out one group after another."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from goffman.stats.jackknife import jackknife


def labels_of(ways, at):
    """Every label of a value, with the way it is of: nodes in no order."""
    return [(w, one) for w, way in enumerate(ways) for one in sorted(np.atleast_1d(way[at]))]


def coefficients(design, weights, kept):
    """How the first coefficient comes from each value, those that are left out at 0."""
    root = np.sqrt(weights[kept])[:, None]
    rows = np.zeros(len(weights))
    rows[kept] = np.linalg.lstsq(root * design[kept], root * np.eye(len(kept)), rcond=None)[0][0]
    return rows


def by_hand(values, ways, design, weights):
    """V, floor and df as the module's formulas say, by fitting anew without each group."""
    n = len(values)
    groups = {}
    for at in range(n):
        own = labels_of(ways, at)
        for size in range(1, len(own) + 1):
            for some in itertools.combinations(own, size):
                kinds = tuple(way for way, _ in some)
                groups.setdefault(kinds, {}).setdefault(some, []).append(at)
    whole = coefficients(design, weights, list(range(n)))
    parts, dfs = {}, []
    for kinds in sorted(groups):
        changes, alike = [], []
        for gone in groups[kinds].values():
            change = whole - coefficients(design, weights, [k for k in range(n) if k not in gone])
            changes.append(change @ values)
            alike.append(sum(change**2 / weights))
        count = len(changes)
        parts[kinds] = (count - 1) / count * sum(one**2 for one in changes)
        if len(kinds) == 1:
            dfs.append(max(1.0, sum(alike) ** 2 / sum(one**2 for one in alike) - 2))
    signed = {kinds: (-1) ** (len(kinds) + 1) * part for kinds, part in parts.items()}
    variance = max(sum(signed.values()), parts[max(parts, key=len)])
    own = [sum(part for kinds, part in signed.items() if {*kinds} == {w}) for w in range(len(ways))]
    spread = sum(max(0.0, one) ** 2 / df for one, df in zip(own, dfs, strict=True))
    df = max(min(dfs), variance**2 / spread if spread else 0.0)
    return whole @ values, variance**0.5, df


def pairs(seed, n=60):
    """Sentence pairs: a frame and two occupations each, which pairs share."""
    rng = np.random.default_rng(seed)
    frames, first = rng.integers(0, 20, n), rng.integers(0, 12, n)
    nodes = np.column_stack([first, (first + rng.integers(1, 12, n)) % 12])
    of_node = rng.normal(size=12)
    values = 0.4 + rng.normal(size=20)[frames] + of_node[nodes].sum(axis=1) + rng.normal(size=n)
    return rng, values, frames, nodes


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("of", ["mean", "signs", "sides"])
@pytest.mark.parametrize("kind", ["frames", "frames, nodes", "nodes", "frames, items"])
def test_it_is_leaving_out_one_group_after_another(kind, of, weighted):
    for seed in range(3):
        rng, values, frames, nodes = pairs(seed)
        known = {"frames": frames, "nodes": nodes, "items": rng.integers(0, 9, 60)}
        ways = [known[name] for name in kind.split(", ")]
        weights = rng.uniform(0.2, 2, 60) if weighted else None
        side = rng.choice([1.0, -1.0], 60) / (1 if of == "signs" else 2)
        design = None if of == "mean" else np.column_stack([side, np.ones(60)])
        ours = jackknife(values, ways, design=design, weights=weights)
        theirs = by_hand(
            values,
            ways,
            np.ones((60, 1)) if design is None else design,
            np.ones(60) if weights is None else weights,
        )
        assert ours == pytest.approx(theirs, rel=1e-8)


def test_groups_of_one_give_the_classic_error():
    values = np.random.default_rng(3).normal(0.3, 1, 40)
    ours = jackknife(values, [np.arange(40)])
    assert ours.difference / ours.se == pytest.approx(stats.ttest_1samp(values, 0).statistic)
    assert ours.df == pytest.approx(38)


def test_with_one_label_a_way_it_is_cameron_gelbach_and_millers():
    """In a whole table groups are of one size, and statsmodels' correction is the jackknife's."""
    rng = np.random.default_rng(4)
    table = rng.normal(size=(9, 1)) + rng.normal(size=(1, 7)) + rng.normal(size=(9, 7))
    ways = [one.ravel() for one in np.indices(table.shape)]
    ours = jackknife(table.ravel(), ways)
    clusters = {"cov_type": "cluster", "cov_kwds": {"groups": np.column_stack(ways)}}
    theirs = sm.OLS(table.ravel(), np.ones(63)).fit(**clusters)
    assert ours[:2] == pytest.approx((theirs.params[0], theirs.bse[0]))


def test_nodes_are_the_same_in_either_place_and_groups_by_any_name():
    rng, values, frames, nodes = pairs(5)
    ours = jackknife(values, [frames, nodes])
    turned = np.where(rng.random(60)[:, None] < 0.5, nodes, nodes[:, ::-1])
    assert jackknife(values, [frames, turned]) == pytest.approx(ours)
    names = np.array([f"occupation {one}" for one in rng.permutation(12)])
    assert jackknife(values, [frames.astype(str), names[nodes]]) == pytest.approx(ours)
    order = rng.permutation(60)
    assert jackknife(values[order], [frames[order], nodes[order]]) == pytest.approx(ours)
    assert jackknife(3 - 2 * values, [frames, nodes]) == pytest.approx(
        (3 - 2 * ours.difference, 2 * ours.se, ours.df)
    )
    # As two ways, an occupation that refers here and not there would be two occupations.
    apart = jackknife(values, [frames, nodes[:, 0], nodes[:, 1]])
    assert apart.se != pytest.approx(ours.se, rel=0.01)
    with pytest.raises(ValueError, match="the same label twice"):
        jackknife(values, [np.column_stack([frames, frames])])


def test_a_values_own_variance_counts_once():
    """Of 50 values with nodes that no other has, those of a mean are left: Σd², not twice that."""
    values = np.random.default_rng(6).normal(size=50)
    ours = jackknife(values, [np.arange(100).reshape(50, 2)])
    assert ours.se**2 == pytest.approx(values.var(ddof=1) / 50 * 50 / 49)


def test_the_variance_does_not_fall_below_that_of_values_that_share_everything():
    """Rows and columns whose means are all alike: what they share cancels, and cells are left."""
    table = np.outer([1.0, -1, 1, -1, 1, -1], [1.0, -1, 1, -1, 1, -1]) + 5
    ours = jackknife(table.ravel(), [one.ravel() for one in np.indices(table.shape)])
    assert ours[:2] == pytest.approx((5, np.std(table, ddof=1) / 6))


def test_a_weight_is_as_many_values_of_the_same_groups():
    rng, values, frames, nodes = pairs(7)
    times = rng.integers(1, 4, 60)
    design = np.column_stack([rng.choice([-1.0, 1.0], 60), np.ones(60)])
    weighted = jackknife(values, [frames, nodes], design=design, weights=times.astype(float))
    often = np.repeat(np.arange(60), times)
    repeated = jackknife(values[often], [frames[often], nodes[often]], design=design[often])
    assert weighted == pytest.approx(repeated)


def test_what_is_common_to_both_signs_has_no_part_in_a_preference():
    """A model that always prefers one pronoun prefers no stereotype."""
    rng, values, frames, nodes = pairs(8)
    signs = rng.choice([-1.0, 1.0], 60)
    design = np.column_stack([signs, np.ones(60)])
    before, after = (
        jackknife((values + shift * signs) * signs, [frames, nodes], design=design)
        for shift in (0, 5)
    )
    assert after == pytest.approx(before)
    assert before.difference == pytest.approx(
        (values[signs > 0].mean() + values[signs < 0].mean()) / 2
    )


def test_a_group_that_holds_a_whole_side_leaves_an_error():
    values = np.random.default_rng(9).normal(size=20)
    side = np.repeat([0.5, -0.5], 10)
    groups = np.r_[np.arange(10), np.full(10, 11)]
    design = np.column_stack([side, np.ones(20)])
    found = jackknife(values, [groups, np.arange(20) % 7], design=design)
    assert found.difference == pytest.approx(values[:10].mean() - values[10:].mean())
    assert 0 < found.se < 10
    assert found.df >= 1
