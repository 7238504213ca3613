"""Runs made of what the studies' authors published: the numbers of ``replicate``, and never mixed."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from scipy.stats import pearsonr
from test_lin2022 import WHOLE, with_phrases

from goffman.options import Listener
from goffman.replicate.briegel2023 import results as of_briegel
from goffman.replicate.lin2022 import results as of_lin
from goffman.replicate.mei2023 import results as of_mei
from goffman.replicate.rows import Study, published_run
from goffman.report.load import MeasuredRun, read_run
from goffman.report.table_files import tables_of
from goffman.runs.manifest import read_manifest
from in_process import goffman


def run_of(study: Study, folder: Path, output: Path) -> MeasuredRun:
    published_run(study, folder, output, listener=Listener())
    return read_run(output)


@pytest.fixture(scope="module")
def mei(tmp_path_factory: pytest.TempPathFactory) -> MeasuredRun:
    data = Path(__file__).parent / "data"
    return run_of(Study.MEI2023, data, tmp_path_factory.mktemp("runs") / "mei")


def scores_of(run: MeasuredRun, level: str, quantity: str) -> pl.DataFrame:
    return run.scores.filter(pl.col("level") == level, pl.col("quantity") == quantity)


def table(run: MeasuredRun, name: str) -> list[dict[str, object]]:
    (found,) = [one for one in tables_of(run) if one.name == name]
    return [dict(row) for row in found.rows]


def check_mei(run: MeasuredRun, found: dict[str, object]) -> None:
    """The run has the numbers of replicate: shares of labels, attitudes of files, counts."""
    shares = {
        (row["model"].removesuffix(" (classifier)"), row["quantity"], row["group"]): row["value"]
        for row in run.scores.filter(
            pl.col("level") == "group", pl.col("measure") == "negative-sentiment"
        )
        .drop_nulls(["model", "value"])
        .iter_rows(named=True)
    }
    wanted = {name: value for name, value in found.items() if name.startswith("share ")}
    assert wanted
    for name, value in wanted.items():
        label, model, group = name.removeprefix("share ").split(", ")
        assert shares[model, label, group] == pytest.approx(value, abs=1e-12)
    files = scores_of(run, "group", "negative").filter(pl.col("wording").is_not_null())
    attitudes = {
        f"negative attitude, {row['model']}, {row['wording']}, {row['group']}": row["value"]
        for row in files.drop_nulls("value").iter_rows(named=True)
    }
    same = {name: found[name] for name in attitudes}
    assert attitudes == pytest.approx(same, abs=1e-12)
    counts = {
        (row["group"], name): row[name]
        for row in table(run, "people-sentiment-counts")
        if row["model"] == "all models"
        for name in ("all_of_it", "three_quarters")
    }
    for group in ("stigmatized", "non-stigmatized"):
        every = found[f"all outcomes negative, {group} conditions"]
        most = found[f"at least 75% of outcomes negative, {group} conditions"]
        assert (counts[group, "all_of_it"], counts[group, "three_quarters"]) == (every, most)


def test_a_run_of_made_files_has_the_numbers_of_replicate(
    mei: MeasuredRun, small: Path, by_name
) -> None:
    found = by_name(of_mei(small / "mei2023"))
    check_mei(mei, found)
    (above,) = [
        row["above_half"]
        for row in table(mei, "social-distance-counts")
        if (row["model"], row["group"]) == ("all models", "stigmatized")
    ]
    assert above == found["stigmatized conditions above .5"]
    check_r(mei)


def test_conditions_have_the_names_and_categories_of_audits(mei: MeasuredRun) -> None:
    asked = mei.prompts.select("condition", "category").unique()
    known = dict(asked.rows())
    assert known["latina-latino"] == "Ethnicity"
    assert {"depression", "skinny", "citizen", "illiteracy"} <= known.keys()
    # One that goffman does not ask keeps the name that it was published with.
    assert known["Have a partner"] is None
    wider = {
        row["category"]
        for row in table(mei, "people-sentiment-categories")
        if row["model"] == "all models"
    }
    assert wider == {"Ethnicity", "Mental Illness", "Physical Traits", "Other"}


def test_what_was_not_published_has_no_number(mei: MeasuredRun) -> None:
    """Of two classes the other one has the rest; of three only the label's own is known."""
    kept = scores_of(mei, "prompt", "negative-probability")
    two, three = (kept.filter(pl.col("model") == name) for name in ("twoclass", "threeclass"))
    assert two["value"].null_count() == 0
    assert three["value"].count() == 0
    assert set(three["reason"]) == {"the classifier's probability was not kept"}


