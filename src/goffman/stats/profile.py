"""How far a model's numbers go with people's, condition by condition, with interval and p.

r is Pearson's, of the model's means and people's values as they are observed; Spearman's ρ is the
same of their ranks. Given a category, both are taken from their category's mean first, and what is
alone in its category says nothing. The interval is tanh(atanh r ± t·SE), and p is of atanh r / SE,

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
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import special, stats

from goffman.stats.correlation import NAMES, NO_SPREAD, ON_A_LINE
from goffman.stats.crossed import LEAST as LEAST_SAMPLED
from goffman.stats.estimate import Estimate
from goffman.stats.reliability import components, obstacle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

if TYPE_CHECKING:
    Values = NDArray[np.float64]

LEAST = 10
"""Conditions: of fewer the jackknife says too little."""

LEAST_RELIABLE = 0.3
"""Below this reliability a correction would more than blow up what is mostly noise."""

FEWEST_CLUSTERS = 6
"""Categories that the jackknife is over; with fewer it is over conditions."""

TRUE_SCORES = "r of true scores"

FIXED = "; treated as fixed: "
"""In ``interval_over``, before what was asked too seldom to be a sample."""

Coefficient = Literal["pearson", "spearman"]


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What a model and people say of the same conditions; no value is missing."""

    model: Values
    """A mean for each condition."""
    people: Values
    table: Values | None = None
    """Conditions × items × wordings, complete, whose means ``model`` is; None: there is none."""
    model_error: Values | None = None
    """Standard errors of ``model``, where there is no table."""
    people_error: Values | None = None
    """Standard errors of ``people``; None: not known."""
    clusters: Sequence[str] = field(default=())
    """The category of each condition, which it shares its errors with; empty: none is shared."""
    strata: Sequence[str] = field(default=())
    """The category of each condition, which is held constant; empty: none is."""

    def kept(self, these: NDArray[np.bool_]) -> Profile:
        """The same of these conditions."""
        parts = (self.table, self.model_error, self.people_error)
        table, model_error, people_error = (None if one is None else one[these] for one in parts)
        return Profile(
            model=self.model[these],
            people=self.people[these],
            table=table,
            model_error=model_error,
            people_error=people_error,
            clusters=[one for one, there in zip(self.clusters, these, strict=False) if there],
            strata=[one for one, there in zip(self.strata, these, strict=False) if there],
        )

    def reliability(self) -> tuple[float | None, float | None]:
        """Of the model's means and of people's values; None: not known."""
        model = _from_errors(self.model, self.model_error)
        if self.table is not None and obstacle(self.table) is None:
            model = components(self.table).generalizability
        return model, _from_errors(self.people, self.people_error)


def related(profile: Profile, coefficient: Coefficient, *, contrast: str) -> Estimate:
    """The correlation as the effect, that of true scores as the second, each with its interval."""
    profile, groups = _comparable(profile)
    n, given = len(profile.model), f", given {groups} categories" if groups > 1 else ""
    over = _over(profile)
    base = Estimate(
        contrast=contrast,
        n=n,
        n_first=n,
        n_second=n,
        mean_first=float(profile.model.mean()) if n else None,
        mean_second=float(profile.people.mean()) if n else None,
        level=0.95,
        test=f"t of atanh {NAMES[coefficient]}{given}",
        alternative="two-sided",
        effect_name=f"{NAMES[coefficient]}{given}",
        method=f"interval and p: jackknife over {over}, on Fisher's z; of observed numbers",
        unit="conditions",
        interval_over=over,
    )
    few = f"it takes {LEAST} conditions that can be compared"
    if n < 2:
        return _without(base, few)
    one, other = _deviations(profile, coefficient)
    if min(np.ptp(one), np.ptp(other)) == 0:
        return _without(base, NO_SPREAD)
    r = float(_r(one, other))
    if n < max(LEAST, groups + LEAST - 1):
        return _without(base, few, effect=r)
    if 1 - abs(r) < 1e-12:
        return _without(base, ON_A_LINE, effect=r)
    return _tested(base, profile, r, coefficient=coefficient)


