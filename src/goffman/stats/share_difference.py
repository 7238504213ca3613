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
intervals held the mean). A probability is known exactly, and has no error.

Where the model's number is a mean over texts that describe the same, its ends are for other such
texts: t · s/√n, from the n numbers of single texts, but no nearer than those for other replies. p
is that of the interval which just leaves out 0. Wordings, orders and names are those that were
asked; no part is for others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import optimize, special

from goffman.stats.estimate import Estimate
from goffman.stats.intervals import Z, share_interval

NEAREST, FARTHEST = 1e-6, 37.0
"""Standard errors; p is 1 of what lies nearer to 0, and too small to be written of the farther."""

REPLIES = "the model's replies and respondents"
GIVEN = "respondents, with the model's probabilities taken as given"
TEXTS = "texts about the same, and respondents"


@dataclass(frozen=True, kw_only=True)
class People:
    """A share of people, or what such shares come to, with its 95% interval."""

    value: float
    low: float
    high: float
    n: float
    """Respondents, as many as would be as sure if drawn one by one."""


NOBODY = People(value=0.0, low=0.0, high=0.0, n=0.0)
"""In the place of people, where the model's number stands alone."""


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
    model: Weighted,
    people: People,
    *,
    contrast: str,
    level: float = 0.95,
    texts: Sequence[float] = (),
) -> Estimate:
    """Return the model's number minus people's; ``texts``: the model's in each, if for others."""
    value = sum(weight * share.value for weight, share in model)
    replies = [share.replies for _, share in model if share.replies is not None]
    n = sum(replies) if replies else len(model)
    difference = value - people.value
    over_texts = "t over texts and " if texts else ""
    base = Estimate(
        contrast=contrast,
        n=n,
        n_first=n,
        n_second=round(people.n),
        mean_first=value,
        mean_second=people.value,
        difference=difference,
        level=level,
        method=f"interval and p: MOVER, from {over_texts}Wilson's ends of each share",
        unit="replies" if replies else "questions",
    )
    low, high = ends(model, people, float(special.ndtri((1 + level) / 2)), texts)
    if low == high:
        return replace(base, reason="neither side has an error")
    p = _p(model, people, difference, texts)
    over = REPLIES if replies else GIVEN
    return replace(
        base,
        low=low,
        high=high,
        test="score interval that leaves out 0",
        alternative="two-sided",
        statistic=math.copysign(float(-special.ndtri(p / 2)), difference),
        p=p,
        interval_over=TEXTS if texts else over,
    )


def side(model: Weighted, *, contrast: str, texts: Sequence[float] = ()) -> Estimate:
    """The model's number alone, with its interval; without one where it is known exactly."""
    estimate = minus_people(model, NOBODY, contrast=contrast, texts=texts)
    # There is one side: what it is made of stands in the place of two.
    first, second = (share.value for _, share in model)
    over = None
    if estimate.low is not None:
        over = "texts about the same" if texts else "the model's replies"
    return replace(estimate, mean_first=first, mean_second=second, interval_over=over)


def people_side(first: People, second: People, *, contrast: str) -> Estimate:
    """What people said of one minus what they said of another, with its interval."""
    both = apart(first, second)
    return Estimate(
        contrast=contrast,
        n=round(both.n),
        n_first=round(first.n),
        n_second=round(second.n),
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


def ends(
    model: Weighted, people: People, z: float, texts: Sequence[float] = ()
) -> tuple[float, float]:
    """The interval of the model's number minus people's, z standard errors away."""
    difference = sum(weight * share.value for weight, share in model) - people.value
    # People's ends are given at 95%, and taken to widen in proportion.
    by = z / Z
    below, above = [], []
    for weight, share in model:
        offs = sorted(weight * (end - share.value) for end in share.ends(z))
        below.append(offs[0])
        above.append(offs[1])
    half = 0.0
    if texts and (error := float(np.std(texts, ddof=1)) / math.sqrt(len(texts))):
        # For other texts; no wider than shares can be.
        half = min(2.0, float(special.stdtrit(len(texts) - 1, special.ndtr(z))) * error)
    return (
        difference - math.hypot(max(math.hypot(*below), half), (people.high - people.value) * by),
        difference + math.hypot(max(math.hypot(*above), half), (people.value - people.low) * by),
    )


def _p(model: Weighted, people: People, difference: float, texts: Sequence[float]) -> float:
    """Two-sided: at this level the interval has its end at 0."""
    sign = math.copysign(1.0, difference)

    def left(z: float) -> float:
        """How far the end that is nearer to 0 still is from it."""
        low, high = ends(model, people, z, texts)
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
    parts = ("value", "low", "high")
    means = {part: float(np.mean([getattr(of, part) for of in people])) for part in parts}
    return People(**means, n=min(of.n for of in people))


def apart(first: People, second: People) -> People:
    """One number minus another, of different respondents."""
    value = first.value - second.value
    return People(
        value=value,
        low=value - math.hypot(first.value - first.low, second.high - second.value),
        high=value + math.hypot(first.high - first.value, second.value - second.low),
        n=min(first.n, second.n),
    )


def pooled(people: Sequence[People]) -> People:
    """One share of several surveys that asked the same: each by how many were asked."""
    n = sum(of.n for of in people)
    value = sum(of.value * of.n for of in people) / n
    below = math.hypot(*((of.value - of.low) * of.n / n for of in people))
    above = math.hypot(*((of.high - of.value) * of.n / n for of in people))
    return People(value=value, low=value - below, high=value + above, n=n)
