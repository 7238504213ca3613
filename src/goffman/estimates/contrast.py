"""One contrast: what it is about, and how its two sets become an estimate.

The interval is over what was sampled: conditions or sentence pairs, drawn again; or items and
conditions crossed, by a t for both at random. Lin et al. (2022) take cells that share an item or a
condition as independent; their p-values are smaller than these.

Beside each test stand its checks. Cells of a table cannot be ranked or permuted one by one, since
they share items and conditions: there the checks are over conditions, each with its mean over the
items, which are then taken as given.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from goffman.estimates.checks import Relation, checked
from goffman.stats.compare import independent_t, paired_t
from goffman.stats.correlate import pearson
from goffman.stats.crossed import GAPS, Shared, crossed_t
from goffman.stats.crossed_effects import crossed_effects
from goffman.stats.resample import (
    correlation_bootstrap,
    crossed_bootstrap,
    pairs_bootstrap,
    units_bootstrap,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.records import Estimate
    from goffman.stats.effects import Effect
    from goffman.stats.samples import Values


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """The columns CONTRASTS."""

    kind: str
    instrument: str | None
    measure: str | None
    quantity: str
    variant: str | None = None
    model: str | None = None
    group: str | None = None
    dimension: str | None = None
    first: str
    second: str

    @property
    def text(self) -> str:
        """What is compared, in words; the same for no other contrast."""
        about = [self.instrument, self.measure, self.quantity, self.variant, self.model]
        about += [self.group, self.dimension]
        # The same two settings are also compared over trials.
        about += ["over sentence pairs"] if self.kind == "pairs" else []
        sign = "with" if self.kind == "measures" else "−"
        return f"{', '.join(part for part in about if part)}: {self.first} {sign} {self.second}"

    @property
    def family(self) -> str:
        """The declared family of tests: all of its kind, quantity, variant and model.

        Those of single subscales are apart from those of the whole: they are its parts.
        """
        about = [self.instrument, self.measure, self.quantity, self.variant, self.model]
        parts = " by dimension" if self.dimension else ""
        return f"{self.kind}{parts}: {', '.join(part for part in about if part)}"


@dataclass(frozen=True, kw_only=True)
class Comparing:
    """How sets are compared: the draws of every bootstrap begin at the seed."""

    seed: int = 0
    draws: int = 9_999

    def apart(self, contrast: Contrast, first: Values, second: Values, *, over: str) -> Estimate:
        """Two sets of conditions: Welch's t, and an interval over them."""
        text = contrast.text
        drawn = units_bootstrap(first, second, contrast=text, rng=self._rng(), draws=self.draws)
        tested = independent_t(first, second, contrast=text)
        found = _both(tested, drawn, unit=over, over=over)
        return self._checked(found, first, second, kind="sets", over=over)

    def paired(self, contrast: Contrast, first: Values, second: Values, *, over: str) -> Estimate:
        """The same conditions, or sentence pairs, twice: paired t, and an interval over them."""
        text = contrast.text
        drawn = pairs_bootstrap(first, second, contrast=text, rng=self._rng(), draws=self.draws)
        found = _both(paired_t(first, second, contrast=text), drawn, unit=over, over=over)
        return self._checked(found, first, second, kind="pairs", over=over)

    def crossed(
        self,
        contrast: Contrast,
        first: NDArray[np.float64],
        second: NDArray[np.float64],
        *,
        shared: Shared,
        over: tuple[str, str] = ("items", "conditions"),
        units: Literal["rows", "columns"] = "columns",
    ) -> Estimate:
        """Two tables of items × conditions: t and interval for both at random, d of their cells.

        Where cells are missing there is no such t: the interval is then drawn, without a p.
        ``units``: what the checks are over, by their means.
        """
        text = contrast.text
        tested = crossed_t(first, second, contrast=text, shared=shared)
        effects = crossed_effects(
            tested, first, second, shared=shared, rng=self._rng(), draws=self.draws
        )
        what, sizes = "interval", "effects of cells"
        if tested.p is not None:
            tested = replace(tested, draws=self.draws, seed=self.seed)
            what, sizes = "interval and p", f"{sizes}, the SD drawn for their intervals"
        elif tested.reason == GAPS:
            drawn = crossed_bootstrap(
                first, second, contrast=text, rng=self._rng(), shared=shared, draws=self.draws
            )
            ends = {"low": drawn.low, "high": drawn.high, "draws": drawn.draws, "seed": drawn.seed}
            tested = replace(tested, method=drawn.method, **ends)  # type: ignore[arg-type]
        how = tested.method.replace("rows and columns", " and ".join(over))
        found = replace(
            _with_effects(tested, effects),
            unit=" × ".join(over),
            interval_over=None if tested.low is None else f"{' and '.join(over)}, crossed",
            method=f"{what}: {how}; {sizes}",
        )
        kind: Relation = "pairs" if shared in ("both", units) else "sets"
        mine, others = over if units == "rows" else over[::-1]
        # With a gap the mean is NaN, and its unit left out: it would be over other cells.
        means = [table.mean(axis=1 if units == "rows" else 0) for table in (first, second)]
        what = f"{mine}, means over {others}"
        return self._checked(found, *means, kind=kind, over=what)

    def correlated(self, contrast: Contrast, first: Values, second: Values) -> Estimate:
        """Two measures of the same conditions: Pearson's r, and an interval over conditions."""
        text, over = contrast.text, "conditions"
        tested = pearson(first, second, contrast=text)
        drawn = correlation_bootstrap(
            first, second, contrast=text, rng=self._rng(), draws=self.draws
        )
        found = replace(
            _both(tested, drawn, unit=over, over=over),
            effect_low=drawn.effect_low,
            effect_high=drawn.effect_high,
        )
        return self._checked(found, first, second, kind="correlation", over=over)

    def trials(
        self, contrast: Contrast, trials: tuple[Values, Values], pairs: tuple[Values, Values]
    ) -> Estimate:
        """Two settings: Welch's t of the trials' values, and an interval over sentence pairs."""
        tested = independent_t(*trials, contrast=contrast.text)
        drawn = pairs_bootstrap(*pairs, contrast=contrast.text, rng=self._rng(), draws=self.draws)
        found = _both(tested, drawn, unit="trials", over="sentence pairs")
        return self._checked(found, *trials, kind="sets", over="trials")

    def _checked(
        self, found: Estimate, first: Values, second: Values, *, kind: Relation, over: str
    ) -> Estimate:
        rng, draws = self._rng(), self.draws
        return checked(found, first, second, kind=kind, over=over, rng=rng, draws=draws)

    def _rng(self) -> np.random.Generator:
        # Anew for each contrast, so that one more does not change the others' draws.
        return np.random.default_rng(self.seed)


