"""Contrasts: each says the difference that the scores have, with the interval of what was sampled."""

from __future__ import annotations

import itertools
from dataclasses import fields

import numpy as np
import polars as pl
import pytest
from scipy import stats

from goffman.contrasts.designs import Clusters
from goffman.contrasts.engine import PRIMARY, estimates
from goffman.formatting import Labels, number
from goffman.measures.coreference import CoreferenceBias
from goffman.measures.gender import PhraseGender, SubjectGender
from goffman.measures.negative_attitude import NegativeAttitude
from goffman.measures.registry import measures
from goffman.measures.responses import prompt_scores
from goffman.measures.sentiment import NegativeSentiment
from goffman.presentation.findings import findings_of
from goffman.presentation.section import Section
from goffman.report.summary import correlations, describe_correlations
from goffman.schemas import (
    ANSWER_KEY,
    CONTRASTS,
    ESTIMATES,
    PROMPT_TABLE,
    SCORES,
    SENSITIVITY,
    VERDICTS,
    complaints,
    schema,
)
from goffman.sensitivity.variations import headlines_of
from goffman.stats.crossed import crossed_interval
from goffman.stats.intervals import Estimate
from goffman.stats.jackknife import jackknife


def asked(instrument, people, *, items, wordings=("w1",)):
    """PROMPTS: conditions (name, group) × wordings × items (name, dimension)."""
    usual = {"keyed": "plain", "category": None, "text": "…", "instrument": instrument}
    usual |= dict.fromkeys(column.name for column in ANSWER_KEY)
    rows = [
        usual
        | {"prompt_id": f"{name}/{wording}/{item}", "item": item, "wording": wording}
        | {"dimension": dimension, "condition": name, "form": name, "group": group}
        for (name, group), wording, (item, dimension) in itertools.product(people, wordings, items)
    ]
    return pl.DataFrame(rows, schema=schema(PROMPT_TABLE))


def drawn(measure, prompts, quantities, *, models=("a", "b"), variants=None, seed=0, whole=False):
    """SCORES of a measure, the numbers of prompts drawn and the means its own."""
    draw = np.random.default_rng(seed)
    values = prompts.select("prompt_id").join(pl.DataFrame({"model": models}), how="cross")
    if variants:
        values = values.join(pl.DataFrame({"variant": variants}), how="cross")
    numbers = draw.random((values.height, len(quantities)))
    values = values.with_columns(
        pl.Series(name, np.round(numbers[:, k]) if whole else numbers[:, k])
        for k, name in enumerate(quantities)
    )
    if "female" in quantities:
        values = values.with_columns(disparity=pl.col("female") - pl.col("male"))
        values = values.with_columns(pl.col("disparity").alias("keyed-disparity"))
    names = [name for name in values.columns if name not in ("prompt_id", "model", "variant")]
    reasons = dict.fromkeys(names, "none")
    scores = prompt_scores(values, prompts, measure=measure.name, reasons=reasons)
    return pl.concat([scores, measure.aggregate(scores)])


PEOPLE = [
    *((f"s{k}", "stigmatized") for k in range(6)),
    *((f"n{k}", "non-stigmatized") for k in range(4)),
    ("baseline", "baseline"),
]
SEVEN = [(f"i{k}", None) for k in range(7)]
WORDINGS = {"distance": ["w1", "w2", "w3"], "sentiment": ["w1"], "care": ["w1"]}


@pytest.fixture(scope="module")
def mei():
    distance = asked("distance", PEOPLE, items=SEVEN, wordings=("w1", "w2", "w3"))
    sentiment = asked("sentiment", PEOPLE, items=SEVEN[:2])
    core = ("negative", "lowest", "highest", "mass", "rated-share", "last-probability")
    classes = ("negative", "neutral", "positive", "negative-probability")
    scores = pl.concat(
        [
            drawn(NegativeAttitude(), distance, core),
            drawn(NegativeSentiment(), sentiment, classes, models=("c",), whole=True),
        ]
    )
    measures = {"distance": NegativeAttitude(), "sentiment": NegativeSentiment()}
    found = estimates(scores, measures, wordings=WORDINGS, pairs=[("a", "c")])
    assert complaints(found, CONTRASTS + ESTIMATES + VERDICTS) == []
    return scores, measures, found


def test_the_table_has_the_fields_of_an_estimate_by_name_and_order():
    assert [column.name for column in ESTIMATES] == [field.name for field in fields(Estimate)]


def pick(found, **ids):
    rows = found.filter(
        pl.col(name).is_null() if value is None else pl.col(name) == value
        for name, value in ids.items()
    )
    assert rows.height == 1, rows
    return rows.row(0, named=True)


