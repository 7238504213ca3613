"""Simulated correlations of two measures, and of models with what people said."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
from statsmodels.stats.proportion import proportion_confint

from goffman.anchors.compare import ProfileComparison, anchor_table, correlated
from goffman.anchors.loader import load_anchor
from goffman.contrasts.correlations import Answers
from goffman.contrasts.designs import Contrast
from goffman.contrasts.engine import estimates
from goffman.measures.negative_attitude import NegativeAttitude
from goffman.measures.sentiment import PROBABILITY, NegativeSentiment
from goffman.stats.multiple_testing import as_list, list_level
from goffman.stats.share_difference import People, Share, minus_people
from simulated import CATEGORIES, Draw, Scenario, conditions_alike, frame, table
from simulated_conditions import DISTANCE

MEASURES = {
    "a": type("Attitude", (NegativeAttitude,), {"contrasts": ()})(),
    "b": type("Sentiment", (NegativeSentiment,), {"contrasts": ()})(),
}


@cache
def conditions() -> pl.DataFrame:
    groups = {"stigmatized": 93, "non-stigmatized": 29, "rare": 12}
    rows = [
        {"instrument": instrument, "model": model, "quantity": quantity}
        | {"group": group, "condition": f"{group}{k}"}
        for instrument, model, quantity in (("a", "m", "negative"), ("b", "c", PROBABILITY))
        for group, count in groups.items()
        for k in range(count)
    ]
    return frame(rows, measure="x", level="condition")


def two_measures(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
    """A probability that is skewed, and one that is not, of the same 134 conditions."""
    del size
    one = rng.normal(size=134)
    other = real * one + np.sqrt(1 - real**2) * rng.normal(size=134)
    values = np.concatenate([one, 1 / (1 + np.exp(1 - 1.5 * other))])
    scores = conditions().with_columns(value=pl.Series(values))
    return estimates(
        scores,
        MEASURES,
        wordings={"a": ["w"], "b": ["w"]},
        pairs=[("m", "c")],
    )


@cache
def anchor() -> tuple[ProfileComparison, list[str]]:
    """What people said of 93 conditions, and whose number stands beside it."""
    said = load_anchor("pachankis2018")
    people: dict[str, dict[str, object]] = {one.id: {} for one in said.items}
    for value in said.latest():
        people[value.item][value.condition] = value
    names = list(said.conditions())
    answers = Answers(
        instrument="x",
        measure="x",
        quantity="negative",
        model="m",
        conditions=names,
        groups=["stigmatized"] * len(names),
        categories=CATEGORIES[0],
        values=np.zeros(len(names)),
    )
    return ProfileComparison(anchor=said, answers=answers, people=people), names  # type: ignore[arg-type]


def with_people(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
    """A model that has nothing to do with what people said; or rises with the first item."""
    beside, names = anchor()
    values = table(rng, conditions_alike(rng, size)[0], 7, 4, DISTANCE, size)
    first = next(iter(beside.people.values()))
    said = np.array([first[name].value for name in names])
    values += real * DISTANCE.condition * ((said - said.mean()) / said.std())[:, None, None]
    answers = replace(beside.answers, values=values.mean(axis=(1, 2)), table=values)
    return anchor_table(correlated(replace(beside, answers=answers)))


def shares(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
    """Six questions with twelve replies each, and 160 people: the same share, or more."""
    del size
    found = []
    for item in range(6):
        share = rng.uniform(0.15, 0.6)
        value = rng.binomial(160, share) / 160
        low, high = proportion_confint(round(value * 160), 160, method="wilson")
        said = People(value=value, low=low, high=high, n=160)
        model = Share(value=rng.binomial(12, share + real) / 12, replies=12)
        says = Contrast(
            kind="anchor-difference",
            instrument="x",
            measure="x",
            quantity="share",
            model="m",
            dimension=f"i{item}",
            first="x",
            second="people",
        )
        found.append((says, [(1, model)], said))
    # As the anchors do: p-values first, which say how wide the intervals of the list are to be.
    first = [minus_people(model, said, contrast=says.text) for says, model, said in found]
    level = list_level(first)
    made = [
        minus_people(model, said, contrast=says.text, level=level) for says, model, said in found
    ]
    kept = as_list(made, family="shares")
    return anchor_table([(says, one) for (says, *_), one in zip(found, kept, strict=True)])


def _correlation(name: str, draw: Draw, kind: str, *, tests: int) -> Scenario:
    alone = draw is two_measures
    return Scenario(
        name=name, draw=draw, kind=kind, real=0.4, tests=tests, given=alone, slow=not alone
    )


SCENARIOS = (
    _correlation("two measures: r over 134 conditions", two_measures, "measures", tests=1),
    _correlation("two measures: r within 93, 29 and 12", two_measures, "measures-within", tests=3),
    _correlation("people: r with six ratings", with_people, "anchor", tests=6),
    _correlation("people: ρ with six ratings", with_people, "anchor-rank", tests=6),
    _correlation("people: r within categories", with_people, "anchor-partial", tests=6),
    Scenario(
        "people: six shares of twelve replies",
        shares,
        "anchor-difference",
        0.4,
        tests=6,
        given=True,
    ),
)
