"""As in the study: its own sentences alone, however many of ours are asked beside them."""

from __future__ import annotations

import random

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from goffman.contrasts.designs import clusters_by_instrument
from goffman.contrasts.engine import estimates
from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import render
from goffman.measures.registry import measure_of
from goffman.schemas import FILLS, LABELS, prompt_table, schema

AS_ASKED = pl.col("kind") == "groups-as-asked"


def classified(prompts, models, draw):
    """Labels at random; a third of the conditions' sentences are more often negative."""
    rows = []
    for model in models:
        for prompt, group in prompts.select("prompt_id", "group").iter_rows():
            negative = draw.random() ** (0.5 if group == "stigmatized" else 1.0)
            label = "negative" if negative > 0.5 else "positive"
            rows.append((prompt, model, label, negative, None, 1 - negative))
    return pl.DataFrame(rows, schema=schema(LABELS), orient="row")


def filled(prompts, models, draw, unrated=0.02):
    """A good word and a bad one at each mask; here and there one that nobody rated alone."""
    rows = []
    for model in models:
        for prompt, group in prompts.select("prompt_id", "group").iter_rows():
            bad = draw.random() ** (0.5 if group == "stigmatized" else 1.0)
            bare = draw.random() < unrated
            for rank, (word, p) in enumerate((("bad", bad), ("good", 1 - bad)), start=1):
                rating = None if bare else {"bad": "negative", "good": "positive"}[word]
                rows.append((prompt, model, 1, "", rank, word, word, p, rating))
    columns = {**schema(FILLS), "label": pl.String()}
    return pl.DataFrame(rows, schema=columns, orient="row")


def as_asked(name, prompts, answers):
    """The rows as in the study, and the main results, of these prompts alone."""
    measure = measure_of(load_instrument(name))
    mine = answers.filter(pl.col("prompt_id").is_in(prompts["prompt_id"].implode()))
    found = estimates(
        measure(mine, prompts),
        {name: measure},
        wordings={name: prompts["wording"].unique(maintain_order=True).to_list()},
        sharing=clusters_by_instrument(prompts),
    )
    groups = found.filter(pl.col("quantity") != "negative-apart", kind="groups")
    return found.filter(AS_ASKED), groups["difference"].to_list()


@pytest.mark.parametrize(
    ("name", "answered"), [("people-sentiment", classified), ("social-distance", filled)]
)
def test_as_in_the_study_is_of_its_sentences_alone_and_ours_do_not_change_it(name, answered):
    prompts = prompt_table(render(load_instrument(name)).prompts)
    # A few conditions of each group are enough.
    few = prompts.select("condition", "group").unique(maintain_order=True).group_by("group")
    few = few.head(8)["condition"]
    prompts = prompts.filter(pl.col("condition").is_in(few.implode()))
    answers = answered(prompts, ("a", "b"), random.Random(7))
    every, main = as_asked(name, prompts, answers)
    study = prompts.filter(source="study")
    assert 0 < study.height < prompts.height
    alone, of_study = as_asked(name, study, answers)
    assert every.height == 3, "each model, and both together"
    assert every["difference"].null_count() == 0
    assert_frame_equal(every, alone)
    # The main result is of all sentences.
    assert main != pytest.approx(of_study)
    # Nobody's mark: all of them are as asked.
    unmarked, _ = as_asked(name, prompts.with_columns(source=pl.lit(None, pl.String)), answers)
    assert unmarked["difference"].to_list() != pytest.approx(every["difference"].to_list())


def test_by_hand_the_share_is_that_of_the_two_sentences():
    prompts = prompt_table(render(load_instrument("people-sentiment")).prompts)
    few = ("homeless", "poor", "unemployed", "old", "rich", "wealthy", "young", "slim")
    prompts = prompts.filter(pl.col("condition").is_in(few))
    answers = classified(prompts, ("a",), random.Random(3))
    (row,) = as_asked("people-sentiment", prompts, answers)[0].to_dicts()
    two = prompts.filter(pl.col("text").str.contains("^They are |^These are "))
    known = two.join(answers, on="prompt_id").with_columns(bad=pl.col("label") == "negative")
    of_each = known.group_by("group", "condition").agg(pl.col("bad").mean())
    of_group = dict(of_each.group_by("group").agg(pl.col("bad").mean()).rows())
    expected = of_group["stigmatized"] - of_group["non-stigmatized"]
    assert row["difference"] == pytest.approx(expected)


def test_families_reach_the_contrasts_and_near_copies_count_once():
    prompts = prompt_table(render(load_instrument("social-distance")).prompts)
    sharing = clusters_by_instrument(prompts)["social-distance"]
    assert {*sharing.families.values()} == {"choosing", "say", "as-for-me"}
    few = prompts.select("condition", "group").unique(maintain_order=True).group_by("group")
    prompts = prompts.filter(pl.col("condition").is_in(few.head(8)["condition"].implode()))
    answers = filled(prompts, ("a",), random.Random(7), unrated=0)
    measure = measure_of(load_instrument("social-distance"))
    scores = measure(answers, prompts)
    found = estimates(
        scores,
        {"social-distance": measure},
        wordings={"social-distance": [*sharing.families]},
        sharing={"social-distance": sharing},
    )
    (row,) = found.filter(kind="groups", quantity="negative", model="a").to_dicts()
    assert row["sentences"] == 7 * 3
    assert row["interval_over"] == "conditions by category, items and wordings, crossed"
    cells = scores.filter(level="prompt", quantity="negative")
    cells = cells.with_columns(family=pl.col("wording").replace(sharing.families))
    keys = ["group", "condition", "item", "family"]
    means = cells.group_by(keys).agg(pl.col("value").mean())
    of_group = dict(means.group_by("group").agg(pl.col("value").mean()).rows())
    assert row["difference"] == pytest.approx(of_group["stigmatized"] - of_group["non-stigmatized"])
    wording = cells.group_by("group").agg(pl.col("value").mean())
    of_wordings = dict(wording.rows())
    plain = of_wordings["stigmatized"] - of_wordings["non-stigmatized"]
    assert row["difference"] != pytest.approx(plain)