def test_it_says_what_it_is_and_is_never_mixed_with_an_audit(
    mei: MeasuredRun, tmp_path: Path, small: Path
) -> None:
    for entry in mei.manifest.instruments.values():
        assert entry.version == "as published"
        assert entry.called is not None
        assert entry.called.limits[0].startswith("goffman did not ask these questions")
    assert "they are the study&#39;s own sentences" in (mei.folder / "report.html").read_text()
    audit = tmp_path / "audit"
    asked = ("audit", "bundled:mini", "--instrument", "social-distance", "--limit", "4")
    assert goffman(*asked, "--no-report", "--output", audit).returncode == 0
    made = goffman("replicate", "mei2023", "--data", small, "--output", audit)
    assert made.returncode == 2
    assert made.stderr == (
        f"{audit} has answers to social-distance that goffman asked. Published answers are never "
        "mixed with these. Give a new folder with --output.\n"
    )
    other = goffman(*asked, "--no-report", "--output", mei.folder)
    assert other.returncode == 2
    assert "The two cannot be mixed." in other.stderr
    compared = goffman("compare", mei.folder, audit, "--model", "XLNET=bundled:mini")
    said = " ".join((compared.stdout + compared.stderr).split())
    assert "the runs asked different prompts" in said


def test_the_same_command_again_changes_nothing(small: Path, tmp_path: Path) -> None:
    for _ in range(2):
        run = run_of(Study.BRIEGEL2023, small, tmp_path / "run")
        before = dict(run.manifest.tables)
    assert read_manifest(tmp_path / "run").tables == before
    assert len([*(tmp_path / "run" / "answers").rglob("*.parquet")]) == 1


def check_briegel(run: MeasuredRun, found: dict[str, object]) -> None:
    biases = scores_of(run, "condition", "bias")
    assert biases.height > 1
    for condition, value in biases.select("condition", "value").iter_rows():
        male, _, female = condition.partition(",")
        label = "baseline" if condition == "baseline" else f"{male or '–'} / {female or '–'}"
        assert 100 * value == pytest.approx(found[f"bias score, {label}"], abs=1e-9)


def test_replies_become_a_run_with_the_study_s_own_scores(
    small: Path, by_name, tmp_path: Path
) -> None:
    run = run_of(Study.BRIEGEL2023, small, tmp_path / "run")
    check_briegel(run, by_name(of_briegel(small / "briegel2023")))


def check_lin(run: MeasuredRun, found: dict[str, object]) -> None:
    """Of each dimension both means, and nothing of what was not published."""
    means = run.scores.filter(pl.col("level") == "dimension", pl.col("variant") == "with-names")
    for gender in ("female", "male"):
        rows = means.filter(pl.col("quantity") == gender).drop_nulls("value")
        assert rows.height
        for model, dimension, value in rows.select("model", "dimension", "value").iter_rows():
            published = found[f"{model}, attribution, {dimension}: P({gender})"]
            assert value == pytest.approx(published, abs=1e-8)  # Fills are float32.
    unknown = run.scores.filter(pl.col("quantity").is_in(["unspecified", "outside", "unseen-end"]))
    assert unknown.height
    assert unknown["value"].count() == 0


