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
"""Of the largest value: differences smaller than this are rounding."""

DIGITS = 12
"""To so many digits two analyses have the same numbers."""

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
    given, of = np.array(values, dtype=np.float64), np.array(options)
    if len(given) < 2:
        return None
    total = float(((given - given.mean()) ** 2).sum())
    if total <= (ROUNDING * max(1.0, float(np.abs(given).max()))) ** 2:
        return None
    parts = [given[of == option] for option in dict.fromkeys(options)]
    between = sum(len(own) * float(own.mean() - given.mean()) ** 2 for own in parts)
    # A choice that explains all may come out a rounding error above it.
    return min(1.0, between / total)
