"""A share of a model minus a share of people, with an interval from both sides.

What is compared is θ = Σ wᵢ·pᵢ over parts that vary by themselves: the model's share, or its share
about a man and that about a woman, and people's. From each part's own ends lᵢ and uᵢ the interval
is put together by MOVER (Zou & Donner 2008; of two shares it is Newcombe's 1998 interval):

    low = θ − √Σ dᵢ²,  dᵢ = wᵢ(pᵢ − lᵢ) where wᵢ > 0, else wᵢ(pᵢ − uᵢ);  high likewise

The model's ends are Wilson's, for as many replies as say something: a share of replies is a sample
of what the model would reply, and four of four is no certainty. The mean over k questions, or over
k prompts of a question, has those of k²/Σ 1/nᵢ replies. Wilson's ends know nothing of questions,
orders and people described that differ in their shares, and are then rather too wide; put together
question by question they would be too narrow (four replies to each of seven: 86 to 91 of 100 such
intervals held the mean). A probability is known exactly, and has no error. p is that of the
interval which just leaves out 0. Wordings, orders, names and descriptions are those that were
asked; no part is for others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import optimize, special

from goffman.stats.estimate import Estimate
from goffman.stats.intervals import Z, share_interval

NEAREST, FARTHEST = 1e-6, 37.0
"""Standard errors; p is 1 of what lies nearer to 0, and too small to be written of the farther."""

REPLIES = "the model's replies and respondents"
GIVEN = "respondents, with the model's probabilities taken as given"


@dataclass(frozen=True, kw_only=True)
class People:
    """A share of people, or what such shares come to, with its 95% interval."""

    value: float
    low: float
    high: float
    n: float
    """Respondents, as many as would be as sure if drawn one by one."""


@dataclass(frozen=True, kw_only=True)
class Share:
    """A share of a model's answers."""

    value: float
    replies: int | None = None
    """How many it is of; None: it is a probability."""
    worth: float | None = None
    """How many would be as sure, where they are not spread evenly over questions; None: as many as
    there are."""

    def ends(self, z: float) -> tuple[float, float]:
        """Wilson's (1927), z standard errors away."""
        if self.replies is None:
            return self.value, self.value
        return share_interval(self.value, self.worth or self.replies, z=z)


Weighted = Sequence[tuple[float, Share]]


def mean_share(shares: Sequence[Share]) -> Share:
    """The mean over questions."""
    value = float(np.mean([share.value for share in shares]))
    counts = [share.replies for share in shares if share.replies is not None]
    if not counts:
        return Share(value=value)
    worth = sum(1 / n for share in shares if (n := share.worth or share.replies))
    return Share(value=value, replies=sum(counts), worth=len(counts) ** 2 / worth)


def minus_people(
    model: Weighted, people: People, *, contrast: str, level: float = 0.95
) -> Estimate:
    """Return the model's number minus people's."""
    value = sum(weight * share.value for weight, share in model)
    replies = [share.replies for _, share in model if share.replies is not None]
    n = sum(replies) if replies else len(model)
    difference = value - people.value
    base = Estimate(
        contrast=contrast,
        n=n,
        n_first=n,
        n_second=round(people.n),
        mean_first=value,
        mean_second=people.value,
        difference=difference,
        level=level,
        method="interval and p: MOVER, from Wilson's ends of each share",
        unit="replies" if replies else "questions",
    )
    low, high = ends(model, people, float(special.ndtri((1 + level) / 2)))
    if low == high:
        return replace(base, reason="neither side has an error")
    p = _p(model, people, difference)
    return replace(
        base,
        low=low,
        high=high,
        test="score interval that leaves out 0",
        alternative="two-sided",
        statistic=math.copysign(float(-special.ndtri(p / 2)), difference),
        p=p,
        interval_over=REPLIES if replies else GIVEN,
    )