def of(scores, **ids):
    return scores.filter(
        pl.col(name).is_null() if value is None else pl.col(name) == value
        for name, value in ids.items()
    )


def exactly(number):
    return pytest.approx(number, rel=1e-9, abs=1e-12)


def by_crossed(*tables):
    """Error and df of tables whose conditions are each a category of their own."""
    labels = [[(side, n) for n in range(len(table))] for side, table in enumerate(tables)]
    return tuple(exactly(one) for one in crossed_interval(tables, labels)[1:])


def cubed(scores, **ids):
    """conditions × items × wordings, each sorted; models are averaged."""
    rows = of(scores, level="prompt", **ids)
    means = rows.group_by("condition", "item", "wording").agg(pl.col("value").mean())
    shape = [means[name].n_unique() for name in ("condition", "item", "wording")]
    return means.sort("condition", "item", "wording")["value"].to_numpy().reshape(shape)


GROUPS = ("stigmatized", "non-stigmatized")


def test_groups_differ_by_the_gap_over_all_that_was_sampled(mei):
    scores, _, found = mei
    for model in ("a", "b", None):
        row = pick(found, kind="groups", instrument="distance", model=model)
        gap = of(scores, quantity="negative-gap", level="model", model=model, wording=None)
        assert row["difference"] == exactly(gap["value"][0] if gap.height else row["difference"])
        ids = {"quantity": "negative", "instrument": "distance"} | (
            {"model": model} if model else {}
        )
        again = by_crossed(*(cubed(scores, group=group, **ids) for group in GROUPS))
        assert (row["n_first"], row["n_second"], row["sentences"]) == (6, 4, 21)
        assert (row["error"], row["df"]) == again
        t = row["difference"] / row["error"]
        assert row["p"] == exactly(2 * stats.t.sf(abs(t), row["df"]))
        assert row["high"] - row["difference"] == exactly(
            stats.t.ppf(0.975, row["df"]) * row["error"]
        )
        assert row["interval_over"] == "conditions, items and wordings, crossed"
        assert (row["family"] == "primary") == (model is not None)


def test_beside_it_stands_the_studys_reading_in_which_the_sentences_are_given(mei):
    scores, _, found = mei
    for model in ("a", "b", None):
        row = pick(found, kind="groups-as-asked", instrument="distance", model=model)
        conditions = of(
            scores, level="condition", quantity="negative", model=model, instrument="distance"
        )
        first, second = (
            of(conditions, group=group).sort("condition")["value"].to_numpy() for group in GROUPS
        )
        welch = stats.ttest_ind(first, second, equal_var=False)
        assert row["p"] == exactly(welch.pvalue)
        # The interval is the test's own, so that it holds 0 just where p is .05 or more.
        assert (row["low"], row["high"]) == exactly((*welch.confidence_interval(),))
        assert row["method"] == "interval by t"
        assert row["interval_over"] == "conditions"


def test_classifiers_are_compared_by_the_probability_of_the_class(mei):
    scores, _, found = mei
    row = pick(found, kind="groups", instrument="sentiment", model="c")
    ids = {"quantity": "negative-probability", "instrument": "sentiment"}
    one, other = (cubed(scores, group=group, **ids) for group in GROUPS)
    assert row["quantity"] == "negative-probability"
    assert row["difference"] == exactly(one.mean() - other.mean())
    assert (row["error"], row["df"]) == by_crossed(one, other)
    # Two sentences say nothing of others.
    assert (row["sentences"], row["verdict"]) == (2, "these sentences only")
    share = pick(found, kind="groups-as-asked", instrument="sentiment", model="c")
    assert share["quantity"] == "negative"
    # Of two sentences no single condition can be tested, and none is.
    assert {*of(found, instrument="sentiment")["kind"]} == {"groups", "groups-as-asked"}


def test_main_results_are_one_for_each_model_and_not_corrected(mei):
    _, _, found = mei
    primary = of(found, family="primary")
    assert primary.select("instrument", "model").rows() == [
        ("distance", "a"),
        ("distance", "b"),
        ("sentiment", "c"),
    ]
    assert primary["p_adjusted"].equals(primary["p"].rename("p_adjusted"))
    assert {*primary.select("family_size", "correction", "level").rows()} == {(1, None, 0.95)}


def test_models_are_compared_on_the_same_sentences(mei):
    scores, _, found = mei
    row = pick(found, kind="models", instrument="distance", group="stigmatized")
    ids = {"quantity": "negative", "instrument": "distance", "group": "stigmatized"}
    sides = [cubed(scores, model=model, **ids) for model in ("a", "b")]
    assert (row["first"], row["second"], row["n"]) == ("a", "b", 6)
    assert row["difference"] == exactly((sides[0] - sides[1]).mean())
    assert (row["error"], row["df"]) == by_crossed(sides[0] - sides[1])


