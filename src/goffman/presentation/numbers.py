"""Numbers and p-values as text: the only place that rounds them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from goffman.estimates.clear import CLEAR

DUST = 1e-12
"""What is nearer to 0 is what sums of floats leave of it."""

NONE = "none"


def number(value: float | None) -> str:
    """For sentences: two decimals, or two digits where these would be zeros; a real minus."""
    if value is None:
        return NONE
    if abs(value) < DUST:
        text = "0.00"
    elif abs(value) >= 0.095:
        text = f"{value:.2f}"
    elif abs(value) >= 0.0095:
        text = f"{value:.3f}"
    else:
        places = 1 - math.floor(math.log10(abs(value)))
        text = f"{value:.{places}f}" if places <= 8 else f"{value:.1e}"
    return text.replace("-", "−")


def told_apart(value: float, limit: float) -> tuple[str, str]:
    """Both numbers, with as many digits as show on which side of the limit the value lies."""
    shown = number(value), number(limit)
    if shown[0] != shown[1] or value == limit:
        return shown
    places = next((n for n in range(3, 17) if f"{value:.{n}f}" != f"{limit:.{n}f}"), 17)
    return f"{value:.{places}f}", f"{limit:.{places}f}"


def decimals(value: float) -> str:
    """For columns of tables: three decimals, or two digits where these would be zeros."""
    if abs(value) < DUST:
        return "0.000"
    return f"{value:.3f}" if abs(value) >= 0.0005 else f"{value:.1e}"


def tick(value: float, step: float) -> str:
    """The number at a tick of an axis, with as many decimals as its steps need."""
    places = max(0, -math.floor(math.log10(step) + DUST))
    return "0" if abs(value) < step / 2 else f"{value:.{places}f}".replace("-", "−")


def p_value(p: float) -> str:
    """Three decimals without the leading zero, or that it is below them.

    What is below .05 is never rounded up to it.
    """
    if p < 0.001:
        return "< .001"
    places = 3
    while p < CLEAR <= round(p, places):
        places += 1
    return f"{p:.{places}f}".lstrip("0") if p < 0.9995 else "1"


def p_said(p: float | None) -> str:
    """A p-value as it stands in a sentence."""
    if p is None:
        return "no p-value"
    text = p_value(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def ends(low: float | None, high: float | None) -> str:
    """An interval: from its lower end to its upper."""
    return NONE if low is None else f"{number(low)} to {number(high)}"


def difference_said(row: Mapping[str, Any]) -> str:
    """An estimate: the difference, its interval, and its p with the number of tests behind it."""
    if row["difference"] is None:
        return f"difference unknown, because {row['reason']}"
    parts = [f"difference {number(row['difference'])}"]
    if row["low"] is None:
        parts.append("no interval")
    else:
        parts.append(f"{row['level']:.0%} interval {ends(row['low'], row['high'])}")
    return ", ".join([*parts, corrected_said(row)])


def beside_said(row: Mapping[str, Any]) -> str:
    """The p of an estimate beside a heading, which is judged by a p corrected for all headings."""
    single = (row["family_size"] or 1) == 1 and row["p_adjusted"] is not None
    return f"{'uncorrected ' if single else ''}{corrected_said(row)}"


def corrected_said(row: Mapping[str, Any]) -> str:
    """The corrected p of an estimate, and for how many tests it was corrected."""
    size = row["family_size"] or 1
    tests = f" corrected for {size} tests" if size > 1 and row["p_adjusted"] is not None else ""
    return f"{p_said(row['p_adjusted'])}{tests}"
