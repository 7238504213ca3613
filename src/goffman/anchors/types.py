"""What an anchor is: people's numbers, to compare those of models with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from goffman.stats.intervals import Z, share_interval

Compare = Literal["profile", "difference"]
"""profile: over conditions, a model's numbers are correlated with people's, whatever their units.
difference: both are shares of the same answer, and one is subtracted from the other."""

Of = Literal["condition", "occupation"]
"""What the rows are about."""

Gender = Literal["all", "female", "male"]

COMPARES: tuple[Compare, ...] = get_args(Compare)
OFS: tuple[Of, ...] = get_args(Of)
GENDERS: tuple[Gender, ...] = get_args(Gender)

EVERYONE: Gender = "all"


@dataclass(frozen=True, kw_only=True)
class AnchorItem:
    """One thing that people were asked, or that was counted."""

    id: str
    name: str
    """The name in a sentence: “peril”, “the share of women”."""
    meaning: str
    """What a higher value means: completes “higher: …”."""


@dataclass(frozen=True, kw_only=True)
class AnchorValue:
    """One number of people."""

    item: str
    condition: str
    """The condition's id in the instruments; or an occupation, as it stands in sentences."""
    gender: Gender = EVERYONE
    """The gender of the person described to people."""
    year: int | None = None
    value: float
    n: int | None = None
    """The number of people."""
    n_effective: float | None = None
    """The number of people who, drawn one by one with equal weights, would give the same
    precision."""
    low: float | None = None
    """Lower end of the value's 95% interval."""
    high: float | None = None
    named: str | None = None
    """The source's name for the condition, if it is not its name here."""
    set_apart: bool = False
    """Whether the condition is left out in a check: see Anchor.set_apart."""


@dataclass(frozen=True, kw_only=True)
class Anchor:
    """People's answers: about what, of how many people, and from which source."""

    id: str
    version: str
    title: str
    citation: str
    terms: str
    """The terms on which it may be passed on."""
    country: str
    year: str
    population: str
    """The people who answered."""
    unit: str
    """What a value is: mean rating, share of respondents."""
    lowest: float | None = None
    """The lowest value that the unit allows."""
    highest: float | None = None
    compare: Compare
    of: Of
    instruments: tuple[str, ...]
    """The ids of the instruments that ask about the same; their forms belong to them."""
    wordings: tuple[str, ...] = ()
    """The ids of the wordings that ask people's question, if shares are compared; empty: all."""
    own_texts: tuple[str, ...] = ()
    """Conditions that models are told of in a text that is not people's in other words."""
    design_effect: float = 1.0
    """How much larger the variance of a share is than if people had been drawn one by one, because
    of what their intervals leave out, such as that places were drawn first."""
    whose: str = "people"
    """The owner of the numbers, in headings: people, labor statistics."""
    set_apart: str | None = None
    """The name, in the plural, of conditions without which everything is computed once more, since
    they might make a relation by themselves; None: there are none."""
    limits: tuple[str, ...]
    items: tuple[AnchorItem, ...]
    values: tuple[AnchorValue, ...]
    digest: str
    """sha256 of its files."""

    def conditions(self) -> tuple[str, ...]:
        """Return the conditions that have values, in the order of its file."""
        return tuple(dict.fromkeys(value.condition for value in self.values))

    def years(self) -> tuple[int, ...]:
        """Return the years of its values, the earliest first."""
        return tuple(sorted({value.year for value in self.values if value.year is not None}))

    def latest(self) -> tuple[AnchorValue, ...]:
        """Return the latest year's value of each item, condition and gender."""
        latest_values: dict[tuple[str, str, str], AnchorValue] = {}
        for value in self.values:
            key = (value.item, value.condition, value.gender)
            if key not in latest_values or (value.year or 0) > (latest_values[key].year or 0):
                latest_values[key] = value
        return tuple(latest_values.values())


def interval_of(value: AnchorValue, anchor: Anchor) -> tuple[float, float] | None:
    """Return the 95% interval of people's number, Wilson's for a share; None if unknown."""
    if value.low is not None and value.high is not None:
        return value.low, value.high
    n = value.n_effective or value.n
    if not n or (anchor.lowest, anchor.highest) != (0.0, 1.0):
        return None
    return share_interval(value.value, n)


def error_of(value: AnchorValue, anchor: Anchor) -> float | None:
    """Return the standard error of people's number; None if unknown."""
    interval = interval_of(value, anchor)
    return None if interval is None else (interval[1] - interval[0]) / (2 * Z)
