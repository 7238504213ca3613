"""The gap adjusted for the phrases' likelihood, length and verb, against fits by others."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st

from goffman.contrasts.catalog import groups_adjusted
from goffman.contrasts.designs import LOG_LIKELIHOOD, Clusters, Contrast, ScoreTable
from goffman.measures.responses import as_scores

SIDES = {"stigmatized": 0.5, "non-stigmatized": -0.5}
ITEMS, WORDINGS = 7, 3
LIKELY = "likelihood, length and verb"
VERBS = ("has", "has", "is", "is", "is", "had", "had", "had", "uses")


def people(seed, *, stigmatized=24, others=14):
    """Conditions with their side, category, phrase and likelihood, unlike on the two sides."""
    rng = np.random.default_rng(seed)
    rows = []
    for group, count in (("stigmatized", stigmatized), ("non-stigmatized", others)):
        for k in range(count):
            longer = rng.integers(1, 4 if group == "stigmatized" else 3)
            verb = VERBS[rng.integers(len(VERBS))]
            phrase = " ".join([verb, *(f"word{k}" for _ in range(longer))])
            likely = -3.0 * longer - 2 * SIDES[group] + rng.normal()
            rows.append((f"{group}-{k}", group, f"c{k % 8}", phrase, likely))
    return pl.DataFrame(
        rows, schema=["condition", "group", "category", "phrase", "likely"], orient="row"
    )


def covariates(of, *, likelihood=True):
    """By hand: a column each, verbs of fewer than three conditions together."""
    verb = np.array([phrase.split()[0] for phrase in of["phrase"]])
    common = [one for one in np.unique(verb) if (verb == one).sum() >= 3]
    if all(one in common for one in verb):
        common.pop()  # the others say it
    words = np.array([len(phrase.split()) for phrase in of["phrase"]])
    columns = [words, *((verb == one) for one in common)]
    return np.column_stack(([of["likely"].to_numpy()] if likelihood else []) + columns).astype(
        float
    )


def scored(of, values, *, likelihood=True):
    """``values``: [condition, item, wording]."""
    whole = {"model": "m", "instrument": "scale", "measure": "negative-attitude"}
    ids = [
        {"item": f"i{i}", "wording": f"w{w}", "value": float(values[k, i, w])}
        | {name: row[name] for name in ("condition", "group", "category")}
        for k, row in enumerate(of.iter_rows(named=True))
        for i in range(ITEMS)
        for w in range(WORDINGS)
    ]
    prompts = pl.DataFrame(ids).with_columns(quantity=pl.lit("negative"), level=pl.lit("prompt"))
    likely = of.select("condition", "group", "category", value="likely").with_columns(
        quantity=pl.lit(LOG_LIKELIHOOD), level=pl.lit("condition")
    )
    tables = [prompts, likely] if likelihood else [prompts]
    scores = pl.concat(
        as_scores(one.with_columns(**{name: pl.lit(text) for name, text in whole.items()}))
        for one in tables
    )
    empty = dict.fromkeys(("kind", "quantity", "first", "second"), "")
    return ScoreTable(
        scores=scores,
        about=Contrast(instrument="scale", measure="negative-attitude", **empty),
        quantity="negative",
        contrast="stigmatized",
        against="non-stigmatized",
        wordings=[f"w{w}" for w in range(WORDINGS)],
        sharing=Clusters(phrases={c: (p,) for c, p in of.select("condition", "phrase").rows()}),
    )


def noise(seed, of):
    rng = np.random.default_rng(seed)
    parts = rng.normal(size=(of.height, 1, 1)), rng.normal(size=(1, ITEMS, 1))
    return 0.3 * parts[0] + 0.2 * parts[1] + 0.1 * rng.normal(size=(of.height, ITEMS, WORDINGS))


def fitted(of, values, *, likelihood=True):
    """The coefficient of the side over all cells, by another package."""
    side = of["group"].replace_strict(SIDES).to_numpy()
    columns = np.column_stack([side, covariates(of, likelihood=likelihood)])
    design = np.repeat(columns, ITEMS * WORDINGS, axis=0)
    return sm.OLS(values.ravel(), sm.add_constant(design)).fit().params[1]


@pytest.mark.parametrize("likelihood", [True, False])
def test_the_coefficient_is_that_of_a_plain_fit(likelihood):
    of = people(1)
    values = noise(2, of) - 0.05 * of["likely"].to_numpy()[:, None, None]
    ((says, found),) = groups_adjusted(scored(of, values, likelihood=likelihood))
    assert found.difference == pytest.approx(fitted(of, values, likelihood=likelihood), abs=1e-10)
    means = values.mean(axis=(1, 2))
    side = of["group"].replace_strict(SIDES).to_numpy()
    design = np.column_stack([side, np.ones(len(side)), covariates(of, likelihood=likelihood)])
    by_hand = np.linalg.lstsq(design, means, rcond=None)[0][0]
    assert found.difference == pytest.approx(by_hand, abs=1e-10)
    assert found.low < found.difference < found.high
    assert (LIKELY in found.method) is likelihood
    assert "conditions by category and items; adjusted for" in found.interval_over
    assert says.kind == "groups-adjusted"
    assert "adjusted for the phrase's length, verb and, where known, likelihood" in says.text


@given(
    seed=st.integers(0, 10_000),
    effect=st.sampled_from([0.0, 0.0, 0.1, -0.7]),
    slope=st.floats(1, 5),
)
@settings(max_examples=40, deadline=None)
def test_what_rests_on_the_phrases_alone_is_no_gap(seed, effect, slope):
    of = people(seed)
    side = of["group"].replace_strict(SIDES).to_numpy()
    columns = covariates(of)
    weights = slope * np.random.default_rng(seed).normal(size=columns.shape[1])
    means = columns @ weights + effect * side
    items = 0.01 * np.random.default_rng(seed).normal(size=(1, ITEMS, 1))
    values = means[:, None, None] + items + np.zeros((1, 1, WORDINGS))
    ((_, found),) = groups_adjusted(scored(of, values))
    raw = means[side > 0].mean() - means[side < 0].mean()
    # What is fitted to the last digit may have no spread left.
    if found.difference is None:
        assert "all values are equal" in found.reason
    else:
        assert found.difference == pytest.approx(effect, abs=1e-8)
    assert abs(raw - effect) > 1e-3


def test_few_items_are_taken_as_given_and_few_categories_leave_no_number():
    of = people(3)
    values = noise(4, of)[:, :2]
    table = scored(of, np.concatenate([values, values[:, :1].repeat(5, axis=1)], axis=1))
    two = table.scores.filter(pl.col("item").is_in(["i0", "i1"]) | pl.col("item").is_null())
    ((_, found),) = groups_adjusted(ScoreTable(**{**vars_of(table), "scores": two}))
    assert found.interval_over == (
        f"conditions by category; adjusted for {LIKELY} of the phrase; treated as fixed: items"
    )
    assert found.low is not None
    few = people(3).with_columns(category=pl.lit("one") + (pl.int_range(pl.len()) % 3).cast(str))
    ((_, none),) = groups_adjusted(scored(few, noise(4, few)))
    assert none.difference is None
    assert "too few different categories of conditions (3)" in none.reason


def vars_of(table):
    names = ("scores", "about", "quantity", "contrast", "against", "wordings", "sharing", "design")
    return {name: getattr(table, name) for name in names}


def test_without_phrases_there_is_no_such_contrast():
    of = people(5)
    table = scored(of, noise(6, of))
    assert [*groups_adjusted(ScoreTable(**{**vars_of(table), "sharing": Clusters()}))] == []
