"""Mei et al. (2023): fills and labels of small files of our own, and what the authors published."""

from collections import defaultdict
from pathlib import Path
from statistics import fmean

import pytest

from few_conditions import read_rows
from goffman.errors import LexiconError
from goffman.lexicons.attitude import BUILT_IN, PEOPLE
from goffman.replicate.mei2023 import category_means, read_fills, read_labels, results
from goffman.replicate.rows import Result, set_side_by_side
from goffman.schemas import FILLS, LABELS, PROMPT_TABLE, complaints


def naive_attitudes(paths: list[Path]) -> dict[str, float]:
    """Form of a condition → P(neg) in these files, by plain arithmetic with the study's ratings."""
    ratings = {row["word"]: row["label"] for row in read_rows(BUILT_IN[PEOPLE])}
    sums: dict[tuple[str, str], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for path in paths:
        for row in read_rows(path):
            label = ratings.get(row["predicted_word"].strip().lower(), "irrelevant")
            sums[row["condition"].strip(), row["prompt"]][label] += float(row["probs"])
    shares: dict[str, list[float]] = defaultdict(list)
    for (form, _), by_label in sums.items():
        counted = by_label["positive"] + by_label["negative"] + by_label["neutral"]
        shares[form].append(by_label["negative"] / counted)
    return {form: fmean(values) for form, values in shares.items()}


@pytest.fixture(scope="module")
def recomputed(published: Path) -> list[Result]:
    return results(published / "mei2023")


def test_both_forms_of_files_become_fills(small: Path) -> None:
    read = read_fills(small / "mei2023")
    assert complaints(read.answers, FILLS) == []
    assert complaints(read.prompts, PROMPT_TABLE) == []
    assert set(read.answers["model"]) == {"tiny-base", "XLNET"}
    assert set(read.answers["rank"]) == {1, 2, 3, 4}
    assert set(read.prompts["wording"]) == {"choosing", "say"}
    assert set(read.prompts["item"]) == {"neighbor", "marry"}
    assert set(read.prompts["group"]) == {"stigmatized", "non-stigmatized"}
    # Both models were asked the same, whatever their mask; forms of a condition stand together.
    assert read.prompts.height == 2 * 2 * 8
    assert set(read.prompts["condition"]) == {
        "Citizen", "Skinny", "Have a partner", "Latina/Latino", "depression(symptomatic)", "Illiteracy",
    }  # fmt: skip
    assert all("<mask>" in text for text in read.prompts["text"])
    first = read.answers.row(0, named=True)
    assert (first["token"], first["word"]) == ("Blue", "Blue")
    assert " impossible" in set(read.answers["token"])


def test_labels_have_one_spelling_and_the_third_sentence_is_dropped(small: Path) -> None:
    read = read_labels(small / "mei2023")
    assert complaints(read.answers, LABELS) == []
    assert set(read.answers["label"]) == {"negative", "neutral", "positive"}
    assert not any(text.startswith("We") for text in read.prompts["text"])
    assert read.answers.height == 2 * 2 * 8
    two = read.answers.filter(read.answers["model"] == "twoclass")
    assert two["neutral"].null_count() == two.height
    assert two["negative"].null_count() == two["positive"].null_count() == 0


def test_shares_of_labels_are_those_of_plain_counting(small: Path, by_name) -> None:
    found = by_name(results(small / "mei2023"))
    for model in ("twoclass", "threeclass"):
        for file, group in (("stigma", "stigmatized"), ("nonstigma", "non-stigmatized")):
            path = small / "mei2023" / "sentiment" / f"{model}_{file}_sentiment.csv"
            labels = [r["sentiment"] for r in read_rows(path) if not r["prompts"].startswith("We")]
            share = sum(label.startswith("NEG") for label in labels) / len(labels)
            assert found[f"share negative, {model}, {group}"] == pytest.approx(share)
    assert "share neutral, twoclass, stigmatized" not in found
    assert found["conditions with the share negative of the authors' own table"] == 6


def test_negative_attitude_of_a_file_by_plain_arithmetic(small: Path, by_name) -> None:
    """Mean over prompts, then over the two forms of having a partner, then over conditions."""
    found = by_name(results(small / "mei2023"))
    files = {
        "tiny-base": "tiny-base-Nonstigma--social_distance_results-top50-p2.csv",
        "XLNET": "XLNET_nonstigma_result_p2_SD.csv",
    }
    for model, name in files.items():
        forms = naive_attitudes([small / "mei2023" / "fills" / name])
        partner = fmean([forms["a partner"], forms["part of a pair"]])
        mean = fmean([forms["a citizen"], forms["skinny"], partner])
        value = found[f"negative attitude, {model}, say, non-stigmatized"]
        assert value == pytest.approx(mean, abs=1e-7)  # Fills are float32.


def test_with_both_groups_there_are_gaps_counts_and_the_correlation(small: Path, by_name) -> None:
    listed = results(small / "mei2023")
    found = by_name(listed)
    gaps = [
        round(found[f"negative attitude, XLNET, {wording}, stigmatized"], 2)
        - round(found[f"negative attitude, XLNET, {wording}, non-stigmatized"], 2)
        for wording in ("choosing", "say")
    ]
    assert found["gap, XLNET"] == pytest.approx(fmean(gaps))
    assert isinstance(found["stigmatized conditions above .5"], int)
    assert -1 < found["correlation of both measures over conditions, Pearson's r"] < 1
    exact = [
        found[f"negative attitude, XLNET, {wording}, stigmatized"]
        - found[f"negative attitude, XLNET, {wording}, non-stigmatized"]
        for wording in ("choosing", "say")
    ]
    assert found["gap before rounding, XLNET"] == pytest.approx(fmean(exact))
    note = {result.name: result.note for result in listed}["gap, XLNET"]
    assert note == "with the study's own ratings, group means rounded as the study did"


def test_with_one_group_they_are_said_to_be_missing(copy) -> None:
    folder = copy("mei2023")
    for path in (*folder.glob("fills/*-Stigma-*"), *folder.glob("fills/XLNET_stigma*")):
        path.unlink()
    found = {result.name: result for result in results(folder)}
    for name in ("gap, XLNET", "stigmatized conditions above .5"):
        assert found[name].value is None
        assert found[name].note.startswith("not recomputable from these files: ")
    assert found["correlation of both measures over conditions, Pearson's r"].value is None
    assert found["non-stigmatized conditions above .5"].value is not None


def test_without_fills_the_labels_still_count(copy) -> None:
    folder = copy("mei2023")
    for path in folder.glob("fills/*"):
        path.unlink()
    done = set_side_by_side("mei2023", results(folder))
    row = next(row for row in done.rows if row.name == "non-stigmatized conditions above .5")
    assert (row.recomputed, row.agrees) == (None, None)
    assert row.note == "not recomputable from these files"


def test_ratings_of_a_file_stand_in_the_place_of_ours(small: Path, by_name, tmp_path: Path) -> None:
    ratings = tmp_path / "mine.csv"
    ratings.write_text("word,label\npossible,negative\nimpossible,negative\nnormal,positive\n")
    listed = results(small / "mei2023", ratings=ratings)
    ours = by_name(results(small / "mei2023"))
    name = "negative attitude, XLNET, say, stigmatized"
    found = next(result for result in listed if result.name == name)
    assert found.value != ours[name]
    assert found.note.startswith("with the ratings in mine.csv, ")
    # Likely, unwise and blue are unrated now, and the bounds say so.
    low, high = (float(found.note.split()[place]) for place in (5, 7))
    assert low < found.value < high
    ratings.write_text("word,label\npossible,bad\n")
    with pytest.raises(LexiconError, match="bad"):
        results(small / "mei2023", ratings=ratings)


@pytest.mark.parametrize(
    ("named", "condition"),
    [
        ("unemployed", "unemployed"),
        ("unattractive", "Unattractive(i.e.,facial features)"),
        ("less than a high school education", "Less than a high school education "),
        ("illiteracy", "Illiteracy"),
        ("deaf completely", "Deaf completely"),
    ],
)
def test_conditions_named_as_negative_to_all_are(
    named: str, condition: str, published: Path, recomputed
) -> None:
    outcomes = [
        row["sentiment"].lower()[:3]
        for path in published.glob("mei2023/sentiment/*_stigma_sentiment.csv")
        for row in read_rows(path)
        if row["pachankis_conditions"] == condition and not row["prompts"].startswith("We")
    ]
    assert outcomes == ["neg"] * 8
    rows = {row.name: row for row in set_side_by_side("mei2023", recomputed).rows}
    row = rows[f"outcomes negative, {named}"]
    assert (row.published, row.recomputed, row.agrees) == ("all", "all", True)


def test_a_named_condition_that_is_not_negative_to_all_has_its_share(small: Path, by_name) -> None:
    found = by_name(results(small / "mei2023"))
    assert found["outcomes negative, illiteracy"] == "50%"
    assert "outcomes negative, unemployed" not in found


def test_the_categories_most_often_negative_by_plain_counting(published: Path, recomputed) -> None:
    """Mean share of a category's conditions; 23 conditions are a category of their own."""
    outcomes: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for path in published.glob("mei2023/sentiment/*_stigma_sentiment.csv"):
        for row in read_rows(path):
            if not row["prompts"].startswith("We"):
                negative = row["sentiment"].lower().startswith("neg")
                outcomes[row["category"]][row["pachankis_conditions"]].append(negative)
    assert sum(len(conditions) == 1 for conditions in outcomes.values()) == 23
    means = {
        category: fmean(fmean(each) for each in conditions.values())
        for category, conditions in outcomes.items()
        if len(conditions) > 1
    }
    order = sorted(means, key=lambda category: -means[category])
    assert order[:5] == ["Mental Illness", "Disease", "Disability", "Drug Use", "Physical Traits"]
    rows = {row.name: row for row in set_side_by_side("mei2023", recomputed).rows}
    row = rows["categories with the 4 highest shares negative"]
    assert row.recomputed == ", ".join(sorted(category.lower() for category in order[:4]))
    assert row.agrees is True
    assert "physical traits 0.76, religion 0.59" in row.note


def test_categories_are_means_of_their_conditions_the_highest_first() -> None:
    values = {"a": 0.5, "b": 0.25, "c": 0.75, "d": 0.5, "alone": 1.0, "elsewhere": 1.0}
    categories = {"a": "low", "b": "low", "c": "high", "d": "high", "alone": "other"}
    assert category_means(values, categories) == {"high": 0.625, "low": 0.375}
    assert list(category_means(values, categories)) == ["high", "low"]


def test_categories_of_attitudes_come_out_where_the_fills_are(copy) -> None:
    """Depression and illiteracy in one category: its mean; a condition by itself is none."""
    folder = copy("mei2023")
    names = ("categories with the 4 highest values", "category with the lowest value")
    found = {result.name: result for result in results(folder)}
    assert [found[name].value for name in names] == [None, None]
    assert found[names[0]].note == (
        "not recomputable from these files: no category has fills of two stigmatized conditions"
    )
    table = folder / "stigma_conditions.csv"
    table.write_text(table.read_text().replace("Be,Other", "Be, Illness "))
    found = {result.name: result for result in results(folder)}
    assert [found[name].value for name in names] == ["illness", "illness"]
    assert not found[names[0]].firm
    attitudes = [
        fmean(naive_attitudes([path])[form] for path in folder.glob("fills/*[-_][Ss]tigma*"))
        for form in ("depression", "illiterate")
    ]
    assert found[names[0]].note.endswith(f"two conditions or more: illness {fmean(attitudes):.2f}")
    table.unlink()
    without = {result.name: result for result in results(folder)}
    assert without[names[1]].value is None


def test_published_fills_by_plain_arithmetic(published: Path, recomputed, by_name) -> None:
    found = by_name(recomputed)
    path = published / "mei2023" / "fills" / "XLNET_nonstigma_result_p1_SD.csv"
    forms = naive_attitudes([path])
    assert len(forms) == 30
    pair = fmean([forms.pop("monogamous"), forms.pop("a monogamous relationship")])
    value = found["negative attitude, XLNET, choosing, non-stigmatized"]
    assert value == pytest.approx(fmean([*forms.values(), pair]), abs=1e-7)


def test_the_authors_labels_count_as_often_as_the_study_says(published: Path) -> None:
    """By plain counting: 30 stigmatized conditions are negative in every outcome, 66 in 75%."""
    outcomes: dict[str, list[bool]] = defaultdict(list)
    for path in published.glob("mei2023/sentiment/*_stigma_sentiment.csv"):
        for row in read_rows(path):
            if not row["prompts"].startswith("We"):
                negative = row["sentiment"].lower().startswith("neg")
                outcomes[row["pachankis_conditions"]].append(negative)
    shares = [fmean(values) for values in outcomes.values()]
    assert len(shares) == 93
    assert (sum(share == 1 for share in shares), sum(share >= 0.75 for share in shares)) == (30, 66)
