"""A run of the vignettes whose shares are made: what is said and drawn of them beside people's."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import torch

from goffman.anchors.compare import compare_with_anchors
from goffman.anchors.figures import anchor_figures
from goffman.anchors.loader import every_anchor, load_anchor
from goffman.anchors.report import anchor_sections, anchor_tables
from goffman.anchors.sentences import describe_anchor, in_points
from goffman.gate.names import named_estimates
from goffman.options import AskOptions
from goffman.pipeline import audit
from goffman.presentation.competence import Competence
from goffman.report.load import MeasuredRun, read_run
from tiny_chat import make_causal

pytestmark = pytest.mark.slow
"""Whole runs: minutes of computing."""

PEOPLE = {
    (one.item, one.condition, one.gender): one.value
    for one in load_anchor("gss-vignettes").latest()
}
UP = 0.25
"""So much more stigmatizing than people is the made model about depression."""


@pytest.fixture(scope="module")
def asked(tmp_path_factory) -> Path:
    torch.set_num_threads(1)
    model = str(make_causal("llama", tmp_path_factory.mktemp("causal"), chat=False))
    folder = tmp_path_factory.mktemp("vignettes") / "run"
    options = AskOptions(modes=("choice",), controls=False, sample="all")
    audit([model], instruments=["vignettes"], output=folder, options=options)
    return folder


@pytest.fixture(scope="module")
def run(asked) -> MeasuredRun:
    """The run as if the model answered as people do, but for depression; wordings differ a little."""
    measured = read_run(asked)
    genders = dict(measured.prompts.select("prompt_id", "gender").rows())
    wordings = measured.prompts["wording"].unique().sort().to_list()

    def share(row) -> float:
        # People were asked about one description of each.
        condition = row["category"].lower().replace(" ", "-")
        people = PEOPLE[row["item"], condition, genders[row["prompt_id"]]]
        off = 0.01 * (wordings.index(row["wording"]) - (len(wordings) - 1) / 2)
        return min(1.0, people + off + UP * (condition == "depression"))

    made = (pl.col("quantity") == "share-endorsing") & (pl.col("level") == "prompt")
    shares = measured.scores.filter(made)
    values = [share(row) for row in shares.iter_rows(named=True)]
    scores = pl.concat(
        [measured.scores.filter(~made), shares.with_columns(value=pl.Series(values))]
    )
    # A tiny model knows no options, and a made one that answers has no other way of answering.
    silent = pl.col("quantity").is_in(["elsewhere", "no-answer"])
    scores = scores.with_columns(value=pl.when(silent).then(0.05).otherwise("value"))
    people = compare_with_anchors(scores, measured.prompts, measured.manifest, every_anchor())
    assert list(people.anchors) == ["gss-vignettes"]
    manifest = replace(measured.manifest, anchors=people.anchors)
    return replace(
        measured,
        scores=scores,
        manifest=manifest,
        anchors=people.estimates,
        anchor_points=people.points,
    )


def test_it_is_said_about_whom_the_model_is_harder_than_people(run) -> None:
    (one,) = run.anchored
    said = describe_anchor(one)
    assert said.head == (
        "Its answers are more stigmatizing than people's in 2018 about the person described with "
        "depression"
    )
    assert "people in 2018 24% (+" in said.text
    assert "opioid dependence (our own description) " in said.text
    assert {*one.estimates["group"]} == {condition for _, condition, _ in PEOPLE} - {
        "cocaine-dependence"
    }
    assert "Of the 75 single questions, " in said.text
    assert "“Don't know” or no answer: " in said.text
    assert said.not_covered == (
        "The intervals say nothing about other questions, wordings or names."
    )


def test_a_model_that_hardly_leaves_the_middle_is_not_compared(run) -> None:
    """The same shares, of a model that takes the obvious side of control items 57 times of 100."""
    shares = run.scores.filter(pl.col("quantity") == "share-endorsing")
    control = shares.head(1).with_columns(
        level=pl.lit("control"), quantity=pl.lit("decided"), value=pl.lit(0.57)
    )
    scores = pl.concat([run.scores, control])
    people = compare_with_anchors(scores, run.prompts, run.manifest, every_anchor())
    tested = pl.col("kind").is_in(["anchor-difference", "anchor-overall", "anchor-gender"])
    found = people.estimates.filter(tested)
    assert found["p"].null_count() == found.height == 75 + 5 + 5
    (one,) = replace(run, anchors=people.estimates, anchor_points=people.points).anchored
    about = {"name": one.model, "model": "m", "task": "tell", "score": "AUC", "n": 20, "missing": 0}
    control = Competence(**about, value=0.95, floor=0.9, decided=0.57, decided_ends=(0.55, 0.6))
    said = describe_anchor(
        replace(one, section=replace(one.section, competence={one.model: control}))
    )
    assert said.head == "Not compared with people's: its answers hardly leave the middle"
    assert said.text.startswith(
        "On control items with an obvious answer, 57% of its answers are on the obvious side (95% "
        "interval 55% to 60%). 50% is indifference, and 75% is needed"
    )
    # .5 + .14 × (.24 − .5)
    assert "depression 50%, people in 2018 24%, people with as much indifference 46%" in said.text


def test_what_indifference_may_explain_is_not_called_more_stigmatizing(run) -> None:
    (one,) = run.anchored
    checked = one.estimates.with_columns(indifference_p=pl.lit(0.03))
    said = describe_anchor(replace(one, estimates=checked))
    assert said.head == (
        "Its answers are unlike people's in 2018 about the person described with depression, but "
        "by no more than its indifference may explain"
    )
    certain = one.estimates.with_columns(indifference_p=pl.lit(0.02))
    assert "are more stigmatizing than" in describe_anchor(replace(one, estimates=certain)).head


def test_page_figure_tables_and_gates_have_the_differences(run) -> None:
    (shown,) = anchor_sections(run.anchored, run.manifest.anchors)
    assert len(shown["differences"]) == 5 + 5 + 75
    (gap,) = [
        row
        for row in shown["differences"]
        if row["condition"] == "Depression" and row["item"].endswith(": a man minus a woman")
    ]
    assert re.fullmatch(r"[+−]\d+", gap["people"])
    assert gap["is_clear"] == "no"
    assert shown["rows"] == []
    (figure,) = anchor_figures(run.anchored)
    points = figure.spec["data"]["values"]
    assert len(points) == 75
    assert {one["name"] for one in points} == set(figure.choices[0].options)
    assert any(one["label"] for one in points)
    names = {
        table.name
        for table in anchor_tables(
            run.anchored, run.anchors, run.anchor_points, models=run.manifest.models
        )
    }
    assert names == {"beside-people", "beside-people-points"}
    paths = {one.path for one in named_estimates(run.every_estimate, run.manifest)}
    form = "vignettes-choice"
    assert f"{form}.minus-people.gss-vignettes.work.depression" in paths
    assert f"{form}.minus-people-overall.gss-vignettes.depression" in paths
    assert f"{form}.gender-minus-people.gss-vignettes.depression" in paths


@pytest.mark.parametrize(
    ("value", "said"), [(0.123, "+12"), (-0.01, "−1"), (0.004, "0"), (-0.004, "0"), (0.0, "0")]
)
def test_points_have_a_sign_unless_they_round_to_none(value, said) -> None:
    assert in_points(value) == said


def test_a_question_without_an_answer_is_told_of(run) -> None:
    """Nothing is said over all questions about whom one of them was not answered."""
    gone = (pl.col("kind") == "anchor-overall") & (pl.col("group") == "schizophrenia")
    (one,) = replace(run, anchors=run.anchors.filter(~gone)).anchored
    said = describe_anchor(one)
    assert "schizophrenia" not in said.text.partition(". ")[0]
    assert "nothing is said about schizophrenia, because a question has no answer" in said.text
    none = run.anchors.filter(pl.col("kind") != "anchor-overall")
    (one,) = replace(run, anchors=none).anchored
    assert describe_anchor(one).head.startswith(
        "There are too few answers to compare it with people"
    )


def test_a_gap_between_a_man_and_a_woman_unlike_people_s_is_in_the_heading(run) -> None:
    """Turned round for all five, and for one alone."""

    def turned(conditions: set[str]) -> MeasuredRun:
        side = (pl.col("kind") == "anchor-gender-side") & (pl.col("variant") == "model")
        mine = (pl.col("kind") == "anchor-gender") | side
        mine &= pl.col("group").is_in(list(conditions))
        clear = {"difference": -0.4, "low": -0.5, "high": -0.3, "p": 1e-5, "p_adjusted": 5e-5}
        clear |= {"mean_first": -0.35, "mean_second": 0.05}
        return replace(
            run,
            anchors=run.anchors.with_columns(
                pl.when(mine).then(pl.lit(value)).otherwise(name).alias(name)
                for name, value in clear.items()
            ),
        )

    (one,) = turned({"depression"}).anchored
    said = describe_anchor(one)
    gap = "Its answers are more stigmatizing about a woman than about a man for "
    assert said.head.startswith(
        f"{gap}depression, clearly unlike people's; averaged over women and "
    )
    assert said.head.endswith(" than people's in 2018 about the person described with depression")
    (one,) = turned({*run.anchors["group"].drop_nulls()}).anchored
    overall = pl.col("kind") == "anchor-overall"
    same = run.anchors.with_columns(low=pl.when(overall).then(-1.0).otherwise("low"))
    (level,) = replace(run, anchors=same).anchored
    assert describe_anchor(level).head == (
        "Its answers differ clearly from people's in 2018 about none of 5 descriptions"
    )
    assert "points are not ruled out." in describe_anchor(level).text
    assert describe_anchor(one).head.startswith(
        f"{gap}all 5 descriptions, clearly unlike people's; "
    )
