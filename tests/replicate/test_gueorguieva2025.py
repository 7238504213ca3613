"""Gueorguieva & Caliskan (2025): small files of our own in the authors' forms, and the published ones."""

import math
from pathlib import Path
from statistics import correlation, fmean

import pytest
from scipy import stats

from few_conditions import change_rows, read_rows
from goffman.errors import PublishedError
from goffman.replicate.gueorguieva2025 import results
from goffman.replicate.rows import Result

DIMENSIONS = {
    "visibility": ("Concealability", "Visibility"),
    "course": ("Persistent Course", "Persistent Course"),
    "disrupt": ("Disruptiveness", "Disrupt"),
    "aesthetics": ("Unappealing Aesthetics", "Unappealing Aesthetics"),
    "origin": ("Controllable Origin", "Controllable Origin"),
    "peril": ("Peril", "Peril"),
}

ANSWERS = "data/SSQA-performance-and-guardrail-mitigations"
LLAMA = f"{ANSWERS}/llama_and_llama_guard.csv"
GRANITE = f"{ANSWERS}/granite_and_granite_guardian.csv"
MISTRAL = f"{ANSWERS}/mistral_and_mistral_moderation.csv"
SHARES = "data/llama_bias_percentages.csv"
RATINGS = "data/results-from-pachankis-all.csv"
TABLE = "data/feature_correlations.csv"


def naive_share(rows: list[dict[str, str]], column: str, **wanted: str) -> float:
    those = [
        int(row[column])
        for row in rows
        if all(row[name.replace("_", " ")] == value for name, value in wanted.items())
    ]
    return fmean(those)


@pytest.fixture(scope="module")
def recomputed(published: Path) -> list[Result]:
    return results(published / "gueorguieva2025")


def test_shares_biased_by_plain_counting(small: Path, by_name) -> None:
    folder = small / "gueorguieva2025"
    found = by_name(results(folder))
    rows = read_rows(folder / LLAMA)
    for when, column in (
        ("share biased", "original answer bias"),
        ("share biased after Llama Guard", "post llama answer bias"),
    ):
        assert found[f"llama: {when}"] == pytest.approx(naive_share(rows, column))
        for cluster in ("Awkward", "Threatening", "Unappealing Persistent", "no stigma"):
            share = naive_share(rows, column, clusters=cluster)
            assert found[f"llama: {when}, {cluster}"] == pytest.approx(share)
        for style in ("base", "original", "positive", "doubt"):
            share = naive_share(rows, column, prompt_style=style)
            assert found[f"llama: {when}, {style} prompts"] == pytest.approx(share)
    for keyed in ("yes", "no"):
        share = naive_share(rows, "original answer bias", biased_answer=keyed)
        name = f"llama: share biased, where the biased answer is {keyed}"
        assert found[name] == pytest.approx(share)


def test_what_the_guardrail_takes_away_by_plain_counting(small: Path, by_name) -> None:
    folder = small / "gueorguieva2025"
    found = by_name(results(folder))
    rows = read_rows(folder / LLAMA)
    before, after = ([int(r[f"{c} answer bias"]) for r in rows] for c in ("original", "post llama"))
    taken = sum(one > other for one, other in zip(before, after, strict=True))
    assert taken
    name = "llama: percentage points less biased after Llama Guard"
    assert found[name] == pytest.approx(100 * (fmean(before) - fmean(after)))
    name = "llama: share of the biased answers that Llama Guard takes away"
    assert found[name] == pytest.approx(taken / sum(before))
    phi = found["llama: φ of biased before and after Llama Guard"]
    assert phi == pytest.approx(correlation(before, after))
    unsafe = [row["llama guard safety label"].split()[1:] for row in rows]
    flagged = [category[0] for category in unsafe if category]
    assert found["llama: prompts that Llama Guard calls unsafe"] == len(flagged)
    assert f"S10 {flagged.count('S10')}" in found["llama: categories of Llama Guard"]
    unsafe = next(row for row in results(folder) if row.name.endswith("calls unsafe"))
    assert f"so {flagged.count('S10')} categories are cut" in unsafe.note
    assert found["llama: prompts whose bias after Llama Guard follows from its label"] == len(rows)


