"""Many analyses of one question: what a choice explains, and how odd their median is by chance.

η² of a choice is the share of the variance of all estimates that lies between its options: between
sum of squares over total sum of squares. Where options are crossed in full, the η² of all choices
sum to at most 1.

The median of the estimates is tested by shuffling what each unit is labelled with, once for all
analyses together, so that their dependence stays as it is (Simonsohn, Simmons & Nelson 2020, under
the sharp null). p = (1+b)/(1+m), b of the m shuffles whose median is at least as far from 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from goffman.stats.samples import seed_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

if TYPE_CHECKING:
    Numbers = NDArray[np.float64]

AT_ONCE = 256
"""Shuffles that are counted together: memory does not grow with their number."""

ROUNDING = 1e-12
"""Of the largest median: shuffles nearer to the observed one than this count as equal to it."""

DIGITS = 12
"""To so many digits two analyses have the same numbers."""

Shuffling = Literal["labels", "signs"]
Row = TypeVar("Row", bound=Mapping[str, Any])


def different(rows: Sequence[Row]) -> list[Row]:
    """The rows whose difference and interval no earlier row has.

    A choice that changes nothing makes copies, and a copy is no other analysis.
    """
    found: dict[tuple[object, ...], Row] = {}
    for place, row in enumerate(rows):
        numbers = [row.get(name) for name in ("difference", "low", "high")]
        rounded = tuple(round(one, DIGITS) for one in numbers if one is not None)
        key = rounded if len(rounded) == len(numbers) else (place,)
        found.setdefault(key, row)
    return list(found.values())


def explained(values: Sequence[float], options: Sequence[str]) -> float | None:
    """η²: the share of the values' variance that lies between options; None: they do not vary."""
    given = np.array(values, dtype=np.float64)
    if len(given) < 2:
        return None
    centre = given.mean()
    total = float(((given - centre) ** 2).sum())
    if total <= (ROUNDING * max(1.0, float(np.abs(given).max()))) ** 2:
        return None
    between = 0.0
    for option in dict.fromkeys(options):
        own = given[[one == option for one in options]]
        between += len(own) * float(own.mean() - centre) ** 2
    # A choice that explains all may come out a rounding error above it.
    return min(1.0, between / total)


@dataclass(frozen=True, kw_only=True)
class PermutedMedian:
    """The permutation test of a median."""

    median: float
    """Of the observed estimates, as they follow from the units."""
    p: float | None
    draws: int
    seed: int | None


def permuted_median(
    sums: Numbers,
    counts: Numbers,
    labels: Numbers,
    *,
    shuffling: Shuffling,
    rng: np.random.Generator,
    draws: int = 4_999,
) -> PermutedMedian:
    """The median over analyses, and its p.

    ``sums``, ``counts``: analyses × units, what each unit adds to an estimate and how often;
    ``labels``: of each unit 1 or −1. labels: an estimate is the mean of the units labelled 1 minus
    that of the others, and labels are permuted. signs: it is the mean of all, and the sign of each
    unit is drawn.
    """
    # Before anything is drawn: afterwards the generator's state would be another.
    seed = seed_of(rng)
    observed = _medians(sums, counts, labels[None], shuffling)[0]
    if not np.isfinite(observed):
        return PermutedMedian(median=observed, p=None, draws=0, seed=None)
    beyond, size = 0, abs(observed) * (1 - ROUNDING)
    for start in range(0, draws, AT_ONCE):
        many = min(AT_ONCE, draws - start)
        if shuffling == "labels":
            drawn = rng.permuted(np.tile(labels, (many, 1)), axis=1)
        else:
            drawn = rng.choice([-1.0, 1.0], size=(many, len(labels)))
        beyond += int((np.abs(_medians(sums, counts, drawn, shuffling)) >= size).sum())
    return PermutedMedian(
        median=float(observed), p=(1 + beyond) / (1 + draws), draws=draws, seed=seed
    )


def _medians(sums: Numbers, counts: Numbers, labels: Numbers, shuffling: Shuffling) -> Numbers:
    """Of each row of labels the median over analyses; an analysis without values is left out."""
    with np.errstate(invalid="ignore", divide="ignore"):
        if shuffling == "signs":
            estimates = labels @ sums.T / counts.sum(axis=1)
        else:
            first = labels > 0
            mine, others = first.astype(np.float64), (~first).astype(np.float64)
            estimates = mine @ sums.T / (mine @ counts.T) - others @ sums.T / (others @ counts.T)
    if not np.isfinite(estimates).any():
        return np.full(len(labels), np.nan)
    medians: Numbers = np.nanmedian(estimates, axis=1)
    return medians
