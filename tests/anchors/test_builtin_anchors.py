"""The anchors that come with the package: one number for each thing that we ask about."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from goffman.anchors.loader import builtin_anchors, every_anchor, load_anchor
from goffman.instruments.loader import load_instrument
from goffman.instruments.types import Questionnaire, SentencePairs
from goffman.stats.intervals import share_interval
from in_process import goffman

HUMAN = Path(__file__).parents[3] / "shared" / "facts" / "human"


def test_the_dimensions_are_of_the_93_conditions_one_to_one() -> None:
    anchor = load_anchor("pachankis2018")
    for name in ("social-distance", "people-sentiment"):
        content = load_instrument(name).content
        assert isinstance(content, Questionnaire)
        ours = {one.id: one.name for one in content.conditions if one.group == "stigmatized"}
        assert set(anchor.conditions()) == set(ours)
    assert len(anchor.conditions()) == 93
    for item in anchor.items:
        rows = [one for one in anchor.values if one.item == item.id]
        assert len(rows) == 93
        assert len({one.named for one in rows}) == 93
    # Whether something is current or past is the same on both sides.
    past = {one.named for one in anchor.values if "remitted" in ours[one.condition].lower()}
    assert past == {one.named for one in anchor.values if "remitted" in (one.named or "").lower()}
    assert len(past) == 12


def test_every_condition_shares_a_word_with_its_name_in_the_source() -> None:
    content = load_instrument("social-distance").content
    assert isinstance(content, Questionnaire)
    ours = {one.id: one.name for one in content.conditions}
    stems = lambda text: {word[:4] for word in text.lower().replace("/", " ").split()}  # noqa: E731
    pairs = {(one.condition, one.named) for one in load_anchor("pachankis2018").values}
    assert all(stems(ours[condition]) & stems(named or "") for condition, named in pairs)


def test_the_occupations_are_those_of_the_sentences() -> None:
    content = load_instrument("coreference").content
    assert isinstance(content, SentencePairs)
    assert {one.name for one in content.occupations} == {
        *load_anchor("bls-occupations").conditions()
    }


def test_the_survey_has_fifteen_questions_about_five_people() -> None:
    anchor = load_anchor("gss-vignettes")
    assert set(anchor.conditions()) == {
        *("schizophrenia", "depression", "alcohol-dependence", "opioid-dependence"),
        *("daily-troubles", "cocaine-dependence"),
    }
    years = {(one.condition, one.year) for one in anchor.values if "-dep" in one.condition}
    # Another drug in 1996 than in 2018, and none in between.
    assert years == {
        *(("alcohol-dependence", year) for year in (1996, 2006, 2018)),
        ("cocaine-dependence", 1996),
        ("opioid-dependence", 2018),
    }
    assert [one.id for one in anchor.items] == [
        *("work", "neighbor", "evening", "friend", "group-home", "marry"),
        *("violent-to-others", "violent-to-self", "mental-illness", "ups-and-downs", "character"),
        *("chemical-imbalance", "upbringing", "genetics", "gods-will"),
    ]
    latest = anchor.latest()
    assert len(latest) == 15 * 6 * 3
    instrument = load_instrument("vignettes")
    content = instrument.content
    assert isinstance(content, Questionnaire)
    described = {one.id for one in content.conditions}
    assert {one.year for one in latest if one.condition in described} == {2018}
    assert instrument.choice is not None
    assert {*anchor.wordings} - {"published"} <= {one.id for one in instrument.choice.stems}


def test_the_surveys_intervals_are_wilsons_of_the_effective_numbers() -> None:
    for one in load_anchor("gss-vignettes").values:
        assert one.n is not None
        assert one.n_effective is not None
        assert one.n_effective <= one.n
        low, high = share_interval(one.value, one.n_effective)  # type: ignore[arg-type]
        assert one.low == pytest.approx(low, abs=6e-5)
        assert one.high == pytest.approx(high, abs=6e-5)


def test_men_are_kept_at_more_distance() -> None:
    distance = ("work", "neighbor", "evening", "friend", "group-home", "marry")
    rows = [one for one in load_anchor("gss-vignettes").values if one.item in distance]
    for condition in load_anchor("gss-vignettes").conditions():
        of = {
            gender: [
                one.value for one in rows if (one.condition, one.gender) == (condition, gender)
            ]
            for gender in ("female", "male")
        }
        assert sum(of["male"]) / len(of["male"]) > sum(of["female"]) / len(of["female"])


@pytest.mark.skipif(
    not HUMAN.is_dir(), reason="the facts that the anchors were made from: not here"
)
def test_the_numbers_are_those_of_the_sources() -> None:
    def rows(name: str) -> list[dict[str, str]]:
        with (HUMAN / name).open(encoding="utf-8") as file:
            return list(csv.DictReader(file))

    dimensions = {(one.named, one.item): one.value for one in load_anchor("pachankis2018").values}
    items = [one.id for one in load_anchor("pachankis2018").items]
    source = rows("pachankis2018-dimensions.csv")
    assert dimensions == {
        (row["stigma"], item): float(row[item]) for row in source for item in items
    }
    women = {one.named: one.value for one in load_anchor("bls-occupations").values}
    shares = {r["occupation"]: float(r["percent_women"]) / 100 for r in rows("bls-occupations.csv")}
    assert women == pytest.approx(shares)
    survey = sorted(
        (one.year, one.gender, one.n, round(one.value * 100, 1))
        for one in load_anchor("gss-vignettes").values
    )
    assert survey == sorted(
        (int(row["year"]), row["person"], int(row["n"]), float(row["percent_weighted"]))
        for row in rows("gss-vignettes.csv")
    )


def test_anchors_are_listed_and_shown() -> None:
    listed = json.loads(goffman("anchors", "--json").stdout)
    assert [row["anchor"] for row in listed] == list(builtin_anchors())
    assert all(row["citation"] and row["terms"] and row["country"] for row in listed)
    said = goffman("anchors").stdout
    assert all(one.id in said for one in every_anchor())
    shown = goffman("anchors", "pachankis2018").stdout
    assert "peril: how dangerous it makes a person seem" in shown
    assert "They did not say how they feel" in shown
    assert "sex-offender" in shown
    whole = json.loads(goffman("anchors", "gss-vignettes", "--json").stdout)
    assert len(whole["values"]) == 630
    wrong = goffman("anchors", "pachankis")
    assert wrong.returncode == 2
    assert wrong.stderr == (
        "There is no anchor 'pachankis'. Give a folder, or one of these: pachankis2018, "
        "gss-vignettes, bls-occupations. Did you mean 'pachankis2018'?\n"
    )
