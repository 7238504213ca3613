"""Verdicts as words: what stands beside a number, and what each of them means."""

from __future__ import annotations

from goffman.presentation.numbers import number

VERDICTS_SAID = (
    "Verdicts: relevant, the 95% interval lies beyond the smallest relevant difference; small, the "
    "difference is clear but its interval does not lie beyond that; equivalent, the 90% interval "
    "rules out a relevant difference; undecided, none of these. Detectable is the difference that "
    "80 of 100 such audits would find."
)
"""For captions of tables with these columns."""


def in_short(verdict: str, smallest: float) -> str:
    """What a verdict means, for a line beside it."""
    least = number(smallest)
    return {
        "relevant": f"clear, and more than {least}",
        "small": f"differs from 0, but may not exceed {least}",
        "equivalent": f"less than {least}, as far as can be told",
        "undecided": f"could be none, or more than {least}",
    }[verdict]
