"""Women against men diagnosis by diagnosis, model against model by part, and as the study has it."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from goffman.contrasts.designs import Clusters
from goffman.contrasts.engine import estimates
from goffman.measures.gender import PhraseGender, SubjectGender
from goffman.replicate.lin2022 import read_phrase_scores, read_subjects, results

LIN = "lin2022"


def contrasts(scores, measure, *, wordings=("first",), sharing=None):
    name = scores["instrument"][0]
    every = pl.concat([scores, measure.aggregate(scores)])
    shared = {name: sharing} if sharing else None
    return estimates(every, {name: measure}, wordings={name: [*wordings]}, sharing=shared)


@pytest.fixture(scope="module")
def subjects(published: Path) -> pl.DataFrame:
    return read_subjects(published / LIN)


@pytest.fixture(scope="module")
def phrases(published: Path) -> pl.DataFrame:
    return read_phrase_scores(published / LIN)


@pytest.fixture(scope="module")
def of_subjects(subjects: pl.DataFrame) -> pl.DataFrame:
    return contrasts(subjects, SubjectGender())


def table(scores, model, group):
    """The disparity: sentences × diagnoses, and the names of these."""
    rows = scores.filter(quantity="disparity", model=model, group=group)
    wide = rows.pivot("condition", index="item", values="value").sort("item").drop("item")
    return wide.to_numpy(), wide.columns


def test_the_paired_t_of_the_study_is_that_of_replicate(subjects, phrases, published):
    """Means, p and d of all 24 + 30 rows that replicate has, on the authors' files."""
    found = pl.concat(
        [contrasts(subjects, SubjectGender()), contrasts(phrases, PhraseGender())]
    ).filter(kind="genders-as-asked")
    replicated = {one.name: one.value for one in results(published / LIN)}
    checked = 0
    for row in found.iter_rows(named=True):
        parts = [row["model"], row["instrument"], row["dimension"]]
        if row["instrument"] == "care-seeking":
            parts.insert(2, row["group"])
        what = ", ".join(part for part in parts if part)
        # Over all dimensions the study has no test.
        if f"{what}: p" not in replicated:
            assert (row["instrument"], row["dimension"]) == ("attribution", None)
            continue
        values = (row["mean_first"], row["mean_second"], row["p"], row["effect"])
        for name, value in zip(("P(female)", "P(male)", "p", "d"), values, strict=True):
            assert value == pytest.approx(replicated[f"{what}: {name}"], rel=1e-9), what
        assert row["verdict"] is None
        checked += 1
    assert checked == 24 + 27
    whole = found.filter(
        pl.col("dimension").is_null(),
        model="roberta",
        group="mental-health",
        instrument="care-seeking",
    )
    assert whole["n"].to_list() == [187]
    assert whole["effect"][0] == pytest.approx(1.64, abs=0.005)
    rows = subjects.filter(model="roberta", group="mental-health")
    values = rows.filter(quantity="disparity")["value"]
    assert whole["second_effect"][0] == pytest.approx(values.mean() / values.std())


def test_the_studys_own_sentences_are_tested_as_it_did_where_they_were_asked(phrases):
    """Ours differ from them by a constant here, so the two cannot be confused."""
    moved = pl.when(pl.col("quantity") == "female").then(pl.col("value") + 0.3).otherwise("value")
    # Wording first is ours.
    ours = phrases.with_columns(value=moved)
    theirs = phrases.with_columns(wording=pl.lit("as-run"))
    both = pl.concat([ours, theirs])
    own = Clusters(own=frozenset((item, "first") for item in phrases["item"].unique()))
    wanted = {
        (row["model"], row["dimension"]): row["mean_first"]
        for row in of_kind(contrasts(phrases, PhraseGender()), "genders-as-asked")
    }
    for wordings, sharing, added in (
        (("first", "as-run"), own, 0.0),
        (("first",), own, 0.3),
    ):
        rows = of_kind(
            contrasts(both, PhraseGender(), wordings=wordings, sharing=sharing), "genders-as-asked"
        )
        assert len(rows) == len(wanted) == 30
        for row in rows:
            expected = wanted[row["model"], row["dimension"]] + added
            assert row["mean_first"] == pytest.approx(expected)
    # What is ours stays ours.
    rows = of_kind(contrasts(both, PhraseGender(), sharing=own), "genders")
    assert {
        round(row["mean_first"] - wanted[row["model"], row["dimension"]], 9) for row in rows
    } == {0.3}


def of_kind(found, kind):
    return found.filter(kind=kind).to_dicts()


@pytest.mark.parametrize("model", ["roberta", "mentalroberta", "clinicallongformer"])
def test_each_diagnosis_is_tested_over_its_sentences_and_corrected_over_the_list(
    subjects, of_subjects, model
):
    mental, names = table(subjects, model, "mental-health")
    other, others = table(subjects, model, "other")
    plain = {
        ("condition-level", "0"): (np.hstack([mental, other]), [*names, *others], 0.0),
        ("reference", "other"): (mental, names, other.mean(axis=1, keepdims=True)),
        ("own-reference", "other"): (other, others, other.mean(axis=1, keepdims=True)),
    }
    for (kind, second), (values, called, against) in plain.items():
        tested = stats.ttest_1samp(values - against, 0.0)
        adjusted = dict(zip(called, stats.false_discovery_control(tested.pvalue), strict=True))
        raw = dict(zip(called, tested.pvalue, strict=True))
        means = dict(zip(called, (values - against).mean(axis=0), strict=True))
        rows = of_subjects.filter(kind=kind, model=model).to_dicts()
        assert {row["first"] for row in rows} == {*called}
        for row in rows:
            assert row["second"] == second
            assert row["difference"] == pytest.approx(means[row["first"]], abs=1e-12)
            assert row["p"] == pytest.approx(raw[row["first"]], rel=1e-7)
            assert row["p_adjusted"] == pytest.approx(adjusted[row["first"]], rel=1e-7)
            assert (row["n"], row["unit"], row["family_size"]) == (17, "items", len(called))
            assert row["low"] < row["difference"] < row["high"]
            # Interval and corrected p agree.
            assert (row["low"] > 0 or row["high"] < 0) == (row["p_adjusted"] < 0.05)


def test_models_are_compared_in_each_part_as_if_it_were_the_whole_scale(subjects, of_subjects):
    rows = of_subjects.filter(pl.col("dimension").is_not_null(), kind="models")
    # Three pairs, two groups, three phases.
    assert rows.height == 18
    for phase in ("diagnosis", "intention", "action"):
        alone = contrasts(subjects.filter(dimension=phase), SubjectGender())
        wholes = {
            (row["group"], row["first"], row["second"]): row
            for row in of_kind(alone, "models")
            if row["dimension"] is None
        }
        for row in rows.filter(dimension=phase).iter_rows(named=True):
            whole = wholes[row["group"], row["first"], row["second"]]
            for name in ("difference", "statistic", "df", "p"):
                assert row[name] == pytest.approx(whole[name], rel=1e-12)
