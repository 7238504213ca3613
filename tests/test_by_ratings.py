"""Who rated the words is said everywhere, and a user's ratings stand beside the shipped ones."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from few_conditions import with_few_conditions
from goffman.errors import RunError
from goffman.formatting import number
from goffman.lexicons.attitude import load_attitudes, no_word
from goffman.presentation.competence import Competence
from goffman.presentation.findings import findings_of
from goffman.presentation.sensitivity import describe_changes
from goffman.rating.worklist import words_to_rate
from goffman.report.load import read_run
from goffman.report.table_files import tables_of
from goffman.runs.run import read_answers, read_prompts
from goffman.schemas import RATINGS_COMPARED, SCORES, complaints
from in_process import goffman

pytestmark = pytest.mark.slow
"""Whole runs: minutes of computing."""

SHIPPED_ONLY = (
    "People (the raters of Mei et al. 2023) rated the words with at least 59.2% of what counts, "
    "language models the others."
)
BOTH = (
    "The words were rated in people.csv ({count} ratings). All other words keep the ratings that "
    "come with goffman."
)


@pytest.fixture(scope="module")
def asked(tiny, tmp_path_factory):
    """The folder of a run by the shipped ratings, what it asked, and what was printed."""
    base = tmp_path_factory.mktemp("rated")
    instrument = with_few_conditions("social-distance", base / "social-distance", each=8)
    # A tiny model cannot do the task; without control items nobody knows.
    asking = (tiny("bert"), "--instrument", instrument, "--no-controls")
    return base / "run", asking, audited(base / "run", asking)


def audited(folder, asking, *options):
    """What goffman audit prints of the same question again."""
    done = goffman("audit", *asking, "--output", folder, *options)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def rated(asked, tmp_path_factory):
    """A copy of the run, measured again with people's ratings; what was printed; their file."""
    folder, asking, _ = asked
    run = Path(shutil.copytree(folder, tmp_path_factory.mktemp("people") / "run"))
    words = [one.unit.word for one in words_to_rate(run, load_attitudes(shipped=False)).entries]
    people = run.parent / "people.csv"
    labels = ["negative", "positive", "neutral"]
    rows = [f"{word},{labels[place % 3]}\n" for place, word in enumerate(words[:12])]
    people.write_text("word,label\n" + "".join(rows))
    return run, audited(run, asking, "--ratings", people), people


def in_sentences(run):
    """What goffman show prints of a run, without its line breaks within sentences."""
    done = goffman("show", run)
    assert done.returncode == 0, done.stderr
    said = done.stdout.replace("non-\n", "non-").replace("\n  ", " ").replace("  ", " ")
    # What is no terminal here has no encoding, so a minus is a hyphen.
    return re.sub(r"(?<![\w-])-(?=\d)", "−", said)


def test_the_earlier_scores_are_kept_to_the_bit(asked, rated):
    before, (run, _, _) = asked[0], rated
    kept = pl.read_parquet(run / "scores-shipped.parquet")
    assert complaints(kept, SCORES) == []
    assert_frame_equal(kept, pl.read_parquet(before / "scores.parquet"))
    assert (run / "scores-shipped.parquet").read_bytes() == (before / "scores.parquet").read_bytes()
    assert not pl.read_parquet(run / "scores.parquet").equals(kept)


def prompt_scores(run, name):
    quantity = (pl.col("level") == "prompt") & (pl.col("quantity") == "negative")
    return pl.read_parquet(run / name).filter(quantity).to_dicts()


def naive_gap(run, values):
    """The gap by the study's sentences: means over items, forms, wordings and conditions in turn."""
    sources = dict(read_prompts(run).select("prompt_id", "source").rows())
    cells = {}
    for row, value in values:
        if value is not None and sources[row["prompt_id"]] == "study":
            key = (row["group"], row["condition"], row["wording"], row["form"])
            cells.setdefault(key, []).append(value)
    cells = {key: sum(several) / len(several) for key, several in cells.items()}
    for _ in ("forms", "wordings", "conditions"):
        means = {}
        for key, value in cells.items():
            means.setdefault(key[:-1], []).append(value)
        cells = {key: sum(several) / len(several) for key, several in means.items()}
    return cells[("stigmatized",)] - cells[("non-stigmatized",)]