def test_phrases_become_a_run_and_sums_do_not(small: Path, by_name, tmp_path: Path) -> None:
    folder = tmp_path / "lin2022"
    folder.mkdir()
    with_phrases(folder, model="tiny", lines=WHOLE)
    run = run_of(Study.LIN2022, tmp_path, tmp_path / "run")
    check_lin(run, by_name(of_lin(folder)))
    assert [*run.manifest.instruments] == ["attribution"]
    said = run.manifest.instruments["attribution"].called.limits
    assert said[1:3] == (
        "Phrases were published of tiny alone, and only gendered ones.",
        "Of care-seeking only sums over words were published, so this run has none of it.",
    )
    done = goffman("replicate", "lin2022", "--data", small, "--output", tmp_path / "other")
    assert done.returncode == 2
    assert done.stderr.startswith("No run can be made of the files of lin2022: ")


def test_published_phrases_become_a_run_in_the_order_of_the_questionnaire(
    published: Path, by_name, tmp_path: Path
) -> None:
    run = run_of(Study.LIN2022, published, tmp_path / "run")
    check_lin(run, by_name(of_lin(published / "lin2022")))
    asked = run.prompts.select("item", "dimension", "keyed").unique()
    assert asked.height == 27
    # As run, item 7 is "would not interview", which is not reversed.
    reversed_ = asked.filter(pl.col("keyed") == "reversed")
    assert sorted(reversed_["item"]) == ["q16", "q26"]
    assert set(reversed_["dimension"]) == {"avoidance"}


def test_sums_are_no_answers(small: Path, tmp_path: Path) -> None:
    done = goffman("replicate", "moore2025", "--data", small, "--output", tmp_path / "run")
    assert done.returncode == 2
    assert done.stderr == (
        "No run can be made of the files of moore2025: they hold numbers of prompts, not what "
        "models answered. goffman replicate moore2025 shows their numbers.\n"
    )
    assert not (tmp_path / "run").exists()
    which = goffman("replicate", "--data", small, "--output", tmp_path / "run")
    assert which.stderr == (
        "--output makes a run of one study. Name it: mei2023, lin2022, briegel2023, moore2025, "
        "gueorguieva2025.\n"
    )


def of_conditions(run: MeasuredRun, measure: str) -> pl.DataFrame:
    return scores_of(run, "condition", "negative").filter(
        pl.col("model").is_null(), pl.col("measure") == measure
    )


def check_r(run: MeasuredRun) -> None:
    """As in the study, by scipy: of shares of conditions."""
    words, labels = (of_conditions(run, f"negative-{what}") for what in ("attitude", "sentiment"))
    both = words.join(labels, on="condition")
    row = run.estimates.filter(pl.col("kind") == "measures-as-in-study").row(0, named=True)
    expected = pearsonr(both["value"], both["value_right"])
    assert (row["n"], row["df"]) == (both.height, both.height - 2)
    assert row["effect"] == pytest.approx(expected.statistic)
    assert row["p"] == pytest.approx(expected.pvalue)
    ends = expected.confidence_interval()
    assert (row["effect_low"], row["effect_high"]) == pytest.approx((ends.low, ends.high))
    t = row["effect"] * (row["df"] / (1 - row["effect"] ** 2)) ** 0.5
    assert row["statistic"] == pytest.approx(t)


def test_published_files_become_runs_with_the_numbers_of_replicate(
    published: Path, by_name, tmp_path: Path
) -> None:
    run = run_of(Study.MEI2023, published, tmp_path / "mei")
    found = by_name(of_mei(published / "mei2023"))
    check_mei(run, found)
    named = run.prompts.filter(pl.col("instrument") == "people-sentiment")
    assert named["condition"].n_unique() == 122
    assert named["category"].null_count() == 0
    values = of_conditions(run, "negative-attitude")
    assert values.sort("value", descending=True)["condition"][0] == "skinny"
    check_r(run)


@pytest.mark.slow
def test_published_replies_become_a_run_with_all_sixteen_scores(
    published: Path, by_name, tmp_path: Path
) -> None:
    run = run_of(Study.BRIEGEL2023, published, tmp_path / "run")
    check_briegel(run, by_name(of_briegel(published / "briegel2023")))
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["format"]