@pytest.mark.parametrize(("gaps", "items", "kept"), [(["i3"], 6, 6), (["i3", "i4"], 7, 5)])
def test_of_items_and_conditions_with_gaps_those_are_left_out_that_leave_more(
    mei, gaps, items, kept
):
    scores, measures, _ = mei
    gone = (pl.col("condition") == "s0") & pl.col("item").is_in(gaps) & (pl.col("wording") == "w1")
    gone &= (pl.col("level") == "prompt") & (pl.col("model") == "a")
    holes = scores.with_columns(value=pl.when(~gone).then("value"))
    found = estimates(holes, measures, wordings=WORDINGS)
    row = pick(found, kind="groups", instrument="distance", model="a")
    assert (row["n_first"], row["n_second"], row["left_out"]) == (kept, 4, 6 - kept)
    said = "1 of 7 items are left out, because some got no answer" if items == 6 else None
    assert (row["sentences"], row["reason"]) == (3 * items, said)
    row = pick(found, kind="models", instrument="distance", group="stigmatized")
    assert (row["n"], row["left_out"], row["reason"]) == (kept, 6 - kept, said)


def test_each_condition_stands_against_the_baseline(mei):
    scores, _, found = mei
    rows = of(found, kind="baseline", instrument="distance", model="b")
    assert rows.height == 10
    for row in rows.iter_rows(named=True):
        above = of(
            scores,
            quantity="negative-minus-baseline",
            level="condition",
            model="b",
            condition=row["first"],
        )
        assert row["difference"] == exactly(above["value"][0])
        assert (row["n"], row["family_size"]) == (7, 10)
        assert row["correction"] == "benjamini-hochberg"
    corrected = stats.false_discovery_control(rows["p"].to_numpy())
    assert rows["p_adjusted"].to_numpy() == pytest.approx(corrected)
    apart = (rows["low"] > 0) | (rows["high"] < 0)
    assert apart.to_list() == (corrected <= 0.05).tolist()


def test_with_one_wording_conditions_stand_against_the_baseline_over_items():
    asked_once = asked("distance", PEOPLE, items=SEVEN, wordings=("w1",))
    core = ("negative", "lowest", "highest", "mass", "rated-share", "last-probability")
    measure = NegativeAttitude()
    scores = drawn(measure, asked_once, core, models=("a",))
    found = estimates(scores, {"distance": measure}, wordings={"distance": ["w1"]})
    row = pick(found, kind="baseline", model="a", first="s0")
    sides = [
        of(scores, level="prompt", quantity="negative", condition=name).sort("item")["value"]
        for name in ("s0", "baseline")
    ]
    test = stats.ttest_rel(*(side.to_numpy() for side in sides))
    assert (row["n"], row["p"]) == (7, exactly(test.pvalue))


def test_two_instruments_of_one_measure_are_two_correlations():
    """Each over the conditions of its own: never the conditions of both as if they were more."""
    core = ("negative", "lowest", "highest", "mass", "rated-share", "last-probability")
    classes = ("negative", "neutral", "positive", "negative-probability")
    attitude, sentiment = NegativeAttitude(), NegativeSentiment()
    people = asked("sentiment", PEOPLE, items=SEVEN[:2])
    scores = pl.concat(
        [
            *(
                drawn(attitude, asked(name, PEOPLE, items=SEVEN), core, models=("a",))
                for name in ("one", "two")
            ),
            drawn(sentiment, people, classes, models=("c",), whole=True),
        ]
    )
    measures = {"one": attitude, "two": attitude, "sentiment": sentiment}
    wordings = {name: ["w1"] for name in measures}
    found = estimates(scores, measures, wordings=wordings)
    rows = of(found, kind="measures").select("first", "second", "n").rows()
    assert rows == [
        ("negative-attitude by one", "negative-sentiment", 10),
        ("negative-attitude by two", "negative-sentiment", 10),
    ]


def test_later_wordings_stand_against_the_first(mei):
    scores, _, found = mei
    row = pick(found, kind="wordings", model="a", first="w2")
    assert (row["first"], row["second"], row["n"]) == ("w2", "w1", 10)
    assert row["interval_over"] == "conditions and items, crossed"
    two = [
        of(scores, level="group", quantity="negative", model="a", wording=w) for w in ("w2", "w1")
    ]
    # Six conditions of one group, four of the other.
    weighed = [
        (
            6 * of(t, group="stigmatized")["value"][0]
            + 4 * of(t, group="non-stigmatized")["value"][0]
        )
        / 10
        for t in two
    ]
    assert row["difference"] == exactly(weighed[0] - weighed[1])