def naive_change(run):
    """The change of the gap over the prompts that both ratings give a value, and how many do not."""
    before = {
        one["prompt_id"]: one["value"] for one in prompt_scores(run, "scores-shipped.parquet")
    }
    changes, left_out = [], 0
    for row in prompt_scores(run, "scores.parquet"):
        one, other = before[row["prompt_id"]], row["value"]
        left_out += (one is None) != (other is None)
        if None not in (one, other):
            changes.append((row, other - one))
    return naive_gap(run, changes), left_out


def test_the_change_is_that_of_the_prompts_that_both_ratings_give_a_value(rated):
    run, _, people = rated
    compared = read_run(run).compared
    assert complaints(compared, RATINGS_COMPARED) == []
    kinds = ["groups", "groups-adjusted", "groups-as-asked"]
    assert compared["kind"].to_list() == kinds
    # It has the study's sentences alone; the others leave out conditions that lack a sentence.
    row = compared.to_dicts()[-1]
    for side, name in (("shipped", "scores-shipped.parquet"), ("given", "scores.parquet")):
        found = naive_gap(run, [(one, one["value"]) for one in prompt_scores(run, name)])
        assert row[side] == pytest.approx(found, abs=1e-12)
    difference, left_out = naive_change(run)
    assert row["left_out"] == left_out > 0
    assert row["difference"] == pytest.approx(difference, abs=1e-12)
    assert row["difference"] != pytest.approx(0, abs=1e-6)
    assert row["low"] < row["difference"] < row["high"]
    prompts = read_prompts(run)
    # Those of control items are no part of it.
    fills = read_answers(run, "fills").filter(pl.col("prompt_id").is_in([*prompts["prompt_id"]]))
    fills = load_attitudes([people], shipped=False).label(fills, prompts)
    words = [(p, rated) for w, p, rated in fills["word", "probability", "rated"].rows()
             if not no_word(w)]  # fmt: skip
    share = sum(p for p, known in words if known) / sum(p for p, _ in words)
    assert row["share"] == pytest.approx(share, rel=1e-5)


def change_of(run):
    """The sentence with a difference by either ratings, and the change."""
    row = read_run(run).compared.row(0, named=True)
    return (
        "The difference between stigmatized and non-stigmatized is "
        f"{number(row['shipped'])} with goffman's own ratings and {number(row['given'])} with "
        f"yours: change {number(row['difference'])} (95% interval {number(row['low'])} to "
        f"{number(row['high'])})."
    )


def test_the_summary_says_who_rated_the_words_and_what_that_changes(asked, rated):
    before = in_sentences(asked[0])
    assert f" social-distance: {SHIPPED_ONLY}\n" in before
    assert "goffman's own ratings and" not in before
    said = in_sentences(rated[0])
    assert f" social-distance: {BOTH.format(count=12)}\n" in said
    assert SHIPPED_ONLY not in said
    assert change_of(rated[0]) in said


def test_the_change_is_said_with_the_prompts_that_it_leaves_out(rated):
    run, _, _ = rated
    row = read_run(run).compared.row(0, named=True)
    assert row["left_out"] > 1
    assert (
        f"{change_of(run)} {row['left_out']:,} prompts have a value with only one of the two; the "
        f"change leaves this out. Your ratings cover {number(row['share'])} of the words' "
        "probability."
    ) in in_sentences(run)


