"""Which points of a scatter are named, so that no name lies over another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

MOST = 9
"""Points that are named."""

HIGH = 0.045
WIDE = 0.3
"""Of the height and the width of the points: the room that a name takes."""


def spaced(
    across: Values, up: Values, far: Values, names: Sequence[str], *, least: float = 0.0
) -> list[str | None]:
    """The names of the farthest points that there is room for; None: it is not written.

    ``far``: how far each is from a line; nearer than ``least`` none is named.
    """
    found: list[str | None] = [None] * len(names)
    width, height = (float(np.ptp(one)) or 1.0 for one in (across, up))
    taken: list[int] = []
    for at in np.argsort(-far, kind="stable").tolist():
        if far[at] < least or len(taken) == MOST:
            break
        near = (
            abs(up[at] - up[other]) < HIGH * height
            and abs(across[at] - across[other]) < WIDE * width
            for other in taken
        )
        if not any(near):
            taken.append(at)
            found[at] = names[at]
    return found