def _tested(base: Estimate, profile: Profile, r: float, *, coefficient: Coefficient) -> Estimate:
    left_out, df = _leaving_one_out(profile, coefficient)
    by_conditions = float((left_out**2).sum())
    by_sentences, sentence_df = sentence_variance(profile)
    by_sentences /= (1 - r * r) ** 2
    squared = by_conditions + by_sentences
    if not math.isfinite(squared) or squared == 0:
        return _without(base, ON_A_LINE, effect=r)
    df_all = squared**2 / (by_conditions**2 / df + by_sentences**2 / sentence_df)
    error, z = math.sqrt(squared), math.atanh(r)
    reach = float(special.stdtrit(df_all, (1 + (base.level or 0.95)) / 2)) * error
    low, high = math.tanh(z - reach), math.tanh(z + reach)
    p = 2 * float(special.stdtr(df_all, -abs(z / error)))
    found: dict[str, object] = {"effect": r, "effect_low": low, "effect_high": high}
    found |= {"statistic": z / error, "df": df_all, "p": max(p, float(np.finfo(float).tiny))}
    tested = _with(base, **found)
    few = profile.table is not None and profile.table.shape[1] < LEAST_SAMPLED
    if coefficient == "spearman" or few:
        # How far two items agree says little of how far others would.
        return tested
    model, people = profile.reliability()
    corrected = of_true_scores(tested, model, 1.0 if people is None else people)
    if people is None and corrected.second_effect is not None:
        # Taken as 1 it makes the correction too small, never too large.
        corrected = _with(corrected, second_effect_name=f"{TRUE_SCORES}, model's side")
    return corrected


def of_true_scores(found: Estimate, one: float | None, other: float | None) -> Estimate:
    """The correlation, and beside it that without what both sides measure imprecisely.

    ``one``, ``other``: their reliabilities; as it was where either is not known, or too low.
    """
    if found.effect is None or one is None or other is None or min(one, other) < LEAST_RELIABLE:
        return found
    by = math.sqrt(one * other)
    value, low, high = (
        None if end is None else max(-1.0, min(1.0, end / by))
        for end in (found.effect, found.effect_low, found.effect_high)
    )
    return _with(
        found,
        second_effect=value,
        second_effect_name=TRUE_SCORES,
        second_effect_low=low,
        second_effect_high=high,
    )


def _from_errors(values: Values, errors: Values | None) -> float | None:
    """The share of the variance that is not error; None: the errors are not known."""
    if errors is None or np.isnan(errors).any() or len(values) < 2 or np.ptp(values) == 0:
        return None
    return max(0.0, 1.0 - float((errors**2).mean() / values.var(ddof=1)))


def _comparable(profile: Profile) -> tuple[Profile, int]:
    """Without the conditions that are alone in their category; and how many categories are left."""
    if not profile.strata:
        return profile, 1
    of = np.array(profile.strata)
    names, counts = np.unique(of, return_counts=True)
    kept = profile.kept(np.isin(of, names[counts > 1]))
    return kept, len({*kept.strata})


def _over(profile: Profile) -> str:
    """Return what the interval takes as sampled, and what it takes as given."""
    table = profile.table
    units = "conditions by category" if _by_category(profile) else "conditions"
    sizes = {"items": 1, "wordings": 1} if table is None else _sizes(table)
    names = [units, *(name for name, size in sizes.items() if size >= LEAST_SAMPLED)]
    fixed = [f"{size} {name}" for name, size in sizes.items() if 1 < size < LEAST_SAMPLED]
    said = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{said}{FIXED}{' and '.join(fixed)}" if fixed else said


def _sizes(table: Values) -> dict[str, int]:
    return dict(zip(("items", "wordings"), table.shape[1:], strict=True))


def _centered(values: Values, strata: Sequence[str]) -> Values:
    """Each value less the mean of its category; along the first axis."""
    if not len(strata):
        return np.asarray(values - values.mean(axis=0), dtype=np.float64)
    found, of = np.empty_like(values), np.array(strata)
    for name in np.unique(of):
        found[of == name] = values[of == name] - values[of == name].mean(axis=0)
    return found


