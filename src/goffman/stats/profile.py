"""Correlation of a model's numbers with people's over conditions, with interval and p.

r is Pearson's, of the model's means and people's values as they are observed; Spearman's ρ is the
same of their ranks. Given a category, both are taken from their category's mean first, and a
condition alone in its category is left out. The interval is tanh(atanh r ± t·SE), and p is of
atanh r / SE,

    SE² = V_conditions + V_sentences.

V_conditions is the jackknife's over categories of conditions, which are left out whole (Efron &
Stein 1981; Gray & Schucany 1972); a condition without a category is one of its own. It needs no
normal distribution: people's ratings are skewed. It also holds what both sides measure imprecisely,
as far as that differs by condition. Its degrees of freedom are the effective number of categories,
(Σ a)² / Σ a² with a = m/(n − m) for a category of m conditions, less two. Where there are fewer
than six categories, which say too little of how they vary, single conditions are left out.
V_sentences is what other items and wordings would change: with b_iw the slope of the model's
numbers on people's at one sentence,

    (MS_i + MS_w − MS_iw)/(I·W) of b  −  (MS_ci + MS_cw − MS_e)/(I·W·n) of the residuals,

never below 0, in units of r; the second part is in V_conditions already. Fewer than three items, or
wordings, are no sample of such and are taken as given (see crossed.py). t has the degrees of
freedom of Satterthwaite (1946). Without V_sentences, 31 of 100 such intervals miss where slopes
differ by sentence.

Interval and p are of the correlation of *observed* numbers. Beside it stands that of true scores,
r/√(reliability of the model × reliability of people) (Spearman 1904), its interval's ends divided
by the same, both reliabilities taken as known.

Which conditions lie further from a line through all of them than the others' scatter explains is
said by externally studentized residuals of a least-squares fit (Cook & Weisberg 1982): with e the
residual, h its leverage and s₍₋ᵢ₎ the scatter of the others about the line without it,
t = e/(s₍₋ᵢ₎√(1−h)) has n − k − 2 degrees of freedom, k columns beside the constant. p is two-sided,
corrected over all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import special, stats

from goffman.stats.crossed import LEAST as LEAST_SAMPLED
from goffman.stats.crossed import components, mean_square, obstacle, sampled_over
from goffman.stats.intervals import Estimate
from goffman.stats.two_samples import as_p

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Values = NDArray[np.float64]

NO_SPREAD = "one of the two measures has the same value everywhere"
ON_A_LINE = "all points are in perfect order, which gives no p-value and no interval"

FEWEST_POINTS = 4
"""With three points, Fisher's z has no error."""

LEAST = 10
"""The fewest conditions of which the jackknife says enough."""

LEAST_RELIABLE = 0.3
"""Below this reliability a correction would mostly amplify noise."""

FEWEST_CLUSTERS = 6
"""The fewest categories that the jackknife is over; with fewer it is over conditions."""

TRUE_SCORES = "r of true scores"

