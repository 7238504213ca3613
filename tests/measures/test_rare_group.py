"""Rare but neutral conditions are scored as a group of their own, in no headline."""

from __future__ import annotations

import statistics

import polars as pl
import pytest
from choosing import section
from making import fills, prompts

from goffman.contrasts.engine import estimates
from goffman.measures.negative_attitude import NegativeAttitude
from goffman.measures.sentiment import NegativeSentiment
from goffman.presentation.findings import findings_of
from goffman.schemas import LABELS, schema

LEVELS = {"stigmatized": 0.7, "non-stigmatized": 0.2, "rare": 0.3}


def table(items=4, each=5):
    return prompts(
        *(
            {
                "item": f"i{item}",
                "condition": f"{group}-{n}",
                "form": f"{group}-{n}",
                "group": group,
            }
            for group in LEVELS
            for n in range(each)
            for item in range(items)
        )
    )


def share(row, place):
    # Conditions differ, items differ, and a little of each prompt's own.
    n = int(row["condition"][-1])
    return LEVELS[row["group"]] + 0.02 * n + 0.01 * int(row["item"][1]) + 0.003 * (place % 3)


def found_by(measure, answers, asked):
    scores = measure(answers, asked)
    return scores, estimates(scores, {"scale": measure}, wordings={"scale": ["w1"]})


def by_attitude(asked):
    return pl.concat(
        [
            fills(
                row["prompt_id"],
                {"bad": share(row, place), "good": 1 - share(row, place)},
                label={"bad": "negative", "good": "positive"},
            )
            for place, row in enumerate(asked.to_dicts())
        ]
    )


def by_sentiment(asked):
    rows = [
        {
            "prompt_id": row["prompt_id"],
            "model": "m",
            "label": "negative" if share(row, place) > 0.5 else "positive",
            "negative": share(row, place),
            "positive": 1 - share(row, place),
        }
        for place, row in enumerate(asked.to_dicts())
    ]
    return pl.DataFrame(rows, schema=schema(LABELS))


@pytest.mark.parametrize(
    ("measure", "made", "quantity"),
    [
        (NegativeAttitude(), by_attitude, "negative"),
        (NegativeSentiment(), by_sentiment, "negative-probability"),
    ],
)
def test_rare_conditions_have_their_mean_and_no_part_in_the_headline(measure, made, quantity):
    asked = table()
    scores, found = found_by(measure, made(asked), asked)
    means = {
        group: statistics.fmean(
            share(row, place) for place, row in enumerate(asked.to_dicts()) if row["group"] == group
        )
        for group in LEVELS
    }
    (main,) = found.filter(family="primary").to_dicts()
    assert (main["kind"], main["first"], main["second"]) == ("groups", *list(LEVELS)[:2])
    expected = means["stigmatized"] - means["non-stigmatized"]
    assert main["difference"] == pytest.approx(expected, abs=1e-6)
    rare = scores.filter(pl.col("wording").is_null(), level="group", group="rare")
    rare = rare.filter(quantity=quantity, model="m")
    assert rare["value"].to_list() == pytest.approx([means["rare"]], abs=1e-6)
    _, without = found_by(measure, made(asked), asked.filter(pl.col("group") != "rare"))
    assert without.filter(family="primary")["low"][0] == main["low"]
    (said,) = findings_of(section(measure, scores, asked, wordings=("w1",)))
    assert (
        said.head
        == {
            "negative": "Fills in more negative words about stigmatized conditions",
            "negative-probability": "Labels stigmatized conditions negative more often than others",
        }[quantity]
    )
    assert said.verdict == "relevant"