CORRELATED = {"negative-attitude": "negative", "negative-sentiment": "negative-probability"}
"""Not the shares of labels: two labels of a condition are too coarse."""


def test_two_measures_are_correlated_over_conditions(mei):
    scores, _, found = mei
    rows = of(found, kind="measures").to_dicts()
    for row, models in zip(rows, ((None, None), ("a", "c")), strict=True):
        sides = [
            of(scores, level="condition", quantity=quantity, measure=measure, model=model)
            .filter(pl.col("condition") != "baseline")
            .sort("condition")["value"]
            for (measure, quantity), model in zip(CORRELATED.items(), models, strict=True)
        ]
        assert row["effect"] == exactly(np.corrcoef(*sides)[0, 1])
        assert row["n"] == 10
        assert row["effect_low"] < row["effect"] < row["effect_high"]
        for within in of(
            found, kind="measures-within", first=row["first"], second=row["second"]
        ).iter_rows(named=True):
            assert within["n"] == {"stigmatized": 6, "non-stigmatized": 4}[within["group"]]
            assert (within["effect"] is None, within["effect_low"]) == (False, None)
            assert within["reason"] == "it takes 10 conditions that can be compared"


def test_r_as_in_the_study_is_of_shares_of_labels_over_all_models(mei):
    """Against scipy: Pearson's r, its p, and the interval by Fisher's z."""
    scores, measures, found = mei
    (row,) = of(found, kind="measures-as-in-study").to_dicts()
    sides = [
        of(scores, level="condition", quantity="negative", measure=measure, model=None)
        .filter(pl.col("condition") != "baseline")
        .sort("condition")["value"]
        for measure in CORRELATED
    ]
    expected = stats.pearsonr(*sides)
    ends = expected.confidence_interval()
    assert (row["n"], row["df"], row["verdict"]) == (10, 8.0, None)
    assert row["effect"] == exactly(expected.statistic)
    assert row["p"] == pytest.approx(expected.pvalue)
    assert (row["effect_low"], row["effect_high"]) == pytest.approx((ends.low, ends.high))
    assert row["statistic"] == pytest.approx(
        expected.statistic * (8 / (1 - expected.statistic**2)) ** 0.5
    )
    # A condition of neither group, as goffman's own rare ones, is not among the study's.
    some = scores.filter(group="stigmatized")["condition"][0]
    third = pl.when(pl.col("condition") == some).then(pl.lit("rare")).otherwise("group")
    found = estimates(scores.with_columns(group=third), measures, wordings=WORDINGS)
    (fewer,) = of(found, kind="measures-as-in-study").to_dicts()
    assert (fewer["n"], fewer["df"]) == (9, 7.0)


def test_one_model_of_each_kind_is_correlated_once(mei):
    scores, measures, _ = mei
    alone = scores.filter(pl.col("model").eq_missing("b").not_() | pl.col("model").is_null())
    found = estimates(alone, measures, wordings=WORDINGS, pairs=[("a", "c")])
    rows = of(found, kind="measures")
    assert rows.select("first", "family_size").rows() == [("negative-attitude of a", 1)]


DIAGNOSES = [
    *((f"m{k}", "mental-health") for k in range(4)),
    *((f"o{k}", "other") for k in range(3)),
]
VERBS = [
    *((verb, "diagnosis") for verb in ("has", "suffers", "fears")),
    *((verb, "action") for verb in ("sees", "takes", "wants")),
]


@pytest.fixture(scope="module")
def lin():
    prompts = asked("care", DIAGNOSES, items=VERBS)
    scores = drawn(
        SubjectGender(),
        prompts,
        ("female", "male", "unspecified"),
        variants=["with-names", "without-names"],
    )
    measures = {"care": SubjectGender()}
    return scores, measures, estimates(scores, measures, wordings=WORDINGS)


def grid(scores, quantity, **ids):
    """items × conditions, both sorted."""
    rows = of(scores, level="prompt", quantity=quantity, **ids).sort("item", "condition")
    return rows["value"].to_numpy().reshape(rows["item"].n_unique(), -1)


