"""Gueorguieva & Caliskan (2025): small files of our own in the authors' forms, and the published ones."""

import csv
import math
from pathlib import Path
from statistics import correlation, fmean

import pytest
from scipy import stats

from goffman.errors import PublishedError
from goffman.replicate.gueorguieva2025 import results
from goffman.replicate.rows import Result, read_figures, set_side_by_side

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


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


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
    rows = rows_of(folder / LLAMA)
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
    rows = rows_of(folder / LLAMA)
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
    assert found["llama: prompts whose bias after Llama Guard follows from its label"] == len(rows)


def test_categories_that_the_authors_cut_are_counted(small: Path) -> None:
    found = {result.name: result for result in results(small / "gueorguieva2025")}
    rows = rows_of(small / "gueorguieva2025" / LLAMA)
    cut = sum("S10" in row["llama guard safety label"] for row in rows)
    note = found["llama: prompts that Llama Guard calls unsafe"].note
    assert f"so {cut} categories are cut" in note


def test_answers_are_counted_and_biased_means_the_biased_answer(copy, by_name) -> None:
    folder = copy("gueorguieva2025")
    rows = rows_of(folder / LLAMA)
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
    granite, mistral = rows_of(folder / GRANITE), rows_of(folder / MISTRAL)
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
    every = [*rows_of(folder / LLAMA), *granite, *mistral]
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
        rows = rows_of(folder / f"data/{model}_bias_percentages.csv")
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
        for row in rows_of(folder / f"data/{model}_bias_percentages.csv")
    ]
    r = correlation(*([float(row[c]) for row in rows] for c in ("peril human", "percent biased")))
    row = {one.name: one for one in listed}["all models: people's Peril × share biased, r"]
    assert row.value == pytest.approx(r)
    assert row.note.endswith("n = 15")


def test_every_printed_figure_is_computed_where_all_models_are_there(small: Path, by_name) -> None:
    found = by_name(results(small / "gueorguieva2025"))
    assert {figure.name for figure in read_figures("gueorguieva2025")} <= set(found)


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
    rows = rows_of(folder / RATINGS)
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
    rows = rows_of(folder / SHARES)
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
    rows = rows_of(folder / SHARES)
    rows[1][column] = rating
    with (folder / SHARES).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
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


@pytest.mark.parametrize(
    ("file", "line", "change", "message"),
    [
        (LLAMA, 2, (",base,", ",bass,"), ": prompt style is 'bass'. Allowed: base, original, positive, doubt. Did you mean 'base'?"),
        (LLAMA, 5, (",yes,", ",maybe,"), ": biased answer is 'maybe'. Allowed: yes, no."),
        (LLAMA, 5, (",1,", ",2,"), ": original answer bias is '2'. Allowed: 0, 1."),
        (LLAMA, 1, ("prompt style", "style"), None),
        (GRANITE, 3, (",1,", ",6,"), ": clusters is '6'. Allowed: Awkward, "),
        (SHARES, 3, (",2,", ",2,7"), ": Visibility is '7"),
        (SHARES, 2, ("Deaf", ""), ": Stigma is ''. Every row needs its own."),
        (RATINGS, 3, ("Gang Member", "Deaf"), ": Stigma is 'Deaf'. Every row needs its own."),
        (RATINGS, 4, ("2,Old Age,3,", "2,Old Age,3,x"), ": visibility-participants is 'x"),
        (TABLE, 2, ("Peril", "Danger"), ": Dimensions is 'Danger'. Allowed: Concealability, "),
        (TABLE, 3, ("Concealability,", "Concealability,high"), ": Correlation to Humans is 'high"),
    ],
)  # fmt: skip
def test_a_broken_file_is_refused_with_its_line(
    file: str, line: int, change: tuple[str, str], message: str | None, copy
) -> None:
    """The line is that of the file, whatever texts of several lines stand above it."""
    folder = copy("gueorguieva2025")
    path = folder / file
    lines = path.read_text().split("\n")
    assert change[0] in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(*change, 1)
    path.write_text("\n".join(lines))
    with pytest.raises(PublishedError) as error:
        results(folder)
    if message is None:
        assert str(error.value).startswith(f"{path} has no column 'prompt style'. Its columns are ")
    else:
        assert str(error.value).startswith(f"{path}, line {line}{message}")


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (LLAMA, "", " has no rows below its heading."),
        (SHARES, "Stigma,Cluster\n", " has no column 'Visibility'. Its columns are Stigma, Cluster."),
        (RATINGS, 'Stigma,"Clus', ", line 1 is not CSV: unexpected end of data."),
        (TABLE, "Model,Dimensions,Correlation to Humans\nLlama,Peril\n", ", line 2 has 2 fields; the heading has 3."),
        (TABLE, "Model,Dimensions,Correlation to Humans\n", " has no rows below its heading."),
    ],
)  # fmt: skip
def test_a_file_of_another_form_is_refused(file: str, text: str, message: str, copy) -> None:
    folder = copy("gueorguieva2025")
    (folder / file).write_text(text)
    with pytest.raises(PublishedError) as error:
        results(folder)
    assert str(error.value) == f"{folder / file}{message}"


