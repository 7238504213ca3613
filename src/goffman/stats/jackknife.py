"""A mean, a difference or a slope of values that share what they are made from.

Least squares, and how far its first coefficient b may be off, where values that have a label in
common (a frame, an occupation, an item, a category) are alike. What leaving out the values of a
group g changes is

    d_g = b − b₋g = B₀ (I − P_g B)⁻¹ s_g,     B = (X'WX)⁻¹, P_g = X_g'W_g X_g, s_g = X_g'W_g e_g,

without fitting anew, and a jackknife over G groups is J = (G−1)/G Σ_g d_g² (Bell & McCaffrey 2002).

**Variance.** Two values covary if they have any label in common. A value has one label in each way,
or several that are interchangeable (nodes: the two occupations of a sentence, whichever refers). By
inclusion and exclusion over the sets S of labels that a value may have in common with another,

    V = Σ_S (−1)^(|S|+1) J_S,

where the groups of J_S are the values that agree in such a set. Two values with m labels in common
are in 2^m − 1 of these, which add up to 1 for every m ≥ 1 and to 0 for m = 0. Of frames f and two
nodes that is V = J_f + J_node − J_(node,node) − J_(f,node) + J_(f,node,node): a value's own
variance, which is in J_node twice, is taken off once. With one label in each way this is
Cameron, Gelbach & Miller (2011), with nodes alone the dyadic variance of Fafchamps & Gubert (2007).

**Floor.** V is not let fall below the last part, that of the values which agree in every label:
what is shared may cancel, but not to less than what values that share nothing leave.

**Degrees of freedom.** Were the values independent with variances 1/weight, d_g would have the
variance a_g = B₀ (I − P_g B)⁻¹ P_g B₀'. So a way has (Σ a_g)² / Σ a_g² groups in effect, fewer than
in number where some are large, and f_w, its degrees of freedom, are two less (at least 1). With V_w
the variance of that way alone (nodes: J_node − J_(node,node)) and not below 0, those of V are
f = V² / Σ_w (V_w² / f_w) (Satterthwaite), but at least the least f_w.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from goffman.stats.crossed import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


SINGULAR = 1e-10
"""A singular value below this share of the largest comes from rounding."""


def jackknife(
    values: NDArray[np.float64],
    ways: Sequence[ArrayLike],
    *,
    design: NDArray[np.float64] | None = None,
    weights: NDArray[np.float64] | None = None,
) -> Interval:
    """Return the mean of the values, or the first coefficient of their regression on the design.

    ``ways``: an array of labels for each way of grouping: one label for each value (n), or several
    interchangeable ones (n × nodes). ``design`` (n × columns): [1] by default; [sign, 1] for the
    part that changes with the sign; [side, 1] with sides ½ and −½ for the difference of two means.
    ``weights``: the weight of each value, such as 1 / the number of its condition's values.
    """
    n = len(values)
    design = np.ones((n, 1)) if design is None else design
    weighted = design if weights is None else design * weights[:, None]
    bread = np.asarray(np.linalg.inv(weighted.T @ design), dtype=np.float64)
    fit = bread @ weighted.T @ values
    scores = weighted * (values - design @ fit)[:, None]
    products = weighted[:, :, None] * design[:, None, :]
    # Labels become numbers; a value's interchangeable labels are sorted.
    labels = [np.asarray(way).reshape(n, -1) for way in ways]
    coded = [
        np.sort(np.unique(way_labels, return_inverse=True)[1].reshape(way_labels.shape))
        for way_labels in labels
    ]
    if not all(np.diff(codes).all() for codes in coded):
        raise ValueError("a value has the same label twice in one way")
    variance, part, way_variances, dfs = 0.0, 0.0, np.zeros(len(ways)), np.ones(len(ways))
    for sizes in itertools.product(*(range(codes.shape[1] + 1) for codes in coded)):
        if not any(sizes):
            continue
        groups, indices = _groups(coded, sizes)
        shape = (groups.max() + 1, design.shape[1])
        sums, group_products = np.zeros(shape), np.zeros((*shape, shape[1]))
        np.add.at(sums, groups, scores[indices])
        np.add.at(group_products, groups, products[indices])
        # Without a group that holds all of one side, the design is singular, so pinv replaces inv.
        pull = bread[0] @ np.linalg.pinv(np.eye(shape[1]) - group_products @ bread, rcond=SINGULAR)
        part = float(((pull * sums).sum(axis=1) ** 2).sum()) * (shape[0] - 1) / shape[0]
        signed = part if sum(sizes) % 2 else -part
        variance += signed
        way = int(np.argmax(sizes))
        if sum(sizes) == sizes[way]:
            way_variances[way] += signed
        if sum(sizes) == 1:
            group_variances = (pull[:, None, :] @ group_products @ bread[0]).ravel()
            dfs[way] = max(1.0, group_variances.sum() ** 2 / (group_variances**2).sum() - 2)
    variance = max(variance, part)
    spread = float((np.maximum(way_variances, 0) ** 2 / dfs).sum())
    df = max(float(dfs.min()), float(variance**2 / spread) if spread else 0.0)
    return Interval(float(fit[0]), float(np.sqrt(variance)), df)


def _groups(
    coded: Sequence[NDArray[np.int64]], sizes: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the group numbers and the values of all groups that share ``sizes`` labels per way."""
    chosen = [
        itertools.combinations(codes.T, size) for codes, size in zip(coded, sizes, strict=True)
    ]
    base = max(int(codes.max()) for codes in coded) + 1
    keys = []
    for combination in itertools.product(*chosen):
        key = np.zeros(len(coded[0]), dtype=np.int64)
        for codes in itertools.chain(*combination):
            key = key * base + codes
        keys.append(key)
    groups = np.unique(np.concatenate(keys), return_inverse=True)[1]
    return groups, np.tile(np.arange(len(coded[0])), len(keys))
