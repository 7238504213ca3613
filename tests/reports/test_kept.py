"""A report that would come out as it is is left alone; after any change it is written anew."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from goffman import fingerprint
from goffman.options import Listener
from goffman.pipeline import AskOptions, MeasureOptions, audit
from goffman.report import write

FEW = AskOptions(limit=8, controls=False)


@pytest.fixture(scope="module")
def finished(tiny, tmp_path_factory):
    """A run with its report."""
    folder = tmp_path_factory.mktemp("kept") / "run"
    asked = {"instruments": ["people-sentiment"], "options": FEW, "report": True}
    audit([str(tiny("bert", labels=("NEG", "POS")))], output=folder, **asked)
    return folder


@pytest.fixture
def again(finished, tiny, tmp_path, monkeypatch):
    """An audit of a copy: how many reports it wrote."""
    folder = shutil.copytree(finished, tmp_path / "run")
    written = []
    real = write.write_report

    def writing(*given, **told):
        written.append(given)
        return real(*given, **told)

    monkeypatch.setattr(write, "write_report", writing)

    def run(at=folder, **told):
        written.clear()
        asked = {"instruments": ["people-sentiment"], "options": FEW, "report": True, **told}
        done = audit([str(tiny("bert", labels=("NEG", "POS")))], output=at, **asked)
        assert done.report == at / "report.html"
        return len(written)

    run.folder = folder
    return run


WRITTEN = ("report.html", "card.png", "results.csv", "README.md")


def content(folder):
    return {name: (folder / name).read_bytes() for name in WRITTEN}


def test_a_report_is_written_once_while_nothing_changes(again):
    before, manifest = content(again.folder), (again.folder / "manifest.json").read_bytes()
    assert [again(), again()] == [0, 0]
    assert content(again.folder) == before
    assert (again.folder / "manifest.json").read_bytes() == manifest


def test_a_file_of_the_report_that_is_gone_or_changed_is_written_again(again):
    before = content(again.folder)
    for name in WRITTEN:
        path = again.folder / name
        path.unlink()
        assert again() == 1
        path.write_bytes(b"# A goffman run: something else")
        assert again() == 1
        assert content(again.folder) == before
        assert again() == 0


def test_other_numbers_another_place_or_another_page_are_another_report(
    again, tmp_path, monkeypatch
):
    assert again(options=AskOptions(limit=8, seed=3, controls=False)) == 1
    assert again(options=AskOptions(limit=8, seed=3, controls=False)) == 0
    assert again() == 1
    # The page says what its folder is called.
    other = shutil.copytree(again.folder, tmp_path / "another-name")
    assert again(other) == 1
    assert "another-name" in (other / "report.html").read_text()
    templates = shutil.copytree(fingerprint.TEMPLATES, tmp_path / "page")
    monkeypatch.setattr(fingerprint, "TEMPLATES", templates)
    assert again() == 0
    style = templates / "report.css"
    style.write_text(style.read_text() + "\n")
    assert again() == 1
    for name in ("theme.toml", "claims.toml"):
        shutil.copy(fingerprint.TEXTS / name, tmp_path)
    monkeypatch.setattr(fingerprint, "TEXTS", tmp_path)
    assert again() == 0
    theme = tmp_path / "theme.toml"
    theme.write_text(theme.read_text() + "\n")
    assert again() == 1


def test_other_ratings_of_words_are_another_report(again, tmp_path):
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("word,label\nlikely,negative\n")
    measuring = MeasureOptions(ratings=(ratings,))
    assert [again(measuring=measuring), again(measuring=measuring)] == [1, 0]


def test_a_readme_of_a_user_s_own_is_left_alone(again, tmp_path):
    own, elsewhere = again.folder / "README.md", tmp_path / "elsewhere.md"
    own.write_text("mine")
    assert [again(), again()] == [1, 0]
    assert own.read_text() == "mine"
    # So is one that a link leads to.
    elsewhere.write_text("mine, too")
    own.unlink()
    own.symlink_to(elsewhere)
    assert [again(), again()] == [1, 0]
    assert own.is_symlink()
    assert elsewhere.read_text() == "mine, too"


def test_a_report_with_a_note_is_written_every_time_so_that_the_note_is_said(again, monkeypatch):
    counted = write.write_report

    def noting(*given, **told):
        return replace(counted(*given, **told), notes=("Something is not shown.",))

    (again.folder / "report.html").unlink()
    monkeypatch.setattr(write, "write_report", noting)
    said: list[str] = []
    listener = Listener(note=said.append)
    assert [again(listener=listener), again(listener=listener)] == [1, 1]
    assert said.count("Something is not shown.") == 2
