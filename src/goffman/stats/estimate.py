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
    """Values used: pairs where values are paired, else those of both sets together; of conditions
    that are in both sets, each once."""
    n_first: int
    n_second: int
    """Values used of each set."""
    left_out: int = 0
    """Values, or pairs, that were given but missing, and so not used."""
    mean_first: float | None = None
    mean_second: float | None = None
    """Of the values used; None: there are none."""
    difference: float | None = None
    """Mean of the first minus mean of the second; None in a correlation too."""
    low: float | None = None
    high: float | None = None
    """The interval of the difference."""
    level: float | None = None
    """Confidence of the intervals, such as 0.95; None: the method gives none."""
    effect: float | None = None
    """The effect size, with the sign of the difference."""
    effect_name: str | None = None
    """Which one: "Cohen's d, pooled SD" …"""
    effect_low: float | None = None
    effect_high: float | None = None
    """Its interval, at the same level."""
    second_effect: float | None = None
    """Another effect size, to stand beside the first."""
    second_effect_name: str | None = None
    second_effect_low: float | None = None
    second_effect_high: float | None = None
    test: str | None = None
    """The test by name; None: an interval only."""
    alternative: Literal["two-sided"] | None = None
    """None: there is no test."""
    statistic: float | None = None
    """Of the test: t, or the standardized difference of shares."""
    df: float | None = None
    """Degrees of freedom, where the test has them."""
    error: float | None = None
    """The standard error of the difference, where the test has one."""
    sentences: int | None = None
    """How many different sentences it is over: items times families of wordings; None: there is no
    such number, as of sentence pairs."""
    p: float | None = None
    """0 < p ≤ 1, not corrected; one too small to be written is the smallest normal float."""
    p_adjusted: float | None = None
    """Corrected over the family; None: not corrected, or there is no p."""
    correction: Literal["benjamini-hochberg"] | None = None
    family: str | None = None
    """The declared family of tests that the correction is over."""
    family_size: int | None = None
    """Its tests that have a p: those without one are not counted."""
    method: str
    """How interval, p and effects were computed."""
    reason: str | None = None
    """Why a value that the method gives elsewhere is null here."""
    unit: str | None = None
    """What n counts: conditions, items × conditions, sentence pairs, trials …"""
    interval_over: str | None = None
    """What the interval takes as sampled, which need not be what n counts."""
    indifference_p: float | None = None
    """Of a model's share beside people's: of its lying beyond that of people who were as
    indifferent as the model, one-sided; None: not known how indifferent it is."""