def _deviations(profile: Profile, coefficient: Coefficient) -> tuple[Values, Values]:
    model, people = profile.model, profile.people
    if coefficient == "spearman":
        model, people = stats.rankdata(model), stats.rankdata(people)
    return _centered(model, profile.strata), _centered(people, profile.strata)


def _r(one: Values, other: Values) -> float:
    """Of deviations."""
    return float(one @ other / math.sqrt(float(one @ one) * float(other @ other)))


def _by_category(profile: Profile) -> bool:
    """Return whether whole categories are left out: there are enough, and some hold several."""
    return FEWEST_CLUSTERS <= len({*profile.clusters}) < len(profile.clusters)


def _leaving_one_out(profile: Profile, coefficient: Coefficient) -> tuple[Values, float]:
    """Return what leaving out each category in turn changes in Fisher's z, and its df.

    The squares of the changes add up to the jackknife's variance.
    """
    n = len(profile.model)
    of = np.array(profile.clusters) if _by_category(profile) else np.arange(n)
    names, sizes = np.unique(of, return_counts=True)
    kept = [_deviations(profile.kept(of != name), coefficient) for name in names]
    z = np.array([math.atanh(_r(*one)) for one in kept if min(map(np.ptp, one)) > 0])
    shares = sizes / np.maximum(n - sizes, 1)
    df = max(1.0, float(shares.sum() ** 2 / (shares**2).sum()) - 2)
    return np.asarray((z - z.mean()) * math.sqrt((len(z) - 1) / len(z))), df


def sentence_variance(profile: Profile) -> tuple[float, float]:
    """V_sentences of r, before Fisher's z, and its degrees of freedom; 0 without a table."""
    if profile.table is None:
        return 0.0, math.inf
    few = tuple(axis for axis in (1, 2) if profile.table.shape[axis] < LEAST_SAMPLED)
    table = profile.table.mean(axis=few, keepdims=True)
    if max(table.shape[1:]) == 1:
        return 0.0, math.inf
    n, items, wordings = table.shape
    people = _centered(profile.people, profile.strata)
    people = people / math.sqrt(float((people**2).mean()))
    cells = _centered(table, profile.strata)
    slopes = np.einsum("c,ciw->iw", people, cells) / n
    residuals = cells - people[:, None, None] * slopes
    free = n - max(1, len({*profile.strata})) - 1
    of_slopes = _mean_squares(slopes[None], 1)
    of_cells = _mean_squares(residuals, free)
    at = np.array([1.0, 1.0, -1.0])
    total = float(at @ of_slopes) / (items * wordings)
    counted = float(at @ of_cells) / (items * wordings * n)
    spread = float((_centered(profile.model, profile.strata) ** 2).mean())
    ways = np.array([items - 1, wordings - 1, (items - 1) * (wordings - 1)], dtype=np.float64)
    parts = (of_slopes / (items * wordings)) ** 2 / np.maximum(ways, 1)
    df = total**2 / float(parts.sum()) if total > 0 else math.inf
    return max(0.0, total - counted) / spread, max(df, 1.0)


def _mean_squares(table: Values, free: int) -> Values:
    """MS of items, of wordings and of both together; 0 for a way that has one level only.

    ``free``: the degrees of freedom of the first axis.
    """
    _, items, wordings = table.shape
    whole = table.mean(axis=(1, 2), keepdims=True)
    by_item = table.mean(axis=2, keepdims=True) - whole
    by_wording = table.mean(axis=1, keepdims=True) - whole
    rest = table - whole - by_item - by_wording
    sums = (
        (wordings * (by_item**2).sum(), items - 1),
        (items * (by_wording**2).sum(), wordings - 1),
        ((rest**2).sum(), (items - 1) * (wordings - 1)),
    )
    return np.array([float(total) / (ways * free) if ways else 0.0 for total, ways in sums])


def _without(base: Estimate, reason: str, **more: object) -> Estimate:
    return _with(base, reason=reason, interval_over=None, **more)


def _with(base: Estimate, **changes: object) -> Estimate:
    return replace(base, **changes)  # type: ignore[arg-type]
