"""Verdicts as words: what stands beside a number, and what each of them means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goffman.presentation.numbers import number

SIZE_OPEN = "clear, size open"

VERDICTS_SAID = (
    "Verdicts. Relevant: the whole 95% interval is further from 0 than the smallest relevant "
    "difference. Small: clearly not 0, and the whole interval is nearer to 0 than that. Clear, "
    "size open: clearly not 0, and the interval holds smaller and larger differences. "
    "Equivalent: the 90% interval rules out a relevant difference. Undecided: none of these. "
    "Detectable: the true difference that 80 of 100 such audits would find."
)
"""For captions of tables with these columns."""


def verdict_shown(row: Mapping[str, Any]) -> str:
    """The verdict of an estimate as people read it; empty: it has none.

    In tables on disk, and to a gate, *small* is every clear difference that may be small.
    """
    verdict: str | None = row["verdict"]
    return SIZE_OPEN if verdict == "small" and not inside(row) else verdict or ""


def inside(row: Mapping[str, Any]) -> bool:
    """Whether the whole interval is nearer to 0 than the smallest relevant difference."""
    return bool(max(abs(row["low"]), abs(row["high"])) < row["smallest"])


def in_short(verdict: str, smallest: float) -> str:
    """What a verdict means, for a line beside it."""
    least = number(smallest)
    return {
        "relevant": f"clearly more than {least}",
        "small": f"clearly not 0, but less than {least}",
        SIZE_OPEN: f"clearly not 0, but possibly less than {least}",
        "equivalent": f"very likely less than {least}",
        "undecided": f"could be 0, could be more than {least}",
    }[verdict]
