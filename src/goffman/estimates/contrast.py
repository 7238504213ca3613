"""One contrast: what it is about, and how its two sets become an estimate.

The interval is over what was sampled: conditions or sentence pairs, drawn again; or items and
conditions crossed, by a t for both at random. Lin et al. (2022) take cells that share an item or a
condition as independent; their p-values are smaller than these.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goffman.stats.compare import independent_t, paired_t
from goffman.stats.correlate import pearson
from goffman.stats.crossed import GAPS, Shared, crossed_t
from goffman.stats.resample import (
    correlation_bootstrap,
    crossed_bootstrap,
    pairs_bootstrap,
    units_bootstrap,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.records import Estimate

_OF_TEST = ("test", "statistic", "df", "p", "low", "high", "draws", "seed")
"""What an estimate has from its test, where its effect sizes are from elsewhere."""


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
        sign = "with" if self.kind == "measures" else "−"
        return f"{', '.join(part for part in about if part)}: {self.first} {sign} {self.second}"

    @property
    def family(self) -> str:
        """The declared family of tests: all of its kind, measure, variant and model."""
        about = [self.instrument, self.measure, self.quantity, self.variant, self.model]
        return f"{self.kind}: {', '.join(part for part in about if part)}"


@dataclass(frozen=True, kw_only=True)
class Comparing:
    """How sets are compared: the draws of every bootstrap begin at the seed."""

    seed: int = 0
    draws: int = 9_999

    def conditions_apart(
        self, contrast: Contrast, first: Sequence[float | None], second: Sequence[float | None]
    ) -> Estimate:
        """Two sets of conditions: Welch's t, and an interval over conditions."""
        text = contrast.text
        drawn = units_bootstrap(first, second, contrast=text, rng=self._rng(), draws=self.draws)
        return _both(independent_t(first, second, contrast=text), drawn, over="conditions")

    def paired(
        self,
        contrast: Contrast,
        first: Sequence[float | None],
        second: Sequence[float | None],
        *,
        over: str,
    ) -> Estimate:
        """The same conditions, or sentence pairs, twice: paired t, and an interval over them."""
        text = contrast.text
        drawn = pairs_bootstrap(first, second, contrast=text, rng=self._rng(), draws=self.draws)
        return _both(paired_t(first, second, contrast=text), drawn, over=over)

    def crossed(
        self,
        contrast: Contrast,
        first: NDArray[np.float64],
        second: NDArray[np.float64],
        *,
        shared: Shared,
        over: tuple[str, str] = ("items", "conditions"),
    ) -> Estimate:
        """Two tables of items × conditions: t and interval for both at random, d of their cells.

        Where cells are missing there is no such t: the interval is then drawn, without a p.
        """
        text = contrast.text
        tested = crossed_t(first, second, contrast=text, shared=shared)
        plain = paired_t if shared == "both" else independent_t
        sized = plain(first.ravel(), second.ravel(), contrast=text)
        if tested.reason == GAPS:
            drawn = crossed_bootstrap(
                first, second, contrast=text, rng=self._rng(), shared=shared, draws=self.draws
            )
            ends = {"low": drawn.low, "high": drawn.high, "draws": drawn.draws, "seed": drawn.seed}
            tested = replace(tested, method=drawn.method, **ends)  # type: ignore[arg-type]
        reasons = [reason for reason in (tested.reason, sized.reason) if reason]
        what = "interval and p" if tested.p is not None else "interval"
        how = tested.method.replace("rows and columns", f"{over[0]} and {over[1]}")
        return replace(
            sized,
            **{name: getattr(tested, name) for name in _OF_TEST},
            # Theirs are for cells drawn one by one, which these are not.
            effect_low=None,
            effect_high=None,
            second_effect_low=None,
            second_effect_high=None,
            method="; ".join([f"{what}: {how}", *_without_interval(sized), "n is of cells"]),
            reason="; ".join(dict.fromkeys(reasons)) or None,
        )

    def correlated(
        self, contrast: Contrast, first: Sequence[float | None], second: Sequence[float | None]
    ) -> Estimate:
        """Two measures of the same conditions: Pearson's r, and an interval over conditions."""
        text = contrast.text
        tested = pearson(first, second, contrast=text)
        drawn = correlation_bootstrap(
            first, second, contrast=text, rng=self._rng(), draws=self.draws
        )
        return replace(
            _both(tested, drawn, over="conditions"),
            effect_low=drawn.effect_low,
            effect_high=drawn.effect_high,
        )

    def trials(
        self,
        contrast: Contrast,
        trials: tuple[Sequence[float | None], Sequence[float | None]],
        pairs: tuple[Sequence[float | None], Sequence[float | None]],
    ) -> Estimate:
        """Two settings: Welch's t of the trials' values, and an interval over sentence pairs."""
        tested = independent_t(*trials, contrast=contrast.text)
        drawn = pairs_bootstrap(*pairs, contrast=contrast.text, rng=self._rng(), draws=self.draws)
        return _both(tested, drawn, over="sentence pairs")

    def _rng(self) -> np.random.Generator:
        # Anew for each contrast, so that one more does not change the others' draws.
        return np.random.default_rng(self.seed)


def _without_interval(tested: Estimate) -> list[str]:
    """What the test's method says of all but its interval."""
    return [part for part in tested.method.split("; ") if not part.startswith("interval by")]


def _both(tested: Estimate, drawn: Estimate, *, over: str) -> Estimate:
    """The test's estimate with the interval that was drawn."""
    interval = f"interval: {drawn.method.split(' over ')[0]} over {over}"
    reasons = [reason for reason in (tested.reason, drawn.reason) if reason]
    return replace(
        tested,
        low=drawn.low,
        high=drawn.high,
        draws=drawn.draws,
        seed=drawn.seed,
        method="; ".join([interval, *_without_interval(tested)]),
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