def test_genders_are_compared_in_the_same_sentences_and_drawn_crossed(lin):
    scores, _, found = lin
    ids = {"model": "a", "variant": "without-names", "group": "mental-health"}
    row = pick(found, kind="genders", dimension=None, **ids)
    female, male = (grid(scores, gender, **ids) for gender in ("female", "male"))
    assert (row["n"], row["sentences"], row["mean_first"]) == (4, 6, exactly(female.mean()))
    gaps = (female - male).T[:, :, None]
    assert (row["error"], row["df"]) == by_crossed(gaps)
    spread = np.mean([side.mean(axis=0).var(ddof=1) for side in (female, male)]) ** 0.5
    assert row["effect"] == exactly(gaps.mean() / spread)
    assert (row["unit"], row["interval_over"]) == ("conditions", "conditions and items, crossed")
    assert row["test"] == "crossed t"
    assert row["method"] == "t after Satterthwaite, conditions and items, crossed"
    phase = pick(found, kind="genders", dimension="action", **ids)
    assert (phase["n"], phase["sentences"]) == (4, 3)
    whole = "genders: care, gender-of-subject, probability, without-names, a"
    assert (row["family"], row["family_size"]) == (whole, 2)
    parts = whole.replace("genders", "genders by dimension")
    assert (phase["family"], phase["family_size"]) == (parts, 4)


def test_groups_models_and_dimensions_compare_the_disparity(lin):
    scores, _, found = lin
    ids = {"variant": "with-names"}
    groups = pick(found, kind="groups", model="b", dimension=None, **ids)
    gap = of(scores, quantity="disparity-gap", level="model", model="b", **ids)
    assert groups["difference"] == exactly(gap["value"][0])
    models = pick(found, kind="models", group="other", dimension=None, **ids)
    sides = [grid(scores, "disparity", model=m, group="other", **ids) for m in ("a", "b")]
    assert models["difference"] == exactly(sides[0].mean() - sides[1].mean())
    for group in ("mental-health", "other"):
        phases = pick(found, kind="dimensions", model="a", group=group, **ids)
        assert (phases["first"], phases["second"]) == ("action", "diagnosis")
        of_model = of(scores, level="dimension", quantity="disparity", model="a", **ids)
        two = [of(of_model, group=group, dimension=d) for d in ("action", "diagnosis")]
        assert phases["difference"] == exactly(two[0]["value"][0] - two[1]["value"][0])


def test_swapped_groups_flip_every_sign(lin):
    scores, _, found = lin
    measures = {"care": SubjectGender(contrast="other", against="mental-health")}
    swapped = estimates(scores, measures, wordings=WORDINGS)
    for one, other in zip(
        *(
            of(t, kind="groups").sort("model", "variant", "dimension").to_dicts()
            for t in (found, swapped)
        ),
        strict=True,
    ):
        assert one["difference"] == exactly(-other["difference"])
        assert one["effect"] == exactly(-other["effect"])
        assert one["p"] == exactly(other["p"])


@pytest.mark.parametrize("study", ["mei", "lin"])
def test_the_order_of_rows_does_not_matter(request, study):
    scores, measures, found = request.getfixturevalue(study)
    shuffled = scores.sample(fraction=1, shuffle=True, seed=3)
    pairs = [("a", "c")] if study == "mei" else []
    again = estimates(shuffled, measures, wordings=WORDINGS, pairs=pairs)
    numbers = [name for name, kind in found.schema.items() if kind == pl.Float64]
    assert again.drop(numbers).equals(found.drop(numbers))
    for name in numbers:
        assert again[name].to_list() == [None if x is None else exactly(x) for x in found[name]]


def test_second_wordings_of_an_item_stand_against_the_first():
    prompts = asked("attribution", DIAGNOSES, items=VERBS, wordings=("first", "second"))
    scores = drawn(PhraseGender(), prompts, ("female", "male", "unspecified"), models=("a",))
    found = estimates(
        scores,
        {"attribution": PhraseGender()},
        wordings={"attribution": ["first", "second"]},
    )
    for quantity, group in itertools.product(
        ("keyed-disparity", "disparity"), ("mental-health", "other")
    ):
        row = pick(found, kind="wordings", quantity=quantity, group=group)
        sides = [grid(scores, quantity, wording=w, group=group) for w in ("second", "first")]
        assert row["difference"] == exactly(sides[0].mean() - sides[1].mean())
    # Everything else is about the first wording alone.
    assert pick(found, kind="genders", group="other", dimension=None)["n"] == 3


SHARED = Clusters(
    ways={f"s{k}": (f"frame {k % 8}", f"job {k % 7}", f"job {k % 6 + 7}") for k in range(12)}
)
"""What the twelve sentence pairs have in common."""


def of_pairs(scores):
    wordings, sharing = {"coreference": ["pro", "anti"]}, {"coreference": SHARED}
    measures = {"coreference": CoreferenceBias()}
    return estimates(scores, measures, wordings=wordings, sharing=sharing)


