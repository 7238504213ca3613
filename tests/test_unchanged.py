"""A finished run is taken as it is while nothing changed; after any change it is measured anew."""

from __future__ import annotations

import json
import shutil

import pytest

from goffman.analysis import unchanged
from goffman.flow import AskOptions, MeasureOptions, audit
from goffman.reports import settled
from goffman.runs import ask, source

FEW = AskOptions(limit=4)


@pytest.fixture(scope="module")
def masked(tiny):
    return str(tiny("roberta"))


@pytest.fixture(scope="module")
def finished(masked, tmp_path_factory):
    """A run, and what was said of it."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    done = audit([masked], instruments=["attribution"], output=folder, options=FEW)
    return folder, done


@pytest.fixture
def again(finished, masked, tmp_path, monkeypatch):
    """An audit of a copy: how many steps it planned, how often it measured; what it returned."""
    folder = shutil.copytree(finished[0], tmp_path / "run")
    made = {"measured": 0, "steps": 0}
    measure, step = settled.measure, ask._ask_step

    def measuring(*given, **told):
        made["measured"] += 1
        return measure(*given, **told)

    def stepping(*given, **told):
        made["steps"] += 1
        return step(*given, **told)

    monkeypatch.setattr(settled, "measure", measuring)
    monkeypatch.setattr(ask, "_ask_step", stepping)

    def run(*, options=FEW, **told):
        made.update(measured=0, steps=0)
        done = audit([masked], instruments=["attribution"], output=folder, options=options, **told)
        return dict(made), done

    run.folder = folder
    return run


def tables(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}


def test_nothing_is_made_again_where_nothing_changed_and_the_same_is_said(again, finished):
    before, manifest = tables(again.folder), (again.folder / "manifest.json").read_bytes()
    made, done = again()
    assert made == {"measured": 0, "steps": 1}
    assert done.summary == finished[1].summary
    assert done.summary
    assert [one.sentences for one in done.asked] == [one.sentences for one in finished[1].asked]
    assert [one.rows for one in done.asked] == [one.rows for one in finished[1].asked]
    assert tables(again.folder) == before
    assert (again.folder / "manifest.json").read_bytes() == manifest


def test_a_table_that_is_gone_or_damaged_is_made_again(again):
    before = tables(again.folder)
    (again.folder / "estimates.parquet").unlink()
    assert again()[0]["measured"] == 1
    assert tables(again.folder) == before
    (again.folder / "scores.parquet").write_bytes(b"no scores")
    assert again()[0]["measured"] == 1
    assert tables(again.folder) == before


def test_another_seed_or_other_ratings_are_measured_anew(again, tmp_path):
    assert again(options=AskOptions(limit=4, seed=1))[0] == {"measured": 1, "steps": 1}
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("word,label\nlikely,negative\n")
    measuring = MeasureOptions(ratings=(ratings,))
    assert again(measuring=measuring)[0]["measured"] == 1
    assert again(measuring=measuring)[0]["measured"] == 0
    ratings.write_text("word,label\nlikely,positive\n")
    assert again(measuring=measuring)[0]["measured"] == 1


def test_other_code_measures_anew_and_looks_at_the_answers_again(again, monkeypatch):
    before, sessions = tables(again.folder), sessions_of(again.folder)
    for module in (ask, unchanged):
        monkeypatch.setattr(module, "code_digest", lambda: "another")
    made, done = again()
    assert made == {"measured": 1, "steps": 3}
    assert [one.asked_now for one in done.asked] == [0]
    assert tables(again.folder) == before
    assert sessions_of(again.folder) == sessions


def sessions_of(folder):
    return json.loads((folder / "manifest.json").read_text())["sessions"]


def test_the_code_s_digest_changes_with_any_of_its_files(tmp_path, monkeypatch):
    package = tmp_path / "goffman" / "runs"
    package.mkdir(parents=True)
    monkeypatch.setattr(source, "__file__", str(package / "source.py"))
    digests = set()
    for name, text in (("a.py", "1"), ("a.py", "2"), ("b.py", "2")):
        (package / name).write_text(text)
        digests.add(source.code_digest.__wrapped__())
    assert len(digests) == 3
    (package / "b.py").unlink()
    assert source.code_digest.__wrapped__() in digests


def test_a_damaged_part_of_the_answers_is_asked_again_and_all_is_measured(again):
    before = tables(again.folder)
    part = next((again.folder / "answers").rglob("*.parquet"))
    part.write_bytes(part.read_bytes()[:-1])
    made, done = again()
    assert made == {"measured": 0, "steps": 3}
    assert done.asked[0].asked_now > 0
    assert tables(again.folder) == before


def test_paraphrases_that_are_asked_or_damaged_are_a_change(again):
    more = AskOptions(limit=4, paraphrases=True)
    assert again(options=more)[0]["measured"] == 1
    assert again(options=more)[0]["measured"] == 0
    assert again()[0]["measured"] == 0
    part = next((again.folder / "paraphrases" / "answers").rglob("*.parquet"))
    part.write_bytes(part.read_bytes()[:-1])
    assert again()[0]["measured"] == 1
