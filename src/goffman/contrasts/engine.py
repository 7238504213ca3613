"""One contrast: what it is about, and how its two sets become an estimate.

The interval is over everything that was sampled: conditions, items and wordings crossed, by a t for
all at random; sentence pairs, clustered by what they share; conditions alone where the sentences
are taken as given. It is that of the test beside which it stands, so that both say the same. Lin et
al. (2022) take cells that share an item or a condition as independent; their p-values are smaller
than these.

Beside each test stand its checks. Values that share items cannot be ranked or permuted one by one:
there the checks are over conditions, each with its mean over the sentences, which are then taken as
given. They ask another question than the test, and a smaller p of theirs is no better evidence.

Checks beside a test: ranks, and permutations, of the same two sets.

They are columns of the contrast that they check, not rows: a check is no further finding, so it is
in no family and its p is not corrected.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import polars as pl

from goffman.contrasts.verdict import ANCHORED, CORRELATIONS
from goffman.instruments.types import asked_as
from goffman.schemas import ESTIMATES, schema
from goffman.stats.clustered import WAYS, clustered_t
from goffman.stats.correlation import pearson, spearman
from goffman.stats.crossed_effect_sizes import crossed_effects
from goffman.stats.crossed_tests import (
    GAPS,
    LEAST,
    Shared,
    crossed_t,
    sampled_t,
    whole,
)
from goffman.stats.estimate import Estimate
from goffman.stats.resampling import (
    correlation_bootstrap,
    correlation_permutation,
    crossed_bootstrap,
    paired_permutation,
    pairs_bootstrap,
    permutation,
)
from goffman.stats.samples import apart, in_pairs, numbers
from goffman.stats.tests import (
    independent_t,
    mann_whitney,
    paired_t,
    wilcoxon,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.stats.effect_sizes import Effect
    from goffman.stats.samples import Values

Relation = Literal["pairs", "sets", "correlation"]
"""What the two sets are to each other."""

CHECKS: Mapping[Relation, tuple[Callable[..., Estimate], Callable[..., Estimate]]] = {
    "pairs": (wilcoxon, paired_permutation),
    "sets": (mann_whitney, permutation),
    "correlation": (spearman, correlation_permutation),
}
"""The rank test, and the permutation test of the very number that is checked."""


def checked(
    estimate: Estimate,
    first: Values,
    second: Values,
    *,
    kind: Relation,
    over: str,
    rng: np.random.Generator,
    draws: int,
) -> Estimate:
    """The estimate with both checks of the two sets beside it."""
    ranked, permuted = CHECKS[kind]
    ranks = ranked(first, second, contrast=estimate.contrast)
    drawn = permuted(first, second, contrast=estimate.contrast, rng=rng, draws=draws)
    return _beside(estimate, ranks, drawn, over=over)


def _beside(estimate: Estimate, ranks: Estimate, drawn: Estimate, *, over: str) -> Estimate:
    """The estimate with both checks, how they were computed, and why one has no p."""
    reasons = [one.reason for one in (ranks, drawn) if one.p is None and one.reason]
    how = [f"check: {ranks.method}"] * (ranks.p is not None)
    how += [f"permutation: {drawn.method}"] * (drawn.p is not None)
    return replace(
        estimate,
        check=ranks.test,
        check_over=over,
        check_n=ranks.n,
        check_effect=ranks.effect,
        check_p=ranks.p,
        permutation_p=drawn.p,
        check_reason="; ".join(dict.fromkeys(reasons)) or None,
        method="; ".join([estimate.method, *how]),
        # Every draw of a contrast begins at the same seed.
        draws=estimate.draws or drawn.draws,
        seed=drawn.seed if estimate.seed is None else estimate.seed,
    )


GIVEN = {
    "groups-as-asked": "these sentences treated as fixed",
    "trials": "over trials of these sentences",
}
"""Kinds of contrasts that repeat another with something taken as given, and what."""

GIVEN_SENTENCES = "conditions, with these sentences treated as fixed"
AS_IF_APART = "sentence pairs, as if none shared anything"
"""What checks are over that ask less than their test."""


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """The columns CONTRASTS."""

    kind: str
    instrument: str | None
    mode: str | None = None
    measure: str | None
    quantity: str
    variant: str | None = None
    model: str | None = None
    group: str | None = None
    dimension: str | None = None
    first: str
    second: str

    @property
    def asked(self) -> str | None:
        """The id of the instrument with its mode."""
        return self.instrument and asked_as(self.instrument, self.mode)

    @property
    def text(self) -> str:
        """What is compared, in words; the same for no other contrast."""
        about = [self.asked, self.measure, self.quantity, self.variant, self.model]
        about += [self.group, self.dimension]
        # The same two sets are also compared over all that was sampled.
        about += [GIVEN[self.kind]] if self.kind in GIVEN else []
        sign = "with" if self.kind in {*CORRELATIONS, *ANCHORED} else "−"
        return f"{', '.join(part for part in about if part)}: {self.first} {sign} {self.second}"

    @property
    def family(self) -> str:
        """The declared family of tests: all of its kind, quantity, variant and model.

        Those of single subscales are apart from those of the whole: they are its parts.
        """
        about = [self.asked, self.measure, self.quantity, self.variant, self.model]
        parts = " by dimension" if self.dimension else ""
        return f"{self.kind}{parts}: {', '.join(part for part in about if part)}"


@dataclass(frozen=True, kw_only=True)
class ContrastTester:
    """How sets are compared: the draws of every bootstrap begin at the seed."""

    seed: int = 0
    draws: int = 9_999
    bare: bool = False
    """The test alone, for a contrast that is made again and again: of what shares sentences no
    effect sizes, and of nothing a check."""

    def apart(self, contrast: Contrast, first: Values, second: Values, *, over: str) -> Estimate:
        """Two sets of conditions: Welch's t and its interval."""
        tested = independent_t(first, second, contrast=contrast.text)
        found = _over(_enough(tested, over=over), over)
        return self._checked(found, first, second, kind="sets", over=over)

    def paired(self, contrast: Contrast, first: Values, second: Values, *, over: str) -> Estimate:
        """The same conditions, or items, twice: paired t and its interval."""
        tested = paired_t(first, second, contrast=contrast.text)
        found = _over(_enough(tested, over=over), over)
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
        if self.bare:
            return tested
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
            fewest = min(*first.shape, *second.shape)
            if fewest < FEW:
                drawn = replace(drawn, low=None, high=None)
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

    def sampled(
        self, contrast: Contrast, tables: Sequence[NDArray[np.float64]], *, shared: bool = False
    ) -> Estimate:
        """Two tables of conditions × items × wordings: t and interval for all three at random.

        ``shared``: they are of the same conditions, so that their differences are one table.
        """
        if shared:
            first, second = tables
            gap = np.isnan(first) | np.isnan(second)
            tables = [np.where(gap, np.nan, table) for table in tables]
        kept, left_out = whole(tables)
        left_out = left_out // 2 if shared else left_out
        means = [table.mean(axis=(1, 2)) for table in kept]
        how = "interval and p: t after Satterthwaite"
        base = (in_pairs if shared else apart)(*means)
        about = base.estimate(contrast=contrast.text, method=how, reason=base.absence)
        tested = sampled_t(about, [kept[0] - kept[1]] if shared else kept)
        if self.bare:
            return replace(tested, left_out=left_out)
        compare = paired_t if shared else independent_t
        compared = compare(*means, contrast=contrast.text, effect_intervals=False)
        over = _of_shape(kept[0].shape)
        tested = replace(
            _of_difference(tested, compared),
            left_out=left_out,
            unit="conditions",
            interval_over=None if tested.low is None else over,
            method=f"{how}, {over}; effects of condition means, their SD taken as known",
        )
        kind: Relation = "pairs" if shared else "sets"
        return self._checked(tested, *means, kind=kind, over=GIVEN_SENTENCES)

    def clustered(
        self,
        contrast: Contrast,
        first: Values,
        second: Values,
        *,
        clusters: Sequence[Sequence[str]],
        signs: NDArray[np.float64] | None = None,
        called: Sequence[str] = WAYS,
    ) -> Estimate:
        """The same sentence pairs twice, or with zeros once: t for clusters that pairs share."""
        samples = in_pairs(first, second)
        there = ~np.isnan(numbers(first) - numbers(second))
        over = "sentence pairs, clustered by frame and both occupations"
        how = f"interval and p: {over}"
        about = samples.estimate(contrast=contrast.text, method=how, reason=samples.absence)
        if not clusters and about.reason is None:
            about = replace(about, reason="what the sentence pairs share is not known")
        ways = [list(itertools.compress(way, there)) for way in clusters]
        sides = None if signs is None else signs[there]
        tested = clustered_t(about, samples.differences, ways, signs=sides, called=called)
        if self.bare:
            return tested
        compared = paired_t(first, second, contrast=contrast.text, effect_intervals=False)
        if not samples.second.any():
            # Against 0 there is one set, which has no SD to pool.
            compared = replace(
                compared, effect=compared.second_effect, effect_name=compared.second_effect_name
            )
            compared = replace(compared, second_effect=None, second_effect_name=None)
        tested = replace(
            _of_difference(tested, compared),
            unit="sentence pairs",
            interval_over=None if tested.low is None else over,
            method=f"{how}; effects of pairs, their SD taken as known",
        )
        return self._checked(tested, first, second, kind="pairs", over=AS_IF_APART)

    def correlated(self, contrast: Contrast, first: Values, second: Values) -> Estimate:
        """Two measures of the same conditions: Pearson's r, and an interval over conditions."""
        text, over = contrast.text, "conditions"
        tested = pearson(first, second, contrast=text)
        if tested.n < FEW_TO_CORRELATE:
            found = replace(tested, unit=over, interval_over=over)
            return self._checked(found, first, second, kind="correlation", over=over)
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
        """Two settings: Welch's t of the trials' values and its interval.

        They say how far the model's sampling moves the difference on these very sentences. Of one
        trial nobody can tell: then there is no p, and an interval is drawn over sentence pairs.
        """
        text = contrast.text
        # Each value is the mean of many replies, so that t holds with two trials too.
        found = _over(independent_t(*trials, contrast=text), "trials")
        if found.p is None:
            drawn = pairs_bootstrap(*pairs, contrast=text, rng=self._rng(), draws=self.draws)
            found = _both(found, drawn, unit="trials", over="sentence pairs")
        return self._checked(found, *trials, kind="sets", over="trials")

    def _checked(
        self, found: Estimate, first: Values, second: Values, *, kind: Relation, over: str
    ) -> Estimate:
        if self.bare:
            return found
        rng, draws = self._rng(), self.draws
        return checked(found, first, second, kind=kind, over=over, rng=rng, draws=draws)

    def _rng(self) -> np.random.Generator:
        # Anew for each contrast, so that one more does not change the others' draws.
        return np.random.default_rng(self.seed)


