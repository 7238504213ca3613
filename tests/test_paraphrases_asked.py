"""audit --paraphrases: asked in addition, resumed, measured beside what is always asked."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import goffman.instruments
from few_conditions import with_few_conditions
from goffman.errors import RunError
from goffman.pipeline import AskOptions, Listener, audit
from goffman.report.load import read_run
from goffman.runs.run import read_answers, read_prompts
from goffman.sensitivity.multiverse import stress_tables

DATA = Path(goffman.instruments.__file__).parent / "data"
ONLY_OWN = AskOptions(controls=False)
ALSO = AskOptions(controls=False, paraphrases=True)


@pytest.fixture(scope="module")
def asked(tiny, tmp_path_factory):
    """A run of a classifier without paraphrases, then with them; and its tables before."""
    place = tmp_path_factory.mktemp("paraphrases")
    with_few_conditions("social-distance", place / "social-distance", each=5)
    shutil.copytree(DATA / "people-sentiment", place / "people-sentiment")
    model, run = str(tiny("bert", labels=("NEG", "POS"))), place / "run"
    called = {"instruments": [str(place / "people-sentiment")], "output": run}
    first = audit([model], options=ONLY_OWN, **called)
    before = {name: (run / name).read_bytes() for name in TABLES}
    notes: list[str] = []
    second = audit([model], options=ALSO, listener=Listener(note=notes.append), **called)
    return {"model": model, "called": called, "run": run, "before": before, "notes": notes} | {
        "first": first,
        "second": second,
    }


def by_wording(run):
    """The main results made of one wording alone, and with the paraphrases."""
    wanted = ["wording alone", "paraphrase alone", "with the paraphrases"]
    rows = pl.read_parquet(run / "sensitivity.parquet")
    return rows.filter(pl.col("variation").is_in(wanted))


TABLES = ("prompts.parquet", "scores.parquet", "estimates.parquet")


def test_paraphrases_are_asked_in_addition_and_the_run_itself_stays_as_it_was(asked):
    own, further = asked["second"].asked
    assert own.asked_now == 0
    assert further.instrument == "people-sentiment, paraphrases"
    assert further.asked_now == further.sentences == 2 * own.sentences
    assert {name: (asked["run"] / name).read_bytes() for name in TABLES} == asked["before"]
    cost = f"{asked['model']} is asked another {further.sentences} prompts in other wordings"
    assert f"{cost} (--paraphrases)." in asked["notes"]


def test_they_are_not_asked_again_and_what_is_lost_is(asked):
    done = audit([asked["model"]], options=ALSO, **asked["called"])
    assert [one.asked_now for one in done.asked] == [0, 0]
    part = next((asked["run"] / "paraphrases" / "answers").rglob("*.parquet"))
    before = read_answers(asked["run"] / "paraphrases", "labels")
    part.unlink()
    done = audit([asked["model"]], options=ALSO, **asked["called"])
    assert done.asked[0].asked_now == 0
    assert 0 < done.asked[1].asked_now <= done.asked[1].sentences
    assert read_answers(asked["run"] / "paraphrases", "labels").equals(before)


def test_a_link_in_their_place_leads_nowhere_out_of_the_run(asked, tmp_path):
    shutil.copytree(asked["run"], tmp_path / "run")
    shutil.move(tmp_path / "run" / "paraphrases", tmp_path / "before")
    (own := tmp_path / "own").mkdir()
    (own / "lock").write_text("thesis")
    (tmp_path / "run" / "paraphrases").symlink_to(own)
    with pytest.raises(RunError) as refusal:
        audit([asked["model"]], options=ALSO, **asked["called"] | {"output": tmp_path / "run"})
    assert str(refusal.value) == (
        f"paraphrases in {tmp_path / 'run'} is a link, not a folder. Move it away and run the same "
        "command again."
    )
    assert {path.name: path.read_text() for path in own.iterdir()} == {"lock": "thesis"}


def test_numbers_by_wording_are_those_of_the_answers(asked):
    """Recomputed from the stored probabilities: items and forms, then conditions, averaged."""
    run = asked["run"]
    values: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for folder in (run, run / "paraphrases"):
        negative = dict(read_answers(folder, "labels").select("prompt_id", "negative").rows())
        for row in read_prompts(folder).iter_rows(named=True):
            cell = (row["wording"], row["group"], row["condition"])
            of_items = values.setdefault(cell, {})
            of_items.setdefault(row["item"], []).append(negative[row["prompt_id"]])

    def mean(wordings, group):
        conditions = {condition for _, of, condition in values if of == group}
        return np.mean(
            [
                np.mean([np.mean(several) for several in values[one, group, condition].values()])
                for one in wordings
                for condition in conditions
            ]
        )

    worded = by_wording(run)
    assert worded["what"].to_list() == ["only", "group", "about", ""]
    assert worded["variation"].to_list() == [
        "wording alone",
        "paraphrase alone",
        "paraphrase alone",
        "with the paraphrases",
    ]
    levels = []
    for row in worded.iter_rows(named=True):
        of = [row["what"]] if row["what"] else ["only", "group", "about"]
        first, second = mean(of, "stigmatized"), mean(of, "non-stigmatized")
        assert row["mean_first"] == pytest.approx(first, abs=1e-6)
        assert row["difference"] == pytest.approx(first - second, abs=1e-6)
        levels += [first] if row["what"] else []
    gap = mean(["only"], "stigmatized") - mean(["only"], "non-stigmatized")
    said = "\n".join(asked["second"].summary)
    assert ("changes more with the wording" in said) is bool(max(levels) - min(levels) > abs(gap))
    assert "Across 3 wordings (2 of them asked only as a check), the difference ranges" in said
    assert "With the paraphrases, the difference is " in said
    assert "With the paraphrases" not in "\n".join(asked["first"].summary)


def test_a_dry_run_counts_them(asked, tmp_path):
    notes: list[str] = []
    options = AskOptions(controls=False, paraphrases=True, dry_run=True)
    called = asked["called"] | {"output": tmp_path / "nowhere"}
    audit([asked["model"]], options=options, listener=Listener(note=notes.append), **called)
    count = asked["second"].asked[1].sentences
    assert notes[-1] == f"Paraphrases: people-sentiment, {asked['model']}: {count} prompts."
    assert not (tmp_path / "nowhere").exists()


def test_a_few_prompts_are_asked_in_other_words_of_the_same_conditions(tiny, tmp_path):
    options = AskOptions(controls=False, paraphrases=True, limit=60)
    model = str(tiny("roberta"))
    audit([model], instruments=["social-distance"], output=tmp_path, options=options)
    cells = [
        {*read_prompts(folder).select("item", "condition", "form").rows()}
        for folder in (tmp_path, tmp_path / "paraphrases")
    ]
    assert cells[0] == cells[1]


def test_sentence_pairs_are_asked_in_other_frames_without_adjectives(tiny, tmp_path):
    sentences = {"coreference.pairs": 30, "coreference.adjectives": ["old,"]}
    options = AskOptions(controls=False, paraphrases=True, settings=sentences)
    model = str(tiny("roberta"))
    audit([model], instruments=["coreference"], output=tmp_path, options=options)
    further = read_prompts(tmp_path / "paraphrases")
    assert further["condition"].unique().to_list() == ["baseline"]
    assert further.group_by("paraphrase", "wording").len()["len"].to_list() == [30] * 4
    worded = by_wording(tmp_path)
    assert worded["what"].to_list() == ["only", "what-happened", "what-i-read", ""]
    estimates = pl.read_parquet(tmp_path / "estimates.parquet")
    (headline,) = estimates.filter(pl.col("family") == "primary")["difference"]
    assert worded["difference"][0] == pytest.approx(headline)
    assert worded["difference"][3] == pytest.approx(worded["difference"][:3].mean())


def test_stress_has_paraphrases_as_a_choice_and_agrees_with_the_numbers_by_wording(asked):
    run = read_run(asked["run"])
    primary = run.estimates.filter(pl.col("family") == "primary")
    found, _ = stress_tables(run.folder, primary=primary, unmeasurable={})
    by_choice = {}
    for row in found.filter(pl.col("variation") == "analysis").iter_rows(named=True):
        chosen = json.loads(row["choices"])
        others = {name: option for name, option in chosen.items() if name != "wording"}
        by_choice.setdefault(json.dumps(others), {})[chosen["wording"]] = row["difference"]
    # The first analysis is the audit's own.
    mine = next(iter(by_choice.values()))
    worded = by_wording(run.folder)
    of = dict(worded.select("what", "difference").rows())
    assert mine == {
        "wordings of the instrument": pytest.approx(primary["difference"][0]),
        "with the paraphrases": pytest.approx(of[""]),
        "only alone": pytest.approx(of["only"]),
        "group alone": pytest.approx(of["group"]),
        "about alone": pytest.approx(of["about"]),
    }