Coefficient = Literal["pearson", "spearman"]
NAMES = {"pearson": "Pearson's r", "spearman": "Spearman's ρ"}


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A model's and people's numbers for the same conditions; no value is missing."""

    model: Values
    """A mean for each condition."""
    people: Values
    table: Values | None = None
    """Conditions × items × wordings, complete, whose means are ``model``; None: there is none."""
    model_error: Values | None = None
    """Standard errors of ``model``, if there is no table."""
    people_error: Values | None = None
    """Standard errors of ``people``; None: unknown."""
    clusters: Sequence[str] = ()
    """The category of each condition, with which it shares its errors; empty: errors are not
    shared."""
    strata: Sequence[str] = ()
    """The category of each condition, which is held constant; empty: no category is."""

    def kept(self, these: NDArray[np.bool_]) -> Profile:
        """Return the profile of these conditions alone."""
        parts: dict[str, Any] = {
            name: values[these] if isinstance(values, np.ndarray) else [*compress(values, these)]
            for name, values in vars(self).items()
            if values is not None
        }
        return Profile(**parts)

    def reliability(self) -> tuple[float | None, float | None]:
        """Return the reliability of the model's means and of people's values; None if unknown."""
        model = _from_errors(self.model, self.model_error)
        if self.table is not None and obstacle(self.table) is None:
            model = components(self.table).generalizability
        return model, _from_errors(self.people, self.people_error)


def pearson(first: Sequence[float], second: Sequence[float], *, contrast: str = "") -> Estimate:
    """Return r of units taken as independent: t = r √((n − 2) / (1 − r²)), interval by Fisher's z.

    The ends are tanh(atanh r ± 1.96 / √(n − 3)).
    """
    n, df = len(first), len(first) - 2
    estimate = Estimate(
        contrast=contrast,
        n=n,
        n_first=n,
        n_second=n,
        effect_name=NAMES["pearson"],
        method="Pearson's r of independent conditions: t, and interval by Fisher's z",
        unit="conditions",
    )
    if n < FEWEST_POINTS:
        return replace(estimate, reason="there are fewer than four points")
    if min(np.ptp(first), np.ptp(second)) == 0:
        return replace(estimate, reason=NO_SPREAD)
    r = _r(*(np.array(side) - np.mean(side) for side in (first, second)))
    if 1 - abs(r) < 1e-12:
        return replace(estimate, effect=r, reason=ON_A_LINE)
    t, half = r * (df / (1 - r**2)) ** 0.5, float(special.ndtri(0.975)) / (n - 3) ** 0.5
    low, high = (float(np.tanh(np.arctanh(r) + end)) for end in (-half, half))
    return replace(
        estimate,
        level=0.95,
        effect=r,
        effect_low=low,
        effect_high=high,
        test="t of r",
        alternative="two-sided",
        statistic=t,
        df=float(df),
        p=as_p(2 * float(special.stdtr(df, -abs(t)))),
        interval_over="conditions",
    )


def related(profile: Profile, coefficient: Coefficient, *, contrast: str) -> Estimate:
    """Return the correlation as first effect, that of true scores as second, with intervals."""
    groups = 1
    if profile.strata:
        # A condition alone in its category would be 0 on both sides.
        names, counts = np.unique(profile.strata, return_counts=True)
        profile = profile.kept(np.isin(profile.strata, names[counts > 1]))
        groups = len({*profile.strata})
    n, suffix = len(profile.model), f", given {groups} categories" if groups > 1 else ""
    shape = () if profile.table is None else profile.table.shape[1:]
    units = "conditions by category" if _by_category(profile) else "conditions"
    over = sampled_over(units, dict(zip(("items", "wordings"), shape, strict=False)))
    estimate = Estimate(
        contrast=contrast,
        n=n,
        n_first=n,
        n_second=n,
        mean_first=float(profile.model.mean()) if n else None,
        mean_second=float(profile.people.mean()) if n else None,
        level=0.95,
        test=f"t of atanh {NAMES[coefficient]}{suffix}",
        alternative="two-sided",
        effect_name=f"{NAMES[coefficient]}{suffix}",
        method=f"interval and p: jackknife over {over}, on Fisher's z; of observed numbers",
        unit="conditions",
        interval_over=over,
    )
    reason = f"it takes {LEAST} conditions that can be compared"
    untested = replace(estimate, interval_over=None)
    if n < 2:
        return replace(untested, reason=reason)
    model, people = _deviations(profile, coefficient)
    if min(np.ptp(model), np.ptp(people)) == 0:
        return replace(untested, reason=NO_SPREAD)
    r = _r(model, people)
    if n < max(LEAST, groups + LEAST - 1):
        return replace(untested, effect=r, reason=reason)
    tested = None if 1 - abs(r) < 1e-12 else _tested(estimate, profile, r, coefficient=coefficient)
    return tested or replace(untested, effect=r, reason=ON_A_LINE)


def _tested(
    base: Estimate, profile: Profile, r: float, *, coefficient: Coefficient
) -> Estimate | None:
    """Return the estimate with interval and p; None if the variance is 0 or infinite."""
    by_conditions, df = _jackknifed(profile, coefficient)
    by_sentences, sentence_df = sentence_variance(profile)
    by_sentences /= (1 - r * r) ** 2
    squared = by_conditions + by_sentences
    if not math.isfinite(squared) or squared == 0:
        return None
    df_all = squared**2 / (by_conditions**2 / df + by_sentences**2 / sentence_df)
    error, z = math.sqrt(squared), math.atanh(r)
    reach = float(special.stdtrit(df_all, (1 + (base.level or 0.95)) / 2)) * error
    estimate = replace(
        base,
        effect=r,
        effect_low=math.tanh(z - reach),
        effect_high=math.tanh(z + reach),
        statistic=z / error,
        df=df_all,
        p=as_p(2 * float(special.stdtr(df_all, -abs(z / error)))),
    )
    few_items = profile.table is not None and profile.table.shape[1] < LEAST_SAMPLED
    if coefficient == "spearman" or few_items:
        # Two items are too few to estimate the model's reliability.
        return estimate
    model, people = profile.reliability()
    corrected = of_true_scores(estimate, model, 1.0 if people is None else people)
    if people is None and corrected.second_effect is not None:
        # People's reliability, if unknown, counts as 1: the correction is too small, if wrong.
        return replace(corrected, second_effect_name=f"{TRUE_SCORES}, model's side")
    return corrected


def of_true_scores(observed: Estimate, *reliabilities: float | None) -> Estimate:
    """Return the correlation with that of true scores added, corrected for both sides' imprecision.

    It is unchanged if the reliability of either side is unknown or too low.
    """
    usable = [value for value in reliabilities if value is not None and value >= LEAST_RELIABLE]
    if observed.effect is None or len(usable) < 2:
        return observed
    value, low, high = (
        None if end is None else max(-1.0, min(1.0, end / math.sqrt(math.prod(usable))))
        for end in (observed.effect, observed.effect_low, observed.effect_high)
    )
    return replace(
        observed,
        second_effect=value,
        second_effect_name=TRUE_SCORES,
        second_effect_low=low,
        second_effect_high=high,
    )


def _from_errors(values: Values, errors: Values | None) -> float | None:
    """Return the reliability: the share of variance that is not error; None if it is unknown."""
    if errors is None or np.isnan(errors).any() or len(values) < 2 or np.ptp(values) == 0:
        return None
    return max(0.0, 1.0 - float((errors**2).mean() / values.var(ddof=1)))


def _centered(values: Values, strata: Sequence[str]) -> Values:
    centered, labels = np.empty_like(values), np.array(strata or [""] * len(values))
    for mask in (labels == name for name in np.unique(labels)):
        centered[mask] = values[mask] - values[mask].mean(axis=0)
    return centered


def _deviations(profile: Profile, coefficient: Coefficient) -> tuple[Values, Values]:
    """Return the model's and people's values, or their ranks, minus their category's mean."""
    model, people = profile.model, profile.people
    if coefficient == "spearman":
        model, people = stats.rankdata(model), stats.rankdata(people)
    return _centered(model, profile.strata), _centered(people, profile.strata)