def _without_interval(tested: Estimate) -> list[str]:
    """What the test's method says of all but its interval."""
    return [part for part in tested.method.split("; ") if not part.startswith("interval by")]


FEW = 4
"""From so many units on there is an interval.

Of three, all draws are one and the same unit in 1 of 27: no end of the draws holds 2.5%, and what
would be called a 95% interval is none. By t it would hold only as far as single values are normal,
which shares and probabilities are not.
"""


FEW_TO_CORRELATE = 25
"""Of fewer, drawn intervals of a correlation are too narrow: Fisher's stays, which fits its p."""


def _enough(estimate: Estimate, *, over: str) -> Estimate:
    """The estimate, or without its interval and with the reason where its units are too few."""
    least = min(estimate.n_first, estimate.n_second)
    if least >= FEW or estimate.low is None:
        return estimate
    reason = f"{least} {over} are too few for an interval: it takes {FEW}"
    return replace(estimate, low=None, high=None, reason=reason)


def _over(tested: Estimate, over: str) -> Estimate:
    """The test's estimate with what its units are, which its interval is over as well."""
    there = any(end is not None for end in (tested.low, tested.effect_low))
    return replace(tested, unit=over, interval_over=over if there else None)


def _of_shape(shape: tuple[int, ...]) -> str:
    """What an interval is over, of a table of this shape."""
    many = (
        name for name, size in zip(("items", "wordings"), shape[1:], strict=True) if size >= LEAST
    )
    factors = ["conditions", *many]
    if len(factors) == 1:
        return GIVEN_SENTENCES
    return f"{', '.join(factors[:-1])} and {factors[-1]}, crossed"