def side(model: Weighted, *, contrast: str) -> Estimate:
    """The model's number alone, with its interval; without one where it is known exactly."""
    none = People(value=0.0, low=0.0, high=0.0, n=0.0)
    estimate = minus_people(model, none, contrast=contrast)
    # There is one side: what it is made of stands in the place of two.
    first, second = (share.value for _, share in model)
    over = None if estimate.low is None else "the model's replies"
    return replace(estimate, mean_first=first, mean_second=second, interval_over=over)


def people_side(first: People, second: People, *, contrast: str) -> Estimate:
    """What people said of one minus what they said of another, with its interval."""
    both = apart(first, second)
    return Estimate(
        contrast=contrast,
        n=round(both.n),
        n_first=round(first.n),
        n_second=round(second.n),
        left_out=0,
        mean_first=first.value,
        mean_second=second.value,
        difference=both.value,
        low=both.low,
        high=both.high,
        level=0.95,
        method="interval: MOVER, from the ends of each share",
        unit="respondents",
        interval_over="respondents",
    )


def ends(model: Weighted, people: People, z: float) -> tuple[float, float]:
    """The interval of the model's number minus people's, z standard errors away."""
    parts = [(weight, share.value, *share.ends(z)) for weight, share in model]
    # People's ends are given at 95%, and taken to widen in proportion.
    by, value = z / Z, people.value
    low, high = value - (value - people.low) * by, value + (people.high - value) * by
    return _mover([*parts, (-1, value, low, high)])[1:]


def _mover(parts: Iterable[tuple[float, float, float, float]]) -> tuple[float, float, float]:
    """Return the weighted sum of values, given each with its ends, and the ends of the sum."""
    value, below, above = 0.0, [], []
    for weight, part, *its_ends in parts:
        value += weight * part
        offs = sorted(weight * (end - part) for end in its_ends)
        below.append(offs[0])
        above.append(offs[1])
    return value, value - math.hypot(*below), value + math.hypot(*above)


def _p(model: Weighted, people: People, difference: float) -> float:
    """Two-sided: at this level the interval has its end at 0."""
    sign = math.copysign(1.0, difference)

    def left(z: float) -> float:
        """How far the end that is nearer to 0 still is from it."""
        low, high = ends(model, people, z)
        return low if sign > 0 else -high

    if left(NEAREST) <= 0:
        return 1.0
    if left(FARTHEST) > 0:
        return float(np.finfo(float).tiny)
    z = optimize.brentq(left, NEAREST, FARTHEST)
    return max(2 * float(special.ndtr(-z)), float(np.finfo(float).tiny))


def widened(people: People, design_effect: float) -> People:
    """The share as it is, with ends farther off: its variance is so many times larger."""
    by, value = math.sqrt(design_effect), people.value
    low, high = value - (value - people.low) * by, value + (people.high - value) * by
    return replace(people, low=max(0.0, low), high=min(1.0, high))


def nearer(people: People, by: float) -> People:
    """The share, and its ends, drawn toward one half: so many times as far from it."""
    value, low, high = (0.5 + by * (end - 0.5) for end in (people.value, people.low, people.high))
    return replace(people, value=value, low=low, high=high)


def mean_of(people: Sequence[People]) -> People:
    """The mean of several answers of the same respondents.

    How the answers go together is not published. Their errors are added as if they went together
    wholly, which makes the error too large and never too small.
    """
    means = np.mean([(of.value, of.low, of.high) for of in people], axis=0).tolist()
    return People(value=means[0], low=means[1], high=means[2], n=min(of.n for of in people))


def apart(first: People, second: People) -> People:
    """One number minus another, of different respondents."""
    sides = ((1, first), (-1, second))
    value, low, high = _mover((sign, of.value, of.low, of.high) for sign, of in sides)
    return People(value=value, low=low, high=high, n=min(first.n, second.n))


def pooled(people: Sequence[People]) -> People:
    """One share of several surveys that asked the same: each by how many were asked."""
    n = sum(of.n for of in people)
    value, low, high = _mover((of.n / n, of.value, of.low, of.high) for of in people)
    return People(value=value, low=low, high=high, n=n)
