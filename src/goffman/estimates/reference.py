"""Each condition of one group against the mean of the other group's conditions.

The prompts that name no condition are a poor reference: they lack the relative clause as well as
the condition. Those of the other group have both. Their mean is taken as given; what is sampled is
items and wordings, crossed.
"""

from __future__ import annotations

import numpy as np

from goffman.estimates.contrast import in_order, table
from goffman.estimates.scored import Found, Scored, of_group

KIND = "reference"


def conditions_against_reference(scored: Scored) -> Found:
    """In each model: every condition of the group against the mean of the other group's."""
    names, over = ("item", "wording"), ("items", "wordings")
    for model in scored.models():
        rows = scored.rows("prompt", model=model)
        items, wordings = in_order(rows, "item"), in_order(rows, "wording")
        first, second = (
            [
                (str(name), table(of, down=items, across=wordings, names=names))
                for (name,), of in sorted(
                    of_group(rows, group).partition_by("condition", as_dict=True).items()
                )
            ]
            for group in (scored.contrast, scored.against)
        )
        if not second:
            continue
        # With a gap in any of its conditions a cell of the mean is a gap: it would be of others.
        mean = np.mean([of for _, of in second], axis=0)
        for condition, of in first:
            says = scored.says(KIND, model=model, first=condition, second=scored.against)
            if len(wordings) == 1:
                cells = of.ravel().tolist(), mean.ravel().tolist()
                yield says, scored.compare.paired(says, *cells, over="items")
            else:
                yield (
                    says,
                    scored.compare.crossed(says, of, mean, shared="both", over=over, units="rows"),
                )
