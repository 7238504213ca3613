"""Many analyses of one question: which of them differ, and how much a choice explains.

η² of a choice is the share of the variance of all estimates that lies between its options: between
sum of squares over total sum of squares. Where options are crossed in full, the η² of all choices
sum to at most 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

ROUNDING = 1e-12
"""Differences smaller than this share of the largest value are rounding."""

DIGITS = 12
"""Two analyses have the same numbers if these agree to so many digits."""

Row = TypeVar("Row", bound=Mapping[str, Any])


def different(rows: Sequence[Row]) -> list[Row]:
    """Return the rows whose difference and interval no earlier row has.

    A choice that changes nothing makes copies, and a copy is no other analysis.
    """
    rows_by_key: dict[tuple[object, ...], Row] = {}
    for position, row in enumerate(rows):
        numbers = [row.get(name) for name in ("difference", "low", "high")]
        rounded = tuple(round(number, DIGITS) for number in numbers if number is not None)
        key = rounded if len(rounded) == len(numbers) else (position,)
        rows_by_key.setdefault(key, row)
    return list(rows_by_key.values())


def explained(values: Sequence[float], options: Sequence[str]) -> float | None:
    """Return η², the share of variance that lies between options; None if values do not vary."""
    array, labels = np.array(values, dtype=np.float64), np.array(options)
    if len(array) < 2:
        return None
    total = float(((array - array.mean()) ** 2).sum())
    if total <= (ROUNDING * max(1.0, float(np.abs(array).max()))) ** 2:
        return None
    parts = [array[labels == option] for option in dict.fromkeys(options)]
    between = sum(len(part) * float(part.mean() - array.mean()) ** 2 for part in parts)
    # A choice that explains all may come out a rounding error above it.
    return min(1.0, between / total)
