"""A share of a model minus a share of people, with an interval from both sides.

The model's share is the mean over the wordings in which it was asked, its error by their spread
(SD/√W, W − 1 degrees of freedom). The people's has the error of their interval and n − 1 degrees of
freedom. Both errors are independent: SE² is their sum, and t has the degrees of freedom of Welch
(1947). With one wording nothing says what another would change: the model's share is then taken as
given.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from goffman.records import Estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

GIVEN = "respondents, with the model's one wording taken as given"
BOTH = "respondents, and the model's wordings"


@dataclass(frozen=True, kw_only=True)
class People:
    """A number of people and what it is worth."""

    value: float
    error: float
    """Standard error."""
    n: float
    """Respondents, as many as would be as sure if drawn one by one."""


def minus_people(wordings: Sequence[float], people: People, *, contrast: str) -> Estimate:
    """The mean of a model's numbers, one for each wording, minus that of people."""
    values = np.array(wordings, dtype=np.float64)
    count, level = len(values), 0.95
    base = Estimate(
        contrast=contrast,
        n=count,
        n_first=count,
        n_second=round(people.n),
        mean_first=float(values.mean()) if count else None,
        mean_second=people.value,
        level=level,
        method="interval and p: t after Welch, error of the model over wordings and of people",
        unit="wordings",
    )
    if not count or np.isnan(values).any():
        return _with(base, reason="the model has no value for one of its wordings")
    squared = float(values.var(ddof=1)) / count if count > 1 else 0.0
    error = math.sqrt(squared + people.error**2)
    difference = float(values.mean()) - people.value
    if error == 0:
        return _with(base, difference=difference, reason="neither side has an error")
    parts = people.error**4 / max(people.n - 1, 1) + (squared**2 / (count - 1) if count > 1 else 0)
    df = error**4 / parts
    reach = float(special.stdtrit(df, (1 + level) / 2)) * error
    p = 2 * float(special.stdtr(df, -abs(difference / error)))
    return _with(
        base,
        difference=difference,
        low=difference - reach,
        high=difference + reach,
        test="t after Welch",
        alternative="two-sided",
        statistic=difference / error,
        df=df,
        error=error,
        p=max(p, float(np.finfo(float).tiny)),
        interval_over=BOTH if count > 1 else GIVEN,
    )


def mean_of(people: Sequence[People]) -> People:
    """The mean of several answers of the same respondents.

    How the answers go together is not published. Their errors are added as if they went together
    wholly, which makes the error too large and never too small.
    """
    return People(
        value=float(np.mean([one.value for one in people])),
        error=float(np.mean([one.error for one in people])),
        n=min(one.n for one in people),
    )


def apart(first: People, second: People) -> People:
    """One number minus another, of different respondents."""
    return People(
        value=first.value - second.value,
        error=math.hypot(first.error, second.error),
        n=min(first.n, second.n),
    )


def _with(base: Estimate, **changes: object) -> Estimate:
    return replace(base, **changes)  # type: ignore[arg-type]
