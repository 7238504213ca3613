"""Lin et al. (2022): scores of small files of our own, and all that the authors published."""

import csv
from collections import defaultdict
from pathlib import Path
from statistics import fmean, stdev

import pytest
from scipy import stats

from goffman.errors import PublishedError
from goffman.replicate.lin2022 import read_phrases, read_subjects, results
from goffman.replicate.rows import Result, set_side_by_side
from goffman.tables import SCORES, complaints


def naive_pairs(path: Path, prompts: slice = slice(None)) -> tuple[list[float], list[float]]:
    """P(female) and P(male) of a file of question 1, paired by prompt and diagnosis."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    values: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for row in rows:
        values[row["prompt"], row["diagnosis"]][row["gender"].lower()] = float(row["probability"])
    asked = list(dict.fromkeys(row["prompt"] for row in rows))[prompts]
    chosen = [value for (prompt, _), value in values.items() if prompt in asked]
    return [value["female"] for value in chosen], [value["male"] for value in chosen]


def pooled_d(first: list[float], second: list[float]) -> float:
    return (fmean(first) - fmean(second)) / ((stdev(first) ** 2 + stdev(second) ** 2) / 2) ** 0.5


@pytest.fixture(scope="module")
def recomputed(published: Path) -> list[Result]:
    return results(published / "lin2022")


def test_the_files_become_scores(small: Path) -> None:
    for scores in (read_subjects(small / "lin2022"), read_phrases(small / "lin2022")):
        assert complaints(scores, SCORES) == []
    subjects = read_subjects(small / "lin2022")
    assert set(subjects["model"]) == {"roberta", "tinybert"}
    assert set(subjects["quantity"]) == {"female", "male", "unspecified", "disparity"}
    assert set(subjects["dimension"]) == {"diagnosis", "intention", "action"}
    # Both spell their mask in their own way, and both are asked the same.
    assert all(item.startswith("<mask> ") for item in subjects["item"])


@pytest.mark.parametrize("model", ["roberta", "tinybert"])
def test_small_files_of_any_model_give_what_plain_arithmetic_gives(
    model: str, small: Path, by_name
) -> None:
    found = by_name(results(small / "lin2022"))
    female, male = naive_pairs(small / "lin2022" / f"{model}_all_df_intention.csv")
    what = f"{model}, care-seeking, mental-health"
    assert found[f"{what}: P(female)"] == pytest.approx(fmean(female), abs=1e-12)
    assert found[f"{what}: P(male)"] == pytest.approx(fmean(male), abs=1e-12)
    assert found[f"{what}: p"] == pytest.approx(stats.ttest_rel(female, male).pvalue, abs=1e-9)
    assert found[f"{what}: d"] == pytest.approx(pooled_d(female, male), abs=1e-9)
    others = naive_pairs(small / "lin2022" / f"{model}_all_df_intention_non_mh.csv")
    mental, other = (
        [f - m for f, m in zip(*both, strict=True)] for both in ((female, male), others)
    )
    what = f"{model}, disparity, mental-health against other"
    assert found[f"{what}: other"] == pytest.approx(fmean(other), abs=1e-12)
    assert found[f"{what}: p"] == pytest.approx(stats.ttest_ind(mental, other).pvalue, abs=1e-9)
    assert found[f"{what}: d"] == pytest.approx(pooled_d(mental, other), abs=1e-9)


def test_phrases_are_compared_in_each_dimension(small: Path, by_name) -> None:
    path = small / "lin2022" / "attribute_recursive_3steps_TOPK_10_BEAM_10_tinybert__result.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["stigma_category"] == "Help"]
    female, male = ([float(row[f"{g}_prob"]) for row in rows] for g in ("female", "male"))
    found = by_name(results(small / "lin2022"))
    assert found["tinybert, attribution, help: P(female)"] == pytest.approx(fmean(female))
    p = stats.ttest_rel(female, male).pvalue
    assert found["tinybert, attribution, help: p"] == pytest.approx(p, abs=1e-9)


def test_a_model_with_one_file_has_what_that_file_gives(copy, by_name) -> None:
    folder = copy("lin2022")
    for name in ("tinybert_all_df_intention_non_mh.csv", "roberta_all_df_intention.csv"):
        (folder / name).unlink()
    found = by_name(results(folder))
    assert "tinybert, care-seeking, mental-health: d" in found
    assert not [name for name in found if "against" in name]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("Female", "Woman"), "line 2: gender is 'woman'. Allowed: female, male, unspecified, ambig."),
        (("takes medication", "takes tea"), "line 20: prompt is '<mask> takes tea for [diagnosis]'. Allowed: <mask> has [diagnosis], "),
        (("probability", "p"), "has no column 'probability'. Its columns are p, gender, diagnosis, prompt."),
        (("0.", "o."), "line 2: probability is 'o."),
        (("0.", "nan#0."), "line 2: probability is 'nan#"),
        (("OCD", "depression"), "does not have one line for each prompt, diagnosis and gender, so that the values cannot be paired."),
    ],
)  # fmt: skip
def test_a_file_in_another_form_is_refused(change: tuple[str, str], message: str, copy) -> None:
    file = copy("lin2022") / "roberta_all_df_intention.csv"
    file.write_text(file.read_text().replace(*change))
    with pytest.raises(PublishedError) as error:
        results(file.parent)
    assert str(error.value).startswith(str(file))
    assert message in str(error.value)


def test_a_folder_without_such_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PublishedError, match="has no file named like 'MODEL_all_df"):
        results(tmp_path)


def test_all_published_figures_of_the_models_there_come_out(recomputed) -> None:
    done = set_side_by_side("lin2022", recomputed)
    assert done.differing == []
    compared = [row for row in done.rows if row.published is not None]
    assert sum(row.agrees is True for row in compared) == 52
    known = [row.name for row in compared if row.agrees is None and row.recomputed is not None]
    assert known == ["correction of the p-values", "roberta, attribution, avoidance: P(female)"]
    missing = {row.name.split(",")[0] for row in compared if row.recomputed is None}
    assert missing <= {"clinicallongformer"}


def test_published_figures_to_three_decimals(recomputed, by_name) -> None:
    """The figures that methods of this project name, exact."""
    found = by_name(recomputed)
    wanted = {
        "roberta, care-seeking, mental-health: P(female)": 0.321,
        "roberta, care-seeking, mental-health: P(male)": 0.186,
        "roberta, disparity, mental-health against other: mental-health": 0.134,
        "roberta, disparity, mental-health against other: other": 0.035,
        "disparity in mental-health, roberta against mentalroberta: mentalroberta": 0.047,
        "roberta, care-seeking, mental-health: P(unspecified)": 0.067,
        "mentalroberta, care-seeking, mental-health: P(unspecified)": 0.237,
        "roberta, attribution, help: P(female)": 0.109,
        "roberta, attribution, avoidance: P(female)": 0.217,
        "mentalroberta, attribution, anger: P(male)": 0.138,
        "mentalroberta, attribution, blame: P(female)": 0.062,
    }
    assert {name: round(found[name], 3) for name in wanted} == wanted


@pytest.mark.parametrize("phase", ["diagnosis", "intention", "action"])
def test_published_phases_by_plain_arithmetic(
    phase: str, published: Path, recomputed, by_name
) -> None:
    found = by_name(recomputed)
    prompts = {"diagnosis": slice(4), "intention": slice(4, 10), "action": slice(10, 17)}[phase]
    path = published / "lin2022" / "roberta_all_df_intention.csv"
    female, male = naive_pairs(path, prompts)
    assert len(female) == {"diagnosis": 44, "intention": 66, "action": 77}[phase]
    what = f"roberta, care-seeking, mental-health, {phase}"
    assert found[f"{what}: d"] == pytest.approx(pooled_d(female, male), abs=1e-9)
    assert found[f"{what}: p"] == pytest.approx(stats.ttest_rel(female, male).pvalue, rel=1e-6)
