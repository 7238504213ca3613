"""Verdicts as words: what stands beside a number, and what each of them means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goffman.estimates.verdict import NOT_MEASURABLE, SIZE_OPEN
from goffman.presentation.numbers import number

NOT_TESTED = "not tested"
"""Shown where an estimate has no p-value, and so no verdict."""

VERDICTS_SAID = (
    "Verdicts. Relevant: the whole 95% interval is further from 0 than the smallest relevant "
    "difference. Small: clearly not 0, and the whole interval is nearer to 0 than that. Clear, "
    "size open: clearly not 0, and the interval includes differences smaller and larger than that. "
    "Fragile: clear, but easily lost: it is not clear with another minimum word probability (where "
    "there is one), or in more than 10% of the analyses that leave out one item, wording or "
    "condition. Main results are checked for this and, where women and men are compared, the "
    "results of each group, and of one group minus the other, for the whole scale. Comparisons "
    "with a baseline are not checked. Each is judged by its own analyses and its own correction. "
    "Equivalent: the 90% interval, not corrected, rules out a relevant difference. Undecided: a "
    "difference is neither shown nor ruled out. Not measurable: the model failed the control "
    "items. Detectable: the true difference that 80 of 100 such audits would find."
)
"""For captions of tables with these columns."""


def verdict_shown(row: Mapping[str, Any]) -> str:
    """The verdict of an estimate as people read it; empty: tested, but of no size that counts."""
    return row["verdict"] or (NOT_TESTED if row["p_adjusted"] is None else "")


def in_short(
    verdict: str, smallest: float, *, low: float | None = None, high: float | None = None
) -> str:
    """What a verdict means, for a line beside it; ``low``, ``high``: the 95% interval."""
    least = number(smallest)
    return {
        "relevant": f"clearly more than {least}",
        "small": f"clearly not 0, but less than {least}",
        SIZE_OPEN: f"clearly not 0, but possibly less than {least}",
        "equivalent": f"very likely less than {least}",
        "undecided": f"could be 0, could be {how_far(least, smallest, low=low, high=high)}",
        NOT_TESTED: "",
        NOT_MEASURABLE: "",
    }[verdict]


def how_far(least: str, smallest: float, *, low: float | None, high: float | None) -> str:
    """On which side of 0 the interval has relevant differences, or on both; ``least`` in words."""
    below = low is not None and low < -smallest
    above = high is not None and high > smallest
    if below and not above:
        return f"below −{least}"
    return f"more than {least}{' in either direction' if below else ''}"
