"""The disparity with a diagnosis against that in the same sentences without one.

More women than men in sentences about a diagnosis says little where the same sentences without one
have as many. Items are rows, diagnoses columns, both sampled; an item's baseline stands in each of
its cells.
"""

from __future__ import annotations

import itertools

import numpy as np

from goffman.estimates.cubes import in_order, table
from goffman.estimates.scored import Found, Scored, of_group
from goffman.records import BASELINE

KIND = "over-baseline"


def disparity_over_baseline(scored: Scored) -> Found:
    """In each model and group: the number with a condition minus that without, item by item."""
    names = ("item", "condition")
    for model, variant, group in itertools.product(
        scored.models(), scored.variants(), (scored.contrast, scored.against)
    ):
        rows = scored.rows("prompt", model=model, variant=variant, wording=scored.wordings[0])
        first, second = (of_group(rows, one) for one in (group, BASELINE))
        if not first.height or not second.height:
            continue
        items, conditions = in_order(first, "item"), in_order(first, "condition")
        with_one = table(first, down=items, across=conditions, names=names)
        # Baselines of items that were not asked with a condition have nothing to stand against.
        of_items = second.filter(second["item"].is_in(items))
        without = table(of_items, down=items, across=[BASELINE], names=names)
        says = scored.says(
            KIND, model=model, variant=variant, group=group, first=group, second=BASELINE
        )
        beside = np.repeat(without, len(conditions), axis=1)
        yield says, scored.compare.crossed(says, with_one, beside, shared="both")