def test_answers_are_counted_and_biased_means_the_biased_answer(copy, by_name) -> None:
    folder = copy("gueorguieva2025")
    rows = read_rows(folder / LLAMA)
    said = [row["original llama answer"] for row in rows]
    others = len(said) - said.count("yes") - said.count("no")
    assert others
    found = by_name(results(folder))
    assert found["llama: answers"] == (
        f"{said.count('yes')} yes, {said.count('no')} no, {others} neither"
    )
    name = "llama: prompts where biased means the biased answer"
    assert found[name] == len(rows)
    # Of Mistral the file has no answers, only whether they are biased.
    assert "mistral: answers" not in found
    text = (folder / LLAMA).read_text()
    (folder / LLAMA).write_text(text.replace(",no,no,1,", ",no,yes,1,", 1))
    assert by_name(results(folder))[name] == len(rows) - 1


def test_the_other_models_are_read_in_their_own_forms(small: Path, by_name) -> None:
    """Granite has clusters by number and two guardrails; Mistral names its column differently."""
    folder = small / "gueorguieva2025"
    found = by_name(results(folder))
    granite, mistral = read_rows(folder / GRANITE), read_rows(folder / MISTRAL)
    share = naive_share(granite, "original answer bias", clusters="2")
    assert found["granite: share biased, Threatening"] == pytest.approx(share)
    for guardrail, column in (
        ("Granite Guardian for harm", "post guardian answer bias"),
        ("Granite Guardian for social bias", "post bias guardian answer bias"),
    ):
        share = naive_share(granite, column)
        assert found[f"granite: share biased after {guardrail}"] == pytest.approx(share)
    share = naive_share(mistral, "original answer bias", cluster_names="Threatening")
    assert found["mistral: share biased, Threatening"] == pytest.approx(share)
    every = [*read_rows(folder / LLAMA), *granite, *mistral]
    named = [row.get("clusters") or row.get("cluster names") for row in every]
    biased = [
        int(row["original answer bias"])
        for row, cluster in zip(every, named, strict=True)
        if cluster in {"Threatening", "2"}
    ]
    assert found["all models: percent biased, Threatening"] == pytest.approx(100 * fmean(biased))


def test_correlations_with_the_dimensions_by_plain_arithmetic(small: Path, by_name) -> None:
    folder = small / "gueorguieva2025"
    found = by_name(results(folder))
    for model in ("llama", "granite", "mistral"):
        rows = read_rows(folder / f"data/{model}_bias_percentages.csv")
        for when, column in (
            ("", "percent biased"),
            (" after the guardrail", "percent biased post guardian"),
        ):
            shares = [float(row[column]) for row in rows]
            for dimension, (called, own) in DIMENSIONS.items():
                for who, name in (("people's", f"{dimension} human"), ("its own", own)):
                    r = correlation([float(row[name]) for row in rows], shares)
                    assert found[f"{model}: {who} {called} × share biased{when}, r"] == (
                        pytest.approx(r)
                    )
        assert found[f"{model}: stigmas with the shares biased of its answers"] == 5
        name = f"{model}: stigmas with the ratings of results-from-pachankis-all.csv"
        assert found[name] == 5


def test_the_pooled_correlation_has_every_stigma_three_times(small: Path, by_name) -> None:
    folder = small / "gueorguieva2025"
    listed = results(folder)
    rows = [
        row
        for model in ("llama", "granite", "mistral")
        for row in read_rows(folder / f"data/{model}_bias_percentages.csv")
    ]
    r = correlation(*([float(row[c]) for row in rows] for c in ("peril human", "percent biased")))
    row = {one.name: one for one in listed}["all models: people's Peril × share biased, r"]
    assert row.value == pytest.approx(r)
    assert row.note.endswith("n = 15")