def _of_difference(tested: Estimate, compared: Estimate) -> Estimate:
    """The test with the effect sizes of ``compared``, each in proportion to the difference."""
    sizes: dict[str, float | str | None] = {}
    for name in ("effect", "second_effect"):
        value, difference = getattr(compared, name), compared.difference
        sizes |= {name: value, f"{name}_name": getattr(compared, f"{name}_name")}
        if value and difference and tested.low is not None and tested.high is not None:
            ratio = value / difference
            sizes |= {f"{name}_low": tested.low * ratio, f"{name}_high": tested.high * ratio}
    return replace(tested, **sizes)  # type: ignore[arg-type]


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


Estimates: TypeAlias = "Iterator[tuple[Contrast, Estimate]]"


def estimate_table(estimates: Iterable[Estimate]) -> pl.DataFrame:
    """All estimates as a frame with the columns ESTIMATES, in the order given."""
    return records_table(estimates, schema(ESTIMATES))


def records_table(records: Iterable[object], columns: pl.Schema) -> pl.DataFrame:
    """Flat records as a frame with these columns, in the order given."""
    # A frame of dictionaries, and dataclasses.asdict, look at each value by itself: of 20,000
    # estimates that takes ten times as long.
    every = [vars(one) for one in records]
    return pl.DataFrame({name: [one[name] for one in every] for name in columns}, schema=columns)
