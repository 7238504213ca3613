"""What an estimate starts from: two sets of values without gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goffman.stats.estimate import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = Sequence[float | None] | Sequence[float] | NDArray[np.float64]
    """None and NaN are values that are missing."""

NO_PAIRS = "no pair has both values"
NO_VALUES = "one of the two groups has no values"
TOO_FEW = "there are fewer than two values to compare, so nothing shows how much they vary"
INFINITE = "a value is infinite or too large to compute with"
CONSTANT_DIFFERENCES = "all differences are equal, so no interval or test can be computed"
CONSTANT_SETS = "all values within each group are equal, so no interval or test can be computed"

LARGEST, SMALLEST = 1e150, 1e-150
"""Between them a number, or a spread, can be squared."""


@dataclass(frozen=True, kw_only=True)
class Samples:
    """Two sets of values without gaps."""

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    paired: bool
    """Whether the values stand in pairs, in the same order."""
    left_out: int
    """Values, or pairs, with a gap."""

    @property
    def differences(self) -> NDArray[np.float64]:
        """First minus second, pair by pair."""
        return self.first - self.second

    @property
    def absence(self) -> str | None:
        """Why nothing at all can be computed of these values, or None."""
        if min(len(self.first), len(self.second)) == 0:
            return NO_PAIRS if self.paired else NO_VALUES
        largest = max(np.abs(self.first).max(), np.abs(self.second).max())
        return None if largest < LARGEST else INFINITE

    @property
    def obstacle(self) -> str | None:
        """Why these values do not say how much they vary, or None."""
        if self.absence:
            return self.absence
        if min(len(self.first), len(self.second)) < 2:
            return TOO_FEW
        if self.paired:
            scale = float(max(np.abs(self.first).max(), np.abs(self.second).max()))
            return None if varies(self.differences, scale=scale) else CONSTANT_DIFFERENCES
        return None if varies(self.first) or varies(self.second) else CONSTANT_SETS

    def estimate(self, *, contrast: str, method: str, reason: str | None) -> Estimate:
        """Numbers and means of these values, before any test."""
        first, second = (
            float(values.mean()) if len(values) and np.isfinite(values).all() else None
            for values in (self.first, self.second)
        )
        return Estimate(
            contrast=contrast,
            n=len(self.first) if self.paired else len(self.first) + len(self.second),
            n_first=len(self.first),
            n_second=len(self.second),
            left_out=self.left_out,
            mean_first=first,
            mean_second=second,
            difference=None if first is None or second is None else first - second,
            method=method,
            reason=reason,
        )


def in_pairs(first: Values, second: Values) -> Samples:
    """The pairs that have both values."""
    one, other = numbers(first), numbers(second)
    if len(one) != len(other):
        raise ValueError(f"{len(one)} and {len(other)} values do not make pairs")
    whole = ~(np.isnan(one) | np.isnan(other))
    left_out = len(one) - int(whole.sum())
    return Samples(first=one[whole], second=other[whole], paired=True, left_out=left_out)


def apart(first: Values, second: Values) -> Samples:
    """The values of two independent sets that are not missing."""
    values = numbers(first), numbers(second)
    one, other = (of[~np.isnan(of)] for of in values)
    left_out = sum(map(len, values)) - len(one) - len(other)
    return Samples(first=one, second=other, paired=False, left_out=left_out)


def numbers(values: Values, *, dimensions: int = 1) -> NDArray[np.float64]:
    """The values as an array, NaN where there is none."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != dimensions:
        raise ValueError(f"values have {array.ndim} dimensions, not {dimensions}")
    return array


def varies(values: NDArray[np.float64], *, scale: float | None = None) -> bool:
    """Whether values differ by more than the rounding of numbers of this size."""
    size = float(np.abs(values).max()) if scale is None else scale
    return bool(np.ptp(values) > max(8 * np.finfo(np.float64).eps * size, SMALLEST))


def check_level(level: float) -> None:
    """Nothing, or an error for a level that is no confidence."""
    if not 0 < level < 1:
        raise ValueError(f"a level of {level} is not between 0 and 1; 0.95 is usual")


def check_choice(name: str, given: str, *, allowed: tuple[str, ...]) -> None:
    """Nothing, or an error for a choice that there is not."""
    if given not in allowed:
        raise ValueError(f"no {name} '{given}'; allowed: {', '.join(allowed)}")
