"""Each condition of one group against the mean of the other group's conditions.

The prompts that name no condition are a poor reference: they lack the relative clause as well as
the condition. Those of the other group have both. Their mean is taken as given; what is sampled is
items and wordings, crossed.

Conditions differ without any stigma too. So those of the other group are set against the same mean,
which is their own group's, by the same test: how many of them are clear says what such a count is
worth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goffman.estimates.contrast import Contrast
from goffman.estimates.cubes import by_condition, in_order
from goffman.estimates.scored import IN_TURN, Found, Scored, of_group

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.records import Estimate

KIND = "reference"
OWN_KIND = "own-reference"


def conditions_against_reference(scored: Scored) -> Found:
    """In each model: every condition of the group against the mean of the other group's."""
    yield from _against(scored, KIND, scored.contrast)


def conditions_against_own_group(scored: Scored) -> Found:
    """In each model: every condition of the other group against that same mean, its own group's.

    The mean has the condition itself in it. Against the mean of the others the difference would be
    larger by n/(n − 1), and so would its error: t and p are the same.
    """
    yield from _against(scored, OWN_KIND, scored.against)


def _against(scored: Scored, kind: str, group: str) -> Found:
    """Every condition of a group against the mean of those that are the reference."""
    for model in scored.models():
        if in_order(scored.rows("prompt", model=model), "item") == [IN_TURN]:
            # Each condition has items of its own: one alone cannot be compared with others.
            continue
        second = _tables(scored, model, scored.against)
        if not second or (group == scored.against and len(second) < 2):
            continue
        mean = _mean_of_conditions(np.array([of for _, of in second]))
        for condition, of in _tables(scored, model, group):
            says = scored.says(kind, model=model, first=condition, second=scored.against)
            yield says, over_sentences(scored, says, of, mean)


def _mean_of_conditions(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean over conditions, cell by cell; NaN where half of them or more have no value.

    One value that is missing among many conditions hardly moves their mean. To leave out the whole
    cell would leave the question out of every contrast.
    """
    there = (~np.isnan(tables)).sum(axis=0)
    sums = np.nansum(tables, axis=0)
    enough = 2 * there > len(tables)
    return np.where(enough, sums / np.maximum(there, 1), np.nan)


def _tables(scored: Scored, model: str, group: str) -> list[tuple[str, NDArray[np.float64]]]:
    """Of each condition of a group its table of items × wordings."""
    rows = scored.rows("prompt", model=model)
    items, wordings = in_order(rows, "item"), in_order(rows, "wording")
    return sorted(by_condition(of_group(rows, group), items, wordings).items())


def over_sentences(
    scored: Scored, says: Contrast, first: NDArray[np.float64], second: NDArray[np.float64]
) -> Estimate:
    """Two tables of the same items × wordings, both sampled; of one wording, items alone."""
    if first.shape[1] == 1:
        cells = first.ravel().tolist(), second.ravel().tolist()
        return scored.compare.paired(says, *cells, over="items")
    over = ("items", "wordings")
    return scored.compare.crossed(says, first, second, shared="both", over=over, units="rows")
