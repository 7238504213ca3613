"""A contrast as data: what is set against what, for whom, and by which test.

One loop makes every contrast of the catalog: it goes through the strata (each model, variant, group
of conditions, subscale), takes the two sides of each from the scores, and hands them to the test.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from goffman.contrasts.designs import Side, in_order
from goffman.instruments.types import BASELINE

if TYPE_CHECKING:
    from goffman.contrasts.designs import ScoreTable
    from goffman.contrasts.engine import Contrast, Estimates
    from goffman.stats.estimate import Estimate

By = Literal["model", "model or all", "variant", "group", "setting", "dimension"]
"""A setting is a condition that stands in the column ``group`` of the contrast."""
Sides = Iterator[tuple[str, str, Any, Any]]
Pairs = Callable[["Stratum"], Sides]
"""The two sides of each contrast of a stratum: their names, and what the test takes of them."""

Test = Callable[["ScoreTable", "Contrast", Any, Any], "Estimate"]
View = Callable[["ScoreTable"], "ScoreTable"]


@dataclass(frozen=True, kw_only=True)
class ContrastSpec:
    """One kind of contrast; called with the scores of an instrument, it makes all of them."""

    kind: str
    pairs: Pairs
    test: Test
    by: tuple[By, ...] = ("model",)
    level: str = "prompt"
    first_wording: bool = False
    """Whether only the first wording counts, as in Lin et al. (2022)."""
    groups: tuple[str, ...] = ()
    """Those that ``by`` goes through; empty: the two that the instrument compares."""
    quantity: str | None = None
    """The number that it is said to be of; None: the one that is compared."""
    views: tuple[View, ...] = ()
    """What is averaged in the scores before."""

    def on(self, *views: View) -> ContrastSpec:
        """Return the same contrast of scores that are averaged so."""
        return replace(self, views=(*views, *self.views))

    def __call__(self, scored: ScoreTable) -> Estimates:
        """Yield every contrast of this kind with its estimate."""
        for view in self.views:
            scored = scored.seen(view)
        for stratum in self._strata(scored):
            about = {name: getattr(stratum, name) for name in ("model", "variant", "dimension")}
            if stratum.group is not None:
                about["group"] = stratum.group
            if self.quantity is not None:
                about["quantity"] = self.quantity
            for first, second, one, other in self.pairs(stratum):
                says = scored.says(self.kind, **about, first=first, second=second)
                yield says, self.test(scored, says, one, other)

    def _strata(self, scored: ScoreTable) -> Iterator[Stratum]:
        models: Sequence[str | None] = [None]
        if {"model", "model or all"} & {*self.by}:
            over_all = "model or all" in self.by and len(scored.models) > 1
            models = [*scored.models, None] if over_all else scored.models
        variants: Sequence[str | None] = [None]
        if "variant" in self.by:
            # With and without names; None where there is one.
            variants = in_order(scored.scores, "variant") or [None]
        groups: Sequence[str | None] = [None]
        if "group" in self.by:
            groups = self.groups or (scored.contrast, scored.against)
        if "setting" in self.by:
            groups = in_order(scored.rows(self.level), "condition")
        for model, variant, group in itertools.product(models, variants, groups):
            whole = Stratum(spec=self, scored=scored, model=model, variant=variant, group=group)
            yield whole
            for name in in_order(whole.rows(), "dimension") if "dimension" in self.by else ():
                yield replace(whole, dimension=name)


@dataclass(frozen=True, kw_only=True)
class Stratum:
    """The scores that a contrast is made within."""

    spec: ContrastSpec
    scored: ScoreTable
    model: str | None = None
    variant: str | None = None
    group: str | None = None
    dimension: str | None = None

    def rows(self, quantity: str | None = None, **ids: str | None) -> pl.DataFrame:
        """Return the scores of the stratum, or of another group or model in it."""
        scored, spec = self.scored, self.spec
        wanted: dict[str, str | None] = {}
        # Scores of prompts are of models; means over all models have none.
        if self.model is not None or ("model or all" in spec.by and spec.level != "prompt"):
            wanted["model"] = self.model
        if "variant" in spec.by:
            wanted["variant"] = self.variant
        if spec.first_wording:
            wanted["wording"] = scored.wordings[0]
        group = "condition" if "setting" in spec.by else "group"
        parts = ((group, self.group), ("dimension", self.dimension))
        wanted |= {name: value for name, value in parts if value is not None}
        return scored.rows(spec.level, quantity, **(wanted | ids))


def named_groups(first: str, second: str) -> Pairs:
    """Return what yields two groups of conditions.

    ``contrast`` and ``against`` name those that the instrument compares.
    """

    def pairs(stratum: Stratum) -> Sides:
        known = {"contrast": stratum.scored.contrast, "against": stratum.scored.against}
        names = known.get(first, first), known.get(second, second)
        yield from known_sides(stratum, "group", [names], stratum.rows())

    return pairs


groups = named_groups("contrast", "against")


def models(stratum: Stratum) -> Sides:
    """Yield every two models."""
    every = itertools.combinations(stratum.scored.models, 2)
    yield from known_sides(stratum, "model", every, stratum.rows())


def dimensions(stratum: Stratum) -> Sides:
    """Yield every two subscales."""
    rows = stratum.rows()
    every = itertools.combinations(in_order(rows, "dimension"), 2)
    yield from known_sides(stratum, "dimension", every, rows)


def settings(stratum: Stratum) -> Sides:
    """Yield every adjective setting against the baseline."""
    rows = stratum.rows()
    others = [name for name in in_order(rows, "condition") if name != BASELINE]
    yield from known_sides(stratum, "condition", [(name, BASELINE) for name in others], rows)


def wordings_against_first(stratum: Stratum) -> Sides:
    """Yield every other wording against the first, without the prompts that name no condition."""
    first, *others = stratum.scored.wordings
    rows = stratum.rows().filter(pl.col("condition") != BASELINE)
    yield from known_sides(stratum, "wording", [(one, first) for one in others], rows)


def quantities(first: str, second: str) -> Pairs:
    """Return what yields two numbers of the same prompts."""

    def pairs(stratum: Stratum) -> Sides:
        rows = [
            stratum.rows(name).filter(pl.col("condition") != BASELINE) for name in (first, second)
        ]
        if all(one.height for one in rows):
            one, other = (Side(each, stratum.scored, "quantity") for each in rows)
            yield first, second, one, other

    return pairs


def known_sides(
    stratum: Stratum, column: str, pairs: Iterable[tuple[str, str]], rows: pl.DataFrame
) -> Sides:
    """Yield the pairs of which both have scores."""
    parts = rows.partition_by(column, as_dict=True)
    known = {str(name): Side(of, stratum.scored, column) for (name,), of in parts.items()}
    for first, second in pairs:
        if first in known and second in known:
            yield first, second, known[first], known[second]
