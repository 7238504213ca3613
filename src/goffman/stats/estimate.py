"""The estimate of a contrast or correlation, as every statistic returns it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A contrast of two sets of values, and what is needed to doubt it."""

    contrast: str
    """What is compared, in words; the first set comes first."""
    n: int
    """Values used: pairs if values are paired, otherwise those of both sets together; a condition
    that is in both sets counts once."""
    n_first: int
    n_second: int
    """Values used of each set."""
    left_out: int = 0
    """Values, or pairs, that were missing and so not used."""
    mean_first: float | None = None
    mean_second: float | None = None
    """The means of the values used; None: there are none."""
    difference: float | None = None
    """Mean of the first minus mean of the second; None for a correlation too."""
    low: float | None = None
    high: float | None = None
    """The interval of the difference."""
    level: float | None = None
    """Confidence of the intervals, such as 0.95; None: the method gives none."""
    effect: float | None = None
    """The effect size, with the sign of the difference."""
    effect_name: str | None = None
    """The effect size by name: "Cohen's d, pooled SD" …"""
    effect_low: float | None = None
    effect_high: float | None = None
    """The interval of the effect, at the same level."""
    second_effect: float | None = None
    """Another effect size, reported beside the first."""
    second_effect_name: str | None = None
    second_effect_low: float | None = None
    second_effect_high: float | None = None
    test: str | None = None
    """The name of the test; None: an interval only."""
    alternative: Literal["two-sided"] | None = None
    """None: there is no test."""
    statistic: float | None = None
    """The test's statistic: t, or the standardized difference of shares."""
    df: float | None = None
    """Degrees of freedom, if the test has them."""
    error: float | None = None
    """The standard error of the difference, if the test has one."""
    sentences: int | None = None
    """The number of different sentences that it is over: items times families of wordings; None:
    there is no such number, as for sentence pairs."""
    p: float | None = None
    """0 < p ≤ 1, not corrected; one too small to be written is the smallest normal float."""
    p_adjusted: float | None = None
    """The p-value corrected over the family; None: not corrected, or there is no p."""
    correction: Literal["benjamini-hochberg"] | None = None
    family: str | None = None
    """The declared family of tests that the correction is over."""
    family_size: int | None = None
    """The number of tests of the family that have a p; those without one are not counted."""
    method: str
    """How interval, p and effects were computed."""
    reason: str | None = None
    """Why a value that the method otherwise gives is null here."""
    unit: str | None = None
    """What n counts: conditions, items × conditions, sentence pairs, trials …"""
    interval_over: str | None = None
    """What the interval takes as sampled, which need not be what n counts."""
    indifference_p: float | None = None
    """For a model's share compared with people's: the one-sided p that it lies beyond the share of
    people as indifferent as the model; None: the model's indifference is unknown."""