def test_of_a_model_that_cannot_do_the_task_no_change_is_shown(rated):
    (section,) = read_run(rated[0]).sections.values()
    (name,) = section.scores["model"].drop_nulls().unique()
    model = section.names.model(name)
    assert [*describe_changes(section, model)]
    failed = Competence(
        name=name, model=model, task="do it", score="AUC", value=0.5, floor=0.9, n=9, missing=0
    )
    section = replace(section, competence={name: failed})
    assert [*describe_changes(section, model)] == []
    (found,) = findings_of(section)
    assert found.head == "Not measurable"
    assert not [text for text in found.more if "goffman's own ratings and" in text]


def test_every_table_and_export_says_who_rated_the_words(asked, rated):
    for (run, *_), said in ((asked, SHIPPED_ONLY), (rated, BOTH.format(count=12))):
        tables = [one for one in tables_of(read_run(run)) if "social-distance-" in one.name]
        assert len(tables) >= 4
        for table in tables:
            assert said in table.caption, table.name
        card = goffman("export", run, "--to", "model-card").stdout
        assert f"- {said}\n" in card
        told = json.loads(goffman("export", run, "--to", "lm-eval").stdout)
        assert told["configs"]["social-distance"]["metadata"]["ratings"] == said


def test_exports_have_both_numbers_and_no_path(rated):
    run, _, people = rated
    told = goffman("export", run, "--to", "lm-eval").stdout
    assert str(people) not in told
    rows = json.loads(told)["configs"]["social-distance"]["metadata"]["ratings_compared"]
    for row, same in zip(rows, read_run(run).compared.to_dicts(), strict=True):
        assert {row[name] for name in ("shipped", "given")} == {same["shipped"], same["given"]}
        assert "model" not in row
    assert "social-distance-ratings" in {one.name for one in tables_of(read_run(run))}


def test_the_page_shows_both_side_by_side(browser, asked, rated):
    for (run, *_), said, tabs in ((asked, SHIPPED_ONLY, 0), (rated, BOTH.format(count=12), 1)):
        context = browser.new_context(viewport={"width": 390, "height": 844})
        tab = context.new_page()
        tab.goto((run / "report.html").as_uri())
        tab.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert said in tab.inner_text("#stands-out")
        other = tab.locator("#i-social-distance").get_by_role("tab", name="Other analyses")
        assert other.count() == tabs
        if tabs:
            other.click()
            assert change_of(run) in tab.inner_text("#other-analyses-social-distance")
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        assert "made by language models, not by people (sha256" in tab.inner_text("#audited")
        context.close()


def test_without_the_ratings_all_is_as_before(asked, rated, tmp_path):
    folder, asking, _ = asked
    run = Path(shutil.copytree(rated[0], tmp_path / "run"))
    audited(run, asking)
    assert "goffman's own ratings and" not in in_sentences(run)
    assert not (run / "scores-shipped.parquet").exists()
    assert not (run / "ratings-compared.parquet").exists()
    assert (run / "scores.parquet").read_bytes() == (folder / "scores.parquet").read_bytes()
    tables = json.loads((run / "manifest.json").read_text())["tables"]
    expected = {"prompts", "scores", "estimates", "sensitivity"}
    assert {*tables} == {f"{name}.parquet" for name in expected}
    assert read_run(run).compared is None


def test_a_damaged_comparison_is_refused(rated, tmp_path):
    run = Path(shutil.copytree(rated[0], tmp_path / "run"))
    (run / "ratings-compared.parquet").write_bytes(b"PAR1")
    with pytest.raises(RunError, match=r"ratings-compared\.parquet was damaged or changed"):
        read_run(run)


def test_a_run_of_an_earlier_goffman_still_reads(asked, tmp_path):
    """Its manifest names no files of ratings: it knew the shipped ones only."""
    run = Path(shutil.copytree(asked[0], tmp_path / "run"))
    path = run / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["lexicons"] = {}
    path.write_text(json.dumps(manifest))
    assert read_run(run).sections["social-distance"].ratings == (
        "Language models, not people, rated the words as positive or negative."
    )
