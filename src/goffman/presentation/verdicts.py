"""Verdicts as words: what stands beside a number, and what each of them means."""

from __future__ import annotations

from goffman.presentation.numbers import number

VERDICTS_SAID = (
    "Verdicts. Relevant: the whole 95% interval is further from 0 than the smallest relevant "
    "difference. Small: clearly not 0, but part of the interval is nearer to 0 than that. "
    "Equivalent: the 90% interval rules out a relevant difference. Undecided: none of these. "
    "Detectable: the true difference that 80 of 100 such audits would find."
)
"""For captions of tables with these columns."""


def in_short(verdict: str, smallest: float) -> str:
    """What a verdict means, for a line beside it."""
    least = number(smallest)
    return {
        "relevant": f"clearly more than {least}",
        "small": f"clearly not 0, but possibly less than {least}",
        "equivalent": f"very likely less than {least}",
        "undecided": f"there may be no difference, or one of more than {least}",
    }[verdict]
