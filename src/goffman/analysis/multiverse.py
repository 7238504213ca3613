"""Every analysis that a measure's choices allow: which there are, before any is run; pure."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from goffman.lexicons.otherwise import Otherwise
from goffman.measures.choices import Option, choices_of

if TYPE_CHECKING:
    from goffman.measures.base import Measure
    from goffman.measures.choices import Stored

MOST = 1_000
"""More analyses than these are drawn from, the audit's own among them."""

ANALYSIS = "analysis"
"""The way of a row that is one of the multiverse; all others leave something out or spoil it."""

WORD, LABELS = "word", "labels"
"""The ways of rows without one word, and with some labels wrong."""

RATES = (0.05, 0.1, 0.2, 0.3, 0.5)
"""Shares of labels that are made wrong."""

TIMES = 5
"""How often each share is drawn."""

HEAVIEST = 20
"""So many words are left out in turn: those that most probability lies on."""


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """One way to get from stored answers to the headline."""

    way: str = ANALYSIS
    what: str = ""
    """What is left out or spoiled; of an analysis its number."""
    chosen: Mapping[str, str] = field(default_factory=dict)
    """By choice: the option in words."""
    rate: float | None = None
    """Of labels that are wrong."""
    options: tuple[Option, ...] = ()

    @property
    def words(self) -> Otherwise:
        """How lexicons and parser are read."""
        return Otherwise(**_merged(one.words for one in self.options))

    @property
    def only(self) -> Mapping[str, str]:
        """Columns of prompts, and the one value of each that counts."""
        return _merged(one.only for one in self.options)

    @property
    def reading(self) -> object:
        """The same for analyses that need the same scores of prompts."""
        parameters = sorted(_merged(one.parameters for one in self.options).items())
        prepared = [one.prepared for one in self.options if one.prepared]
        return repr((parameters, self.words)), *prepared

    def measure(self, given: Measure) -> Measure:
        """The measure with the parameters of this analysis."""
        parameters = _merged(one.parameters for one in self.options)
        return replace(given, **parameters) if parameters else given  # type: ignore[type-var]

    def last(self, name: str) -> Any:
        """What the last option that says anything of it says: variant, quantity, make, prepared."""
        said = [getattr(one, name) for one in self.options if getattr(one, name)]
        return said[-1] if said else None


def _merged(given: Any) -> dict[str, Any]:
    return {key: value for one in given for key, value in one.items()}


def analyses(stored: Stored, *, seed: int = 0) -> list[Analysis]:
    """Every combination of options, the audit's own first; a draw where these are too many.

    One alone where the measure names no choice.
    """
    offered = {one.name: list(one.options(stored)) for one in choices_of(stored.measure)}
    offered = {name: options for name, options in offered.items() if len(options) > 1}
    every = math.prod(len(options) for options in offered.values())
    numbers: Sequence[int] = range(every)
    if every > MOST:
        drawn = np.random.default_rng(seed).choice(every - 1, MOST - 1, replace=False)
        numbers = [0, *sorted(int(one) + 1 for one in drawn)]
    wanted, found = {*numbers}, []
    for number, options in enumerate(itertools.product(*offered.values())):
        if number in wanted:
            chosen = {name: one.said for name, one in zip(offered, options, strict=True)}
            found.append(Analysis(what=str(number + 1), chosen=chosen, options=options))
    return found


def spoiled(words: Sequence[str], *, seed: int = 0) -> list[Analysis]:
    """The audit's own analysis without each of these words, and with labels wrong at each rate."""
    found = [
        Analysis(way=WORD, what=word, options=(Option(said=word, words={"without": word}),))
        for word in words
    ]
    for place, (rate, time) in enumerate(itertools.product(RATES, range(TIMES))):
        wrong = {"wrong": rate, "seed": seed + place}
        option = Option(said=f"{rate:g}", words=wrong)
        found.append(Analysis(way=LABELS, what=f"draw {time + 1}", rate=rate, options=(option,)))
    return found