def test_what_is_no_text_is_refused(copy) -> None:
    folder = copy("gueorguieva2025")
    (folder / SHARES).write_bytes(b"Stigma\n\xff\xfe\n")
    with pytest.raises(PublishedError, match="is not UTF-8 text"):
        results(folder)


def test_a_label_of_the_guardrail_that_is_none_is_refused(copy) -> None:
    folder = copy("gueorguieva2025")
    path = folder / LLAMA
    path.write_text(path.read_text().replace("\n\nsafe", "\n\nperhaps", 1))
    with pytest.raises(PublishedError) as error:
        results(folder)
    line = path.read_text()[: path.read_text().index("perhaps")].count("\n") - 1
    assert str(error.value) == (
        f"{path}, line {line}: llama guard safety label is '\\n\\nperhaps'. Allowed: 'safe', and "
        "'unsafe' with a category such as S6."
    )


def test_two_files_of_one_model_and_a_name_without_one_are_refused(copy) -> None:
    folder = copy("gueorguieva2025")
    second = folder / ANSWERS / "llama_and_another.csv"
    second.write_bytes((folder / LLAMA).read_bytes())
    with pytest.raises(PublishedError, match=r"are of the same model\. Keep one\."):
        results(folder)
    second.rename(folder / ANSWERS / "answers.csv")
    with pytest.raises(PublishedError, match="is not named after a model"):
        results(folder)


def test_all_published_numbers_come_out(recomputed) -> None:
    done = set_side_by_side("gueorguieva2025", recomputed)
    assert done.differing == []
    rows = {row.name: row for row in done.rows}
    known = {name for name, row in rows.items() if row.published is not None and not row.agrees}
    differing = {name for name in known if rows[name].recomputed is not None}
    assert {name for name in differing if not name.endswith("people's, p")} == {
        "llama: people's Peril × share biased, r"
    }
    # 0.0001 stands for all p below it, of which that of Granite's course is almost it.
    small = {name for name in differing if name.endswith("people's, p")}
    assert len(small) == 9
    assert all(rows[name].published == 0.0001 > rows[name].recomputed for name in small)
    rest = known - differing
    assert {name.split(":")[0] for name in rest} == {"all models", "granite", "mistral"}
    assert sum(row.agrees is True for row in done.rows) == len(read_figures("gueorguieva2025")) - (
        len(known)
    )


def test_the_published_table_is_read_whole_and_comes_out(published: Path, recomputed) -> None:
    """18 correlations with their p, by scipy, as the authors' table has them."""
    folder = published / "gueorguieva2025"
    ratings, table = rows_of(folder / RATINGS), rows_of(folder / TABLE)
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


def test_what_was_found_in_the_published_files(published: Path, recomputed) -> None:
    rows = {result.name: result for result in recomputed}
    assert rows["llama: answers"].value == "3,482 yes, 6,877 no, 1 neither"
    assert rows["llama: prompts where biased means the biased answer"].value == 10360
    yes, no = (
        rows[f"llama: share biased, where the biased answer is {keyed}"] for keyed in ("yes", "no")
    )
    assert (round(yes.value, 3), round(no.value, 3)) == (0.066, 0.499)
    assert no.note == "6,440 prompts; without a stigma 0.565 of 23"
    assert rows["llama: categories of Llama Guard"].value == "S6 710, S10 45, S2 27, S3 4"
    assert "so 45 categories are cut" in rows["llama: prompts that Llama Guard calls unsafe"].note
    answers = rows_of(published / "gueorguieva2025" / LLAMA)
    biased = [row for row in answers if row["original answer bias"] == "1"]
    taken = [row for row in biased if row["post llama answer bias"] == "0"]
    assert rows["llama: share of the biased answers that Llama Guard takes away"].note == (
        f"{len(taken)} of {len(biased):,}"
    )
