"""Shares of models minus shares of people: the arithmetic, and what is set against what."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest
from scipy import stats

from goffman.anchors.load import load_anchor
from goffman.estimates.against_people import against_people
from goffman.stats.two_sources import BOTH, GIVEN, People, apart, mean_of, minus_people
from goffman.tables import PROMPT_TABLE, SCORES, schema

ANCHOR = load_anchor("gss-vignettes")
SAID = {(one.item, one.condition, one.gender): one for one in ANCHOR.latest()}


def test_welch_s_t_is_that_of_scipy() -> None:
    rng = np.random.default_rng(1)
    model, people = rng.random(4), rng.random(60)
    said = People(value=people.mean(), error=people.std(ddof=1) / math.sqrt(60), n=60)
    found = minus_people(model.tolist(), said, contrast="")
    expected = stats.ttest_ind(model, people, equal_var=False)
    interval = expected.confidence_interval()
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert found.interval_over == BOTH


def test_with_one_wording_only_people_vary() -> None:
    found = minus_people([0.7], People(value=0.4, error=0.03, n=200), contrast="")
    reach = stats.t.ppf(0.975, 199) * 0.03
    assert (found.low, found.high) == pytest.approx((0.3 - reach, 0.3 + reach))
    assert found.interval_over == GIVEN


def test_several_answers_of_the_same_people_are_never_made_too_sure() -> None:
    """The error of a mean of correlated answers, from people who were drawn."""
    rng = np.random.default_rng(2)
    liking = rng.standard_normal((4000, 1))
    answers = (liking + rng.standard_normal((4000, 6)) > 0.4).astype(float)
    each = [
        People(value=one.mean(), error=one.std(ddof=1) / math.sqrt(4000), n=4000)
        for one in answers.T
    ]
    together = mean_of(each)
    of_means = answers.mean(axis=1).std(ddof=1) / math.sqrt(4000)
    assert together.value == pytest.approx(answers.mean())
    assert of_means < together.error < 2 * of_means
    assert apart(each[0], each[1]).error == pytest.approx(math.hypot(each[0].error, each[1].error))


def test_the_interval_covers_both_sides() -> None:
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(1000):
        wordings = 0.5 + 0.1 * rng.standard_normal(4)
        share = rng.binomial(250, 0.4) / 250
        said = People(value=share, error=math.sqrt(share * (1 - share) / 250), n=250)
        found = minus_people(wordings.tolist(), said, contrast="")
        hits += found.low <= 0.1 <= found.high
    assert 0.93 <= hits / 1000 <= 0.97


@dataclass(frozen=True)
class Toy:
    name: str = "vignette-code"
    quantity: str = "code"
    counted: str = "stigma"


def asked(value) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Scores and prompts of two questions, one of which counts, in two wordings and two genders."""
    scores, prompts = [], []
    for item, dimension in (("work", "stigma"), ("genetics", "belief")):
        for wording in ("w1", "w2"):
            for gender in ("female", "male"):
                for order in ("forward", "reversed"):
                    name = f"{item}-{wording}-{gender}-{order}"
                    about = {"instrument": "vignettes-choice", "item": item, "wording": wording}
                    about |= {
                        "condition": "depression",
                        "group": "disorder",
                        "dimension": dimension,
                    }
                    prompts.append(
                        about
                        | {
                            "prompt_id": name,
                            "gender": gender,
                            "order": order,
                            "text": "",
                            "keyed": "plain",
                        }
                    )
                    scores.append(
                        about
                        | {
                            "prompt_id": name,
                            "model": "m",
                            "measure": "vignette-code",
                            "quantity": "share-endorsing",
                            "level": "prompt",
                            "variant": gender,
                            "value": value(item, wording, gender, order),
                            "n": 1,
                            "missing": 0,
                        }
                    )
    return pl.DataFrame(scores, schema=schema(SCORES)), pl.DataFrame(
        prompts, schema=schema(PROMPT_TABLE)
    )


def test_each_question_is_set_against_people_s_and_gender_against_gender() -> None:
    def value(item, wording, gender, order):
        start = {"work": 0.5, "genetics": 0.9}[item]
        return (
            start
            + 0.1 * (wording == "w2")
            + 0.04 * (gender == "male")
            + 0.02 * (order == "reversed")
        )

    found, points = against_people(*asked(value), {"vignettes-choice": Toy()}, [ANCHOR])
    by = {(says.kind, says.dimension): estimate for says, estimate in found}
    assert set(by) == {
        ("anchor-difference", "work"),
        ("anchor-difference", "genetics"),
        ("anchor-overall", None),
        ("anchor-gender", None),
    }
    people = SAID["work", "depression", "all"]
    work = by["anchor-difference", "work"]
    assert work.mean_first == pytest.approx(0.58)
    assert work.difference == pytest.approx(0.58 - people.value)
    squared = np.var([0.53, 0.63], ddof=1) / 2
    error = (people.high - people.low) / (2 * stats.norm.ppf(0.975))
    assert work.error == pytest.approx(math.hypot(math.sqrt(squared), error))
    # One question counts, so that the mean over those that count is it.
    assert by["anchor-overall", None].difference == pytest.approx(work.difference)
    gender = by["anchor-gender", None]
    theirs = SAID["work", "depression", "male"].value - SAID["work", "depression", "female"].value
    assert gender.mean_first == pytest.approx(0.04)
    assert gender.mean_second == pytest.approx(theirs)
    assert work.family_size == 2
    assert {(one["item"], one["value"], one["people"]) for one in points} == {
        ("work", work.mean_first, people.value),
        (
            "genetics",
            by["anchor-difference", "genetics"].mean_first,
            SAID["genetics", "depression", "all"].value,
        ),
    }
    assert gender.family_size == 1


def test_only_what_people_were_asked_is_compared() -> None:
    scores, prompts = asked(lambda *_: 0.5)
    other = scores.with_columns(condition=pl.lit("grief"))
    assert against_people(other, prompts, {"vignettes-choice": Toy()}, [ANCHOR]) == ([], [])
    assert against_people(scores, prompts, {"another": Toy()}, [ANCHOR]) == ([], [])


def test_each_question_in_a_wording_of_its_own_is_still_a_mean_and_a_gap_is_none() -> None:
    """As a server is asked: no wording has both questions, which here both count."""
    scores, prompts = asked(lambda item, *_: {"work": 0.2, "genetics": 0.6}[item])
    own = (pl.col("item") == "work") == (pl.col("wording") == "w1")
    both = {"vignettes-choice": Toy(counted="x")}
    of_one = scores.filter(own).with_columns(dimension=pl.lit("x"))
    found, _ = against_people(of_one, prompts, both, [ANCHOR])
    (overall,) = [one for says, one in found if says.kind == "anchor-overall"]
    assert overall.mean_first == pytest.approx(0.4)
    assert overall.interval_over == GIVEN
    gone = pl.when(pl.col("item") == "work").then(None).otherwise(pl.col("value"))
    found, _ = against_people(of_one.with_columns(value=gone), prompts, both, [ANCHOR])
    assert {says.kind for says, _ in found} == {"anchor-difference"}
