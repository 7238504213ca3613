"""What an anchor is: numbers of people, to set those of models beside."""

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
    """In a sentence: “peril”, “the share of women”."""
    meaning: str
    """What a higher value means: completes “higher: …”."""


@dataclass(frozen=True, kw_only=True)
class AnchorValue:
    """One number of people."""

    item: str
    condition: str
    """The condition's id in the instruments; or an occupation, as it stands in sentences."""
    gender: Gender = EVERYONE
    """Of the person whom people were told of."""
    year: int | None = None
    value: float
    n: int | None = None
    """People."""
    n_effective: float | None = None
    """As many people drawn one by one with equal weights would be as sure."""
    low: float | None = None
    """Lower end of the value's 95% interval."""
    high: float | None = None
    named: str | None = None
    """What the source calls the condition, where that is not its name here."""
    set_apart: bool = False
    """Whether the condition is left out in a check: see Anchor.set_apart."""


@dataclass(frozen=True, kw_only=True)
class Anchor:
    """What people said, of what, how many, from where."""

    id: str
    version: str
    title: str
    citation: str
    terms: str
    """Under which it may be passed on."""
    country: str
    year: str
    population: str
    """Who said it."""
    unit: str
    """What a value is: mean rating, share of respondents."""
    lowest: float | None = None
    """The lowest value that the unit allows."""
    highest: float | None = None
    compare: Compare
    of: Of
    instruments: tuple[str, ...]
    """The ids of those that ask about the same; their forms belong to them."""
    wordings: tuple[str, ...] = ()
    """The ids of the wordings that put people's question, where shares are compared; empty: all."""
    own_texts: tuple[str, ...] = ()
    """Conditions that models are told of in a text that is not people's in other words."""
    design_effect: float = 1.0
    """How much larger the variance of a share is than if people had been drawn one by one, by what
    their intervals leave out, such as that places were drawn first."""
    whose: str = "people"
    """Whose numbers they are, in headings: people, labor statistics."""
    set_apart: str | None = None
    """What the conditions are, in the plural, without which everything is computed once more, since
    they might make a relation by themselves; None: there are none."""
    limits: tuple[str, ...]
    items: tuple[AnchorItem, ...]
    values: tuple[AnchorValue, ...]
    digest: str
    """sha256 of its files."""

    def conditions(self) -> tuple[str, ...]:
        """What it has values for, in the order of its file."""
        return tuple(dict.fromkeys(one.condition for one in self.values))

    def years(self) -> tuple[int, ...]:
        """Of its values, the earliest first."""
        return tuple(sorted({one.year for one in self.values if one.year is not None}))

    def latest(self) -> tuple[AnchorValue, ...]:
        """Of each item, condition and gender the value of its latest year."""
        found: dict[tuple[str, str, str], AnchorValue] = {}
        for one in self.values:
            key = (one.item, one.condition, one.gender)
            if key not in found or (one.year or 0) > (found[key].year or 0):
                found[key] = one
        return tuple(found.values())


def interval_of(value: AnchorValue, anchor: Anchor) -> tuple[float, float] | None:
    """The 95% interval of what people said; Wilson's of a share; None: not known."""
    if value.low is not None and value.high is not None:
        return value.low, value.high
    n = value.n_effective or value.n
    if not n or (anchor.lowest, anchor.highest) != (0.0, 1.0):
        return None
    return share_interval(value.value, n)


def error_of(value: AnchorValue, anchor: Anchor) -> float | None:
    """The standard error of what people said; None: not known."""
    interval = interval_of(value, anchor)
    return None if interval is None else (interval[1] - interval[0]) / (2 * Z)