def clustered(values):
    """Mean, p and ends of the interval, by the sentence pairs' clusters."""
    ways = SHARED.clusters(f"s{k}" for k in sorted(range(12), key=str))
    mean, error, df = jackknife(values, ways)
    ends = stats.t.interval(0.95, df, mean, error)
    return tuple(exactly(one) for one in (mean, 2 * stats.t.sf(abs(mean / error), df), *ends))


NUMBERS = ("difference", "p", "low", "high")


@pytest.fixture(scope="module")
def briegel():
    """Two models, three trials of 12 sentence pairs in six settings."""
    settings = [("baseline", "baseline"), *((f"x{k},y", "contrasting-pair") for k in range(3))]
    settings += [("old,", "single-adjective"), ("blond,", "single-adjective")]
    prompts = asked(
        "coreference",
        settings,
        items=[(f"s{k}", None) for k in range(12)],
        wordings=("pro", "anti"),
    )
    draw = np.random.default_rng(5)
    values = prompts.select("prompt_id").join(
        pl.DataFrame({"model": ["m"] * 3 + ["o"] * 3, "trial": [1, 2, 3] * 2}), how="cross"
    )
    values = values.with_columns(
        correct=pl.Series(draw.integers(0, 2, values.height).astype(float))
    )
    measure = CoreferenceBias()
    each = prompt_scores(values, prompts, measure=measure.name, reasons={"correct": "none"})
    scores = pl.concat([each, measure.aggregate(each)])
    found = of_pairs(scores)
    assert complaints(found, CONTRASTS + ESTIMATES + VERDICTS) == []
    return scores, found


def bias_of_pairs(scores, setting, model="m"):
    """Of each sentence pair, by hand: right on pro minus right on anti, the mean over trials."""
    right = of(scores, level="prompt", quantity="correct", condition=setting, model=model)
    right = right.sort("item", "trial")
    pro, anti = (of(right, wording=side)["value"].to_numpy() for side in ("pro", "anti"))
    return (pro - anti).reshape(12, 3).mean(axis=1)


def test_settings_stand_against_the_baseline_by_trials_with_the_interval_of_their_test(briegel):
    scores, found = briegel
    trials = of(of(scores, model="m"), level="trial", quantity="bias")
    rows = of(found, kind="trials", model="m")
    assert rows.height == 5
    for row in rows.iter_rows(named=True):
        above = of(
            of(scores, model="m"),
            quantity="bias-minus-baseline",
            level="condition",
            condition=row["first"],
        )
        assert row["difference"] == exactly(above["value"][0])
        assert (row["n_first"], row["n_second"]) == (3, 3)
        names = (row["first"], "baseline")
        sides = [of(trials, condition=name)["value"].to_numpy() for name in names]
        welch = stats.ttest_ind(*sides, equal_var=False)
        assert row["p"] == exactly(welch.pvalue)
        assert (row["low"], row["high"]) == exactly((*welch.confidence_interval(row["level"]),))
        assert (row["unit"], row["interval_over"]) == ("trials", "trials")
    said = sentences(scores, found)
    assert said[0] == "coreference, m"
    assert "Without adjectives, accuracy on sentences that fit the stereotype minus" in said[1]
    each = of(of(scores, model="m"), level="prompt")
    kinds = ("correct", "incorrect", "unsure", "other", "refusal")
    shares = {kind: of(each, quantity=kind)["value"].mean() or 0.0 for kind in kinds}
    count = of(each, quantity="correct").height
    assert said[2].startswith("  In 3 trials of the same sentences, the bias ranged from ")
    assert said[3] == (
        f"  Shares of {count:,} replies: {number(shares['correct'])} name the right person, "
        f"{number(shares['incorrect'])} name the other one, {number(shares['unsure'])} are unsure, "
        f"{number(shares['other'])} say something else and {number(shares['refusal'])} refuse."
    )
    assert " of 5 adjective settings clearly change the bias." in said[1]
    differ = " of 5 adjective settings clearly differ from the sentences without adjectives. "
    assert any(
        line.startswith("  Over repeated trials of these sentences, ") and differ in f"{line} "
        for line in said
    )


def test_settings_stand_against_the_baseline_over_sentence_pairs(briegel):
    scores, found = briegel
    rows = of(found, kind="baseline", model="m")
    assert rows.height == 5
    for row in rows.iter_rows(named=True):
        sides = [bias_of_pairs(scores, setting) for setting in (row["first"], "baseline")]
        assert (row["difference"], row["p"]) == clustered(sides[0] - sides[1])[:2]
        assert (row["n"], row["unit"]) == (12, "sentence pairs")
        over = "sentence pairs, clustered by frame and by occupation in either role"
        assert row["interval_over"] == over
        assert row["family"] == "baseline: coreference, coreference-bias, bias, m"
        assert row["family_size"] == 5


