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

from goffman.stats.intervals import Estimate, Z, share_interval

NEAREST, FARTHEST = 1e-6, 37.0
"""In standard errors: p is 1 for a difference nearer to 0 than the first, and the smallest number
for one farther than the second."""

REPLIES = "the model's replies and respondents"
GIVEN = "respondents, with the model's probabilities taken as given"
TEXTS = "texts about the same, and respondents"


@dataclass(frozen=True, kw_only=True)
class People:
    """A share of people, or a number derived from such shares, with its 95% interval."""

    value: float
    low: float
    high: float
    n: float
    """Respondents: as many as would be as precise if drawn one by one."""


NOBODY = People(value=0.0, low=0.0, high=0.0, n=0.0)
"""Zero people, to compute the interval of a model's number alone."""


@dataclass(frozen=True, kw_only=True)
class Share:
    """A share of a model's answers."""

    value: float
    replies: int | None = None
    """The number of replies in the share; None: it is a probability."""
    worth: float | None = None
    """The number of replies that would be as precise if spread evenly over questions; None: the
    number of replies."""

    def ends(self, z: float) -> tuple[float, float]:
        """Return Wilson's (1927) ends, z standard errors away."""
        if self.replies is None:
            return self.value, self.value
        return share_interval(self.value, self.worth or self.replies, z=z)


Weighted = Sequence[tuple[float, Share]]


def mean_share(shares: Sequence[Share]) -> Share:
    """Return the mean over questions."""
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
    """Return the model's number minus people's.

    ``texts``: the model's number in each text, if the interval is for other texts.
    """
    value = sum(weight * share.value for weight, share in model)
    replies = [share.replies for _, share in model if share.replies is not None]
    n = sum(replies) if replies else len(model)
    difference = value - people.value
    over_texts = "t over texts and " if texts else ""
    estimate = Estimate(
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
        return replace(estimate, reason="neither side has an error")
    p = _p(model, people, difference, texts)
    over = REPLIES if replies else GIVEN
    return replace(
        estimate,
        low=low,
        high=high,
        test="score interval that leaves out 0",
        alternative="two-sided",
        statistic=math.copysign(float(-special.ndtri(p / 2)), difference),
        p=p,
        interval_over=TEXTS if texts else over,
    )


def side(model: Weighted, *, contrast: str, texts: Sequence[float] = ()) -> Estimate:
    """Return the model's number alone, with its interval unless it is known exactly."""
    estimate = minus_people(model, NOBODY, contrast=contrast, texts=texts)
    # The two shares that the number is made of are reported as its two sides.
    first, second = (share.value for _, share in model)
    over = None
    if estimate.low is not None:
        over = "texts about the same" if texts else "the model's replies"
    return replace(estimate, mean_first=first, mean_second=second, interval_over=over)


def people_side(first: People, second: People, *, contrast: str) -> Estimate:
    """Return people's number about one person minus that about another, with its interval."""
    difference = apart(first, second)
    return Estimate(
        contrast=contrast,
        n=round(difference.n),
        n_first=round(first.n),
        n_second=round(second.n),
        mean_first=first.value,
        mean_second=second.value,
        difference=difference.value,
        low=difference.low,
        high=difference.high,
        level=0.95,
        method="interval: MOVER, from the ends of each share",
        unit="respondents",
        interval_over="respondents",
    )


def ends(
    model: Weighted, people: People, z: float, texts: Sequence[float] = ()
) -> tuple[float, float]:
    """Return the interval of the model's number minus people's, z standard errors away."""
    difference = sum(weight * share.value for weight, share in model) - people.value
    # People's ends are given at 95%, and taken to widen in proportion.
    factor = z / Z
    below, above = [], []
    for weight, share in model:
        offsets = sorted(weight * (end - share.value) for end in share.ends(z))
        below.append(offsets[0])
        above.append(offsets[1])
    half = 0.0
    if texts and (error := float(np.std(texts, ddof=1)) / math.sqrt(len(texts))):
        # The half-width for other texts; shares cannot differ by more than 2.
        half = min(2.0, float(special.stdtrit(len(texts) - 1, special.ndtr(z))) * error)
    return (
        difference
        - math.hypot(max(math.hypot(*below), half), (people.high - people.value) * factor),
        difference
        + math.hypot(max(math.hypot(*above), half), (people.value - people.low) * factor),
    )


def _p(model: Weighted, people: People, difference: float, texts: Sequence[float]) -> float:
    """Return the two-sided p: the level at which the interval has its end at 0."""
    sign = math.copysign(1.0, difference)

    def left(z: float) -> float:
        """Return the distance from 0 of the interval's nearer end; below 0 if 0 is inside."""
        low, high = ends(model, people, z, texts)
        return low if sign > 0 else -high

    if left(NEAREST) <= 0:
        return 1.0
    if left(FARTHEST) > 0:
        return float(np.finfo(float).tiny)
    z = optimize.brentq(left, NEAREST, FARTHEST)
    return max(2 * float(special.ndtr(-z)), float(np.finfo(float).tiny))


def widened(people: People, design_effect: float) -> People:
    """Return the share with ends farther off: its variance is multiplied by ``design_effect``."""
    factor, value = math.sqrt(design_effect), people.value
    low, high = value - (value - people.low) * factor, value + (people.high - value) * factor
    return replace(people, low=max(0.0, low), high=min(1.0, high))


def nearer(people: People, by: float) -> People:
    """Return the share with its distance, and that of its ends, from one half times ``by``."""
    value, low, high = (0.5 + by * (end - 0.5) for end in (people.value, people.low, people.high))
    return replace(people, value=value, low=low, high=high)


def mean_of(people: Sequence[People]) -> People:
    """Return the mean of several answers of the same respondents.

    How the answers correlate is not published. Their errors are added as if they correlated fully,
    which makes the error too large and never too small.
    """
    parts = ("value", "low", "high")
    means = {part: float(np.mean([getattr(entry, part) for entry in people])) for part in parts}
    return People(**means, n=min(entry.n for entry in people))


def apart(first: People, second: People) -> People:
    """Return the difference of two numbers that come from different respondents."""
    value = first.value - second.value
    return People(
        value=value,
        low=value - math.hypot(first.value - first.low, second.high - second.value),
        high=value + math.hypot(first.high - first.value, second.value - second.low),
        n=min(first.n, second.n),
    )


def pooled(people: Sequence[People]) -> People:
    """Return one share from several surveys that asked the same, weighted by their respondents."""
    n = sum(survey.n for survey in people)
    value = sum(survey.value * survey.n for survey in people) / n
    below = math.hypot(*((survey.value - survey.low) * survey.n / n for survey in people))
    above = math.hypot(*((survey.high - survey.value) * survey.n / n for survey in people))
    return People(value=value, low=value - below, high=value + above, n=n)