def test_without_the_other_models_what_needs_them_is_said(copy) -> None:
    folder = copy("gueorguieva2025")
    for path in (GRANITE, MISTRAL, "data/granite_bias_percentages.csv"):
        (folder / path).unlink()
    found = {result.name: result for result in results(folder)}
    row = found["all models: people's Peril × share biased, r"]
    assert (row.value, row.note) == (
        None,
        "not recomputable from these files: the shares of granite are not among them",
    )
    assert found["all models: percent biased, Threatening"].note == (
        "not recomputable from these files: the answers of mistral, granite are not among them"
    )
    assert found["mistral: people's Peril × share biased, r"].value is not None
    assert "mistral: stigmas with the shares biased of its answers" not in found


def test_ratings_against_peoples_by_an_independent_computation(small: Path, by_name) -> None:
    folder = small / "gueorguieva2025"
    found = by_name(results(folder))
    rows = read_rows(folder / RATINGS)
    assert found["stigmas"] == len(rows) == 5
    for model in ("llama", "mistral", "granite"):
        for dimension, (called, _) in DIMENSIONS.items():
            people, own = (
                [float(row[f"{dimension}-{rater}"]) for row in rows]
                for rater in ("participants", model)
            )
            test = stats.pearsonr(people, own)
            name = f"{model}, {called}: its ratings × people's"
            assert found[f"{name}, r"] == pytest.approx(test.statistic)
            assert found[f"{name}, p"] == pytest.approx(test.pvalue)
    # Of the two rows of the table one was made a hundredth too large.
    assert found["rows of feature_correlations.csv whose r comes out"] == 1
    peril = [float(row["peril-participants"]) for row in rows]
    assert found["mean rating (SD), Peril"].startswith(f"people {fmean(peril):.2f} (")


def test_shares_that_are_not_those_of_the_answers_are_counted(copy, by_name) -> None:
    folder = copy("gueorguieva2025")
    rows = read_rows(folder / SHARES)
    text = (folder / SHARES).read_text()
    share = rows[0]["percent biased"]
    (folder / SHARES).write_text(text.replace(f",{share},", ",0.123,", 1))
    found = by_name(results(folder))
    assert found["llama: stigmas with the shares biased of its answers"] == 4


@pytest.mark.parametrize("column", ["Visibility", "peril human"])
@pytest.mark.parametrize("rating", ["0.0", "6.0"])
def test_ratings_that_are_not_those_of_the_table_are_counted(
    column: str, rating: str, copy, by_name
) -> None:
    folder = copy("gueorguieva2025")
    change_rows(folder / SHARES, lambda rows: [rows[0], rows[1] | {column: rating}, *rows[2:]])
    found = by_name(results(folder))
    assert found["llama: stigmas with the ratings of results-from-pachankis-all.csv"] == 4


def test_every_file_is_read_without_the_others(copy) -> None:
    folder = copy("gueorguieva2025")
    for path in folder.rglob("*.csv"):
        if path.name != Path(RATINGS).name:
            path.unlink()
    names = [result.name for result in results(folder)]
    assert "llama, Peril: its ratings × people's, r" in names
    assert not any(name.startswith("llama: ") for name in names)
    (folder / RATINGS).unlink()
    with pytest.raises(PublishedError, match="has no file named like 'data/MODEL_bias_percent"):
        results(folder)


def test_the_published_table_is_read_whole_and_comes_out(published: Path, recomputed) -> None:
    """18 correlations with their p, by scipy, as the authors' table has them."""
    folder = published / "gueorguieva2025"
    ratings, table = read_rows(folder / RATINGS), read_rows(folder / TABLE)
    assert len(table) == 18
    columns = {called: dimension for dimension, (called, _) in DIMENSIONS.items()}
    found = {result.name: result.value for result in recomputed}
    for row in table:
        dimension = columns[row["Dimensions"]]
        people, own = (
            [float(each[f"{dimension}-{rater}"]) for each in ratings]
            for rater in ("participants", row["Model"].lower())
        )
        test = stats.pearsonr(people, own)
        name = f"{row['Model'].lower()}, {row['Dimensions']}: its ratings × people's"
        assert found[f"{name}, r"] == pytest.approx(test.statistic, abs=1e-12)
        assert found[f"{name}, r"] == pytest.approx(float(row["Correlation to Humans"]), abs=6e-8)
        assert math.log(found[f"{name}, p"]) == pytest.approx(math.log(test.pvalue), rel=1e-6)