def test_the_level_without_adjectives_stands_against_zero(briegel):
    scores, found = briegel
    for model in ("m", "o"):
        row = pick(found, kind="level", model=model)
        values = bias_of_pairs(scores, "baseline", model)
        assert row["difference"] == exactly(values.mean())
        assert tuple(row[name] for name in NUMBERS) == clustered(values)
        assert row["effect"] == exactly(values.mean() / values.std(ddof=1))
        assert row["family"] == "primary"


def test_two_adjectives_stand_against_one_over_sentence_pairs(briegel):
    scores, found = briegel
    row = pick(found, kind="groups", model="m")
    sides = [
        np.mean([bias_of_pairs(scores, name) for name in names], axis=0)
        for names in (("x0,y", "x1,y", "x2,y"), ("old,", "blond,"))
    ]
    assert row["n"] == 12
    assert tuple(row[name] for name in NUMBERS) == clustered(sides[0] - sides[1])


def test_a_sentence_pair_that_lacks_a_setting_is_left_out_of_means_over_settings(briegel):
    scores, _ = briegel
    gone = (pl.col("condition") == "old,") & (pl.col("item") == "s3") & (pl.col("model") == "m")
    measure = CoreferenceBias()
    each = of(scores, level="prompt").with_columns(value=pl.when(~gone).then("value"))
    holes = pl.concat([each, measure.aggregate(each)])
    found = of_pairs(holes)
    row = pick(found, kind="groups", model="m")
    assert (row["n"], row["left_out"]) == (11, 1)
    row = pick(found, kind="models", group="single-adjective")
    assert (row["n"], row["left_out"]) == (11, 1)
    row = pick(found, kind="models", group="contrasting-pair")
    assert (row["n"], row["left_out"]) == (12, 0)


def test_models_are_compared_on_the_same_sentence_pairs(briegel):
    scores, found = briegel
    names = {
        "baseline": ["baseline"],
        "contrasting-pair": ["x0,y", "x1,y", "x2,y"],
        "single-adjective": ["blond,", "old,"],
    }
    assert of(found, kind="models").height == 3
    for group, settings in names.items():
        row = pick(found, kind="models", group=group)
        sides = [
            np.mean([bias_of_pairs(scores, name, model) for name in settings], axis=0)
            for model in ("m", "o")
        ]
        assert (row["first"], row["second"], row["unit"]) == ("m", "o", "sentence pairs")
        assert row["p"] == clustered(sides[0] - sides[1])[1]


def test_the_raw_disparity_of_phrases_stands_beside_the_keyed_one():
    prompts = asked("attribution", DIAGNOSES, items=VERBS)
    scores = drawn(PhraseGender(), prompts, ("female", "male", "unspecified"))
    turned = (pl.col("quantity") == "keyed-disparity") & (pl.col("item") == "sees")
    each = of(scores, level="prompt").with_columns(
        value=pl.when(turned).then(-pl.col("value")).otherwise("value")
    )
    scores = pl.concat([each, PhraseGender().aggregate(each)])
    wordings = {"attribution": ["w1"]}
    found = estimates(scores, {"attribution": PhraseGender()}, wordings=wordings)
    for quantity in ("disparity", "keyed-disparity"):
        row = pick(found, kind="groups", model="a", quantity=quantity, dimension=None)
        gap = of(scores, quantity=f"{quantity}-gap", level="model", model="a")
        assert row["difference"] == exactly(gap["value"][0])
        listed = f"groups: attribution, gender-of-phrase, {quantity}, a"
        assert row["family"] == (PRIMARY if quantity == "disparity" else listed)
    assert of(found, kind="genders").select("quantity").unique().item() == "probability"


def test_every_row_says_what_it_counts(mei, lin, briegel):
    for found in (mei[2], lin[2], briegel[1]):
        assert found["contrast"].is_unique().all()
        assert found["unit"].null_count() == 0
        # An interval has what it is over; without one there is a reason.
        there = found["low"].is_not_null() | found["effect_low"].is_not_null()
        assert (found["interval_over"].is_not_null() | ~there).all()
        assert (found["reason"].is_not_null() | there).all()
        assert found["p"].drop_nulls().is_between(0, 1, closed="right").all()


def worded_by(by, scores, found):
    """The main results by wording."""
    wordings = {instrument: WORDINGS.get(instrument, ["w1"]) for instrument in by}
    every = headlines_of(found, by, scores, wordings, {})
    rows = [row for headline, mine in every for row in headline.by_wording(mine, [])]
    return pl.DataFrame(rows, schema=schema(SENSITIVITY))