def _r(model: Values, people: Values) -> float:
    return float(model @ people / math.sqrt(float(model @ model) * float(people @ people)))


def _by_category(profile: Profile) -> bool:
    """Return whether the jackknife leaves out whole categories, as it does if there are enough."""
    return FEWEST_CLUSTERS <= len({*profile.clusters}) < len(profile.clusters)


def _jackknifed(profile: Profile, coefficient: Coefficient) -> tuple[float, float]:
    """Return the variance of Fisher's z by leaving out each category in turn, and its df."""
    n = len(profile.model)
    labels = np.array(profile.clusters) if _by_category(profile) else np.arange(n)
    names, sizes = np.unique(labels, return_counts=True)
    deviations = [_deviations(profile.kept(labels != name), coefficient) for name in names]
    z = np.array([math.atanh(_r(*sides)) for sides in deviations if min(map(np.ptp, sides)) > 0])
    shares = sizes / np.maximum(n - sizes, 1)
    df = max(1.0, float(shares.sum() ** 2 / (shares**2).sum()) - 2)
    return float(((z - z.mean()) ** 2).sum() * (len(z) - 1) / len(z)), df


def sentence_variance(profile: Profile) -> tuple[float, float]:
    """Return V_sentences of r, before Fisher's z, and its degrees of freedom; 0 without a table."""
    if profile.table is None:
        return 0.0, math.inf
    sampled = tuple(axis for axis in (1, 2) if profile.table.shape[axis] >= LEAST_SAMPLED)
    if not sampled:
        return 0.0, math.inf
    table = profile.table.mean(axis=tuple({1, 2} - {*sampled}), keepdims=True)
    n, items, wordings = table.shape
    people = _centered(profile.people, profile.strata)
    people = people / math.sqrt(float((people**2).mean()))
    cells = _centered(table, profile.strata)
    slopes = np.einsum("c,ciw->iw", people, cells)[None] / n
    residuals = cells - people[:, None, None] * slopes
    free = n - max(1, len({*profile.strata})) - 1
    total = counted = below = 0.0
    # Items and wordings each add their variance; their interaction is in both, so taken off once.
    for source in dict.fromkeys([(sampled[0],), (sampled[-1],), sampled]):
        sign = 1 if len(source) == 1 else -1
        part = mean_square(slopes, source, free=1) / (items * wordings)
        total += sign * part
        counted += sign * mean_square(residuals, source, free=free) / (items * wordings * n)
        below += part**2 / math.prod(table.shape[axis] - 1 for axis in source)
    df = total**2 / below if total > 0 else math.inf
    spread = float((_centered(profile.model, profile.strata) ** 2).mean())
    return max(0.0, total - counted) / spread, max(df, 1.0)


SPARE = 10
"""The fewest conditions needed beyond the number of columns."""


def residuals(values: Values, columns: Values) -> dict[str, Values] | None:
    """Return the residuals of values on columns (conditions × columns), and R² as ``explained``.

    The arrays are by name, with a number for each condition. The result is None with too few
    conditions, or if the columns explain all.
    """
    n, k = columns.shape
    if n < k + SPARE or np.ptp(values) == 0:
        return None
    design = np.column_stack([np.ones(n), columns])
    basis, triangle = np.linalg.qr(design)
    if np.abs(np.diag(triangle)).min() < 1e-10 * np.abs(np.diag(triangle)).max():
        return None
    predicted = basis @ (basis.T @ values)
    residual = values - predicted
    leverage_complement = 1 - (basis**2).sum(axis=1)
    total = float(residual @ residual)
    df = n - k - 2
    variances = (total - residual**2 / np.maximum(leverage_complement, 1e-12)) / df
    if total < 1e-20 or (variances <= 0).any() or (leverage_complement < 1e-9).any():
        return None
    t = residual / np.sqrt(variances * leverage_complement)
    p = np.maximum(2 * special.stdtr(df, -np.abs(t)), np.finfo(float).tiny)
    explained = 1 - total / float(((values - values.mean()) ** 2).sum())
    return {
        "predicted": predicted,
        "residual": residual,
        "statistic": t,
        "p": p,
        "p_adjusted": stats.false_discovery_control(p),
        "explained": np.full(n, explained),
    }