def _without_interval(tested: Estimate) -> list[str]:
    """What the test's method says of all but its interval."""
    return [part for part in tested.method.split("; ") if not part.startswith("interval by")]


FEW = 4
"""From so many units on an interval is drawn.

Of three, all draws are one and the same unit in 1 of 27: no end of the draws holds 2.5%, and what
would be called a 95% interval is none.
"""


def _enough(drawn: Estimate, *, over: str) -> Estimate:
    """The drawn interval, or without its ends and with the reason where its units are too few."""
    least = min(drawn.n_first, drawn.n_second)
    if least >= FEW or drawn.low is None:
        return drawn
    reason = f"{least} {over} are too few to draw an interval from: it takes {FEW}"
    return replace(drawn, low=None, high=None, reason=reason)


def _both(tested: Estimate, drawn: Estimate, *, unit: str, over: str) -> Estimate:
    """The test's estimate with the interval that was drawn, and what both are over."""
    drawn = _enough(drawn, over=over)
    interval = f"interval: {drawn.method.split(' over ')[0]} over {over}"
    reasons = [reason for reason in (tested.reason, drawn.reason) if reason]
    ends = (drawn.low, drawn.effect_low, tested.effect_low)
    there = any(end is not None for end in ends)
    return replace(
        tested,
        low=drawn.low,
        high=drawn.high,
        draws=drawn.draws,
        seed=drawn.seed,
        method="; ".join([interval, *_without_interval(tested)]),
        reason="; ".join(dict.fromkeys(reasons)) or None,
        unit=unit,
        interval_over=over if there else None,
    )


def _with_effects(tested: Estimate, effects: tuple[Effect, Effect]) -> Estimate:
    """The test's estimate with two effect sizes."""
    one, other = effects
    reasons = [reason for reason in (tested.reason, one.reason, other.reason) if reason]
    return replace(
        tested,
        effect=one.value,
        effect_name=one.name,
        effect_low=one.low,
        effect_high=one.high,
        second_effect=other.value,
        second_effect_name=other.name,
        second_effect_low=other.low,
        second_effect_high=other.high,
        reason="; ".join(dict.fromkeys(reasons)) or None,
    )


def table(
    rows: pl.DataFrame, *, down: Iterable[str], across: Iterable[str], names: tuple[str, str]
) -> NDArray[np.float64]:
    """The values of SCORES as a table of the ids ``names``; forms are averaged, gaps are NaN."""
    means = rows.group_by(names).agg(pl.col("value").mean())
    place = {key: number for number, key in enumerate(down)}
    along = {key: number for number, key in enumerate(across)}
    found = np.full((len(place), len(along)), np.nan)
    for one, other, value in means.rows():
        if value is not None:
            found[place[one], along[other]] = value
    return found


def in_order(rows: pl.DataFrame, name: str) -> list[str]:
    """The different ids of a column, sorted."""
    return sorted(rows[name].drop_nulls().unique())