def test_main_results_by_wording_are_plain_means_of_that_wording(mei):
    scores, found = mei[0], mei[2]
    by = {"distance": measures()["negative-attitude"]()}
    rows = worded_by(by, scores, found.filter(instrument="distance"))
    assert rows.height == 3 * found.filter(instrument="distance", family="primary").height
    for row in rows.iter_rows(named=True):
        mine = scores.filter(
            instrument="distance",
            model=row["model"],
            level="prompt",
            quantity="negative",
            wording=row["what"],
        )
        means = []
        for group in (row["first"], row["second"]):
            of_group = mine.filter(group=group)
            values = {}
            for one in of_group.iter_rows(named=True):
                values.setdefault((one["condition"], one["item"]), []).append(one["value"])
            conditions = {}
            for (condition, _), several in values.items():
                conditions.setdefault(condition, []).append(np.mean(several))
            means.append(np.mean([np.mean(several) for several in conditions.values()]))
        assert row["mean_first"] == pytest.approx(means[0])
        assert row["difference"] == pytest.approx(means[0] - means[1])


def sentences(scores, found):
    """All that the page says of scores whose instruments nobody has described."""
    kinds = dict(scores.select("instrument", "measure").unique(maintain_order=True).rows())
    by = {instrument: measures()[name]() for instrument, name in kinds.items()}
    models = {name: name for name in sorted(scores["model"].drop_nulls().unique())}
    worded = worded_by(by, scores, found)
    sections = {
        instrument: Section(
            instrument=instrument,
            measure=measure.name,
            unit=measure.unit,
            presentation=measure.presentation,
            scores=scores.filter(instrument=instrument),
            estimates=found.filter(instrument=instrument),
            names=Labels(models=models, instruments={}, conditions={}, items={}),
            contrast=getattr(measure, "contrast", ""),
            against=getattr(measure, "against", ""),
            wordings=WORDINGS.get(instrument, ["w1"]),
            sensitivity=worded.filter(instrument=instrument),
        )
        for instrument, measure in by.items()
    }
    lines = [
        line
        for name, section in sections.items()
        for one in findings_of(section)
        for line in (
            f"{name}, {one.model}",
            f"  {one.heading} {one.said}",
            *(f"  {each}" for each in one.more),
        )
    ]
    return [*lines, *describe_correlations(correlations(found, sections, by))]


def test_a_classifiers_share_is_said_by_condition_and_by_sentence():
    """s0 has two forms more, all negative: it counts once by condition, three times by sentence."""
    people = asked("sentiment", [("s0", "stigmatized"), ("s1", "stigmatized")], items=SEVEN[:2])
    others = asked(
        "sentiment", [("n0", "non-stigmatized"), ("n1", "non-stigmatized")], items=SEVEN[:2]
    )
    more = [
        people.filter(condition="s0").with_columns(
            prompt_id=pl.format("{}/{}", "prompt_id", pl.lit(form)), form=pl.lit(form)
        )
        for form in ("a", "b")
    ]
    prompts = pl.concat([people, *more, others])
    negative = (pl.col("condition") == "s0").cast(pl.Float64)
    likely = {"negative-probability": 0.1 + 0.8 * negative}
    values = prompts.select("prompt_id", negative=negative, model=pl.lit("c"), **likely)
    measure = NegativeSentiment()
    reasons = dict.fromkeys(("negative", "negative-probability"), "none")
    each = prompt_scores(values, prompts, measure=measure.name, reasons=reasons)
    scores = pl.concat([each, measure.aggregate(each)])
    found = estimates(scores, {"sentiment": measure}, wordings=WORDINGS)
    said = sentences(scores, found)
    assert (
        "The label “negative” has a mean probability of 0.50 for 2 stigmatized conditions and 0.10 "
        "for 2 non-stigmatized ones: "
    ) in said[1]
    assert said[-1] == (
        "  Counting each sentence once, it labels 75% of the 8 sentences about stigmatized "
        "conditions and 0% of the 4 sentences about non-stigmatized conditions negative."
    )


def test_no_scores_give_no_estimates():
    found = estimates(
        pl.DataFrame(schema=schema(SCORES)), {"care": SubjectGender()}, wordings=WORDINGS
    )
    assert found.height == 0
    assert complaints(found, CONTRASTS + ESTIMATES + VERDICTS) == []


def test_an_instrument_that_a_stopped_run_has_not_come_to_has_no_estimates():
    scores = pl.DataFrame(schema=schema(SCORES))
    assert estimates(scores, {"later": NegativeAttitude()}, wordings={}).height == 0
